//! What became of a decision that the host's whole state does not have.
//!
//! A host that was started anew knows of no decision until their hooks have come back to it, which they do
//! within [`RECONNECT`]. To take the card away meanwhile would end a question that goes on, and the words that a
//! person writes for it with it.

use std::time::Duration;

use signaltty_core::limits::RECONNECT;

/// How long a decision is waited for: what the hooks have, and as much again twice over for a busy machine.
pub const BACK_WITHIN: Duration = RECONNECT.saturating_mul(3);

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// It ended while the connection was away.
    Ended,
    /// Its hook may still be on the way.
    Awaited,
}

/// Whether a snapshot is another run's than the one known before. `known` is empty before the first.
pub fn is_other_run(known: &str, epoch: &str) -> bool {
    !known.is_empty() && known != epoch
}

/// What became of a decision that is not in a snapshot. `other_run`: the snapshot is of another run of the host
/// than the decision was; `awaited`: it is being waited for already; `over`: its pane asks something else, or its
/// program has ended.
pub fn of(other_run: bool, awaited: bool, over: bool) -> Missing {
    if (other_run || awaited) && !over {
        Missing::Awaited
    } else {
        Missing::Ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_was_started_anew_is_given_the_time_that_hooks_have_to_come_back() {
        assert!(is_other_run("one", "two"));
        assert_eq!(of(true, false, false), Missing::Awaited);
        assert!(BACK_WITHIN > RECONNECT);
    }

    #[test]
    fn the_same_run_of_the_host_knows_that_it_ended() {
        assert!(!is_other_run("one", "one"));
        assert_eq!(of(false, false, false), Missing::Ended);
    }

    #[test]
    fn the_first_snapshot_is_no_other_run() {
        assert!(!is_other_run("", "one"));
    }

    #[test]
    fn another_snapshot_during_the_wait_does_not_end_it() {
        assert_eq!(of(false, true, false), Missing::Awaited);
    }

    #[test]
    fn a_pane_that_asks_something_else_or_has_ended_is_not_waited_for() {
        assert_eq!(of(true, false, true), Missing::Ended);
        assert_eq!(of(true, true, true), Missing::Ended);
    }
}
