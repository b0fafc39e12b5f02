//! The host's handle to its keeper.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::{mpsc, oneshot};

use super::link::{Filled, Link};
use super::memory::{MemoryError, PaneMemory};
use super::process::EXEC_WAIT;
use super::start;
use super::wire::{
    BODY_MAX, Frame, META_MAX, Refusal, Reply, Request, STRINGS_MAX, SpawnRequest, Stage, Target,
    VERSION, VERSION_OLDEST,
};
use crate::host::ancestry;
use crate::host::lock::HostLock;
use crate::host::paths::{HostPaths, prepare_folder};
use crate::host::peer::Peer;
use crate::model::{Exit, PaneId, Size};
use crate::paths::PathError;

/// How often a keeper that ended just when we came is looked for, or started, again.
const TRIES: usize = 5;
/// How long a keeper may take to answer. It does nothing that blocks.
const REPLY_WAIT: Duration = Duration::from_secs(10);
/// What a shutdown may take beyond its grace.
const SHUTDOWN_MARGIN: Duration = Duration::from_secs(5);
/// Requests that wait for their turn.
const CALLS: usize = 64;
/// Requests whose reply is awaited.
const AWAITED_MAX: usize = 256;
/// Events that the host has not taken yet. Beyond them the keeper is not read until it does.
const EVENTS: usize = 1_024;

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

/// A program to start in a new pane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpawnSpec {
    /// The pane's id; none that the keeper still holds.
    pub pane_id: PaneId,
    /// The program (looked for in the `PATH` of `env`, unless it has a slash) and its arguments.
    pub argv: Vec<OsString>,
    /// The folder.
    pub cwd: PathBuf,
    /// The whole environment. See [`crate::host::environment::of_pane`].
    pub env: Vec<(OsString, OsString)>,
    /// The size of its terminal.
    pub size: Size,
    /// The host's record of the pane, at most [`META_MAX`] bytes; comes back with the pane.
    pub meta: Vec<u8>,
}

/// A program that runs.
#[derive(Debug)]
pub struct Spawned {
    /// Its process, which is the leader of its session too.
    pub pid: i32,
    /// Its terminal.
    pub master: OwnedFd,
    /// What outlives this host.
    pub memory: PaneMemory,
}

/// A pane that an earlier host left.
#[derive(Debug)]
pub struct HeldPane {
    /// The pane.
    pub pane_id: PaneId,
    /// Its program.
    pub pid: i32,
    /// How that ended, if it did. No event follows for such a pane.
    pub exit: Option<Exit>,
    /// The record that was last set.
    pub meta: Vec<u8>,
    /// Its terminal. Output that nobody has read waits there.
    pub master: OwnedFd,
    /// Its screen and the output since.
    pub memory: PaneMemory,
}

/// What the keeper tells by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeeperEvent {
    /// The program of a pane ended. Its last output may still wait in the terminal: read on until it would
    /// block. May come before the caller of [`Keeper::spawn`] has looked at its result.
    Exited {
        /// The pane.
        pane_id: PaneId,
        /// How.
        exit: Exit,
    },
    /// The keeper is gone: it ended, or another host took over. The last event. A keeper that was killed has
    /// closed its masters; once the host drops its own, the panes' programs get SIGHUP.
    Lost,
}

/// A connection to the keeper. Clones share it; it ends with the last of them. The panes do not.
#[derive(Debug, Clone)]
pub struct Keeper {
    calls: mpsc::Sender<Call>,
    pid: i32,
}

type Answer = Result<(Reply, Vec<OwnedFd>), KeeperError>;

#[derive(Debug)]
struct Call {
    request: Request,
    answer: oneshot::Sender<Answer>,
}

impl Keeper {
    /// Becomes the host of the keeper at `paths`, starting one as `program keeper` if there is none. Returns
    /// what it holds. Needs a tokio runtime.
    ///
    /// # Errors
    /// [`KeeperError::Refused`] if the keeper does not take us for the host (from inside a pane, for
    /// instance); else why it cannot be reached or started.
    pub async fn connect_or_start(
        paths: &HostPaths,
        lock: &HostLock,
        program: &Path,
    ) -> Result<(Self, Vec<HeldPane>, mpsc::Receiver<KeeperEvent>), KeeperError> {
        let keeper_socket = paths.keeper.clone();
        for _ in 0..TRIES {
            let (paths, program) = (paths.clone(), program.to_owned());
            let connected = tokio::task::spawn_blocking(move || {
                prepare_folder(&paths).map_err(KeeperError::Socket)?;
                let found = start::connect(&paths)?;
                if found.is_none() {
                    start::start(&paths, &program)?;
                    return start::connect(&paths);
                }
                Ok(found)
            });
            let Some(socket) = connected.await.map_err(|_| KeeperError::Lost)?? else {
                continue;
            };
            match tokio::time::timeout(REPLY_WAIT, greet(socket, lock, &keeper_socket)).await {
                Err(_) => return Err(KeeperError::Silent),
                // It ended just now, for want of panes.
                Ok(Err(KeeperError::Lost)) => {}
                Ok(Err(error)) => return Err(error),
                Ok(Ok((link, pid, held))) => {
                    let (calls, requests) = mpsc::channel(CALLS);
                    let (events, told) = mpsc::channel(EVENTS);
                    tokio::spawn(Actor::new(link, events).run(requests));
                    return Ok((Self { calls, pid }, held, told));
                }
            }
        }
        Err(KeeperError::Lost)
    }

    /// The keeper's process: the ancestor of everything that runs in panes.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Starts a program in a pane of its own. If the future is dropped before it is done, the program is
    /// ended and forgotten.
    ///
    /// # Errors
    /// Exactly what failed.
    pub async fn spawn(&self, spec: SpawnSpec) -> Result<Spawned, SpawnError> {
        let request = spawn_request(&spec)?;
        let (reply, fds) = self
            .call(Request::Spawn(request), EXEC_WAIT + REPLY_WAIT)
            .await?;
        match reply {
            Reply::Spawned { pid } => {
                let (master, memory) = terminal_and_memory(fds)?;
                Ok(Spawned {
                    pid,
                    master,
                    memory,
                })
            }
            Reply::SpawnFailed { stage, errno } => {
                let source = io::Error::from_raw_os_error(errno);
                Err(match (stage, errno) {
                    (Stage::Cwd, _) => SpawnError::Cwd {
                        cwd: spec.cwd,
                        source,
                    },
                    (Stage::Exec, _) => {
                        let program = spec.argv.into_iter().next().unwrap_or_default();
                        SpawnError::Program { program, source }
                    }
                    (Stage::Setup, _) => SpawnError::Setup(source),
                    (Stage::Request, libc::EEXIST) => SpawnError::Exists(spec.pane_id),
                    (Stage::Request, libc::ENFILE) => SpawnError::TooMany,
                    (Stage::Request, libc::ESHUTDOWN) => SpawnError::Keeper(KeeperError::Lost),
                    (Stage::Request, _) => {
                        SpawnError::Invalid("the keeper cannot carry such a request")
                    }
                })
            }
            other => Err(unexpected(other).into()),
        }
    }

    /// Replaces the record of a pane.
    ///
    /// # Errors
    /// [`KeeperError::TooLarge`], [`KeeperError::NoSuchPane`], or the keeper is lost.
    pub async fn set_meta(&self, pane_id: &PaneId, meta: Vec<u8>) -> Result<(), KeeperError> {
        if meta.len() > META_MAX {
            return Err(KeeperError::TooLarge { len: meta.len() });
        }
        self.act(
            Request::SetMeta {
                pane_id: name(pane_id),
                meta,
            },
            REPLY_WAIT,
        )
        .await
    }

    /// Lets go of a pane, ended or not. What still runs there loses its terminal once the host has dropped
    /// its own copy of the master, and gets SIGHUP.
    ///
    /// # Errors
    /// [`KeeperError::NoSuchPane`], or the keeper is lost.
    pub async fn forget(&self, pane_id: &PaneId) -> Result<(), KeeperError> {
        self.act(
            Request::Forget {
                pane_id: name(pane_id),
            },
            REPLY_WAIT,
        )
        .await
    }

    /// Sends a signal to a group of the pane's processes. The keeper reaps them, so it alone knows that the
    /// pid still means them.
    ///
    /// # Errors
    /// [`KeeperError::NoSuchPane`], [`KeeperError::Ended`], [`KeeperError::Io`] for no such signal.
    pub async fn signal(
        &self,
        pane_id: &PaneId,
        target: Target,
        signal: i32,
    ) -> Result<(), KeeperError> {
        self.act(
            Request::Signal {
                pane_id: name(pane_id),
                target,
                signal,
            },
            REPLY_WAIT,
        )
        .await
    }

    /// Ends a pane's program: SIGHUP now, SIGKILL after `grace` if it still runs. Returns at once; the event
    /// tells when it has ended. Forget the pane then.
    ///
    /// # Errors
    /// [`KeeperError::NoSuchPane`], or the keeper is lost.
    pub async fn end(&self, pane_id: &PaneId, grace: Duration) -> Result<(), KeeperError> {
        self.act(
            Request::End {
                pane_id: name(pane_id),
                grace_ms: millis(grace),
            },
            REPLY_WAIT,
        )
        .await
    }

    /// Ends all panes in that way, then the keeper. Returns when they have ended.
    ///
    /// # Errors
    /// The keeper is lost, or does not answer.
    pub async fn shutdown(&self, grace: Duration) -> Result<(), KeeperError> {
        let wait = grace.saturating_add(SHUTDOWN_MARGIN);
        self.act(
            Request::Shutdown {
                grace_ms: millis(grace),
            },
            wait,
        )
        .await
    }

    /// Asks for a sign of life.
    ///
    /// # Errors
    /// The keeper is lost, or does not answer.
    pub async fn ping(&self) -> Result<(), KeeperError> {
        self.act(Request::Ping, REPLY_WAIT).await
    }

    async fn act(&self, request: Request, wait: Duration) -> Result<(), KeeperError> {
        match self.call(request, wait).await?.0 {
            Reply::Done => Ok(()),
            Reply::Failed {
                errno: libc::ENOENT,
            } => Err(KeeperError::NoSuchPane),
            Reply::Failed { errno: libc::ESRCH } => Err(KeeperError::Ended),
            Reply::Failed { errno } => Err(KeeperError::Io(io::Error::from_raw_os_error(errno))),
            other => Err(unexpected(other)),
        }
    }

    async fn call(&self, request: Request, wait: Duration) -> Answer {
        let (answer, answered) = oneshot::channel();
        let asked = async {
            self.calls
                .send(Call { request, answer })
                .await
                .map_err(|_| KeeperError::Lost)?;
            answered.await.map_err(|_| KeeperError::Lost)?
        };
        tokio::time::timeout(wait, asked)
            .await
            .map_err(|_| KeeperError::Silent)?
    }
}

fn name(pane_id: &PaneId) -> String {
    pane_id.as_str().to_owned()
}

fn millis(grace: Duration) -> u32 {
    u32::try_from(grace.as_millis()).unwrap_or(u32::MAX)
}

fn unexpected(reply: Reply) -> KeeperError {
    match reply {
        Reply::NotKnown => KeeperError::Malformed("it is too old for this request".to_owned()),
        other => KeeperError::Malformed(format!("{other:?} at the wrong time")),
    }
}

fn terminal_and_memory(fds: Vec<OwnedFd>) -> Result<(OwnedFd, PaneMemory), KeeperError> {
    let [master, memory] = <[OwnedFd; 2]>::try_from(fds)
        .map_err(|fds| KeeperError::Malformed(format!("{} descriptors of a pane", fds.len())))?;
    let memory = PaneMemory::open(memory).map_err(|error| match error {
        MemoryError::Io(error) => KeeperError::Io(error),
        error => KeeperError::Malformed(error.to_string()),
    })?;
    Ok((master, memory))
}

/// Checks here what the keeper would refuse as no message.
fn spawn_request(spec: &SpawnSpec) -> Result<SpawnRequest, SpawnError> {
    let bytes = |text: &OsString| text.clone().into_vec();
    let argv: Vec<_> = spec.argv.iter().map(bytes).collect();
    let cwd = spec.cwd.clone().into_os_string().into_vec();
    let env: Vec<_> = spec
        .env
        .iter()
        .map(|(name, value)| [bytes(name), vec![b'='], bytes(value)].concat())
        .collect();
    if argv.first().is_none_or(Vec::is_empty) {
        return Err(SpawnError::Invalid("a program is needed"));
    }
    if spec
        .env
        .iter()
        .any(|(name, _)| name.is_empty() || name.as_encoded_bytes().contains(&b'='))
    {
        return Err(SpawnError::Invalid(
            "a variable's name may be neither empty nor hold =",
        ));
    }
    if argv
        .iter()
        .chain(&env)
        .chain([&cwd])
        .any(|text| text.contains(&0))
    {
        return Err(SpawnError::Invalid(
            "arguments, variables and folder may hold no NUL",
        ));
    }
    if argv.len() > STRINGS_MAX || env.len() > STRINGS_MAX {
        return Err(SpawnError::Invalid("too many arguments or variables"));
    }
    if spec.meta.len() > META_MAX {
        return Err(SpawnError::Keeper(KeeperError::TooLarge {
            len: spec.meta.len(),
        }));
    }
    let text: usize = argv.iter().chain(&env).map(|text| text.len() + 4).sum();
    if text + cwd.len() + spec.meta.len() + 1_024 > BODY_MAX {
        let program = spec.argv.first().cloned().unwrap_or_default();
        return Err(SpawnError::Program {
            program,
            source: io::Error::from_raw_os_error(libc::E2BIG),
        });
    }
    let size = spec.size.clamped();
    Ok(SpawnRequest {
        pane_id: name(&spec.pane_id),
        size: (size.cols, size.rows),
        cwd,
        argv,
        env,
        meta: spec.meta.clone(),
    })
}

/// Says hello with the lock, and takes what the keeper holds.
async fn greet(
    socket: OwnedFd,
    lock: &HostLock,
    keeper_socket: &Path,
) -> Result<(AsyncFd<Link>, i32, Vec<HeldPane>), KeeperError> {
    let peer = Peer::of(&socket).map_err(KeeperError::Io)?;
    let impostor = || KeeperError::Impostor { pid: peer.pid };
    if !peer.is_alive() {
        return Err(KeeperError::Lost);
    }
    let ours = rustix::process::geteuid().as_raw();
    if peer.uid != ours || ancestry::may_be_below_keeper_of(&peer, keeper_socket) {
        return Err(impostor());
    }
    let link = Link::new(socket).map_err(KeeperError::Io)?;
    // SAFETY: a link owns its socket and never replaces it, so it is the same open descriptor to the end.
    let mut link =
        unsafe { AsyncFd::register(link) }.map_err(|error| KeeperError::Io(error.into()))?;
    let mut hello = Request::Hello {
        oldest: VERSION_OLDEST,
        newest: VERSION,
    }
    .encode(1);
    hello.fds = vec![lock.as_fd().try_clone_to_owned().map_err(KeeperError::Io)?];
    link.get_mut().queue(hello);
    let mut keeper_pid = None;
    let mut held = Vec::new();
    loop {
        let frame = next_frame(&mut link).await?;
        let reply = Reply::decode(frame.kind, &frame.body)
            .map_err(|malformed| KeeperError::Malformed(malformed.to_string()))?;
        match (reply, keeper_pid) {
            (Reply::Refused { reason }, _) => return Err(KeeperError::Refused(reason)),
            // The kernel's word counts: by this pid we tell who is inside.
            (Reply::Welcome { pid, .. }, None) if peer.pid == Some(pid) => keeper_pid = Some(pid),
            (Reply::Welcome { .. }, None) => return Err(impostor()),
            (
                Reply::Pane {
                    pane_id,
                    pid,
                    exit,
                    meta,
                },
                Some(_),
            ) => {
                let (master, memory) = terminal_and_memory(frame.fds)?;
                let pane_id = PaneId::from_trusted(pane_id);
                held.push(HeldPane {
                    pane_id,
                    pid,
                    exit,
                    meta,
                    master,
                    memory,
                });
            }
            (Reply::HandedOver, Some(pid)) => return Ok((link, pid, held)),
            (other, _) => return Err(unexpected(other)),
        }
    }
}

/// Reads the next frame, writing what is in line meanwhile.
async fn next_frame(link: &mut AsyncFd<Link>) -> Result<Frame, KeeperError> {
    loop {
        let frame = link.get_mut().next_frame(BODY_MAX);
        if let Some(frame) =
            frame.map_err(|malformed| KeeperError::Malformed(malformed.to_string()))?
        {
            return Ok(frame);
        }
        exchange(link).await?;
    }
}

/// Waits until something can be read or written, and does both.
async fn exchange(link: &mut AsyncFd<Link>) -> Result<(), KeeperError> {
    // A broken pipe may still hold the keeper's last words, such as why it refuses.
    let _ = link.get_mut().flush();
    let interest = if link.get_ref().has_output() {
        Interest::READABLE | Interest::WRITABLE
    } else {
        Interest::READABLE
    };
    let mut ready = link.ready_mut(interest).await.map_err(KeeperError::Io)?;
    if ready.ready().is_readable() {
        match ready.get_inner_mut().fill() {
            Ok(Filled::Some) => {}
            Ok(Filled::Nothing) => ready.clear_ready_matching(tokio::io::Ready::READABLE),
            Ok(Filled::Closed) => return Err(KeeperError::Lost),
            Err(error) => return Err(KeeperError::Io(error)),
        }
    }
    if ready.ready().is_writable() {
        let link = ready.get_inner_mut();
        if link.flush().is_ok() && link.has_output() {
            ready.clear_ready_matching(tokio::io::Ready::WRITABLE);
        }
    }
    Ok(())
}

/// Owns the connection: requests go out, replies go to whoever asked, events to the host.
struct Actor {
    link: AsyncFd<Link>,
    awaited: HashMap<u32, Awaited>,
    last_id: u32,
    events: mpsc::Sender<KeeperEvent>,
}

struct Awaited {
    answer: oneshot::Sender<Answer>,
    /// The pane that a spawn makes: ended again if nobody waits for it any more.
    spawns: Option<String>,
}

impl Actor {
    fn new(link: AsyncFd<Link>, events: mpsc::Sender<KeeperEvent>) -> Self {
        Self {
            link,
            awaited: HashMap::new(),
            last_id: 1,
            events,
        }
    }

    async fn run(mut self, mut calls: mpsc::Receiver<Call>) {
        loop {
            // Reading comes first, so that replies are taken before more is asked.
            let room = !self.link.get_ref().has_output() && self.awaited.len() < AWAITED_MAX;
            tokio::select! {
                biased;
                frame = next_frame(&mut self.link) => match frame {
                    Ok(frame) => {
                        if self.take(frame).await.is_err() {
                            break;
                        }
                    }
                    Err(_) => break,
                },
                call = calls.recv(), if room => match call {
                    Some(call) => self.ask(call),
                    // The host has let go of its handles. That is no loss.
                    None => return,
                },
            }
        }
        // Dropping `awaited` tells those that wait.
        self.awaited.clear();
        calls.close();
        let _ = self.events.send(KeeperEvent::Lost).await;
    }

    fn ask(&mut self, call: Call) {
        if call.answer.is_closed() {
            return;
        }
        let id = self.new_id();
        self.link.get_mut().queue(call.request.encode(id));
        let spawns = match call.request {
            Request::Spawn(spawn) => Some(spawn.pane_id),
            _ => None,
        };
        self.awaited.insert(
            id,
            Awaited {
                answer: call.answer,
                spawns,
            },
        );
    }

    /// 0 stands for no request, and an awaited id is not given twice.
    fn new_id(&mut self) -> u32 {
        loop {
            self.last_id = self.last_id.wrapping_add(1);
            if self.last_id != 0 && !self.awaited.contains_key(&self.last_id) {
                return self.last_id;
            }
        }
    }

    async fn take(&mut self, frame: Frame) -> Result<(), KeeperError> {
        let reply = Reply::decode(frame.kind, &frame.body)
            .map_err(|malformed| KeeperError::Malformed(malformed.to_string()))?;
        if let Reply::Exited { pane_id, exit } = reply {
            let event = KeeperEvent::Exited {
                pane_id: PaneId::from_trusted(pane_id),
                exit,
            };
            // A host that has dropped its receiver does not care.
            let _ = self.events.send(event).await;
            return Ok(());
        }
        let Some(awaited) = self.awaited.remove(&frame.id) else {
            return Ok(());
        };
        let started = matches!(reply, Reply::Spawned { .. });
        if awaited.answer.send(Ok((reply, frame.fds))).is_err() && started {
            if let Some(pane_id) = awaited.spawns {
                self.abandon(pane_id);
            }
        }
        Ok(())
    }

    /// Ends a program whose pane nobody has.
    fn abandon(&mut self, pane_id: String) {
        let link = self.link.get_mut();
        link.queue(
            Request::Signal {
                pane_id: pane_id.clone(),
                target: Target::Program,
                signal: libc::SIGKILL,
            }
            .encode(0),
        );
        link.queue(Request::Forget { pane_id }.encode(0));
    }
}
