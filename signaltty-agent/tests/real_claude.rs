//! A real Claude Code asks, and is answered: by us, or on its own prompt beside the held hook.
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
use harness::{Vendor, Viewer, until};
use serde_json::json;

const CLAUDE: Vendor = Vendor::Claude;

#[test]
fn a_grant_runs_the_command() {
    scenario::a_grant_runs_the_command(CLAUDE);
}

#[test]
fn a_reply_in_words_refuses_and_reaches_the_model() {
    scenario::a_reply_in_words_refuses_and_reaches_the_model(CLAUDE);
}

#[test]
fn a_typed_name_is_the_option_and_yes_is_no_grant() {
    scenario::a_typed_name_is_the_option_and_yes_is_no_grant(CLAUDE);
}

#[test]
fn two_answers_at_once_are_one_delivery() {
    scenario::two_answers_at_once_are_one_delivery(CLAUDE);
}

#[test]
fn without_its_host_the_agent_s_own_prompt_stands() {
    scenario::without_its_host_the_agent_s_own_prompt_stands(CLAUDE);
}

#[test]
fn the_next_host_takes_the_answer() {
    scenario::the_next_host_takes_the_answer(CLAUDE);
}

#[test]
fn watch_answers() {
    scenario::watch_answers(CLAUDE);
}

#[test]
fn with_no_window_open_the_command_line_answers() {
    let _serial = harness::one_at_a_time();
    let Some(mut stage) = Stage::set(CLAUDE, "the command line answers") else {
        return;
    };
    stage.operator = stage.world.client();
    stage.operator.subscribe();
    let (decision, file) = stage.ask();
    assert_eq!(decision["answerable"], true);
    stage.pane.await_own_prompt();
    let applied = stage.world.cli_json(["answer", "--option", "allow"]);
    assert_eq!(applied["applied"], json!({"option_id": "allow"}));
    await_file(&file);
    assert_eq!(stage.cleared(&decision)["via"], "cli");
}

#[test]
fn what_the_human_answers_on_its_own_prompt_ends_the_question_at_once() {
    let _serial = harness::one_at_a_time();
    let Some(mut stage) = Stage::set(CLAUDE, "answered on its own prompt") else {
        return;
    };
    for (keys, runs) in [
        (&["1"][..], true),
        (&["\x1b"], false),
        (&["\x1b[B", "\r"], true),
    ] {
        let (decision, file) = stage.ask();
        stage.pane.await_own_prompt();
        for key in keys {
            stage.pane.pane.type_text(key);
            // A key of its own, as a person's: the bytes of two would be read as one burst.
            std::thread::sleep(Duration::from_millis(200));
        }
        let cleared = stage.cleared(&decision);
        assert_eq!(cleared["reason"], "moved_on", "{keys:?}");
        let late = stage.answer_to(
            &decision,
            json!({"option_id": if runs { "deny" } else { "allow" }}),
        );
        let error = stage.operator.must_fail("decision.answer", late);
        assert_eq!(
            (error.code.as_str(), &error.data["state"]),
            ("NO_SUCH_DECISION", &json!("moved_on"))
        );
        if runs {
            await_file(&file);
        } else {
            stage.pane.pane.await_screen("Interrupted");
            stage.never_ran(&file);
        }
        stage
            .pane
            .pane
            .await_screen_where("its prompt is gone", |screen| {
                !screen.contains(stage.pane.own_prompt)
            });
        until("the turn is over", || {
            let lifecycle = stage.pane.pane.get()["lifecycle"].clone();
            (lifecycle != "blocked" && lifecycle != "working").then_some(())
        });
    }
}

#[test]
fn arrows_focus_reports_and_the_mouse_end_nothing() {
    let _serial = harness::one_at_a_time();
    let Some(mut stage) = Stage::set(CLAUDE, "arrows, focus, mouse") else {
        return;
    };
    let (decision, file) = stage.ask();
    stage.pane.await_own_prompt();
    let mut viewer = Viewer::attach(
        &stage.world.socket(),
        json!({"pane_id": stage.pane.pane.id}),
    );
    for report in [
        "\x1b[B",
        "\x1b[A",
        "\x1b[I",
        "\x1b[O",
        "\x1b[<35;40;12M",
        "\x1b[<64;40;12M",
        "\x1b[24;1R",
    ] {
        viewer.type_bytes(report.as_bytes());
        std::thread::sleep(Duration::from_millis(100));
    }
    stage
        .world
        .client()
        .must("pane.mark_seen", json!({"pane_id": stage.pane.pane.id}));
    assert_eq!(
        stage.pane.pane.decision().expect("it is pending")["id"],
        decision["id"]
    );
    assert!(stage.pane.own_prompt_open());
    stage.answer(&decision, json!({"option_id": "deny"}));
    stage.pane.await_turn_end();
    stage.never_ran(&file);
}

#[test]
fn an_always_choice_names_its_rule_and_holds() {
    let _serial = harness::one_at_a_time();
    let Some(mut stage) = Stage::set(CLAUDE, "an always-choice") else {
        return;
    };
    // A write suggests "accept edits for this session".
    let file = stage.pane.next_file();
    stage
        .pane
        .submit(&format!("please [[write {} one]]", file.display()));
    let decision = stage.next_decision();
    let always = decision["options"]
        .as_array()
        .unwrap()
        .iter()
        .find(|option| {
            option["id"]
                .as_str()
                .unwrap_or_default()
                .starts_with("always-")
        })
        .unwrap_or_else(|| panic!("no always-choice in {decision}"))
        .clone();
    let label = always["label"].as_str().unwrap();
    assert!(label.starts_with("Always: "), "{label}");
    assert!(
        label.contains("acceptEdits") || label.to_lowercase().contains("accept edits"),
        "{label} does not name its rule"
    );
    assert!(
        label.contains("session"),
        "{label} does not say for how long"
    );
    stage.answer(&decision, json!({"option_id": always["id"]}));
    await_file(&file);
    stage.pane.await_turn_end();

    // The vendor keeps the rule: the next one is not asked about.
    let file = stage.pane.next_file();
    stage
        .pane
        .submit(&format!("please [[write {} two]]", file.display()));
    await_file(&file);
    stage.pane.await_turn_end();
    assert!(stage.pane.pane.decision().is_none());
}

#[test]
fn the_end_of_the_program_ends_the_question() {
    let _serial = harness::one_at_a_time();
    let Some(mut stage) = Stage::set(CLAUDE, "the program ends") else {
        return;
    };
    let (decision, file) = stage.ask();
    harness::world::kill(stage.pane.pane.pid());
    let reason = stage.cleared(&decision)["reason"].clone();
    assert!(reason == "pane_exited" || reason == "moved_on", "{reason}");
    stage.never_ran(&file);
    until("no hook is left", || stage.hooks().is_empty().then_some(()));
}
