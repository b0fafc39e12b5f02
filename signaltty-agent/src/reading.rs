//! Typed access to the members of a vendor's payload.
//!
//! A payload is untrusted and changes with the vendor's versions: a member that is missing or of another
//! type is simply not there, and whoever needs it says so.

use serde_json::{Map, Value as Json};
use signaltty_core::adapter::{AdapterError, CallRef, canonical};

/// The members of one JSON object.
#[derive(Debug, Clone, Copy)]
pub struct Members<'a>(&'a Map<String, Json>);

impl<'a> Members<'a> {
    /// The members of `value`, if it is an object.
    pub fn of(value: &'a Json) -> Option<Self> {
        value.as_object().map(Self)
    }

    /// The members of a payload.
    ///
    /// # Errors
    /// [`AdapterError::Payload`] where it is no object.
    pub fn of_payload(agent: &'static str, payload: &'a Json) -> Result<Self, AdapterError> {
        Self::of(payload).ok_or_else(|| AdapterError::Payload {
            agent,
            problem: "it is no JSON object".into(),
        })
    }

    /// A member as it is.
    pub fn get(&self, name: &str) -> Option<&'a Json> {
        self.0.get(name)
    }

    /// A text. An empty one counts as absent.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        self.get(name)?.as_str().filter(|text| !text.is_empty())
    }

    /// A text that may be empty.
    pub fn maybe_empty(&self, name: &str) -> Option<&'a str> {
        self.get(name)?.as_str()
    }

    /// An owned text, for the members of a [`signaltty_core::adapter::Reading`].
    pub fn owned(&self, name: &str) -> Option<String> {
        self.text(name).map(str::to_owned)
    }

    /// A truth value; absent is false.
    pub fn flag(&self, name: &str) -> bool {
        self.get(name).and_then(Json::as_bool).unwrap_or(false)
    }

    /// A list; absent is empty.
    pub fn list(&self, name: &str) -> &'a [Json] {
        self.get(name)
            .and_then(Json::as_array)
            .map_or(&[], Vec::as_slice)
    }

    /// A text that the payload must have.
    ///
    /// # Errors
    /// [`AdapterError::Payload`] names it.
    pub fn required(&self, agent: &'static str, name: &str) -> Result<&'a str, AdapterError> {
        self.text(name).ok_or_else(|| AdapterError::Payload {
            agent,
            problem: format!("{name} is missing or no text"),
        })
    }

    /// The object that the payload must have under this name, as a value and as its members.
    ///
    /// # Errors
    /// [`AdapterError::Payload`] names it.
    pub fn required_object(
        &self,
        agent: &'static str,
        name: &str,
    ) -> Result<(&'a Json, Members<'a>), AdapterError> {
        self.get(name)
            .and_then(|value| Some((value, Self::of(value)?)))
            .ok_or_else(|| AdapterError::Payload {
                agent,
                problem: format!("{name} is missing or no object"),
            })
    }

    /// The members that are not named in `shown`, as `name: value` for people. A card must show the whole of
    /// what it asks for, so what no special view shows is shown by this.
    pub fn others(&self, shown: &[&str]) -> Vec<String> {
        self.0
            .iter()
            .filter(|(name, _)| !shown.contains(&name.as_str()))
            .map(|(name, value)| match value {
                Json::String(text) => format!("{name}: {text}"),
                other => format!("{name}: {other}"),
            })
            .collect()
    }
}

/// The call that a payload is about, with its input as `same` wants it compared.
pub fn call(members: Members<'_>, same: impl FnOnce(&str, &Json) -> String) -> Option<CallRef> {
    let tool = members.text("tool_name")?;
    let input = members
        .get("tool_input")
        .map(|input| same(tool, input))
        .unwrap_or_default();
    Some(CallRef {
        call_id: members.owned("tool_use_id"),
        tool: tool.to_owned(),
        input,
    })
}

/// The canonical text of an input without some of its members.
pub fn canonical_without(input: &Json, dropped: &[&str]) -> String {
    match input {
        Json::Object(members) => {
            let kept = members
                .iter()
                .filter(|(name, _)| !dropped.contains(&name.as_str()));
            canonical(&Json::Object(
                kept.map(|(name, value)| (name.clone(), value.clone()))
                    .collect(),
            ))
        }
        other => canonical(other),
    }
}
