//! What the host has to do, and what it may tell.

use crate::adapter::AnswerChannel;
use crate::answer::Applied;
use crate::model::{DecisionId, HookId, PaneId};
use crate::protocol::Event;

use super::SessionError;

/// Something for the host to carry out.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Deliver an answer by its decision's channel, then say [`super::Command::Delivered`] or
    /// [`super::Command::NotDelivered`]. Exactly one a decision, ever.
    Deliver {
        /// The decision, already consumed.
        decision_id: DecisionId,
        /// Its pane.
        pane_id: PaneId,
        /// The agent whose adapter spells the verdict.
        agent: String,
        /// How.
        channel: AnswerChannel,
        /// The connection that waits ([`AnswerChannel::HookVerdict`]).
        hook: Option<HookId>,
        /// Index of the chosen option in the menu ([`AnswerChannel::TypeText`]).
        option_index: Option<usize>,
        /// What is applied, in the ids that the adapter gave. Clients are told the ids that they were shown.
        applied: Applied,
        /// What the adapter asked to have back.
        carry: serde_json::Value,
    },
    /// Let a held hook go without an opinion, and close its connection. Comes once for a hook; after a delivery
    /// to it only where that failed.
    Release {
        /// The connection.
        hook: HookId,
        /// The decision that it waited for.
        decision_id: DecisionId,
    },
    /// Settle an answer: tell the answerer.
    Answered {
        /// The ticket of its [`super::AnswerCommand`].
        ticket: u64,
        /// What was applied, or why nothing was.
        result: Result<Applied, SessionError>,
    },
}

/// What a report led to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reported {
    /// The pane it was attributed to.
    pub pane_id: Option<PaneId>,
    /// The decision it made or repeated.
    pub decision_id: Option<DecisionId>,
    /// Whether its connection is held for a verdict.
    pub held: bool,
}

/// What one command led to. Events come in the order in which they are to be told.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// To tell.
    pub events: Vec<Event>,
    /// To do.
    pub effects: Vec<Effect>,
    /// The answer to a [`super::Command::Report`].
    pub reported: Option<Reported>,
}
