//! The bar: what it shows, and that nothing is answered by accident (specs/030).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops where it stands"
)]

#[path = "../../signaltty-agent/tests/support/harness.rs"]
mod harness;

use std::process::{Child, Stdio};
use std::time::Duration;

use harness::{Client, Desk, Pane, World, one_at_a_time, until};
use serde_json::{Value as Json, json};

/// A window with one pane, in which `cat` shows whatever reaches its terminal.
struct Scene {
    desk: Desk,
    watcher: Client,
    pane: Pane,
    world: World,
}

impl Scene {
    #[track_caller]
    fn set(name: &str) -> Self {
        let world = World::with_host();
        let mut desk = Desk::start(&world, name);
        desk.open_window(&world);
        let pane = world.spawn(&["cat"], &[]);
        desk.find("^Terminal$", "");
        until("the window gave the terminal its size", || {
            (pane.tty_size() != (110, 45)).then_some(())
        });
        let mut watcher = world.client();
        watcher.subscribe();
        Self {
            desk,
            watcher,
            pane,
            world,
        }
    }

    /// A script asks in the pane and waits for its answer.
    #[track_caller]
    fn ask(&mut self, prompt: &str, more: &[&str]) -> (Json, Child) {
        let child = self
            .world
            .command("signaltty")
            .args(["ask", prompt, "--pane", &self.pane.id])
            .args(more)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let decision = self.watcher.event("decision.created", |data| {
            data["decision"]["prompt"] == prompt
        });
        (decision["decision"].clone(), child)
    }

    /// A report that spells a question out; nobody waits for its answer.
    #[track_caller]
    fn report(&mut self, agent: &str, decision: Json) -> Json {
        let params = json!({"agent": agent, "pane_id": self.pane.id, "decision": decision});
        self.world.client().must("hook-event", params);
        self.watcher.event("decision.created", |_| true)["decision"].take()
    }
}

#[track_caller]
fn code(child: &mut Child) -> i32 {
    child.wait().unwrap().code().unwrap()
}

#[test]
fn a_script_s_question_is_answered_by_a_click() {
    let _serial = one_at_a_time();
    let mut scene = Scene::set("ask");
    let terminal = scene.desk.find("^Terminal$", "")["path"].clone();
    let size = scene.pane.tty_size();
    for (button, expected) in [("^Yes$", 0), ("^No$", 1)] {
        let (_, mut asking) = scene.ask("Deploy to production?", &[]);
        scene.desk.find("Deploy to production", "");
        assert_eq!(scene.pane.tty_size(), size, "the bar resized the terminal");
        scene.desk.click(button);
        assert_eq!(code(&mut asking), expected);
        scene.desk.gone(button, "button");
        assert_eq!(scene.pane.tty_size(), size);
        assert_eq!(
            scene.desk.find("^Terminal$", "")["path"],
            terminal,
            "the terminal was rebuilt"
        );
    }
    assert_eq!(scene.pane.screen(), "", "something reached the terminal");
}

#[test]
fn the_terminal_keeps_its_lines_under_the_bar() {
    let _serial = one_at_a_time();
    let mut scene = Scene::set("scrollback");
    for line in 0..40 {
        scene.pane.type_text(&format!("line {line}\n"));
    }
    scene.pane.await_screen("line 39\nline 39");
    let before = scene.pane.screen();
    let (_, mut asking) = scene.ask("Go on?", &[]);
    scene.desk.click("^No$");
    assert_eq!(code(&mut asking), 1);
    assert_eq!(scene.pane.screen(), before);
}

#[test]
fn a_card_that_only_points_has_neither_button_nor_entry() {
    let _serial = one_at_a_time();
    let mut scene = Scene::set("hint");
    let decision = scene.report(
        "somebody-new",
        json!({"prompt": "May I do it?", "detail": "rm -r build", "detail_kind": "command", "options": [
            {"id": "a", "label": "By all means"}, {"id": "b", "label": "Under no circumstances"}]}),
    );
    assert_eq!(decision["answerable"], false);
    scene.desk.find("May I do it", "");
    if scene.desk.has("^Show request$", "button") {
        scene.desk.click("^Show request$");
    }
    scene.desk.find("Answer in the terminal", "");
    scene.desk.find("Under no circumstances", "label");
    assert!(
        !scene
            .desk
            .has("^(By all means|Under no circumstances)$", "button"),
        "it has a button"
    );
    assert!(
        !scene.desk.has("^(Reply|Send reply)$", ""),
        "it has an entry"
    );
    scene.desk.picture("card");
    scene.desk.click("^Go to terminal$");
    scene.desk.type_text("typed there");
    scene.pane.await_screen("typed there");
}

#[test]
fn bare_keys_answer_nothing_and_a_chord_does_after_the_guard() {
    let _serial = one_at_a_time();
    let mut scene = Scene::set("keys");
    scene.desk.must("focus_terminal", json!({}));
    let (decision, mut asking) = scene.ask("Deploy?", &[]);
    scene.desk.find("Deploy", "");
    for key in ["1", "y", "Return", "space", "Tab"] {
        scene.desk.keys([key]);
    }
    harness::wait::never("a bare key answered", Duration::from_secs(1), || {
        scene.pane.decision().is_none()
    });
    assert_eq!(scene.pane.decision().unwrap()["id"], decision["id"]);

    scene.desk.must("focus_terminal", json!({}));
    scene.desk.keys(["alt+2"]);
    assert_eq!(code(&mut asking), 1, "Alt+2 is the second option");
}

#[test]
fn a_click_on_the_way_when_the_question_changed_answers_nothing() {
    let _serial = one_at_a_time();
    let mut scene = Scene::set("swap");
    let (first, mut one) = scene.ask("The first?", &[]);
    let (x, y) = {
        scene.desk.must("ready", json!({"name": "^Yes$"}));
        let place = scene
            .desk
            .must("extents", json!({"name": "^Yes$", "role": "button"}));
        let at = |index: usize| place[index].as_i64().unwrap();
        (at(0) + at(2) / 2, at(1) + at(3) / 2)
    };
    let mut two = scene
        .world
        .command("signaltty")
        .args(["ask", "The second?", "--pane", &scene.pane.id])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    until("the second stands in line", || {
        (scene.pane.get()["queued"] == 1).then_some(())
    });
    // Somebody else answers the first; the second takes its place under the pointer, which clicks at once.
    scene.world.operator().must(
        "decision.answer",
        json!({"pane_id": scene.pane.id, "decision_id": first["id"], "option_id": "no"}),
    );
    scene.desk.must("pointer_click_at", json!({"x": x, "y": y}));
    assert_eq!(code(&mut one), 1);
    let second = scene.pane.await_decision();
    assert_eq!(second["prompt"], "The second?");
    harness::wait::never(
        "the first one's click answered the second",
        Duration::from_secs(1),
        || {
            scene
                .pane
                .decision()
                .is_none_or(|decision| decision["id"] != second["id"])
        },
    );
    // Meant for it, after the guard, it does.
    scene.desk.click("^Yes$");
    assert_eq!(code(&mut two), 0);
}

#[test]
fn a_person_who_types_a_reason_while_the_question_ends_loses_no_word_to_the_terminal() {
    let _serial = one_at_a_time();
    let mut scene = Scene::set("reason");
    let (first, mut asking) = scene.ask(
        "Deploy?",
        &["--option", "go=Go:grants", "--option", "stop=Stop:refuses"],
    );
    if !scene.desk.has("^Reply$", "") {
        scene.desk.click("^Show request$");
    }
    scene.desk.must(
        "pointer_click",
        json!({"name": "^Reply$", "role": "text|entry"}),
    );
    scene.desk.type_text("use the stag");
    scene.world.operator().must(
        "decision.answer",
        json!({"pane_id": scene.pane.id, "decision_id": first["id"], "option_id": "stop"}),
    );
    assert_eq!(code(&mut asking), 1);
    // The next question comes while the person is still writing to the first.
    let (second, mut next) = scene.ask(
        "And now?",
        &["--option", "go=Go:grants", "--option", "stop=Stop:refuses"],
    );
    scene.desk.type_text("ing registry");
    scene.desk.keys(["Return"]);
    harness::wait::never(
        "the first one's words answered the second",
        Duration::from_secs(1),
        || scene.pane.decision().is_none(),
    );
    assert_eq!(scene.pane.decision().unwrap()["id"], second["id"]);
    assert_eq!(scene.pane.screen(), "", "words went into the terminal");
    let kept = scene
        .desk
        .must("text", json!({"name": "^Reply$", "role": "text|entry"}));
    assert_eq!(kept, "use the staging registry");

    scene.world.operator().must(
        "decision.answer",
        json!({"pane_id": scene.pane.id, "decision_id": second["id"], "option_id": "go"}),
    );
    assert_eq!(code(&mut next), 0);
    scene.desk.type_text(" at once");
    scene.desk.keys(["Return"]);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(
        scene.pane.screen(),
        "",
        "words went into the terminal after the question ended"
    );
}

#[test]
fn a_long_command_with_hidden_characters_is_readable_and_flagged() {
    let _serial = one_at_a_time();
    let mut scene = Scene::set("long");
    let mut lines: Vec<String> = (1..=200).map(|line| format!("echo step {line}")).collect();
    lines[150] = "echo safe \u{202e}fr- mr\u{202c}".into();
    lines[199] = "rm\u{200b} -rf build # the last line".into();
    let decision = scene.report(
        "somebody-new",
        json!({"prompt": "Run this?", "detail": lines.join("\n"), "detail_kind": "command", "options": []}),
    );
    assert_eq!(decision["detail"].as_str().unwrap().lines().count(), 200);
    scene.desk.find("Run this", "");
    if scene.desk.has("^Show request$", "button") {
        scene.desk.click("^Show request$");
    }
    scene.desk.find("200 lines", "");
    scene.desk.find("hidden character", "");
    let tree = scene.desk.must("tree", json!({}));
    let tree = tree.as_str().unwrap();
    for hidden in ['\u{202e}', '\u{202c}', '\u{200b}'] {
        assert!(!tree.contains(hidden), "{hidden:?} is shown as it is");
    }
    assert!(
        tree.contains("echo step 1") && tree.contains("the last line"),
        "it is cut:\n{tree}"
    );
    scene.desk.picture("card");
}

#[test]
fn a_pane_is_opened_from_the_window() {
    let _serial = one_at_a_time();
    let world = World::with_host();
    let mut desk = Desk::start(&world, "new-pane");
    desk.open_window(&world);
    desk.must("click", json!({"name": "^New pane", "role": "button"}));
    desk.must(
        "pointer_click",
        json!({"name": "^Command", "role": "text|entry"}),
    );
    desk.type_text("cat");
    desk.must(
        "pointer_click",
        json!({"name": "^Folder", "role": "text|entry"}),
    );
    desk.keys(["ctrl+a"]);
    desk.type_text(world.work().to_str().unwrap());
    desk.keys(["Return"]);
    let pane = until("the pane is there", || {
        world.client().must("pane.list", json!({}))["panes"]
            .get(0)
            .cloned()
    });
    assert_eq!(pane["argv"], json!(["cat"]));
    assert_eq!(pane["cwd"], world.work().to_str().unwrap());
}

#[test]
fn closing_the_window_ends_nothing() {
    let _serial = one_at_a_time();
    let mut scene = Scene::set("close");
    let pid = scene.pane.pid();
    let (decision, mut asking) = scene.ask("Deploy?", &[]);
    scene.desk.find("Deploy", "");
    scene.desk.keys(["alt+F4"]);
    scene.desk.gone("^Terminal$", "");
    assert!(harness::world::alive(pid));
    assert_eq!(scene.pane.decision().unwrap()["id"], decision["id"]);
    scene.desk.open_window(&scene.world);
    scene.desk.click("^Yes$");
    assert_eq!(code(&mut asking), 0);
}
