//! A session with a clock, ids and hooks that a test turns by hand.

use std::time::Duration;

use signaltty_core::adapter::{
    AnswerChannel, Ask, AskOption, CallRef, Holding, HookLoss, Reading, Signal,
};
use signaltty_core::answer::{Answer, Applied};
use signaltty_core::model::{
    Decision, DecisionId, HookId, Key, Kind, Lifecycle, Moment, Origin, Pane, PaneId, Polarity,
    Size, TextUse,
};
use signaltty_core::protocol::{ClearReason, DecisionCleared, DecisionCreated, Event};
use signaltty_core::session::{
    AnswerCommand, Caller, Command, Effect, Fate, NewPane, Outcome, Report, ReportedBy, Session,
    SessionConfig, SessionError, StreamSignal, Typist,
};

pub const AGENT: &str = "robot";
pub const SESSION: &str = "s1";
/// When the wall clock and the boot clock of every test start.
pub const WALL: i64 = 1_800_000_000_000;
pub const BOOT: u64 = 5_000_000;

/// The session, and what turns it.
pub struct World {
    pub session: Session,
    pub now: Moment,
    minted: u64,
    tickets: u64,
    /// What the last command led to.
    pub last: Outcome,
}

pub fn pane(name: &str) -> PaneId {
    PaneId::new(name).unwrap()
}

pub fn id(name: &str) -> DecisionId {
    DecisionId::new(name).unwrap()
}

pub fn new_pane(name: &str) -> NewPane {
    NewPane {
        id: pane(name),
        argv: vec!["/usr/bin/robot".into()],
        cwd: format!("/home/me/{name}"),
        pid: Some(100),
        agent: Some(AGENT.into()),
        session_id: None,
        title: None,
        size: Size::DEFAULT,
        terminal: true,
        opened_by: None,
        created_at: None,
    }
}

/// An allow/deny card whose denial carries a reason, as an adapter mints it. Held beside the vendor's prompt.
pub fn card(prompt: &str) -> Ask {
    Ask {
        prompt: prompt.into(),
        detail: Some(format!("run {prompt}")),
        options: vec![
            option("allow", "Allow once", Polarity::Grants, false),
            option("deny", "Deny", Polarity::Refuses, true),
        ],
        text: TextUse::Reason,
        channel: AnswerChannel::HookVerdict,
        holding: Holding::Always,
        call: Some(call(None, prompt)),
        ..Ask::default()
    }
}

/// The same where holding hides the vendor's own prompt.
pub fn hiding_card(prompt: &str) -> Ask {
    Ask {
        holding: Holding::WhileOperator,
        hook_loss: HookLoss::AwaitReport,
        ..card(prompt)
    }
}

/// A decision that a `hook-event` spells out, answered by typing into the menu on screen.
pub fn plain(prompt: &str) -> Ask {
    Ask {
        prompt: prompt.into(),
        options: vec![
            option("yes", "Yes, proceed", Polarity::Neutral, false),
            option(
                "always",
                "Yes, and do not ask again",
                Polarity::Neutral,
                false,
            ),
            option("no", "No", Polarity::Neutral, false),
        ],
        channel: AnswerChannel::TypeText,
        origin: Origin::Plain,
        ..Ask::default()
    }
}

/// A question in words.
pub fn question(prompt: &str) -> Ask {
    Ask {
        kind: Kind::Input,
        options: Vec::new(),
        text: TextUse::Answer,
        call: None,
        ..card(prompt)
    }
}

pub fn option(id: &str, label: &str, polarity: Polarity, carries_text: bool) -> AskOption {
    AskOption {
        id: id.into(),
        label: label.into(),
        polarity,
        carries_text,
    }
}

pub fn call(call_id: Option<&str>, input: &str) -> CallRef {
    CallRef {
        call_id: call_id.map(str::to_owned),
        tool: "shell".into(),
        input: input.into(),
    }
}

/// What an agent says, of its usual session.
pub fn says(signal: Signal) -> Reading {
    Reading {
        signal: Some(signal),
        ..reading()
    }
}

pub fn reading() -> Reading {
    Reading {
        session_id: Some(SESSION.into()),
        ..Reading::default()
    }
}

pub fn asks(ask: Ask) -> Reading {
    Reading {
        ask: Some(ask),
        ..reading()
    }
}

pub fn by_option(id: &str) -> Answer {
    Answer {
        option_id: Some(id.into()),
        ..Answer::default()
    }
}

pub fn by_text(text: &str) -> Answer {
    Answer {
        text: Some(text.into()),
        ..Answer::default()
    }
}

impl World {
    /// One pane, `p1`, with an agent, and an operator at the window.
    pub fn new() -> Self {
        let mut world = Self::empty();
        world.operators(true);
        world.open("p1");
        world
    }

    pub fn empty() -> Self {
        Self {
            session: Session::new(SessionConfig::default()),
            now: Moment {
                boot_ms: BOOT,
                wall_ms: WALL,
            },
            minted: 0,
            tickets: 0,
            last: Outcome::default(),
        }
    }

    pub fn apply(&mut self, command: Command) -> Result<Outcome, SessionError> {
        let minted = &mut self.minted;
        let mut mint = || {
            *minted += 1;
            DecisionId::from_trusted(format!("minted-{minted}"))
        };
        let outcome = self.session.apply(command, self.now, &mut mint)?;
        self.last = outcome.clone();
        Ok(outcome)
    }

    pub fn run(&mut self, command: Command) -> Outcome {
        self.apply(command).expect("the command is one that works")
    }

    pub fn open(&mut self, name: &str) {
        self.run(Command::OpenPane(new_pane(name)));
    }

    pub fn operators(&mut self, connected: bool) {
        self.run(Command::Operators { connected });
    }

    /// Lets time pass, doing what is due when it is due.
    pub fn pass(&mut self, wait: Duration) -> Vec<Outcome> {
        let end = self.now.boot_ms + u64::try_from(wait.as_millis()).unwrap();
        let mut done = Vec::new();
        while let Some(due) = self.session.next_deadline().filter(|due| *due <= end) {
            self.set_boot(due.max(self.now.boot_ms));
            done.push(self.run(Command::Tick));
        }
        self.set_boot(end);
        done
    }

    fn set_boot(&mut self, boot_ms: u64) {
        self.now.wall_ms += i64::try_from(boot_ms - self.now.boot_ms).unwrap();
        self.now.boot_ms = boot_ms;
    }

    pub fn try_report(
        &mut self,
        name: &str,
        reading: Reading,
        hook: Option<u64>,
    ) -> Result<Outcome, SessionError> {
        self.apply(Command::Report(Box::new(from_pane(name, reading, hook))))
    }

    pub fn report(&mut self, name: &str, reading: Reading) -> Outcome {
        self.try_report(name, reading, None)
            .expect("the report is one that works")
    }

    /// A question from `p1` that no hook waits for.
    pub fn hint(&mut self, ask: Ask) -> DecisionId {
        self.report("p1", asks(ask));
        self.asked()
    }

    /// A question from `p1` whose hook waits.
    pub fn held(&mut self, ask: Ask, hook: u64) -> DecisionId {
        self.try_report("p1", asks(ask), Some(hook)).unwrap();
        assert!(
            self.last.reported.as_ref().unwrap().held,
            "the hook is held"
        );
        self.asked()
    }

    /// The decision that the last report made.
    pub fn asked(&self) -> DecisionId {
        self.last
            .reported
            .clone()
            .unwrap()
            .decision_id
            .expect("the report made a decision")
    }

    pub fn hear(&mut self, signal: Signal) -> Outcome {
        self.report("p1", says(signal))
    }

    pub fn type_keys(&mut self, keys: &[Key]) -> Outcome {
        self.run(Command::Typed {
            pane_id: pane("p1"),
            keys: keys.to_vec(),
            by: Typist::Human,
        })
    }

    pub fn try_answer(
        &mut self,
        decision_id: &DecisionId,
        answer: Answer,
    ) -> Result<Outcome, SessionError> {
        self.try_answer_on("p1", decision_id, answer)
    }

    pub fn try_answer_on(
        &mut self,
        name: &str,
        decision_id: &DecisionId,
        answer: Answer,
    ) -> Result<Outcome, SessionError> {
        self.tickets += 1;
        self.apply(Command::Answer(AnswerCommand {
            ticket: self.tickets,
            pane_id: pane(name),
            decision_id: decision_id.clone(),
            answer,
            via: "window".into(),
            by: "someone".into(),
            caller: Caller::Outside,
        }))
    }

    pub fn answer(&mut self, decision_id: &DecisionId, answer: Answer) -> Outcome {
        self.try_answer(decision_id, answer)
            .expect("the answer is one")
    }

    /// Answers and has it delivered.
    pub fn settle(&mut self, decision_id: &DecisionId, answer: Answer) -> Outcome {
        self.answer(decision_id, answer);
        self.run(Command::Delivered {
            decision_id: decision_id.clone(),
        })
    }

    pub fn pane(&self, name: &str) -> Pane {
        self.session.pane(&pane(name)).expect("the pane is there")
    }

    pub fn lifecycle(&self) -> Lifecycle {
        self.pane("p1").lifecycle
    }

    pub fn pending(&self) -> Option<Decision> {
        self.pane("p1").decision
    }

    pub fn pending_id(&self) -> Option<DecisionId> {
        self.pending().map(|decision| decision.id)
    }

    pub fn queued(&self) -> usize {
        self.pane("p1").queued
    }

    /// How a decision ended.
    pub fn reason(&self, decision_id: &DecisionId) -> ClearReason {
        match self.session.fate(decision_id) {
            Fate::Ended { reason, .. } => reason,
            other => panic!("{decision_id} has not ended but is {other:?}"),
        }
    }
}

pub fn from_pane(name: &str, reading: Reading, hook: Option<u64>) -> Report {
    Report {
        agent: AGENT.into(),
        by: ReportedBy::Pane(pane(name)),
        pane_id: None,
        reading,
        hook: hook.map(HookId),
        resumes: None,
        own_pane: None,
    }
}

pub fn created(outcome: &Outcome) -> Vec<&DecisionCreated> {
    outcome
        .events
        .iter()
        .filter_map(|event| match event {
            Event::DecisionCreated(created) => Some(created),
            _ => None,
        })
        .collect()
}

pub fn cleared(outcome: &Outcome) -> Vec<&DecisionCleared> {
    outcome
        .events
        .iter()
        .filter_map(|event| match event {
            Event::DecisionCleared(cleared) => Some(cleared),
            _ => None,
        })
        .collect()
}

pub fn updated(outcome: &Outcome) -> Vec<&Decision> {
    outcome
        .events
        .iter()
        .filter_map(|event| match event {
            Event::DecisionUpdated { decision } => Some(decision),
            _ => None,
        })
        .collect()
}

/// Hooks that were let go, with the decisions that they waited for.
pub fn released(outcome: &Outcome) -> Vec<(u64, DecisionId)> {
    outcome
        .effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Release { hook, decision_id } => Some((hook.0, decision_id.clone())),
            _ => None,
        })
        .collect()
}

/// What was handed to a channel.
pub fn deliveries(outcome: &Outcome) -> Vec<(DecisionId, Applied, Option<usize>)> {
    outcome
        .effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Deliver {
                decision_id,
                applied,
                option_index,
                ..
            } => Some((decision_id.clone(), applied.clone(), *option_index)),
            _ => None,
        })
        .collect()
}

/// What answerers were told.
pub fn answered(outcome: &Outcome) -> Vec<Result<Applied, SessionError>> {
    outcome
        .effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Answered { result, .. } => Some(result.clone()),
            _ => None,
        })
        .collect()
}

/// The kinds of decision events, in order, for tests of the order alone.
pub fn story(outcome: &Outcome) -> Vec<String> {
    outcome
        .events
        .iter()
        .filter_map(|event| match event {
            Event::DecisionCreated(created) => Some(match &created.prev {
                Some(prev) => format!("created {} for {prev}", created.decision.id),
                None => format!("created {}", created.decision.id),
            }),
            Event::DecisionUpdated { decision } => Some(format!("updated {}", decision.id)),
            Event::DecisionCleared(cleared) => Some(format!(
                "cleared {} {}",
                cleared.decision_id,
                cleared.reason.as_str()
            )),
            _ => None,
        })
        .collect()
}

/// An option alone, applied.
pub fn chose(id: &str) -> Applied {
    Applied {
        option_id: Some(id.into()),
        ..Applied::default()
    }
}

/// What a refusal says of a decision.
pub fn fate(error: SessionError) -> Fate {
    match error {
        SessionError::NoSuchDecision { fate, .. } => *fate,
        other => panic!("{other:?}"),
    }
}

/// A pane with a shell, `p1`.
pub fn shell() -> World {
    let mut world = World::empty();
    world.run(Command::OpenPane(NewPane {
        agent: None,
        argv: vec!["/bin/bash".into()],
        ..new_pane("p1")
    }));
    world
}

/// A shell's own mark.
pub fn mark(mark: char, status: Option<i32>) -> Command {
    Command::Stream {
        pane_id: pane("p1"),
        signal: StreamSignal::PromptMark { mark, status },
    }
}
