//! Why a pane wants to be looked at.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One reason. Seeing the pane takes away [`Attention::Unread`] and nothing else (DESIGN §3).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Attention {
    /// Something happened there that nobody has looked at.
    Unread,
    /// The agent asks for words: a question, a form.
    InputRequired,
    /// The agent asks for leave: a permission, a plan.
    PermissionRequired,
    /// Something may need care.
    Warning,
    /// Something failed.
    Error,
}

/// The reasons of one pane.
pub type AttentionSet = BTreeSet<Attention>;
