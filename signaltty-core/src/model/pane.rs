//! A pane: one program on a PTY, or a session that has no terminal.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AttentionSet, Decision, Lifecycle, PaneId};

/// Size of a terminal in character cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Size {
    /// Columns, 1 to 4096.
    pub cols: u16,
    /// Rows, 1 to 4096.
    pub rows: u16,
}

impl Size {
    /// The size of a pane that nobody has looked at yet.
    pub const DEFAULT: Self = Self {
        cols: 100,
        rows: 30,
    };
    /// Most columns or rows.
    pub const MAX: u16 = 4_096;

    /// The nearest size that a terminal can have.
    pub fn clamped(self) -> Self {
        Self {
            cols: self.cols.clamp(1, Self::MAX),
            rows: self.rows.clamp(1, Self::MAX),
        }
    }
}

/// How the program of a pane ended. Exactly one member is set, none if the keeper was lost with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
pub struct Exit {
    /// Exit status, 0 to 255, if it ended by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    /// Number of the signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
}

/// What every client sees of a pane (CONTRACT §1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pane {
    /// Its id.
    pub id: PaneId,
    /// Its title: what a person named it, else what the program set, else the program's name.
    pub title: String,
    /// The program and its arguments. Empty where the pane has no terminal.
    pub argv: Vec<String>,
    /// The folder it was started in.
    pub cwd: String,
    /// Process id of the program while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<i32>,
    /// The agent that runs here, once known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The agent's own id of its session, once it reported one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Size of its terminal.
    pub size: Size,
    /// False for a session that has no terminal here.
    #[serde(default = "yes")]
    pub terminal: bool,
    /// Where its agent stands.
    pub lifecycle: Lifecycle,
    /// When that was last different, in milliseconds since the Unix epoch.
    #[serde(default)]
    pub since: i64,
    /// Why it wants to be looked at.
    pub attention: AttentionSet,
    /// The pending decision, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// How many more stand in line behind it.
    pub queued: usize,
    /// The pane whose program opened this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opened_by: Option<PaneId>,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<Exit>,
    /// Milliseconds since the Unix epoch.
    pub created_at: i64,
}

fn yes() -> bool {
    true
}
