//! Starting and ending programs.

use std::io::ErrorKind;

use libtest_mimic::Trial;
use signaltty_core::host::keeper::{KeeperError, SpawnError, Target};

use super::bench::{
    Bench, code, eventually, is_running, line_after, pane, run, signal, spec, trial,
};

pub fn trials() -> Vec<Trial> {
    vec![trial(
        "a_program_runs_in_a_terminal_of_its_own_and_its_exit_code_is_told",
        exit_code,
    )]
}

fn exit_code() {
    let bench = Bench::new();
    run(async {
        let mut host = bench.host().await;
        assert!(host.held.is_empty());
        let spawned = host
            .spawn(
                "p",
                &[
                    "sh",
                    "-c",
                    "echo mark $$ $(tty) $(stty size) $(ps -o sid= -p $$); exit 7",
                ],
            )
            .await;
        let line = line_after(&spawned.master, "mark ");
        let words: Vec<_> = line.split_whitespace().collect();
        assert_eq!(words[0], spawned.pid.to_string());
        assert!(words[1].starts_with("/dev/pts/"), "{line}");
        assert_eq!(words[2..4], ["50", "200"]);
        assert_eq!(words[4], spawned.pid.to_string(), "a session of its own");
        assert_eq!(host.exit("p").await, code(7));
    });
}
