//! Writing to a terminal whose program may not read.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::Ordering;
use std::time::Duration;

use rustix::io::Errno;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::Shared;
use crate::limits::INPUT_MAX;

/// How soon a full terminal is tried again although nothing was heard from it. The kernel wakes a writer when
/// the program reads, but moves what it holds back a moment later.
const RETRY: Duration = Duration::from_millis(50);

/// Why input did not reach the program whole. What was not taken is withdrawn: it does not arrive later.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// More waits already than may.
    #[error("the program does not read its input: {waiting} bytes wait, and {INPUT_MAX} may")]
    Full {
        /// Bytes that wait.
        waiting: usize,
    },
    /// The wait was over.
    #[error("the program took {written} bytes of its input and reads no more")]
    Stalled {
        /// Bytes that the terminal took.
        written: usize,
    },
    /// The terminal is gone.
    #[error("the terminal took {written} bytes and is gone: {source}")]
    Gone {
        /// Bytes that the terminal took.
        written: usize,
        /// What came back.
        source: io::Error,
    },
}

impl InputError {
    /// Bytes that the terminal took.
    pub fn written(&self) -> usize {
        match self {
            Self::Full { .. } => 0,
            Self::Stalled { written } | Self::Gone { written, .. } => *written,
        }
    }
}

impl Shared {
    pub(super) async fn write(&self, mut input: &[u8], written: &mut usize) -> io::Result<()> {
        let _turn = self.turn.lock().await;
        // Registered only while the terminal is full: a registered one would wake us for nothing, whenever
        // its program reads.
        let mut full: Option<AsyncFd<BorrowedFd<'_>>> = None;
        while !input.is_empty() {
            match rustix::io::write(&self.master, input) {
                Ok(taken) => {
                    *written += taken;
                    input = &input[taken..];
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    let full = match &mut full {
                        Some(full) => full,
                        // SAFETY: the master is borrowed, so it stays open for as long as this.
                        None => full.insert(unsafe {
                            AsyncFd::register_with_interest(self.master.as_fd(), Interest::WRITABLE)
                        }?),
                    };
                    if let Ok(ready) = tokio::time::timeout(RETRY, full.writable()).await {
                        let mut ready = ready?;
                        // Nobody has the program's end open. That stays so, and is ready for ever.
                        if ready.ready().is_write_closed() {
                            return Err(Errno::IO.into());
                        }
                        ready.clear_ready();
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// A place in the line of what waits to be written; given back however the write ends.
pub(super) struct Room<'a> {
    shared: &'a Shared,
    len: usize,
}

impl<'a> Room<'a> {
    pub(super) fn take(shared: &'a Shared, len: usize) -> Result<Self, InputError> {
        let fits = |waiting: usize| Some(waiting + len).filter(|&sum| sum <= INPUT_MAX);
        match shared
            .waiting
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits)
        {
            Ok(_) => Ok(Self { shared, len }),
            Err(waiting) => Err(InputError::Full { waiting }),
        }
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        self.shared.waiting.fetch_sub(self.len, Ordering::Relaxed);
    }
}
