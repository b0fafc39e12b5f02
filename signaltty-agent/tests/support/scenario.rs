//! What has to hold for every agent whose hook is held, played on the real program.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use super::agent::{Agent, RealPane, Vendor, await_file};
use super::client::Client;
use super::wait::{PATIENCE, until, within};
use super::world::{World, alive};

/// How long a command that must not run is given to run all the same, after the turn ended.
const GRACE: Duration = Duration::from_millis(500);
/// What `RECONNECT` and the agent's own start of its prompt take, and room for a busy machine.
const RECONNECTED: Duration = Duration::from_secs(4);

/// A world with its host, a real agent in a pane, and an operator who watches. None if it cannot be had.
pub struct Stage {
    // Dropped in this order: the operator leaves, then the model server, then all that is left of the world.
    /// A client with a human behind it, subscribed.
    pub operator: Client,
    /// The pane.
    pub pane: RealPane,
    /// The agent.
    pub agent: Agent,
    /// Where all that is.
    pub world: World,
}

impl Stage {
    /// Sets it up.
    #[track_caller]
    pub fn set(vendor: Vendor, test: &str) -> Option<Self> {
        let world = World::with_host();
        let agent = Agent::prepare(&world, vendor, test)?;
        let pane = agent.start(&world);
        let mut operator = world.operator();
        operator.subscribe();
        Some(Self {
            operator,
            pane,
            agent,
            world,
        })
    }

    /// Has the agent ask for leave to create a file; the decision and the file.
    #[track_caller]
    pub fn ask(&mut self) -> (Json, std::path::PathBuf) {
        let file = self.pane.ask_to_create();
        (self.next_decision(), file)
    }

    /// The next decision that is announced.
    #[track_caller]
    pub fn next_decision(&mut self) -> Json {
        let id = self.pane.pane.id.clone();
        self.operator.event("decision.created", |data| {
            data["decision"]["pane_id"] == id.as_str()
        })["decision"]
            .take()
    }

    /// The parameters of an answer.
    pub fn answer_to(&self, decision: &Json, answer: Json) -> Json {
        let mut params = answer;
        params["pane_id"] = json!(self.pane.pane.id);
        params["decision_id"] = decision["id"].clone();
        params
    }

    /// Answers, which must be delivered; what was applied.
    #[track_caller]
    pub fn answer(&mut self, decision: &Json, answer: Json) -> Json {
        let params = self.answer_to(decision, answer);
        self.operator.must("decision.answer", params)["applied"].take()
    }

    /// Waits for a decision's end.
    #[track_caller]
    pub fn cleared(&mut self, decision: &Json) -> Json {
        self.operator
            .cleared(decision["id"].as_str().expect("an id"))
    }

    /// Fails if a file is there, or comes once the turn is over.
    #[track_caller]
    pub fn never_ran(&self, file: &Path) {
        super::wait::never("a command ran that was not granted", GRACE, || {
            file.exists()
        });
    }

    /// Processes of our hook that run now.
    pub fn hooks(&self) -> Vec<i32> {
        self.world
            .processes()
            .into_iter()
            .filter(|(_, command)| {
                command
                    .first()
                    .is_some_and(|program| program.ends_with("/signaltty"))
                    && command.get(1).is_some_and(|verb| verb == "hook")
            })
            .map(|(pid, _)| pid)
            .collect()
    }
}

/// An option grants: the command runs, the card goes, the turn ends, the terminal keeps its size.
pub fn a_grant_runs_the_command(vendor: Vendor) {
    let _serial = super::one_at_a_time();
    let Some(mut stage) = Stage::set(vendor, "a grant runs the command") else {
        return;
    };
    let before = stage.pane.pane.tty_size();

    let (decision, file) = stage.ask();
    assert_eq!(decision["kind"], "permission");
    assert_eq!(decision["answerable"], true);
    assert_eq!(decision["channel"], "hook_verdict");
    assert_eq!(decision["detail_kind"], "command");
    assert!(
        decision["detail"]
            .as_str()
            .unwrap_or_default()
            .contains(file.to_str().unwrap()),
        "{decision}"
    );
    let labels: Vec<_> = decision["options"]
        .as_array()
        .unwrap()
        .iter()
        .map(|o| (&o["id"], &o["label"]))
        .collect();
    assert_eq!(labels[0], (&json!("allow"), &json!("Allow once")));
    assert!(
        labels.contains(&(&json!("deny"), &json!("Deny"))),
        "{labels:?}"
    );
    assert_eq!(stage.pane.pane.get()["lifecycle"], "blocked");
    assert_eq!(stage.pane.pane.tty_size(), before);

    assert_eq!(
        stage.answer(&decision, json!({"option_id": "allow"})),
        json!({"option_id": "allow"})
    );
    let cleared = stage.cleared(&decision);
    assert_eq!(cleared["reason"], "answered");
    assert_eq!(cleared["applied"], json!({"option_id": "allow"}));
    await_file(&file);
    stage.pane.await_turn_end();
    assert_eq!(stage.pane.pane.tty_size(), before);
    assert!(stage.pane.pane.decision().is_none());
}

/// Words that name no option refuse, and reach the model.
pub fn a_reply_in_words_refuses_and_reaches_the_model(vendor: Vendor) {
    let _serial = super::one_at_a_time();
    let Some(mut stage) = Stage::set(vendor, "a reply in words refuses") else {
        return;
    };
    let words = "use the staging registry instead";
    let (decision, file) = stage.ask();
    let asked = stage.agent.model.requests().len();
    let applied = stage.answer(&decision, json!({ "text": words }));
    assert_eq!(applied, json!({"option_id": "deny", "text": words}));
    stage.agent.model.await_told(words, asked);
    stage.pane.await_turn_end();
    stage.never_ran(&file);
    assert_eq!(stage.cleared(&decision)["applied"], applied);

    // The agent is none the worse for it: the next one is granted.
    let (decision, file) = stage.ask();
    stage.answer(&decision, json!({"option_id": "allow"}));
    await_file(&file);
}

/// The name of an option in any case is that option and no reason; a bare yes on such a card refuses.
pub fn a_typed_name_is_the_option_and_yes_is_no_grant(vendor: Vendor) {
    let _serial = super::one_at_a_time();
    let Some(mut stage) = Stage::set(vendor, "a typed name is the option") else {
        return;
    };
    let (decision, file) = stage.ask();
    assert_eq!(
        stage.answer(&decision, json!({"text": " DENY "})),
        json!({"option_id": "deny"})
    );
    assert_eq!(
        stage.cleared(&decision)["applied"],
        json!({"option_id": "deny"})
    );
    stage.pane.await_turn_end();
    stage.never_ran(&file);

    let (decision, file) = stage.ask();
    let applied = stage.answer(&decision, json!({"text": "yes"}));
    assert_eq!(applied["option_id"], "deny");
    stage.pane.await_turn_end();
    stage.never_ran(&file);
}

/// Two answers at once: one is delivered, the other learns who won.
pub fn two_answers_at_once_are_one_delivery(vendor: Vendor) {
    let _serial = super::one_at_a_time();
    let Some(mut stage) = Stage::set(vendor, "two answers at once") else {
        return;
    };
    let (decision, file) = stage.ask();
    let mut other = stage.world.operator();
    let words = "the other one was faster";
    let grant = stage.answer_to(&decision, json!({"option_id": "allow"}));
    let refuse = stage.answer_to(&decision, json!({"text": words}));
    let sent = (
        stage.operator.send("decision.answer", grant),
        other.send("decision.answer", refuse),
    );
    let (granted, refused) = (stage.operator.reply(sent.0), other.reply(sent.1));
    let (won_by_grant, loser) = match (&granted, &refused) {
        (Ok(_), Err(loser)) => (true, loser),
        (Err(loser), Ok(_)) => (false, loser),
        both => panic!("one is to win: {both:?}"),
    };
    assert_eq!(loser.code, "NO_SUCH_DECISION");
    assert!(
        loser.data["by"].as_str().is_some_and(|by| !by.is_empty()),
        "it does not say who won: {loser:?}"
    );
    stage.pane.await_turn_end();
    if won_by_grant {
        await_file(&file);
    } else {
        stage.never_ran(&file);
    }
    let cleared = stage.cleared(&decision);
    assert_eq!(
        cleared["applied"]["option_id"],
        if won_by_grant { "allow" } else { "deny" }
    );
}

/// The host is killed while it asks, and nobody starts another: the agent's own prompt stands, nothing ran.
pub fn without_its_host_the_agent_s_own_prompt_stands(vendor: Vendor) {
    let _serial = super::one_at_a_time();
    let Some(mut stage) = Stage::set(vendor, "the host is killed while it asks") else {
        return;
    };
    let before = stage.pane.pane.tty_size();
    let (_, file) = stage.ask();
    let agent = stage.pane.pane.pid();
    assert!(!stage.hooks().is_empty(), "no hook is held");
    stage.world.kill_host();
    let killed = Instant::now();
    // The hook gives up, saying nothing: from there on the agent asks by itself.
    let gave_up = within(PATIENCE, || {
        stage.hooks().is_empty().then(|| killed.elapsed())
    });
    assert!(
        gave_up.is_some_and(|took| took < RECONNECTED),
        "the hook held on for {gave_up:?}"
    );
    assert!(alive(agent), "the agent died with the host");
    stage.never_ran(&file);

    stage.world.start_host();
    let screen = stage.pane.await_own_prompt();
    assert!(screen.contains(stage.pane.own_prompt));
    assert_eq!(stage.pane.pane.tty_size(), before);
    // And it takes an answer there.
    stage.pane.pane.type_text("1");
    await_file(&file);
}

/// The host is killed while it asks and the next one is there at once: the same question, under the same id,
/// can be answered there; or the agent's own prompt stands. Never a grant.
pub fn the_next_host_takes_the_answer(vendor: Vendor) {
    let _serial = super::one_at_a_time();
    let Some(mut stage) = Stage::set(vendor, "the next host takes the answer") else {
        return;
    };
    let (before, file) = stage.ask();
    stage.world.kill_host();
    stage.world.start_host();
    stage.operator = stage.world.operator();
    stage.operator.subscribe();
    let after = until("the question or the prompt stands", || {
        let pending = stage
            .pane
            .pane
            .decision()
            .filter(|decision| decision["answerable"] == true);
        pending.map(Some).or_else(|| {
            stage
                .pane
                .own_prompt_open()
                .then_some(None)
                .filter(|_| stage.hooks().is_empty())
        })
    });
    stage.never_ran(&file);
    if let Some(after) = after {
        assert_eq!(after["id"], before["id"]);
        stage.answer(&after, json!({"option_id": "allow"}));
    } else {
        stage.pane.await_own_prompt();
        stage.pane.pane.type_text("1");
    }
    await_file(&file);
}

/// `signaltty watch` shows the question and takes the answer.
pub fn watch_answers(vendor: Vendor) {
    let _serial = super::one_at_a_time();
    let Some(mut stage) = Stage::set(vendor, "signaltty watch answers") else {
        return;
    };
    // Only `watch` is left.
    stage.operator = stage.world.client();
    stage.operator.subscribe();
    let mut watch = stage
        .world
        .command("signaltty")
        .arg("watch")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("signaltty watch starts");
    let (sender, lines) = std::sync::mpsc::channel();
    let output = BufReader::new(watch.stdout.take().expect("its output"));
    std::thread::spawn(move || {
        output
            .lines()
            .map_while(Result::ok)
            .all(|line| sender.send(line).is_ok())
    });
    until("watch is connected", || {
        let info = stage.world.client().must("host.info", json!({}));
        (info["counts"]["operators"].as_u64() == Some(1)).then_some(())
    });

    let (decision, file) = stage.ask();
    assert_eq!(decision["answerable"], true, "an operator is connected");
    let mut seen = String::new();
    let mut shows = |file: &Path| {
        until("watch shows the command", || {
            seen.extend(lines.try_iter().map(|line| line + "\n"));
            seen.contains(file.to_str().unwrap()).then_some(())
        });
    };
    shows(&file);
    watch
        .stdin
        .as_mut()
        .expect("its input")
        .write_all(b"Allow once\n")
        .expect("watch reads");
    let cleared = stage.cleared(&decision);
    assert_eq!(
        (&cleared["reason"], &cleared["via"]),
        (&json!("answered"), &json!("watch"))
    );
    await_file(&file);

    let (decision, file) = stage.ask();
    // What is typed before it is shown is for no question.
    shows(&file);
    watch
        .stdin
        .as_mut()
        .expect("its input")
        .write_all(b"not like that\n")
        .expect("watch reads");
    assert_eq!(
        stage.cleared(&decision)["applied"],
        json!({"option_id": "deny", "text": "not like that"})
    );
    stage.pane.await_turn_end();
    stage.never_ran(&file);
    watch.kill().expect("watch ends");
    watch.wait().expect("watch ends");
}
