//! The keeper's process: one thread, one poll loop, no runtime. It lives as long as there is a pane.

mod host;
mod pane;
mod peers;
mod requests;

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::process::{Rlimit, Signal, WaitOptions, WaitStatus};

use self::host::Host;
use self::pane::Pane;
use self::peers::Waiting;
use super::child::Failure;
use super::wire::{Reply, Stage};
use crate::model::Exit;

/// Without a pane and without a host the keeper ends after this.
pub const IDLE_EXIT: Duration = Duration::from_secs(5);
/// How long a program may take from fork to exec: a folder on a dead network mount must not hold it for ever.
pub(super) const EXEC_WAIT: Duration = Duration::from_secs(10);
/// What the panes get between SIGHUP and SIGKILL when the keeper itself is told to end by SIGTERM.
const TERM_GRACE: Duration = Duration::from_secs(3);
/// How long the keeper waits for killed programs to be gone, and for its last words to be read.
const LAST_WAIT: Duration = Duration::from_secs(2);

/// What the keeper was started with.
pub(super) struct Setup {
    /// Bound and listening.
    pub(super) listener: OwnedFd,
    /// Where it is bound.
    pub(super) socket: PathBuf,
    /// The host's lock file.
    pub(super) lock: PathBuf,
    /// Brings SIGCHLD and SIGTERM.
    pub(super) signals: OwnedFd,
    /// The limit of open files for programs.
    pub(super) files: Rlimit,
}

struct Ending {
    until: Instant,
    request: Option<u32>,
}

struct Keeper {
    setup: Setup,
    pid: i32,
    uid: u32,
    panes: Vec<Pane>,
    host: Option<Host>,
    waiting: Vec<Waiting>,
    ending: Option<Ending>,
    idle_since: Instant,
}

/// Which descriptors are ready.
struct Ready {
    signals: bool,
    listener: bool,
    host: PollFlags,
    waiting: Vec<bool>,
    starting: Vec<usize>,
}

/// Keeps the panes until there is nothing left to keep. The caller has made this process what a keeper is.
pub(super) fn keep(setup: Setup) -> io::Result<()> {
    let mut keeper = Keeper {
        setup,
        pid: std::process::id() as i32,
        uid: rustix::process::geteuid().as_raw(),
        panes: Vec::new(),
        host: None,
        waiting: Vec::new(),
        ending: None,
        idle_since: Instant::now(),
    };
    while !keeper.is_done() {
        let ready = keeper.wait()?;
        keeper.turn(&ready);
    }
    keeper.leave();
    Ok(())
}

impl Keeper {
    fn is_done(&self) -> bool {
        if let Some(ending) = &self.ending {
            return Instant::now() >= ending.until
                || self.panes.iter().all(|pane| pane.exit.is_some());
        }
        self.is_idle() && self.idle_since.elapsed() >= IDLE_EXIT
    }

    fn is_idle(&self) -> bool {
        self.panes.is_empty() && self.host.is_none() && self.waiting.is_empty()
    }

    /// Waits until something is to be done.
    fn wait(&self) -> io::Result<Ready> {
        let mut fds = vec![PollFd::new(&self.setup.signals, PollFlags::IN)];
        fds.push(PollFd::new(&self.setup.listener, PollFlags::IN));
        let host_at = self.host.as_ref().map(|host| {
            // Requests are read one at a time, when what was said before is written: so what waits to be
            // written is bounded, and a host that does not read is not read either.
            let wish = if host.link.has_output() {
                PollFlags::OUT
            } else {
                PollFlags::empty()
            };
            let wish = if host.listens() {
                wish | PollFlags::IN
            } else {
                wish
            };
            fds.push(PollFd::new(&host.link, wish));
            fds.len() - 1
        });
        let waiting_at = fds.len();
        fds.extend(
            self.waiting
                .iter()
                .map(|peer| PollFd::new(&peer.link, PollFlags::IN)),
        );
        let starting_at = fds.len();
        let mut starting = Vec::new();
        for (index, pane) in self.panes.iter().enumerate() {
            if let Some(start) = &pane.starting {
                fds.push(PollFd::new(&start.report, PollFlags::IN));
                starting.push(index);
            }
        }
        // A little more than is left, so that the deadline has passed when the wait is over.
        let timeout = self.next_deadline().and_then(|at| {
            let left = at.saturating_duration_since(Instant::now()) + Duration::from_millis(1);
            Timespec::try_from(left).ok()
        });
        match rustix::event::poll(&mut fds, timeout.as_ref()) {
            Ok(_) => {}
            Err(Errno::INTR) => fds.iter_mut().for_each(PollFd::clear_revents),
            Err(error) => return Err(error.into()),
        }
        let is_ready = |at: usize| !fds[at].revents().is_empty();
        Ok(Ready {
            signals: is_ready(0),
            listener: is_ready(1),
            host: host_at.map_or(PollFlags::empty(), |at| fds[at].revents()),
            waiting: (waiting_at..starting_at).map(is_ready).collect(),
            starting: starting
                .into_iter()
                .enumerate()
                .filter(|(nth, _)| is_ready(starting_at + nth))
                .map(|(_, index)| index)
                .collect(),
        })
    }

    fn next_deadline(&self) -> Option<Instant> {
        let panes = self.panes.iter().flat_map(|pane| {
            [
                pane.kill_at,
                pane.starting.as_ref().map(|start| start.until),
            ]
            .into_iter()
            .flatten()
        });
        panes
            .chain(self.waiting.iter().map(|peer| peer.until))
            .chain(self.ending.as_ref().map(|ending| ending.until))
            .chain(self.is_idle().then(|| self.idle_since + IDLE_EXIT))
            .min()
    }

    fn turn(&mut self, ready: &Ready) {
        if ready.signals {
            self.signalled();
        }
        // Backwards, because a program that did not start takes its pane away.
        for &index in ready.starting.iter().rev() {
            self.started(index);
        }
        if !ready.host.is_empty() {
            self.host_ready(ready.host);
        }
        self.hear_waiting(&ready.waiting);
        if ready.listener {
            self.accept();
        }
        self.on_time();
        self.tell();
        if !self.is_idle() {
            self.idle_since = Instant::now();
        }
    }

    /// Reaps what ended. As subreaper that includes what a pane's program left behind.
    fn signalled(&mut self) {
        let mut record = [0_u8; size_of::<libc::signalfd_siginfo>()];
        while let Ok(read) = rustix::io::read(&self.setup.signals, &mut record) {
            let number = record
                .first_chunk::<4>()
                .map_or(0, |bytes| u32::from_ne_bytes(*bytes));
            if read == record.len() && number == libc::SIGTERM as u32 && self.ending.is_none() {
                self.end_all(TERM_GRACE, None);
            }
        }
        while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
            let pid = pid.as_raw_nonzero().get();
            if let Some(pane) = self
                .panes
                .iter_mut()
                .find(|pane| pane.pid == pid && pane.exit.is_none())
            {
                pane.exit = Some(exit_of(status));
                pane.kill_at = None;
            }
        }
    }

    fn end_all(&mut self, grace: Duration, request: Option<u32>) {
        for pane in &mut self.panes {
            pane.end(grace);
        }
        self.ending = Some(Ending {
            until: Instant::now() + grace + LAST_WAIT,
            request,
        });
    }

    fn on_time(&mut self) {
        let now = Instant::now();
        self.waiting.retain(|peer| peer.until > now);
        for index in (0..self.panes.len()).rev() {
            let pane = &mut self.panes[index];
            if pane.kill_at.is_some_and(|at| at <= now) {
                pane.kill_at = None;
                pane.signal_all(Signal::KILL);
            }
            if pane
                .starting
                .as_ref()
                .is_some_and(|start| start.until <= now)
            {
                self.settle_start(
                    index,
                    Err(Failure {
                        stage: Stage::Setup,
                        errno: libc::ETIMEDOUT,
                    }),
                );
            }
        }
    }

    /// The last things: the socket's name goes first, so that whoever comes now starts another keeper.
    fn leave(mut self) {
        let _ = std::fs::remove_file(&self.setup.socket);
        self.tell();
        let Some(mut host) = self.host.take() else {
            return;
        };
        if let Some(id) = self.ending.and_then(|ending| ending.request) {
            host.link.queue(Reply::Done.encode(id, Vec::new()));
        }
        let until = Instant::now() + LAST_WAIT;
        while host.link.flush().is_ok() && host.link.has_output() && Instant::now() < until {
            let mut fds = [PollFd::new(&host.link, PollFlags::OUT)];
            let _ = rustix::event::poll(
                &mut fds,
                Some(&Timespec {
                    tv_sec: 0,
                    tv_nsec: 100_000_000,
                }),
            );
        }
    }
}

fn exit_of(status: WaitStatus) -> Exit {
    Exit {
        code: status.exit_status(),
        signal: status.terminating_signal(),
    }
}
