//! Where the host listens, and which program starts one.

use std::path::PathBuf;

use signaltty_core::client::StartHost;
use signaltty_core::paths::{PathError, SocketPaths};

/// The program beside this one, else the one on `PATH`.
const PROGRAM: &str = "signaltty";

/// How to reach the host, and how to start it.
///
/// # Errors
/// The environment names no place where a socket can be.
pub fn start_host() -> Result<StartHost, PathError> {
    Ok(StartHost {
        program: program(),
        socket: SocketPaths::from_env()?.host,
    })
}

/// The installed pair belongs together: a `signaltty` beside this program is of the same version.
fn program() -> PathBuf {
    std::env::current_exe()
        .ok()
        .and_then(|own| own.parent().map(|folder| folder.join(PROGRAM)))
        .filter(|beside| beside.is_file())
        .unwrap_or_else(|| PathBuf::from(PROGRAM))
}
