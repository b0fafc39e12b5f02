//! A memory whose writer is killed.

use super::*;
use proptest::prelude::*;

/// Bytes of which only so many more can be written: then the writer is dead, in the middle of a write.
#[derive(Debug, Clone)]
struct Mortal {
    bytes: Vec<u8>,
    left: usize,
}

impl Mortal {
    fn new() -> Self {
        Self {
            bytes: vec![0; FILE_LEN as usize],
            left: usize::MAX,
        }
    }
}

impl Medium for Mortal {
    fn write_at(&mut self, bytes: &[u8], at: u64) -> io::Result<()> {
        let len = bytes.len().min(self.left);
        self.bytes[at as usize..at as usize + len].copy_from_slice(&bytes[..len]);
        self.left -= len;
        if len == bytes.len() {
            Ok(())
        } else {
            Err(io::ErrorKind::BrokenPipe.into())
        }
    }

    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        bytes.copy_from_slice(&self.bytes[at as usize..at as usize + bytes.len()]);
        Ok(())
    }
}

/// What ought to be there.
#[derive(Debug, Clone, Default)]
struct Model {
    snapshot: Vec<u8>,
    since: Vec<u8>,
}

impl Model {
    fn is_told_by(&self, restored: &Restored) -> bool {
        let lost = self.since.len().saturating_sub(TAIL_MAX);
        restored.snapshot == self.snapshot
            && restored.tail == self.since[lost..]
            && restored.gap == (lost > 0)
    }
}

#[derive(Debug, Clone)]
enum Step {
    Append(usize),
    Snapshot(usize),
    /// The host is killed after so many more bytes.
    KillAfter(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => prop_oneof![1 => 1_usize..100, 2 => 1_usize..300_000].prop_map(Step::Append),
        1 => prop_oneof![0_usize..100, 0..=SNAPSHOT_MAX].prop_map(Step::Snapshot),
        3 => prop_oneof![0_usize..200, 0_usize..600_000].prop_map(Step::KillAfter),
    ];
    proptest::collection::vec(step, 1..40)
}

/// Bytes that differ from step to step, so that old ones are told from new ones.
fn bytes(len: usize, step: usize) -> Vec<u8> {
    (0..len)
        .map(|n| (n * 31 + n / 251 + step * 97) as u8)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_host_killed_at_any_byte_leaves_a_state_that_it_had_reached(steps in steps()) {
        let mut book = Book::open(Mortal::new()).unwrap();
        let mut model = Model::default();
        for (number, step) in steps.into_iter().enumerate() {
            // Every state that the writer may be in after this step.
            let mut reached = vec![model.clone()];
            let result = match step {
                Step::Append(len) => {
                    let output = bytes(len, number);
                    for chunk in output.chunks(CHUNK) {
                        model.since.extend(chunk);
                        reached.push(model.clone());
                    }
                    book.append(&output)
                }
                Step::Snapshot(len) => {
                    model = Model { snapshot: bytes(len, number), since: Vec::new() };
                    reached.push(model.clone());
                    book.write_snapshot(&model.snapshot)
                }
                Step::KillAfter(left) => {
                    book.medium.left = left;
                    Ok(())
                }
            };
            if result.is_ok() {
                prop_assert!(model.is_told_by(&book.restore().unwrap()));
                continue;
            }
            // It is dead. The next host finds one of these states, and goes on from there.
            let left = Mortal { left: usize::MAX, ..book.medium };
            book = Book::open(left).unwrap();
            let found = book.restore().unwrap();
            let state = reached.into_iter().rev().find(|model| model.is_told_by(&found));
            prop_assert!(state.is_some(), "a state that never was");
            model = state.unwrap_or_default();
        }
    }

    #[test]
    fn no_header_makes_it_read_out_of_bounds(noise in proptest::collection::vec(any::<u8>(), 2 * HEADER_LEN), sums in any::<bool>()) {
        let mut medium = Mortal::new();
        for (half, at) in noise.chunks(HEADER_LEN).zip(HEADERS_AT) {
            let mut header = half.to_vec();
            if sums {
                header[..8].copy_from_slice(&MAGIC);
                let sum = checksum(&header[..HEADER_LEN - 8]);
                header[HEADER_LEN - 8..].copy_from_slice(&sum.to_le_bytes());
            }
            medium.write_at(&header, at).unwrap();
        }
        if let Ok(book) = Book::open(medium) {
            let restored = book.restore().unwrap();
            prop_assert!(restored.tail.len() <= TAIL_MAX && restored.snapshot.len() <= SNAPSHOT_MAX);
        }
    }
}

#[test]
fn a_full_ring_is_whole_also_while_it_is_written_over() {
    let mut book = Book::open(Mortal::new()).unwrap();
    let output = bytes(3 * RING / 2, 1);
    book.append(&output).unwrap();
    let expected = Restored {
        snapshot: Vec::new(),
        tail: output[output.len() - TAIL_MAX..].to_vec(),
        gap: true,
    };
    assert!(book.restore().unwrap() == expected);
    // All of the next chunk is there but its header.
    book.medium.left = CHUNK;
    assert!(book.append(&bytes(CHUNK, 2)).is_err());
    assert!(Book::open(book.medium).unwrap().restore().unwrap() == expected);
}

#[test]
fn a_real_memory_is_sealed_and_keeps_what_is_written() {
    let fd = create().unwrap();
    assert!(
        rustix::fs::ftruncate(&fd, 1).is_err(),
        "it can be truncated"
    );
    assert!(
        rustix::io::pwrite(&fd, b"x", FILE_LEN).is_err(),
        "it can grow"
    );
    let copy = fd.try_clone().unwrap();
    let mut memory = PaneMemory::open(fd).unwrap();
    assert_eq!(memory.restore().unwrap(), Restored::default());
    memory.append(b"seen").unwrap();
    memory.write_snapshot(b"screen").unwrap();
    memory.append(b"and more").unwrap();
    assert_eq!(memory.since_snapshot(), 8);
    let again = PaneMemory::open(copy).unwrap().restore().unwrap();
    assert_eq!(
        again,
        Restored {
            snapshot: b"screen".into(),
            tail: b"and more".into(),
            gap: false
        }
    );
}

#[test]
fn a_snapshot_over_the_bound_changes_nothing() {
    let mut memory = PaneMemory::open(create().unwrap()).unwrap();
    memory.write_snapshot(b"old").unwrap();
    let error = memory
        .write_snapshot(&vec![0; SNAPSHOT_MAX + 1])
        .unwrap_err();
    assert!(matches!(error, MemoryError::TooLarge { .. }));
    assert_eq!(memory.restore().unwrap().snapshot, b"old");
    assert!(!memory.wants_snapshot());
    memory.append(&vec![7; SNAPSHOT_AFTER]).unwrap();
    assert!(memory.wants_snapshot());
}

#[test]
fn what_is_no_memory_of_ours_is_refused() {
    let foreign = rustix::fs::memfd_create("x", MemfdFlags::CLOEXEC).unwrap();
    assert!(matches!(
        PaneMemory::open(foreign.try_clone().unwrap()),
        Err(MemoryError::Invalid)
    ));
    rustix::fs::ftruncate(&foreign, FILE_LEN).unwrap();
    for at in HEADERS_AT {
        rustix::io::pwrite(&foreign, b"something else", at).unwrap();
    }
    assert!(matches!(
        PaneMemory::open(foreign),
        Err(MemoryError::Invalid)
    ));
}
