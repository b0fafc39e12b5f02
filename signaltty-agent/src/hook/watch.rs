//! What ends a waiting hook from outside: SIGTERM, the death of whoever started it, a deadline.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read};
use rustix::process::{Pid, PidfdFlags, getpid, pidfd_open};
use rustix::termios::isatty;
use rustix::time::{ClockId, clock_gettime};

use super::Quit;

/// Most processes above the hook that are watched.
const ANCESTORS_MAX: usize = 8;
/// How often the processes above are looked at where the kernel cannot tell of their end.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// Bytes read at once.
const CHUNK: usize = 16 * 1024;

/// A moment on the clock that goes on while the machine sleeps, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Deadline(u64);

impl Deadline {
    /// That long from now.
    pub(crate) fn after(wait: Duration) -> Self {
        Self(now_ms().saturating_add(millis(wait)))
    }

    /// So far away that it never comes.
    pub(crate) const NEVER: Self = Self(u64::MAX);

    /// That much later than this one.
    pub(crate) fn later(self, wait: Duration) -> Self {
        Self(self.0.saturating_add(millis(wait)))
    }

    /// Whether it has passed.
    pub(crate) fn passed(self) -> bool {
        now_ms() >= self.0
    }

    /// Whether it is at most that far away.
    pub(crate) fn within(self, margin: Duration) -> bool {
        self.left() <= margin
    }

    fn left(self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(now_ms()))
    }
}

fn now_ms() -> u64 {
    let now = clock_gettime(ClockId::Boottime);
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000
        + u64::try_from(now.tv_nsec).unwrap_or(0) / 1_000_000
}

fn millis(wait: Duration) -> u64 {
    u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)
}

/// What a wait ended with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Woke {
    /// There is something to read.
    Readable,
    /// SIGTERM, or the agent is gone.
    Ended,
    /// The deadline passed.
    Late,
}

/// Everything that is waited for beside the host.
#[derive(Debug)]
pub(crate) struct Watch {
    /// Readable once SIGTERM came.
    stop: UnixStream,
    /// Readable once that process ended.
    ended: Vec<OwnedFd>,
    /// The processes above, from the nearest, where they have to be looked at.
    looked_at: Vec<Pid>,
}

impl Watch {
    /// Begins with SIGTERM alone.
    pub(crate) fn new() -> Option<Self> {
        let (stop, raised) = UnixStream::pair().ok()?;
        signal_hook::low_level::pipe::register(signal_hook::consts::SIGTERM, raised).ok()?;
        Some(Self {
            stop,
            ended: Vec::new(),
            looked_at: Vec::new(),
        })
    }

    /// Watches the processes above us too: whatever runs the hook (shells in our own session), and the agent,
    /// the first of another session. Several vendors kill a hook's shell outright, or end without a word.
    pub(crate) fn ancestors(&mut self) {
        let chain = ancestors();
        for pid in &chain {
            match pidfd_open(*pid, PidfdFlags::empty()) {
                Ok(fd) => self.ended.push(fd),
                // Ended between the two calls: what is above it tells the rest.
                Err(Errno::SRCH) => {}
                Err(_) => {
                    self.ended.clear();
                    self.looked_at = chain;
                    return;
                }
            }
        }
    }

    /// Waits until there is something to read, or the other side is gone.
    pub(crate) fn readable(&self, source: impl AsFd, deadline: Deadline) -> Result<(), Quit> {
        match self.wait(Some(source.as_fd()), deadline) {
            Woke::Readable => Ok(()),
            Woke::Ended | Woke::Late => Err(Quit::Stopped),
        }
    }

    /// Waits that long, for nothing but an end.
    pub(crate) fn pause(&self, wait: Duration) -> Result<(), Quit> {
        match self.wait(None, Deadline::after(wait)) {
            Woke::Ended => Err(Quit::Stopped),
            Woke::Readable | Woke::Late => Ok(()),
        }
    }

    /// Reads standard input to its end; `None` where it is larger than `max`, does not end or is a terminal.
    pub(crate) fn read_input(&self, max: usize, deadline: Deadline) -> Option<Vec<u8>> {
        let stdin = rustix::stdio::stdin();
        if isatty(stdin) {
            return None;
        }
        let mut taken = Vec::new();
        let mut chunk = [0; CHUNK];
        let mut length = 0;
        loop {
            self.readable(stdin, deadline).ok()?;
            let count = match read(stdin, &mut chunk) {
                Ok(0) => return (length <= max).then_some(taken),
                Ok(count) => count,
                Err(Errno::INTR) => continue,
                Err(_) => return None,
            };
            // Too large is taken all the same, and thrown away: the agent's pipe must hold.
            length += count;
            if length <= max {
                taken.extend_from_slice(&chunk[..count]);
            }
        }
    }

    fn wait(&self, source: Option<BorrowedFd<'_>>, deadline: Deadline) -> Woke {
        loop {
            let mut fds = vec![PollFd::new(&self.stop, PollFlags::IN)];
            fds.extend(self.ended.iter().map(|fd| PollFd::new(fd, PollFlags::IN)));
            let ends = fds.len();
            fds.extend(source.map(|source| PollFd::from_borrowed_fd(source, PollFlags::IN)));
            let mut left = deadline.left();
            if !self.looked_at.is_empty() {
                left = left.min(LOOK_AGAIN);
            }
            let timeout = Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: i64::from(left.subsec_nanos()),
            };
            match poll(&mut fds, Some(&timeout)) {
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(_) => return Woke::Ended,
            }
            let woke = |fds: &[PollFd<'_>]| fds.iter().any(|fd| !fd.revents().is_empty());
            if woke(&fds[..ends]) || self.orphaned() {
                return Woke::Ended;
            }
            if woke(&fds[ends..]) {
                return Woke::Readable;
            }
            if deadline.passed() {
                return Woke::Late;
            }
        }
    }

    fn orphaned(&self) -> bool {
        !self.looked_at.is_empty() && ancestors() != self.looked_at
    }
}

/// The processes above this one, from the nearest up to the first of another session.
fn ancestors() -> Vec<Pid> {
    let mut chain = Vec::new();
    let Some(mut at) = Place::of(getpid()) else {
        return chain;
    };
    let own = at.session;
    while let Some(parent) = at
        .parent
        .filter(|parent| !parent.is_init() && chain.len() < ANCESTORS_MAX)
    {
        chain.push(parent);
        match Place::of(parent) {
            Some(place) if place.session == own => at = place,
            _ => break,
        }
    }
    chain
}

/// Where a process stands among the others.
struct Place {
    parent: Option<Pid>,
    /// 0 where its session began outside our view (a container).
    session: i32,
}

impl Place {
    fn of(pid: Pid) -> Option<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
        // The name in brackets may itself hold brackets and blanks: what counts stands behind the last one.
        let (_, fields) = stat.rsplit_once(')')?;
        let mut fields = fields.split_whitespace().skip(1);
        let parent = fields.next()?.parse().ok()?;
        let session = fields.nth(1)?.parse().ok()?;
        // 0 where its parent is outside our view.
        Some(Self {
            parent: (parent > 0).then(|| Pid::from_raw(parent)).flatten(),
            session,
        })
    }
}
