//! The host's own side of [`crate::paths`]: it makes the folder that clients only check, and binds sockets in it.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use rustix::fs::Mode;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

pub use crate::paths::SocketPaths as HostPaths;
use crate::paths::{PathError, check_folder};

/// Connections that wait to be accepted. Every hook of every agent may come at once.
pub(crate) const BACKLOG: i32 = 512;

/// Makes the folder with mode 0700 where it is missing, and checks it in any case (specs/001 §5).
///
/// # Errors
/// What is wrong with the folder, or why it cannot be made.
pub fn prepare_folder(paths: &HostPaths) -> Result<(), PathError> {
    let folder = &paths.folder;
    match std::fs::DirBuilder::new().mode(0o700).create(folder) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(source) => {
            return Err(PathError::Io {
                doing: "make the folder",
                path: folder.clone(),
                source,
            });
        }
    }
    check_folder(folder, rustix::process::getuid().as_raw())
}

/// Binds a listening stream socket with mode 0600 at `path`, over whatever dead socket lies there.
/// Close-on-exec, blocking. Only the holder of the host lock may do this: it removes what is there.
///
/// # Errors
/// [`PathError::Io`] says which step failed.
pub fn bind_socket(path: &Path) -> Result<OwnedFd, PathError> {
    let failed = |doing| {
        move |error: rustix::io::Errno| PathError::Io {
            doing,
            path: path.to_owned(),
            source: error.into(),
        }
    };
    let address = SocketAddrUnix::new(path).map_err(failed("name the socket"))?;
    let socket = rustix::net::socket_with(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )
    .map_err(failed("make the socket"))?;
    match std::fs::remove_file(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(source) => {
            return Err(PathError::Io {
                doing: "remove the old socket",
                path: path.to_owned(),
                source,
            });
        }
    }
    // Linux gives the socket's file the mode of the unbound socket, so it is never open to others, not
    // even for a moment.
    rustix::fs::fchmod(&socket, Mode::RUSR | Mode::WUSR)
        .map_err(failed("set the mode of the socket"))?;
    rustix::net::bind(&socket, &address).map_err(failed("bind the socket"))?;
    rustix::net::listen(&socket, BACKLOG).map_err(failed("listen on the socket"))?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_folder_is_made_private_and_the_socket_too() {
        let dir = tempfile::tempdir().unwrap();
        let paths = HostPaths::of_host_socket(&dir.path().join("new/host.sock"), false).unwrap();
        prepare_folder(&paths).unwrap();
        prepare_folder(&paths).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        assert_eq!(mode(&paths.folder), 0o700);
        let first = bind_socket(&paths.host).unwrap();
        assert_eq!(mode(&paths.host), 0o600);
        drop(first);
        let _second = bind_socket(&paths.host).unwrap();
        std::os::unix::net::UnixStream::connect(&paths.host).unwrap();
    }

    #[test]
    fn a_missing_parent_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let paths = HostPaths::of_host_socket(&dir.path().join("a/b/host.sock"), false).unwrap();
        let error = prepare_folder(&paths).unwrap_err();
        assert!(error.to_string().contains("a/b"), "{error}");
    }
}
