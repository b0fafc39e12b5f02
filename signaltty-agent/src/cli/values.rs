//! Values of a form as they are typed: `FIELD=VALUE`, choices by id or label.

use signaltty_core::model::{Decision, Field, FieldType, Value, Values};

/// Reads `FIELD=VALUE` pairs for the fields of a decision. The host checks them as a whole.
///
/// # Errors
/// In words: which one is none, and what would be.
pub(super) fn read<'a>(
    decision: &Decision,
    pairs: impl IntoIterator<Item = &'a str>,
) -> Result<Values, String> {
    let mut values = Values::new();
    for pair in pairs {
        let (id, text) = pair
            .split_once('=')
            .ok_or_else(|| format!("{pair:?} is no FIELD=VALUE"))?;
        let id = id.trim();
        let Some(field) = decision.fields.iter().find(|field| field.id == id) else {
            let known: Vec<&str> = decision
                .fields
                .iter()
                .map(|field| field.id.as_str())
                .collect();
            return Err(format!(
                "no field {id:?}; the fields are {}",
                known.join(", ")
            ));
        };
        let value = value(field, text.trim())?;
        match (values.get_mut(id), value) {
            (Some(Value::Many(all)), Value::Many(more)) => all.extend(more),
            (Some(_), _) => return Err(format!("field {id} is given twice")),
            (None, value) => {
                values.insert(id.to_owned(), value);
            }
        }
    }
    Ok(values)
}

/// Reads one field's value.
pub(super) fn value(field: &Field, text: &str) -> Result<Value, String> {
    match field.field_type {
        FieldType::String => Ok(Value::String(text.to_owned())),
        FieldType::Number => text
            .parse()
            .map(Value::Number)
            .map_err(|_| format!("field {} takes a number, not {text:?}", field.id)),
        FieldType::Boolean => match text.to_ascii_lowercase().as_str() {
            "true" | "yes" => Ok(Value::Boolean(true)),
            "false" | "no" => Ok(Value::Boolean(false)),
            _ => Err(format!("field {} takes yes or no, not {text:?}", field.id)),
        },
        FieldType::Select if field.multi => {
            // A label may itself have a comma in it.
            if let Some(id) = choice(field, text) {
                return Ok(Value::Many(vec![id]));
            }
            let words = text
                .split(',')
                .map(str::trim)
                .filter(|word| !word.is_empty());
            Ok(Value::Many(
                words
                    .map(|word| choice(field, word).unwrap_or_else(|| word.to_owned()))
                    .collect(),
            ))
        }
        FieldType::Select => Ok(Value::String(
            choice(field, text).unwrap_or_else(|| text.to_owned()),
        )),
    }
}

/// The choice that a word names, by its id or by its label.
fn choice(field: &Field, word: &str) -> Option<String> {
    let by_id = field.choices.iter().find(|choice| choice.id == word);
    let by_label = || {
        field
            .choices
            .iter()
            .find(|choice| choice.label.to_lowercase() == word.to_lowercase())
    };
    by_id.or_else(by_label).map(|choice| choice.id.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn form() -> Decision {
        serde_json::from_value(json!({
            "id": "d", "pane_id": "p", "kind": "form", "prompt": "?", "text": "none", "answerable": true,
            "asked_at": 0, "agent": "a", "fields": [
                { "id": "port", "type": "select", "label": "Port", "other": true,
                  "choices": [{ "id": "1", "label": "8080" }, { "id": "2", "label": "9090, or so" }] },
                { "id": "parts", "type": "select", "label": "Parts", "multi": true,
                  "choices": [{ "id": "1", "label": "Doc" }, { "id": "2", "label": "a, b" }] },
                { "id": "n", "type": "number", "label": "N" },
                { "id": "now", "type": "boolean", "label": "Now" },
                { "id": "why", "type": "string", "label": "Why" },
            ],
        }))
        .expect("a form")
    }

    #[test]
    fn choices_are_named_by_id_or_label() {
        let values = read(
            &form(),
            [
                "port=8080",
                "parts=doc",
                "parts=a, b",
                "n=1.5",
                "now=Yes",
                "why= a=b ",
            ],
        )
        .expect("values");
        assert_eq!(values["port"], Value::String("1".into()));
        assert_eq!(values["parts"], Value::Many(vec!["1".into(), "2".into()]));
        assert_eq!(values["n"], Value::Number(1.5));
        assert_eq!(values["now"], Value::Boolean(true));
        assert_eq!(values["why"], Value::String("a=b".into()));
        assert_eq!(
            read(&form(), ["parts=2,doc"]).expect("values")["parts"],
            Value::Many(vec!["2".into(), "1".into()])
        );
        assert_eq!(
            read(&form(), ["port=7070"]).expect("values")["port"],
            Value::String("7070".into())
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (pair, word) in [
            ("port", "FIELD=VALUE"),
            ("nope=1", "nope"),
            ("n=many", "number"),
            ("now=maybe", "yes or no"),
        ] {
            assert!(
                read(&form(), [pair]).expect_err("wrong").contains(word),
                "{pair}"
            );
        }
        assert!(read(&form(), ["n=1", "n=2"]).is_err());
    }
}
