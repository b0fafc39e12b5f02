//! The environment of a pane's program: the caller's, less what tells of another terminal or belongs to one
//! process only (specs/020 §1, the blocklist).

use std::collections::BTreeMap;

use crate::model::PaneId;
use crate::paths::{SOCKET_ENV, SocketPaths};

/// Tells a program which pane it runs in. A hint for tools; attribution never rests on it (specs/001 §5).
pub const PANE_ENV: &str = "SIGNALTTY_PANE";
/// What our terminals are: what both the host's screen model and the window's widget do.
pub const TERM: &str = "xterm-256color";

/// Variables that are dropped.
const DROPPED: &[&str] = &[
    // What terminal the caller runs in. A program that believes it would use sequences that ours has not.
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
    "TERM_SESSION_ID",
    "TERM_FEATURES",
    "TERMINFO",
    "TERMCAP",
    "VTE_VERSION",
    "WINDOWID",
    "COLORFGBG",
    "COLUMNS",
    "LINES",
    "STY",
    "WINDOW",
    "XTERM_VERSION",
    "XTERM_SHELL",
    "XTERM_LOCALE",
    "KONSOLE_VERSION",
    "KONSOLE_DBUS_SERVICE",
    "KONSOLE_DBUS_SESSION",
    "KONSOLE_DBUS_WINDOW",
    "GNOME_TERMINAL_SCREEN",
    "GNOME_TERMINAL_SERVICE",
    "TERMINATOR_UUID",
    "TERMINATOR_DBUS_NAME",
    "TERMINATOR_DBUS_PATH",
    "TILIX_ID",
    "LC_TERMINAL",
    "LC_TERMINAL_VERSION",
    "INSIDE_EMACS",
    // A connection, an activation or a supervisor that is the caller's own.
    "XDG_ACTIVATION_TOKEN",
    "DESKTOP_STARTUP_ID",
    "GIO_LAUNCHED_DESKTOP_FILE",
    "GIO_LAUNCHED_DESKTOP_FILE_PID",
    "INVOCATION_ID",
    "JOURNAL_STREAM",
    "NOTIFY_SOCKET",
    "WATCHDOG_PID",
    "WATCHDOG_USEC",
    "MANAGERPID",
    "MANAGERPIDFDID",
    "SYSTEMD_EXEC_PID",
    "MEMORY_PRESSURE_WATCH",
    "MEMORY_PRESSURE_WRITE",
    "MAINPID",
    "FDSTORE",
    "CREDENTIALS_DIRECTORY",
    // Shell internals that belong to the process that set them.
    "_",
    "SHLVL",
    "OLDPWD",
    // Set anew below.
    PANE_ENV,
    SOCKET_ENV,
];

/// Variables that are dropped by the beginning of their name.
const DROPPED_PREFIXES: &[&str] = &[
    "TMUX",
    "KITTY_",
    "WEZTERM_",
    "GHOSTTY_",
    "ALACRITTY_",
    "ITERM_",
    "ZELLIJ",
    "WT_",
    "LISTEN_",
    "GTK_TEST_",
    "VSCODE_",
    "RUST_TEST_",
];

/// Whether a variable of the caller does not reach the pane.
pub fn is_dropped(name: &str) -> bool {
    DROPPED.contains(&name)
        || DROPPED_PREFIXES
            .iter()
            .any(|prefix| name.starts_with(prefix))
}

/// The environment of a pane's program, from its caller's. `PWD` is its folder, as a shell would have it.
///
/// The socket is named only where it is not the one that everyone finds: hooks have to find the host.
pub fn of_pane(
    caller: &BTreeMap<String, String>,
    pane_id: &PaneId,
    cwd: &str,
    paths: &SocketPaths,
) -> BTreeMap<String, String> {
    let mut env: BTreeMap<_, _> = caller
        .iter()
        .filter(|(name, _)| !name.is_empty() && !name.contains(['=', '\0']) && !is_dropped(name))
        .filter(|(_, value)| !value.contains('\0'))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let mut set = |name: &str, value: &str| env.insert(name.to_owned(), value.to_owned());
    set("TERM", TERM);
    set("COLORTERM", "truecolor");
    set(PANE_ENV, pane_id.as_str());
    set("PWD", cwd);
    if !paths.default {
        set(SOCKET_ENV, &paths.host.to_string_lossy());
    }
    env
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn made(caller: &[(&str, &str)], default: bool) -> BTreeMap<String, String> {
        let caller = caller
            .iter()
            .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
            .collect();
        let paths = SocketPaths::of_host_socket(Path::new("/x/dev.sock"), default).unwrap();
        of_pane(&caller, &PaneId::from_trusted("p7"), "/home/a", &paths)
    }

    fn env(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs
            .iter()
            .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
            .collect()
    }

    #[test]
    fn the_outer_terminal_and_the_callers_own_handles_do_not_pass() {
        let caller = [
            ("HOME", "/home/a"),
            ("PATH", "/bin"),
            ("LANG", "de_DE.UTF-8"),
            ("SSH_AUTH_SOCK", "/run/ssh"),
            ("DISPLAY", ":0"),
            ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/bus"),
            ("TERM", "dumb"),
            ("COLORTERM", "24bit"),
            ("TERM_PROGRAM", "other"),
            ("TMUX", "/tmp/tmux"),
            ("TMUX_PANE", "%1"),
            ("KITTY_WINDOW_ID", "3"),
            ("VTE_VERSION", "7000"),
            ("LISTEN_FDS", "2"),
            ("NOTIFY_SOCKET", "/run/n"),
            ("XDG_ACTIVATION_TOKEN", "t"),
            ("SIGNALTTY_PANE", "p1"),
            ("SIGNALTTY_SOCKET", "/elsewhere"),
            ("COLUMNS", "80"),
        ];
        assert_eq!(
            made(&caller, true),
            env(&[
                ("HOME", "/home/a"),
                ("PATH", "/bin"),
                ("LANG", "de_DE.UTF-8"),
                ("SSH_AUTH_SOCK", "/run/ssh"),
                ("DISPLAY", ":0"),
                ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/bus"),
                ("TERM", TERM),
                ("COLORTERM", "truecolor"),
                ("SIGNALTTY_PANE", "p7"),
                ("PWD", "/home/a"),
            ])
        );
    }

    #[test]
    fn a_socket_that_is_not_the_default_is_named() {
        assert_eq!(
            made(&[], false).get("SIGNALTTY_SOCKET").map(String::as_str),
            Some("/x/dev.sock")
        );
        assert_eq!(made(&[], true).get("SIGNALTTY_SOCKET"), None);
    }

    #[test]
    fn names_that_no_environment_can_hold_are_left_out() {
        let found = made(
            &[
                ("", "x"),
                ("A=B", "x"),
                ("N\0", "x"),
                ("V", "a\0b"),
                ("OK", ""),
            ],
            true,
        );
        assert_eq!(found.get("OK").map(String::as_str), Some(""));
        assert_eq!(found.len(), 5, "{found:?}");
    }
}
