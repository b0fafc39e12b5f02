//! A host that is killed loses no agent (specs/001 §1).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops where it stands"
)]

#[path = "support/harness.rs"]
mod harness;

use std::time::Duration;

use harness::world::alive;
use harness::{Client, Viewer, World, until};
use serde_json::json;

#[test]
fn a_killed_host_loses_no_pane() {
    let mut world = World::with_host();
    let pane = world.spawn(
        &[
            "sh",
            "-c",
            "echo started; while read line; do echo heard $line; done",
        ],
        &[],
    );
    pane.await_screen("started");
    pane.type_text("one\n");
    pane.await_screen("heard one");
    let before = (pane.pid(), pane.tty_size());
    let epoch = world.client().must("host.info", json!({}))["epoch"].clone();

    world.kill_host();
    assert!(alive(before.0), "the agent died with the host");
    world.start_host();

    assert_ne!(world.client().must("host.info", json!({}))["epoch"], epoch);
    assert_eq!((pane.pid(), pane.tty_size()), before);
    pane.await_screen("heard one");
    pane.type_text("two\n");
    pane.await_screen("heard two");
}

#[test]
fn what_was_said_while_there_was_no_host_is_there_afterwards() {
    let mut world = World::with_host();
    let go = world.path("go");
    let script = format!(
        "echo started; until [ -e {} ]; do sleep 0.05; done; echo meanwhile; sleep 600",
        go.display()
    );
    let pane = world.spawn(&["sh", "-c", &script], &[]);
    pane.await_screen("started");
    world.kill_host();
    std::fs::write(&go, "").unwrap();
    // It has said it once it has gone to sleep behind it; the terminal holds it meanwhile.
    std::thread::sleep(Duration::from_millis(500));
    world.start_host();
    pane.await_screen("started\nmeanwhile");
}

#[test]
fn a_program_that_ended_while_there_was_no_host_has_its_exit_told() {
    let mut world = World::with_host();
    let go = world.path("go");
    let script = format!("until [ -e {} ]; do sleep 0.05; done; exit 9", go.display());
    let pane = world.spawn(&["sh", "-c", &script], &[]);
    let pid = pane.pid();
    world.kill_host();
    std::fs::write(&go, "").unwrap();
    until("it ended", || (!alive(pid)).then_some(()));
    world.start_host();
    until("its exit is known", || {
        (pane.get()["exit"] == json!({"code": 9})).then_some(())
    });
}

#[test]
fn many_kills_in_a_row_lose_nothing() {
    let mut world = World::with_host();
    let panes: Vec<_> = (0..3).map(|_| world.spawn(&["cat"], &[])).collect();
    let pids: Vec<_> = panes.iter().map(harness::Pane::pid).collect();
    for round in 0..4 {
        world.kill_host();
        world.start_host();
        for (pane, pid) in panes.iter().zip(&pids) {
            assert_eq!(pane.pid(), *pid, "round {round}");
            pane.type_text(&format!("round{round}\n"));
            pane.await_screen(&format!("round{round}\nround{round}"));
        }
    }
}

#[test]
fn a_viewer_comes_back_to_the_same_terminal() {
    let mut world = World::with_host();
    let pane = world.spawn(&["cat"], &[]);
    pane.type_text("kept\n");
    pane.await_screen("kept\nkept");
    let mut viewer = Viewer::attach(&world.socket(), json!({"pane_id": pane.id}));
    viewer.await_bytes("kept");
    world.kill_host();
    viewer.until_the_end();
    world.start_host();
    let mut viewer = Viewer::attach(&world.socket(), json!({"pane_id": pane.id}));
    viewer.await_bytes("kept");
    viewer.type_bytes(b"more\n");
    viewer.await_bytes("more");
}

#[test]
fn only_one_host_has_the_socket() {
    let world = World::with_host();
    let second = world.command("signaltty").arg("daemon").output().unwrap();
    assert!(
        !second.status.success(),
        "a second host started: {}",
        harness::world::text(&second)
    );
    world.client().must("pane.list", json!({}));
}

#[test]
fn a_host_that_is_stopped_keeps_its_panes_unless_told_otherwise() {
    let mut world = World::with_host();
    let pane = world.spawn(&["cat"], &[]);
    let pid = pane.pid();
    let stopped = world.cli(["daemon", "--stop"]);
    assert!(
        stopped.status.success(),
        "{}",
        harness::world::text(&stopped)
    );
    until("nobody listens", || {
        Client::try_connect(&world.socket()).is_none().then_some(())
    });
    assert!(alive(pid));
    world.start_host();
    assert_eq!(pane.pid(), pid);

    let stopped = world.cli(["daemon", "--stop", "--close"]);
    assert!(
        stopped.status.success(),
        "{}",
        harness::world::text(&stopped)
    );
    until("the program ended", || (!alive(pid)).then_some(()));
}

#[test]
fn a_question_whose_host_dies_and_stays_dead_is_not_granted() {
    let mut world = World::with_host();
    let mut asking = world
        .command("signaltty")
        .args(["ask", "Deploy?"])
        .spawn()
        .unwrap();
    let mut operator = world.operator();
    until("it asks", || {
        operator.must("decision.list", json!({}))["decisions"]
            .get(0)
            .cloned()
    });
    world.kill_host();
    let code = asking.wait().unwrap().code();
    assert!(
        matches!(code, Some(1..)),
        "exit code {code:?} would let `ask && deploy` go on"
    );
}

#[test]
fn a_question_comes_back_to_the_next_host_under_its_id() {
    let mut world = World::with_host();
    let mut asking = world
        .command("signaltty")
        .args(["ask", "Deploy?"])
        .spawn()
        .unwrap();
    let mut operator = world.operator();
    let before = until("it asks", || {
        operator.must("decision.list", json!({}))["decisions"]
            .get(0)
            .cloned()
    });
    world.kill_host();
    world.start_host();
    let mut operator = world.operator();
    let after = until("it asks again", || {
        operator.must("decision.list", json!({}))["decisions"]
            .get(0)
            .cloned()
    });
    assert_eq!(after["id"], before["id"]);
    operator.must(
        "decision.answer",
        json!({"pane_id": after["pane_id"], "decision_id": after["id"], "option_id": "yes"}),
    );
    assert_eq!(asking.wait().unwrap().code(), Some(0));
}
