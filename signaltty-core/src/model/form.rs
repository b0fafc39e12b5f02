//! Fields of a form and the values that answer it (the shape of AEP-0006).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a field takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FieldType {
    /// Free text.
    String,
    /// A number, within `min` and `max` where they are given.
    Number,
    /// Yes or no.
    Boolean,
    /// One of the choices, or several where `multi` is set, or other text where `other` is set.
    Select,
}

/// One choice of a select field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Choice {
    /// What an answer names it by.
    pub id: String,
    /// What a person reads.
    pub label: String,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// One question of a form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Field {
    /// What `values` names it by.
    pub id: String,
    /// What it takes.
    #[serde(rename = "type")]
    pub field_type: FieldType,
    /// What a person reads.
    pub label: String,
    /// Whether an answer must have it. Default: yes.
    #[serde(default = "required")]
    pub required: bool,
    /// The choices of a select.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Choice>,
    /// A select that takes several.
    #[serde(default, skip_serializing_if = "is_false")]
    pub multi: bool,
    /// A select that also takes text that is none of its choices.
    #[serde(default, skip_serializing_if = "is_false")]
    pub other: bool,
    /// Least number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// Greatest number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
}

/// One value of an answer: text or a choice's id, a number, a truth value, or several choices' ids.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Value {
    /// Yes or no.
    Boolean(bool),
    /// A number.
    Number(f64),
    /// Free text, or the id of a choice.
    String(String),
    /// Ids of the choices of a `multi` select.
    Many(Vec<String>),
}

/// An answer to a form, by field id.
pub type Values = BTreeMap<String, Value>;

fn required() -> bool {
    true
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
fn is_false(value: &bool) -> bool {
    !value
}
