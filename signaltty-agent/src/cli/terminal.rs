//! The terminal that we run in: its modes, changed and always given back, and what is typed there.

use std::io::Read as _;
use std::os::fd::AsFd as _;

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use signaltty_core::model::Size;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

/// Reads that wait to be looked at.
const READS_WAITING: usize = 64;
/// Bytes of one read.
const READ_MAX: usize = 16 * 1024;

/// The terminal's modes as they were; given back when this goes.
#[derive(Debug)]
pub(super) struct Modes {
    saved: Termios,
}

impl Modes {
    /// Hands every byte through: for a terminal within a terminal.
    pub(super) fn raw() -> std::io::Result<Self> {
        // What was typed already is meant for the pane.
        Self::change(OptionalActions::Now, Termios::make_raw)
    }

    /// Hands every key over at once and echoes nothing; Ctrl+C still interrupts.
    pub(super) fn keys() -> std::io::Result<Self> {
        // What was typed before anything was shown answers nothing.
        Self::change(OptionalActions::Flush, |modes| {
            modes.local_modes -= LocalModes::ICANON | LocalModes::ECHO
        })
    }

    fn change(when: OptionalActions, change: impl FnOnce(&mut Termios)) -> std::io::Result<Self> {
        let stdin = std::io::stdin();
        let saved = tcgetattr(stdin.as_fd())?;
        let mut modes = saved.clone();
        change(&mut modes);
        tcsetattr(stdin.as_fd(), when, &modes)?;
        Ok(Self { saved })
    }
}

impl Drop for Modes {
    fn drop(&mut self) {
        let _ = tcsetattr(
            std::io::stdin().as_fd(),
            OptionalActions::Drain,
            &self.saved,
        );
    }
}

/// The terminal's size; `None` where it has none.
pub(super) fn size() -> Option<Size> {
    let size = tcgetwinsize(std::io::stdout().as_fd()).ok()?;
    let size = Size {
        cols: size.ws_col,
        rows: size.ws_row,
    };
    (size.cols > 0 && size.rows > 0).then(|| size.clamped())
}

/// What is typed, as it comes; ends with standard input. A thread reads, because a terminal that is shared with
/// a shell must not be made non-blocking.
pub(super) fn input() -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel(READS_WAITING);
    std::thread::spawn(move || {
        let mut chunk = vec![0; READ_MAX];
        loop {
            match std::io::stdin().lock().read(&mut chunk) {
                Ok(0) => return,
                Ok(count) => {
                    if sender.blocking_send(chunk[..count].to_vec()).is_err() {
                        return;
                    }
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    });
    receiver
}

/// The signals that would end us and leave the terminal as it is.
pub(super) struct Ending {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Ending {
    pub(super) fn new() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for one of them.
    pub(super) async fn comes(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }
}
