//! Where things of this user and this program lie.

use std::env;
use std::path::PathBuf;

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
