//! What is due when. Every deadline is one on the `boot_ms` clock, and ticking past it takes it away.

use super::line::Ending;
use super::state::{Entry, Stage};
use super::{Session, Step};
use crate::model::DecisionId;
use crate::protocol::ClearReason;

/// Why a decision is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    /// Its announcement has passed: its typed answer goes.
    AnnouncementOver,
    /// Nothing was heard of its delivery.
    DeliveryLost,
    /// Its asker gave up.
    Expired,
    /// Nothing told what became of its lost hook.
    HookLost,
    /// Our wait is over.
    HoldOver,
}

impl Entry {
    /// What this decision waits for, and until when. One that is being answered waits for that alone.
    fn deadlines(&self) -> impl Iterator<Item = (u64, Due)> {
        let waiting = self.delivery.is_none();
        let delivery = self.delivery.as_ref().map(|delivery| match delivery.stage {
            Stage::Announcing(at) => (at, Due::AnnouncementOver),
            Stage::InFlight(until) => (until, Due::DeliveryLost),
        });
        let hold = self.hold_until.filter(|_| waiting && self.held());
        delivery
            .into_iter()
            .chain(
                self.expires
                    .filter(|_| waiting)
                    .map(|at| (at, Due::Expired)),
            )
            .chain(
                self.loss_until
                    .filter(|_| waiting)
                    .map(|at| (at, Due::HookLost)),
            )
            .chain(hold.map(|at| (at, Due::HoldOver)))
    }
}

impl Session {
    pub(super) fn earliest_deadline(&self) -> Option<u64> {
        let entries = self.panes.iter().flat_map(|pane| &pane.decisions);
        entries
            .flat_map(Entry::deadlines)
            .map(|(at, _)| at)
            .chain(self.operators_deadline())
            .min()
    }

    /// Does what is due. Decisions in line come before the pending one of their pane, so that none is announced
    /// only to end.
    pub(super) fn tick(&mut self, step: &mut Step<'_>) {
        let now = step.now.boot_ms;
        if self.operators_deadline().is_some_and(|until| until <= now) {
            self.operators_gone(step);
        }
        let mut due: Vec<(DecisionId, Due)> = Vec::new();
        for pane in &self.panes {
            for entry in pane.decisions.iter().rev() {
                let first = entry
                    .deadlines()
                    .filter(|(at, _)| *at <= now)
                    .map(|(_, what)| what)
                    .min();
                due.extend(first.map(|what| (entry.id().clone(), what)));
            }
        }
        for (id, what) in due {
            let Some((at, slot)) = self.find(&id) else {
                continue;
            };
            match what {
                Due::AnnouncementOver => self.announcement_over(step, at),
                Due::DeliveryLost => {
                    self.not_delivered(step, &id, true, "nothing was heard of it");
                }
                Due::Expired => self.end(step, at, slot, ClearReason::Expired, Ending::default()),
                Due::HookLost => self.end_lost(step, at, slot),
                Due::HoldOver => self.give_back(step, at, slot),
            }
        }
    }
}
