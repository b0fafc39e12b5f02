//! Why a command did not do what it was asked for, and the exit code that says so (specs/020 §2).

use signaltty_core::client::ClientError;
use signaltty_core::protocol::ErrorCode;

/// Failed; for `ask`: refused.
pub(super) const FAILED: u8 = 1;
/// The command line is wrong.
pub(super) const USAGE: u8 = 2;
/// No such pane or decision.
pub(super) const MISSING: u8 = 3;
/// Timed out.
pub(super) const TIMED_OUT: u8 = 4;
/// Not allowed from here.
pub(super) const FORBIDDEN: u8 = 5;
/// `ask` could not ask.
pub(super) const NOT_ASKED: u8 = 6;

/// A failure with its exit code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    /// The exit code.
    pub code: u8,
    /// For people; empty where everything was said.
    pub message: String,
}

impl Failure {
    /// It failed.
    pub(super) fn failed(message: impl Into<String>) -> Self {
        Self {
            code: FAILED,
            message: message.into(),
        }
    }

    /// The command line is wrong in a way that only the host's state shows.
    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self {
            code: USAGE,
            message: message.into(),
        }
    }

    /// There is no such pane or decision.
    pub(super) fn missing(message: impl Into<String>) -> Self {
        Self {
            code: MISSING,
            message: message.into(),
        }
    }

    /// It may not be done from here.
    pub(super) fn forbidden(message: impl Into<String>) -> Self {
        Self {
            code: FORBIDDEN,
            message: message.into(),
        }
    }

    /// An exit code whose reason was said already.
    pub(super) fn silent(code: u8) -> Self {
        Self {
            code,
            message: String::new(),
        }
    }

    /// Says it on standard error.
    pub(super) fn report(&self) {
        if !self.message.is_empty() {
            eprintln!("signaltty: {}", super::show::text(&self.message));
        }
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        let code = match error.code() {
            Some(ErrorCode::NoSuchPane | ErrorCode::NoSuchDecision) => MISSING,
            Some(ErrorCode::Timeout) => TIMED_OUT,
            Some(ErrorCode::Forbidden) => FORBIDDEN,
            _ => FAILED,
        };
        Self {
            code,
            message: error.to_string(),
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::failed(error.to_string())
    }
}
