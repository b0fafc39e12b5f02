//! A session that is watched: beside it a subscriber's copy is kept from events alone, and every hook, delivery
//! and answer is counted.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use signaltty_core::adapter::{AnswerChannel, Ask, HookLoss, Reading, Signal, TerminalKeys};
use signaltty_core::answer::Answer;
use signaltty_core::limits::HOLD_MAX;
use signaltty_core::model::{
    DecisionId, Exit, HookId, Key, Lifecycle, Origin, Pane, PaneId, Polarity,
};
use signaltty_core::protocol::Event;
use signaltty_core::session::{
    Command, Effect, HoldingSetting, Outcome, Report, ReportedBy, SessionError, StreamSignal,
    Typist,
};

use super::harness::*;
use super::properties::{CALLS, PANES, Step, TEXTS};

/// What is known of a hook that was held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hook {
    Waits,
    Over,
}

/// The session, a subscriber's copy of it, and the counts.
pub struct Watch {
    world: World,
    copy: BTreeMap<PaneId, Pane>,
    /// Decisions that were announced, and those of them that ended.
    announced: BTreeMap<DecisionId, (String, Option<String>)>,
    ended: BTreeSet<DecisionId>,
    /// Every decision that a report made, in order.
    made: Vec<DecisionId>,
    delivered: BTreeSet<DecisionId>,
    in_flight: BTreeMap<DecisionId, Option<HookId>>,
    hooks: BTreeMap<HookId, Hook>,
    tickets: BTreeMap<u64, usize>,
    next_hook: u64,
    next_ticket: u64,
    own_panes: usize,
}

impl Watch {
    pub fn new() -> Self {
        Self {
            world: World::empty(),
            copy: BTreeMap::new(),
            announced: BTreeMap::new(),
            ended: BTreeSet::new(),
            made: Vec::new(),
            delivered: BTreeSet::new(),
            in_flight: BTreeMap::new(),
            hooks: BTreeMap::new(),
            tickets: BTreeMap::new(),
            next_hook: 0,
            next_ticket: 0,
            own_panes: 0,
        }
    }

    /// Runs one command, checks what came of it, and does what is due.
    pub fn run(&mut self, command: Command) -> Option<Outcome> {
        let before = (
            self.world.session.panes(),
            self.world.session.next_deadline(),
        );
        let outcome = match self.world.apply(command) {
            Ok(outcome) => outcome,
            Err(_) => {
                let after = (
                    self.world.session.panes(),
                    self.world.session.next_deadline(),
                );
                assert_eq!(before, after, "a refused command changes nothing");
                return None;
            }
        };
        self.check(&outcome);
        let now = self.world.now.boot_ms;
        while self
            .world
            .session
            .next_deadline()
            .is_some_and(|due| due <= now)
        {
            let due = self.world.session.next_deadline();
            let outcome = self.world.run(Command::Tick);
            self.check(&outcome);
            assert!(
                self.world.session.next_deadline() > due
                    || self.world.session.next_deadline().is_none(),
                "a tick takes its deadline away"
            );
        }
        Some(outcome)
    }

    fn check(&mut self, outcome: &Outcome) {
        if let Some(reported) = &outcome.reported {
            if let Some(id) = reported
                .decision_id
                .clone()
                .filter(|id| !self.made.contains(id))
            {
                self.made.push(id);
            }
        }
        for event in &outcome.events {
            self.follow(event);
        }
        for effect in &outcome.effects {
            self.count(effect);
        }
        let panes: BTreeMap<_, _> = self
            .world
            .session
            .panes()
            .into_iter()
            .map(|pane| (pane.id.clone(), pane))
            .collect();
        assert_eq!(self.copy, panes, "events give what a snapshot gives");
        for pane in panes.values() {
            let asks = pane.decision.is_some();
            assert!(
                asks || pane.queued == 0,
                "nothing stands in line behind nothing"
            );
            if pane.exit.is_some() {
                assert_eq!(pane.lifecycle, Lifecycle::Exited);
            } else if asks {
                assert_eq!(pane.lifecycle, Lifecycle::Blocked);
            }
        }
    }

    /// Keeps the copy by an event, and checks that decisions begin and end once, in order.
    fn follow(&mut self, event: &Event) {
        match event {
            Event::PaneCreated { pane } => {
                assert!(self.copy.insert(pane.id.clone(), pane.clone()).is_none());
            }
            Event::PaneUpdated { pane } => {
                assert!(self.copy.insert(pane.id.clone(), pane.clone()).is_some());
            }
            Event::PaneExited { pane_id, .. } => assert!(self.copy.contains_key(pane_id)),
            Event::PaneClosed { pane_id } => {
                let pane = self.copy.remove(pane_id).expect("it was there");
                assert_eq!(pane.decision, None, "a decision ends before its pane goes");
            }
            Event::DecisionCreated(created) => {
                let decision = &created.decision;
                let pane = self
                    .copy
                    .get_mut(&decision.pane_id)
                    .expect("its pane is there");
                assert_eq!(
                    pane.decision.as_ref().map(|there| &there.id),
                    created.prev.as_ref(),
                    "one pending a pane"
                );
                pane.decision = Some(decision.clone());
                let said = (decision.prompt.clone(), decision.source.session_id.clone());
                assert!(
                    self.announced.insert(decision.id.clone(), said).is_none(),
                    "announced once"
                );
                if let Some(prev) = &created.prev {
                    self.end(prev);
                }
            }
            Event::DecisionUpdated { decision } => {
                let pane = self
                    .copy
                    .get_mut(&decision.pane_id)
                    .expect("its pane is there");
                assert_eq!(
                    pane.decision.as_ref().map(|there| &there.id),
                    Some(&decision.id)
                );
                assert_ne!(pane.decision.as_ref(), Some(decision), "it is different");
                pane.decision = Some(decision.clone());
            }
            Event::DecisionCleared(cleared) => {
                let pane = self
                    .copy
                    .get_mut(&cleared.pane_id)
                    .expect("its pane is there");
                let there = pane.decision.take().expect("it was pending");
                assert_eq!(there.id, cleared.decision_id);
                self.end(&cleared.decision_id);
            }
            Event::LayoutChanged { .. } | Event::AgentNotification { .. } => {}
            Event::ConfigChanged { .. } | Event::HostWarning { .. } | Event::Resync(_) => {
                panic!("the session does not say {event:?}")
            }
        }
    }

    fn end(&mut self, id: &DecisionId) {
        assert!(
            self.announced.contains_key(id),
            "{id} ended before it was announced"
        );
        assert!(self.ended.insert(id.clone()), "{id} ended twice");
    }

    fn count(&mut self, effect: &Effect) {
        match effect {
            Effect::Deliver {
                decision_id,
                channel,
                hook,
                option_index,
                applied,
                ..
            } => {
                assert!(
                    self.delivered.insert(decision_id.clone()),
                    "{decision_id} is delivered twice"
                );
                assert!(
                    !self.ended.contains(decision_id),
                    "{decision_id} is delivered after its end"
                );
                assert_eq!(hook.is_some(), *channel == AnswerChannel::HookVerdict);
                assert!(*channel != AnswerChannel::TypeText || option_index.is_some());
                assert!(
                    applied.option_id.is_some()
                        || applied.text.is_some()
                        || applied.values.is_some()
                );
                if let Some(hook) = hook {
                    assert_eq!(
                        self.hooks.get(hook),
                        Some(&Hook::Waits),
                        "the hook waits for it"
                    );
                }
                self.in_flight.insert(decision_id.clone(), *hook);
            }
            Effect::Release { hook, .. } => self.hook_over(*hook),
            Effect::Answered { ticket, result } => {
                *self.tickets.entry(*ticket).or_default() += 1;
                assert_eq!(self.tickets[ticket], 1, "an answer is settled once");
                assert!(matches!(
                    result,
                    Ok(_) | Err(SessionError::DeliveryFailed(_))
                ));
            }
        }
    }

    fn hook_over(&mut self, hook: HookId) {
        let was = self.hooks.insert(hook, Hook::Over);
        assert_eq!(
            was,
            Some(Hook::Waits),
            "{hook:?} is let go once, and only if it waits"
        );
    }

    pub fn play(&mut self, step: Step) {
        match step {
            Step::Ask {
                pane,
                shape,
                session,
                call,
                turn,
                hook,
                id,
            } => {
                self.ask(pane, shape, session, call, turn, hook, id);
            }
            Step::AskOutside => self.ask_outside(),
            Step::Say {
                pane,
                session,
                turn,
                said,
                call,
            } => self.say(pane, session, turn, said, call),
            Step::Answer { which, with } => self.answer(which, with),
            Step::Delivered { which } => {
                if let Some((id, hook)) = self.pick_in_flight(which) {
                    if let Some(hook) = hook.filter(|hook| self.hooks[hook] == Hook::Waits) {
                        self.hooks.insert(hook, Hook::Over);
                    }
                    self.in_flight.remove(&id);
                    self.run(Command::Delivered { decision_id: id });
                }
            }
            Step::NotDelivered {
                which,
                still_waiting,
            } => {
                if let Some((id, _)) = self.pick_in_flight(which) {
                    self.in_flight.remove(&id);
                    self.run(Command::NotDelivered {
                        decision_id: id,
                        still_waiting,
                    });
                }
            }
            Step::HookGone { which } => {
                let waiting: Vec<_> = self
                    .hooks
                    .iter()
                    .filter(|(_, hook)| **hook == Hook::Waits)
                    .map(|(id, _)| *id)
                    .collect();
                if let Some(hook) = waiting.get(which % waiting.len().max(1)) {
                    self.hooks.insert(*hook, Hook::Over);
                    self.run(Command::HookGone { hook: *hook });
                }
            }
            Step::Type { pane, key, inside } => {
                let keys = [
                    Key::Char('1'),
                    Key::Enter,
                    Key::Escape,
                    Key::Down,
                    Key::Tab,
                    Key::Paste(true),
                ];
                let by = if inside {
                    Typist::Inside
                } else {
                    Typist::Human
                };
                self.run(Command::Typed {
                    pane_id: id_of(pane),
                    keys: vec![keys[key].clone()],
                    by,
                });
            }
            Step::Operators(connected) => drop(self.run(Command::Operators { connected })),
            Step::Setting(which) => {
                let settings = [
                    HoldingSetting::Adapter,
                    HoldingSetting::Always,
                    HoldingSetting::Never,
                ];
                self.run(Command::SetHolding(settings[which]));
            }
            Step::Exit(pane) => {
                self.run(Command::PaneExited {
                    pane_id: id_of(pane),
                    exit: Exit {
                        code: Some(0),
                        signal: None,
                    },
                });
            }
            Step::Close(pane) => drop(self.run(Command::ClosePane {
                pane_id: id_of(pane),
            })),
            Step::Open(pane) => drop(self.run(Command::OpenPane(new_pane(PANES[pane])))),
            Step::Seen(pane) => drop(self.run(Command::MarkSeen {
                pane_id: id_of(pane),
            })),
            Step::Lifecycle { pane, lifecycle } => {
                use Lifecycle::{Blocked, Done, Failed, Idle, Working};
                let lifecycle = [Blocked, Done, Failed, Idle, Working][lifecycle];
                let reading = Reading {
                    lifecycle: Some(lifecycle),
                    message: Some("hello".into()),
                    ..reading()
                };
                self.run(Command::Report(Box::new(from_pane(
                    PANES[pane],
                    reading,
                    None,
                ))));
            }
            Step::Stream { pane, signal } => {
                let signals = [
                    StreamSignal::Bell,
                    StreamSignal::Title("working".into()),
                    StreamSignal::PromptMark {
                        mark: 'C',
                        status: None,
                    },
                    StreamSignal::PromptMark {
                        mark: 'D',
                        status: Some(1),
                    },
                    StreamSignal::Progress(Some((2, 3))),
                ];
                self.run(Command::Stream {
                    pane_id: id_of(pane),
                    signal: signals[signal].clone(),
                });
            }
            Step::Pass(wait) => self.pass(Duration::from_millis(wait)),
        }
    }

    fn pass(&mut self, wait: Duration) {
        for outcome in self.world.pass(wait) {
            self.check_late(&outcome);
        }
        self.run(Command::Tick);
    }

    /// Outcomes of ticks that the harness ran: followed one by one, and compared at the end by the next command.
    fn check_late(&mut self, outcome: &Outcome) {
        for event in &outcome.events {
            self.follow(event);
        }
        for effect in &outcome.effects {
            self.count(effect);
        }
    }

    #[allow(
        clippy::too_many_arguments,
        reason = "they are the members of one step"
    )]
    fn ask(
        &mut self,
        pane: usize,
        shape: usize,
        session: usize,
        call_of: usize,
        turn: usize,
        hook: bool,
        id: Option<usize>,
    ) {
        let call_name = CALLS[call_of];
        let beside = TerminalKeys {
            answers: vec![Key::Char('1'), Key::Escape],
            opens_text: vec![Key::Tab],
        };
        let expires_at = self.world.now.wall_ms + 700;
        let ask = match shape {
            0 => card(call_name),
            1 => hiding_card(call_name),
            2 => Ask {
                keys: Some(beside),
                ..card(call_name)
            },
            3 => plain(call_name),
            4 => Ask {
                channel: AnswerChannel::Reply,
                hook_loss: HookLoss::AwaitReport,
                ..card(call_name)
            },
            5 => Ask {
                expires_at: Some(expires_at),
                ..hiding_card(call_name)
            },
            _ => question(call_name),
        };
        let ask = Ask {
            id: id.map(|n| super::harness::id(&format!("brought-{n}"))),
            ..ask
        };
        let reading = Reading {
            turn_id: turn_of(turn),
            session_id: Some(session_of(session)),
            ask: Some(ask),
            ..Reading::default()
        };
        self.report(from_pane(PANES[pane], reading, None), hook);
    }

    fn ask_outside(&mut self) {
        self.own_panes += 1;
        let ask = Ask {
            origin: Origin::Ask,
            ..card("Deploy?")
        };
        let report = Report {
            agent: "ask".into(),
            by: ReportedBy::Elsewhere,
            own_pane: Some(pane(&format!("own-{}", self.own_panes))),
            ..from_pane(
                "p1",
                Reading {
                    ask: Some(ask),
                    ..Reading::default()
                },
                None,
            )
        };
        self.report(report, true);
    }

    fn report(&mut self, mut report: Report, hook: bool) {
        self.next_hook += 1;
        let hook = hook.then_some(HookId(self.next_hook));
        report.hook = hook;
        let held_before = hook;
        // Known as waiting before the command runs: it may be let go within it.
        if let Some(hook) = held_before {
            self.hooks.insert(hook, Hook::Waits);
        }
        let outcome = self.run(Command::Report(Box::new(report)));
        let held = outcome
            .and_then(|outcome| outcome.reported)
            .is_some_and(|reported| reported.held);
        if let Some(hook) = hook.filter(|_| !held) {
            assert_eq!(
                self.hooks.remove(&hook),
                Some(Hook::Waits),
                "what is not held is not let go"
            );
        }
    }

    fn say(&mut self, pane: usize, session: usize, turn: usize, said: usize, call_of: usize) {
        let call_of = call(None, CALLS[call_of]);
        let signals = [
            Signal::SessionStarted,
            Signal::PromptSubmitted,
            Signal::ToolStarted(call_of.clone()),
            Signal::ToolFinished(call_of.clone()),
            Signal::TurnEnded { background: false },
            Signal::TurnEnded { background: true },
            Signal::TurnFailed,
            Signal::Interrupted,
            Signal::Idle,
            Signal::Resolved(call_of.clone()),
            Signal::SessionEnded,
        ];
        let signal = signals[said].clone();
        let about_call = matches!(
            signal,
            Signal::ToolFinished(_) | Signal::Resolved(_) | Signal::ToolStarted(_)
        );
        let reading = Reading {
            turn_id: turn_of(turn),
            session_id: Some(session_of(session)),
            signal: Some(signal),
            ..Reading::default()
        };
        let Some(outcome) = self.run(Command::Report(Box::new(from_pane(
            PANES[pane],
            reading,
            None,
        )))) else {
            return;
        };
        if about_call {
            for ended in cleared(&outcome) {
                let (prompt, asked_by) = &self.announced[&ended.decision_id];
                assert_eq!(
                    prompt, &call_of.input,
                    "a report about another call never ends a decision"
                );
                assert_eq!(asked_by.as_deref(), Some(session_of(session).as_str()));
            }
        }
    }

    fn answer(&mut self, which: usize, with: usize) {
        let pending: Vec<_> = self
            .copy
            .values()
            .filter_map(|pane| pane.decision.clone())
            .collect();
        // Mostly a pending one, sometimes any that there ever was.
        let (pane_id, decision_id) = match pending.get(which % (pending.len() + 1)) {
            Some(decision) => (decision.pane_id.clone(), decision.id.clone()),
            None => match self.made.get(which % self.made.len().max(1)) {
                Some(id) => (pane(PANES[which % PANES.len()]), id.clone()),
                None => return,
            },
        };
        let answer = match with {
            0 => by_option("allow"),
            1 => by_option("deny"),
            2 => by_option("yes"),
            3 => Answer {
                text: Some("because".into()),
                ..by_option("deny")
            },
            _ => by_text(TEXTS[with - 4]),
        };
        self.next_ticket += 1;
        let ticket = self.next_ticket;
        let options = pending
            .iter()
            .find(|decision| decision.id == decision_id)
            .map(|decision| decision.options.clone());
        let outcome = self.run(Command::Answer(signaltty_core::session::AnswerCommand {
            ticket,
            pane_id,
            decision_id,
            answer: answer.clone(),
            via: "cli".into(),
            by: "someone".into(),
            caller: signaltty_core::session::Caller::Outside,
        }));
        let Some(outcome) = outcome else {
            assert!(!self.tickets.contains_key(&ticket));
            return;
        };
        for (_, applied, _) in deliveries(&outcome) {
            let options = options.as_ref().expect("only a pending one is answered");
            let chosen = applied
                .option_id
                .as_ref()
                .and_then(|id| options.iter().find(|option| option.id == *id));
            if let (Some(chosen), Some(text), None) = (chosen, &answer.text, &answer.option_id) {
                let named = [&chosen.id, &chosen.label]
                    .iter()
                    .any(|name| name.to_lowercase() == text.trim().to_lowercase());
                assert!(
                    named || chosen.polarity == Polarity::Refuses,
                    "{text:?} chose {chosen:?}"
                );
            }
        }
    }

    fn pick_in_flight(&self, which: usize) -> Option<(DecisionId, Option<HookId>)> {
        let (id, hook) = self
            .in_flight
            .iter()
            .nth(which % self.in_flight.len().max(1))?;
        Some((id.clone(), *hook))
    }

    /// Lets everything come to its end, and checks that it does.
    pub fn finish(&mut self) {
        self.pass(Duration::from_secs(60));
        self.pass(HOLD_MAX * 2);
        assert_eq!(
            self.world.session.next_deadline(),
            None,
            "nothing waits for ever"
        );
        for pane in self.world.session.panes() {
            self.run(Command::ClosePane { pane_id: pane.id });
        }
        // A script's question stands until it is answered or its pane goes.
        let waiting: Vec<_> = self
            .hooks
            .iter()
            .filter(|(_, hook)| **hook == Hook::Waits)
            .collect();
        assert!(
            waiting.is_empty(),
            "every held hook is let go or answered: {waiting:?}"
        );
        let open: Vec<_> = self
            .announced
            .keys()
            .filter(|id| !self.ended.contains(*id))
            .collect();
        assert!(open.is_empty(), "every decision ends: {open:?}");
    }
}

fn id_of(index: usize) -> PaneId {
    pane(PANES[index])
}

fn session_of(index: usize) -> String {
    [SESSION, "s2"][index].to_owned()
}

fn turn_of(index: usize) -> Option<String> {
    [None, Some("t1"), Some("t2")][index].map(str::to_owned)
}
