//! What waits for a viewer (specs/001 §4): it is bounded, and who falls behind begins again.

use signaltty_core::host::terminal::backlog::{BACKLOG_MAX, Backlog};
use signaltty_core::host::terminal::snapshot::CLEAR;

/// Takes at most `step` bytes a time until nothing waits.
fn drain(backlog: &mut Backlog, step: usize) -> Vec<u8> {
    let mut taken = Vec::new();
    while !backlog.is_empty() {
        let part = backlog.waiting();
        let count = part.len().min(step);
        taken.extend_from_slice(&part[..count]);
        backlog.take(count);
    }
    taken
}

#[test]
fn bytes_leave_in_order_however_they_are_taken() {
    let mut backlog = Backlog::default();
    let mut taken = Vec::new();
    let mut pushed = Vec::new();
    for round in 0..100_u8 {
        let bytes = vec![round; usize::from(round) + 1];
        assert!(backlog.push(&bytes));
        pushed.extend_from_slice(&bytes);
        let count = backlog.len().min(usize::from(round) / 2);
        taken.extend_from_slice(&backlog.waiting()[..count]);
        backlog.take(count);
        assert_eq!(backlog.len(), pushed.len() - taken.len());
    }
    taken.extend(drain(&mut backlog, 7));
    assert_eq!(taken, pushed);
}

#[test]
fn a_viewer_that_falls_behind_loses_its_backlog_and_begins_with_a_snapshot() {
    let mut backlog = Backlog::default();
    assert!(backlog.push(&vec![b'x'; BACKLOG_MAX]));
    assert!(!backlog.overflowed());
    assert!(!backlog.push(b"y"));
    assert!(backlog.overflowed() && backlog.is_empty());
    assert!(
        !backlog.push(b"z"),
        "nothing goes to it until it begins again"
    );
    backlog.restart(b"snapshot");
    assert!(!backlog.overflowed());
    assert!(backlog.push(b" and on"));
    assert_eq!(drain(&mut backlog, 3), [CLEAR, b"snapshot and on"].concat());
}

#[test]
fn a_snapshot_longer_than_the_backlog_reaches_its_viewer() {
    let mut backlog = Backlog::default();
    backlog.restart(&vec![b'x'; BACKLOG_MAX * 2]);
    assert!(backlog.push(b"and on"));
    assert!(
        !backlog.push(&vec![b'y'; BACKLOG_MAX]),
        "but no more than ever may wait behind it"
    );
}
