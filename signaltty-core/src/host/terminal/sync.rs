//! Synchronized updates (mode 2026): withheld from viewers until they are whole (specs/001 §4).
//!
//! VTE 0.70 does not know them and would show half-drawn frames. The model is fed at once: what the program asks in
//! the middle of an update is answered from where it stands.

use crate::limits::{SYNC_BYTES_MAX, SYNC_MAX};

/// What is withheld.
#[derive(Debug, Default)]
pub struct Sync {
    /// When withholding ends at the latest, in the milliseconds of the caller's clock. `None`: nothing is withheld.
    deadline: Option<u64>,
    /// Whether the program is inside an update, withheld or not.
    inside: bool,
    bytes: Vec<u8>,
}

impl Sync {
    /// The program begins an update. One that it is already inside goes on.
    pub fn begin(&mut self, now_ms: u64) {
        if !self.inside {
            self.inside = true;
            self.deadline = Some(now_ms.saturating_add(millis(SYNC_MAX)));
        }
    }

    /// The program ended it.
    pub fn end(&mut self, viewers: &mut Vec<u8>) {
        self.inside = false;
        self.release(viewers);
    }

    /// Whether the program is inside an update.
    pub fn is_inside(&self) -> bool {
        self.inside
    }

    /// Whatever is withheld goes out, and the rest of this update as it comes.
    pub fn release(&mut self, viewers: &mut Vec<u8>) {
        self.deadline = None;
        if viewers.is_empty() {
            std::mem::swap(viewers, &mut self.bytes);
        } else {
            viewers.append(&mut self.bytes);
        }
    }

    /// When [`Sync::expire`] has something to do, in milliseconds.
    pub fn deadline(&self) -> Option<u64> {
        self.deadline
    }

    /// An update that takes too long is shown as it is, and the program counts as outside it.
    pub fn expire(&mut self, now_ms: u64, viewers: &mut Vec<u8>) {
        if self.deadline.is_some_and(|deadline| now_ms >= deadline) {
            self.end(viewers);
        }
    }

    /// Bytes for viewers.
    pub fn pass(&mut self, bytes: &[u8], viewers: &mut Vec<u8>) {
        if self.deadline.is_none() {
            viewers.extend_from_slice(bytes);
            return;
        }
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() > SYNC_BYTES_MAX {
            self.release(viewers);
        }
    }
}

fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
