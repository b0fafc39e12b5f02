//! Starting Codex so that its hooks can be told apart.
//!
//! By default its sessions and hooks run in one background server that the first pane started, with that pane's
//! environment. `--no-daemon` keeps them in the pane's own process; it is added where this version knows it.

use std::collections::HashMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime};

/// The flag.
const NO_DAEMON: &str = "--no-daemon";
/// How long `--help` may take.
const HELP_WAIT: Duration = Duration::from_secs(5);
/// How often to look whether it ended. It cannot be waited for with a bound by the standard library.
const HELP_POLL: Duration = Duration::from_millis(10);
/// Most bytes of `--help` that are read.
const HELP_MAX: u64 = 256 * 1024;
/// Programs whose help is remembered.
const CACHE_MAX: usize = 32;

/// What `--help` of a program said, by path, as long as the file is the same.
#[derive(Debug, Default)]
pub(super) struct HelpCache(Mutex<HashMap<PathBuf, (Option<SystemTime>, String)>>);

impl HelpCache {
    fn help(&self, program: &Path) -> String {
        let changed = std::fs::metadata(program)
            .and_then(|about| about.modified())
            .ok();
        let Ok(mut known) = self.0.lock() else {
            return String::new();
        };
        if let Some((at, help)) = known.get(program) {
            if *at == changed {
                return help.clone();
            }
        }
        let help = run_help(program).unwrap_or_default();
        if known.len() >= CACHE_MAX {
            known.clear();
        }
        known.insert(program.to_owned(), (changed, help.clone()));
        help
    }
}

/// Runs `program --help`, bounded in time and size.
fn run_help(program: &Path) -> Option<String> {
    let mut child = Command::new(program)
        .arg("--help")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let output = child.stdout.take()?;
    // A thread reads, so that a full pipe never holds the program up and its silence never holds us up.
    let reader = std::thread::spawn(move || {
        let mut help = Vec::new();
        let _ = output.take(HELP_MAX).read_to_end(&mut help);
        help
    });
    let deadline = Instant::now() + HELP_WAIT;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Some(status),
            Ok(None) if Instant::now() < deadline => std::thread::sleep(HELP_POLL),
            _ => break None,
        }
    };
    if status.is_none() {
        let _ = child.kill();
        let _ = child.wait();
        return None;
    }
    let help = reader.join().ok()?;
    Some(String::from_utf8_lossy(&help).into_owned())
}

/// `argv` with `--no-daemon` where it belongs and this version knows it.
pub(super) fn own_process(help: &HelpCache, program: &Path, mut argv: Vec<String>) -> Vec<String> {
    let own = argv.iter().skip(1).take_while(|word| *word != "--");
    // `--remote` names another server on purpose.
    if argv.is_empty()
        || own
            .clone()
            .any(|word| word == NO_DAEMON || word == "--remote" || word.starts_with("--remote="))
    {
        return argv;
    }
    let text = help.help(program);
    if text.split_whitespace().any(|word| word == NO_DAEMON)
        && own.clone().all(|word| interactive(&text, word))
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
    use std::os::unix::fs::PermissionsExt as _;

    const HELP: &str = "Codex CLI\n\nUsage: codex [OPTIONS] [PROMPT]\n\nCommands:\n  exec     Run non-interactively [aliases: e]\n  mcp      Manage servers\n  resume   Resume a session (picker by\n           default)\n  fork     Fork a session\n\nOptions:\n  -m, --model <MODEL>\n      --no-daemon\n          Run without the shared background server\n";

    fn program(folder: &Path, script: &str) -> PathBuf {
        let path = folder.join("codex");
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))
            .expect("executable");
        path
    }

    fn launched(program: &Path, argv: &[&str]) -> Vec<String> {
        own_process(
            &HelpCache::default(),
            program,
            argv.iter().map(|word| (*word).to_owned()).collect(),
        )
    }

    #[test]
    fn a_session_of_ours_gets_the_flag_where_it_is_known() {
        let folder = tempfile::tempdir().expect("folder");
        let codex = program(folder.path(), &format!("cat <<'END'\n{HELP}END"));
        assert_eq!(launched(&codex, &["codex"]), ["codex", "--no-daemon"]);
        assert_eq!(
            launched(&codex, &["codex", "resume", "abc"]),
            ["codex", "--no-daemon", "resume", "abc"]
        );
        assert_eq!(
            launched(&codex, &["codex", "fork"]),
            ["codex", "--no-daemon", "fork"]
        );
        assert_eq!(
            launched(&codex, &["codex", "-m", "o3", "fix it"]),
            ["codex", "--no-daemon", "-m", "o3", "fix it"]
        );
        assert_eq!(
            launched(&codex, &["codex", "--", "exec"]),
            ["codex", "--no-daemon", "--", "exec"]
        );
    }

    #[test]
    fn the_flag_is_not_added_where_it_does_not_belong() {
        let folder = tempfile::tempdir().expect("folder");
        let codex = program(folder.path(), &format!("cat <<'END'\n{HELP}END"));
        for argv in [
            vec!["codex", "--no-daemon"],
            vec!["codex", "resume", "--no-daemon"],
            vec!["codex", "exec", "x"],
            vec!["codex", "e", "x"],
            vec!["codex", "-m", "o3", "mcp", "list"],
            vec!["codex", "--remote", "unix://"],
        ] {
            assert_eq!(launched(&codex, &argv), argv);
        }
        let old = tempfile::tempdir().expect("folder");
        let old = program(old.path(), "echo 'Usage: codex [--no-daemonology]'");
        assert_eq!(launched(&old, &["codex"]), ["codex"]);
        assert_eq!(
            launched(Path::new("/nonexistent/codex"), &["codex"]),
            ["codex"]
        );
    }

    #[test]
    fn help_is_asked_for_once() {
        let folder = tempfile::tempdir().expect("folder");
        let codex = program(
            folder.path(),
            "echo x >> \"$(dirname \"$0\")/runs\"; echo --no-daemon",
        );
        let help = HelpCache::default();
        for _ in 0..3 {
            assert_eq!(
                own_process(&help, &codex, vec!["codex".into()]),
                ["codex", "--no-daemon"]
            );
        }
        assert_eq!(
            std::fs::read_to_string(folder.path().join("runs")).expect("runs"),
            "x\n"
        );
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
