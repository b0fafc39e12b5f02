//! The one host: what it says is heard one request at a time, and it is told of panes and exits.

use rustix::event::PollFlags;

use super::super::link::{Filled, Link};
use super::super::wire::{BODY_MAX, Frame, Reply};
use super::Keeper;

/// The one host.
pub(super) struct Host {
    pub(super) link: Link,
    /// The next pane to hand over; none when all are.
    pub(super) handing_over: Option<usize>,
}

impl Host {
    /// Whether requests are read now: only when all is handed over and said.
    pub(super) fn listens(&self) -> bool {
        self.handing_over.is_none() && !self.link.has_output()
    }
}

impl Keeper {
    /// Something happened on the host's connection.
    pub(super) fn host_ready(&mut self, ready: PollFlags) {
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
    pub(super) fn hear_host(&mut self) {
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
    pub(super) fn lose_host(&mut self) {
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

    /// Says what is to be said: panes to a new host, exits to the host; and goes on reading when all is said.
    pub(super) fn tell(&mut self) {
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

    /// The next pane for a new host, or the end of them.
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

    /// An exit that this host does not know of.
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
}
