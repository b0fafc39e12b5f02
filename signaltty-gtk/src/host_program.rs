//! Where the host listens, and which program starts one.

use std::path::{Path, PathBuf};

use signaltty_core::client::StartHost;

/// The program beside this one, else the one on `PATH`.
const PROGRAM: &str = "signaltty";

/// How to reach the host, and how to start it.
pub fn start_host() -> StartHost {
    StartHost { program: program(), socket: socket() }
}

/// The installed pair belongs together: a `signaltty` beside this program is of the same version.
fn program() -> PathBuf {
    std::env::current_exe()
        .ok()
        .and_then(|own| own.parent().map(|folder| folder.join(PROGRAM)))
        .filter(|beside| beside.is_file())
        .unwrap_or_else(|| PathBuf::from(PROGRAM))
}

fn socket() -> PathBuf {
    if let Some(named) = std::env::var_os("SIGNALTTY_SOCKET").filter(|named| !named.is_empty()) {
        return named.into();
    }
    let runtime = gtk::glib::user_runtime_dir();
    Path::new(&runtime).join("signaltty/host.sock")
}
