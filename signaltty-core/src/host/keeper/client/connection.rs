//! The connection to the keeper: the hello, and the task that owns it afterwards.

use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::{mpsc, oneshot};

use super::super::link::{Filled, Link};
use super::super::memory::{MemoryError, PaneMemory};
use super::super::wire::{BODY_MAX, Frame, Reply, Request, Target, VERSION, VERSION_OLDEST};
use super::{HeldPane, KeeperError, KeeperEvent};
use crate::host::ancestry;
use crate::host::lock::HostLock;
use crate::host::peer::Peer;
use crate::model::PaneId;

/// Requests whose reply is awaited.
const AWAITED_MAX: usize = 256;

/// What a request came to.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) reply: Reply,
    pub(super) fds: Vec<OwnedFd>,
    /// Of a spawn: drops the new pane again, unless the caller takes it.
    pub(super) claim: Option<Claim>,
}

pub(super) type Answer = Result<Answered, KeeperError>;

/// A pane that is nobody's yet. Whoever asked for it may have gone away at any moment, also while the reply
/// was on its way: a claim that is dropped ends the program.
#[derive(Debug)]
pub(super) struct Claim {
    pane_id: Option<String>,
    abandoned: mpsc::UnboundedSender<String>,
}

impl Claim {
    /// Somebody has the pane.
    pub(super) fn keep(mut self) {
        self.pane_id = None;
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if let Some(pane_id) = self.pane_id.take() {
            // If the connection is gone, the next host finds the pane.
            let _ = self.abandoned.send(pane_id);
        }
    }
}

/// A request on its way out, and who waits for its answer.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) request: Request,
    pub(super) answer: oneshot::Sender<Answer>,
}

/// Says hello with the lock, and takes what the keeper holds.
pub(super) async fn greet(
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

pub(super) fn terminal_and_memory(fds: Vec<OwnedFd>) -> Result<(OwnedFd, PaneMemory), KeeperError> {
    let [master, memory] = <[OwnedFd; 2]>::try_from(fds)
        .map_err(|fds| KeeperError::Malformed(format!("{} descriptors of a pane", fds.len())))?;
    let memory = PaneMemory::open(memory).map_err(|error| match error {
        MemoryError::Io(error) => KeeperError::Io(error),
        error => KeeperError::Malformed(error.to_string()),
    })?;
    Ok((master, memory))
}

pub(super) fn unexpected(reply: Reply) -> KeeperError {
    match reply {
        Reply::NotKnown => KeeperError::Malformed("it is too old for this request".to_owned()),
        other => KeeperError::Malformed(format!("{other:?} at the wrong time")),
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
pub(super) struct Actor {
    link: AsyncFd<Link>,
    awaited: HashMap<u32, Awaited>,
    last_id: u32,
    events: mpsc::Sender<KeeperEvent>,
    /// Panes that nobody took. Unbounded, because a drop cannot wait; there is at most one a pane.
    abandon: mpsc::UnboundedSender<String>,
    abandoned: mpsc::UnboundedReceiver<String>,
}

struct Awaited {
    answer: oneshot::Sender<Answer>,
    /// The pane that a spawn makes.
    spawns: Option<String>,
}

impl Actor {
    pub(super) fn new(link: AsyncFd<Link>, events: mpsc::Sender<KeeperEvent>) -> Self {
        let (abandon, abandoned) = mpsc::unbounded_channel();
        Self {
            link,
            awaited: HashMap::new(),
            last_id: 1,
            events,
            abandon,
            abandoned,
        }
    }

    pub(super) async fn run(mut self, mut calls: mpsc::Receiver<Call>) {
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
                Some(pane_id) = self.abandoned.recv() => self.drop_pane(pane_id),
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
        let claim = match (&reply, awaited.spawns) {
            (Reply::Spawned { .. }, Some(pane_id)) => Some(Claim {
                pane_id: Some(pane_id),
                abandoned: self.abandon.clone(),
            }),
            _ => None,
        };
        let answered = Answered {
            reply,
            fds: frame.fds,
            claim,
        };
        // If nobody waits any more it comes back, and the claim in it is dropped.
        let _ = awaited.answer.send(Ok(answered));
        Ok(())
    }

    /// Ends a program whose pane nobody has.
    fn drop_pane(&mut self, pane_id: String) {
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
