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
    /// Whether it failed because the host is not there, or no longer: it may come back.
    pub host_gone: bool,
}

impl Failure {
    /// A failure with this exit code.
    pub(super) fn new(code: u8, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            host_gone: false,
        }
    }

    /// It failed.
    pub(super) fn failed(message: impl Into<String>) -> Self {
        Self::new(FAILED, message)
    }

    /// The command line is wrong in a way that only the host's state shows.
    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self::new(USAGE, message)
    }

    /// There is no such pane or decision.
    pub(super) fn missing(message: impl Into<String>) -> Self {
        Self::new(MISSING, message)
    }

    /// It may not be done from here.
    pub(super) fn forbidden(message: impl Into<String>) -> Self {
        Self::new(FORBIDDEN, message)
    }

    /// An exit code whose reason was said already.
    pub(super) fn silent(code: u8) -> Self {
        Self::new(code, "")
    }

    /// Says it on standard error.
    pub(super) fn report(&self) {
        if !self.message.is_empty() {
            super::show::aside(&format!(
                "signaltty: {}\n",
                super::show::text(&self.message)
            ));
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
        let host_gone = matches!(error, ClientError::Lost | ClientError::NoHost { .. });
        Self {
            code,
            message: error.to_string(),
            host_gone,
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::failed(error.to_string())
    }
}
