//! Who comes to the keeper, and which of them becomes its host.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::fs::FlockOperation;
use rustix::net::SocketFlags;

use super::super::link::{Filled, Link};
use super::super::wire::{Frame, HELLO_MAX, Refusal, Reply, Request, VERSION, VERSION_OLDEST};
use super::Keeper;
use super::host::Host;
use crate::host::ancestry;
use crate::host::lock;
use crate::host::peer::Peer;

/// Peers that have not said hello yet. One more, and the one that has been silent longest goes.
const PEERS_MAX: usize = 8;
/// How long a peer may take to say hello.
const HELLO_WAIT: Duration = Duration::from_secs(5);

/// A peer that has not said hello yet.
pub(super) struct Waiting {
    pub(super) link: Link,
    pub(super) until: Instant,
}

impl Keeper {
    /// Lets a peer in as far as its hello, or turns it away at once.
    pub(super) fn accept(&mut self) {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let Ok(socket) = rustix::net::accept_with(&self.setup.listener, flags) else {
            return;
        };
        let refusal = match Peer::of(&socket) {
            Ok(peer) if peer.uid != self.uid => Some(Refusal::User),
            // A process of a pane may not even try to become the host, nor one that cannot be placed.
            Ok(peer) if ancestry::may_descend(&peer, self.pid) => Some(Refusal::Inside),
            Ok(_) => None,
            // Whoever it is.
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

    /// Reads what those say that have not said hello yet.
    pub(super) fn hear_waiting(&mut self, ready: &[bool]) {
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
}

fn refuse(link: &mut Link, reason: Refusal) {
    link.queue(Reply::Refused { reason }.encode(0, Vec::new()));
    // If it does not fit into an empty socket, nobody reads it anyway.
    let _ = link.flush();
}
