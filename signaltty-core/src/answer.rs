//! What an answer means (DECISIONS §2, AEP-0008 §1). Plain data and one pure function.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{AnswerOption, Field, Kind, TextUse, Values};

/// What an answerer sends.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The lossless way: an option, by its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option_id: Option<String>,
    /// Words: alone, the name of an option, a reason or the answer; beside an option, its reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The answer to a form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Values>,
}

/// What was applied: what the channel carries, no more.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Applied {
    /// The option chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option_id: Option<String>,
    /// The reason, or the answer in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The values of a form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Values>,
}

/// What the rules need to know of a decision.
#[derive(Debug, Clone, Copy)]
pub struct Card<'a> {
    /// What is asked for.
    pub kind: Kind,
    /// The options, with their polarity.
    pub options: &'a [AnswerOption],
    /// Ids of the options that the channel can carry a text with.
    pub carries_text: &'a [String],
    /// The fields of a form.
    pub fields: &'a [Field],
    /// What typed text can do.
    pub text: TextUse,
}

/// Why an answer is not one. Nothing was consumed; the decision is as pending as before.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAnswer {
    /// No member of an answer is there.
    #[error("the answer is empty; send option_id, text or values")]
    Empty,
    /// No option has that id.
    #[error("no option {given:?}; the options are {known:?}")]
    UnknownOption {
        /// What was sent.
        given: String,
        /// The ids that there are.
        known: Vec<String>,
    },
    /// The channel cannot carry a text with that option.
    #[error("the channel carries no text with option {option:?}; send the option alone")]
    TextNotCarried {
        /// The option.
        option: String,
    },
    /// The text names no option, and nothing else can be done with it.
    #[error("{given:?} names no option and cannot be passed on; send one of {known:?}")]
    UnmatchedText {
        /// What was sent, trimmed.
        given: String,
        /// The ids that there are.
        known: Vec<String>,
    },
    /// Nothing but white space.
    #[error("the text is blank")]
    BlankText,
    /// The decision takes no text.
    #[error("this decision takes no text; {instead}")]
    TextNotTaken {
        /// What to send.
        instead: &'static str,
    },
    /// A value is missing, unknown or wrong.
    #[error("field {field:?}: {problem}")]
    Field {
        /// The field's id.
        field: String,
        /// What is wrong with it, and what would be right.
        problem: String,
    },
    /// `values` for something that is no form.
    #[error("this decision has no fields; send option_id or text")]
    NotAForm,
}

impl InvalidAnswer {
    /// The member of the answer that is wrong.
    pub fn path(&self) -> String {
        match self {
            Self::Empty => "option_id".into(),
            Self::UnknownOption { .. } => "option_id".into(),
            Self::TextNotCarried { .. }
            | Self::UnmatchedText { .. }
            | Self::BlankText
            | Self::TextNotTaken { .. } => "text".into(),
            Self::Field { field, .. } => format!("values.{field}"),
            Self::NotAForm => "values".into(),
        }
    }
}
