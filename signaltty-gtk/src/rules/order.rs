//! Which panes come first: those that need a human, the longest-waiting before the others.

use signaltty_core::model::{Attention, Lifecycle, Pane, PaneId};

/// How much a pane needs a human. The order of the variants is the order in the sidebar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Need {
    /// A decision is pending.
    Asks,
    /// The turn ended in an error, or something there failed.
    Failed,
    /// Something happened there that nobody has seen.
    Unseen,
    /// A turn is running.
    Working,
    /// Nothing to do, nothing new to see.
    Quiet,
    /// Its program has ended.
    Ended,
}

impl Need {
    /// What a pane needs.
    pub fn of(pane: &Pane) -> Self {
        if pane.decision.is_some() || pane.lifecycle == Lifecycle::Blocked {
            return Self::Asks;
        }
        if pane.lifecycle == Lifecycle::Failed || pane.attention.contains(&Attention::Error) {
            return Self::Failed;
        }
        let unseen = pane.attention.contains(&Attention::Unread);
        match pane.lifecycle {
            Lifecycle::Exited if unseen => Self::Unseen,
            Lifecycle::Exited => Self::Ended,
            Lifecycle::Working => Self::Working,
            Lifecycle::Done => Self::Unseen,
            _ if unseen => Self::Unseen,
            _ => Self::Quiet,
        }
    }

    /// Whether a human is waited for.
    pub fn waits(self) -> bool {
        matches!(self, Self::Asks | Self::Failed | Self::Unseen)
    }
}

/// Where a pane stands among the others.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// What it needs.
    pub need: Need,
    /// Since when, in milliseconds since the Unix epoch.
    pub since: i64,
    /// Breaks ties the same way every time.
    pub id: PaneId,
}

impl Place {
    /// The place of a pane. A pane that waits stands by how long it has waited; the others keep the order in
    /// which they were opened, so that rows do not jump about while agents work.
    pub fn of(pane: &Pane) -> Self {
        let need = Need::of(pane);
        let asked = pane.decision.as_ref().map(|decision| decision.asked_at);
        let since = if need.waits() {
            asked.unwrap_or(pane.since)
        } else {
            pane.created_at
        };
        Self {
            need,
            since,
            id: pane.id.clone(),
        }
    }
}

/// The pane that has waited longest, or, from one that waits, the next one; round again after the last.
pub fn next_waiting(places: &[Place], current: Option<&PaneId>) -> Option<PaneId> {
    let mut waiting: Vec<&Place> = places.iter().filter(|place| place.need.waits()).collect();
    waiting.sort();
    let after = current
        .and_then(|id| waiting.iter().position(|place| &place.id == id))
        .map_or(0, |at| at + 1);
    waiting
        .get(after)
        .or(waiting.first())
        .map(|place| place.id.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(id: &str, need: Need, since: i64) -> Place {
        Place {
            need,
            since,
            id: PaneId::from_trusted(id),
        }
    }

    fn jump(places: &[Place], current: Option<&str>) -> Option<String> {
        next_waiting(places, current.map(PaneId::from_trusted).as_ref()).map(|id| id.to_string())
    }

    #[test]
    fn asking_comes_before_failed_before_unseen_before_working() {
        let mut places = [
            place("working", Need::Working, 1),
            place("unseen", Need::Unseen, 2),
            place("failed", Need::Failed, 3),
            place("late", Need::Asks, 9),
            place("early", Need::Asks, 4),
        ];
        places.sort();
        let order: Vec<_> = places.iter().map(|place| place.id.as_str()).collect();
        assert_eq!(order, ["early", "late", "failed", "unseen", "working"]);
    }

    #[test]
    fn the_jump_goes_to_the_longest_waiting_then_to_the_next_and_round() {
        let places = [
            place("quiet", Need::Quiet, 0),
            place("b", Need::Asks, 20),
            place("a", Need::Asks, 10),
            place("c", Need::Unseen, 5),
        ];
        assert_eq!(jump(&places, None).as_deref(), Some("a"));
        assert_eq!(jump(&places, Some("quiet")).as_deref(), Some("a"));
        assert_eq!(jump(&places, Some("a")).as_deref(), Some("b"));
        assert_eq!(jump(&places, Some("b")).as_deref(), Some("c"));
        assert_eq!(jump(&places, Some("c")).as_deref(), Some("a"));
    }

    #[test]
    fn with_nobody_waiting_there_is_nowhere_to_jump() {
        assert_eq!(
            jump(
                &[place("a", Need::Working, 0), place("b", Need::Ended, 0)],
                Some("a")
            ),
            None
        );
    }
}
