//! The host as any program on its socket sees it (specs/020 §1).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops where it stands"
)]

#[path = "support/harness.rs"]
mod harness;

use harness::{Viewer, World, until};
use serde_json::{Value as Json, json};

/// A shell that says nothing by itself.
const SHELL: [&str; 2] = ["sh", "-i"];

/// A decision that a plain `hook-event` spells out, as a menu of three rows.
fn menu(prompt: &str) -> Json {
    json!({
        "prompt": prompt,
        "options": [
            {"id": "run", "label": "Run it", "polarity": "grants"},
            {"id": "always", "label": "Run it always", "polarity": "grants"},
            {"id": "no", "label": "Do not", "polarity": "refuses"},
        ],
    })
}

#[test]
fn hello_agrees_on_a_version_or_names_both_ranges() {
    let world = World::with_host();
    let agreed = world.client().hello("observer");
    assert_eq!(agreed["protocol"], 1);
    assert_eq!(agreed["inside"], false);
    assert!(
        agreed["epoch"]
            .as_str()
            .is_some_and(|epoch| !epoch.is_empty())
    );

    let error = world.client().must_fail(
        "hello",
        json!({"protocol": 999, "client": "from the future"}),
    );
    assert_eq!(error.code, "UNSUPPORTED_PROTOCOL");
    assert!(
        error.message.contains("999") && error.message.contains('1'),
        "{error:?}"
    );
    assert!(!error.data.is_null(), "the ranges are data as well");
}

#[test]
fn a_program_runs_in_a_pane_from_its_start_to_its_exit() {
    let world = World::with_host();
    let mut watcher = world.client();
    watcher.subscribe();

    let pane = world.spawn(
        &["sh", "-c", "echo ready; read line; echo got $line; exit 7"],
        &[],
    );
    watcher.event("pane.created", |data| {
        data["pane"]["id"] == pane.id.as_str()
    });
    pane.await_screen("ready");
    assert_eq!(pane.get()["size"], json!({"cols": 110, "rows": 45}));
    assert_eq!(pane.tty_size(), (110, 45));
    pane.type_text("words\n");
    let exited = watcher.event("pane.exited", |data| data["pane_id"] == pane.id.as_str());
    assert_eq!(exited["exit"], json!({"code": 7}));
    // What it said last can still be read.
    pane.await_screen("got words");
    assert_eq!(pane.get()["lifecycle"], "exited");

    let error = world
        .client()
        .must_fail("pane.input", json!({"pane_id": pane.id, "text": "x"}));
    assert_eq!(error.code, "PANE_EXITED");
    world
        .client()
        .must("pane.close", json!({"pane_id": pane.id}));
    watcher.event("pane.closed", |data| data["pane_id"] == pane.id.as_str());
    let error = world
        .client()
        .must_fail("pane.get", json!({"pane_id": pane.id}));
    assert_eq!(error.code, "NO_SUCH_PANE");
}

#[test]
fn closing_a_pane_ends_its_program() {
    let world = World::with_host();
    let pane = world.spawn(&["sleep", "600"], &[]);
    let pid = pane.pid();
    world
        .client()
        .must("pane.close", json!({"pane_id": pane.id}));
    until("the program ended", || {
        (!harness::world::alive(pid)).then_some(())
    });
}

#[test]
fn the_environment_is_the_caller_s() {
    let world = World::with_host();
    let pane = world.spawn(
        &["sh", "-c", "echo [$COLOUR] [$SIGNALTTY_PANE]; sleep 600"],
        &[("COLOUR", "teal")],
    );
    pane.await_screen(&format!("[teal] [{}]", pane.id));
}

#[test]
fn a_viewer_gets_what_is_on_screen_then_what_comes_and_types() {
    let world = World::with_host();
    let pane = world.spawn(&["cat"], &[]);
    pane.type_text("before\n");
    pane.await_screen("before\nbefore");

    let mut viewer = Viewer::attach(&world.socket(), json!({"pane_id": pane.id}));
    assert_eq!(viewer.attached["size"], json!({"cols": 110, "rows": 45}));
    viewer.await_bytes("before");
    viewer.type_bytes(b"during\n");
    viewer.await_bytes("during");
    pane.await_screen("during\nduring");
    // Looking on resizes nothing.
    assert_eq!(pane.tty_size(), (110, 45));

    world.client().must(
        "pane.resize",
        json!({"pane_id": pane.id, "cols": 90, "rows": 33}),
    );
    until("the terminal has its new size", || {
        (pane.tty_size() == (90, 33)).then_some(())
    });

    viewer.type_bytes(b"\x04");
    viewer.until_the_end();
}

#[test]
fn a_viewer_that_is_not_to_type_does_not() {
    let world = World::with_host();
    let pane = world.spawn(&["cat"], &[]);
    let mut silent = Viewer::attach(&world.socket(), json!({"pane_id": pane.id, "input": false}));
    silent.type_bytes(b"unwanted\n");
    let mut viewer = Viewer::attach(&world.socket(), json!({"pane_id": pane.id}));
    viewer.type_bytes(b"wanted\n");
    viewer.await_bytes("wanted");
    assert!(!pane.screen().contains("unwanted"));
}

#[test]
fn one_subscriber_sees_every_event_in_order_without_a_gap() {
    let world = World::with_host();
    let mut watcher = world.client();
    let mut next = watcher.subscribe()["seq"].as_u64().unwrap() + 1;
    let pane = world.spawn(&["sh", "-c", "sleep 600"], &[]);
    for round in 0..5 {
        world.client().must(
            "hook-event",
            json!({"agent": "script", "pane_id": pane.id, "decision": menu(&format!("round {round}"))}),
        );
    }
    world
        .client()
        .must("pane.close", json!({"pane_id": pane.id}));
    loop {
        let line = watcher.line();
        assert_eq!(line["seq"].as_u64(), Some(next), "{line}");
        next += 1;
        if line["event"] == "pane.closed" {
            break;
        }
    }
}

#[test]
fn a_subscriber_that_comes_back_gets_only_what_it_missed() {
    let world = World::with_host();
    let state = world.client().subscribe();
    let pane = world.spawn(&["sleep", "600"], &[]);
    let mut back = world.client();
    let since = back.must(
        "subscribe",
        json!({"epoch": state["epoch"], "from": state["seq"]}),
    );
    assert!(since.get("panes").is_none(), "{since}");
    back.event("pane.created", |data| {
        data["pane"]["id"] == pane.id.as_str()
    });
}

#[test]
fn a_newer_question_of_the_same_source_takes_the_place_of_one_that_nobody_waits_for() {
    let world = World::with_host();
    let pane = world.spawn(&["sleep", "600"], &[]);
    let mut watcher = world.client();
    watcher.subscribe();
    let ask = |prompt: &str| {
        let asked = json!({"agent": "script", "session_id": "s1", "pane_id": pane.id, "decision": menu(prompt)});
        world.client().must("hook-event", asked)["decision_id"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let first = ask("first");
    let second = ask("second");
    let created = watcher.event("decision.created", |data| {
        data["decision"]["id"] == second.as_str()
    });
    assert_eq!(created["prev"], first.as_str());
    assert_eq!(pane.get()["queued"], 0);
    assert_eq!(pane.get()["lifecycle"], "blocked");
    let cleared = watcher
        .drain()
        .into_iter()
        .filter(|line| line["event"] == "decision.cleared")
        .count();
    assert_eq!(cleared, 0, "its end was told twice");

    let error = world.operator().must_fail(
        "decision.answer",
        json!({"pane_id": pane.id, "decision_id": first, "option_id": "no"}),
    );
    assert_eq!(error.code, "NO_SUCH_DECISION");
    assert_eq!(error.data["state"], "superseded");
}

#[test]
fn one_of_another_source_stands_in_line() {
    let world = World::with_host();
    let pane = world.spawn(&["sleep", "600"], &[]);
    let ask = |session: &str| {
        let asked = json!({"agent": "script", "session_id": session, "pane_id": pane.id, "decision": menu(session)});
        world.client().must("hook-event", asked)["decision_id"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let first = ask("s1");
    let second = ask("s2");
    assert_eq!(pane.decision().unwrap()["id"], first.as_str());
    assert_eq!(pane.get()["queued"], 1);

    let listed = world.client().must("decision.list", json!({}));
    assert_eq!(listed["decisions"].as_array().unwrap().len(), 1);
    let listed = world
        .client()
        .must("decision.list", json!({"queued": true}));
    assert_eq!(listed["decisions"].as_array().unwrap().len(), 2);
    let error = world.operator().must_fail(
        "decision.answer",
        json!({"pane_id": pane.id, "decision_id": second, "option_id": "no"}),
    );
    assert_eq!(error.code, "NO_SUCH_DECISION");
    assert_eq!(error.data["state"], "queued");
}

#[test]
fn an_agent_that_nobody_knows_gets_a_card_without_an_answer() {
    let world = World::with_host();
    let pane = world.spawn(&["cat"], &[]);
    let asked = json!({"agent": "somebody-new", "pane_id": pane.id, "decision": menu("May I?")});
    world.client().must("hook-event", asked);
    let decision = pane.await_decision();
    assert_eq!(decision["answerable"], false);
    let error = world.operator().must_fail(
        "decision.answer",
        json!({"pane_id": pane.id, "decision_id": decision["id"], "option_id": "run"}),
    );
    assert_eq!(
        (error.code.as_str(), &error.data["reason"]),
        ("BAD_PARAMS", &json!("not_answerable"))
    );
    assert_eq!(
        pane.decision().unwrap()["id"],
        decision["id"],
        "it is still pending"
    );
    assert_eq!(pane.screen(), "", "a byte reached the terminal");
}

#[test]
fn looking_at_a_pane_ends_no_question() {
    let world = World::with_host();
    let pane = world.spawn(&["cat"], &[]);
    world.client().must(
        "hook-event",
        json!({"agent": "script", "pane_id": pane.id, "decision": menu("May I?")}),
    );
    let decision = pane.await_decision();
    let before = pane.tty_size();

    world
        .client()
        .must("pane.mark_seen", json!({"pane_id": pane.id}));
    let mut viewer = Viewer::attach(&world.socket(), json!({"pane_id": pane.id}));
    viewer.type_bytes(b"\x1b[I\x1b[O\x1b[<35;10;10M");
    pane.screen();
    assert_eq!(pane.decision().unwrap()["id"], decision["id"]);
    assert_eq!(pane.tty_size(), before);
    let attention = pane.get()["attention"].clone();
    assert!(
        attention
            .as_array()
            .unwrap()
            .contains(&json!("permission_required")),
        "{attention}"
    );
}

#[test]
fn the_pane_s_exit_ends_its_question() {
    let world = World::with_host();
    let pane = world.spawn(&["cat"], &[]);
    let mut watcher = world.client();
    watcher.subscribe();
    world.client().must(
        "hook-event",
        json!({"agent": "script", "pane_id": pane.id, "decision": menu("May I?")}),
    );
    let decision = pane.await_decision();
    pane.type_text("\x04");
    let cleared = watcher.cleared(decision["id"].as_str().unwrap());
    assert_eq!(cleared["reason"], "pane_exited");
}

#[test]
fn an_agent_cannot_approve_itself() {
    let world = World::with_host();
    let pane = world.spawn(&SHELL, &[]);
    let mut asking = world
        .command("signaltty")
        .args(["ask", "Deploy?", "--pane", &pane.id])
        .spawn()
        .unwrap();
    let decision = pane.await_decision();
    let id = decision["id"].as_str().unwrap();
    let program = harness::world::program("signaltty");
    let program = program.display();

    // By our own program, through a re-parented child, and over the bare socket.
    pane.type_text(&format!(
        "{program} answer --decision {id} --option yes; echo code=$?\n"
    ));
    pane.await_screen("code=5");
    pane.type_text(&format!(
        "(setsid sh -c 'sleep 0.3; {program} answer --decision {id} --option yes >/dev/null 2>&1; echo later=$?' &)\n"
    ));
    pane.await_screen("later=5");
    let script = format!(
        "import socket,json,os; s=socket.socket(socket.AF_UNIX); s.connect(os.environ['SIGNALTTY_SOCKET']); \
         s.sendall((json.dumps(dict(id=1,method='decision.answer',params=dict(pane_id='{}',decision_id='{id}',option_id='yes')))+chr(10)).encode()); \
         print('wire='+json.loads(s.makefile().readline())['error']['code'])",
        pane.id
    );
    let file = world.path("attempt.py");
    std::fs::write(&file, script).unwrap();
    pane.type_text(&format!("python3 {}\n", file.display()));
    pane.await_screen("wire=FORBIDDEN");
    pane.type_text(&format!("{program} daemon --stop; echo stop=$?\n"));
    pane.await_screen("stop=5");

    assert_eq!(pane.decision().unwrap()["id"], id, "it is still pending");
    world.operator().must(
        "decision.answer",
        json!({"pane_id": pane.id, "decision_id": id, "option_id": "no"}),
    );
    assert_eq!(asking.wait().unwrap().code(), Some(1));
}

#[test]
fn two_that_answer_at_once_deliver_one_answer() {
    let world = World::with_host();
    for _ in 0..5 {
        let asking = world
            .command("signaltty")
            .args(["ask", "Deploy?", "--json"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut clients = [world.operator(), world.operator()];
        let decision = until("it asks", || {
            clients[0].must("decision.list", json!({}))["decisions"]
                .get(0)
                .cloned()
        });
        let answers = ["yes", "no"];
        let sent: Vec<u64> = clients
            .iter_mut()
            .zip(answers)
            .map(|(client, option)| {
                let params = json!({"pane_id": decision["pane_id"], "decision_id": decision["id"], "option_id": option});
                client.send("decision.answer", params)
            })
            .collect();
        let results: Vec<_> = clients
            .iter_mut()
            .zip(sent)
            .map(|(client, id)| client.reply(id))
            .collect();
        let winner = results
            .iter()
            .position(Result::is_ok)
            .expect("one of them is applied");
        let loser = results[1 - winner]
            .as_ref()
            .expect_err("only one of them is");
        assert_eq!(loser.code, "NO_SUCH_DECISION");
        // Answered, or being answered at that moment: either way it says who won.
        assert!(
            loser.data["by"].as_str().is_some_and(|by| !by.is_empty()),
            "{loser:?}"
        );
        let done = asking.wait_with_output().unwrap();
        let said: Json = serde_json::from_slice(&done.stdout).unwrap();
        assert_eq!(said["option_id"], answers[winner]);
        assert_eq!(done.status.code(), Some(i32::from(answers[winner] == "no")));
    }
}

#[test]
fn the_schema_lists_every_method_that_there_is() {
    let world = World::with_host();
    let schema = world.client().must("host.schema", json!({}));
    for method in [
        "hello",
        "host.info",
        "host.schema",
        "host.shutdown",
        "subscribe",
        "pane.spawn",
        "pane.list",
        "pane.get",
        "pane.read",
        "pane.input",
        "pane.resize",
        "pane.close",
        "pane.attach",
        "pane.mark_seen",
        "hook-event",
        "hook.ack",
        "decision.list",
        "decision.get",
        "decision.answer",
        "integration.status",
        "integration.install",
        "integration.uninstall",
    ] {
        assert!(
            schema["methods"].get(method).is_some(),
            "{method} is not in the schema"
        );
    }
    let printed = world.cli(["schema"]);
    let printed: Json =
        serde_json::from_slice(&printed.stdout).expect("`signaltty schema` prints JSON");
    assert_eq!(printed, schema);
}
