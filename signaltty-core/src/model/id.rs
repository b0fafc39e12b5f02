//! Identifiers. An id is opaque text; only its alphabet and length are fixed.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::ID_MAX;

/// Why a text cannot be an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an id is 1 to {ID_MAX} characters of A-Z a-z 0-9 . _ : -, not {0:?}")]
pub struct InvalidId(pub String);

/// Checks the alphabet and the length that every id of ours has (CONTRACT §1).
pub fn check(text: &str) -> Result<(), InvalidId> {
    let ok = !text.is_empty()
        && text.len() <= ID_MAX
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b':' | b'-'));
    if ok {
        Ok(())
    } else {
        Err(InvalidId(text.chars().take(ID_MAX).collect()))
    }
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Takes a text whose alphabet and length are those of an id.
            ///
            /// # Errors
            /// [`InvalidId`] names the text and the rule.
            pub fn new(text: impl Into<String>) -> Result<Self, InvalidId> {
                let text = text.into();
                check(&text)?;
                Ok(Self(text))
            }

            /// Takes a text that the caller minted, or that stands for one that exists nowhere.
            pub fn from_trusted(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text_id! {
    /// A pane of the host, unique for as long as the keeper lives.
    PaneId
}
text_id! {
    /// A decision, unique in the host for ever (DECISIONS §1.2).
    DecisionId
}

/// One connection that may wait for a verdict. Local to one run of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HookId(pub u64);
