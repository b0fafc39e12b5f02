//! What the host tells every subscriber.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::Applied;
use crate::model::{Decision, DecisionId, Exit, Layout, Pane, PaneId};

/// Why a decision ended (DECISIONS §1.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClearReason {
    /// It was answered through us.
    Answered,
    /// The agent no longer needs a human for it: its own call ran, or the vendor says it is resolved.
    AttentionCleared,
    /// The agent went on: its turn or session ended, or its own prompt was answered in the terminal.
    MovedOn,
    /// The program of its pane ended.
    PaneExited,
    /// Its asker's deadline passed.
    Expired,
    /// An answer was consumed and did not reach the agent.
    Undeliverable,
}

impl ClearReason {
    /// Its word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::AttentionCleared => "attention_cleared",
            Self::MovedOn => "moved_on",
            Self::PaneExited => "pane_exited",
            Self::Expired => "expired",
            Self::Undeliverable => "undeliverable",
        }
    }
}

/// A decision became the pending one of its pane.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DecisionCreated {
    /// The decision.
    pub decision: Decision,
    /// The one that it takes the place of. This event is that one's end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prev: Option<DecisionId>,
    /// Why that one ended, where it was not simply superseded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prev_reason: Option<ClearReason>,
}

/// A pending decision ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DecisionCleared {
    /// Its pane.
    pub pane_id: PaneId,
    /// The decision.
    pub decision_id: DecisionId,
    /// Why.
    pub reason: ClearReason,
    /// What was applied, if it was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<Applied>,
    /// Label of the applied option, for showing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied_label: Option<String>,
    /// Who answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// By which way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
    /// Milliseconds from its announcement to the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<u64>,
}

/// The whole state, as one that subscribes sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Snapshot {
    /// All panes.
    pub panes: Vec<Pane>,
    /// Their arrangement.
    pub layout: Layout,
    /// This run of the host.
    pub epoch: String,
    /// The number of the last event that this state includes.
    pub seq: u64,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", content = "data")]
pub enum Event {
    /// A pane opened.
    #[serde(rename = "pane.created")]
    PaneCreated {
        /// The pane.
        pane: Pane,
    },
    /// Something of a pane is different: its whole state.
    #[serde(rename = "pane.updated")]
    PaneUpdated {
        /// The pane.
        pane: Pane,
    },
    /// Its program ended.
    #[serde(rename = "pane.exited")]
    PaneExited {
        /// Which.
        pane_id: PaneId,
        /// How.
        exit: Exit,
    },
    /// It is gone.
    #[serde(rename = "pane.closed")]
    PaneClosed {
        /// Which.
        pane_id: PaneId,
    },
    /// A decision became the pending one of its pane.
    #[serde(rename = "decision.created")]
    DecisionCreated(DecisionCreated),
    /// A pending decision is different (`answerable` was lowered, or raised by the same hook coming back).
    #[serde(rename = "decision.updated")]
    DecisionUpdated {
        /// The decision.
        decision: Decision,
    },
    /// A pending decision ended.
    #[serde(rename = "decision.cleared")]
    DecisionCleared(DecisionCleared),
    /// The arrangement of panes is different.
    #[serde(rename = "layout.changed")]
    LayoutChanged {
        /// The new one.
        layout: Layout,
    },
    /// An agent sent a notification of its own. Untrusted text.
    #[serde(rename = "agent.notification")]
    AgentNotification {
        /// Its pane.
        pane_id: PaneId,
        /// Its title.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// Its text.
        body: String,
    },
    /// A setting is different.
    #[serde(rename = "config.changed")]
    ConfigChanged {
        /// All settings.
        config: serde_json::Value,
    },
    /// Something of the host needs care.
    #[serde(rename = "host.warning")]
    HostWarning {
        /// What, for people.
        message: String,
    },
    /// The subscriber was too slow: the whole state instead of what it missed.
    #[serde(rename = "resync")]
    Resync(Snapshot),
}
