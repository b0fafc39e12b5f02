//! Starting and ending programs.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use libtest_mimic::Trial;
use rustix::process::{Pid, Signal};
use signaltty_core::host::ancestry::read_stat;
use signaltty_core::host::keeper::{KeeperError, KeeperEvent, META_MAX, SpawnError, Target};
use signaltty_core::host::pty::Pty;

use super::bench::{
    Bench, LONG, OtherHost, code, eventually, is_running, line_after, pane, read_until, run,
    signal, spec, trial,
};

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a_program_runs_in_a_terminal_and_session_of_its_own_and_its_exit_code_is_told",
            exit_code,
        ),
        trial(
            "a_program_that_a_signal_ends_is_told_with_the_signal",
            exit_signal,
        ),
        trial(
            "a_program_that_cannot_be_run_is_an_exact_error_and_leaves_no_pane",
            exec_failures,
        ),
        trial(
            "a_folder_that_cannot_be_entered_is_an_exact_error",
            cwd_failure,
        ),
        trial("a_request_that_makes_no_sense_is_refused", senseless),
        trial(
            "a_script_without_an_interpreter_line_is_run_by_the_shell",
            plain_script,
        ),
        trial(
            "the_programs_environment_is_exactly_what_was_given",
            exact_environment,
        ),
        trial(
            "a_program_has_its_terminal_open_and_nothing_else",
            descriptors,
        ),
        trial(
            "the_keeper_keeps_nothing_that_its_starter_had_open",
            inherited_descriptors,
        ),
        trial("a_program_starts_with_default_signals", default_signals),
        trial(
            "a_signal_reaches_the_program_or_what_runs_in_its_foreground",
            signals,
        ),
        trial(
            "ending_a_pane_hangs_up_and_kills_what_does_not_listen",
            ending,
        ),
        trial("a_forgotten_pane_loses_its_terminal", forgetting),
        trial("a_record_is_bounded_and_a_missing_pane_is_named", records),
        trial(
            "a_spawn_that_nobody_waits_for_leaves_nothing_behind",
            abandoned,
        ),
        trial("many_programs_at_once_each_end_once", many),
        trial("what_a_pane_leaves_behind_is_reaped", orphans),
        trial("shutdown_ends_every_program_and_the_keeper", shutdown),
        trial("sigterm_ends_every_program_and_the_keeper", sigterm),
        trial("a_killed_keeper_is_noticed_and_its_panes_hang_up", killed),
        trial("a_keeper_without_panes_and_host_ends_by_itself", idle),
        trial("nobody_becomes_a_keeper_by_hand", by_hand),
    ]
}

fn exit_code() {
    let bench = Bench::new();
    run(async {
        let mut host = bench.host().await;
        assert!(host.held.is_empty());
        let script = "echo mark $$ $(tty) $(stty size) $(cut -d' ' -f6 /proc/$$/stat); exit 7";
        let spawned = host.spawn("p", &["sh", "-c", script]).await;
        let line = line_after(&spawned.master, "mark ");
        let words: Vec<_> = line.split_whitespace().collect();
        assert_eq!(words[0], spawned.pid.to_string());
        assert!(words[1].starts_with("/dev/pts/"), "{line}");
        assert_eq!(words[2..4], ["50", "200"]);
        assert_eq!(words[4], spawned.pid.to_string(), "a session of its own");
        assert_eq!(host.exit("p").await, code(7));
    });
}

fn exit_signal() {
    let bench = Bench::new();
    run(async {
        let mut host = bench.host().await;
        let _pane = host.spawn("p", &["sh", "-c", "kill -9 $$"]).await;
        assert_eq!(host.exit("p").await, signal(9));
    });
}

fn exec_failures() {
    let bench = Bench::new();
    let plain = bench.dir().join("plain");
    std::fs::write(&plain, "echo no").unwrap();
    run(async {
        let mut host = bench.host().await;
        let mut long = spec("p", &["true"]);
        long.env
            .push(("LONG".into(), OsString::from("x".repeat(200 * 1024))));
        let mut huge = spec("p", &["true"]);
        huge.env.extend((0..30).map(|n| {
            (
                format!("HUGE{n}").into(),
                OsString::from("x".repeat(100 * 1024)),
            )
        }));
        let cases = [
            (
                spec("p", &["there-is-no-such-program"]),
                ErrorKind::NotFound,
            ),
            (spec("p", &["/there/is/none"]), ErrorKind::NotFound),
            (
                spec("p", &[plain.to_str().unwrap()]),
                ErrorKind::PermissionDenied,
            ),
            (spec("p", &["/etc"]), ErrorKind::PermissionDenied),
            (long, ErrorKind::ArgumentListTooLong),
            (huge, ErrorKind::ArgumentListTooLong),
        ];
        for (spec, kind) in cases {
            let name = spec.argv[0].clone();
            match host.spawn_error(spec).await {
                SpawnError::Program { program, source } => {
                    assert_eq!((&program, source.kind()), (&name, kind));
                }
                other => panic!("{name:?}: {other}"),
            }
        }
        // The id is free, and the only exit ever told is that of the program that ran.
        let _pane = host.spawn("p", &["true"]).await;
        assert_eq!(host.exit("p").await, code(0));
        host.keeper.ping().await.unwrap();
        assert!(host.events.try_recv().is_err());
    });
}

fn cwd_failure() {
    let bench = Bench::new();
    run(async {
        let host = bench.host().await;
        let mut gone = spec("p", &["true"]);
        gone.cwd = "/there/is/none".into();
        match host.spawn_error(gone).await {
            SpawnError::Cwd { cwd, source } => {
                assert_eq!(
                    (cwd.as_path(), source.kind()),
                    (Path::new("/there/is/none"), ErrorKind::NotFound)
                );
            }
            other => panic!("{other}"),
        }
        let mut there = spec("p", &["pwd"]);
        there.cwd = bench.dir().to_owned();
        let spawned = host.keeper.spawn(there).await.unwrap();
        let name = bench.dir().file_name().unwrap().to_str().unwrap();
        read_until(&spawned.master, |text| text.contains(name).then_some(()));
    });
}

fn senseless() {
    let bench = Bench::new();
    run(async {
        let host = bench.host().await;
        let mut equals = spec("p", &["true"]);
        equals.env.push(("A=B".into(), "x".into()));
        for bad in [
            spec("p", &[]),
            spec("p", &[""]),
            spec("p", &["true", "a\0b"]),
            equals,
        ] {
            assert!(matches!(
                host.spawn_error(bad).await,
                SpawnError::Invalid(_)
            ));
        }
        let mut fat = spec("p", &["true"]);
        fat.meta = vec![0; META_MAX + 1];
        assert!(matches!(
            host.spawn_error(fat).await,
            SpawnError::Keeper(KeeperError::TooLarge { .. })
        ));
        let _pane = host.spawn("p", &["sleep", "1000"]).await;
        assert!(
            matches!(host.spawn_error(spec("p", &["true"])).await, SpawnError::Exists(id) if id == pane("p"))
        );
    });
}

fn plain_script() {
    let bench = Bench::new();
    let script = bench.dir().join("script");
    std::fs::write(&script, "exit $1").unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    run(async {
        let mut host = bench.host().await;
        let mut found = spec("p", &["script", "23"]);
        found.env = vec![(
            "PATH".into(),
            format!("/nowhere:{}", bench.dir().display()).into(),
        )];
        let _pane = host.keeper.spawn(found).await.unwrap();
        assert_eq!(host.exit("p").await, code(23));
    });
}

fn exact_environment() {
    let bench = Bench::new();
    run(async {
        let host = bench.host().await;
        let mut given = spec("p", &["env"]);
        given.env.extend([
            ("EMPTY".into(), "".into()),
            ("WITH".into(), "a = b; \"c\"".into()),
        ]);
        let path = given.env[0].1.to_str().unwrap().to_owned();
        let spawned = host.keeper.spawn(given).await.unwrap();
        let text = read_until(&spawned.master, |text| {
            text.contains("WITH=").then(|| text.to_owned())
        });
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(
            lines,
            [&format!("PATH={path}"), "EMPTY=", "WITH=a = b; \"c\""]
        );
    });
}

fn descriptors() {
    let bench = Bench::new();
    run(async {
        let host = bench.host().await;
        let _others = [
            host.spawn("a", &["sleep", "1000"]).await,
            host.spawn("b", &["sleep", "1000"]).await,
        ];
        // `ls` itself opens the folder that it lists, as 3.
        let script = "echo mark $(ls /proc/self/fd) and $(ls -l /proc/self/fd/0)";
        let spawned = host.spawn("p", &["sh", "-c", script]).await;
        let line = line_after(&spawned.master, "mark ");
        assert!(
            line.starts_with("0 1 2 3 and ") && line.contains("/dev/pts/"),
            "{line}"
        );
    });
}

fn inherited_descriptors() {
    let bench = Bench::new();
    // The host has its output open as 9 too, and passes that on to all that it starts.
    let mut host = OtherHost::start_by(&bench, "exec 9>&1; exec \"$@\"");
    assert!(host.ask("spawn p sleep 1000").parse::<i32>().is_ok());
    assert!(
        host.kill_and_see_output_closed(),
        "the keeper keeps what it inherited"
    );
}

fn default_signals() {
    let bench = Bench::new();
    run(async {
        let host = bench.host().await;
        let spawned = host
            .spawn(
                "p",
                &[
                    "sh",
                    "-c",
                    "grep -E '^Sig(Blk|Ign)' /proc/self/status; echo mark end",
                ],
            )
            .await;
        let text = read_until(&spawned.master, |text| {
            text.contains("mark end").then(|| text.to_owned())
        });
        let words: Vec<_> = text.split_whitespace().take(4).collect();
        let [blocked, ignored] =
            [words[1], words[3]].map(|mask| u64::from_str_radix(mask, 16).unwrap());
        // 32 and 33 are the C library's own; it lets nobody touch them.
        assert_eq!((words[0], blocked), ("SigBlk:", 0));
        assert_eq!((words[2], ignored & !(0b11 << 31)), ("SigIgn:", 0));
    });
}

fn signals() {
    let bench = Bench::new();
    run(async {
        let mut host = bench.host().await;
        // A shell with job control gives each command a group of its own.
        let shell = host
            .spawn(
                "p",
                &["sh", "-c", "set -m; sleep 1000; echo mark $?; sleep 1000"],
            )
            .await;
        let master = Pty::new(shell.master.try_clone().unwrap()).unwrap();
        eventually("sleep runs in the foreground", || {
            master
                .foreground()
                .is_some_and(|found| found.cmdline == ["sleep", "1000"] && found.group != shell.pid)
        });
        host.keeper
            .signal(&pane("p"), Target::Foreground, libc::SIGTERM)
            .await
            .unwrap();
        assert_eq!(line_after(&shell.master, "mark "), "143");
        host.keeper
            .signal(&pane("p"), Target::Program, libc::SIGKILL)
            .await
            .unwrap();
        assert_eq!(host.exit("p").await, signal(libc::SIGKILL));
        let late = host
            .keeper
            .signal(&pane("p"), Target::Program, libc::SIGKILL)
            .await;
        assert!(matches!(late, Err(KeeperError::Ended)), "{late:?}");
        let _other = host.spawn("q", &["sleep", "1000"]).await;
        let unknown = host.keeper.signal(&pane("q"), Target::Program, 4_711).await;
        assert!(matches!(unknown, Err(KeeperError::Io(_))), "{unknown:?}");
    });
}

fn ending() {
    let bench = Bench::new();
    run(async {
        let mut host = bench.host().await;
        let _polite = host.spawn("polite", &["sleep", "1000"]).await;
        let deaf = host
            .spawn(
                "deaf",
                &["sh", "-c", "trap '' HUP; echo mark ready; exec sleep 1000"],
            )
            .await;
        line_after(&deaf.master, "mark ");
        let stopped = host
            .spawn("stopped", &["sh", "-c", "echo mark ready; kill -STOP $$"])
            .await;
        line_after(&stopped.master, "mark ");
        host.keeper.end(&pane("polite"), LONG).await.unwrap();
        host.keeper.end(&pane("stopped"), LONG).await.unwrap();
        host.keeper
            .end(&pane("deaf"), Duration::from_millis(50))
            .await
            .unwrap();
        assert_eq!(host.exit("polite").await, signal(libc::SIGHUP));
        assert_eq!(host.exit("stopped").await, signal(libc::SIGHUP));
        assert_eq!(host.exit("deaf").await, signal(libc::SIGKILL));
    });
}

fn forgetting() {
    let bench = Bench::new();
    run(async {
        let host = bench.host().await;
        let spawned = host.spawn("p", &["sleep", "1000"]).await;
        host.keeper.forget(&pane("p")).await.unwrap();
        assert!(matches!(
            host.keeper.forget(&pane("p")).await,
            Err(KeeperError::NoSuchPane)
        ));
        assert!(
            is_running(spawned.pid),
            "the host's own copy still holds the terminal"
        );
        let pid = spawned.pid;
        drop(spawned);
        eventually("the program has ended", || !is_running(pid));
    });
}

fn records() {
    let bench = Bench::new();
    run(async {
        let host = bench.host().await;
        let _pane = host.spawn("p", &["sleep", "1000"]).await;
        host.keeper
            .set_meta(&pane("p"), vec![7; META_MAX])
            .await
            .unwrap();
        let fat = host
            .keeper
            .set_meta(&pane("p"), vec![7; META_MAX + 1])
            .await;
        assert!(matches!(fat, Err(KeeperError::TooLarge { .. })));
        let missing = host.keeper.set_meta(&pane("q"), vec![]).await;
        assert!(matches!(missing, Err(KeeperError::NoSuchPane)));
    });
}

fn abandoned() {
    let bench = Bench::new();
    run(async {
        let host = bench.host().await;
        for round in 0..30 {
            let keeper = host.keeper.clone();
            let asked =
                tokio::spawn(async move { keeper.spawn(spec("p", &["sleep", "1000"])).await });
            // It goes away before its request was sent, or while that or the reply is on its way.
            for _ in 0..round {
                tokio::task::yield_now().await;
            }
            asked.abort();
            if let Ok(spawned) = asked.await {
                // It was faster.
                spawned.unwrap();
                host.keeper
                    .signal(&pane("p"), Target::Program, libc::SIGKILL)
                    .await
                    .unwrap();
                host.keeper.forget(&pane("p")).await.unwrap();
            }
            // The id is free again once the keeper has ended what it had started.
            while let Err(error) = host.keeper.spawn(spec("p", &["true"])).await {
                assert!(matches!(error, SpawnError::Exists(_)), "{error}");
            }
            host.keeper.forget(&pane("p")).await.unwrap();
        }
        let keeper = host.keeper.pid();
        eventually("nothing but the keeper is left", || {
            children_of(keeper).is_empty()
        });
    });
}

fn many() {
    let bench = Bench::new();
    run(async {
        let mut host = bench.host().await;
        let spawning: Vec<_> = (0..60)
            .map(|n| {
                let keeper = host.keeper.clone();
                let spec = spec(&format!("p{n}"), &["sh", "-c", &format!("exit {n}")]);
                tokio::spawn(async move { keeper.spawn(spec).await })
            })
            .collect();
        for spawned in spawning {
            spawned.await.unwrap().unwrap();
        }
        for n in 0..60 {
            assert_eq!(host.exit(&format!("p{n}")).await, code(n));
        }
        host.keeper.ping().await.unwrap();
        assert!(host.events.try_recv().is_err(), "one exit a pane");
    });
}

/// Every process whose parent is `parent`, zombies too.
fn children_of(parent: i32) -> Vec<i32> {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|&pid| read_stat(pid).is_ok_and(|stat| stat.parent == parent))
        .collect()
}

fn orphans() {
    let bench = Bench::new();
    run(async {
        let mut host = bench.host().await;
        // The orphan ends by itself, some time after its parents are gone.
        let script = "(setsid sh -c 'echo mark $$; exec sleep 0.2' &); read x";
        let spawned = host.spawn("p", &["sh", "-c", script]).await;
        let orphan: i32 = line_after(&spawned.master, "mark ").parse().unwrap();
        rustix::io::write(&spawned.master, b"\n").unwrap();
        assert_eq!(host.exit("p").await, code(0));
        let keeper = host.keeper.pid();
        eventually("the keeper has no children left, dead or alive", || {
            children_of(keeper).is_empty()
        });
        assert!(!is_running(orphan));
    });
}

fn shutdown() {
    let bench = Bench::new();
    run(async {
        let mut host = bench.host().await;
        let keeper = host.keeper.pid();
        let polite = host.spawn("polite", &["sleep", "1000"]).await;
        let deaf = host
            .spawn(
                "deaf",
                &["sh", "-c", "trap '' HUP; echo mark ready; exec sleep 1000"],
            )
            .await;
        line_after(&deaf.master, "mark ");
        host.keeper
            .shutdown(Duration::from_millis(100))
            .await
            .unwrap();
        assert!(!is_running(polite.pid) && !is_running(deaf.pid));
        assert_eq!(host.exit("polite").await, signal(libc::SIGHUP));
        assert_eq!(host.exit("deaf").await, signal(libc::SIGKILL));
        assert_eq!(host.events.recv().await, Some(KeeperEvent::Lost));
        eventually("the keeper has ended", || !is_running(keeper));
        assert!(!bench.paths.keeper.exists());
        drop(host);
        let next = bench.host().await;
        assert!(next.held.is_empty());
        assert_ne!(next.keeper.pid(), keeper);
    });
}

fn sigterm() {
    let bench = Bench::new();
    run(async {
        let mut host = bench.host().await;
        let spawned = host.spawn("p", &["sleep", "1000"]).await;
        let keeper = host.keeper.pid();
        rustix::process::kill_process(Pid::from_raw(keeper).unwrap(), Signal::TERM).unwrap();
        assert_eq!(host.exit("p").await, signal(libc::SIGHUP));
        assert_eq!(host.events.recv().await, Some(KeeperEvent::Lost));
        eventually("both have ended", || {
            !is_running(keeper) && !is_running(spawned.pid)
        });
    });
}

fn killed() {
    let bench = Bench::new();
    run(async {
        let mut host = bench.host().await;
        let spawned = host.spawn("p", &["sleep", "1000"]).await;
        let keeper = host.keeper.pid();
        rustix::process::kill_process(Pid::from_raw(keeper).unwrap(), Signal::KILL).unwrap();
        let event = tokio::time::timeout(LONG, host.events.recv())
            .await
            .unwrap();
        assert_eq!(event, Some(KeeperEvent::Lost));
        assert!(matches!(host.keeper.ping().await, Err(KeeperError::Lost)));
        assert!(matches!(
            host.spawn_error(spec("q", &["true"])).await,
            SpawnError::Keeper(KeeperError::Lost)
        ));
        let pid = spawned.pid;
        drop(spawned);
        eventually("the program is hung up", || !is_running(pid));
        // The socket's file is still there, and nobody behind it: the next keeper takes its place.
        drop(host);
        let next = bench.host().await;
        let again = next.spawn("p", &["echo", "mark here"]).await;
        assert_eq!(line_after(&again.master, "mark "), "here");
    });
}

fn idle() {
    let bench = Bench::new();
    let keeper = run(async {
        let mut host = bench.host().await;
        let _pane = host.spawn("p", &["true"]).await;
        host.exit("p").await;
        host.keeper.forget(&pane("p")).await.unwrap();
        host.keeper.pid()
    });
    eventually("the keeper has ended", || !is_running(keeper));
    assert!(!bench.paths.keeper.exists());
}

fn by_hand() {
    let output = std::process::Command::new(super::bench::program())
        .arg("keeper")
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    assert!(!output.status.success());
    let words = String::from_utf8(output.stderr).unwrap();
    assert!(words.contains("started by the host"), "{words}");
}
