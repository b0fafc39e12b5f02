//! The commands on panes, as a person or a script types them (specs/020 §2).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops where it stands"
)]

#[path = "support/harness.rs"]
mod harness;

use harness::world::text;
use harness::{World, until};
use serde_json::json;

#[test]
fn a_pane_is_opened_listed_read_typed_into_and_closed() {
    let world = World::with_host();
    let work = world.work();
    let opened = world.cli_json(["new", "--title", "my shell", "--size", "90x20", "--", "cat"]);
    let pane = opened["pane_id"].as_str().unwrap().to_owned();

    let listed = world.cli_json(["ls"]);
    assert_eq!(listed["panes"][0]["id"], pane.as_str());
    assert_eq!(listed["panes"][0]["title"], "my shell");
    assert_eq!(listed["panes"][0]["size"], json!({"cols": 90, "rows": 20}));
    assert_eq!(listed["panes"][0]["cwd"], work.to_str().unwrap());
    let shown = world.cli(["ls"]);
    assert!(text(&shown).contains("my shell"), "{}", text(&shown));

    // By id, by a unique prefix, by title.
    let prefix = &pane[..pane.len() - 1];
    for (name, word) in [
        (pane.as_str(), "one"),
        (prefix, "two"),
        ("my shell", "three"),
    ] {
        assert!(world.cli(["send", name, word, "--enter"]).status.success());
        // By the terminal, and by the program.
        until("it is echoed twice", || {
            (text(&world.cli(["read", &pane])).matches(word).count() == 2).then_some(())
        });
    }
    let read = text(&world.cli(["read", &pane]));
    assert!(read.contains("one\none\ntwo\ntwo\nthree\nthree"), "{read}");

    assert!(world.cli(["close", "my shell"]).status.success());
    assert_eq!(world.cli_json(["ls"])["panes"], json!([]));
}

#[test]
fn exit_codes_tell_what_went_wrong() {
    let world = World::with_host();
    for (arguments, code) in [
        (&["read", "nowhere"][..], 3),
        (&["send", "nowhere", "x"], 3),
        (&["close", "nowhere"], 3),
        (&["answer", "--decision", "nothing", "--option", "yes"], 3),
        (&["read"], 2),
        (&["no-such-command"], 2),
        (&["new", "--size", "wide", "--", "cat"], 2),
        (&["new", "--", "no-such-program-anywhere"], 1),
        (&["ls"], 0),
    ] {
        let done = world.command("signaltty").args(arguments).output().unwrap();
        assert_eq!(
            done.status.code(),
            Some(code),
            "{arguments:?}: {}",
            text(&done)
        );
    }
}

#[test]
fn the_first_client_starts_the_host_and_a_hook_does_not() {
    let world = World::new();
    let done = world
        .command("signaltty")
        .args(["new", "--", "sleep", "600"])
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", text(&done));
    assert_eq!(world.cli_json(["ls"])["panes"].as_array().unwrap().len(), 1);
}

#[test]
fn attach_shows_the_pane_types_into_it_and_ends_with_it() {
    use std::io::{Read as _, Write as _};
    let world = World::with_host();
    let pane = world.spawn(
        &["sh", "-c", "echo ready; read line; echo heard $line"],
        &[],
    );
    pane.await_screen("ready");
    // `attach` wants a terminal of its own: python3 gives it one.
    let run = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
    let mut attached = std::process::Command::new("python3")
        .args(["-c", run])
        .arg(harness::world::program("signaltty"))
        .args(["attach", &pane.id])
        .env_clear()
        .envs(&world.env)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = attached.stdout.take().unwrap();
    let mut shown = Vec::new();
    // Typed once it shows the pane: before that it is not in the terminal's way yet.
    while !String::from_utf8_lossy(&shown).contains("ready") {
        let mut byte = [0];
        output.read_exact(&mut byte).unwrap();
        shown.extend(byte);
    }
    attached
        .stdin
        .as_mut()
        .unwrap()
        .write_all(b"words\r")
        .unwrap();
    pane.await_screen("heard words");
    output.read_to_end(&mut shown).unwrap();
    let shown = String::from_utf8_lossy(&shown);
    assert!(shown.contains("heard words"), "{shown}");
    assert_eq!(attached.wait().unwrap().code(), Some(0), "{shown}");
}

#[test]
fn events_prints_what_happens_as_it_happens() {
    use std::io::BufRead as _;
    let world = World::with_host();
    let mut events = world
        .command("signaltty")
        .args(["events", "--json"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let lines = std::io::BufReader::new(events.stdout.take().unwrap()).lines();
    let (sender, seen) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        lines
            .map_while(Result::ok)
            .all(|line| sender.send(line).is_ok())
    });
    until("events is subscribed", || {
        let pane = world.spawn(&["true"], &[]);
        let line = seen.recv_timeout(std::time::Duration::from_secs(1)).ok()?;
        (line.contains(&pane.id) || line.contains("pane.")).then_some(())
    });
    events.kill().unwrap();
    events.wait().unwrap();
}

#[test]
fn integrations_are_reported_installed_and_taken_out() {
    let world = World::with_host();
    let state = |world: &World, agent: &str| {
        world.cli_json(["integration", "status", agent])["integrations"][0]["state"].clone()
    };
    for agent in ["claude", "codex"] {
        assert_eq!(state(&world, agent), "absent");
        assert!(
            world
                .cli(["integration", "install", agent])
                .status
                .success()
        );
        assert_eq!(state(&world, agent), "installed");
        let again = world.cli_json(["integration", "install", agent]);
        assert_eq!(again["integrations"][0]["changed"], false, "{again}");
        assert!(
            world
                .cli(["integration", "uninstall", agent])
                .status
                .success()
        );
        assert_eq!(state(&world, agent), "absent");
    }
}
