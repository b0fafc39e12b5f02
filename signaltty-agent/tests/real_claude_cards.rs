//! Claude Code's cards beyond a plain permission, on the real program: questions, a plan, a file.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops where it stands"
)]

#[path = "support/harness.rs"]
mod harness;

use harness::{Stage, Vendor, one_at_a_time};
use serde_json::{Value as Json, json};

/// Answers a decision and waits for its end.
#[track_caller]
fn answer(stage: &mut Stage, decision: &Json, answer: Json) -> Json {
    let params = stage.answer_to(decision, answer);
    stage.operator.must("decision.answer", params);
    let cleared = stage.cleared(decision);
    assert_eq!(cleared["reason"], "answered");
    cleared
}

#[test]
fn its_questions_are_answered_by_values_and_its_dialog_goes() {
    let _serial = one_at_a_time();
    let Some(mut stage) = Stage::set(Vendor::Claude, "questions are a form") else {
        return;
    };
    let question = |header: &str, asked: &str, multi: bool| {
        json!({ "question": asked, "header": header, "multiSelect": multi, "options": [
            { "label": "8080", "description": "the usual one" }, { "label": "9090", "description": "beside it" }] })
    };
    let questions = json!({ "questions": [question("Port", "Which port?", false), question("More", "Which others?", true)] });
    stage
        .pane
        .submit(&format!("please [[call AskUserQuestion {questions}]]"));
    let decision = stage.next_decision();
    assert_eq!(
        (&decision["kind"], &decision["answerable"]),
        (&json!("form"), &json!(true))
    );
    assert_eq!(decision["fields"][1]["multi"], true);
    let half = stage.answer_to(&decision, json!({ "values": { "1": "2" } }));
    assert_eq!(
        stage.operator.must_fail("decision.answer", half).code,
        "BAD_PARAMS"
    );
    answer(
        &mut stage,
        &decision,
        json!({ "values": { "1": "2", "2": ["1", "2"] } }),
    );
    stage.pane.await_turn_end();
    let screen = stage.pane.pane.screen();
    assert!(
        screen.contains("Which port? → 9090") && screen.contains("Which others? → 8080, 9090"),
        "{screen}"
    );
}

#[test]
fn declining_a_question_with_words_reaches_the_model() {
    let _serial = one_at_a_time();
    let Some(mut stage) = Stage::set(Vendor::Claude, "a question is declined") else {
        return;
    };
    let questions = json!({ "questions": [{ "question": "Which port?", "header": "Port", "multiSelect": false,
        "options": [{ "label": "8080", "description": "a" }, { "label": "9090", "description": "b" }] }] });
    stage
        .pane
        .submit(&format!("please [[call AskUserQuestion {questions}]]"));
    let decision = stage.next_decision();
    answer(
        &mut stage,
        &decision,
        json!({ "option_id": "deny", "text": "ask me tomorrow" }),
    );
    stage.pane.await_turn_end();
    assert!(stage.pane.pane.screen().contains("ask me tomorrow"));
}

#[test]
fn a_question_answered_in_its_dialog_ends() {
    let _serial = one_at_a_time();
    let Some(mut stage) = Stage::set(Vendor::Claude, "a question is answered in its dialog") else {
        return;
    };
    let questions = json!({ "questions": [{ "question": "Which port?", "header": "Port", "multiSelect": false,
        "options": [{ "label": "8080", "description": "a" }, { "label": "9090", "description": "b" }] }] });
    stage
        .pane
        .submit(&format!("please [[call AskUserQuestion {questions}]]"));
    let decision = stage.next_decision();
    stage.pane.pane.await_screen("Enter to select");
    // It drops what is typed in its first moments.
    harness::until("the dialog took the answer", || {
        stage.pane.pane.type_text("2");
        harness::wait::within(std::time::Duration::from_secs(2), || {
            stage.pane.pane.decision().is_none().then_some(())
        })
    });
    assert!(matches!(
        stage.cleared(&decision)["reason"].as_str(),
        Some("attention_cleared" | "moved_on")
    ));
    let late = stage.answer_to(&decision, json!({ "values": { "1": "1" } }));
    assert_eq!(
        stage.operator.must_fail("decision.answer", late).code,
        "NO_SUCH_DECISION"
    );
}

#[test]
fn a_file_is_shown_as_a_diff_and_written_when_granted() {
    let _serial = one_at_a_time();
    let Some(mut stage) = Stage::set(Vendor::Claude, "a file is shown as a diff") else {
        return;
    };
    let file = stage.pane.next_file();
    stage
        .pane
        .submit(&format!("please [[write {} hello]]", file.display()));
    let decision = stage.next_decision();
    assert_eq!(
        (&decision["subject"], &decision["detail_kind"]),
        (&json!("Write"), &json!("diff"))
    );
    assert!(
        decision["detail"].as_str().unwrap().contains("\n+hello"),
        "{decision}"
    );
    answer(&mut stage, &decision, json!({ "option_id": "allow" }));
    harness::until("it is written", || file.exists().then_some(()));
}

#[test]
fn a_plan_is_approved_only_by_its_option() {
    let _serial = one_at_a_time();
    let Some(mut stage) = Stage::set(Vendor::Claude, "a plan is reviewed") else {
        return;
    };
    // Shift+Tab goes through its modes; the plan can only be left from plan mode.
    harness::until("it is in plan mode", || {
        if stage.pane.pane.screen().contains("plan mode on") {
            return Some(());
        }
        stage.pane.pane.type_text("\u{1b}[Z");
        harness::wait::within(std::time::Duration::from_secs(1), || {
            stage
                .pane
                .pane
                .screen()
                .contains("plan mode on")
                .then_some(())
        })
    });
    stage.pane.submit("please [[call ExitPlanMode {}]]");
    let decision = stage.next_decision();
    assert_eq!(
        (&decision["kind"], &decision["answerable"]),
        (&json!("review"), &json!(true))
    );
    answer(&mut stage, &decision, json!({ "text": "approve it" }));
    stage.pane.await_turn_end();
    assert!(
        stage.pane.pane.screen().contains("approve it"),
        "the words were no approval"
    );
    stage.pane.submit("again [[call ExitPlanMode {}]]");
    let decision = stage.next_decision();
    answer(&mut stage, &decision, json!({ "option_id": "approve" }));
    stage.pane.await_turn_end();
    assert!(
        !stage.pane.pane.screen().contains("plan mode on"),
        "{}",
        stage.pane.pane.screen()
    );
}
