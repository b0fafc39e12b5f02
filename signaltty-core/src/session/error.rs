//! Why a command was refused. A refused command changed nothing.

use crate::answer::{Applied, InvalidAnswer};
use crate::model::{DecisionId, PaneId};
use crate::protocol::ClearReason;

/// What became of a decision that is not pending.
#[derive(Debug, Clone, PartialEq)]
pub enum Fate {
    /// There never was one of that id here, or it is too long ago.
    Unknown,
    /// It stands in line.
    Queued,
    /// It was consumed and is being delivered.
    Answering {
        /// By whom.
        by: String,
    },
    /// It ended.
    Ended {
        /// How.
        reason: ClearReason,
        /// What was applied, if it was answered.
        applied: Option<Applied>,
        /// By whom.
        by: Option<String>,
        /// By which way.
        via: Option<String>,
    },
    /// Another one took its place.
    Superseded {
        /// Which.
        by: DecisionId,
    },
}

/// Why a command was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SessionError {
    /// No such pane.
    #[error("no pane {0}")]
    NoSuchPane(PaneId),
    /// Its program has ended.
    #[error("the program of pane {0} has ended")]
    PaneExited(PaneId),
    /// No such decision is pending there.
    #[error("decision {decision_id} is not pending")]
    NoSuchDecision {
        /// Which.
        decision_id: DecisionId,
        /// What became of it.
        fate: Box<Fate>,
    },
    /// It cannot be answered from here.
    #[error("decision {0} can only be answered in the agent's own terminal")]
    NotAnswerable(DecisionId),
    /// The answer is not one.
    #[error(transparent)]
    Invalid(#[from] InvalidAnswer),
    /// A report's decision cannot be one.
    #[error("{path}: {problem}")]
    BadDecision {
        /// The member.
        path: String,
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// The caller may not.
    #[error("{0}")]
    Forbidden(String),
    /// Consumed, but the channel did not take it.
    #[error("the answer was not delivered: {0}")]
    DeliveryFailed(String),
    /// A bound was reached.
    #[error("{what}: at most {limit}")]
    Limit {
        /// Of what.
        what: &'static str,
        /// How many.
        limit: usize,
    },
}
