//! Where the host listens, and which program starts one.

use std::ffi::OsString;
use std::path::PathBuf;

use signaltty_core::client::StartHost;
use signaltty_core::paths::{PathError, SocketPaths};

/// What a program in a pane finds set. A hint: the host knows better, once it answers.
pub const PANE_ENV: &str = "SIGNALTTY_PANE";

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

/// Whether this process was started inside a pane, as the variable there says: then it starts no host.
pub fn inside(pane: Option<OsString>) -> bool {
    pane.is_some_and(|pane| !pane.is_empty())
}

/// The installed pair belongs together: a `signaltty` beside this program is of the same version.
fn program() -> PathBuf {
    std::env::current_exe()
        .ok()
        .and_then(|own| own.parent().map(|folder| folder.join(PROGRAM)))
        .filter(|beside| beside.is_file())
        .unwrap_or_else(|| PathBuf::from(PROGRAM))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_that_was_started_inside_a_pane_knows_it_without_a_host() {
        assert!(inside(Some("p7".into())));
        assert!(!inside(Some("".into())));
        assert!(!inside(None));
    }
}
