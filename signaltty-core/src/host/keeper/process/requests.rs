//! Carrying out what the host asks for.

use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::Signal;

use super::super::child::{self, Failure, Forked};
use super::super::memory;
use super::super::wire::{Frame, HELD_MAX, Malformed, Reply, Request, SpawnRequest, Stage};
use super::pane::{Pane, Starting, signal_group};
use super::{EXEC_WAIT, Keeper};

impl Keeper {
    /// Carries out one request. Its reply is put in line at once, but for a spawn and a shutdown.
    pub(super) fn carry_out(&mut self, frame: &Frame) {
        let reply = match Request::decode(frame.kind, &frame.body) {
            Err(Malformed::Kind(_)) | Ok(Request::Hello { .. }) => Some(Reply::NotKnown),
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

    /// A program's report is there: it runs, or it never did.
    pub(super) fn started(&mut self, index: usize) {
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

    /// Tells whoever asked, and keeps the pane or lets it go.
    pub(super) fn settle_start(&mut self, index: usize, outcome: Result<(), Failure>) {
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
}
