//! The keeper's process: one thread, one poll loop, no runtime. It lives as long as there is a pane.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::FlockOperation;
use rustix::io::Errno;
use rustix::net::SocketFlags;
use rustix::process::{Pid, Rlimit, Signal, WaitOptions, WaitStatus};

use super::child::{self, Failure, Forked};
use super::link::{Filled, Link};
use super::memory;
use super::wire::{
    BODY_MAX, Frame, HELD_MAX, HELLO_MAX, Refusal, Reply, Request, SpawnRequest, Stage, Target,
    VERSION, VERSION_OLDEST,
};
use crate::host::ancestry;
use crate::host::lock;
use crate::host::peer::Peer;
use crate::model::Exit;

/// Without a pane and without a host the keeper ends after this.
pub const IDLE_EXIT: Duration = Duration::from_secs(5);
/// How long a peer may take to say hello.
const HELLO_WAIT: Duration = Duration::from_secs(5);
/// Peers that have not said hello yet. One more, and the one that has been silent longest goes.
const PEERS_MAX: usize = 8;
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

struct Pane {
    id: String,
    pid: i32,
    master: OwnedFd,
    memory: OwnedFd,
    meta: Vec<u8>,
    exit: Option<Exit>,
    /// Whether this host knows of the exit.
    told: bool,
    /// Until the exec is known to have worked.
    starting: Option<Starting>,
    /// When SIGKILL is due.
    kill_at: Option<Instant>,
}

struct Starting {
    report: OwnedFd,
    /// The request that waits for the outcome. None once its host is gone.
    request: Option<u32>,
    until: Instant,
}

/// The one host.
struct Host {
    link: Link,
    /// The next pane to hand over; none when all are.
    handing_over: Option<usize>,
}

struct Waiting {
    link: Link,
    until: Instant,
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

    /// A program's report is there: it runs, or it never did.
    fn started(&mut self, index: usize) {
        let Some(pane) = self.panes.get_mut(index) else {
            return;
        };
        let Some(start) = &pane.starting else { return };
        let mut bytes = [0; Failure::LEN];
        let outcome = match rustix::io::read(&start.report, &mut bytes) {
            Ok(0) => Ok(()),
            Ok(Failure::LEN) => Err(Failure::read(bytes)),
            Ok(_) => Err(Failure {
                stage: Stage::Setup,
                errno: libc::EIO,
            }),
            Err(Errno::INTR | Errno::AGAIN) => return,
            Err(error) => Err(error.into()),
        };
        self.settle_start(index, outcome);
    }

    fn settle_start(&mut self, index: usize, outcome: Result<(), Failure>) {
        let Some(pane) = self.panes.get_mut(index) else {
            return;
        };
        let Some(start) = pane.starting.take() else {
            return;
        };
        let (reply, fds) = match outcome.and_then(|()| pane.handles()) {
            Ok(fds) => (Reply::Spawned { pid: pane.pid }, fds),
            Err(Failure { stage, errno }) => {
                // A child that failed ends by itself; one that took too long does not. Reaped as any other.
                if pane.exit.is_none() {
                    signal_group(pane.pid, Signal::KILL);
                }
                self.panes.remove(index);
                (Reply::SpawnFailed { stage, errno }, Vec::new())
            }
        };
        if let (Some(host), Some(request)) = (&mut self.host, start.request) {
            host.link.queue(reply.encode(request, fds));
        }
    }

    fn host_ready(&mut self, ready: PollFlags) {
        let Some(host) = &mut self.host else { return };
        let gone = PollFlags::HUP | PollFlags::ERR;
        if host.link.has_output() {
            if host.link.flush().is_err() {
                self.lose_host();
            }
            return;
        }
        if !host.listens() {
            if ready.intersects(gone) {
                self.lose_host();
            }
            return;
        }
        match host.link.fill() {
            Ok(Filled::Some) => self.hear_host(),
            Ok(Filled::Nothing) => {}
            Ok(Filled::Closed) | Err(_) => self.lose_host(),
        }
    }

    /// Carries out the requests that were read, as long as their replies can be written at once.
    fn hear_host(&mut self) {
        loop {
            let Some(host) = &mut self.host else { return };
            if !host.listens() {
                return;
            }
            match host.link.next_frame(BODY_MAX) {
                Ok(Some(frame)) => self.carry_out(&frame),
                Ok(None) => return,
                // There is no telling where the next message would begin.
                Err(_) => return self.lose_host(),
            }
        }
    }

    /// The panes stay; whatever was asked for is done without an answer.
    fn lose_host(&mut self) {
        self.host = None;
        for pane in &mut self.panes {
            if let Some(start) = &mut pane.starting {
                start.request = None;
            }
        }
        if let Some(ending) = &mut self.ending {
            ending.request = None;
        }
    }

    fn carry_out(&mut self, frame: &Frame) {
        let reply = match Request::decode(frame.kind, &frame.body) {
            Err(super::wire::Malformed::Kind(_)) | Ok(Request::Hello { .. }) => {
                Some(Reply::NotKnown)
            }
            Err(_) => Some(Reply::Failed {
                errno: libc::EINVAL,
            }),
            Ok(Request::Spawn(request)) => self.spawn(request, frame.id),
            Ok(Request::SetMeta { pane_id, meta }) => Some(self.with_pane(&pane_id, |pane| {
                pane.meta = meta;
                Ok(())
            })),
            Ok(Request::Forget { pane_id }) => Some(self.forget(&pane_id)),
            Ok(Request::Signal {
                pane_id,
                target,
                signal,
            }) => Some(self.with_pane(&pane_id, |pane| {
                let signal = Signal::from_named_raw(signal).ok_or(Errno::INVAL)?;
                pane.signal(target, signal)
            })),
            Ok(Request::End { pane_id, grace_ms }) => Some(self.with_pane(&pane_id, |pane| {
                pane.end(Duration::from_millis(grace_ms.into()));
                Ok(())
            })),
            Ok(Request::Shutdown { grace_ms }) => {
                self.end_all(Duration::from_millis(grace_ms.into()), Some(frame.id));
                None
            }
            Ok(Request::Ping) => Some(Reply::Done),
        };
        if let (Some(host), Some(reply)) = (&mut self.host, reply) {
            host.link.queue(reply.encode(frame.id, Vec::new()));
        }
    }

    fn with_pane(&mut self, id: &str, act: impl FnOnce(&mut Pane) -> Result<(), Errno>) -> Reply {
        let result = match self
            .panes
            .iter_mut()
            .find(|pane| pane.id == id && pane.starting.is_none())
        {
            Some(pane) => act(pane),
            None => Err(Errno::NOENT),
        };
        match result {
            Ok(()) => Reply::Done,
            Err(error) => Reply::Failed {
                errno: error.raw_os_error(),
            },
        }
    }

    fn forget(&mut self, id: &str) -> Reply {
        match self
            .panes
            .iter()
            .position(|pane| pane.id == id && pane.starting.is_none())
        {
            Some(index) => {
                self.panes.remove(index);
                Reply::Done
            }
            None => Reply::Failed {
                errno: libc::ENOENT,
            },
        }
    }

    /// Forks the program. The reply comes when its exec is known to have worked, or not.
    fn spawn(&mut self, request: SpawnRequest, id: u32) -> Option<Reply> {
        let refused = |errno| {
            Some(Reply::SpawnFailed {
                stage: Stage::Request,
                errno,
            })
        };
        if self.ending.is_some() {
            return refused(libc::ESHUTDOWN);
        }
        if self.panes.iter().any(|pane| pane.id == request.pane_id) {
            return refused(libc::EEXIST);
        }
        if self.panes.len() >= HELD_MAX {
            return refused(libc::ENFILE);
        }
        let forked = memory::create()
            .map_err(|error| Failure {
                stage: Stage::Setup,
                errno: error.raw_os_error().unwrap_or(libc::EIO),
            })
            .and_then(|memory| Ok((memory, child::fork(&request, self.setup.files)?)));
        match forked {
            Ok((
                memory,
                Forked {
                    pid,
                    master,
                    report,
                },
            )) => {
                let until = Instant::now() + EXEC_WAIT;
                self.panes.push(Pane {
                    id: request.pane_id,
                    pid,
                    master,
                    memory,
                    meta: request.meta,
                    exit: None,
                    told: false,
                    starting: Some(Starting {
                        report,
                        request: Some(id),
                        until,
                    }),
                    kill_at: None,
                });
                None
            }
            Err(Failure { stage, errno }) => Some(Reply::SpawnFailed { stage, errno }),
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

    /// Lets a peer in as far as its hello, or turns it away at once.
    fn accept(&mut self) {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let Ok(socket) = rustix::net::accept_with(&self.setup.listener, flags) else {
            return;
        };
        let refusal = match Peer::of(&socket) {
            Ok(peer) if peer.uid != self.uid => Some(Refusal::User),
            // A process of a pane may not even try to become the host, nor one that cannot be placed.
            Ok(peer) if ancestry::may_descend(&peer, self.pid) => Some(Refusal::Inside),
            Ok(_) => None,
            Err(_) => Some(Refusal::User),
        };
        let Ok(mut link) = Link::new(socket) else {
            return;
        };
        match refusal {
            Some(reason) => refuse(&mut link, reason),
            None => {
                if self.waiting.len() == PEERS_MAX {
                    self.waiting.remove(0);
                }
                self.waiting.push(Waiting {
                    link,
                    until: Instant::now() + HELLO_WAIT,
                });
            }
        }
    }

    fn hear_waiting(&mut self, ready: &[bool]) {
        for index in (0..ready.len()).rev().filter(|&index| ready[index]) {
            let peer = &mut self.waiting[index];
            let heard = match peer.link.fill() {
                Ok(Filled::Nothing) => continue,
                Ok(Filled::Some) => peer
                    .link
                    .next_frame(HELLO_MAX)
                    .map_err(|_| Some(Refusal::Malformed)),
                Ok(Filled::Closed) | Err(_) => Err(None),
            };
            match heard {
                Ok(None) => {}
                Ok(Some(frame)) => {
                    let peer = self.waiting.remove(index);
                    self.greet(peer.link, frame);
                }
                Err(refusal) => {
                    let mut peer = self.waiting.remove(index);
                    if let Some(reason) = refusal {
                        refuse(&mut peer.link, reason);
                    }
                }
            }
        }
    }

    /// Makes a peer the host if it holds the host lock; whoever was it before is not any more.
    fn greet(&mut self, mut link: Link, frame: Frame) {
        let version = match Request::decode(frame.kind, &frame.body) {
            Ok(Request::Hello { oldest, newest })
                if oldest <= VERSION && newest >= VERSION_OLDEST =>
            {
                Ok(newest.min(VERSION))
            }
            Ok(Request::Hello { .. }) => Err(Refusal::Version),
            _ => Err(Refusal::Malformed),
        };
        let version = match version {
            Ok(version) if self.is_lock(frame.fds) => version,
            Ok(_) => return refuse(&mut link, Refusal::NoLock),
            Err(reason) => return refuse(&mut link, reason),
        };
        self.lose_host();
        for pane in &mut self.panes {
            pane.told = false;
        }
        link.queue(
            Reply::Welcome {
                version,
                pid: self.pid,
            }
            .encode(frame.id, Vec::new()),
        );
        self.host = Some(Host {
            link,
            handing_over: Some(0),
        });
    }

    /// Whether the one descriptor is the host's lock file, and locked by it.
    ///
    /// A `flock` belongs to the open file that the descriptor stands for, and the peer and we now share that
    /// one. Taking the lock through it succeeds only if that very open file has the lock already, or nobody
    /// has it and it gets it now; in both cases the peer is its holder. Another's lock makes it fail. Closing
    /// our descriptor does not give the lock back.
    fn is_lock(&self, fds: Vec<OwnedFd>) -> bool {
        let Ok([fd]) = <[OwnedFd; 1]>::try_from(fds) else {
            return false;
        };
        let file = File::from(fd);
        lock::is_at(&file, &self.setup.lock).unwrap_or(false)
            && rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
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

    /// Says what is to be said: panes to a new host, exits to the host; and goes on reading when all is said.
    fn tell(&mut self) {
        loop {
            let Some(host) = &mut self.host else { return };
            if host.link.flush().is_err() {
                return self.lose_host();
            }
            if host.link.has_output() {
                return;
            }
            let next = if host.handing_over.is_some() {
                self.next_of_hand_over()
            } else {
                self.next_exit()
            };
            let Some(host) = &mut self.host else { return };
            match next {
                Some(frame) => host.link.queue(frame),
                None if host.listens() => {
                    self.hear_host();
                    if !self
                        .host
                        .as_ref()
                        .is_some_and(|host| host.link.has_output())
                    {
                        return;
                    }
                }
                None => return,
            }
        }
    }

    fn next_of_hand_over(&mut self) -> Option<Frame> {
        let host = self.host.as_mut()?;
        let next = host.handing_over?;
        let Some(pane) = self.panes.get_mut(next) else {
            host.handing_over = None;
            return Some(Reply::HandedOver.encode(0, Vec::new()));
        };
        // Not yet known whether there will be such a pane; soon it will be.
        if pane.starting.is_some() {
            return None;
        }
        host.handing_over = Some(next + 1);
        // Without its descriptors a pane is of no use. Out of them is out of them: the host goes, and the
        // panes stay for the next.
        let Ok(fds) = pane.handles() else {
            self.lose_host();
            return None;
        };
        pane.told = pane.exit.is_some();
        let reply = Reply::Pane {
            pane_id: pane.id.clone(),
            pid: pane.pid,
            exit: pane.exit,
            meta: pane.meta.clone(),
        };
        Some(reply.encode(0, fds))
    }

    fn next_exit(&mut self) -> Option<Frame> {
        let pane = self
            .panes
            .iter_mut()
            .find(|pane| pane.starting.is_none() && !pane.told && pane.exit.is_some())?;
        pane.told = true;
        let reply = Reply::Exited {
            pane_id: pane.id.clone(),
            exit: pane.exit?,
        };
        Some(reply.encode(0, Vec::new()))
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

impl Host {
    /// Whether requests are read now: only when all is handed over and said.
    fn listens(&self) -> bool {
        self.handing_over.is_none() && !self.link.has_output()
    }
}

impl Pane {
    /// Terminal and memory, for the host.
    fn handles(&self) -> Result<Vec<OwnedFd>, Failure> {
        let copy = |fd: BorrowedFd<'_>| rustix::io::fcntl_dupfd_cloexec(fd, 3);
        Ok(vec![copy(self.master.as_fd())?, copy(self.memory.as_fd())?])
    }

    fn signal(&self, target: Target, signal: Signal) -> Result<(), Errno> {
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
    fn signal_all(&self, signal: Signal) {
        if let Ok(foreground) = rustix::termios::tcgetpgrp(&self.master) {
            let _ = rustix::process::kill_process_group(foreground, signal);
        }
        // Not once it is reaped: its pid may be another's.
        if self.exit.is_none() {
            signal_group(self.pid, signal);
        }
    }

    fn end(&mut self, grace: Duration) {
        if self.exit.is_none() {
            self.signal_all(Signal::HUP);
            // What is stopped could not act on it.
            self.signal_all(Signal::CONT);
            self.kill_at = Some(Instant::now() + grace);
        }
    }
}

fn signal_group(pid: i32, signal: Signal) {
    if let Some(group) = Pid::from_raw(pid) {
        let _ = rustix::process::kill_process_group(group, signal);
    }
}

fn refuse(link: &mut Link, reason: Refusal) {
    link.queue(Reply::Refused { reason }.encode(0, Vec::new()));
    // If it does not fit into an empty socket, nobody reads it anyway.
    let _ = link.flush();
}

fn exit_of(status: WaitStatus) -> Exit {
    Exit {
        code: status.exit_status(),
        signal: status.terminating_signal(),
    }
}
