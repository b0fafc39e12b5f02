//! What may be offered: options and fields that an answer can name without doubt (`specs/010 §2.6`).

use super::form::clash;
use super::{equal_folded, trimmed};
use crate::limits::{FIELDS_MAX, LABEL_MAX, OPTIONS_MAX};
use crate::model::{AnswerOption, Field, FieldType, id};

/// Why an offer cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct BadOffer {
    /// The member, from the decision: `options[1].id`.
    pub path: String,
    /// What is wrong, and what would be right.
    pub problem: String,
}

fn bad<T>(path: impl Into<String>, problem: impl Into<String>) -> Result<T, BadOffer> {
    Err(BadOffer {
        path: path.into(),
        problem: problem.into(),
    })
}

/// Checks options: at most [`OPTIONS_MAX`], ids of the id alphabet, labels that are not blank and at most
/// [`LABEL_MAX`] bytes, and no two that one word could name.
///
/// # Errors
/// The first member that is wrong.
pub fn check_options(options: &[AnswerOption]) -> Result<(), BadOffer> {
    if options.len() > OPTIONS_MAX {
        return bad(
            "options",
            format!(
                "{} options are too many; at most {OPTIONS_MAX}",
                options.len()
            ),
        );
    }
    for (index, option) in options.iter().enumerate() {
        check_name(&format!("options[{index}]"), &option.id, &option.label)?;
    }
    match clash(
        options
            .iter()
            .map(|option| (option.id.as_str(), option.label.as_str())),
    ) {
        Some((index, member, problem)) => bad(format!("options[{index}].{member}"), problem),
        None => Ok(()),
    }
}

/// Checks the fields of a form: at most [`FIELDS_MAX`], unique ids, and choices as [`check_options`].
///
/// # Errors
/// The first member that is wrong.
pub fn check_fields(fields: &[Field]) -> Result<(), BadOffer> {
    if fields.len() > FIELDS_MAX {
        return bad(
            "fields",
            format!("{} fields are too many; at most {FIELDS_MAX}", fields.len()),
        );
    }
    for (index, field) in fields.iter().enumerate() {
        let at = format!("fields[{index}]");
        check_name(&at, &field.id, &field.label)?;
        if fields[..index]
            .iter()
            .any(|earlier| equal_folded(&earlier.id, &field.id))
        {
            return bad(format!("{at}.id"), format!("{:?} is there twice", field.id));
        }
        if field.field_type == FieldType::Select {
            check_choices(&at, field)?;
        }
        if let (Some(min), Some(max)) = (field.min, field.max) {
            if min > max {
                return bad(format!("{at}.min"), format!("{min} is more than max {max}"));
            }
        }
    }
    Ok(())
}

fn check_choices(at: &str, field: &Field) -> Result<(), BadOffer> {
    let count = field.choices.len();
    if count == 0 || count > FIELDS_MAX {
        return bad(
            format!("{at}.choices"),
            format!("a select needs 1 to {FIELDS_MAX} choices, not {count}"),
        );
    }
    for (index, choice) in field.choices.iter().enumerate() {
        check_name(&format!("{at}.choices[{index}]"), &choice.id, &choice.label)?;
        if choice
            .description
            .as_ref()
            .is_some_and(|text| text.len() > LABEL_MAX)
        {
            return bad(
                format!("{at}.choices[{index}].description"),
                format!("at most {LABEL_MAX} bytes"),
            );
        }
    }
    match clash(
        field
            .choices
            .iter()
            .map(|choice| (choice.id.as_str(), choice.label.as_str())),
    ) {
        Some((index, member, problem)) => bad(format!("{at}.choices[{index}].{member}"), problem),
        None => Ok(()),
    }
}

fn check_name(at: &str, id: &str, label: &str) -> Result<(), BadOffer> {
    if let Err(invalid) = id::check(id) {
        return bad(format!("{at}.id"), invalid.to_string());
    }
    if trimmed(label).is_empty() {
        return bad(format!("{at}.label"), "it is blank");
    }
    if label.len() > LABEL_MAX {
        return bad(
            format!("{at}.label"),
            format!("{} bytes are too many; at most {LABEL_MAX}", label.len()),
        );
    }
    Ok(())
}
