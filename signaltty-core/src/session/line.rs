//! One pending decision a pane, the line behind it, and how a decision ends (`specs/010 §1.1`, `§1.3`, `§1.7`).
//!
//! A pane's decisions are one line and the pending one is its front, so there is never more than one.

use super::effect::Effect;
use super::error::Fate;
use super::state::Entry;
use super::{Session, Step};
use crate::adapter::AnswerChannel;
use crate::answer::Applied;
use crate::limits::QUEUE_MAX;
use crate::model::{Decision, DecisionId};
use crate::protocol::{ClearReason, DecisionCleared, DecisionCreated, Event};

/// How a decision ended.
#[derive(Debug, Clone, Default)]
pub(super) struct Ending {
    pub applied: Option<Applied>,
    pub by: Option<String>,
    pub via: Option<String>,
    pub latency_ms: Option<u64>,
}

impl Session {
    /// Whether a new decision would replace the pending one: that is unheld, of the same source, and not
    /// being answered.
    pub(super) fn supersedes(&self, at: usize, entry: &Entry) -> bool {
        self.panes[at].pending().is_some_and(|front| {
            !front.held() && front.delivery.is_none() && front.same_source(entry)
        })
    }

    /// Whether a new decision finds no room on this pane.
    pub(super) fn full(&self, at: usize, entry: &Entry) -> bool {
        self.panes[at].decisions.len() >= QUEUE_MAX && !self.supersedes(at, entry)
    }

    /// Puts a decision on its pane: pending, in the place of another, or in line. The caller made sure that
    /// it is not [`Self::full`].
    pub(super) fn place(&mut self, step: &mut Step<'_>, at: usize, mut entry: Entry) {
        let superseding = self.supersedes(at, &entry);
        self.fates.take(entry.id());
        entry.announced = step.now.boot_ms;
        let pane = &mut self.panes[at];
        step.touch(&pane.face.id);
        if pane.decisions.is_empty() {
            step.tell(created(entry.decision.clone(), None, None));
            pane.decisions.push_front(entry);
        } else if superseding {
            let prev = pane.decisions.pop_front().map(|prev| prev.decision.id);
            step.tell(created(entry.decision.clone(), prev.clone(), None));
            let by = entry.id().clone();
            pane.decisions.push_front(entry);
            if let Some(prev) = prev {
                self.fates.end(prev, Fate::Superseded { by });
            }
        } else {
            pane.decisions.push_back(entry);
            self.lower_typed(step, at);
        }
    }

    /// Another question came up: what is on the pane's screen is not certain any more (`specs/010 §3`).
    fn lower_typed(&mut self, step: &mut Step<'_>, at: usize) {
        let typed = self.panes[at]
            .pending()
            .is_some_and(|front| front.channel == AnswerChannel::TypeText);
        if typed {
            self.lower(step, at, 0);
        }
    }

    /// A decision of that pane can no longer be answered through us. Told if it is pending.
    pub(super) fn lower(&mut self, step: &mut Step<'_>, at: usize, slot: usize) {
        self.set_answerable(step, at, slot, false);
    }

    /// Sets whether a decision can be answered. Told if it is pending and different.
    pub(super) fn set_answerable(
        &mut self,
        step: &mut Step<'_>,
        at: usize,
        slot: usize,
        answerable: bool,
    ) {
        let Some(entry) = self.entry_mut(at, slot) else {
            return;
        };
        if entry.set_answerable(answerable) && slot == 0 {
            let decision = entry.decision.clone();
            step.tell(Event::DecisionUpdated { decision });
        }
    }

    /// Ends every decision of a pane that `ends` picks, those in line first so that none of them is announced
    /// only to end. One that is being answered waits for its delivery and is over whatever becomes of it.
    pub(super) fn end_where(
        &mut self,
        step: &mut Step<'_>,
        at: usize,
        reason: ClearReason,
        ends: impl Fn(&Entry) -> bool,
    ) {
        for slot in (0..self.panes[at].decisions.len()).rev() {
            let Some(entry) = self.entry_mut(at, slot) else {
                continue;
            };
            if !ends(entry) {
                continue;
            }
            match &mut entry.delivery {
                Some(delivery) => delivery.overtaken = true,
                None => self.end(step, at, slot, reason, Ending::default()),
            }
        }
    }

    /// Ends one decision. If it was pending this is told, and the next in line becomes pending; one in line
    /// leaves silently. Its hook is let go.
    pub(super) fn end(
        &mut self,
        step: &mut Step<'_>,
        at: usize,
        slot: usize,
        reason: ClearReason,
        how: Ending,
    ) {
        self.release(step, at, slot);
        let Some(entry) = self.panes[at].decisions.remove(slot) else {
            return;
        };
        step.touch(&self.panes[at].face.id);
        let Decision {
            id,
            pane_id,
            options,
            ..
        } = entry.decision;
        self.fates.end(
            id.clone(),
            Fate::Ended {
                reason,
                applied: how.applied.clone(),
                by: how.by.clone(),
                via: how.via.clone(),
            },
        );
        if slot > 0 {
            return;
        }
        let chosen = how
            .applied
            .as_ref()
            .and_then(|applied| applied.option_id.as_deref());
        let applied_label = chosen
            .and_then(|id| options.iter().find(|option| option.id == id))
            .map(|option| option.label.clone());
        step.tell(Event::DecisionCleared(DecisionCleared {
            pane_id,
            decision_id: id,
            reason,
            applied: how.applied,
            applied_label,
            by: how.by,
            via: how.via,
            latency_ms: how.latency_ms,
        }));
        self.announce_next(step, at);
    }

    /// Ends the pending decision by putting its successor in its place, in one event.
    pub(super) fn succeed(
        &mut self,
        step: &mut Step<'_>,
        at: usize,
        mut next: Entry,
        reason: ClearReason,
    ) {
        self.release(step, at, 0);
        let Some(prev) = self.panes[at].decisions.pop_front() else {
            return;
        };
        next.announced = step.now.boot_ms;
        self.fates.take(next.id());
        self.fates.end(
            prev.decision.id.clone(),
            Fate::Ended {
                reason,
                applied: None,
                by: None,
                via: None,
            },
        );
        step.touch(&self.panes[at].face.id);
        step.tell(created(
            next.decision.clone(),
            Some(prev.decision.id),
            Some(reason),
        ));
        self.panes[at].decisions.push_front(next);
    }

    fn announce_next(&mut self, step: &mut Step<'_>, at: usize) {
        if let Some(front) = self.panes[at].decisions.front_mut() {
            front.announced = step.now.boot_ms;
            step.tell(created(front.decision.clone(), None, None));
        }
    }

    /// An id that was never used.
    pub(super) fn fresh_id(&self, step: &mut Step<'_>) -> DecisionId {
        // Minted ids are unique; only one that an event once brought could be the same by chance.
        const ATTEMPTS: usize = 8;
        let mut id = (step.mint)();
        for _ in 1..ATTEMPTS {
            if !self.fates.taken(&id) {
                break;
            }
            id = (step.mint)();
        }
        id
    }

    /// Lets the hook of a decision go without an opinion, if one waits.
    pub(super) fn release(&mut self, step: &mut Step<'_>, at: usize, slot: usize) {
        let Some(entry) = self.entry_mut(at, slot) else {
            return;
        };
        entry.hold_until = None;
        if let Some(hook) = entry.hook.take() {
            let decision_id = entry.id().clone();
            step.carry_out(Effect::Release { hook, decision_id });
        }
    }
}

fn created(
    decision: Decision,
    prev: Option<DecisionId>,
    prev_reason: Option<ClearReason>,
) -> Event {
    Event::DecisionCreated(DecisionCreated {
        decision,
        prev,
        prev_reason,
    })
}
