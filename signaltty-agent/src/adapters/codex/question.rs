//! `request_user_input`: a question that Codex asks in its own dialog. Its menu rides as information, to be
//! read where the pane is not in view; it ends with the call's own report.

use serde_json::Value as Json;
use signaltty_core::adapter::{Ask, AskOption};
use signaltty_core::limits::{FIELDS_MAX, OPTIONS_MAX};
use signaltty_core::model::{Choice, Field, FieldType, Kind, Polarity};

use super::super::card::{bounded, hint_only};
use super::{QUESTION, comparable};
use crate::reading::{Members, call};

/// The hint, where the questions can be read.
pub(super) fn ask(members: Members<'_>) -> Option<Ask> {
    let questions = Members::of(members.get("tool_input")?)?.list("questions");
    let read: Option<Vec<Question<'_>>> = questions.iter().map(Question::read).collect();
    let read = read.filter(|read| !read.is_empty() && read.len() <= FIELDS_MAX)?;
    let mut ask = Ask {
        call: call(members, comparable),
        subject: Some(QUESTION.into()),
        ..Ask::default()
    };
    match read.as_slice() {
        [only] => {
            ask.kind = Kind::Input;
            ask.prompt = only.words.to_owned();
            ask.options = only.options();
        }
        several => {
            ask.kind = Kind::Form;
            ask.prompt = format!("{} questions", several.len());
            ask.fields = several
                .iter()
                .enumerate()
                .map(|(index, question)| question.field(index + 1))
                .collect();
        }
    }
    Some(hint_only(bounded(ask)))
}

/// One question of the dialog.
struct Question<'a> {
    words: &'a str,
    choices: Vec<(&'a str, Option<&'a str>)>,
}

impl<'a> Question<'a> {
    fn read(question: &'a Json) -> Option<Self> {
        let question = Members::of(question)?;
        let words = question.text("question")?;
        let choices: Option<Vec<_>> = question
            .list("options")
            .iter()
            .map(|option| {
                let option = Members::of(option)?;
                Some((option.text("label")?, option.text("description")))
            })
            .collect();
        let choices = choices.filter(|choices| choices.len() <= OPTIONS_MAX.min(FIELDS_MAX))?;
        Some(Self { words, choices })
    }

    fn options(&self) -> Vec<AskOption> {
        let label = |(label, description): &(&str, Option<&str>)| match description {
            Some(description) => format!("{label}: {description}"),
            None => (*label).to_owned(),
        };
        self.choices
            .iter()
            .enumerate()
            .map(|(index, choice)| AskOption {
                id: format!("o{}", index + 1),
                label: label(choice),
                polarity: Polarity::Neutral,
                carries_text: false,
            })
            .collect()
    }

    fn field(&self, number: usize) -> Field {
        let choices: Vec<Choice> = self
            .choices
            .iter()
            .enumerate()
            .map(|(index, (label, description))| Choice {
                id: (index + 1).to_string(),
                label: (*label).to_owned(),
                description: description.map(str::to_owned),
            })
            .collect();
        Field {
            id: number.to_string(),
            field_type: if choices.is_empty() {
                FieldType::String
            } else {
                FieldType::Select
            },
            label: self.words.to_owned(),
            required: true,
            choices,
            multi: false,
            other: false,
            min: None,
            max: None,
        }
    }
}
