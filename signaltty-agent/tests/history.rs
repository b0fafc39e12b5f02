//! The history of decisions outlives the host, can be searched, and can be forgotten (specs/040).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops where it stands"
)]

#[path = "support/harness.rs"]
mod harness;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use harness::{World, until};
use serde_json::{Value as Json, json};

/// `signaltty ask` outside every pane, answered by `answer`; gives the decision.
fn asked_and_answered(world: &World, question: &str, answer: impl FnOnce(&Json)) -> Json {
    let mut asking = world
        .command("signaltty")
        .args(["ask", question])
        .spawn()
        .unwrap();
    let mut client = world.client();
    let decision = until("it asks", || {
        client.must("decision.list", json!({}))["decisions"]
            .get(0)
            .cloned()
    });
    answer(&decision);
    asking.wait().unwrap();
    decision
}

fn cli(world: &World, arguments: &[&str]) -> String {
    let done = world.command("signaltty").args(arguments).output().unwrap();
    assert!(
        done.status.success(),
        "{arguments:?}: {}",
        harness::world::text(&done)
    );
    String::from_utf8(done.stdout).unwrap()
}

#[test]
fn who_answered_what_outlives_the_host_until_it_is_forgotten() {
    let mut world = World::with_host();
    let first = asked_and_answered(&world, "Deploy?", |_| {
        cli(&world, &["answer", "--option", "yes"]);
    });
    let second = asked_and_answered(&world, "Delete?", |decision| {
        world.operator().must(
            "decision.answer",
            json!({"pane_id": decision["pane_id"], "decision_id": decision["id"], "text": "not on a Friday",
                "via": "window"}),
        );
    });
    let listed = world.cli_json(["log"]);
    let entries = listed["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 2, "{listed}");
    for (entry, decision, prompt, via, option) in [
        (&entries[0], &second, "Delete?", "window", "no"),
        (&entries[1], &first, "Deploy?", "cli", "yes"),
    ] {
        assert_eq!(entry["decision_id"], decision["id"]);
        assert_eq!(entry["pane_id"], decision["pane_id"]);
        assert_eq!(entry["agent"], decision["agent"]);
        assert_eq!(entry["asked_at"], decision["asked_at"]);
        assert_eq!(
            (
                &entry["prompt"],
                &entry["via"],
                &entry["applied"]["option_id"],
                &entry["reason"]
            ),
            (
                &json!(prompt),
                &json!(via),
                &json!(option),
                &json!("answered")
            )
        );
        assert!(
            entry["latency_ms"].is_u64() && entry["by"].is_string(),
            "{entry}"
        );
    }
    assert_eq!(entries[0]["applied"]["text"], "not on a Friday");

    assert_eq!(world.cli_json(["log"]), listed);

    // A question that comes back to the next host is one entry.
    let mut asking = world
        .command("signaltty")
        .args(["ask", "Once more?"])
        .spawn()
        .unwrap();
    let mut client = world.client();
    let pending = until("it asks", || {
        client.must("decision.list", json!({}))["decisions"]
            .get(0)
            .cloned()
    });
    assert_eq!(
        world.cli_json(["log"]),
        listed,
        "what is pending is no history"
    );
    world.kill_host();
    world.start_host();
    let mut client = world.operator();
    until("it asks again", || {
        client.must("decision.list", json!({}))["decisions"]
            .get(0)
            .filter(|back| back["answerable"] == true)
            .cloned()
    });
    cli(&world, &["answer", "--option", "yes"]);
    asking.wait().unwrap();
    let after = world.cli_json(["log"]);
    let after = after["entries"].as_array().unwrap();
    assert_eq!(after.len(), 3, "{after:?}");
    assert_eq!(
        after[1..],
        entries[..],
        "the restart changed what was written"
    );
    assert_eq!(
        (
            &after[0]["decision_id"],
            &after[0]["asked_at"],
            &after[0]["reason"]
        ),
        (&pending["id"], &pending["asked_at"], &json!("answered"))
    );

    // Searching.
    let found = |arguments: &[&str]| -> Vec<String> {
        let listed: Json = serde_json::from_str(&cli(&world, arguments)).unwrap();
        let entries = listed["entries"].as_array().unwrap();
        entries
            .iter()
            .map(|entry| entry["prompt"].as_str().unwrap().to_owned())
            .collect()
    };
    let pane = first["pane_id"].as_str().unwrap();
    assert_eq!(found(&["log", "--json", "--pane", pane]), ["Deploy?"]);
    assert_eq!(found(&["log", "--json", "--limit", "1"]), ["Once more?"]);
    assert_eq!(found(&["log", "--json", "--since", "1h"]).len(), 3);
    assert_eq!(found(&["log", "--json", "--before", "1h"]), [""; 0]);
    assert_eq!(found(&["log", "--json", "--agent", "nobody"]), [""; 0]);
    let said = cli(&world, &["log"]);
    assert!(
        said.contains("Delete?") && said.contains("“not on a Friday”") && said.contains("(window)"),
        "{said}"
    );

    // Forgetting.
    let forgotten = world.cli_json(["log", "--forget", "--pane", pane]);
    assert_eq!(forgotten, json!({"decisions": 1}));
    assert_eq!(found(&["log", "--json"]), ["Once more?", "Delete?"]);
    assert_eq!(cli(&world, &["log", "--forget"]), "forgot 2 decisions\n");
    assert_eq!(found(&["log", "--json"]), [""; 0]);
    world.kill_host();
    world.start_host();
    assert_eq!(
        world.cli_json(["log"]),
        json!({"entries": [], "more": false})
    );
}

#[test]
fn the_history_is_the_users_alone() {
    let world = World::with_host();
    asked_and_answered(&world, "Deploy?", |_| {
        cli(&world, &["answer", "--option", "yes"]);
    });
    let folder = world.path("state/signaltty");
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    let files: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert!(!files.is_empty());
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[test]
fn a_program_inside_a_pane_cannot_forget_who_answered() {
    let world = World::with_host();
    asked_and_answered(&world, "Deploy?", |_| {
        cli(&world, &["answer", "--option", "yes"]);
    });
    let signaltty = harness::world::program("signaltty");
    let script = format!(
        "{} log --forget; echo code $?; sleep 600",
        signaltty.display()
    );
    let pane = world.spawn(&["sh", "-c", &script], &[]);
    pane.await_screen("code 5");
    assert_eq!(
        world.cli_json(["log"])["entries"].as_array().unwrap().len(),
        1
    );
}

#[test]
fn the_layout_comes_back_with_the_panes_that_are_still_there() {
    let mut world = World::with_host();
    let panes = [world.spawn(&["cat"], &[]), world.spawn(&["cat"], &[])];
    let leaf = |at: usize| json!({"type": "pane", "pane_id": panes[at].id});
    let layout = json!({"tabs": [{"title": "work", "root":
        {"type": "split", "direction": "right", "share": 0.25, "first": leaf(0), "second": leaf(1)}}]});
    world.client().must("layout.set", json!({"layout": layout}));
    // Whoever asks for the history has everything before it written.
    world.cli_json(["log"]);
    world.kill_host();
    world.start_host();
    assert_eq!(
        world.client().must("layout.get", json!({}))["layout"],
        layout
    );

    // The keeper is lost, and every pane with it.
    let keeper = world.client().must("host.info", json!({}))["keeper_pid"]
        .as_i64()
        .unwrap();
    world.kill_host();
    harness::world::kill(i32::try_from(keeper).unwrap());
    until("the keeper is gone", || {
        (!harness::world::alive(i32::try_from(keeper).unwrap())).then_some(())
    });
    world.start_host();
    assert_eq!(
        world.client().must("layout.get", json!({}))["layout"],
        json!({"tabs": []})
    );
}

#[test]
fn without_a_place_for_the_history_agents_go_on_and_people_are_told_once() {
    let mut world = World::new();
    fs::write(world.path("state/signaltty"), "no folder").unwrap();
    world.start_host();
    let mut watcher = world.client();
    watcher.subscribe();
    let warning = watcher.event("host.warning", |_| true);
    assert!(
        warning["message"].as_str().unwrap().contains("history"),
        "{warning}"
    );
    let pane = world.spawn(&["cat"], &[]);
    pane.type_text("hello\n");
    pane.await_screen("hello\nhello");
    asked_and_answered(&world, "Deploy?", |_| {
        cli(&world, &["answer", "--option", "yes"]);
    });
    let refused = world.cli(["log"]);
    assert_eq!(
        refused.status.code(),
        Some(1),
        "{}",
        harness::world::text(&refused)
    );
    let told: Vec<_> = watcher
        .drain()
        .into_iter()
        .filter(|line| line["event"] == "host.warning")
        .collect();
    assert_eq!(told, [Json::Null; 0]);
}
