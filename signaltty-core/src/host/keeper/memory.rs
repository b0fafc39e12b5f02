//! What outlives the host of a pane's screen: the last snapshot and the raw output since, in one bounded
//! memfd that the keeper holds. Nothing of it lies on disk (specs/001 §1).
//!
//! The host writes with `pwrite`, never by mapping: a mapped file that somebody truncates kills its reader
//! by SIGBUS, and 64 KiB of output a call leave nothing to gain. The file's size is sealed.
//!
//! A host may be killed between any two bytes. So nothing that the valid header names is ever written over:
//!
//! ```text
//! 0        header A   ┐ written in turn; the valid one with the higher sequence number counts
//! 512      header B   ┘
//! 4096     snapshot 0 ┐ the next snapshot goes to the one that the header does not name
//!          snapshot 1 ┘
//!          ring: raw output, byte n of the pane's life at n modulo its size; at most RING - CHUNK bytes of it
//!          count, so that the chunk that is being written overwrites none of them
//! ```

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{MemfdFlags, SealFlags};

/// Largest snapshot of a screen with its history, in bytes.
pub const SNAPSHOT_MAX: usize = 1024 * 1024;
/// Bytes of output that are kept since the last snapshot.
pub const TAIL_MAX: usize = RING - CHUNK;
/// After so many bytes of output a new snapshot is worth its work: long before the ring is full.
pub const SNAPSHOT_AFTER: usize = 512 * 1024;

const MAGIC: [u8; 8] = *b"sigttym1";
const HEADERS_AT: [u64; 2] = [0, 512];
const HEADER_LEN: usize = 64;
const SNAPSHOTS_AT: [u64; 2] = [4_096, 4_096 + SNAPSHOT_MAX as u64];
const RING_AT: u64 = 4_096 + 2 * SNAPSHOT_MAX as u64;
const RING: usize = 1024 * 1024;
const CHUNK: usize = 64 * 1024;
/// Size of the file. Its pages are made as they are written.
const FILE_LEN: u64 = RING_AT + RING as u64;

/// Why a pane's memory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// The snapshot is over [`SNAPSHOT_MAX`]: keep less history in it.
    #[error("a snapshot of {len} bytes is over the bound of {SNAPSHOT_MAX}")]
    TooLarge {
        /// Its length.
        len: usize,
    },
    /// The file has no valid header: it is not ours.
    #[error("the pane's memory holds nothing that can be read")]
    Invalid,
    /// The kernel said no.
    #[error("the pane's memory: {0}")]
    Io(#[from] io::Error),
}

/// What an earlier host left.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Restored {
    /// The last snapshot; empty if none was written.
    pub snapshot: Vec<u8>,
    /// Raw output since, at most [`TAIL_MAX`] bytes.
    pub tail: Vec<u8>,
    /// Whether output between the two is missing, because more came than the ring holds. The tail then
    /// may begin inside a sequence.
    pub gap: bool,
}

/// Where bytes lie. A trait so that tests can stop a write at any byte.
pub(crate) trait Medium {
    fn write_at(&mut self, bytes: &[u8], at: u64) -> io::Result<()>;
    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<()>;
}

/// The real one.
#[derive(Debug)]
pub(crate) struct Memfd(OwnedFd);

impl Medium for Memfd {
    fn write_at(&mut self, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            match rustix::io::pwrite(&self.0, bytes, at) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => {
                    bytes = &bytes[n..];
                    at += n as u64;
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn read_at(&self, bytes: &mut [u8], mut at: u64) -> io::Result<()> {
        let mut done = 0;
        while done < bytes.len() {
            match rustix::io::pread(&self.0, &mut bytes[done..], at) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(n) => {
                    done += n;
                    at += n as u64;
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// Makes an empty memory of fixed size. The keeper does this, once a pane.
pub(crate) fn create() -> io::Result<OwnedFd> {
    let make = |flags| rustix::fs::memfd_create("signaltty-pane", MemfdFlags::CLOEXEC | flags);
    // A system may allow only memory that cannot be executed; a kernel before 6.3 does not know the flag.
    let fd = make(MemfdFlags::NOEXEC_SEAL | MemfdFlags::ALLOW_SEALING)
        .or_else(|_| make(MemfdFlags::ALLOW_SEALING))?;
    rustix::fs::ftruncate(&fd, FILE_LEN)?;
    rustix::fs::fcntl_add_seals(&fd, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    Ok(fd)
}

/// One pane's memory, as the one host uses it.
#[derive(Debug)]
pub struct PaneMemory {
    book: Book<Memfd>,
}

impl PaneMemory {
    /// Takes the descriptor that the keeper handed over.
    ///
    /// # Errors
    /// [`MemoryError::Invalid`] if it is no memory of ours.
    pub fn open(fd: OwnedFd) -> Result<Self, MemoryError> {
        if rustix::fs::fstat(&fd).map_err(io::Error::from)?.st_size != FILE_LEN as i64 {
            return Err(MemoryError::Invalid);
        }
        Ok(Self {
            book: Book::open(Memfd(fd))?,
        })
    }

    /// Appends raw output. Do this before anybody is shown it: what was seen is then what comes back.
    ///
    /// # Errors
    /// [`MemoryError::Io`].
    pub fn append(&mut self, output: &[u8]) -> Result<(), MemoryError> {
        self.book.append(output)
    }

    /// Replaces the snapshot by one that holds everything appended so far, and forgets the tail.
    ///
    /// # Errors
    /// [`MemoryError::TooLarge`] changes nothing; [`MemoryError::Io`] leaves the last state.
    pub fn write_snapshot(&mut self, snapshot: &[u8]) -> Result<(), MemoryError> {
        self.book.write_snapshot(snapshot)
    }

    /// Reads the last consistent state.
    ///
    /// # Errors
    /// [`MemoryError::Io`].
    pub fn restore(&self) -> Result<Restored, MemoryError> {
        self.book.restore()
    }

    /// Bytes appended since the last snapshot.
    pub fn since_snapshot(&self) -> u64 {
        self.book.head.written - self.book.head.snapshot_at
    }

    /// Whether it is time for a new snapshot ([`SNAPSHOT_AFTER`]).
    pub fn wants_snapshot(&self) -> bool {
        self.since_snapshot() >= SNAPSHOT_AFTER as u64
    }
}

impl AsFd for PaneMemory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.book.medium.0.as_fd()
    }
}

/// What a header says. All offsets count bytes of the pane's whole life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Head {
    /// Which header this is; the highest valid one counts.
    sequence: u64,
    /// Bytes ever appended.
    written: u64,
    /// What of them the snapshot holds.
    snapshot_at: u64,
    /// Where the ring begins to hold what was written.
    ring_from: u64,
    /// Length of the snapshot.
    snapshot_len: u32,
    /// Which of the two places it is in.
    snapshot_slot: u32,
}

impl Head {
    fn encode(&self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        let fields = [
            u64::from_le_bytes(MAGIC),
            self.sequence,
            self.written,
            self.snapshot_at,
            self.ring_from,
            u64::from(self.snapshot_len) << 32 | u64::from(self.snapshot_slot),
            0,
        ];
        for (place, field) in bytes.chunks_exact_mut(8).zip(fields) {
            place.copy_from_slice(&field.to_le_bytes());
        }
        let sum = checksum(&bytes[..HEADER_LEN - 8]);
        bytes[HEADER_LEN - 8..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8; HEADER_LEN]) -> Option<Self> {
        let field = |index: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[index * 8..index * 8 + 8]);
            u64::from_le_bytes(word)
        };
        let head = Self {
            sequence: field(1),
            written: field(2),
            snapshot_at: field(3),
            ring_from: field(4),
            snapshot_len: (field(5) >> 32) as u32,
            snapshot_slot: field(5) as u32,
        };
        let sound = field(0) == u64::from_le_bytes(MAGIC)
            && field(7) == checksum(&bytes[..HEADER_LEN - 8])
            && head.snapshot_slot < 2
            && head.snapshot_len as usize <= SNAPSHOT_MAX
            && head.snapshot_at <= head.written
            && head.ring_from <= head.written;
        sound.then_some(head)
    }
}

/// FNV-1a: enough to tell a whole header from a torn one, which is all it is for.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, &byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[derive(Debug)]
struct Book<M> {
    medium: M,
    head: Head,
}

impl<M: Medium> Book<M> {
    fn open(medium: M) -> Result<Self, MemoryError> {
        let mut newest: Option<Head> = None;
        let mut unused = false;
        for at in HEADERS_AT {
            let mut bytes = [0; HEADER_LEN];
            medium.read_at(&mut bytes, at)?;
            unused |= bytes == [0; HEADER_LEN];
            newest = newer(newest, Head::decode(&bytes));
        }
        match newest {
            Some(head) => Ok(Self { medium, head }),
            // Nothing was ever written whole: it is new, or its first host was killed in its first header.
            None if unused => Ok(Self {
                medium,
                head: Head::default(),
            }),
            None => Err(MemoryError::Invalid),
        }
    }

    fn commit(&mut self, mut head: Head) -> Result<(), MemoryError> {
        head.sequence = self.head.sequence + 1;
        let place = HEADERS_AT[(head.sequence % 2) as usize];
        self.medium.write_at(&head.encode(), place)?;
        self.head = head;
        Ok(())
    }

    fn append(&mut self, output: &[u8]) -> Result<(), MemoryError> {
        for chunk in output.chunks(CHUNK) {
            let at = (self.head.written % RING as u64) as usize;
            let (first, rest) = chunk.split_at(chunk.len().min(RING - at));
            self.medium.write_at(first, RING_AT + at as u64)?;
            if !rest.is_empty() {
                self.medium.write_at(rest, RING_AT)?;
            }
            let written = self.head.written + chunk.len() as u64;
            let ring_from = self
                .head
                .ring_from
                .max(written.saturating_sub(TAIL_MAX as u64));
            self.commit(Head {
                written,
                ring_from,
                ..self.head
            })?;
        }
        Ok(())
    }

    fn write_snapshot(&mut self, snapshot: &[u8]) -> Result<(), MemoryError> {
        if snapshot.len() > SNAPSHOT_MAX {
            return Err(MemoryError::TooLarge {
                len: snapshot.len(),
            });
        }
        let slot = 1 - self.head.snapshot_slot;
        self.medium
            .write_at(snapshot, SNAPSHOTS_AT[slot as usize])?;
        let written = self.head.written;
        self.commit(Head {
            snapshot_at: written,
            ring_from: written,
            snapshot_len: snapshot.len() as u32,
            snapshot_slot: slot,
            ..self.head
        })
    }

    fn restore(&self) -> Result<Restored, MemoryError> {
        let head = self.head;
        let mut snapshot = vec![0; head.snapshot_len as usize];
        self.medium
            .read_at(&mut snapshot, SNAPSHOTS_AT[head.snapshot_slot as usize])?;
        let from = head
            .ring_from
            .max(head.written.saturating_sub(TAIL_MAX as u64));
        let mut tail = vec![0; (head.written - from) as usize];
        let at = (from % RING as u64) as usize;
        let whole = tail.len();
        let (first, rest) = tail.split_at_mut(whole.min(RING - at));
        self.medium.read_at(first, RING_AT + at as u64)?;
        self.medium.read_at(rest, RING_AT)?;
        Ok(Restored {
            snapshot,
            tail,
            gap: from > head.snapshot_at,
        })
    }
}

fn newer(a: Option<Head>, b: Option<Head>) -> Option<Head> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b.sequence > a.sequence { b } else { a }),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests;
