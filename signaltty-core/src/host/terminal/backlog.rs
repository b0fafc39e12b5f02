//! What waits to be sent to one viewer.
//!
//! The agent never waits for a viewer. One that falls behind loses what waits for it, and is sent a new snapshot
//! once it takes bytes again (specs/001 §4).

use super::snapshot::CLEAR;

/// Most bytes that wait for one viewer, beside the snapshot that it begins with.
pub const BACKLOG_MAX: usize = 8 * 1024 * 1024;
/// Capacity that an empty queue keeps, in bytes.
const KEEP: usize = 256 * 1024;

/// The queue of one viewer.
#[derive(Debug, Default)]
pub struct Backlog {
    bytes: Vec<u8>,
    /// How many of `bytes` were taken already.
    taken: usize,
    /// Bytes of the snapshot that it began with, until all of it was taken.
    snapshot: usize,
    overflowed: bool,
}

impl Backlog {
    /// Adds bytes. False if they do not fit: the queue is then empty and stays so until [`Backlog::restart`].
    pub fn push(&mut self, bytes: &[u8]) -> bool {
        if self.overflowed {
            return false;
        }
        if self.len() + bytes.len() > BACKLOG_MAX + self.snapshot {
            self.overflowed = true;
            self.bytes = Vec::new();
            self.taken = 0;
            self.snapshot = 0;
            return false;
        }
        // Moving the rest to the front costs no more than was taken before it.
        if self.taken > self.bytes.len() / 2 {
            self.bytes.drain(..self.taken);
            self.taken = 0;
        }
        self.bytes.extend_from_slice(bytes);
        true
    }

    /// Whether the viewer lost bytes and needs a snapshot. To be made when its socket takes bytes again, not before:
    /// one that does not read gets none.
    pub fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// Begins again with a snapshot, for a viewer that is not fresh: it is cleared first.
    pub fn restart(&mut self, snapshot: &[u8]) {
        self.overflowed = false;
        self.taken = 0;
        self.bytes.clear();
        self.bytes.reserve(CLEAR.len() + snapshot.len());
        self.bytes.extend_from_slice(CLEAR);
        self.bytes.extend_from_slice(snapshot);
        self.snapshot = self.bytes.len();
    }

    /// What waits, in order.
    pub fn waiting(&self) -> &[u8] {
        self.bytes.get(self.taken..).unwrap_or_default()
    }

    /// The first `count` bytes of [`Backlog::waiting`] were written.
    pub fn take(&mut self, count: usize) {
        self.taken = (self.taken + count).min(self.bytes.len());
        if self.taken == self.bytes.len() {
            self.bytes.clear();
            self.taken = 0;
            self.snapshot = 0;
            if self.bytes.capacity() > KEEP {
                self.bytes.shrink_to(KEEP);
            }
        }
    }

    /// How many bytes wait.
    pub fn len(&self) -> usize {
        self.bytes.len() - self.taken
    }

    /// Whether none wait.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
