//! A real Codex asks, and is answered: by us while its hook is held, or by number and Enter on its own prompt.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops where it stands"
)]

#[path = "support/harness.rs"]
mod harness;

use std::time::Duration;

use harness::agent::await_file;
use harness::scenario::{self, Stage};
use harness::{Vendor, until};
use serde_json::{Value as Json, json};

const CODEX: Vendor = Vendor::Codex;
/// What its empty composer shows.
const EMPTY: &str = "Ask Codex to do anything";

#[test]
fn a_grant_runs_the_command() {
    scenario::a_grant_runs_the_command(CODEX);
}

#[test]
fn a_reply_in_words_refuses_and_reaches_the_model() {
    scenario::a_reply_in_words_refuses_and_reaches_the_model(CODEX);
}

#[test]
fn a_typed_name_is_the_option_and_yes_is_no_grant() {
    scenario::a_typed_name_is_the_option_and_yes_is_no_grant(CODEX);
}

#[test]
fn two_answers_at_once_are_one_delivery() {
    scenario::two_answers_at_once_are_one_delivery(CODEX);
}

#[test]
fn without_its_host_the_agent_s_own_prompt_stands() {
    scenario::without_its_host_the_agent_s_own_prompt_stands(CODEX);
}

#[test]
fn the_next_host_takes_the_answer() {
    scenario::the_next_host_takes_the_answer(CODEX);
}

#[test]
fn watch_answers() {
    scenario::watch_answers(CODEX);
}

#[test]
fn with_no_operator_its_own_prompt_opens_and_we_only_point_at_it() {
    let _serial = harness::one_at_a_time();
    let Some(mut stage) = Stage::set(CODEX, "no operator") else {
        return;
    };
    stage.operator = stage.world.client();
    stage.operator.subscribe();
    let (decision, file) = stage.ask();
    assert_eq!(decision["answerable"], false);
    let screen = stage.pane.await_own_prompt();

    let answer = stage.answer_to(&decision, json!({"option_id": "allow"}));
    let error = stage.world.operator().must_fail("decision.answer", answer);
    assert_eq!(
        (error.code.as_str(), &error.data["reason"]),
        ("BAD_PARAMS", &json!("not_answerable"))
    );
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(
        stage.pane.pane.screen(),
        screen,
        "a byte reached the terminal"
    );
    stage.never_ran(&file);

    stage.pane.pane.type_text("1");
    await_file(&file);
    let reason = stage.cleared(&decision)["reason"].clone();
    assert!(
        reason == "attention_cleared" || reason == "moved_on",
        "{reason}"
    );
}

#[test]
fn esc_in_the_terminal_ends_the_turn_and_the_question() {
    let _serial = harness::one_at_a_time();
    let Some(mut stage) = Stage::set(CODEX, "Esc while the hook is held") else {
        return;
    };
    let (decision, file) = stage.ask();
    stage.pane.pane.type_text("\x1b");
    assert_eq!(stage.cleared(&decision)["reason"], "moved_on");
    stage.pane.pane.await_screen("interrupted");
    stage.never_ran(&file);
    let late = stage.answer_to(&decision, json!({"option_id": "allow"}));
    assert_eq!(
        stage.operator.must_fail("decision.answer", late).code,
        "NO_SUCH_DECISION"
    );
    stage.never_ran(&file);
}

#[test]
fn two_calls_in_one_turn_stand_in_line_and_each_gets_its_own_answer() {
    let _serial = harness::one_at_a_time();
    let Some(mut stage) = Stage::set(CODEX, "two calls in one turn") else {
        return;
    };
    let (one, two) = (stage.pane.next_file(), stage.pane.next_file());
    let asked = stage.agent.model.requests().len();
    stage.pane.submit(&format!(
        "please [[par touch {} ;; touch {}]]",
        one.display(),
        two.display()
    ));
    let first = stage.next_decision();
    until("the second stands in line", || {
        (stage.pane.pane.get()["queued"] == 1).then_some(())
    });
    let is_about = |decision: &Json, file: &std::path::Path| {
        decision["detail"]
            .as_str()
            .unwrap_or_default()
            .contains(file.to_str().unwrap())
    };
    // Which of the two comes first is Codex's affair.
    let (granted, refused) = if is_about(&first, &one) {
        (&one, &two)
    } else {
        (&two, &one)
    };
    assert!(is_about(&first, granted));

    stage.answer(&first, json!({"option_id": "allow"}));
    stage.cleared(&first);
    let second = stage.next_decision();
    assert!(is_about(&second, refused), "{second}");
    // The first one's own report (its tool ended) must not end the second.
    await_file(granted);
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(
        stage.pane.pane.decision().expect("the second is pending")["id"],
        second["id"]
    );
    stage.never_ran(refused);

    stage.answer(&second, json!({"text": "one is enough"}));
    stage.agent.model.await_told("one is enough", asked);
    stage.pane.await_turn_end();
    stage.never_ran(refused);
}

/// The three rows of Codex's own prompt, as whoever reads them would spell them out.
fn menu(pane: &str, session: &Json) -> Json {
    json!({
        "agent": "codex",
        "pane_id": pane,
        "session_id": session,
        "decision": {
            "prompt": "Would you like to run the following command?",
            "options": [
                {"id": "yes", "label": "Yes, proceed"},
                {"id": "always", "label": "Yes, and don't ask again"},
                {"id": "no", "label": "No, and tell Codex what to do differently"},
            ],
        },
    })
}

#[test]
fn the_rows_of_its_own_prompt_are_answered_by_number_and_enter() {
    let _serial = harness::one_at_a_time();
    let Some(mut stage) = Stage::set(CODEX, "number and Enter") else {
        return;
    };
    // Without an operator the hook is not held, so its own prompt stands.
    stage.operator = stage.world.client();
    stage.operator.subscribe();
    for (option, runs) in [("yes", true), ("no", false)] {
        let (_, file) = stage.ask();
        stage.pane.await_own_prompt();
        let session = stage.pane.pane.get()["session_id"].clone();
        let told = stage
            .world
            .client()
            .must("hook-event", menu(&stage.pane.pane.id, &session));
        let decision = stage.next_decision();
        assert_eq!(told["decision_id"], decision["id"]);
        assert_eq!(
            (&decision["answerable"], &decision["channel"]),
            (&json!(true), &json!("type_text"))
        );
        stage.answer(&decision, json!({"option_id": option}));
        assert_eq!(stage.cleared(&decision)["reason"], "answered");
        if runs {
            await_file(&file);
            stage.pane.await_turn_end();
        } else {
            stage.pane.pane.await_screen("interrupted");
            stage.never_ran(&file);
        }
        stage.pane.pane.await_screen(EMPTY);
        let screen = stage.pane.pane.screen();
        assert!(
            !screen.contains("› 1\n") && !screen.contains("› 3\n"),
            "a stray key is left:\n{screen}"
        );
    }
}

#[test]
fn a_draft_typed_before_makes_its_prompt_not_answerable() {
    let _serial = harness::one_at_a_time();
    let Some(mut stage) = Stage::set(CODEX, "a draft typed before") else {
        return;
    };
    stage.operator = stage.world.client();
    stage.operator.subscribe();
    let file = stage.pane.next_file();
    stage.pane.submit(&format!(
        "please [[sh sleep 1.5; touch {}]]",
        file.display()
    ));
    // While the model and the hook are at work, the person goes on writing.
    stage.pane.pane.type_text("and then");
    stage.pane.await_own_prompt();
    let session = stage.pane.pane.get()["session_id"].clone();
    let told = stage
        .world
        .client()
        .must("hook-event", menu(&stage.pane.pane.id, &session));
    let decision = until("the menu is a decision", || {
        stage
            .world
            .client()
            .call("decision.get", json!({"decision_id": told["decision_id"]}))
            .ok()
    });
    assert_eq!(decision["decision"]["answerable"], false);
    let answer = stage.answer_to(&decision["decision"], json!({"option_id": "yes"}));
    let error = stage.world.operator().must_fail("decision.answer", answer);
    assert_eq!(error.data["reason"], "not_answerable");
    stage.never_ran(&file);
}
