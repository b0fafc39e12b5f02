//! Where the host's sockets lie, and whether that folder is safe to use. For clients and the host alike;
//! making the folder is the host's (see `host::paths`).

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Names the host's socket where it is not the default one (specs/020 §1).
pub const SOCKET_ENV: &str = "SIGNALTTY_SOCKET";
/// The folder of the default socket, inside the user's runtime folder.
const FOLDER: &str = "signaltty";
/// The default socket's name.
const HOST_SOCKET: &str = "host.sock";
/// Longest path of a Unix socket in bytes: `sun_path` has 108, the last of them is NUL.
pub const SOCKET_PATH_MAX: usize = 107;

/// Why there is no place for the sockets.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// `SIGNALTTY_SOCKET` is relative, so that every folder would have its own host.
    #[error("{SOCKET_ENV} is {}: it has to be an absolute path that ends in a file name", path.display())]
    NotAbsolute {
        /// What it says.
        path: PathBuf,
    },
    /// The kernel bounds the path of a socket.
    #[error(
        "the socket path {} has {len} bytes; a Unix socket's may have {SOCKET_PATH_MAX}: set {SOCKET_ENV} to a shorter one",
        path.display()
    )]
    TooLong {
        /// The path.
        path: PathBuf,
        /// Its length in bytes.
        len: usize,
    },
    /// Something else is where the folder should be.
    #[error("{} has to be a folder of our own, and is {found}", path.display())]
    NotAFolder {
        /// The path.
        path: PathBuf,
        /// What is there.
        found: &'static str,
    },
    /// The folder is another user's, who could put a socket of theirs there.
    #[error("{} belongs to user {owner}; it has to belong to user {uid}", path.display())]
    NotOurs {
        /// The path.
        path: PathBuf,
        /// Who owns it.
        owner: u32,
        /// Who we are.
        uid: u32,
    },
    /// Others may write to the folder, and so replace the socket.
    #[error("{} has mode {mode:04o}: others may write to it; run chmod 700 on it", path.display())]
    Writable {
        /// The path.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The file system said no.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// What came back.
        source: io::Error,
    },
}

/// The sockets of one host, its lock, and the folder that holds them all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SocketPaths {
    /// The folder.
    pub folder: PathBuf,
    /// Where clients connect.
    pub host: PathBuf,
    /// Where the host connects to its keeper.
    pub keeper: PathBuf,
    /// The file whose `flock` makes a process the host.
    pub lock: PathBuf,
    /// Whether this is where everyone looks who has no [`SOCKET_ENV`]. If not, panes have to be told.
    pub default: bool,
}

impl SocketPaths {
    /// The paths that this process' environment names: `$SIGNALTTY_SOCKET`, else
    /// `$XDG_RUNTIME_DIR/signaltty/host.sock`, else the same below `/run/user/UID` if that is ours, else
    /// `/tmp/signaltty-UID/host.sock`. Looks at nothing but `/run/user/UID`.
    ///
    /// # Errors
    /// [`PathError::NotAbsolute`] and [`PathError::TooLong`].
    pub fn from_env() -> Result<Self, PathError> {
        let uid = rustix::process::getuid().as_raw();
        Self::resolve(
            |name| std::env::var_os(name),
            uid,
            |path| check_folder(path, uid).is_ok(),
        )
    }

    /// The same from a given environment. `ours` says whether a folder exists and is safely ours.
    ///
    /// # Errors
    /// As [`SocketPaths::from_env`].
    pub fn resolve(
        env: impl Fn(&str) -> Option<OsString>,
        uid: u32,
        ours: impl Fn(&Path) -> bool,
    ) -> Result<Self, PathError> {
        let default = default_socket(&env, uid, ours);
        match env(SOCKET_ENV).filter(|value| !value.is_empty()) {
            None => Self::of_host_socket(&default, true),
            Some(value) => {
                let path = PathBuf::from(value);
                let is_default = path == default;
                Self::of_host_socket(&path, is_default)
            }
        }
    }

    /// The paths that belong to a host socket: beside `host.sock` lie `keeper.sock` and `host.lock`, beside
    /// any other `STEM.sock` lie `STEM.keeper.sock` and `STEM.lock`.
    ///
    /// # Errors
    /// As [`SocketPaths::from_env`].
    pub fn of_host_socket(host: &Path, default: bool) -> Result<Self, PathError> {
        let (Some(folder), Some(name), true) =
            (host.parent(), host.file_name(), host.is_absolute())
        else {
            return Err(PathError::NotAbsolute {
                path: host.to_owned(),
            });
        };
        let stem = host.file_stem().unwrap_or(name);
        let keeper = if name == HOST_SOCKET {
            "keeper.sock".into()
        } else {
            with_suffix(stem, ".keeper.sock")
        };
        let paths = Self {
            folder: folder.to_owned(),
            host: host.to_owned(),
            keeper: folder.join(keeper),
            lock: folder.join(with_suffix(stem, ".lock")),
            default,
        };
        for path in [&paths.host, &paths.keeper] {
            let len = path.as_os_str().as_bytes().len();
            if len > SOCKET_PATH_MAX {
                return Err(PathError::TooLong {
                    path: path.clone(),
                    len,
                });
            }
        }
        Ok(paths)
    }

    /// The lock beside a keeper's socket: what [`SocketPaths::of_host_socket`] names, from the other end.
    pub fn lock_of_keeper(keeper: &Path) -> Option<PathBuf> {
        let name = keeper.file_name()?.as_bytes();
        let stem = if name == b"keeper.sock" {
            &b"host"[..]
        } else {
            name.strip_suffix(b".keeper.sock")?
        };
        Some(keeper.with_file_name(with_suffix(OsStr::from_bytes(stem), ".lock")))
    }

    /// Checks that nobody else can have put a socket there. A client does this before it connects.
    ///
    /// # Errors
    /// What is wrong with the folder; [`PathError::Io`] with `NotFound` if there is none.
    pub fn check_folder(&self) -> Result<(), PathError> {
        check_folder(&self.folder, rustix::process::getuid().as_raw())
    }
}

fn with_suffix(stem: &OsStr, suffix: &str) -> OsString {
    let mut name = stem.to_owned();
    name.push(suffix);
    name
}

fn default_socket(
    env: &impl Fn(&str) -> Option<OsString>,
    uid: u32,
    ours: impl Fn(&Path) -> bool,
) -> PathBuf {
    // A relative XDG_RUNTIME_DIR is to be ignored, says the base directory specification.
    let runtime = env("XDG_RUNTIME_DIR")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(|| {
            let path = PathBuf::from(format!("/run/user/{uid}"));
            ours(&path).then_some(path)
        });
    match runtime {
        Some(runtime) => runtime.join(FOLDER).join(HOST_SOCKET),
        None => PathBuf::from(format!("/tmp/signaltty-{uid}")).join(HOST_SOCKET),
    }
}

/// Checks that a path is a folder (no symbolic link) of user `uid` that nobody else may write to.
///
/// # Errors
/// What is wrong with it.
pub fn check_folder(path: &Path, uid: u32) -> Result<(), PathError> {
    let found = std::fs::symlink_metadata(path).map_err(|source| PathError::Io {
        doing: "look at",
        path: path.to_owned(),
        source,
    })?;
    if !found.is_dir() {
        let found = if found.is_symlink() {
            "a symbolic link"
        } else {
            "no folder"
        };
        return Err(PathError::NotAFolder {
            path: path.to_owned(),
            found,
        });
    }
    if found.uid() != uid {
        return Err(PathError::NotOurs {
            path: path.to_owned(),
            owner: found.uid(),
            uid,
        });
    }
    let mode = found.mode() & 0o7777;
    if mode & 0o022 != 0 {
        return Err(PathError::Writable {
            path: path.to_owned(),
            mode,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(env: &[(&str, &str)], run_user: bool) -> Result<SocketPaths, PathError> {
        let get = |name: &str| {
            env.iter()
                .find(|(n, _)| *n == name)
                .map(|(_, v)| OsString::from(v))
        };
        SocketPaths::resolve(get, 1000, |_| run_user)
    }

    fn at(folder: &str, host: &str, keeper: &str, lock: &str, default: bool) -> SocketPaths {
        let folder = PathBuf::from(folder);
        let [host, keeper, lock] = [host, keeper, lock].map(|name| folder.join(name));
        SocketPaths {
            folder,
            host,
            keeper,
            lock,
            default,
        }
    }

    #[test]
    fn the_default_lies_in_the_runtime_folder() {
        let found = resolve(&[("XDG_RUNTIME_DIR", "/run/user/7")], false).unwrap();
        assert_eq!(
            found,
            at(
                "/run/user/7/signaltty",
                "host.sock",
                "keeper.sock",
                "host.lock",
                true
            )
        );
    }

    #[test]
    fn without_a_runtime_folder_it_is_run_user_if_ours_and_tmp_otherwise() {
        assert_eq!(
            resolve(&[], true).unwrap().folder,
            Path::new("/run/user/1000/signaltty")
        );
        assert_eq!(
            resolve(&[], false).unwrap().folder,
            Path::new("/tmp/signaltty-1000")
        );
        assert_eq!(
            resolve(&[("XDG_RUNTIME_DIR", "here")], false)
                .unwrap()
                .folder,
            Path::new("/tmp/signaltty-1000")
        );
    }

    #[test]
    fn a_named_socket_has_a_keeper_and_a_lock_of_its_own_stem() {
        let found = resolve(&[("SIGNALTTY_SOCKET", "/x/y/dev.sock")], false).unwrap();
        assert_eq!(
            found,
            at("/x/y", "dev.sock", "dev.keeper.sock", "dev.lock", false)
        );
        assert_eq!(SocketPaths::lock_of_keeper(&found.keeper), Some(found.lock));
    }

    #[test]
    fn naming_the_default_socket_names_the_default_host() {
        let env = [
            ("SIGNALTTY_SOCKET", "/run/user/7/signaltty/host.sock"),
            ("XDG_RUNTIME_DIR", "/run/user/7"),
        ];
        let found = resolve(&env, false).unwrap();
        assert_eq!(found, resolve(&env[1..], false).unwrap());
        assert_eq!(SocketPaths::lock_of_keeper(&found.keeper), Some(found.lock));
    }

    #[test]
    fn a_relative_and_a_too_long_path_are_refused_with_what_would_be_right() {
        for bad in ["dev.sock", "/"] {
            let error = resolve(&[("SIGNALTTY_SOCKET", bad)], false).unwrap_err();
            assert!(matches!(error, PathError::NotAbsolute { .. }), "{error}");
        }
        let long = format!("/{}/a.sock", "d".repeat(100));
        let error = resolve(&[("SIGNALTTY_SOCKET", &long)], false).unwrap_err();
        assert!(
            matches!(error, PathError::TooLong { len: 108, .. }),
            "{error}"
        );
        assert!(error.to_string().contains("107"), "{error}");
    }

    #[test]
    fn a_folder_that_others_can_write_to_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let uid = rustix::process::getuid().as_raw();
        let folder = dir.path().join("f");
        std::fs::create_dir(&folder).unwrap();
        for (mode, good) in [(0o700, true), (0o755, true), (0o770, false), (0o702, false)] {
            std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(check_folder(&folder, uid).is_ok(), good, "{mode:o}");
        }
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).unwrap();
        assert!(matches!(
            check_folder(&folder, uid + 1),
            Err(PathError::NotOurs { .. })
        ));
        let link = dir.path().join("l");
        std::os::unix::fs::symlink(&folder, &link).unwrap();
        assert!(matches!(
            check_folder(&link, uid),
            Err(PathError::NotAFolder {
                found: "a symbolic link",
                ..
            })
        ));
    }
}
