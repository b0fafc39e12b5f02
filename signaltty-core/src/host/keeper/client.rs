//! The host's handle to its keeper.

mod connection;
mod error;

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use self::connection::{Actor, Answer, Call, greet, terminal_and_memory, unexpected};
pub use self::error::{KeeperError, SpawnError};
use super::memory::PaneMemory;
use super::process::EXEC_WAIT;
use super::start;
use super::wire::{BODY_MAX, META_MAX, Reply, Request, STRINGS_MAX, SpawnRequest, Stage, Target};
use crate::host::lock::HostLock;
use crate::host::paths::{HostPaths, prepare_folder};
use crate::model::{Exit, PaneId, Size};

/// How often a keeper that ended just when we came is looked for, or started, again.
const TRIES: usize = 5;
/// How long a keeper may take to answer. It does nothing that blocks.
const REPLY_WAIT: Duration = Duration::from_secs(10);
/// What a shutdown may take beyond its grace.
const SHUTDOWN_MARGIN: Duration = Duration::from_secs(5);
/// Requests that wait for their turn.
const CALLS: usize = 64;
/// Events that the host has not taken yet. Beyond them the keeper is not read until it does.
const EVENTS: usize = 1_024;

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
        let wait = EXEC_WAIT + REPLY_WAIT;
        let answered = self.call(Request::Spawn(request), wait).await?;
        match answered.reply {
            Reply::Spawned { pid } => {
                let (master, memory) = terminal_and_memory(answered.fds)?;
                if let Some(claim) = answered.claim {
                    claim.keep();
                }
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
        match self.call(request, wait).await?.reply {
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
