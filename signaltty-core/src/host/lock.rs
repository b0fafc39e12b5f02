//! The host lock: whoever holds it is the one host of this socket, and the only one the keeper obeys.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, Mode, OFlags};

/// How often a held lock is tried again while one waits for it.
const RETRY: Duration = Duration::from_millis(20);

/// Why the lock was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process is the host.
    #[error("another host holds {}", path.display())]
    Held {
        /// The lock file.
        path: PathBuf,
    },
    /// The file system said no.
    #[error("cannot {doing} the host lock {}: {source}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// The lock file.
        path: PathBuf,
        /// What came back.
        source: io::Error,
    },
}

/// An exclusive `flock` on the lock file. The kernel gives it back when the process ends, however it ends.
///
/// The lock belongs to the open file, not to the process: a process that has got this descriptor over a
/// socket shares it. That is how the keeper checks it, and how one host can hand it to the next.
#[derive(Debug)]
pub struct HostLock {
    file: File,
    path: PathBuf,
}

impl HostLock {
    /// Takes the lock; with `wait`, tries for so long. Blocks: call it before the runtime starts, or off it.
    ///
    /// # Errors
    /// [`LockError::Held`] if another process has it to the end of the wait, else [`LockError::Io`].
    pub fn take(path: &Path, wait: Option<Duration>) -> Result<Self, LockError> {
        let deadline = wait.map(|wait| Instant::now() + wait);
        loop {
            match Self::try_take(path) {
                Err(LockError::Held { .. }) if deadline.is_some_and(|at| Instant::now() < at) => {
                    std::thread::sleep(RETRY);
                }
                taken => return taken,
            }
        }
    }

    fn try_take(path: &Path) -> Result<Self, LockError> {
        let failed = |doing, source| LockError::Io {
            doing,
            path: path.to_owned(),
            source,
        };
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let file = rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)
            .map(File::from)
            .map_err(|error| failed("open", error.into()))?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => {
                return Err(LockError::Held {
                    path: path.to_owned(),
                });
            }
            Err(error) => return Err(failed("take", error.into())),
        }
        // A lock on a file that was removed meanwhile is no lock: the next one would make a new file.
        if is_at(&file, path).map_err(|source| failed("look at", source))? {
            Ok(Self {
                file,
                path: path.to_owned(),
            })
        } else {
            Err(LockError::Held {
                path: path.to_owned(),
            })
        }
    }

    /// The lock file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl AsFd for HostLock {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Whether `file` is what lies at `path`.
pub(crate) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let here = file.metadata()?;
    match std::fs::symlink_metadata(path) {
        Ok(there) => Ok(here.dev() == there.dev() && here.ino() == there.ino()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_one_holds_it_and_the_next_gets_it_when_it_is_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("host.lock");
        let first = HostLock::take(&path, None).unwrap();
        assert!(matches!(
            HostLock::take(&path, None),
            Err(LockError::Held { .. })
        ));
        let waiting = std::thread::spawn({
            let path = path.clone();
            move || HostLock::take(&path, Some(Duration::from_secs(30))).is_ok()
        });
        drop(first);
        assert!(waiting.join().unwrap());
    }

    #[test]
    fn a_removed_lock_file_is_replaced_by_a_new_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("host.lock");
        let first = HostLock::take(&path, None).unwrap();
        std::fs::remove_file(&path).unwrap();
        let second = HostLock::take(&path, None).unwrap();
        assert!(is_at(&second.file, &path).unwrap());
        assert!(!is_at(&first.file, &path).unwrap());
    }

    #[test]
    fn a_symbolic_link_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("host.lock");
        std::os::unix::fs::symlink(dir.path().join("elsewhere"), &path).unwrap();
        assert!(matches!(
            HostLock::take(&path, None),
            Err(LockError::Io { doing: "open", .. })
        ));
    }
}
