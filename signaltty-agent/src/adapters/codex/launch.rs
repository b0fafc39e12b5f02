//! Starting Codex so that its hooks can be told apart.
//!
//! By default its sessions and hooks run in one background server that the first pane started, with that pane's
//! environment. `--no-daemon` keeps them in the pane's own process; it is added where this version knows it.

use std::path::Path;

/// The flag.
const NO_DAEMON: &str = "--no-daemon";
/// What makes the program say which flags it knows.
pub(super) const PROBE: &[&str] = &["--help"];

/// `argv` with `--no-daemon` where it belongs and this version knows it.
pub(super) fn own_process(help: &str, mut argv: Vec<String>) -> Vec<String> {
    let own = argv.iter().skip(1).take_while(|word| *word != "--");
    // `--remote` names another server on purpose.
    if argv.is_empty()
        || own
            .clone()
            .any(|word| word == NO_DAEMON || word == "--remote" || word.starts_with("--remote="))
    {
        return argv;
    }
    if help.split_whitespace().any(|word| word == NO_DAEMON)
        && own.clone().all(|word| interactive(help, word))
    {
        argv.insert(1, NO_DAEMON.into());
    }
    argv
}

/// Whether a word of the command line is none of the subcommands that do something other than a session in
/// this terminal. A word that only looks like one (the value of an option) costs the flag, never the start.
fn interactive(help: &str, word: &str) -> bool {
    matches!(word, "resume" | "fork") || !subcommands(help).any(|command| command == word)
}

/// The names and aliases of the section `Commands:`.
fn subcommands(help: &str) -> impl Iterator<Item = &str> {
    let section = help
        .lines()
        .skip_while(|line| line.trim() != "Commands:")
        .skip(1);
    section
        .take_while(|line| line.is_empty() || line.starts_with(' '))
        .flat_map(|line| {
            // Names stand at the section's indent; deeper lines go on with a description.
            let name = line
                .strip_prefix("  ")
                .filter(|rest| !rest.starts_with(' '))
                .and_then(|rest| rest.split_whitespace().next());
            let aliases = line
                .split_once("[aliases: ")
                .and_then(|(_, rest)| rest.split_once(']'))
                .map_or("", |(names, _)| names);
            name.into_iter().chain(
                aliases
                    .split(',')
                    .map(str::trim)
                    .filter(|alias| !alias.is_empty()),
            )
        })
}

/// Whether a process with this command line is the server that sessions share: `codex app-server …`, started
/// directly or through an interpreter.
pub(super) fn is_app_server(cmdline: &[String]) -> bool {
    let is_codex = |word: &String| {
        let file = Path::new(word).file_name().and_then(|file| file.to_str());
        matches!(file, Some("codex" | "codex.js"))
    };
    let Some(at) = cmdline.iter().take(2).position(is_codex) else {
        return false;
    };
    cmdline.iter().skip(at + 1).any(|word| word == "app-server")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELP: &str = "Codex CLI\n\nUsage: codex [OPTIONS] [PROMPT]\n\nCommands:\n  exec     Run non-interactively [aliases: e]\n  mcp      Manage servers\n  resume   Resume a session (picker by\n           default)\n  fork     Fork a session\n\nOptions:\n  -m, --model <MODEL>\n      --no-daemon\n          Run without the shared background server\n";

    fn launched(help: &str, argv: &[&str]) -> Vec<String> {
        own_process(help, argv.iter().map(|word| (*word).to_owned()).collect())
    }

    #[test]
    fn a_session_of_ours_gets_the_flag_where_it_is_known() {
        assert_eq!(launched(HELP, &["codex"]), ["codex", "--no-daemon"]);
        assert_eq!(
            launched(HELP, &["codex", "resume", "abc"]),
            ["codex", "--no-daemon", "resume", "abc"]
        );
        assert_eq!(
            launched(HELP, &["codex", "fork"]),
            ["codex", "--no-daemon", "fork"]
        );
        assert_eq!(
            launched(HELP, &["codex", "-m", "o3", "fix it"]),
            ["codex", "--no-daemon", "-m", "o3", "fix it"]
        );
        assert_eq!(
            launched(HELP, &["codex", "--", "exec"]),
            ["codex", "--no-daemon", "--", "exec"]
        );
    }

    #[test]
    fn the_flag_is_not_added_where_it_does_not_belong() {
        for argv in [
            vec!["codex", "--no-daemon"],
            vec!["codex", "resume", "--no-daemon"],
            vec!["codex", "exec", "x"],
            vec!["codex", "e", "x"],
            vec!["codex", "-m", "o3", "mcp", "list"],
            vec!["codex", "--remote", "unix://"],
        ] {
            assert_eq!(launched(HELP, &argv), argv);
        }
        assert_eq!(
            launched("Usage: codex [--no-daemonology]", &["codex"]),
            ["codex"]
        );
        assert_eq!(launched("", &["codex"]), ["codex"]);
    }

    #[test]
    fn the_shared_server_is_known_by_its_command_line() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(is_app_server(&words(
            "/opt/vendor/bin/codex app-server --listen unix:// --managed-daemon"
        )));
        assert!(is_app_server(&words(
            "node /usr/lib/node_modules/codex/bin/codex.js app-server"
        )));
        assert!(!is_app_server(&words("codex --no-daemon")));
        assert!(!is_app_server(&words("vim codex app-server.md")));
        assert!(!is_app_server(&words("grep -r codex app-server")));
        assert!(!is_app_server(&[]));
    }
}
