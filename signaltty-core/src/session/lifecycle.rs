//! Where an agent stands, and what its reports say of decisions that are over (`specs/001 §3`, `specs/010 §1.7`).

use super::calls::{Call, Finished, Scope};
use super::command::Report;
use super::ingest::bounded_call;
use super::state::{Entry, same_session};
use super::turns::{TurnEnd, Turns};
use super::{Session, Step};
use crate::adapter::{CallRef, Signal};
use crate::model::{Attention, Lifecycle, Origin};
use crate::protocol::ClearReason;

/// Who says something.
struct Speaker<'a> {
    agent: &'a str,
    scope: &'a Scope,
    /// Whether it is the agent that the pane shows, not one that this agent runs.
    own: bool,
}

impl Speaker<'_> {
    /// Whether a decision is this agent's, of this session.
    fn asked(&self, entry: &Entry) -> bool {
        let session = entry.decision.source.session_id.as_deref();
        entry.decision.agent == self.agent
            && same_session(session, self.scope.session_id.as_deref())
    }

    /// The same, and of this turn where both name one.
    fn asked_in_turn(&self, entry: &Entry) -> bool {
        let turns = match (&entry.turn_id, &self.scope.turn_id) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        };
        self.asked(entry) && turns
    }

    fn turn(&self) -> Option<&str> {
        self.scope.turn_id.as_deref()
    }

    fn main(&self) -> bool {
        self.scope.subagent.is_none()
    }
}

impl Session {
    /// Takes in what a report says of the agent's work. `origin` is that of the question in it, if any.
    pub(super) fn hear(
        &mut self,
        step: &mut Step<'_>,
        at: usize,
        report: &Report,
        scope: &Scope,
        origin: Option<Origin>,
    ) {
        // A script's question and another emitter's card say nothing of the agent in this pane.
        if matches!(origin, Some(Origin::Ask | Origin::Aep)) || self.panes[at].exited() {
            return;
        }
        let before = self.panes[at].face.session_id.clone();
        let speaker = Speaker {
            agent: &report.agent,
            scope,
            own: self.adopt(at, report),
        };
        if let (Some(Signal::SessionStarted), Some(before)) = (&report.reading.signal, before) {
            self.session_replaced(step, at, &speaker, &before);
        }
        if let Some(signal) = &report.reading.signal {
            self.signal(step, at, &speaker, signal);
        }
        match (report.reading.lifecycle, origin) {
            (Some(lifecycle), None) => self.explicit(step, at, &speaker, lifecycle),
            (_, Some(_)) => {
                // Whoever asks is in a turn, and goes on with it once it has its answer.
                if let Some(turn) = speaker.turn().filter(|_| speaker.own && speaker.main()) {
                    self.panes[at].turns.reopen(turn);
                }
                self.work(at, &speaker, Lifecycle::Working);
            }
            (None, None) => {}
        }
    }

    /// Notes which agent and session a pane has. False for an agent that the pane's own agent runs as a tool:
    /// it may ask, but it does not speak for the pane.
    fn adopt(&mut self, at: usize, report: &Report) -> bool {
        let pane = &mut self.panes[at];
        let session = report.reading.session_id.as_deref();
        let other_agent = pane
            .face
            .agent
            .as_deref()
            .is_some_and(|agent| agent != report.agent);
        let other_session = !same_session(pane.face.session_id.as_deref(), session);
        let busy = pane.work == Lifecycle::Working || !pane.decisions.is_empty();
        let in_a_call = pane.calls.runs_in(pane.face.session_id.as_deref());
        if pane.agent_active && busy && (other_agent || (other_session && in_a_call)) {
            return false;
        }
        if other_agent {
            pane.face.session_id = None;
        }
        pane.face.agent = Some(report.agent.clone());
        if let Some(session) = session {
            pane.face.session_id = Some(session.to_owned());
        }
        pane.agent_active = true;
        true
    }

    /// Another session began in the pane of one that never said that it ended. What that one asked and no hook
    /// waits for stands nowhere any more.
    fn session_replaced(
        &mut self,
        step: &mut Step<'_>,
        at: usize,
        speaker: &Speaker<'_>,
        before: &str,
    ) {
        let session = speaker.scope.session_id.as_deref();
        if !speaker.own || session.is_none() || session == Some(before) {
            return;
        }
        self.end_where(step, at, ClearReason::MovedOn, |entry| {
            entry.decision.source.session_id.as_deref() == Some(before) && !entry.held()
        });
        let pane = &mut self.panes[at];
        pane.calls.forget(Some(before), true);
        pane.turns = Turns::default();
        pane.work = Lifecycle::Unknown;
    }

    fn signal(&mut self, step: &mut Step<'_>, at: usize, speaker: &Speaker<'_>, signal: &Signal) {
        let ended = self.panes[at].turns.ended(speaker.turn());
        match signal {
            Signal::SessionStarted => {
                if self.panes[at].work == Lifecycle::Unknown {
                    self.work(at, speaker, Lifecycle::Idle);
                }
            }
            Signal::PromptSubmitted if speaker.main() => self.prompt_submitted(step, at, speaker),
            Signal::ToolStarted(call) => {
                if ended == Some(TurnEnd::Final) {
                    return;
                }
                if let (Some(_), Some(turn)) = (ended, speaker.turn()) {
                    self.panes[at].turns.reopen(turn);
                }
                self.panes[at].calls.start(seen(speaker, call));
                self.work(at, speaker, Lifecycle::Working);
            }
            Signal::ToolFinished(call) => {
                self.call_finished(step, at, speaker, call);
                if ended.is_none() && !(speaker.turn().is_none() && self.turn_is_over(at)) {
                    self.work(at, speaker, Lifecycle::Working);
                }
            }
            Signal::Resolved(call) => {
                let call = seen(speaker, call);
                if !self.panes[at].calls.was_answered(&call) {
                    self.end_call(step, at, speaker, &call);
                }
                if ended.is_none() {
                    self.work(at, speaker, Lifecycle::Working);
                }
            }
            Signal::Working | Signal::PromptSubmitted if ended.is_none() => {
                self.work(at, speaker, Lifecycle::Working);
            }
            Signal::TurnEnded { background } if ended.is_none() => {
                self.turn_ended(step, at, speaker, Lifecycle::Done, *background);
            }
            Signal::TurnFailed if ended.is_none() => {
                self.turn_ended(step, at, speaker, Lifecycle::Failed, false);
            }
            Signal::Interrupted if ended.is_none() => {
                self.turn_ended(step, at, speaker, Lifecycle::Interrupted, false);
            }
            Signal::SessionEnded => self.session_ended(step, at, speaker),
            Signal::Idle if ended.is_none() || !self.turn_runs(at) => self.idle(step, at, speaker),
            // Late events of a turn that is over.
            Signal::Working
            | Signal::PromptSubmitted
            | Signal::TurnEnded { .. }
            | Signal::TurnFailed
            | Signal::Interrupted
            | Signal::Idle => {}
        }
    }

    /// An explicit lifecycle of a report that asks nothing.
    fn explicit(
        &mut self,
        step: &mut Step<'_>,
        at: usize,
        speaker: &Speaker<'_>,
        lifecycle: Lifecycle,
    ) {
        match lifecycle {
            Lifecycle::Unknown => {}
            Lifecycle::Blocked => self.work(at, speaker, Lifecycle::Blocked),
            Lifecycle::Working => {
                // It left `blocked`: whatever it spelt out and nobody holds was settled where it asks.
                self.end_where(step, at, ClearReason::MovedOn, |entry| {
                    speaker.asked(entry)
                        && !entry.held()
                        && entry.decision.source.origin == Origin::Plain
                });
                self.work(at, speaker, Lifecycle::Working);
            }
            Lifecycle::Done | Lifecycle::Failed | Lifecycle::Interrupted => {
                self.turn_ended(step, at, speaker, lifecycle, false);
            }
            Lifecycle::Idle => {
                self.turn_ended(step, at, speaker, Lifecycle::Idle, false);
            }
            Lifecycle::Exited => self.session_ended(step, at, speaker),
        }
    }

    /// A new prompt: whatever the last turn asked is over. Subagents that go on in the background still ask.
    fn prompt_submitted(&mut self, step: &mut Step<'_>, at: usize, speaker: &Speaker<'_>) {
        self.end_where(step, at, ClearReason::MovedOn, |entry| {
            let before = entry.turn_id.is_none() || entry.turn_id.as_deref() != speaker.turn();
            speaker.asked(entry) && entry.decision.source.subagent.is_none() && before
        });
        let pane = &mut self.panes[at];
        pane.calls
            .forget(speaker.scope.session_id.as_deref(), false);
        if speaker.own {
            pane.turns.begin(speaker.turn());
            pane.draft.submitted();
        }
        self.work(at, speaker, Lifecycle::Working);
    }

    fn turn_ended(
        &mut self,
        step: &mut Step<'_>,
        at: usize,
        speaker: &Speaker<'_>,
        lifecycle: Lifecycle,
        background: bool,
    ) {
        let subagent = speaker.scope.subagent.as_deref();
        self.end_where(step, at, ClearReason::MovedOn, |entry| {
            let asks = entry.decision.source.subagent.as_deref();
            let over = if subagent.is_some() {
                asks == subagent
            } else {
                asks.is_none() || !background
            };
            speaker.asked_in_turn(entry) && over
        });
        if !speaker.main() {
            return;
        }
        let late = speaker.turn().is_none()
            && !self.panes[at].derived
            && matches!(
                self.panes[at].work,
                Lifecycle::Interrupted | Lifecycle::Failed
            );
        let pane = &mut self.panes[at];
        pane.calls
            .forget(speaker.scope.session_id.as_deref(), !background);
        if !speaker.own || late || pane.turns.is_other(speaker.turn()) {
            return;
        }
        if background {
            // It comes back by itself; until then it is not done.
            self.work(at, speaker, Lifecycle::Working);
            return;
        }
        let how = match lifecycle {
            Lifecycle::Interrupted | Lifecycle::Failed => TurnEnd::Final,
            _ => TurnEnd::Complete,
        };
        pane.turns.end(speaker.turn(), how);
        self.work(at, speaker, lifecycle);
    }

    fn session_ended(&mut self, step: &mut Step<'_>, at: usize, speaker: &Speaker<'_>) {
        self.end_where(step, at, ClearReason::MovedOn, |entry| speaker.asked(entry));
        let pane = &mut self.panes[at];
        pane.calls.forget(speaker.scope.session_id.as_deref(), true);
        if !speaker.own {
            return;
        }
        pane.turns.end(None, TurnEnd::Final);
        if matches!(
            pane.work,
            Lifecycle::Working | Lifecycle::Blocked | Lifecycle::Unknown
        ) {
            self.work(at, speaker, Lifecycle::Idle);
        }
        self.panes[at].agent_active = false;
    }

    /// It waits for a prompt, so nothing that it asked without a hook still stands. A held one has a hook that
    /// tells by itself, and this report may have been overtaken.
    fn idle(&mut self, step: &mut Step<'_>, at: usize, speaker: &Speaker<'_>) {
        self.end_where(step, at, ClearReason::MovedOn, |entry| {
            speaker.asked_in_turn(entry)
                && entry.decision.source.subagent.is_none()
                && !entry.held()
        });
        match self.panes[at].work {
            Lifecycle::Working | Lifecycle::Blocked => {
                self.panes[at].turns.end(speaker.turn(), TurnEnd::Complete);
                self.work(at, speaker, Lifecycle::Done);
            }
            Lifecycle::Unknown => self.work(at, speaker, Lifecycle::Idle),
            _ => {}
        }
    }

    /// A call ended: the question about this very call is over, no other.
    fn call_finished(
        &mut self,
        step: &mut Step<'_>,
        at: usize,
        speaker: &Speaker<'_>,
        call: &CallRef,
    ) {
        let call = seen(speaker, call);
        let about = |entry: &Entry| {
            entry.decision.agent == speaker.agent
                && entry.call.as_ref().is_some_and(|asked| asked.is(&call))
        };
        let slot = self.panes[at].decisions.iter().position(about);
        let asked = slot.and_then(|slot| self.entry(at, slot)?.call.clone());
        match (self.panes[at].calls.finish(&call, asked.as_ref()), slot) {
            (Finished::Open, Some(_)) => self.end_call(step, at, speaker, &call),
            (Finished::Swapped { call_id }, Some(slot)) => {
                if let Some(asked) = self
                    .entry_mut(at, slot)
                    .and_then(|entry| entry.call.as_mut())
                {
                    asked.set_id(call_id);
                }
            }
            (Finished::Open | Finished::Answered | Finished::Swapped { .. }, _) => {}
        }
    }

    /// Ends the one decision that is about this call.
    fn end_call(&mut self, step: &mut Step<'_>, at: usize, speaker: &Speaker<'_>, call: &Call) {
        let about = |entry: &Entry| {
            entry.decision.agent == speaker.agent
                && entry.call.as_ref().is_some_and(|asked| asked.is(call))
        };
        let found = self.panes[at]
            .decisions
            .iter()
            .find(|entry| about(entry))
            .map(|entry| entry.id().clone());
        if let Some(id) = found {
            self.end_where(step, at, ClearReason::AttentionCleared, |entry| {
                *entry.id() == id
            });
        }
    }

    /// Sets where the agent stands, with the attention that goes with it.
    fn work(&mut self, at: usize, speaker: &Speaker<'_>, lifecycle: Lifecycle) {
        if !speaker.own {
            return;
        }
        let pane = &mut self.panes[at];
        pane.derived = false;
        pane.work = lifecycle;
        if lifecycle == Lifecycle::Working && speaker.main() {
            pane.turns.see(speaker.turn());
        }
        match lifecycle {
            Lifecycle::Working => {
                pane.sticky.remove(&Attention::Error);
                pane.sticky.remove(&Attention::Warning);
            }
            Lifecycle::Done => {
                pane.sticky.insert(Attention::Unread);
            }
            Lifecycle::Failed => {
                pane.sticky.insert(Attention::Unread);
                pane.sticky.insert(Attention::Error);
            }
            _ => {}
        }
    }

    fn turn_is_over(&self, at: usize) -> bool {
        let pane = &self.panes[at];
        !pane.derived
            && matches!(
                pane.work,
                Lifecycle::Done | Lifecycle::Idle | Lifecycle::Interrupted | Lifecycle::Failed
            )
    }

    fn turn_runs(&self, at: usize) -> bool {
        matches!(self.panes[at].work, Lifecycle::Working | Lifecycle::Blocked)
    }
}

fn seen(speaker: &Speaker<'_>, call: &CallRef) -> Call {
    Call::new(speaker.scope.clone(), bounded_call(call.clone()))
}
