//! The answer to a form: whole or not at all (`specs/010 §2.5`, AEP-0006).

use std::collections::BTreeSet;

use super::{InvalidAnswer, equal_folded, named, trimmed};
use crate::limits::TEXT_MAX;
use crate::model::{Field, FieldType, Value, Values};

/// Checks every value and gives back what is applied.
///
/// # Errors
/// [`InvalidAnswer::Field`] names the first field that is missing, unknown or wrong.
pub(super) fn whole(fields: &[Field], values: &Values) -> Result<Values, InvalidAnswer> {
    if let Some(unknown) = values
        .keys()
        .find(|id| fields.iter().all(|field| field.id != **id))
    {
        return Err(wrong(unknown, "this form has no such field"));
    }
    let mut applied = Values::new();
    for field in fields {
        match values.get(&field.id) {
            Some(value) => {
                applied.insert(field.id.clone(), checked(field, value)?);
            }
            None if field.required => return Err(wrong(&field.id, "it needs a value")),
            None => {}
        }
    }
    if applied.is_empty() {
        return Err(InvalidAnswer::Empty);
    }
    Ok(applied)
}

/// What a text alone fills in: the only field, where that takes words or names a choice.
pub(super) fn filled_by(fields: &[Field], text: &str) -> Result<Values, InvalidAnswer> {
    let [field] = fields else {
        return Err(InvalidAnswer::TextNotTaken {
            instead: "send values, one for each field",
        });
    };
    let value = match field.field_type {
        FieldType::String => Value::String(text.to_owned()),
        FieldType::Select => {
            let choices = field
                .choices
                .iter()
                .map(|choice| (choice.id.as_str(), choice.label.as_str()));
            let chosen = named(choices, trimmed(text)).and_then(|index| field.choices.get(index));
            match chosen {
                Some(choice) => select(field, choice.id.clone()),
                None if field.other => select(field, text.to_owned()),
                None => return Err(wrong(&field.id, &no_choice(field))),
            }
        }
        FieldType::Number | FieldType::Boolean => {
            return Err(InvalidAnswer::TextNotTaken {
                instead: "send values with a value for its field",
            });
        }
    };
    Ok(Values::from([(field.id.clone(), value)]))
}

/// The value that a choice's id, sent as an option, stands for: only where the form is one select.
pub(super) fn single_choice(fields: &[Field], id: &str) -> Option<Values> {
    let [field] = fields else { return None };
    let known =
        field.field_type == FieldType::Select && field.choices.iter().any(|choice| choice.id == id);
    known.then(|| Values::from([(field.id.clone(), select(field, id.to_owned()))]))
}

fn select(field: &Field, id: String) -> Value {
    if field.multi {
        Value::Many(vec![id])
    } else {
        Value::String(id)
    }
}

fn checked(field: &Field, value: &Value) -> Result<Value, InvalidAnswer> {
    let bad = |problem: &str| Err(wrong(&field.id, problem));
    match (field.field_type, value) {
        (FieldType::String, Value::String(text)) => {
            if field.required && trimmed(text).is_empty() {
                return bad("it is blank");
            }
            if text.len() > TEXT_MAX {
                return bad(&format!("it is longer than {TEXT_MAX} bytes"));
            }
            Ok(value.clone())
        }
        (FieldType::String, _) => bad("it takes text"),
        (FieldType::Boolean, Value::Boolean(_)) => Ok(value.clone()),
        (FieldType::Boolean, _) => bad("it takes true or false"),
        (FieldType::Number, Value::Number(number)) => {
            let least = field.min.unwrap_or(f64::NEG_INFINITY);
            let most = field.max.unwrap_or(f64::INFINITY);
            if !number.is_finite() {
                bad("it takes a finite number")
            } else if *number < least || *number > most {
                bad(&format!("it takes a number from {least} to {most}"))
            } else {
                Ok(value.clone())
            }
        }
        (FieldType::Number, _) => bad("it takes a number"),
        (FieldType::Select, Value::String(id)) => {
            choice(field, id)?;
            Ok(select(field, id.clone()))
        }
        (FieldType::Select, Value::Many(ids)) if field.multi => {
            if field.required && ids.is_empty() {
                return bad("it needs at least one choice");
            }
            let mut seen = BTreeSet::new();
            for id in ids {
                choice(field, id)?;
                if !seen.insert(id) {
                    return bad(&format!("it has {id:?} twice"));
                }
            }
            Ok(value.clone())
        }
        (FieldType::Select, Value::Many(_)) => bad("it takes one choice"),
        (FieldType::Select, _) => bad("it takes the id of a choice"),
    }
}

fn choice(field: &Field, id: &str) -> Result<(), InvalidAnswer> {
    let listed = field.choices.iter().any(|choice| choice.id == id);
    let other = field.other && !trimmed(id).is_empty() && id.len() <= TEXT_MAX;
    if listed || other {
        Ok(())
    } else {
        Err(wrong(&field.id, &no_choice(field)))
    }
}

fn no_choice(field: &Field) -> String {
    let ids: Vec<_> = field
        .choices
        .iter()
        .map(|choice| choice.id.as_str())
        .collect();
    format!("that is none of its choices {ids:?}")
}

fn wrong(field: &str, problem: &str) -> InvalidAnswer {
    let field = field.chars().take(crate::limits::ID_MAX).collect();
    InvalidAnswer::Field {
        field,
        problem: problem.to_owned(),
    }
}

/// Whether two of these could be meant by the same word: ids equal after folding, or an id equal to
/// another's label (`specs/010 §2.6`). Gives the index of the later one and what is wrong with it.
pub(super) fn clash<'a>(
    choices: impl Iterator<Item = (&'a str, &'a str)> + Clone,
) -> Option<(usize, &'static str, String)> {
    for (index, (id, label)) in choices.clone().enumerate() {
        for (earlier_id, earlier_label) in choices.clone().take(index) {
            if equal_folded(id, earlier_id) {
                return Some((
                    index,
                    "id",
                    format!("{id:?} and {earlier_id:?} are the same id in another case"),
                ));
            }
            if equal_folded(id, trimmed(earlier_label)) {
                return Some((
                    index,
                    "id",
                    format!("{id:?} is the label of option {earlier_id:?}"),
                ));
            }
            if equal_folded(trimmed(label), earlier_id) {
                return Some((
                    index,
                    "label",
                    format!("{label:?} is the id of another option"),
                ));
            }
        }
    }
    None
}
