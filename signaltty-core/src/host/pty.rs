//! A pane's terminal, seen from its master: reading, writing, size, and what runs in its foreground.
//!
//! Reading is a blocking thread a pane. A terminal gives at most 4 KiB a call, so a busy one costs thousands
//! of calls a second; on a thread of its own each costs one system call and no visit to a scheduler, and a
//! pane that floods delays no other. An idle thread costs its stack's first pages. Calls are gathered into
//! chunks of up to [`CHUNK`] bytes, so whoever takes the output works on large pieces under load and at once
//! on a single key's echo.
//!
//! Writing is async and bounded: a program that does not read its input holds up nobody.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags};
use rustix::io::Errno;
use rustix::termios::Winsize;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::ancestry::read_cmdline;
use crate::limits::INPUT_MAX;
use crate::model::Size;

/// Most bytes of output that are handed on at once.
pub const CHUNK: usize = 64 * 1024;
/// Most bytes that [`PtyReader::finish`] still reads: what the kernel can hold, many times over. A program
/// that was left behind and floods does not keep a pane from ending.
const FINISH_MAX: usize = 1024 * 1024;
/// Stack of a reading thread, in bytes: the chunk lies on the heap, and who takes it decides how deep it goes.
const STACK: usize = 512 * 1024;
/// How soon a full terminal is tried again although nothing was heard from it. The kernel wakes a writer when
/// the program reads, but moves what it holds back a moment later.
const RETRY: Duration = Duration::from_millis(50);

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

/// The processes in the foreground of a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreground {
    /// The group.
    pub group: i32,
    /// The arguments of its leader; empty once that has ended. Untrusted.
    pub cmdline: Vec<String>,
}

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
    /// At most [`INPUT_MAX`] bytes of all callers together wait. What has not been taken when `within` is
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
        let bell = Arc::new(Bell {
            wake: rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
            stop: AtomicBool::new(false),
        });
        let (shared, rung) = (Arc::clone(&self.shared), Arc::clone(&bell));
        let thread = std::thread::Builder::new()
            .name(name.chars().take(15).collect())
            .stack_size(STACK)
            .spawn(move || read_all(shared.master.as_fd(), &rung, take))?;
        Ok(PtyReader {
            bell,
            thread: Some(thread),
        })
    }
}

impl AsFd for Pty {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.shared.master.as_fd()
    }
}

impl Shared {
    async fn write(&self, mut input: &[u8], written: &mut usize) -> io::Result<()> {
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
struct Room<'a> {
    shared: &'a Shared,
    len: usize,
}

impl<'a> Room<'a> {
    fn take(shared: &'a Shared, len: usize) -> Result<Self, InputError> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::{Read, Write};
    use std::sync::mpsc;

    use rustix::pty::OpenptFlags;
    use rustix::termios::OptionalActions;

    const LONG: Duration = Duration::from_secs(30);

    /// A terminal and the program's end of it, which passes bytes as they are.
    fn terminal() -> (Pty, File) {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = rustix::pty::openpt(flags).unwrap();
        rustix::pty::grantpt(&master).unwrap();
        rustix::pty::unlockpt(&master).unwrap();
        let slave = rustix::pty::ioctl_tiocgptpeer(&master, flags).unwrap();
        let mut modes = rustix::termios::tcgetattr(&slave).unwrap();
        modes.make_raw();
        rustix::termios::tcsetattr(&slave, OptionalActions::Now, &modes).unwrap();
        (Pty::new(master).unwrap(), slave.into())
    }

    fn run<T>(test: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async { tokio::time::timeout(2 * LONG, test).await.unwrap() })
    }

    /// What a reader brings, and a receiver of how it ended.
    fn reader(pty: &Pty) -> (PtyReader, mpsc::Receiver<Result<Vec<u8>, String>>) {
        let (told, heard) = mpsc::channel();
        let reader = pty
            .read("a pane", move |output| {
                let _ = told.send(match output {
                    Output::Bytes(bytes) => Ok(bytes.to_vec()),
                    Output::End(end) => Err(format!("{end:?}")),
                });
            })
            .unwrap();
        (reader, heard)
    }

    fn until_end(heard: &mpsc::Receiver<Result<Vec<u8>, String>>) -> (Vec<u8>, String) {
        let mut all = Vec::new();
        loop {
            match heard.recv_timeout(LONG).unwrap() {
                Ok(bytes) => {
                    assert!((1..=CHUNK).contains(&bytes.len()));
                    all.extend(bytes);
                }
                Err(end) => return (all, end),
            }
        }
    }

    #[test]
    fn all_output_comes_in_order_and_then_the_hang_up() {
        let (pty, mut slave) = terminal();
        let (_reader, heard) = reader(&pty);
        let output: Vec<u8> = (0..3_000_000_u32).map(|n| (n / 7) as u8).collect();
        let writing = std::thread::spawn({
            let output = output.clone();
            move || slave.write_all(&output).unwrap()
        });
        let (all, end) = until_end(&heard);
        writing.join().unwrap();
        assert!(all == output);
        assert_eq!(end, "HungUp");
    }

    #[test]
    fn finishing_reads_what_is_there_though_the_terminal_stays_open() {
        let (pty, mut slave) = terminal();
        slave.write_all(b"last words").unwrap();
        let (reader, heard) = reader(&pty);
        reader.finish();
        assert_eq!(
            until_end(&heard),
            (b"last words".to_vec(), "Stopped".to_owned())
        );
    }

    #[test]
    fn finishing_is_bounded_though_the_terminal_is_flooded() {
        let (pty, mut slave) = terminal();
        let (reader, heard) = reader(&pty);
        let flood = std::thread::spawn(move || while slave.write_all(&[b'x'; 4_096]).is_ok() {});
        heard.recv_timeout(LONG).unwrap().unwrap();
        reader.finish();
        let (_, end) = until_end(&heard);
        assert_eq!(end, "Stopped");
        drop((reader, pty));
        flood.join().unwrap();
    }

    #[test]
    fn stopping_ends_a_reader_that_waits() {
        let (pty, _slave) = terminal();
        let (reader, heard) = reader(&pty);
        reader.stop();
        assert_eq!(heard.try_recv().unwrap(), Err("Stopped".to_owned()));
    }

    #[test]
    fn input_arrives_whole_and_in_order_however_slowly_it_is_read() {
        let (pty, mut slave) = terminal();
        let input: Vec<u8> = (0..200_000_u32).map(|n| (n / 3) as u8).collect();
        let reading = std::thread::spawn(move || {
            let mut all = vec![0; 200_010];
            slave.read_exact(&mut all).map(|()| all).unwrap()
        });
        run(async {
            let first = pty.write(&input, LONG);
            let second = pty.write(b"and then..", LONG);
            let (first, second) = tokio::join!(first, second);
            first.unwrap();
            second.unwrap();
        });
        let all = reading.join().unwrap();
        assert!(all[..200_000] == input);
        assert_eq!(&all[200_000..], b"and then..");
    }

    #[test]
    fn what_a_program_does_not_take_is_withdrawn_and_counted() {
        let (pty, mut slave) = terminal();
        let written = run(async {
            match pty
                .write(&[b'x'; INPUT_MAX], Duration::from_millis(200))
                .await
            {
                Err(InputError::Stalled { written }) => written,
                other => panic!("{other:?}"),
            }
        });
        assert!(written > 0 && written < INPUT_MAX, "{written}");
        let reading = std::thread::spawn(move || {
            let mut all = Vec::new();
            while !all.ends_with(b"!") {
                let mut chunk = [0; 4_096];
                let read = slave.read(&mut chunk).unwrap();
                all.extend(&chunk[..read]);
            }
            all
        });
        run(async { pty.write(b"!", LONG).await.unwrap() });
        assert_eq!(reading.join().unwrap().len(), written + 1);
    }

    #[test]
    fn more_input_than_may_wait_is_refused_at_once() {
        let (pty, _slave) = terminal();
        run(async {
            let half = [b'x'; INPUT_MAX / 2 + 1];
            let first = pty.write(&half, LONG);
            let second = async {
                // After the first has begun: the branches are polled in order.
                let refused = pty.write(&half, LONG).await.unwrap_err();
                assert_eq!(refused.written(), 0);
                assert!(
                    matches!(refused, InputError::Full { waiting } if waiting == half.len()),
                    "{refused}"
                );
            };
            tokio::select! { biased; first = first => panic!("{first:?}"), () = second => {} }
            // The first was dropped, and its room is free again.
            let third = pty
                .write(&half, Duration::from_millis(50))
                .await
                .unwrap_err();
            assert!(matches!(third, InputError::Stalled { .. }), "{third}");
        });
    }

    #[test]
    fn input_to_a_terminal_that_is_gone_says_so() {
        let (pty, slave) = terminal();
        drop(slave);
        // With nobody at the other end the kernel takes what it has room for, then nothing more.
        let result = run(async {
            pty.write(&[b'x'; INPUT_MAX], Duration::from_millis(200))
                .await
        });
        assert!(result.unwrap_err().written() < INPUT_MAX);
    }

    #[test]
    fn the_size_is_what_was_set_within_its_bounds() {
        let (pty, _slave) = terminal();
        pty.resize(Size {
            cols: 0,
            rows: u16::MAX,
        })
        .unwrap();
        assert_eq!(
            pty.size().unwrap(),
            Size {
                cols: 1,
                rows: Size::MAX
            }
        );
        assert_eq!(pty.foreground(), None);
    }
}
