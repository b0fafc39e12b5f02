//! What can go wrong between a host and its keeper.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use super::super::wire::{META_MAX, Refusal};
use crate::model::PaneId;
use crate::paths::PathError;

/// Why the keeper did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum KeeperError {
    /// No socket for it could be made.
    #[error(transparent)]
    Socket(PathError),
    /// Its socket is there and cannot be connected to.
    #[error("cannot connect to the keeper: {0}")]
    Connect(#[source] io::Error),
    /// It could not be started.
    #[error("{} keeper: {reason}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// What it said, or how it ended.
        reason: String,
    },
    /// It does not take this process for the host.
    #[error("the keeper refuses this host: {}", refusal(*.0))]
    Refused(Refusal),
    /// Who listens on the keeper's socket is no keeper of ours: another user's process, one that runs inside a
    /// pane or may do so, or one that lies about its pid.
    #[error(
        "process {} listens on the keeper's socket and is no keeper that can be trusted",
        pid.map_or_else(|| "of another namespace".to_owned(), |pid| pid.to_string())
    )]
    Impostor {
        /// Its process, if that can be seen.
        pid: Option<i32>,
    },
    /// What it sent cannot be understood.
    #[error("the keeper sent what is no message: {0}")]
    Malformed(String),
    /// It does not answer.
    #[error("the keeper does not answer")]
    Silent,
    /// It is gone, and the panes with it.
    #[error("the keeper is gone")]
    Lost,
    /// It has no such pane.
    #[error("the keeper holds no such pane")]
    NoSuchPane,
    /// The pane's program has ended.
    #[error("the pane's program has ended")]
    Ended,
    /// The record of a pane is over [`META_MAX`].
    #[error("a pane's record of {len} bytes is over the bound of {META_MAX}")]
    TooLarge {
        /// Its length.
        len: usize,
    },
    /// The kernel said no.
    #[error("the keeper: {0}")]
    Io(#[source] io::Error),
}

fn refusal(reason: Refusal) -> &'static str {
    match reason {
        Refusal::NoLock => "it does not hold the host lock",
        Refusal::Version => "they have no version of their messages in common",
        Refusal::Inside => "it runs inside a pane, or that cannot be ruled out",
        Refusal::User => "it is another user's",
        Refusal::Malformed => "it sent what is no message",
    }
}

/// Why a program did not start.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The folder cannot be entered.
    #[error("cannot enter {}: {source}", cwd.display())]
    Cwd {
        /// The folder.
        cwd: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The program cannot be run.
    #[error("cannot run {}: {source}", program.to_string_lossy())]
    Program {
        /// The program.
        program: OsString,
        /// Why: `NotFound`, `PermissionDenied`, `E2BIG`, …
        source: io::Error,
    },
    /// No terminal, no memory or no process was to be had.
    #[error("cannot make the pane's terminal: {0}")]
    Setup(#[source] io::Error),
    /// There is a pane of that id.
    #[error("there is a pane {0} already")]
    Exists(PaneId),
    /// The keeper holds as many panes as it may.
    #[error("the keeper holds as many panes as it may")]
    TooMany,
    /// Arguments, variables or record are empty where they may not be, hold a NUL, or are too many.
    #[error("{0}")]
    Invalid(&'static str),
    /// The keeper did not even try.
    #[error(transparent)]
    Keeper(#[from] KeeperError),
}
