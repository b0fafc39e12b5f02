//! The guard: for [`GUARD`] after a different decision appeared, or one became answerable, its granting controls
//! are inert.
//!
//! What was under the pointer or the finger a moment ago must never grant what nobody has read yet
//! (specs/030). Refusing stays possible at once: a refusal by accident harms nobody.

use std::time::Duration;

use signaltty_core::limits::GUARD;
use signaltty_core::model::{DecisionId, Polarity};

/// Which decision a surface shows, and since when. Times are readings of one monotonic clock.
#[derive(Debug, Default)]
pub struct Guard {
    shown: Option<Shown>,
}

#[derive(Debug)]
struct Shown {
    id: DecisionId,
    since: Duration,
    answerable: bool,
}

impl Guard {
    /// A decision is shown. Starts the guard if it is not the one shown before, or if only now it can be answered
    /// here, since its buttons are as new as those of another one; true if it did.
    pub fn show(&mut self, id: &DecisionId, answerable: bool, now: Duration) -> bool {
        if let Some(shown) = self.shown.as_mut().filter(|shown| shown.id == *id) {
            let raised = answerable && !shown.answerable;
            shown.answerable = answerable;
            if raised {
                shown.since = now;
            }
            return raised;
        }
        self.shown = Some(Shown {
            id: id.clone(),
            since: now,
            answerable,
        });
        true
    }

    /// Whether what is shown could be answered when it was last shown.
    pub fn is_answerable(&self) -> bool {
        self.shown.as_ref().is_some_and(|shown| shown.answerable)
    }

    /// The same decision comes into sight again: its tab was hidden, or its window was not active.
    pub fn show_again(&mut self, now: Duration) {
        if let Some(shown) = &mut self.shown {
            shown.since = now;
        }
    }

    /// Nothing is shown any more.
    pub fn clear(&mut self) {
        self.shown = None;
    }

    /// What is left of the guard; zero once granting is possible.
    pub fn left(&self, now: Duration) -> Duration {
        match &self.shown {
            Some(shown) => GUARD.saturating_sub(now.saturating_sub(shown.since)),
            None => GUARD,
        }
    }

    /// Whether an option of that decision may be chosen now. Only a refusal passes the guard, and nothing
    /// passes for a decision that is not the one shown, or that cannot be answered here.
    pub fn allows(&self, id: &DecisionId, polarity: Polarity, now: Duration) -> bool {
        match &self.shown {
            Some(shown) if shown.id == *id && shown.answerable => {
                polarity == Polarity::Refuses || self.left(now).is_zero()
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> DecisionId {
        DecisionId::from_trusted(text)
    }

    const START: Duration = Duration::from_secs(100);

    #[test]
    fn granting_waits_for_the_guard_and_refusing_does_not() {
        let mut guard = Guard::default();
        assert!(guard.show(&id("a"), true, START));
        let early = START + GUARD - Duration::from_millis(1);
        assert!(!guard.allows(&id("a"), Polarity::Grants, early));
        assert!(guard.allows(&id("a"), Polarity::Refuses, early));
        assert!(guard.allows(&id("a"), Polarity::Grants, START + GUARD));
    }

    #[test]
    fn an_option_of_unknown_polarity_counts_as_granting() {
        let mut guard = Guard::default();
        guard.show(&id("a"), true, START);
        assert!(!guard.allows(&id("a"), Polarity::Neutral, START));
    }

    #[test]
    fn the_same_decision_shown_again_by_an_update_does_not_restart_the_guard() {
        let mut guard = Guard::default();
        guard.show(&id("a"), true, START);
        assert!(!guard.show(&id("a"), true, START + GUARD));
        assert!(guard.allows(&id("a"), Polarity::Grants, START + GUARD));
    }

    #[test]
    fn a_different_decision_restarts_it_and_the_former_can_no_longer_be_answered() {
        let mut guard = Guard::default();
        guard.show(&id("a"), true, START);
        let later = START + GUARD * 2;
        assert!(guard.show(&id("b"), true, later));
        assert!(!guard.allows(&id("b"), Polarity::Grants, later));
        assert!(!guard.allows(&id("a"), Polarity::Grants, later + GUARD));
        assert!(!guard.allows(&id("a"), Polarity::Refuses, later + GUARD));
    }

    #[test]
    fn coming_into_sight_again_restarts_it() {
        let mut guard = Guard::default();
        guard.show(&id("a"), true, START);
        let later = START + GUARD * 4;
        guard.show_again(later);
        assert!(!guard.allows(&id("a"), Polarity::Grants, later));
        assert_eq!(guard.left(later), GUARD);
    }

    #[test]
    fn a_decision_raised_to_answerable_restarts_it_and_a_lowered_one_allows_nothing() {
        let mut guard = Guard::default();
        guard.show(&id("a"), false, START);
        let raised = START + GUARD * 3;
        assert!(!guard.allows(&id("a"), Polarity::Refuses, raised));
        assert!(guard.show(&id("a"), true, raised));
        assert!(!guard.allows(&id("a"), Polarity::Grants, raised));
        assert_eq!(guard.left(raised), GUARD);
        assert!(guard.allows(&id("a"), Polarity::Grants, raised + GUARD));
        assert!(!guard.show(&id("a"), false, raised + GUARD));
        assert!(!guard.allows(&id("a"), Polarity::Grants, raised + GUARD));
    }

    #[test]
    fn nothing_shown_allows_nothing() {
        let mut guard = Guard::default();
        guard.show(&id("a"), true, START);
        guard.clear();
        assert!(!guard.allows(&id("a"), Polarity::Refuses, START + GUARD * 9));
    }
}
