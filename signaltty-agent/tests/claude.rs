//! Claude Code's payloads, as captured from the real program, read by its adapter.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops where it stands"
)]

use serde_json::{Value as Json, json};
use signaltty_agent::adapters::claude::Claude;
use signaltty_core::adapter::{
    AgentAdapter, AnswerChannel, Ask, CallRef, Holding, HookLoss, Reading, Signal,
};
use signaltty_core::answer::Applied;
use signaltty_core::model::{
    DetailKind, FieldType, Key, Kind, Polarity, RespondVia, TextUse, Value,
};

fn payload(name: &str) -> Json {
    let path = format!(
        "{}/tests/payloads/claude/{name}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    serde_json::from_str(&std::fs::read_to_string(path).expect("payload")).expect("JSON")
}

fn read(name: &str) -> Reading {
    Claude.interpret(None, &payload(name)).expect("a reading")
}

fn ask(name: &str) -> Ask {
    read(name).ask.expect("a question")
}

fn option(ask: &Ask) -> Vec<(&str, &str, Polarity, bool)> {
    ask.options
        .iter()
        .map(|o| (o.id.as_str(), o.label.as_str(), o.polarity, o.carries_text))
        .collect()
}

fn decision(ask: &Ask, applied: &Applied) -> Json {
    let output: Json =
        serde_json::from_str(&Claude.verdict(&ask.carry, applied).expect("a verdict"))
            .expect("JSON");
    let hook = &output["hookSpecificOutput"];
    assert_eq!(hook["hookEventName"], "PermissionRequest");
    hook["decision"].clone()
}

fn chosen(id: &str) -> Applied {
    Applied {
        option_id: Some(id.into()),
        ..Applied::default()
    }
}

fn call(reading: &Reading) -> CallRef {
    match reading.signal.clone() {
        Some(Signal::ToolStarted(call) | Signal::ToolFinished(call)) => call,
        other => panic!("no call: {other:?}"),
    }
}

#[test]
fn every_payload_says_whose_it_is() {
    for name in [
        "PermissionRequest-Bash",
        "Stop",
        "UserPromptSubmit",
        "PostToolUse-Write",
    ] {
        let reading = read(name);
        assert_eq!(
            reading.session_id.as_deref(),
            Some("7c1f6e0a-52f0-4f6e-9c55-3d0b6a1e2f10"),
            "{name}"
        );
        assert_eq!(
            reading.turn_id.as_deref(),
            Some("0b8f7d7e-0d0c-4c0e-8f43-5a5f0f6b9e21"),
            "{name}"
        );
        assert_eq!(reading.cwd.as_deref(), Some("/srv/demo"), "{name}");
        assert_eq!(reading.subagent, None);
    }
    assert_eq!(read("SessionEnd-other").turn_id, None);
    let mut inner = payload("PreToolUse-Bash");
    inner["agent_id"] = json!("a7");
    assert_eq!(
        Claude
            .interpret(None, &inner)
            .expect("a reading")
            .subagent
            .as_deref(),
        Some("a7")
    );
}

#[test]
fn events_become_signals_and_only_requests_become_questions() {
    for (name, signal) in [
        ("SessionStart-startup", Some(Signal::SessionStarted)),
        ("SessionStart-resume", Some(Signal::SessionStarted)),
        ("UserPromptSubmit", Some(Signal::PromptSubmitted)),
        ("Stop", Some(Signal::TurnEnded { background: false })),
        ("SessionEnd-prompt_input_exit", Some(Signal::SessionEnded)),
        ("SessionEnd-other", Some(Signal::SessionEnded)),
        ("Notification-idle_prompt", Some(Signal::Idle)),
        ("Notification-permission_prompt", None),
    ] {
        let reading = read(name);
        assert_eq!(reading.signal, signal, "{name}");
        assert_eq!((reading.ask, reading.message), (None, None), "{name}");
    }
    for name in [
        "PreToolUse-AskUserQuestion",
        "PreToolUse-ExitPlanMode",
        "PostToolUse-AskUserQuestion",
    ] {
        assert_eq!(read(name).ask, None, "{name}");
    }
}

#[test]
fn tasks_that_still_run_are_told() {
    let mut stop = payload("Stop");
    stop["background_tasks"] = json!([{ "id": "b1" }]);
    let reading = Claude.interpret(None, &stop).expect("a reading");
    assert_eq!(reading.signal, Some(Signal::TurnEnded { background: true }));
}

#[test]
fn another_notification_is_a_message() {
    let mut notice = payload("Notification-idle_prompt");
    notice["notification_type"] = json!("auth_success");
    notice["message"] = json!("Signed in");
    let reading = Claude.interpret(None, &notice).expect("a reading");
    assert_eq!(
        (reading.message.as_deref(), reading.signal),
        (Some("Signed in"), None)
    );
}

#[test]
fn a_request_its_start_and_its_end_are_one_call() {
    for tool in ["Bash", "Write", "AskUserQuestion", "ExitPlanMode"] {
        let asked = ask(&format!("PermissionRequest-{tool}"))
            .call
            .expect("a call");
        let started = call(&read(&format!("PreToolUse-{tool}")));
        let finished = call(&read(&format!("PostToolUse-{tool}")));
        assert_eq!(asked.call_id, None);
        assert_eq!(started, finished, "{tool}");
        assert!(started.call_id.is_some());
        assert_eq!(
            (&asked.tool, &asked.input),
            (&finished.tool, &finished.input),
            "{tool}"
        );
    }
    let mut other = payload("PostToolUse-Bash");
    other["tool_input"]["command"] = json!("make clean");
    let other = call(&Claude.interpret(None, &other).expect("a reading"));
    assert_ne!(
        ask("PermissionRequest-Bash").call.expect("a call").input,
        other.input
    );
}

#[test]
fn a_command_is_asked_for_with_its_own_choices() {
    let ask = ask("PermissionRequest-Bash");
    assert_eq!(
        (ask.kind, ask.channel),
        (Kind::Permission, AnswerChannel::HookVerdict)
    );
    assert_eq!(
        (ask.holding, ask.hook_loss),
        (Holding::Always, HookLoss::MovedOn)
    );
    assert_eq!(
        ask.respond_via,
        Some(vec![RespondVia::Control, RespondVia::Oob])
    );
    assert_eq!(ask.text, TextUse::Reason);
    assert_eq!(ask.subject.as_deref(), Some("Bash"));
    assert_eq!(ask.prompt, "Run this command?");
    assert_eq!(
        (ask.detail.as_deref(), ask.detail_kind),
        (Some("make release VERSION=1.2"), DetailKind::Command)
    );
    assert_eq!(
        option(&ask),
        [
            ("allow", "Allow once", Polarity::Grants, false),
            ("deny", "Deny", Polarity::Refuses, true),
            (
                "always-1",
                "Always: add /srv/demo to the working folders (this session)",
                Polarity::Grants,
                false
            ),
            (
                "always-2",
                "Always: switch to mode acceptEdits: file edits are accepted without asking (this session)",
                Polarity::Grants,
                false
            ),
        ]
    );
    let keys = ask.keys.expect("keys");
    for key in [Key::Char('1'), Key::Char('4'), Key::Enter, Key::Escape] {
        assert!(keys.answers.contains(&key), "{key:?}");
    }
    for key in [Key::Char('y'), Key::Char('5'), Key::Down, Key::Tab] {
        assert!(!keys.answers.contains(&key), "{key:?}");
    }
    assert_eq!(keys.opens_text, [Key::Tab]);
}

#[test]
fn a_command_shows_everything_that_it_asks_for() {
    let mut request = payload("PermissionRequest-Bash");
    request["tool_input"]["description"] = json!("Make the release");
    request["tool_input"]["dangerouslyDisableSandbox"] = json!(true);
    let ask = Claude
        .interpret(None, &request)
        .expect("a reading")
        .ask
        .expect("a question");
    assert_eq!(
        ask.prompt,
        "Run this command? Make the release\ndangerouslyDisableSandbox: true"
    );
}

#[test]
fn verdicts_are_spelt_as_the_vendor_reads_them() {
    let ask = ask("PermissionRequest-Bash");
    assert_eq!(
        Claude
            .verdict(&ask.carry, &chosen("allow"))
            .expect("a verdict"),
        r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}"#
    );
    assert_eq!(
        decision(&ask, &chosen("deny")),
        json!({ "behavior": "deny" })
    );
    let reasoned = Applied {
        text: Some("use staging".into()),
        ..chosen("deny")
    };
    assert_eq!(
        decision(&ask, &reasoned),
        json!({ "behavior": "deny", "message": "use staging" })
    );
    assert_eq!(
        decision(&ask, &chosen("always-1")),
        json!({ "behavior": "allow", "updatedPermissions":
            [{ "type": "addDirectories", "directories": ["/srv/demo"], "destination": "session" }] })
    );
    for wrong in [chosen("always-3"), chosen("card"), Applied::default()] {
        assert!(Claude.verdict(&ask.carry, &wrong).is_err(), "{wrong:?}");
    }
    assert!(Claude.verdict(&Json::Null, &chosen("allow")).is_err());
}

#[test]
fn a_file_is_shown_as_a_diff() {
    let ask = ask("PermissionRequest-Write");
    assert_eq!(
        ask.prompt,
        "Write this as the whole of /srv/demo/notes.txt?"
    );
    assert_eq!(ask.detail_kind, DetailKind::Diff);
    assert_eq!(
        ask.detail.as_deref(),
        Some("--- /dev/null\n+++ /srv/demo/notes.txt\n@@ -0,0 +1,2 @@\n+first\n+second\n")
    );
}

#[test]
fn edits_are_shown_as_diffs() {
    let mut request = payload("PermissionRequest-Write");
    request["tool_name"] = json!("Edit");
    request["tool_input"] = json!({ "file_path": "a.rs", "old_string": "x\n", "new_string": "y\n", "replace_all": true });
    let edit = Claude
        .interpret(None, &request)
        .expect("a reading")
        .ask
        .expect("a question");
    assert_eq!(edit.prompt, "Edit a.rs, everywhere it occurs?");
    assert_eq!(
        edit.detail.as_deref(),
        Some("--- a.rs\n+++ a.rs\n@@ -1 +1 @@\n-x\n+y\n")
    );

    request["tool_name"] = json!("MultiEdit");
    request["tool_input"] = json!({ "file_path": "a.rs", "edits": [
        { "old_string": "x\n", "new_string": "y\n" }, { "old_string": "", "new_string": "z\n" }] });
    let edits = Claude
        .interpret(None, &request)
        .expect("a reading")
        .ask
        .expect("a question");
    assert_eq!(edits.prompt, "Make 2 edits in a.rs?");
    assert!(edits.detail.expect("a diff").ends_with("+z\n"));

    request["tool_name"] = json!("NotebookEdit");
    request["tool_input"] =
        json!({ "notebook_path": "n.ipynb", "new_source": "1+1\n", "cell_id": "c2" });
    let notebook = Claude
        .interpret(None, &request)
        .expect("a reading")
        .ask
        .expect("a question");
    assert_eq!(
        notebook.prompt,
        "Change the notebook n.ipynb (replace cell c2)?"
    );
    assert_eq!(notebook.detail_kind, DetailKind::Diff);
}

#[test]
fn a_tool_that_is_not_known_shows_its_whole_input() {
    let mut request = payload("PermissionRequest-Bash");
    request["tool_name"] = json!("mcp__db__query");
    request["tool_input"] = json!({ "sql": "drop table t" });
    let ask = Claude
        .interpret(None, &request)
        .expect("a reading")
        .ask
        .expect("a question");
    assert_eq!(ask.prompt, "Use mcp__db__query?");
    assert_eq!(
        ask.detail.as_deref(),
        Some("{\n  \"sql\": \"drop table t\"\n}")
    );
}

#[test]
fn questions_are_a_form_and_its_values_are_the_answers() {
    let ask = ask("PermissionRequest-AskUserQuestion");
    assert_eq!((ask.kind, ask.text), (Kind::Form, TextUse::Answer));
    assert_eq!(
        option(&ask),
        [("deny", "Decline to answer", Polarity::Refuses, true)]
    );
    assert_eq!(ask.keys, None);
    let [field] = ask.fields.as_slice() else {
        panic!("one field")
    };
    assert_eq!(
        (field.id.as_str(), field.label.as_str()),
        ("1", "Port: Which port?")
    );
    assert_eq!(
        (field.field_type, field.required, field.multi, field.other),
        (FieldType::Select, true, false, true)
    );
    assert_eq!(field.choices[1].label, "9090");
    assert_eq!(field.choices[1].description.as_deref(), Some("beside it"));

    let values = |value: Value| Applied {
        values: Some([("1".to_owned(), value)].into()),
        ..Applied::default()
    };
    let answered = decision(&ask, &values(Value::String("2".into())));
    assert_eq!(answered["behavior"], "allow");
    assert_eq!(
        answered["updatedInput"]["answers"],
        json!({ "Which port?": "9090" })
    );
    assert_eq!(
        answered["updatedInput"]["questions"],
        payload("PermissionRequest-AskUserQuestion")["tool_input"]["questions"]
    );
    let own = decision(&ask, &values(Value::String("any free one".into())));
    assert_eq!(
        own["updatedInput"]["answers"],
        json!({ "Which port?": "any free one" })
    );
    let typed = Applied {
        text: Some("any free one".into()),
        ..Applied::default()
    };
    assert_eq!(decision(&ask, &typed), own);
    let declined = Applied {
        text: Some("later".into()),
        ..chosen("deny")
    };
    assert_eq!(
        decision(&ask, &declined),
        json!({ "behavior": "deny", "message": "later" })
    );
    assert!(Claude.verdict(&ask.carry, &Applied::default()).is_err());
}

#[test]
fn several_choices_are_joined_as_the_dialog_joins_them() {
    let mut request = payload("PermissionRequest-AskUserQuestion");
    request["tool_input"]["questions"][0]["multiSelect"] = json!(true);
    let ask = Claude
        .interpret(None, &request)
        .expect("a reading")
        .ask
        .expect("a question");
    assert!(ask.fields[0].multi);
    let both = Value::Many(vec!["1".into(), "2".into()]);
    let applied = Applied {
        values: Some([("1".to_owned(), both)].into()),
        ..Applied::default()
    };
    assert_eq!(
        decision(&ask, &applied)["updatedInput"]["answers"],
        json!({ "Which port?": "8080, 9090" })
    );
}

#[test]
fn a_plan_is_reviewed_and_only_the_option_approves() {
    let ask = ask("PermissionRequest-ExitPlanMode-plan");
    assert_eq!(
        (ask.kind, ask.prompt.as_str()),
        (Kind::Review, "Approve this plan?")
    );
    assert_eq!(
        ask.detail.as_deref(),
        Some("# Plan\n1. Tag it\n2. Push it\n")
    );
    assert_eq!(ask.options[0].polarity, Polarity::Grants);
    let input = payload("PermissionRequest-ExitPlanMode-plan")["tool_input"].clone();
    assert_eq!(
        decision(&ask, &chosen("approve")),
        json!({ "behavior": "allow", "updatedInput": input })
    );
    let reasoned = Applied {
        text: Some("test it first".into()),
        ..chosen("deny")
    };
    assert_eq!(
        decision(&ask, &reasoned),
        json!({ "behavior": "deny", "message": "test it first" })
    );
    assert!(
        Claude
            .verdict(
                &ask.carry,
                &Applied {
                    text: Some("approve".into()),
                    ..Applied::default()
                }
            )
            .is_err()
    );
    let without = self::ask("PermissionRequest-ExitPlanMode");
    assert_eq!(without.detail, None);
    assert_eq!(
        decision(&without, &chosen("approve")),
        json!({ "behavior": "allow", "updatedInput": {} })
    );
}

#[test]
fn no_label_of_a_granting_option_is_a_bare_yes() {
    for name in [
        "Bash",
        "Write",
        "AskUserQuestion",
        "ExitPlanMode",
        "ExitPlanMode-plan",
    ] {
        for option in ask(&format!("PermissionRequest-{name}")).options {
            if option.polarity == Polarity::Grants {
                for word in [&option.id, &option.label] {
                    assert!(
                        !["yes", "ok", "y"].contains(&word.to_lowercase().as_str()),
                        "{word}"
                    );
                }
            }
        }
    }
}

#[test]
fn what_cannot_be_shown_whole_can_only_be_read() {
    let mut request = payload("PermissionRequest-Bash");
    request["tool_input"]["command"] = json!("x".repeat(600_000));
    let ask = Claude
        .interpret(None, &request)
        .expect("a reading")
        .ask
        .expect("a question");
    assert_eq!(ask.respond_via, Some(vec![RespondVia::Oob]));
    assert_eq!(
        (ask.channel, ask.holding),
        (AnswerChannel::None, Holding::Never)
    );
    assert!(ask.detail.expect("a detail").len() <= signaltty_core::limits::DETAIL_MAX);
}

#[test]
fn sessions_are_resumed_by_id_and_never_by_an_option() {
    assert_eq!(
        Claude.resume("abc-1"),
        Some(vec!["claude".into(), "--resume".into(), "abc-1".into()])
    );
    for id in ["", "--dangerously-skip-permissions", "a b", "a;b"] {
        assert_eq!(Claude.resume(id), None, "{id}");
    }
}
