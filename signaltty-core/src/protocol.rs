//! The wire: requests, replies, events and errors, typed in one place (CONTRACT §1).
//!
//! One JSON object a line. `host.schema` prints the schema from these very types.

pub mod error;
pub mod event;
pub mod frame;
pub mod method;
pub mod params;
pub mod schema;

pub use error::{ErrorCode, WireError};
pub use event::{ClearReason, DecisionCleared, DecisionCreated, Event, Snapshot};
pub use frame::{EventFrame, Incoming, RequestFrame, ResponseFrame, VerdictFrame};
pub use method::{Method, Request};

/// The newest protocol that this build speaks.
pub const PROTOCOL: u32 = 1;
/// The oldest protocol that this build speaks.
pub const PROTOCOL_MIN: u32 = 1;
