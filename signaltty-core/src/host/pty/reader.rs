//! Reading from a terminal, on a thread of its own.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use rustix::event::{EventfdFlags, PollFd, PollFlags};
use rustix::io::Errno;

use super::Shared;

/// Most bytes of output that are handed on at once.
pub const CHUNK: usize = 64 * 1024;

/// Most bytes that [`PtyReader::finish`] still reads: what the kernel can hold, many times over. A program
/// that was left behind and floods does not keep a pane from ending.
const FINISH_MAX: usize = 1024 * 1024;

/// Longest name of a thread, in bytes, as the kernel keeps it.
const NAME_MAX: usize = 15;
/// Stack of a reading thread, in bytes: the chunk lies on the heap, and who takes it decides how deep it goes.
const STACK: usize = 512 * 1024;

/// What a reading thread hands on.
#[derive(Debug)]
pub enum Output<'a> {
    /// Bytes of output, 1 to [`CHUNK`] of them.
    Bytes(&'a [u8]),
    /// The last thing.
    End(End),
}

/// Why reading ended.
#[derive(Debug)]
pub enum End {
    /// No process has the terminal open any more (the kernel says `EIO`).
    HungUp,
    /// It was asked to.
    Stopped,
    /// The kernel said no.
    Failed(io::Error),
}

/// A reading thread. Dropped, it is stopped at the next chunk and not waited for.
#[derive(Debug)]
pub struct PtyReader {
    bell: Arc<Bell>,
    thread: Option<JoinHandle<()>>,
}

/// How a reading thread is told something.
#[derive(Debug)]
struct Bell {
    /// Read by nobody: rung once, it stays ready.
    wake: OwnedFd,
    /// Stop at once, and do not read first what is there.
    stop: AtomicBool,
}

impl Bell {
    fn ring(&self) {
        // Fails only if it was rung more often than it can count.
        let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
    }
}

impl PtyReader {
    pub(super) fn start(
        shared: Arc<Shared>,
        name: &str,
        take: impl FnMut(Output<'_>) + Send + 'static,
    ) -> io::Result<Self> {
        let bell = Arc::new(Bell {
            wake: rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
            stop: AtomicBool::new(false),
        });
        let rung = Arc::clone(&bell);
        let thread = std::thread::Builder::new()
            .name(name.chars().take(NAME_MAX).collect())
            .stack_size(STACK)
            .spawn(move || read_all(shared.master.as_fd(), &rung, take))?;
        Ok(Self {
            bell,
            thread: Some(thread),
        })
    }

    /// The pane's program has ended: what the terminal still holds is read, then [`End`] comes. Bounded, so
    /// that a background process that goes on writing does not keep the pane open.
    pub fn finish(&self) {
        self.bell.ring();
    }

    /// Stops it and waits until `take` has got its [`End`]. Blocks for as long as `take` does; not from
    /// within `take`.
    pub fn stop(mut self) {
        self.bell.stop.store(true, Ordering::Relaxed);
        self.bell.ring();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for PtyReader {
    fn drop(&mut self) {
        self.bell.stop.store(true, Ordering::Relaxed);
        self.bell.ring();
    }
}

fn read_all(master: BorrowedFd<'_>, bell: &Bell, mut take: impl FnMut(Output<'_>)) {
    let mut chunk = vec![0; CHUNK];
    let mut left = None;
    let end = loop {
        if bell.stop.load(Ordering::Relaxed) || left == Some(0) {
            break End::Stopped;
        }
        if left.is_none() {
            let mut fds = [
                PollFd::new(&master, PollFlags::IN),
                PollFd::from_borrowed_fd(bell.wake.as_fd(), PollFlags::IN),
            ];
            match rustix::event::poll(&mut fds, None) {
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(error) => break End::Failed(error.into()),
            }
            if !fds[1].revents().is_empty() {
                left = Some(FINISH_MAX);
                continue;
            }
        }
        let (len, stopped) = fill(master, &mut chunk);
        if len > 0 {
            take(Output::Bytes(&chunk[..len]));
        }
        match stopped {
            Err(Errno::IO) => break End::HungUp,
            Err(error) => break End::Failed(error.into()),
            // All that was there is read.
            Ok(()) if left.is_some() && len < CHUNK => break End::Stopped,
            Ok(()) => left = left.map(|left: usize| left.saturating_sub(len)),
        }
    };
    take(Output::End(end));
}

/// Reads until the chunk is full or there is nothing more for now.
fn fill(master: BorrowedFd<'_>, chunk: &mut [u8]) -> (usize, Result<(), Errno>) {
    let mut len = 0;
    while len < chunk.len() {
        match rustix::io::read(master, &mut chunk[len..]) {
            // A terminal has no end of file of its own; none that we know says so.
            Ok(0) => return (len, Err(Errno::IO)),
            Ok(read) => len += read,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return (len, Ok(())),
            Err(error) => return (len, Err(error)),
        }
    }
    (len, Ok(()))
}
