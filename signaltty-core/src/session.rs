//! THE state machine: (state, command, time) → events and effects.
//!
//! The only place that changes a decision, a lifecycle or an attention. No I/O, no clock, not async:
//! the host hands in the moment and the ids, and carries out the effects. Each rule has one home below:
//!
//! | module | what it decides |
//! |---|---|
//! | `ingest` | what may stand as a decision, and under which names |
//! | `attribution` | which pane a report belongs to |
//! | `report` | what a report changes, in which order |
//! | `line` | which decision is pending, which stand in line, how one ends |
//! | `holding` | when a hook is held, released, lost, and comes back |
//! | `answering` | consuming, delivering, settling |
//! | `calls`, `turns` | which call and which turn a report is about |
//! | `lifecycle` | where an agent stands |
//! | `terminal` | what typing and the byte stream mean |
//! | `deadlines` | what is due |
//! | `authority` | who may do what |
//! | `fates` | what became of decisions that are no more |

pub mod authority;
pub mod command;
pub mod effect;
pub mod error;

mod answering;
mod arrangement;
mod attribution;
mod calls;
mod deadlines;
mod fates;
mod holding;
mod ingest;
mod lifecycle;
mod line;
mod panes;
mod report;
mod state;
mod terminal;
mod turns;

use std::collections::BTreeMap;

#[cfg(feature = "host")]
pub(crate) use arrangement::keep as keep_in_layout;
pub use authority::Action;
pub use command::{
    AnswerCommand, Caller, Command, HoldingSetting, NewPane, Report, ReportedBy, StreamSignal,
    Typist,
};
pub use effect::{Effect, Outcome, Reported};
pub use error::{Fate, SessionError};

use crate::model::{Decision, DecisionId, Layout, Moment, Pane, PaneId};
use crate::protocol::{Event, Snapshot};
use fates::Fates;
use state::{Entry, PaneState};

/// What a session is started with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SessionConfig {
    /// When hooks are held.
    pub holding: HoldingSetting,
}

/// Panes, decisions, lifecycle and attention of one host.
#[derive(Debug, Clone)]
pub struct Session {
    panes: Vec<PaneState>,
    layout: Layout,
    fates: Fates,
    holding: HoldingSetting,
    operators: holding::Operators,
    /// Which pane opened which, kept while a descendant lives.
    openers: BTreeMap<PaneId, PaneId>,
}

/// One command on its way through: what comes in from outside, and what goes out.
struct Step<'a> {
    now: Moment,
    mint: &'a mut dyn FnMut() -> DecisionId,
    out: Outcome,
    /// Panes whose state may be different now.
    touched: Vec<PaneId>,
}

impl Step<'_> {
    fn tell(&mut self, event: Event) {
        self.out.events.push(event);
    }

    fn carry_out(&mut self, effect: Effect) {
        self.out.effects.push(effect);
    }

    fn touch(&mut self, pane_id: &PaneId) {
        if !self.touched.contains(pane_id) {
            self.touched.push(pane_id.clone());
        }
    }
}

impl Session {
    /// A session without panes.
    pub fn new(config: SessionConfig) -> Self {
        Self {
            panes: Vec::new(),
            layout: Layout::default(),
            fates: Fates::default(),
            holding: config.holding,
            operators: holding::Operators::default(),
            openers: BTreeMap::new(),
        }
    }

    /// Carries out one command at one moment. `mint` gives ids that were never used.
    ///
    /// # Errors
    /// A refused command changed nothing.
    pub fn apply(
        &mut self,
        command: Command,
        now: Moment,
        mint: &mut dyn FnMut() -> DecisionId,
    ) -> Result<Outcome, SessionError> {
        let mut step = Step {
            now,
            mint,
            out: Outcome::default(),
            touched: Vec::new(),
        };
        self.operators.notice(now);
        match command {
            Command::OpenPane(pane) => self.open_pane(&mut step, pane)?,
            Command::PaneExited { pane_id, exit } => self.pane_exited(&mut step, &pane_id, exit)?,
            Command::ClosePane { pane_id } => self.close_pane(&mut step, &pane_id)?,
            Command::ResizePane { pane_id, size } => {
                let at = self.at(&pane_id)?;
                self.panes[at].face.size = size.clamped();
                step.touch(&pane_id);
            }
            Command::RenamePane { pane_id, title } => {
                self.rename_pane(&mut step, &pane_id, &title)?
            }
            Command::MarkSeen { pane_id } => self.mark_seen(&mut step, &pane_id)?,
            Command::SetLayout { layout } => self.set_layout(&mut step, layout)?,
            Command::Report(report) => self.report(&mut step, *report)?,
            Command::Answer(answer) => self.answer(&mut step, answer)?,
            Command::Delivered { decision_id } => self.delivered(&mut step, &decision_id),
            Command::NotDelivered {
                decision_id,
                still_waiting,
            } => {
                self.not_delivered(
                    &mut step,
                    &decision_id,
                    still_waiting,
                    "its channel did not take it",
                );
            }
            Command::HookGone { hook } => self.hook_gone(&mut step, hook),
            Command::Typed { pane_id, keys, by } => self.typed(&mut step, &pane_id, &keys, by)?,
            Command::Stream { pane_id, signal } => self.stream(&mut step, &pane_id, signal)?,
            Command::Operators { connected } => self.operators(&mut step, connected),
            Command::SetHolding(setting) => self.set_holding(&mut step, setting),
            Command::Tick => self.tick(&mut step),
        }
        self.settle(&mut step);
        Ok(step.out)
    }

    /// When [`Command::Tick`] is due next, on the `boot_ms` clock.
    pub fn next_deadline(&self) -> Option<u64> {
        self.earliest_deadline()
    }

    /// The whole state, for one that subscribes. `epoch` and `seq` are the host's.
    pub fn snapshot(&self, epoch: &str, seq: u64) -> Snapshot {
        Snapshot {
            panes: self.panes(),
            layout: self.layout.clone(),
            epoch: epoch.to_owned(),
            seq,
        }
    }

    /// All panes, in the order in which they were opened.
    pub fn panes(&self) -> Vec<Pane> {
        self.panes.iter().map(PaneState::whole).collect()
    }

    /// One pane.
    pub fn pane(&self, pane_id: &PaneId) -> Option<Pane> {
        self.panes
            .iter()
            .find(|pane| pane.face.id == *pane_id)
            .map(PaneState::whole)
    }

    /// The arrangement of panes.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Pending decisions, in the order of their panes; with those that stand in line behind each if asked.
    pub fn decisions(&self, include_queued: bool) -> Vec<Decision> {
        let most = if include_queued { usize::MAX } else { 1 };
        let entries = self
            .panes
            .iter()
            .flat_map(|pane| pane.decisions.iter().take(most));
        entries.map(|entry| entry.decision.clone()).collect()
    }

    /// The pending decision of that id.
    pub fn decision(&self, decision_id: &DecisionId) -> Option<&Decision> {
        let (at, slot) = self.find(decision_id)?;
        if slot > 0 {
            return None;
        }
        self.panes.get(at)?.pending().map(|entry| &entry.decision)
    }

    /// What became of a decision that is not pending, or that is being answered.
    pub fn fate(&self, decision_id: &DecisionId) -> Fate {
        let entry = self
            .find(decision_id)
            .and_then(|(at, slot)| Some((self.entry(at, slot)?, slot)));
        match entry {
            Some((_, 1..)) => Fate::Queued,
            Some((
                Entry {
                    delivery: Some(delivery),
                    ..
                },
                _,
            )) => Fate::Answering {
                by: delivery.by.clone(),
            },
            Some(_) => Fate::Unknown,
            None => self.fates.of(decision_id).cloned().unwrap_or(Fate::Unknown),
        }
    }

    /// Where a pane is in the list.
    fn at(&self, pane_id: &PaneId) -> Result<usize, SessionError> {
        self.position(pane_id)
            .ok_or_else(|| SessionError::NoSuchPane(pane_id.clone()))
    }

    fn position(&self, pane_id: &PaneId) -> Option<usize> {
        self.panes.iter().position(|pane| pane.face.id == *pane_id)
    }

    /// Where a live decision is: its pane, and its place there (0 is pending).
    fn find(&self, decision_id: &DecisionId) -> Option<(usize, usize)> {
        self.panes.iter().enumerate().find_map(|(at, pane)| {
            let slot = pane
                .decisions
                .iter()
                .position(|entry| entry.id() == decision_id)?;
            Some((at, slot))
        })
    }

    fn entry(&self, at: usize, slot: usize) -> Option<&Entry> {
        self.panes.get(at)?.decisions.get(slot)
    }

    fn entry_mut(&mut self, at: usize, slot: usize) -> Option<&mut Entry> {
        self.panes.get_mut(at)?.decisions.get_mut(slot)
    }

    /// Tells what is different of the panes that the command touched; panes made for one question go.
    fn settle(&mut self, step: &mut Step<'_>) {
        for pane_id in std::mem::take(&mut step.touched) {
            let Some(at) = self.position(&pane_id) else {
                continue;
            };
            let pane = &mut self.panes[at];
            if pane.own && pane.decisions.is_empty() {
                self.remove_pane(step, at);
                continue;
            }
            pane.derive(step.now.wall_ms);
            if pane.face != pane.told {
                pane.told = pane.face.clone();
                let pane = pane.whole();
                step.tell(Event::PaneUpdated { pane });
            }
        }
    }
}
