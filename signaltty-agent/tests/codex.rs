//! Codex's payloads, as captured from the real program, read by its adapter.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops where it stands"
)]

use serde_json::{Value as Json, json};
use signaltty_agent::adapters::codex::Codex;
use signaltty_core::adapter::{
    AgentAdapter, AnswerChannel, Ask, Holding, HookLoss, Reading, Signal,
};
use signaltty_core::answer::Applied;
use signaltty_core::model::{DetailKind, Kind, Polarity, RespondVia, TextUse};

fn payload(name: &str) -> Json {
    let path = format!(
        "{}/tests/payloads/codex/{name}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    serde_json::from_str(&std::fs::read_to_string(path).expect("payload")).expect("JSON")
}

fn read(name: &str) -> Reading {
    Codex.interpret(None, &payload(name)).expect("a reading")
}

fn ask(name: &str) -> Ask {
    read(name).ask.expect("a question")
}

#[test]
fn events_become_signals() {
    for (name, signal) in [
        ("SessionStart-startup", Signal::SessionStarted),
        ("SessionStart-resume", Signal::SessionStarted),
        ("UserPromptSubmit", Signal::PromptSubmitted),
        ("Stop", Signal::TurnEnded { background: false }),
        ("Interrupt", Signal::Interrupted),
        ("SessionEnd-other", Signal::SessionEnded),
    ] {
        let reading = read(name);
        assert_eq!(reading.signal, Some(signal), "{name}");
        assert_eq!(reading.ask, None, "{name}");
        assert_eq!(
            reading.session_id.as_deref(),
            Some("01a3b0c4-1111-7222-8333-944445555666"),
            "{name}"
        );
    }
    assert_eq!(
        read("Interrupt").turn_id.as_deref(),
        Some("01a3b0c4-2222-7333-8444-955556666777")
    );
}

#[test]
fn a_command_is_held_only_while_an_operator_is_there() {
    let ask = ask("PermissionRequest-Bash");
    assert_eq!(
        (ask.kind, ask.channel, ask.text),
        (
            Kind::Permission,
            AnswerChannel::HookVerdict,
            TextUse::Reason
        )
    );
    assert_eq!(
        (ask.holding, ask.hook_loss),
        (Holding::WhileOperator, HookLoss::AwaitReport)
    );
    assert_eq!(ask.respond_via, Some(vec![RespondVia::Control]));
    assert_eq!(
        ask.prompt,
        "Run this command? The release is due; may I make it?"
    );
    assert_eq!(
        (ask.detail.as_deref(), ask.detail_kind),
        (Some("make release VERSION=1.2"), DetailKind::Command)
    );
    let options: Vec<_> = ask
        .options
        .iter()
        .map(|o| (o.id.as_str(), o.label.as_str(), o.polarity, o.carries_text))
        .collect();
    assert_eq!(
        options,
        [
            ("allow", "Allow once", Polarity::Grants, false),
            ("deny", "Deny", Polarity::Refuses, true)
        ]
    );
    assert_eq!(ask.keys, None);
}

#[test]
fn the_justification_is_no_part_of_the_call() {
    let asked = ask("PermissionRequest-Bash").call.expect("a call");
    let Some(Signal::ToolFinished(finished)) = read("PostToolUse-Bash").signal else {
        panic!("no end")
    };
    let Some(Signal::ToolStarted(started)) = read("PreToolUse-Bash").signal else {
        panic!("no start")
    };
    assert_eq!(
        (&asked.tool, &asked.input),
        (&finished.tool, &finished.input)
    );
    assert_eq!(
        (asked.call_id, finished.call_id.as_deref()),
        (None, Some("call_01"))
    );
    assert_eq!(started.call_id, finished.call_id);
}

#[test]
fn a_patch_is_shown_as_a_diff() {
    let ask = ask("PermissionRequest-apply_patch");
    assert_eq!(ask.prompt, "Add notes.txt?");
    assert_eq!(
        (ask.detail.as_deref(), ask.detail_kind),
        (
            Some("--- /dev/null\n+++ notes.txt\n+first\n"),
            DetailKind::Diff
        )
    );
    let mut odd = payload("PermissionRequest-apply_patch");
    odd["tool_input"]["command"] = json!("*** Begin Patch\n*** Chmod File: a\n*** End Patch");
    let odd = Codex
        .interpret(None, &odd)
        .expect("a reading")
        .ask
        .expect("a question");
    assert_eq!(
        (odd.prompt.as_str(), odd.detail_kind),
        ("Apply this patch?", DetailKind::Text)
    );
    assert_eq!(
        odd.detail.as_deref(),
        Some("*** Begin Patch\n*** Chmod File: a\n*** End Patch")
    );
}

#[test]
fn verdicts_hold_nothing_that_the_vendor_does_not_take() {
    let codex = Codex;
    let applied = |id: &str, text: Option<&str>| Applied {
        option_id: Some(id.into()),
        text: text.map(str::to_owned),
        values: None,
    };
    let around = |decision: &str| {
        format!(
            r#"{{"hookSpecificOutput":{{"hookEventName":"PermissionRequest","decision":{decision}}}}}"#
        )
    };
    for (id, text, decision) in [
        ("allow", None, r#"{"behavior":"allow"}"#),
        ("deny", None, r#"{"behavior":"deny"}"#),
        (
            "deny",
            Some("use staging"),
            r#"{"behavior":"deny","message":"use staging"}"#,
        ),
    ] {
        assert_eq!(
            codex
                .verdict(&Json::Null, &applied(id, text))
                .expect("a verdict"),
            around(decision)
        );
    }
    for wrong in [applied("always-1", None), Applied::default()] {
        assert!(codex.verdict(&Json::Null, &wrong).is_err());
    }
}

#[test]
fn a_question_of_its_own_dialog_is_only_observed() {
    let reading = read("PreToolUse-request_user_input");
    let ask = reading.ask.expect("a question");
    assert_eq!(
        (ask.kind, ask.prompt.as_str()),
        (Kind::Input, "Which port?")
    );
    assert_eq!(ask.respond_via, Some(vec![RespondVia::Oob]));
    assert_eq!(
        (ask.channel, ask.holding, ask.text),
        (AnswerChannel::None, Holding::Never, TextUse::None)
    );
    let labels: Vec<_> = ask
        .options
        .iter()
        .map(|o| (o.id.as_str(), o.label.as_str()))
        .collect();
    assert_eq!(
        labels,
        [
            ("o1", "8080 (Recommended): the usual one"),
            ("o2", "9090: beside it")
        ]
    );
    let Some(Signal::ToolFinished(end)) = read("PostToolUse-request_user_input").signal else {
        panic!("no end")
    };
    assert_eq!(ask.call, Some(end));
}

#[test]
fn a_plain_decision_is_answered_by_the_row_and_enter() {
    let codex = Codex;
    assert_eq!(codex.answer_channel(), AnswerChannel::TypeText);
    assert_eq!(
        (codex.typed_choice(0), codex.typed_choice(2)),
        (b"1\r".to_vec(), b"3\r".to_vec())
    );
}

#[test]
fn sessions_are_resumed_by_id() {
    let codex = Codex;
    assert_eq!(
        codex.resume("01a3"),
        Some(vec!["codex".into(), "resume".into(), "01a3".into()])
    );
    assert_eq!(codex.resume("--yolo"), None);
}
