//! Lines of the socket.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{Event, WireError};
use crate::model::DecisionId;

/// A request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RequestFrame {
    /// Chosen by the caller; comes back in the reply.
    pub id: u64,
    /// The method's name.
    pub method: String,
    /// Its parameters.
    #[serde(default)]
    pub params: Json,
}

/// A reply: exactly one of `result` and `error`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResponseFrame {
    /// The request's; absent only where the line had none that could be read.
    pub id: Option<u64>,
    /// The result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Json>,
    /// The error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<WireError>,
}

/// An event with its number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventFrame {
    /// Counts every event of this run of the host, from 1.
    pub seq: u64,
    /// The event.
    #[serde(flatten)]
    pub event: Event,
}

/// The second line of a held `hook-event`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VerdictFrame {
    /// The decision that was waited for.
    pub decision_id: DecisionId,
    /// What the hook writes to its standard output; empty: no opinion.
    pub stdout: String,
}

/// Any line that a client can get.
#[derive(Debug, Clone, PartialEq)]
pub enum Incoming {
    /// A reply.
    Response(ResponseFrame),
    /// An event.
    Event(Box<EventFrame>),
    /// A verdict.
    Verdict(VerdictFrame),
}

impl Incoming {
    /// Reads one line.
    ///
    /// # Errors
    /// The line is none of the three.
    pub fn parse(line: &str) -> Result<Self, serde_json::Error> {
        let value: Json = serde_json::from_str(line)?;
        match value.get("event").and_then(Json::as_str) {
            Some("verdict") => {
                #[derive(Deserialize)]
                struct Line {
                    data: VerdictFrame,
                }
                Ok(Self::Verdict(serde_json::from_value::<Line>(value)?.data))
            }
            Some(_) => Ok(Self::Event(Box::new(serde_json::from_value(value)?))),
            None => Ok(Self::Response(serde_json::from_value(value)?)),
        }
    }
}
