//! `AskUserQuestion`: a form of one to four questions.
//!
//! Answered, the call is allowed with the answers written into its input, by the question's own words. Its
//! dialog closes with a report of its own (`PostToolUse`) or, on Esc, with the end of the hook: no keys are
//! watched, because a digit may only move on to the next question.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};
use signaltty_core::adapter::{AdapterError, AnswerChannel, Ask, Holding, HookLoss};
use signaltty_core::answer::Applied;
use signaltty_core::limits::FIELDS_MAX;
use signaltty_core::model::{Choice, Field, FieldType, Kind, RespondVia, TextUse, Value, Values};

use super::super::card::{DENY, deny};
use super::{AGENT, cannot, refusal};
use crate::reading::Members;

/// How the carry names this card.
pub(super) const CARD: &str = "questions";

/// Between the labels of several choices, as its own dialog joins them.
const JOINT: &str = ", ";

/// The form.
///
/// # Errors
/// Questions that cannot be read: half a form would be answered for questions that nobody saw.
pub(super) fn ask(value: &Json, input: Members<'_>) -> Result<Ask, AdapterError> {
    let questions = input.list("questions");
    let fields = fields(questions).ok_or_else(|| AdapterError::Payload {
        agent: AGENT,
        problem: "tool_input.questions is no list of questions with options".into(),
    })?;
    let prompt = match fields.as_slice() {
        [only] => only.label.clone(),
        several => format!("{} questions", several.len()),
    };
    // One question that text can fill is answered by typing; several are answered whole (specs/010 §2.5).
    let text = if fields.len() == 1 {
        TextUse::Answer
    } else {
        TextUse::Reason
    };
    Ok(Ask {
        kind: Kind::Form,
        prompt,
        options: vec![deny("Decline to answer")],
        fields,
        text,
        respond_via: Some(vec![RespondVia::Control, RespondVia::Oob]),
        channel: AnswerChannel::HookVerdict,
        holding: Holding::Always,
        hook_loss: HookLoss::MovedOn,
        carry: json!({ "card": CARD, "input": value }),
        ..Ask::default()
    })
}

/// One field a question, ids counted from 1 as the field's and the choice's number.
fn fields(questions: &[Json]) -> Option<Vec<Field>> {
    if questions.is_empty() || questions.len() > FIELDS_MAX {
        return None;
    }
    let mut words: Vec<&str> = questions
        .iter()
        .filter_map(|question| question.get("question")?.as_str())
        .collect();
    words.sort_unstable();
    words.dedup();
    // Answers are named by the question's words: two equal ones could not be told apart.
    if words.len() != questions.len() {
        return None;
    }
    questions
        .iter()
        .enumerate()
        .map(|(index, question)| field(index + 1, Members::of(question)?))
        .collect()
}

fn field(number: usize, question: Members<'_>) -> Option<Field> {
    let asked = question.text("question")?;
    let label = match question.text("header") {
        Some(header) => format!("{header}: {asked}"),
        None => asked.to_owned(),
    };
    let options = question.list("options");
    if options.len() > FIELDS_MAX {
        return None;
    }
    let choices: Option<Vec<Choice>> = options
        .iter()
        .enumerate()
        .map(|(index, option)| {
            let option = Members::of(option)?;
            Some(Choice {
                id: (index + 1).to_string(),
                label: option.text("label")?.to_owned(),
                description: option.owned("description"),
            })
        })
        .collect();
    let choices = choices?;
    let free = choices.is_empty();
    Some(Field {
        id: number.to_string(),
        field_type: if free {
            FieldType::String
        } else {
            FieldType::Select
        },
        label,
        required: true,
        choices,
        multi: !free && question.flag("multiSelect"),
        // Its own dialog always offers "Type something."
        other: !free,
        min: None,
        max: None,
    })
}

/// The `decision` of the hook's output.
pub(super) fn verdict(carry: &Json, applied: &Applied) -> Result<Json, AdapterError> {
    if applied.option_id.as_deref() == Some(DENY) {
        return Ok(refusal(applied.text.as_deref()));
    }
    let input = carry
        .get("input")
        .and_then(Json::as_object)
        .ok_or_else(|| cannot("the questions are lost"))?;
    let questions = input
        .get("questions")
        .and_then(Json::as_array)
        .map_or(&[][..], Vec::as_slice);
    let fields = fields(questions).ok_or_else(|| cannot("the questions are lost"))?;
    let values = match (&applied.values, &applied.text) {
        (Some(values), _) => values.clone(),
        (None, Some(text)) if fields.len() == 1 => fields
            .iter()
            .map(|field| (field.id.clone(), Value::String(text.clone())))
            .collect::<BTreeMap<_, _>>(),
        _ => return Err(cannot("a form is answered by its values")),
    };
    let mut answers = Map::new();
    for (field, question) in fields.iter().zip(questions) {
        let asked = question
            .get("question")
            .and_then(Json::as_str)
            .unwrap_or_default();
        answers.insert(asked.to_owned(), Json::String(spelled(field, &values)?));
    }
    let mut updated = input.clone();
    updated.insert("answers".into(), Json::Object(answers));
    Ok(json!({ "behavior": "allow", "updatedInput": updated }))
}

/// A field's value as the dialog itself would have written it: labels, or the words typed.
fn spelled(field: &Field, values: &Values) -> Result<String, AdapterError> {
    let label = |id: &String| {
        field
            .choices
            .iter()
            .find(|choice| &choice.id == id)
            .map_or_else(|| id.clone(), |choice| choice.label.clone())
    };
    match values.get(&field.id) {
        Some(Value::String(text)) => Ok(label(text)),
        Some(Value::Many(ids)) => Ok(ids.iter().map(label).collect::<Vec<_>>().join(JOINT)),
        Some(Value::Number(number)) => Ok(number.to_string()),
        Some(Value::Boolean(truth)) => Ok(truth.to_string()),
        None => Err(cannot("an answer is missing")),
    }
}
