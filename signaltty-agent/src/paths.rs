//! Where things lie: the socket, our data folder, this program.

use std::env;
use std::path::PathBuf;

/// The host's socket: `$SIGNALTTY_SOCKET`, else `$XDG_RUNTIME_DIR/signaltty/host.sock` (specs/020 §1).
pub fn socket() -> Option<PathBuf> {
    from_environment("SIGNALTTY_SOCKET").or_else(|| {
        Some(
            from_environment("XDG_RUNTIME_DIR")?
                .join("signaltty")
                .join("host.sock"),
        )
    })
}

/// The user's home.
pub fn home() -> Option<PathBuf> {
    from_environment("HOME")
}

/// `$XDG_DATA_HOME/signaltty`, by default `~/.local/share/signaltty`.
pub fn data_dir() -> Option<PathBuf> {
    // The base directory specification has relative paths ignored.
    let base = from_environment("XDG_DATA_HOME").filter(|path| path.is_absolute());
    Some(
        base.or_else(|| Some(home()?.join(".local/share")))?
            .join("signaltty"),
    )
}

/// A path from the environment; an empty variable counts as unset.
fn from_environment(name: &str) -> Option<PathBuf> {
    env::var_os(name)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}
