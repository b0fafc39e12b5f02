//! Who is at the other end of a Unix socket, as the kernel noted it when that end connected.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, PidfdFlags};

/// `SO_PEERPIDFD` (Linux 6.5), which libc does not name yet.
const SO_PEERPIDFD: libc::c_int = 77;

/// The process that connected.
#[derive(Debug)]
pub struct Peer {
    /// Its process id as seen from here; none if it lives where we cannot see it (another pid namespace).
    pub pid: Option<i32>,
    /// Its effective user.
    pub uid: u32,
    /// A handle to that very process, so that its pid cannot come to mean another one unnoticed.
    pidfd: Option<OwnedFd>,
}

impl Peer {
    /// Asks the kernel about the other end of a connected Unix socket.
    ///
    /// # Errors
    /// What `getsockopt` says; `socket` is not a connected Unix socket then.
    pub fn of(socket: impl AsFd) -> io::Result<Self> {
        let socket = socket.as_fd();
        let credentials: libc::ucred = socket_option(socket, libc::SO_PEERCRED)?;
        let pid = (credentials.pid > 0).then_some(credentials.pid);
        let pidfd = match socket_option::<libc::c_int>(socket, SO_PEERPIDFD) {
            // SAFETY: the kernel has just made this descriptor for us; nobody else owns it.
            Ok(fd) => Some(unsafe { OwnedFd::from_raw_fd(fd) }),
            // Older kernels: take a handle now. Between connect and now the pid could be reused only if the
            // peer ended and all other pids were used up meanwhile.
            Err(error) if error.raw_os_error() == Some(libc::ENOPROTOOPT) => pid
                .and_then(Pid::from_raw)
                .and_then(|pid| rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok()),
            Err(_) => None,
        };
        Ok(Self {
            pid,
            uid: credentials.uid,
            pidfd,
        })
    }

    /// Whether the process that connected still runs, so that its pid still means it. False where that
    /// cannot be told.
    pub fn is_alive(&self) -> bool {
        let Some(pidfd) = &self.pidfd else {
            return false;
        };
        let mut fds = [PollFd::new(pidfd, PollFlags::IN)];
        matches!(
            rustix::event::poll(
                &mut fds,
                Some(&Timespec {
                    tv_sec: 0,
                    tv_nsec: 0
                })
            ),
            Ok(0)
        )
    }
}

fn socket_option<T: Copy>(socket: BorrowedFd<'_>, option: libc::c_int) -> io::Result<T> {
    let mut value = MaybeUninit::<T>::zeroed();
    let mut len = size_of::<T>() as libc::socklen_t;
    // SAFETY: `value` has room for `len` bytes and lives across the call.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            option,
            value.as_mut_ptr().cast(),
            &mut len,
        )
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    if len as usize != size_of::<T>() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    // SAFETY: the kernel has written all of it, and both types used here are plain integers.
    Ok(unsafe { value.assume_init() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peer_of_our_own_pair_is_this_process() {
        let (here, _there) = std::os::unix::net::UnixStream::pair().unwrap();
        let peer = Peer::of(&here).unwrap();
        assert_eq!(peer.pid, Some(std::process::id() as i32));
        assert_eq!(peer.uid, rustix::process::geteuid().as_raw());
        assert!(peer.is_alive());
    }
}
