//! A pane's terminal, seen from its master: reading, writing, size, and what runs in its foreground.
//!
//! Reading is a blocking thread a pane. A terminal gives at most 4 KiB a call, so a busy one costs thousands
//! of calls a second; on a thread of its own each costs one system call and no visit to a scheduler, and a
//! pane that floods delays no other. An idle thread costs its stack's first pages. Calls are gathered into
//! chunks of up to [`CHUNK`] bytes, so whoever takes the output works on large pieces under load and at once
//! on a single key's echo.
//!
//! Writing is async and bounded: a program that does not read its input holds up nobody.

mod input;
mod reader;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use rustix::termios::Winsize;

pub use self::input::InputError;
use self::input::Room;
pub use self::reader::{CHUNK, End, Output, PtyReader};
use super::ancestry::read_cmdline;
use crate::model::Size;

/// The master of a pane's terminal. Clones share it; the last one closes this process' copy.
#[derive(Debug, Clone)]
pub struct Pty {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    master: OwnedFd,
    /// Whose turn it is to write. Fair: first come, first served.
    turn: tokio::sync::Mutex<()>,
    /// Bytes of all that wait to be written.
    waiting: AtomicUsize,
}

/// The processes in the foreground of a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreground {
    /// The group.
    pub group: i32,
    /// The arguments of its leader; empty once that has ended. Untrusted.
    pub cmdline: Vec<String>,
}

impl Pty {
    /// Takes a master. It is made non-blocking, for whoever shares it too (the keeper reads and writes none).
    ///
    /// # Errors
    /// What the kernel says.
    pub fn new(master: OwnedFd) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&master, true)?;
        let shared = Shared {
            master,
            turn: tokio::sync::Mutex::new(()),
            waiting: AtomicUsize::new(0),
        };
        Ok(Self {
            shared: Arc::new(shared),
        })
    }

    /// Sets the size; the program gets SIGWINCH if it is another one.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn resize(&self, size: Size) -> io::Result<()> {
        let size = size.clamped();
        let size = Winsize {
            ws_row: size.rows,
            ws_col: size.cols,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        Ok(rustix::termios::tcsetwinsize(&self.shared.master, size)?)
    }

    /// The size that the program sees.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn size(&self) -> io::Result<Size> {
        let size = rustix::termios::tcgetwinsize(&self.shared.master)?;
        Ok(Size {
            cols: size.ws_col,
            rows: size.ws_row,
        })
    }

    /// What runs in the foreground: of a shell that runs nothing, the shell itself. None if nobody has the
    /// terminal as its own.
    pub fn foreground(&self) -> Option<Foreground> {
        let group = rustix::termios::tcgetpgrp(&self.shared.master)
            .ok()?
            .as_raw_nonzero()
            .get();
        Some(Foreground {
            group,
            cmdline: read_cmdline(group),
        })
    }

    /// Writes input, after all that came before it. Done when the terminal has taken every byte.
    ///
    /// At most [`crate::limits::INPUT_MAX`] bytes of all callers together wait. What has not been taken when `within` is
    /// over, or when the future is dropped, is withdrawn.
    ///
    /// # Errors
    /// [`InputError`] says how many bytes were taken.
    pub async fn write(&self, input: &[u8], within: Duration) -> Result<(), InputError> {
        let _room = Room::take(&self.shared, input.len())?;
        let mut written = 0;
        match tokio::time::timeout(within, self.shared.write(input, &mut written)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(source)) => Err(InputError::Gone { written, source }),
            Err(_) => Err(InputError::Stalled { written }),
        }
    }

    /// Writes input now, if nobody else is writing and the terminal takes it. For what must not come behind
    /// input that is still on its way.
    ///
    /// # Errors
    /// [`InputError`] says how many bytes were taken.
    pub fn write_now(&self, input: &[u8]) -> Result<(), InputError> {
        use rustix::io::Errno;
        let _room = Room::take(&self.shared, input.len())?;
        let Ok(_turn) = self.shared.turn.try_lock() else {
            return Err(InputError::Stalled { written: 0 });
        };
        let mut written = 0;
        while written < input.len() {
            match rustix::io::write(&self.shared.master, &input[written..]) {
                Ok(taken) => written += taken,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Err(InputError::Stalled { written }),
                Err(error) => {
                    return Err(InputError::Gone {
                        written,
                        source: error.into(),
                    });
                }
            }
        }
        Ok(())
    }

    /// Reads on a thread of its own until the terminal is hung up or the reader is stopped. `take` gets every
    /// byte in order, then [`Output::End`] once; it may block, and the program then waits.
    ///
    /// # Errors
    /// No thread is to be had.
    pub fn read(
        &self,
        name: &str,
        take: impl FnMut(Output<'_>) + Send + 'static,
    ) -> io::Result<PtyReader> {
        PtyReader::start(Arc::clone(&self.shared), name, take)
    }
}

impl AsFd for Pty {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.shared.master.as_fd()
    }
}

#[cfg(test)]
mod tests;
