//! THE state machine: (state, command, time) → events and effects.
//!
//! The only place that changes a decision, a lifecycle or an attention. No I/O, no clock, not async:
//! the host hands in the moment and the ids, and carries out the effects.

pub mod command;
pub mod effect;
pub mod error;

pub use command::{AnswerCommand, Caller, Command, HoldingSetting, NewPane, Report, ReportedBy, StreamSignal, Typist};
pub use effect::{Effect, Outcome, Reported};
pub use error::SessionError;
