//! When a hook is held, let go, lost, and comes back (`specs/010 §3` "Holding", `§1.8`).

use super::command::HoldingSetting;
use super::line::Ending;
use super::state::Entry;
use super::{Session, Step};
use crate::adapter::{AnswerChannel, Holding, HookLoss};
use crate::limits::{HOLD_MAX, HOOK_LOSS_GRACE, RECONNECT};
use crate::model::{HookId, Kind, Lifecycle, Moment, Origin, RespondVia, TextUse};
use crate::protocol::ClearReason;

/// Whether a human is behind any connection.
#[derive(Debug, Clone, Default)]
pub(super) struct Operators {
    connected: bool,
    /// Until when one that left, or that an earlier host had, may come back (`boot_ms`).
    back_until: Option<u64>,
    started: bool,
}

impl Operators {
    /// A host that just started may be the successor of one that had operators.
    pub(super) fn notice(&mut self, now: Moment) {
        if !self.started {
            self.started = true;
            self.back_until = Some(after(now, RECONNECT));
        }
    }

    /// Whether the wait for one to come back is over.
    fn gone(&self, now: Moment) -> bool {
        !self.connected && self.back_until.is_none_or(|until| until <= now.boot_ms)
    }
}

/// `wait` from now, on the `boot_ms` clock.
pub(super) fn after(now: Moment, wait: std::time::Duration) -> u64 {
    now.boot_ms
        .saturating_add(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX))
}

impl Session {
    /// When that decision's hook is held: a script's question waits for nothing but its answer, all others
    /// as the user's setting and the adapter say.
    fn policy(&self, entry: &Entry) -> Holding {
        match (entry.decision.source.origin, self.holding, entry.holding) {
            (Origin::Ask, _, _) => Holding::Always,
            (_, _, Holding::Never) | (_, HoldingSetting::Never, _) => Holding::Never,
            (_, HoldingSetting::Always, _) => Holding::Always,
            (_, HoldingSetting::Adapter, holding) => holding,
        }
    }

    /// Whether the hook of a decision that comes in now is to be held. One that an earlier host held may find
    /// its operator still on the way back.
    pub(super) fn holds(&self, entry: &Entry, now: Moment, resumed: bool) -> bool {
        entry.channel == AnswerChannel::HookVerdict
            && declares_control(entry)
            && answers_somehow(entry)
            && match self.policy(entry) {
                Holding::Always => true,
                Holding::WhileOperator => {
                    self.operators.connected || (resumed && !self.operators.gone(now))
                }
                Holding::Never => false,
            }
    }

    /// Holds `hook` for that decision from now on.
    pub(super) fn hold(entry: &mut Entry, hook: HookId, now: Moment) {
        entry.hook = Some(hook);
        entry.loss_until = None;
        // A script waits for as long as it likes: its own deadline ends its question, if it has one.
        entry.hold_until =
            (entry.decision.source.origin != Origin::Ask).then(|| after(now, HOLD_MAX));
    }

    /// Whether a decision that comes in now can be answered (`specs/010 §1.4`): a channel is named, its route is
    /// alive, `respond_via` is absent or lists `control`, and there is something to answer with.
    pub(super) fn answerable(&self, at: usize, entry: &Entry) -> bool {
        declares_control(entry)
            && answers_somehow(entry)
            && match entry.channel {
                AnswerChannel::None => false,
                AnswerChannel::HookVerdict => entry.held(),
                AnswerChannel::Reply => true,
                AnswerChannel::TypeText => self.can_type(at, entry),
            }
    }

    /// Whether every key's meaning on the screen is certain (`specs/010 §3`, `TypeText`).
    fn can_type(&self, at: usize, entry: &Entry) -> bool {
        let pane = &self.panes[at];
        let others = pane.decisions.len() - usize::from(self.supersedes(at, entry));
        pane.face.terminal
            && !pane.exited()
            && others == 0
            && !pane.draft.is_there()
            && !entry.decision.options.is_empty()
    }

    /// The first operator came, or the last one left.
    pub(super) fn operators(&mut self, step: &mut Step<'_>, connected: bool) {
        if connected {
            self.operators.back_until = None;
        } else if self.operators.connected {
            self.operators.back_until = Some(after(step.now, RECONNECT));
        }
        self.operators.connected = connected;
    }

    /// The user changed when hooks are held.
    pub(super) fn set_holding(&mut self, step: &mut Step<'_>, setting: HoldingSetting) {
        self.holding = setting;
        let now = step.now;
        self.let_go(step, |session, entry| match session.policy(entry) {
            Holding::Always => false,
            Holding::WhileOperator => session.operators.gone(now),
            Holding::Never => true,
        });
    }

    /// The operators that left are not back in time.
    pub(super) fn operators_gone(&mut self, step: &mut Step<'_>) {
        self.operators.back_until = None;
        self.let_go(step, |session, entry| {
            session.policy(entry) == Holding::WhileOperator
        });
    }

    /// When the wait for operators is over, if any hook hangs on it.
    pub(super) fn operators_deadline(&self) -> Option<u64> {
        let waits = |entry: &Entry| {
            entry.held() && entry.delivery.is_none() && self.policy(entry) == Holding::WhileOperator
        };
        let until = self
            .operators
            .back_until
            .filter(|_| !self.operators.connected)?;
        self.panes
            .iter()
            .flat_map(|pane| &pane.decisions)
            .any(waits)
            .then_some(until)
    }

    /// Releases the hooks that `goes` picks, and lowers their decisions. One that is being answered stays.
    fn let_go(&mut self, step: &mut Step<'_>, goes: impl Fn(&Self, &Entry) -> bool) {
        for at in 0..self.panes.len() {
            for slot in (0..self.panes[at].decisions.len()).rev() {
                let Some(entry) = self.entry(at, slot) else {
                    continue;
                };
                if entry.held() && entry.delivery.is_none() && goes(self, entry) {
                    self.give_back(step, at, slot);
                }
            }
        }
    }

    /// Our wait for that decision is over: the hook goes without an opinion, the decision becomes a hint. A
    /// script has no prompt of its own to fall back to, so its question is over.
    pub(super) fn give_back(&mut self, step: &mut Step<'_>, at: usize, slot: usize) {
        let Some(entry) = self.entry(at, slot) else {
            return;
        };
        if entry.decision.source.origin == Origin::Ask {
            self.end(step, at, slot, ClearReason::Expired, Ending::default());
        } else {
            self.release(step, at, slot);
            self.lower(step, at, slot);
        }
    }

    /// A held connection went away before our wait was over: ended from the vendor's side (`specs/010 §1.8`).
    pub(super) fn hook_gone(&mut self, step: &mut Step<'_>, hook: HookId) {
        let found = self.panes.iter().enumerate().find_map(|(at, pane)| {
            Some((
                at,
                pane.decisions
                    .iter()
                    .position(|entry| entry.hook == Some(hook))?,
            ))
        });
        let Some((at, slot)) = found else { return };
        let Some(entry) = self.entry_mut(at, slot) else {
            return;
        };
        entry.hook = None;
        entry.hold_until = None;
        let loss = entry.hook_loss;
        if entry.delivery.is_some() {
            let id = entry.id().clone();
            self.not_delivered(
                step,
                &id,
                loss == HookLoss::AwaitReport,
                "its hook went away",
            );
            return;
        }
        match loss {
            HookLoss::MovedOn => self.end_lost(step, at, slot),
            HookLoss::AwaitReport => {
                entry.loss_until = Some(after(step.now, HOOK_LOSS_GRACE));
                self.lower(step, at, slot);
            }
        }
    }

    /// A lost hook means that the human said no where the agent asks, or that the program ended. Where the
    /// vendor reports nothing of it, the turn counts as broken off until it says otherwise.
    pub(super) fn end_lost(&mut self, step: &mut Step<'_>, at: usize, slot: usize) {
        let Some(entry) = self.entry(at, slot) else {
            return;
        };
        let vendor = entry.decision.source.origin == Origin::Hook
            && entry.decision.source.subagent.is_none();
        self.end(step, at, slot, ClearReason::MovedOn, Ending::default());
        let pane = &mut self.panes[at];
        if vendor && pane.agent_active && pane.work == Lifecycle::Working {
            pane.work = Lifecycle::Interrupted;
            pane.derived = true;
        }
    }

    /// The same hook came back: the decision can be answered again (`specs/010 §1.4`).
    pub(super) fn resume(
        &mut self,
        step: &mut Step<'_>,
        at: usize,
        slot: usize,
        hook: HookId,
    ) -> bool {
        self.release(step, at, slot);
        let now = step.now;
        let Some(entry) = self.entry_mut(at, slot) else {
            return false;
        };
        Self::hold(entry, hook, now);
        self.set_answerable(step, at, slot, true);
        true
    }
}

/// `respond_via` is absent or lists `control`.
fn declares_control(entry: &Entry) -> bool {
    entry
        .declared_via
        .as_ref()
        .is_none_or(|ways| ways.contains(&RespondVia::Control))
}

/// Whether any answer could be valid.
fn answers_somehow(entry: &Entry) -> bool {
    let decision = &entry.decision;
    !decision.options.is_empty()
        || match decision.kind {
            Kind::Form => !decision.fields.is_empty(),
            Kind::Input => decision.text == TextUse::Answer,
            Kind::Permission | Kind::Review => false,
        }
}
