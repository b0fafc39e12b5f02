//! Plays a short real session where there is no display: an agent asks, a click answers, pictures show it.
//!
//! `make run` runs it. The agent is a real Claude Code on the stand-in model of the tests; where npm cannot be
//! reached a shell asks with `signaltty ask`. The pictures lie in target/pictures/.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "it stops, saying why, where the session goes wrong"
)]

#[path = "../../signaltty-agent/tests/support/harness.rs"]
mod harness;

use harness::agent::await_file;
use harness::{Agent, Client, Desk, Vendor, World};
use serde_json::{Value as Json, json};

fn main() {
    let world = World::with_host();
    let mut desk = Desk::start(&world, "play");
    let mut watcher = world.client();
    watcher.subscribe();
    say("the window is open on a virtual display");
    desk.open_window(&world);

    match Agent::obtain(&world, Vendor::Claude) {
        Ok(agent) => {
            agent.install_hook(&world);
            with_a_real_agent(&world, &mut desk, &mut watcher, &agent);
        }
        Err(why) => {
            say(&format!(
                "a real agent cannot be had here ({})",
                why.lines().next().unwrap_or_default()
            ));
            with_a_script(&world, &mut desk, &mut watcher);
        }
    }
    a_card_that_only_points(&world, &mut desk, &mut watcher);
    say("done; `make run` with a display opens the window itself");
}

/// Claude Code asks for leave to run a command; a click grants it.
fn with_a_real_agent(world: &World, desk: &mut Desk, watcher: &mut Client, agent: &Agent) {
    let pane = agent.start(world);
    desk.find("^Terminal$", "");
    say("Claude Code waits for a prompt");
    picture(desk, "waiting");

    let file = world.work().join("deployed.txt");
    pane.submit(
        "Deploy it to staging, please. [[sh date > deployed.txt && echo deployed to staging]]",
    );
    let decision = watcher.event("decision.created", |_| true)["decision"].take();
    say(&format!("it asks: {}", line(&decision["prompt"])));
    say(&format!("  for:   {}", line(&decision["detail"])));
    desk.must("ready", json!({"name": "^Allow once$"}));
    open_card(desk);
    picture(desk, "asking");

    desk.click("^Allow once$");
    await_file(&file);
    let cleared = watcher.cleared(decision["id"].as_str().unwrap());
    say(&format!(
        "a click answered {}: the command ran, {} is there",
        cleared["applied"],
        file.display()
    ));
    desk.gone("^Allow once$", "button");
    pane.await_turn_end();
    say("the agent went on and ended its turn");
    picture(desk, "answered");
}

/// The same with `signaltty ask` in a shell.
fn with_a_script(world: &World, desk: &mut Desk, watcher: &mut Client) {
    let pane = world.spawn(&["sh", "-i"], &[("PS1", "$ ")]);
    desk.find("^Terminal$", "");
    pane.await_screen("$");
    say("a shell waits for a command");
    picture(desk, "waiting");

    let program = harness::world::program("signaltty");
    pane.type_text(&format!(
        "{} ask 'Deploy to staging?' && echo deployed\r",
        program.display()
    ));
    let decision = watcher.event("decision.created", |_| true)["decision"].take();
    say(&format!("it asks: {}", line(&decision["prompt"])));
    desk.must("ready", json!({"name": "^Yes$"}));
    picture(desk, "asking");
    desk.click("^Yes$");
    pane.await_screen("\ndeployed");
    say("a click answered it: the script went on");
    desk.gone("^Yes$", "button");
    picture(desk, "answered");
}

/// An agent that we can only watch asks: its question and its choices are shown, the answer belongs in its terminal.
fn a_card_that_only_points(world: &World, desk: &mut Desk, watcher: &mut Client) {
    let pane = world.spawn(
        &[
            "sh",
            "-c",
            "printf 'Delete the branch old-parser? [y/N] '; cat",
        ],
        &[],
    );
    pane.await_screen("[y/N]");
    let decision = json!({
        "prompt": "Delete the branch old-parser?",
        "detail": "git branch -D old-parser",
        "detail_kind": "command",
        "options": [{"id": "yes", "label": "Delete it"}, {"id": "no", "label": "Keep it"}],
    });
    let told = json!({"agent": "somebody-new", "pane_id": pane.id, "decision": decision, "respond_via": ["oob"]});
    world.client().must("hook-event", told);
    watcher.event("decision.created", |data| {
        data["decision"]["pane_id"] == pane.id.as_str()
    });
    desk.keys(["ctrl+shift+j"]);
    desk.find("Delete the branch", "");
    open_card(desk);
    desk.find("Answer in the terminal", "");
    say("another agent, which can only be watched, asks: its card points at its terminal");
    picture(desk, "hint");
}

fn open_card(desk: &mut Desk) {
    if desk.has("^Show request$", "button") {
        desk.click("^Show request$");
    }
}

fn picture(desk: &mut Desk, what: &str) {
    // What was shown last may still be fading in.
    std::thread::sleep(std::time::Duration::from_millis(700));
    say(&format!("  picture: {}", desk.picture(what)));
}

fn say(what: &str) {
    println!("{what}");
}

fn line(text: &Json) -> &str {
    text.as_str()
        .and_then(|text| text.lines().next())
        .unwrap_or_default()
}
