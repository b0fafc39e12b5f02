//! Answering: validate everything, consume, then deliver, at most once (`specs/010 §1.5`, `§1.6`).

use super::authority::Action;
use super::command::AnswerCommand;
use super::effect::Effect;
use super::error::{Fate, SessionError};
use super::holding::after;
use super::line::Ending;
use super::state::{Delivery, Entry, Stage};
use super::{Session, Step};
use crate::adapter::AnswerChannel;
use crate::answer::{Applied, InvalidAnswer, resolve};
use crate::limits::{ANNOUNCE, DELIVERY_MAX, TITLE_MAX};
use crate::model::{DecisionId, Polarity};
use crate::protocol::ClearReason;
use crate::sanitise::cut;

impl Session {
    /// Consumes the pending decision if the answer is one. Its result is told by [`Effect::Answered`].
    pub(super) fn answer(
        &mut self,
        step: &mut Step<'_>,
        command: AnswerCommand,
    ) -> Result<(), SessionError> {
        self.may(&command.caller, Action::Answer, Some(&command.pane_id))?;
        let at = self.answerable_at(step, &command)?;
        let Some(entry) = self.entry_mut(at, 0) else {
            return Err(SessionError::NoSuchPane(command.pane_id));
        };
        let applied = resolve(&entry.card(), &command.answer)?;
        if entry.channel == AnswerChannel::TypeText && option_index(entry, &applied).is_none() {
            return Err(InvalidAnswer::TextNotTaken {
                instead: "send an option",
            }
            .into());
        }

        // Consumed from here on: no other answer reaches it, whatever becomes of this one.
        let quiet_until = entry
            .announced
            .saturating_add(u64::try_from(ANNOUNCE.as_millis()).unwrap_or(0));
        let wait = entry.channel == AnswerChannel::TypeText && step.now.boot_ms < quiet_until;
        entry.delivery = Some(Delivery {
            ticket: command.ticket,
            applied,
            by: cut(&command.by, TITLE_MAX).into_owned(),
            via: cut(&command.via, TITLE_MAX).into_owned(),
            latency_ms: step.now.boot_ms.saturating_sub(entry.announced),
            stage: Stage::Announcing(quiet_until),
            overtaken: false,
        });
        if !wait {
            self.deliver(step, at);
        }
        Ok(())
    }

    /// The pane whose pending decision the command names, if that can be answered now.
    fn answerable_at(
        &self,
        step: &Step<'_>,
        command: &AnswerCommand,
    ) -> Result<usize, SessionError> {
        let decision_id = command.decision_id.clone();
        let no_such = |fate| SessionError::NoSuchDecision {
            decision_id: decision_id.clone(),
            fate: Box::new(fate),
        };
        let found = self
            .find(&decision_id)
            .filter(|(at, _)| self.panes[*at].face.id == command.pane_id);
        let Some((at, slot)) = found else {
            // What became of it says more than that its pane is gone too.
            return Err(match self.fates.of(&decision_id) {
                Some(fate) => no_such(fate.clone()),
                None if self.position(&command.pane_id).is_none() => {
                    SessionError::NoSuchPane(command.pane_id.clone())
                }
                None => no_such(Fate::Unknown),
            });
        };
        let entry = self.entry(at, slot).ok_or_else(|| no_such(Fate::Unknown))?;
        if slot > 0 {
            return Err(no_such(Fate::Queued));
        }
        if let Some(delivery) = &entry.delivery {
            return Err(no_such(Fate::Answering {
                by: delivery.by.clone(),
            }));
        }
        // Its time is over even if the clock's tick has not come through yet.
        if entry.expires.is_some_and(|until| until <= step.now.boot_ms) {
            return Err(no_such(Fate::Ended {
                reason: ClearReason::Expired,
                applied: None,
                by: None,
                via: None,
            }));
        }
        if !entry.decision.answerable {
            return Err(SessionError::NotAnswerable(decision_id));
        }
        Ok(at)
    }

    /// Hands the consumed pending decision to its channel.
    fn deliver(&mut self, step: &mut Step<'_>, at: usize) {
        let until = after(step.now, DELIVERY_MAX);
        let Some(entry) = self.entry_mut(at, 0) else {
            return;
        };
        let Some(delivery) = &mut entry.delivery else {
            return;
        };
        delivery.stage = Stage::InFlight(until);
        let applied = delivery.applied.clone();
        step.carry_out(Effect::Deliver {
            decision_id: entry.decision.id.clone(),
            pane_id: entry.decision.pane_id.clone(),
            agent: entry.decision.agent.clone(),
            channel: entry.channel,
            hook: entry.hook,
            option_index: option_index(entry, &applied),
            applied: entry.minted.back(&entry.decision, &applied),
            carry: entry.carry.clone(),
        });
    }

    /// The announcement has passed: the bytes go if everything still holds (`specs/010 §3`, `TypeText`).
    pub(super) fn announcement_over(&mut self, step: &mut Step<'_>, at: usize) {
        let pane = &self.panes[at];
        let Some(entry) = pane.pending() else { return };
        let overtaken = entry
            .delivery
            .as_ref()
            .is_some_and(|delivery| delivery.overtaken);
        if entry.decision.answerable
            && !overtaken
            && pane.decisions.len() == 1
            && !pane.draft.is_there()
        {
            self.deliver(step, at);
        } else {
            let id = entry.id().clone();
            self.not_delivered(
                step,
                &id,
                true,
                "something else happened in its terminal first",
            );
        }
    }

    /// The channel took it.
    pub(super) fn delivered(&mut self, step: &mut Step<'_>, decision_id: &DecisionId) {
        let Some((at, delivery)) = self.in_flight(decision_id) else {
            return;
        };
        let Delivery {
            ticket,
            applied,
            by,
            via,
            latency_ms,
            overtaken,
            ..
        } = delivery;
        let Some(entry) = self.entry_mut(at, 0) else {
            return;
        };
        // The hook has its verdict; there is nothing left to let go.
        entry.hook = None;
        let chosen = applied
            .option_id
            .as_deref()
            .and_then(|id| entry.decision.option(id));
        let refused = chosen.is_some_and(|option| option.polarity == Polarity::Refuses);
        if let (Some(call), false) = (entry.call.clone(), refused || overtaken) {
            self.panes[at].calls.answer(call);
        }
        step.carry_out(Effect::Answered {
            ticket,
            result: Ok(applied.clone()),
        });
        let how = Ending {
            applied: Some(applied),
            by: Some(by),
            via: Some(via),
            latency_ms: Some(latency_ms),
        };
        self.end(step, at, 0, ClearReason::Answered, how);
    }

    /// The channel did not take it. If the agent still waits, a hint takes its place (`specs/010 §1.6`).
    pub(super) fn not_delivered(
        &mut self,
        step: &mut Step<'_>,
        decision_id: &DecisionId,
        still_waiting: bool,
        why: &str,
    ) {
        let Some((at, delivery)) = self.consumed(decision_id) else {
            return;
        };
        step.carry_out(Effect::Answered {
            ticket: delivery.ticket,
            result: Err(SessionError::DeliveryFailed(why.to_owned())),
        });
        if still_waiting && !delivery.overtaken && !self.panes[at].exited() {
            let id = self.fresh_id(step);
            let Some(entry) = self.entry(at, 0) else {
                return;
            };
            let mut next = Entry {
                hook: None,
                hold_until: None,
                delivery: None,
                ..entry.clone()
            };
            next.decision.id = id;
            next.decision.asked_at = step.now.wall_ms;
            next.set_answerable(false);
            self.succeed(step, at, next, ClearReason::Undeliverable);
        } else {
            self.end(step, at, 0, ClearReason::Undeliverable, Ending::default());
        }
    }

    /// The pane goes: nothing can be delivered to it any more.
    pub(super) fn give_up_delivery(&mut self, step: &mut Step<'_>, at: usize) {
        let consumed = self.panes[at]
            .pending()
            .filter(|entry| entry.delivery.is_some());
        if let Some(id) = consumed.map(|entry| entry.id().clone()) {
            self.not_delivered(step, &id, false, "its pane was closed");
        }
    }

    /// The pane and the delivery of a decision that was consumed.
    fn consumed(&self, decision_id: &DecisionId) -> Option<(usize, Delivery)> {
        let (at, slot) = self.find(decision_id)?;
        Some((at, self.entry(at, slot)?.delivery.clone()?))
    }

    fn in_flight(&self, decision_id: &DecisionId) -> Option<(usize, Delivery)> {
        self.consumed(decision_id)
            .filter(|(_, delivery)| matches!(delivery.stage, Stage::InFlight(_)))
    }
}

/// Where the chosen option is in the menu.
fn option_index(entry: &Entry, applied: &Applied) -> Option<usize> {
    let chosen = applied.option_id.as_deref()?;
    entry
        .decision
        .options
        .iter()
        .position(|option| option.id == chosen)
}
