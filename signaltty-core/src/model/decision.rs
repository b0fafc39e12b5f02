//! A decision: one question of an agent to a human, as data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DecisionId, Field, PaneId};

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Leave to do something.
    #[default]
    Permission,
    /// Words, or one of several choices.
    Input,
    /// Several values at once.
    Form,
    /// Approval of something to be read: a plan.
    Review,
}

/// What choosing an option does. Minted by whoever minted the option; clients use it for styling and for
/// their guard alone (DECISIONS §1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Polarity {
    /// The agent may go on with what it asked for.
    Grants,
    /// It may not.
    Refuses,
    /// Neither, or not known.
    #[default]
    Neutral,
}

/// One option of a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerOption {
    /// What an answer names it by.
    pub id: String,
    /// What a person reads.
    pub label: String,
    /// What choosing it does.
    #[serde(default)]
    pub polarity: Polarity,
}

/// What typed text can do for a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TextUse {
    /// Nothing but name an option.
    #[default]
    None,
    /// Accompany a refusal as its reason.
    Reason,
    /// Be the answer.
    Answer,
}

/// How an answer can travel (AEP-0008 §2). Words that we do not know are kept and open nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(from = "String", into = "String")]
#[schemars(with = "String")]
pub enum RespondVia {
    /// Through us.
    Control,
    /// Where the agent itself asks.
    Oob,
    /// A word of somebody newer.
    Unknown(String),
}

impl From<String> for RespondVia {
    fn from(word: String) -> Self {
        match word.as_str() {
            "control" => Self::Control,
            "oob" => Self::Oob,
            _ => Self::Unknown(word),
        }
    }
}

impl From<RespondVia> for String {
    fn from(via: RespondVia) -> Self {
        match via {
            RespondVia::Control => "control".into(),
            RespondVia::Oob => "oob".into(),
            RespondVia::Unknown(word) => word,
        }
    }
}

/// How to show a decision's detail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DetailKind {
    /// Plain or lightly marked-up text.
    #[default]
    Text,
    /// A shell command.
    Command,
    /// A unified diff.
    Diff,
}

/// By which way a decision came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// An adapter's reading of a vendor's payload.
    #[default]
    Hook,
    /// A `hook-event` that spelt the decision out.
    Plain,
    /// A script's `signaltty ask`.
    Ask,
    /// A vendor's own event stream.
    Stream,
    /// A card of another AEP emitter.
    Aep,
}

/// Whose question it is. Two decisions of one source have the same agent and session.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// By which way it came in.
    pub origin: Origin,
    /// The agent's own id of its session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The subagent that asks, where one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent: Option<String>,
}

/// A decision as every client sees it (DECISIONS §1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Decision {
    /// Its id, unique for ever.
    pub id: DecisionId,
    /// The pane that it stands on.
    pub pane_id: PaneId,
    /// What is asked for.
    pub kind: Kind,
    /// The question. Untrusted text.
    pub prompt: String,
    /// What it is about, whole: a command, a unified diff, a plan. Untrusted text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// How to show `detail`.
    #[serde(default)]
    pub detail_kind: DetailKind,
    /// The acted-upon thing: a tool's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The choices, in the agent's order.
    #[serde(default)]
    pub options: Vec<AnswerOption>,
    /// The questions of a form.
    #[serde(default)]
    pub fields: Vec<Field>,
    /// What typed text can do.
    pub text: TextUse,
    /// How an answer can travel; absent where nobody said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub respond_via: Option<Vec<RespondVia>>,
    /// Whether `decision.answer` can answer it. Clients choose buttons or hint from this alone (DECISIONS §1.4).
    pub answerable: bool,
    /// Name of the channel that its answer takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// Milliseconds since the Unix epoch.
    pub asked_at: i64,
    /// Milliseconds since the Unix epoch at which it expires by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
    /// The agent that asks.
    pub agent: String,
    /// Whose question it is.
    #[serde(default)]
    pub source: Source,
}

impl Decision {
    /// The option of that id, matched exactly.
    pub fn option(&self, id: &str) -> Option<&AnswerOption> {
        self.options.iter().find(|option| option.id == id)
    }
}
