//! A real agent asks, a person clicks or types in the real window, the agent goes on.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops where it stands"
)]

#[path = "../../signaltty-agent/tests/support/harness.rs"]
mod harness;

use harness::agent::await_file;
use harness::{Agent, Client, Desk, RealPane, Vendor, World, one_at_a_time, until};
use serde_json::{Value as Json, json};

/// A window with one pane, in which a real agent waits for a prompt.
struct Scene {
    desk: Desk,
    watcher: Client,
    pane: RealPane,
    agent: Agent,
    world: World,
}

impl Scene {
    #[track_caller]
    fn set(vendor: Vendor, name: &str) -> Option<Self> {
        let world = World::with_host();
        let agent = Agent::prepare(&world, vendor, name)?;
        let mut desk = Desk::start(&world, name);
        desk.open_window(&world);
        let pane = agent.start(&world);
        // The window shows the pane that was opened: its terminal is a viewer from now on.
        desk.find("^Terminal$", "");
        let mut watcher = world.client();
        watcher.subscribe();
        Some(Self {
            desk,
            watcher,
            pane,
            agent,
            world,
        })
    }

    /// Has the agent ask; the decision and the file that its command creates.
    #[track_caller]
    fn ask(&mut self) -> (Json, std::path::PathBuf) {
        let file = self.pane.ask_to_create();
        let decision = self.watcher.event("decision.created", |_| true)["decision"].take();
        assert_eq!(
            decision["answerable"], true,
            "the window is an operator: {decision}"
        );
        (decision, file)
    }

    /// Types into the reply entry of the card and sends it.
    #[track_caller]
    fn reply(&mut self, text: &str) {
        if !self.desk.has("^Reply$", "") {
            self.desk.click("^Show request$");
        }
        self.desk.must(
            "pointer_click",
            json!({"name": "^Reply$", "role": "text|entry"}),
        );
        self.desk.type_text(text);
        self.desk.keys(["Return"]);
    }
}

/// A click on the granting button runs the command.
fn a_click_grants(vendor: Vendor, name: &str) {
    let _serial = one_at_a_time();
    let Some(mut scene) = Scene::set(vendor, name) else {
        return;
    };
    // Nothing is told of a pane that is in view: another window is, meanwhile.
    let before = until("the window gave the terminal its size", || {
        let size = scene.pane.pane.tty_size();
        (size != (110, 45)).then_some(size)
    });
    let (decision, file) = scene.ask();
    scene.desk.click("^Allow once$");
    await_file(&file);
    let cleared = scene.watcher.cleared(decision["id"].as_str().unwrap());
    assert_eq!(
        (&cleared["reason"], &cleared["via"]),
        (&json!("answered"), &json!("window"))
    );
    assert_eq!(cleared["applied"], json!({"option_id": "allow"}));
    scene.desk.gone("^Allow once$", "button");
    scene.pane.await_turn_end();
    assert_eq!(scene.pane.pane.tty_size(), before);
}

#[test]
fn a_click_runs_claude_code_s_command() {
    a_click_grants(Vendor::Claude, "click-claude");
}

#[test]
fn a_click_runs_codex_s_command() {
    a_click_grants(Vendor::Codex, "click-codex");
}

/// A question that nobody looks at is notified, once; its notification goes with it.
fn a_question_out_of_sight_is_notified(vendor: Vendor, name: &str) {
    let _serial = one_at_a_time();
    let Some(mut scene) = Scene::set(vendor, name) else {
        return;
    };
    let window = scene.desk.must("active_window", json!({}));
    scene.desk.must("minimize", json!({ "window": window }));
    let (decision, file) = scene.ask();
    let told = scene.desk.must("notified", json!({}));
    let text = format!("{} {}", told["summary"], told["body"]);
    assert!(
        text.contains("touch"),
        "it does not say what is asked: {told}"
    );
    let actions: Vec<_> = told["actions"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Json::as_str)
        .collect();
    assert!(actions.contains(&"default"), "{actions:?}");
    assert!(actions.contains(&"Deny"), "{actions:?}");
    assert!(
        actions.len() <= 2 * 4,
        "at most three options and the default: {actions:?}"
    );

    scene.desk.must("activate", json!({ "window": window }));
    scene.desk.click("^Allow once$");
    await_file(&file);
    scene
        .desk
        .must("notification_closed", json!({"number": told["id"]}));
    scene.watcher.cleared(decision["id"].as_str().unwrap());
    scene.pane.await_turn_end();

    // The next one is refused from its notification.
    scene.desk.must("minimize", json!({ "window": window }));
    let calls = scene
        .desk
        .must("notifications", json!({}))
        .as_array()
        .unwrap()
        .len();
    let (decision, file) = scene.ask();
    let told = scene.desk.must("notified", json!({ "after": calls }));
    let actions = told["actions"].as_array().unwrap();
    let deny = actions
        .chunks(2)
        .find(|action| action[1] == "Deny")
        .expect("an action that refuses")[0]
        .clone();
    scene
        .desk
        .must("invoke", json!({"number": told["id"], "action": deny}));
    let cleared = scene.watcher.cleared(decision["id"].as_str().unwrap());
    assert_eq!(
        (&cleared["via"], &cleared["applied"]),
        (&json!("notification"), &json!({"option_id": "deny"}))
    );
    scene.pane.await_turn_end();
    assert!(!file.exists());

    // A second press of the same, now stale action answers nothing.
    let (decision, file) = scene.ask();
    scene
        .desk
        .must("invoke", json!({"number": told["id"], "action": deny}));
    harness::wait::never(
        "a stale action answered",
        std::time::Duration::from_secs(1),
        || scene.pane.pane.decision().is_none(),
    );
    assert_eq!(scene.pane.pane.decision().unwrap()["id"], decision["id"]);
    assert!(!file.exists());
}

#[test]
fn a_question_of_claude_code_out_of_sight_is_notified() {
    a_question_out_of_sight_is_notified(Vendor::Claude, "notify-claude");
}

#[test]
fn a_question_of_codex_out_of_sight_is_notified() {
    a_question_out_of_sight_is_notified(Vendor::Codex, "notify-codex");
}

/// Words typed in the card refuse and reach the model; an option's name is the option; yes grants nothing.
fn a_typed_reply_refuses(vendor: Vendor, name: &str) {
    let _serial = one_at_a_time();
    let Some(mut scene) = Scene::set(vendor, name) else {
        return;
    };
    let words = "use the staging registry instead";
    for (typed, applied) in [
        (words, json!({"option_id": "deny", "text": words})),
        (" DENY ", json!({"option_id": "deny"})),
        ("yes", json!({"option_id": "deny", "text": "yes"})),
    ] {
        let asked = scene.agent.model.requests().len();
        let (decision, file) = scene.ask();
        scene.reply(typed);
        let cleared = scene.watcher.cleared(decision["id"].as_str().unwrap());
        assert_eq!(cleared["applied"], applied, "{typed:?}");
        scene.pane.await_turn_end();
        assert!(!file.exists(), "{typed:?} ran it");
        if typed == words {
            scene.agent.model.await_told(words, asked);
        }
    }
}

#[test]
fn a_typed_reply_refuses_claude_code() {
    a_typed_reply_refuses(Vendor::Claude, "reply-claude");
}

#[test]
fn a_typed_reply_refuses_codex() {
    a_typed_reply_refuses(Vendor::Codex, "reply-codex");
}

/// The host is killed while the window is open: the window starts another, and the same card answers there, or
/// the agent's own prompt stands. Never a grant.
fn the_card_answers_after_the_host_was_killed(vendor: Vendor, name: &str) {
    let _serial = one_at_a_time();
    let Some(mut scene) = Scene::set(vendor, name) else {
        return;
    };
    let (before, file) = scene.ask();
    scene.desk.must("ready", json!({"name": "^Allow once$"}));
    let agent = scene.pane.pane.pid();
    let killed = scene.world.kill_host();
    scene.world.await_host();
    assert_ne!(scene.world.host_pid(), killed);
    assert_eq!(scene.pane.pane.pid(), agent, "the agent was lost");
    assert!(!file.exists(), "the crash granted it");
    let again = until("the question or the agent's own prompt stands", || {
        let pending = scene
            .pane
            .pane
            .decision()
            .filter(|decision| decision["answerable"] == true);
        pending
            .map(Some)
            .or_else(|| scene.pane.own_prompt_open().then_some(None))
    });
    assert!(!file.exists(), "the crash granted it");
    if let Some(after) = again {
        assert_eq!(after["id"], before["id"]);
        scene.desk.click("^Allow once$");
    } else {
        scene.pane.await_own_prompt();
        scene.pane.pane.type_text("1");
    }
    await_file(&file);
    scene.pane.await_turn_end();
}

#[test]
fn claude_code_s_card_answers_after_the_host_was_killed() {
    the_card_answers_after_the_host_was_killed(Vendor::Claude, "killed-claude");
}

#[test]
fn codex_s_card_answers_after_the_host_was_killed() {
    the_card_answers_after_the_host_was_killed(Vendor::Codex, "killed-codex");
}

/// Answered on Claude Code's own prompt, in the window's terminal: the bar goes at once.
#[test]
fn the_bar_goes_when_the_person_answers_in_the_terminal() {
    let _serial = one_at_a_time();
    let Some(mut scene) = Scene::set(Vendor::Claude, "terminal-claude") else {
        return;
    };
    let (decision, file) = scene.ask();
    scene.desk.find("^Allow once$", "button");
    scene.pane.await_own_prompt();
    scene.desk.must("focus_terminal", json!({}));
    scene.desk.keys(["1"]);
    await_file(&file);
    let cleared = scene.watcher.cleared(decision["id"].as_str().unwrap());
    assert_eq!(cleared["reason"], "moved_on");
    scene.desk.gone("^Allow once$", "button");
}
