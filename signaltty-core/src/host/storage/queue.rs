//! What waits for the writer: bounded, and never waited for.
//!
//! Writes come from under the host's lock, so handing one over is a push. Where the disk does not keep up, the
//! oldest write goes, and is counted. Requests stand beside the writes and are served behind all that came
//! before them, so that whoever asks sees what has happened.

use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::write::{PaneRow, Write};
use super::{Request, WRITES_MAX};
use crate::model::PaneId;

/// Requests that wait at once. Beyond it the asker is told to come again.
const REQUESTS_MAX: usize = 64;

/// See the module.
#[derive(Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    arrived: Condvar,
}

#[derive(Default)]
struct Waiting {
    writes: VecDeque<Write>,
    requests: VecDeque<Request>,
    /// What was handed over last of each open pane: most of a pane's changes are none here.
    panes: HashMap<PaneId, PaneRow>,
    dropped: u64,
    closed: bool,
}

/// What the writer does next.
#[derive(Default)]
pub(super) struct Batch {
    /// In order.
    pub(super) writes: Vec<Write>,
    /// To be served after them.
    pub(super) requests: Vec<Request>,
    /// Writes that were lost since the last batch.
    pub(super) dropped: u64,
    /// Nothing comes after this one.
    pub(super) last: bool,
}

impl Queue {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands a write over.
    pub(super) fn push(&self, write: Write) {
        let mut waiting = self.waiting();
        if waiting.closed {
            return;
        }
        match &write {
            Write::Pane(row) if waiting.panes.get(&row.pane_id) == Some(row) => return,
            Write::Pane(row) => {
                waiting.panes.insert(row.pane_id.clone(), row.clone());
            }
            Write::PaneClosed { pane_id, .. } => {
                waiting.panes.remove(pane_id);
            }
            _ => {}
        }
        if waiting.writes.len() == WRITES_MAX {
            if let Some(Write::Pane(lost)) = waiting.writes.pop_front() {
                // Its next change is written whole again.
                waiting.panes.remove(&lost.pane_id);
            }
            waiting.dropped += 1;
        }
        waiting.writes.push_back(write);
        // The writer sleeps only where nothing waits; one that gathers a batch is left to it.
        if waiting.writes.len() == 1 {
            self.arrived.notify_one();
        }
    }

    /// The last of the panes' rows may not have been written: each is handed over again at its next change.
    pub(super) fn write_panes_again(&self) {
        self.waiting().panes.clear();
    }

    /// Hands a request over. Gives it back where too many wait, or nobody serves any more.
    pub(super) fn ask(&self, request: Request) -> Result<(), Request> {
        let mut waiting = self.waiting();
        if waiting.closed || waiting.requests.len() == REQUESTS_MAX {
            return Err(request);
        }
        waiting.requests.push_back(request);
        self.arrived.notify_one();
        Ok(())
    }

    /// No more is taken; the writer does what waits and ends.
    pub(super) fn close(&self) {
        self.waiting().closed = true;
        self.arrived.notify_one();
    }

    /// Waits up to `idle` for something to do, then up to `gather` for more of it. Requests wait for nothing.
    pub(super) fn next(&self, idle: Duration, gather: Duration) -> Batch {
        let waiting = self.waiting();
        let (waiting, _) = self
            .arrived
            .wait_timeout_while(waiting, idle, |waiting| {
                waiting.writes.is_empty() && waiting.requests.is_empty() && !waiting.closed
            })
            .unwrap_or_else(PoisonError::into_inner);
        let (mut waiting, _) = self
            .arrived
            .wait_timeout_while(waiting, gather, |waiting| {
                !waiting.writes.is_empty() && waiting.requests.is_empty() && !waiting.closed
            })
            .unwrap_or_else(PoisonError::into_inner);
        Batch {
            writes: waiting.writes.drain(..).collect(),
            requests: waiting.requests.drain(..).collect(),
            dropped: std::mem::take(&mut waiting.dropped),
            last: waiting.closed,
        }
    }
}
