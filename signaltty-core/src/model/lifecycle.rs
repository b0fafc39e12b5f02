//! Where an agent stands in its work.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the agent of a pane is doing. Changed by the session state machine alone (DESIGN §3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Lifecycle {
    /// Nothing is known: a program without hooks that has said nothing yet.
    #[default]
    Unknown,
    /// A turn is running.
    Working,
    /// A decision is pending or queued; the agent waits for a human.
    Blocked,
    /// The turn ended by itself and nobody has seen it yet.
    Done,
    /// Waiting for a prompt, nothing new to see.
    Idle,
    /// The human broke the turn off.
    Interrupted,
    /// The turn ended in an error.
    Failed,
    /// The program of the pane has ended.
    Exited,
}
