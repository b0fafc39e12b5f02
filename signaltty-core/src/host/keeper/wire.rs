//! What host and keeper say to each other: versioned binary messages over a stream socket.
//!
//! A frame is a header of twelve bytes (length of the body, kind, number of descriptors, request id) and
//! its body. Integers are little endian, byte strings carry their length before them. A body may be longer
//! than its reader expects: later versions append. The keeper outlives many hosts, so a host has to speak
//! every version from 1 on; a keeper never meets an older host than the one that started it.

mod codec;

use std::os::fd::OwnedFd;

use crate::limits::PANES_MAX;
use crate::model::Exit;

/// The version that this code speaks, and the oldest that it still understands.
pub const VERSION: u16 = 1;
/// See [`VERSION`].
pub const VERSION_OLDEST: u16 = 1;
/// Largest body of a frame in bytes: arguments and environment of a program are the largest thing in one.
pub const BODY_MAX: usize = 2 * 1024 * 1024;
/// Largest body before the host has shown that it is the host.
pub const HELLO_MAX: usize = 64;
/// Largest record that a host keeps with a pane, in bytes.
pub const META_MAX: usize = 64 * 1024;
/// Panes that a keeper holds at once, ended ones included. A host has fewer: this is the keeper's own bound.
pub const HELD_MAX: usize = 2 * PANES_MAX;
/// Arguments, and variables, that one program may be started with.
pub const STRINGS_MAX: usize = 16 * 1024;
/// Descriptors that one frame may carry.
pub const FDS_MAX: usize = 2;
/// Length of a frame's header in bytes.
pub const HEADER_LEN: usize = 12;

/// Why bytes are no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The body ends too early.
    #[error("the message ends too early")]
    Short,
    /// A length or a number is out of its bounds.
    #[error("the message holds {0} that is out of bounds")]
    Bounds(&'static str),
    /// The descriptors are not those that the message needs.
    #[error("the message carries {0} descriptors")]
    Fds(usize),
    /// A kind that this version does not know.
    #[error("messages of kind {0} are not known here")]
    Kind(u16),
}

/// Which processes of a pane get a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The group of the program that the pane was started with.
    Program,
    /// The group that is in the foreground of its terminal.
    Foreground,
}

/// Where starting a program failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The keeper itself: no terminal, no memory, no process to be had.
    Setup,
    /// The folder cannot be entered.
    Cwd,
    /// The program cannot be run.
    Exec,
    /// The request was no good; the errno says how (`E2BIG`, `EEXIST`, `EINVAL`, `ENFILE`).
    Request,
}

/// A program to start.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SpawnRequest {
    /// The pane.
    pub pane_id: String,
    /// Columns and rows.
    pub size: (u16, u16),
    /// The folder.
    pub cwd: Vec<u8>,
    /// The program and its arguments.
    pub argv: Vec<Vec<u8>>,
    /// `NAME=value`.
    pub env: Vec<Vec<u8>>,
    /// The host's own record of the pane.
    pub meta: Vec<u8>,
}

/// What a host says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// First of all, with the locked lock file as descriptor: I am the host, and speak these versions.
    Hello {
        /// Oldest version.
        oldest: u16,
        /// Newest version.
        newest: u16,
    },
    /// Start a program. Answered by [`Reply::Spawned`] or [`Reply::SpawnFailed`].
    Spawn(SpawnRequest),
    /// Replace the record of a pane.
    SetMeta {
        /// The pane.
        pane_id: String,
        /// The record.
        meta: Vec<u8>,
    },
    /// Let go of a pane: its terminal is closed, which hangs up whatever still runs there.
    Forget {
        /// The pane.
        pane_id: String,
    },
    /// Send a signal.
    Signal {
        /// The pane.
        pane_id: String,
        /// To which of its processes.
        target: Target,
        /// Its number.
        signal: i32,
    },
    /// End a pane's program: hang up, and kill what is left after the grace.
    End {
        /// The pane.
        pane_id: String,
        /// Milliseconds.
        grace_ms: u32,
    },
    /// End all panes in that way, then the keeper itself.
    Shutdown {
        /// Milliseconds.
        grace_ms: u32,
    },
    /// Are you there?
    Ping,
}

/// What the keeper says. All but [`Reply::Exited`] and [`Reply::Pane`] answer the request of their id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// You are the host; the panes follow, then [`Reply::HandedOver`].
    Welcome {
        /// The version that is spoken from here on.
        version: u16,
        /// The keeper's process.
        pid: i32,
    },
    /// You are not the host. The connection ends.
    Refused {
        /// Why.
        reason: Refusal,
    },
    /// A pane that the keeper holds, with its terminal and its memory as descriptors.
    Pane {
        /// The pane.
        pane_id: String,
        /// Its program.
        pid: i32,
        /// How that ended, if it did.
        exit: Option<Exit>,
        /// The host's own record.
        meta: Vec<u8>,
    },
    /// Those were all panes.
    HandedOver,
    /// Started, with terminal and memory as descriptors.
    Spawned {
        /// Its program.
        pid: i32,
    },
    /// Not started.
    SpawnFailed {
        /// Where.
        stage: Stage,
        /// Why.
        errno: i32,
    },
    /// Done.
    Done,
    /// Not done: no such pane (`ENOENT`), ended (`ESRCH`), too large (`E2BIG`), no such signal (`EINVAL`).
    Failed {
        /// Why.
        errno: i32,
    },
    /// A pane's program ended. Told once a host, also if it happened before that host came.
    Exited {
        /// The pane.
        pane_id: String,
        /// How.
        exit: Exit,
    },
    /// The request is of a kind that this keeper does not know: it is older than the host.
    NotKnown,
}

/// Why a peer is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It does not hold the host lock.
    NoLock,
    /// No common version.
    Version,
    /// It descends from the keeper, or that cannot be ruled out.
    Inside,
    /// Another user's process.
    User,
    /// What it sent is no message.
    Malformed,
}

/// One frame as it travels.
#[derive(Debug)]
pub struct Frame {
    /// What kind of message.
    pub kind: u16,
    /// The request that it is, or answers; 0 for what answers none.
    pub id: u32,
    /// The message.
    pub body: Vec<u8>,
    /// What comes with it.
    pub fds: Vec<OwnedFd>,
}

/// A frame's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Length of the body.
    pub len: usize,
    /// What kind of message.
    pub kind: u16,
    /// Descriptors that come with it.
    pub fds: usize,
    /// See [`Frame::id`].
    pub id: u32,
}

#[cfg(test)]
mod tests;
