//! Bad input: each gets its typed error, and the host goes on (specs/020 §1).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops where it stands"
)]

#[path = "support/harness.rs"]
mod harness;

use std::io::Write as _;
use std::process::Stdio;

use harness::{Client, World};
use serde_json::{Value as Json, json};

/// Longest line that the host takes, the newline included.
const LINE_MAX: usize = 1024 * 1024;

/// Fails unless the host still serves this connection and new ones.
#[track_caller]
fn goes_on(world: &World, client: &mut Client) {
    client.must("pane.list", json!({}));
    world.client().must("pane.list", json!({}));
}

/// The error of a line that has no request in it.
#[track_caller]
fn error_of_line(client: &mut Client) -> Json {
    let mut line = client.line();
    assert!(line["id"].is_null(), "{line}");
    line["error"].take()
}

#[test]
fn a_malformed_line_is_refused_and_the_connection_goes_on() {
    let world = World::with_host();
    let mut client = world.client();
    for bad in [
        &b"{nonsense\n"[..],
        b"[]\n",
        b"42\n",
        b"{\"id\":\"seven\",\"method\":\"pane.list\"}\n",
        b"{\"method\":\"pane.list\"}\n",
        b"{\"id\":-1,\"method\":\"pane.list\"}\n",
        b"\xff\xfe\x00\n",
    ] {
        client.send_raw(bad);
        let error = error_of_line(&mut client);
        assert_eq!(
            error["code"],
            "BAD_REQUEST",
            "{:?}",
            String::from_utf8_lossy(bad)
        );
        assert!(
            error["message"]
                .as_str()
                .is_some_and(|message| !message.is_empty())
        );
    }
    client.send_raw(b"{\"id\":9,\"params\":{}}\n");
    assert_eq!(client.line()["error"]["code"], "BAD_REQUEST");
    goes_on(&world, &mut client);
}

#[test]
fn a_line_that_is_too_long_is_refused_without_being_kept() {
    let world = World::with_host();
    let mut client = world.client();
    let mut line = vec![b' '; 2 * LINE_MAX];
    line.push(b'\n');
    client.send_raw(&line);
    assert_eq!(error_of_line(&mut client)["code"], "TOO_LARGE");
    goes_on(&world, &mut client);

    // The longest that fits is read.
    let request = br#"{"id":77,"method":"pane.list"}"#;
    let mut line = request.to_vec();
    line.resize(LINE_MAX - 1, b' ');
    line.push(b'\n');
    client.send_raw(&line);
    assert_eq!(client.line()["id"], 77);
}

#[test]
fn a_line_that_never_ends_holds_up_nobody() {
    let world = World::with_host();
    let mut client = world.client();
    client.send_raw(&vec![b'x'; 3 * LINE_MAX]);
    world.client().must("pane.list", json!({}));
    client.send_raw(b"\n");
    assert_eq!(error_of_line(&mut client)["code"], "TOO_LARGE");
    goes_on(&world, &mut client);
}

#[test]
fn an_unknown_method_is_named() {
    let world = World::with_host();
    let mut client = world.client();
    let error = client.must_fail("pane.paint", json!({}));
    assert_eq!(error.code, "UNKNOWN_METHOD");
    assert!(error.message.contains("pane.paint"), "{error:?}");
    goes_on(&world, &mut client);
}

#[test]
fn a_wrong_type_names_the_path_of_the_member() {
    let world = World::with_host();
    let mut client = world.client();
    for (method, params, path) in [
        ("pane.get", json!({"pane_id": 7}), "pane_id"),
        ("pane.get", json!({}), "pane_id"),
        (
            "pane.resize",
            json!({"pane_id": "x", "cols": "wide", "rows": 1}),
            "cols",
        ),
        ("pane.spawn", json!({"argv": "sh", "cwd": "/"}), "argv"),
        (
            "pane.spawn",
            json!({"argv": ["sh", 1], "cwd": "/"}),
            "argv[1]",
        ),
        (
            "hook-event",
            json!({"agent": "script", "decision": {"prompt": []}}),
            "decision.prompt",
        ),
        (
            "hook-event",
            json!({"agent": "script", "decision": {"prompt": "p", "options": [{"id": "a"}, {"id": 5}]}}),
            "options[1].id",
        ),
    ] {
        let error = client.must_fail(method, params.clone());
        assert_eq!(error.code, "BAD_PARAMS", "{method} {params}: {error:?}");
        let named = error.data["path"].as_str().unwrap_or_default();
        // A missing member is named by the message, at the object that lacks it.
        assert!(
            named.contains(path) || error.message.contains(path),
            "{method} {params}: {error:?}"
        );
    }
    goes_on(&world, &mut client);
}

#[test]
fn a_decision_that_cannot_be_one_is_refused() {
    let world = World::with_host();
    let pane = world.spawn(&["cat"], &[]);
    let mut client = world.client();
    let option = |id: &str, label: &str| json!({"id": id, "label": label});
    for (why, decision) in [
        (
            "one id twice",
            json!({"prompt": "p", "options": [option("a", "A"), option("a", "B")]}),
        ),
        (
            "two ids equal after folding",
            json!({"prompt": "p", "options": [option("yes", "A"), option("YES", "B")]}),
        ),
        (
            "an id that is another's label",
            json!({"prompt": "p", "options": [option("a", "b"), option("b", "c")]}),
        ),
        (
            "an id with a space",
            json!({"prompt": "p", "options": [option("a b", "A")]}),
        ),
        (
            "an empty id",
            json!({"prompt": "p", "options": [option("", "A")]}),
        ),
        (
            "a long id",
            json!({"prompt": "p", "options": [option(&"x".repeat(129), "A")]}),
        ),
        (
            "a decision id with a slash",
            json!({"id": "../x", "prompt": "p", "options": [option("a", "A")]}),
        ),
    ] {
        let params = json!({"agent": "script", "pane_id": pane.id, "decision": decision});
        let error = client.must_fail("hook-event", params);
        assert_eq!(error.code, "BAD_PARAMS", "{why}: {error:?}");
        assert!(pane.decision().is_none(), "{why}");
    }
    let both =
        json!({"agent": "script", "pane_id": pane.id, "payload": {}, "decision": {"prompt": "p"}});
    assert_eq!(client.must_fail("hook-event", both).code, "BAD_PARAMS");
    goes_on(&world, &mut client);
}

#[test]
fn an_id_is_used_once() {
    let world = World::with_host();
    let pane = world.spawn(&["sleep", "600"], &[]);
    let mut client = world.client();
    let asked = |prompt: &str| {
        json!({"agent": "script", "session_id": "s", "pane_id": pane.id,
               "decision": {"id": "mine", "prompt": prompt, "options": [{"id": "a", "label": "A"}]}})
    };
    client.must("hook-event", asked("once"));
    // The same again changes nothing.
    assert_eq!(
        client.must("hook-event", asked("once"))["decision_id"],
        "mine"
    );
    assert_eq!(
        client.must_fail("hook-event", asked("otherwise")).code,
        "BAD_PARAMS"
    );
    assert_eq!(pane.decision().unwrap()["prompt"], "once");

    client.must("pane.close", json!({"pane_id": pane.id}));
    let again = world.spawn(&["sleep", "600"], &[]);
    let mut params = asked("once");
    params["pane_id"] = json!(again.id);
    assert_eq!(
        client.must_fail("hook-event", params).code,
        "BAD_PARAMS",
        "its end does not free an id"
    );
    goes_on(&world, &mut client);
}

#[test]
fn what_is_not_there_is_named() {
    let world = World::with_host();
    let mut client = world.client();
    let error = client.must_fail(
        "hook-event",
        json!({"agent": "somebody-new", "payload": {"a": 1}, "hold": true}),
    );
    assert_eq!(
        (error.code.as_str(), &error.data["path"]),
        ("BAD_PARAMS", &json!("agent"))
    );
    for (method, params) in [
        ("pane.get", json!({"pane_id": "nowhere"})),
        ("pane.attach", json!({"pane_id": "nowhere"})),
        (
            "decision.answer",
            json!({"pane_id": "nowhere", "decision_id": "d", "option_id": "yes"}),
        ),
    ] {
        let error = client.must_fail(method, params.clone());
        assert!(
            matches!(error.code.as_str(), "NO_SUCH_PANE" | "NO_SUCH_DECISION"),
            "{method}: {error:?}"
        );
    }
    let error = client.must_fail("decision.get", json!({"decision_id": "nothing"}));
    assert_eq!(
        (error.code.as_str(), &error.data["state"]),
        ("NO_SUCH_DECISION", &json!("unknown"))
    );
    goes_on(&world, &mut client);
}

#[test]
fn a_program_that_is_not_there_is_told_as_such() {
    let world = World::with_host();
    let mut client = world.client();
    let spawn = |argv: Json, cwd: &str| json!({"argv": argv, "cwd": cwd, "env": world.env});
    let error = client.must_fail(
        "pane.spawn",
        spawn(json!(["no-such-program-anywhere"]), "/"),
    );
    assert_eq!(error.code, "SPAWN_FAILED");
    let error = client.must_fail("pane.spawn", spawn(json!(["sh"]), "/no/such/folder"));
    assert_eq!(error.code, "SPAWN_FAILED");
    let error = client.must_fail("pane.spawn", spawn(json!([]), "/"));
    assert_eq!(error.code, "BAD_PARAMS");
    assert_eq!(client.must("pane.list", json!({}))["panes"], json!([]));
}

/// Runs our hook with what a vendor would pipe into it.
fn hook(world: &World, arguments: &[&str], payload: &[u8]) -> std::process::Output {
    let mut running = world
        .command("signaltty")
        .arg("hook")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A hook that gives up at once has closed its end already.
    let _ = running.stdin.take().unwrap().write_all(payload);
    running.wait_with_output().unwrap()
}

#[test]
fn a_hook_with_bad_input_says_nothing_and_succeeds() {
    let world = World::with_host();
    let huge = [&b"{\"a\":\""[..], &vec![b'x'; 2 * LINE_MAX], b"\"}"].concat();
    for (why, arguments, payload) in [
        ("no JSON", &["claude"][..], &b"this is not JSON"[..]),
        ("nothing", &["claude"], b""),
        ("no object", &["codex"], b"[1, 2]"),
        ("not UTF-8", &["codex"], b"\xff\xfe"),
        ("an unknown agent", &["somebody-new"], b"{}"),
        (
            "an unknown event",
            &["claude", "NoSuchEvent"],
            b"{\"hook_event_name\": \"NoSuchEvent\"}",
        ),
        (
            "wrong types",
            &["claude"],
            b"{\"hook_event_name\": 5, \"session_id\": []}",
        ),
        ("far too long", &["claude"], &huge),
    ] {
        let done = hook(&world, arguments, payload);
        assert_eq!(
            (done.status.code(), done.stdout.as_slice()),
            (Some(0), &b""[..]),
            "{why}"
        );
    }
    world.client().must("pane.list", json!({}));
}

#[test]
fn a_hook_without_a_host_says_nothing_and_succeeds() {
    let world = World::new();
    let payload = br#"{"hook_event_name": "PermissionRequest", "session_id": "s", "tool_name": "Bash", "tool_input": {}}"#;
    let done = hook(&world, &["claude"], payload);
    assert_eq!(
        (done.status.code(), done.stdout.as_slice()),
        (Some(0), &b""[..])
    );
    assert!(!world.socket().exists(), "a hook started a host");
}
