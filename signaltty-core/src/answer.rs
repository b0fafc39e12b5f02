//! What an answer means (`specs/010 §2`, AEP-0008 §1). Plain data and pure functions.
//!
//! [`resolve`] is the only place where words become a choice. It never guesses: a text either names an
//! option exactly, or it refuses, or it is the answer that was asked for in words, or nothing happens.

mod form;
mod offer;

pub use offer::{BadOffer, check_fields, check_options};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::TEXT_MAX;
use crate::model::{AnswerOption, Field, Kind, Polarity, TextUse, Values};

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
    /// `values` for something that is no form, or beside an option.
    #[error("no values can be sent with this; send option_id or text")]
    NotAForm,
    /// A text is longer than any answer may be.
    #[error("a text of {bytes} bytes is too long; at most {TEXT_MAX}")]
    TooLong {
        /// How long it is.
        bytes: usize,
    },
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
            | Self::TooLong { .. }
            | Self::TextNotTaken { .. } => "text".into(),
            Self::Field { field, .. } => format!("values.{field}"),
            Self::NotAForm => "values".into(),
        }
    }
}

/// Says what `answer` applies to `card`, or why it applies nothing (`specs/010 §2.1` to `§2.5`).
///
/// What comes back is what the channel will carry, and nothing that it will not: a member that was sent
/// and cannot be carried makes the answer invalid rather than being dropped.
///
/// # Errors
/// [`InvalidAnswer`]; nothing is consumed then.
pub fn resolve(card: &Card<'_>, answer: &Answer) -> Result<Applied, InvalidAnswer> {
    if let Some(text) = &answer.text {
        if trimmed(text).is_empty() {
            return Err(InvalidAnswer::BlankText);
        }
        if text.len() > TEXT_MAX {
            return Err(InvalidAnswer::TooLong { bytes: text.len() });
        }
    }
    match (&answer.option_id, &answer.values, &answer.text) {
        (Some(id), values, text) => chosen(card, id, values.as_ref(), text.as_deref()),
        (None, Some(_), Some(_)) => Err(InvalidAnswer::TextNotTaken {
            instead: "send values without a text",
        }),
        (None, Some(values), None) if card.kind == Kind::Form => form::whole(card.fields, values)
            .map(|values| Applied {
                values: Some(values),
                ..Applied::default()
            }),
        (None, Some(_), None) => Err(InvalidAnswer::NotAForm),
        (None, None, Some(text)) => worded(card, text),
        (None, None, None) => Err(InvalidAnswer::Empty),
    }
}

/// The option that a text refuses by when it names none (`specs/010 §2.3`): the first refusing one that
/// carries a reason, else the last that refuses.
pub fn default_refusal<'a>(card: &Card<'a>) -> Option<&'a AnswerOption> {
    let refusing = || {
        card.options
            .iter()
            .filter(|option| option.polarity == Polarity::Refuses)
    };
    refusing()
        .find(|option| card.carries(&option.id))
        .or_else(|| refusing().next_back())
}

impl Card<'_> {
    /// Whether a text can go along with that option.
    pub fn carries(&self, option_id: &str) -> bool {
        self.text != TextUse::None && self.carries_text.iter().any(|id| id == option_id)
    }

    fn ids(&self) -> Vec<String> {
        self.options
            .iter()
            .map(|option| option.id.clone())
            .collect()
    }
}

/// `option_id` is there: it is known exactly or nothing is done; it is never looked up as text.
fn chosen(
    card: &Card<'_>,
    id: &str,
    values: Option<&Values>,
    text: Option<&str>,
) -> Result<Applied, InvalidAnswer> {
    if values.is_some_and(|values| !values.is_empty()) {
        return Err(InvalidAnswer::NotAForm);
    }
    if card.options.iter().any(|option| option.id == id) {
        if text.is_some() && !card.carries(id) {
            return Err(InvalidAnswer::TextNotCarried {
                option: id.to_owned(),
            });
        }
        return Ok(Applied {
            option_id: Some(id.to_owned()),
            text: text.map(str::to_owned),
            values: None,
        });
    }
    // A client that draws no forms shows the choices of a single question as options (AEP-0006).
    if card.kind == Kind::Form && text.is_none() {
        if let Some(values) = form::single_choice(card.fields, id) {
            return Ok(Applied {
                values: Some(values),
                ..Applied::default()
            });
        }
    }
    Err(InvalidAnswer::UnknownOption {
        given: id.to_owned(),
        known: card.ids(),
    })
}

/// Words alone.
fn worded(card: &Card<'_>, text: &str) -> Result<Applied, InvalidAnswer> {
    let name = trimmed(text);
    let option = named(
        card.options
            .iter()
            .map(|option| (option.id.as_str(), option.label.as_str())),
        name,
    );
    if let Some(index) = option {
        return Ok(Applied {
            option_id: card.options.get(index).map(|option| option.id.clone()),
            ..Applied::default()
        });
    }
    let unmatched = || {
        Err(InvalidAnswer::UnmatchedText {
            given: name.to_owned(),
            known: card.ids(),
        })
    };
    match card.kind {
        // Nothing that names no option ever grants: it refuses, or it is invalid.
        Kind::Permission | Kind::Review => match default_refusal(card) {
            Some(option) if card.carries(&option.id) => Ok(Applied {
                option_id: Some(option.id.clone()),
                text: Some(text.to_owned()),
                values: None,
            }),
            _ => unmatched(),
        },
        Kind::Input if card.text == TextUse::Answer => Ok(Applied {
            text: Some(text.to_owned()),
            ..Applied::default()
        }),
        Kind::Input if card.options.is_empty() => Err(InvalidAnswer::TextNotTaken {
            instead: "answer it in the agent's own terminal",
        }),
        Kind::Input => unmatched(),
        Kind::Form => form::filled_by(card.fields, text).map(|values| Applied {
            values: Some(values),
            ..Applied::default()
        }),
    }
}

/// Which of these the text names: an id, else exactly one label (`specs/010 §2.2`). Blank names nothing.
pub(crate) fn named<'a>(
    choices: impl Iterator<Item = (&'a str, &'a str)> + Clone,
    text: &str,
) -> Option<usize> {
    if text.is_empty() {
        return None;
    }
    if let Some(index) = choices.clone().position(|(id, _)| equal_folded(id, text)) {
        return Some(index);
    }
    let mut labelled = choices
        .enumerate()
        .filter(|(_, (_, label))| equal_folded(label, text));
    let (index, _) = labelled.next()?;
    labelled.next().is_none().then_some(index)
}

/// Without the white space around it, and without a byte order mark.
pub(crate) fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
}

/// Equal under Unicode default full case folding. No locale, no normalisation; upper-casing would make a
/// dotless i equal to a dotted one, folding does not.
pub(crate) fn equal_folded(a: &str, b: &str) -> bool {
    caseless::default_caseless_match_str(a, b)
}
