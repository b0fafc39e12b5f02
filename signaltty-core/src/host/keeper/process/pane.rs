//! One pane of the keeper.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal};

use super::super::child::Failure;
use super::super::wire::Target;
use crate::model::Exit;

/// A terminal and the program in it.
pub(super) struct Pane {
    pub(super) id: String,
    pub(super) pid: i32,
    pub(super) master: OwnedFd,
    pub(super) memory: OwnedFd,
    pub(super) meta: Vec<u8>,
    pub(super) exit: Option<Exit>,
    /// Whether this host knows of the exit.
    pub(super) told: bool,
    /// Until the exec is known to have worked.
    pub(super) starting: Option<Starting>,
    /// When SIGKILL is due.
    pub(super) kill_at: Option<Instant>,
}

/// A program on its way from fork to exec.
pub(super) struct Starting {
    pub(super) report: OwnedFd,
    /// The request that waits for the outcome. None once its host is gone.
    pub(super) request: Option<u32>,
    pub(super) until: Instant,
}

impl Pane {
    /// Terminal and memory, for the host.
    pub(super) fn handles(&self) -> Result<Vec<OwnedFd>, Failure> {
        let copy = |fd: BorrowedFd<'_>| rustix::io::fcntl_dupfd_cloexec(fd, 3);
        Ok(vec![copy(self.master.as_fd())?, copy(self.memory.as_fd())?])
    }

    /// Signals one group of a program that runs.
    pub(super) fn signal(&self, target: Target, signal: Signal) -> Result<(), Errno> {
        if self.exit.is_some() {
            return Err(Errno::SRCH);
        }
        let group = match target {
            Target::Program => Pid::from_raw(self.pid).ok_or(Errno::SRCH)?,
            Target::Foreground => rustix::termios::tcgetpgrp(&self.master)?,
        };
        rustix::process::kill_process_group(group, signal)
    }

    /// Both groups: of a shell that is the shell and what runs in its foreground.
    pub(super) fn signal_all(&self, signal: Signal) {
        if let Ok(foreground) = rustix::termios::tcgetpgrp(&self.master) {
            let _ = rustix::process::kill_process_group(foreground, signal);
        }
        // Not once it is reaped: its pid may be another's.
        if self.exit.is_none() {
            signal_group(self.pid, signal);
        }
    }

    /// Hangs up, and sets the time at which what is left is killed.
    pub(super) fn end(&mut self, grace: Duration) {
        if self.exit.is_none() {
            self.signal_all(Signal::HUP);
            // What is stopped could not act on it.
            self.signal_all(Signal::CONT);
            self.kill_at = Some(Instant::now() + grace);
        }
    }
}

/// Signals the group that a pane's program leads. Not once it is reaped.
pub(super) fn signal_group(pid: i32, signal: Signal) {
    if let Some(group) = Pid::from_raw(pid) {
        let _ = rustix::process::kill_process_group(group, signal);
    }
}
