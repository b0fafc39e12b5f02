//! `signaltty ask` and `signaltty answer`: a script asks, a person answers, exit codes tell (specs/020 §2).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops where it stands"
)]

#[path = "support/harness.rs"]
mod harness;

use std::process::{Child, Output, Stdio};

use harness::{World, until};
use serde_json::{Value as Json, json};

/// Starts `signaltty ask` outside every pane.
fn ask(world: &World, arguments: &[&str]) -> Child {
    world
        .command("signaltty")
        .arg("ask")
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[track_caller]
fn pending(world: &World) -> Json {
    let mut client = world.client();
    until("it asks", || {
        client.must("decision.list", json!({}))["decisions"]
            .get(0)
            .cloned()
    })
}

#[track_caller]
fn code(done: &Output) -> i32 {
    done.status
        .code()
        .unwrap_or_else(|| panic!("ended by a signal: {}", harness::world::text(done)))
}

#[test]
fn yes_is_success_and_no_is_failure() {
    let world = World::with_host();
    for (answer, expected) in [("yes", 0), ("no", 1)] {
        let asking = ask(&world, &["Deploy?"]);
        let decision = pending(&world);
        assert_eq!(decision["prompt"], "Deploy?");
        assert_eq!(decision["answerable"], true);
        let labels: Vec<_> = decision["options"]
            .as_array()
            .unwrap()
            .iter()
            .map(|o| o["label"].clone())
            .collect();
        assert_eq!(labels, [json!("Yes"), json!("No")]);
        let answered = world.cli(["answer", "--option", answer]);
        assert_eq!(code(&answered), 0, "{}", harness::world::text(&answered));
        let done = asking.wait_with_output().unwrap();
        assert_eq!(code(&done), expected, "{answer}");
    }
}

#[test]
fn an_exact_yes_names_the_option_and_another_word_refuses() {
    let world = World::with_host();
    for (text, expected) in [(" YES ", 0), ("ok", 1), ("sure, go ahead", 1)] {
        let asking = ask(&world, &["Deploy?"]);
        pending(&world);
        assert_eq!(code(&world.cli(["answer", "--text", text])), 0, "{text}");
        assert_eq!(
            code(&asking.wait_with_output().unwrap()),
            expected,
            "{text}"
        );
    }
}

#[test]
fn options_of_its_own_come_back_by_id_with_the_reason() {
    let world = World::with_host();
    let arguments = [
        "Where to?",
        "--option",
        "staging=Staging:grants",
        "--option",
        "nowhere=Do not deploy:refuses",
        "--json",
    ];
    let asking = ask(&world, &arguments);
    pending(&world);
    assert_eq!(code(&world.cli(["answer", "--text", "Do not deploy"])), 0);
    let done = asking.wait_with_output().unwrap();
    let said: Json = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!((code(&done), &said["option_id"]), (1, &json!("nowhere")));

    let asking = ask(&world, &arguments);
    pending(&world);
    assert_eq!(code(&world.cli(["answer", "--text", "not on a Friday"])), 0);
    let done = asking.wait_with_output().unwrap();
    let said: Json = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(
        (code(&done), &said["option_id"], &said["text"]),
        (1, &json!("nowhere"), &json!("not on a Friday"))
    );
}

#[test]
fn nobody_in_time_is_code_4() {
    let world = World::with_host();
    let mut watcher = world.client();
    watcher.subscribe();
    let done = ask(&world, &["Deploy?", "--timeout", "1"])
        .wait_with_output()
        .unwrap();
    assert_eq!(code(&done), 4, "{}", harness::world::text(&done));
    let cleared = watcher.event("decision.cleared", |_| true);
    assert_eq!(cleared["reason"], "expired");
    assert_eq!(
        watcher.must("pane.list", json!({}))["panes"],
        json!([]),
        "its pane goes with it"
    );
}

#[test]
fn asking_in_a_pane_that_is_not_there_is_code_6_or_3() {
    let world = World::with_host();
    let done = ask(&world, &["Deploy?", "--pane", "nowhere"])
        .wait_with_output()
        .unwrap();
    assert!(
        matches!(code(&done), 3 | 6),
        "{}",
        harness::world::text(&done)
    );
}

#[test]
fn an_asker_that_goes_away_takes_its_question_along() {
    let world = World::with_host();
    let mut watcher = world.client();
    watcher.subscribe();
    let mut asking = ask(&world, &["Deploy?"]);
    let decision = pending(&world);
    asking.kill().unwrap();
    asking.wait().unwrap();
    watcher.cleared(decision["id"].as_str().unwrap());
    assert_eq!(watcher.must("pane.list", json!({}))["panes"], json!([]));
}

#[test]
fn a_script_in_a_pane_asks_there_and_goes_on() {
    let world = World::with_host();
    let program = harness::world::program("signaltty");
    let script = format!(
        "{} ask 'Deploy?' && echo DEPLOYED || echo REFUSED",
        program.display()
    );
    for (option, word) in [("yes", "DEPLOYED"), ("no", "REFUSED")] {
        let pane = world.spawn(&["sh", "-c", &format!("{script}; sleep 600")], &[]);
        let decision = pane.await_decision();
        assert_eq!(decision["pane_id"], pane.id.as_str());
        let size = pane.tty_size();
        assert_eq!(
            code(&world.cli(["answer", &pane.id, "--option", option])),
            0
        );
        pane.await_screen(word);
        assert_eq!(pane.tty_size(), size);
        pane.await_no_decision();
    }
}

#[test]
fn answer_says_what_it_answers_and_refuses_to_guess_between_two_panes() {
    let world = World::with_host();
    let none = world.cli(["answer", "--option", "yes"]);
    assert_eq!(code(&none), 3, "{}", harness::world::text(&none));

    let mut first = ask(&world, &["Deploy the first?"]);
    pending(&world);
    let mut second = ask(&world, &["Deploy the second?"]);
    until("both ask", || {
        let listed = world.client().must("decision.list", json!({}));
        (listed["decisions"].as_array().unwrap().len() == 2).then_some(())
    });
    let unclear = world.cli(["answer", "--option", "yes"]);
    assert_ne!(code(&unclear), 0);

    let listed = world.cli_json(["decisions"]);
    let decision = listed["decisions"]
        .as_array()
        .unwrap()
        .iter()
        .find(|decision| decision["prompt"] == "Deploy the second?")
        .unwrap()
        .clone();
    let pane = decision["pane_id"].as_str().unwrap();
    let answered = world.cli(["answer", pane, "--option", "no"]);
    assert!(
        harness::world::text(&answered).contains("Deploy the second?"),
        "{}",
        harness::world::text(&answered)
    );
    assert_eq!(second.wait().unwrap().code(), Some(1));
    assert!(
        first.try_wait().unwrap().is_none(),
        "the other question was answered as well"
    );
    // An option that it does not have answers nothing.
    assert_ne!(code(&world.cli(["answer", "--option", "maybe"])), 0);
    assert!(first.try_wait().unwrap().is_none());
    assert_eq!(code(&world.cli(["answer", "--option", "yes"])), 0);
    assert_eq!(first.wait().unwrap().code(), Some(0));
}
