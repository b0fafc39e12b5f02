//! Typed errors of the wire.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::session::{SessionError, error::Fate};

/// What kind of error it is. Clients decide by this alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ErrorCode {
    /// The line is no request: not JSON, no object, no method, no id.
    BadRequest,
    /// A parameter is missing, of the wrong type or out of bounds; `data.path` names it.
    BadParams,
    /// No method of that name.
    UnknownMethod,
    /// `hello` asked for a protocol that this host does not speak; `data` names both ranges.
    UnsupportedProtocol,
    /// No pane of that id.
    NoSuchPane,
    /// The decision is not pending; `data.state` says what became of it.
    NoSuchDecision,
    /// The pane's program has ended.
    PaneExited,
    /// The caller may not; the message says why and what to do instead.
    Forbidden,
    /// The answer was consumed, and the agent did not get it.
    DeliveryFailed,
    /// Too many of these in too short a time, or too many at once.
    RateLimited,
    /// A line or a payload is over its bound.
    TooLarge,
    /// The program could not be started.
    SpawnFailed,
    /// The wait was over before it happened.
    Timeout,
    /// A fault of ours.
    Internal,
}

/// An error as it travels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[error("{message}")]
pub struct WireError {
    /// What kind.
    pub code: ErrorCode,
    /// For people: what was wrong and what would be right.
    pub message: String,
    /// For programs: `path`, `state`, `applied`, `by`, `reason`, … as the code says.
    #[serde(default, skip_serializing_if = "Json::is_null")]
    pub data: Json,
}

impl WireError {
    /// An error without data.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: Json::Null,
        }
    }

    /// The same with data.
    #[must_use]
    pub fn with(mut self, data: Json) -> Self {
        self.data = data;
        self
    }

    /// `BAD_PARAMS` with the path of the member.
    pub fn bad_params(path: &str, problem: impl std::fmt::Display) -> Self {
        let at = if path.is_empty() || path == "." {
            "params".to_owned()
        } else {
            path.to_owned()
        };
        Self::new(ErrorCode::BadParams, format!("{at}: {problem}")).with(json!({ "path": at }))
    }
}

impl From<SessionError> for WireError {
    fn from(error: SessionError) -> Self {
        let message = error.to_string();
        match error {
            SessionError::NoSuchPane(pane_id) => {
                Self::new(ErrorCode::NoSuchPane, message).with(json!({ "pane_id": pane_id }))
            }
            SessionError::PaneExited(pane_id) => {
                Self::new(ErrorCode::PaneExited, message).with(json!({ "pane_id": pane_id }))
            }
            SessionError::NoSuchDecision { decision_id, fate } => {
                let mut data = json!({ "decision_id": decision_id });
                let said = match *fate {
                    Fate::Unknown => {
                        data["state"] = json!("unknown");
                        "there is no such decision here".to_owned()
                    }
                    Fate::Queued => {
                        data["state"] = json!("queued");
                        "it stands in line behind another".to_owned()
                    }
                    Fate::Answering { by } => {
                        data["state"] = json!("answering");
                        data["by"] = json!(by);
                        format!("it is being answered by {by}")
                    }
                    Fate::Superseded { by } => {
                        data["state"] = json!("superseded");
                        data["superseded_by"] = json!(by);
                        format!("{by} took its place")
                    }
                    Fate::Ended {
                        reason,
                        applied,
                        by,
                        via,
                    } => {
                        data["state"] = json!(reason);
                        data["reason"] = json!(reason);
                        if let Some(applied) = applied {
                            data["applied"] = json!(applied);
                        }
                        let mut said = format!("it ended: {}", reason.as_str());
                        if let Some(by) = by {
                            said = format!("{said} by {by}");
                            data["by"] = json!(by);
                        }
                        if let Some(via) = via {
                            data["via"] = json!(via);
                        }
                        said
                    }
                };
                Self::new(ErrorCode::NoSuchDecision, format!("{message}: {said}")).with(data)
            }
            SessionError::NotAnswerable(decision_id) => Self::new(ErrorCode::BadParams, message)
                .with(json!({ "reason": "not_answerable", "decision_id": decision_id })),
            SessionError::Invalid(invalid) => Self::new(ErrorCode::BadParams, message)
                .with(json!({ "reason": "invalid_answer", "path": invalid.path() })),
            SessionError::BadDecision { path, .. } => {
                Self::new(ErrorCode::BadParams, message).with(json!({ "path": path }))
            }
            SessionError::Forbidden(_) => Self::new(ErrorCode::Forbidden, message),
            SessionError::DeliveryFailed(_) => Self::new(ErrorCode::DeliveryFailed, message),
            SessionError::Limit { what, limit } => Self::new(ErrorCode::RateLimited, message)
                .with(json!({ "what": what, "limit": limit })),
        }
    }
}
