//! What is asked now, and which question stands in front: the one that typing answers.

use signaltty_core::model::{Decision, DecisionId, Pane, PaneId};
use signaltty_core::protocol::{DecisionCleared, DecisionCreated, Event};

use super::super::show;

/// Everything that is asked.
#[derive(Debug, Default)]
pub(super) struct Board {
    panes: Vec<Pane>,
    /// Pending decisions, in the order in which they are to be answered.
    pending: Vec<Decision>,
    /// The question in front.
    front: Option<DecisionId>,
}

/// Something to tell.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum News {
    /// This question stands in front now.
    InFront(Box<Decision>),
    /// This one is asked too.
    Asked(Box<Decision>),
    /// This one can now, or can no longer, be answered from here.
    Changed(Box<Decision>),
    /// This one ended, and how.
    Ended(String),
}

impl Board {
    /// Begins anew with the state of the host.
    pub(super) fn reset(&mut self, panes: Vec<Pane>) -> Vec<News> {
        let before = self.front.take();
        let mut pending: Vec<Decision> = panes
            .iter()
            .filter_map(|pane| pane.decision.clone())
            .collect();
        pending.sort_by_key(|decision| decision.asked_at);
        self.front = before.filter(|id| {
            pending
                .iter()
                .any(|decision| decision.id == *id && decision.answerable)
        });
        let known = std::mem::replace(&mut self.pending, pending);
        self.panes = panes;
        let fresh: Vec<Decision> = self
            .pending
            .iter()
            .filter(|decision| !known.iter().any(|old| old.id == decision.id))
            .cloned()
            .collect();
        let mut news = self.choose();
        for decision in fresh {
            if self.front.as_ref() != Some(&decision.id) {
                news.insert(0, News::Asked(Box::new(decision)));
            }
        }
        news
    }

    /// Takes an event.
    pub(super) fn take(&mut self, event: Event) -> Vec<News> {
        match event {
            Event::PaneCreated { pane } | Event::PaneUpdated { pane } => {
                self.panes.retain(|known| known.id != pane.id);
                self.panes.push(pane);
                Vec::new()
            }
            Event::PaneClosed { pane_id } => {
                self.panes.retain(|pane| pane.id != pane_id);
                Vec::new()
            }
            Event::DecisionCreated(DecisionCreated { decision, prev, .. }) => {
                self.created(decision, prev.as_ref())
            }
            Event::DecisionUpdated { decision } => self.updated(decision),
            Event::DecisionCleared(cleared) => self.cleared(&cleared),
            Event::Resync(snapshot) => self.reset(snapshot.panes),
            _ => Vec::new(),
        }
    }

    /// Leaves the question in front for later.
    pub(super) fn next(&mut self) -> Vec<News> {
        if let Some(at) = self.front.take().and_then(|id| self.position(&id)) {
            let later = self.pending.remove(at);
            self.pending.push(later);
        }
        self.choose()
    }

    /// The question in front.
    pub(super) fn front(&self) -> Option<&Decision> {
        let front = self.front.as_ref()?;
        self.pending.iter().find(|decision| decision.id == *front)
    }

    /// The pane of that id.
    pub(super) fn pane(&self, id: &PaneId) -> Option<&Pane> {
        self.panes.iter().find(|pane| pane.id == *id)
    }

    fn created(&mut self, decision: Decision, prev: Option<&DecisionId>) -> Vec<News> {
        let mut news = Vec::new();
        if let Some(at) = prev.and_then(|prev| self.position(prev)) {
            let old = self.pending.remove(at);
            self.leave(&old.id);
            news.push(News::Ended(format!(
                "Replaced by another question: {}",
                show::prompt(&old)
            )));
        }
        self.pending.push(decision.clone());
        let chosen = self.choose();
        if !chosen
            .iter()
            .any(|piece| matches!(piece, News::InFront(front) if front.id == decision.id))
        {
            news.push(News::Asked(Box::new(decision)));
        }
        news.extend(chosen);
        news
    }

    fn updated(&mut self, decision: Decision) -> Vec<News> {
        let Some(known) = self
            .pending
            .iter_mut()
            .find(|known| known.id == decision.id)
        else {
            return Vec::new();
        };
        known.clone_from(&decision);
        if !decision.answerable {
            self.leave(&decision.id);
        }
        let mut news = vec![News::Changed(Box::new(decision))];
        news.extend(self.choose());
        news
    }

    fn cleared(&mut self, cleared: &DecisionCleared) -> Vec<News> {
        let Some(at) = self.position(&cleared.decision_id) else {
            return Vec::new();
        };
        let old = self.pending.remove(at);
        self.leave(&old.id);
        let by = cleared
            .by
            .as_ref()
            .map(|by| format!(" by {}", show::one_line(by, 64)))
            .unwrap_or_default();
        let applied = cleared
            .applied_label
            .as_ref()
            .map(|label| format!(" ({})", show::label(label)))
            .unwrap_or_default();
        let mut news = vec![News::Ended(format!(
            "Ended: {}{by}{applied}: {}",
            cleared.reason.as_str(),
            show::prompt(&old)
        ))];
        news.extend(self.choose());
        news
    }

    fn leave(&mut self, id: &DecisionId) {
        if self.front.as_ref() == Some(id) {
            self.front = None;
        }
    }

    fn position(&self, id: &DecisionId) -> Option<usize> {
        self.pending.iter().position(|decision| decision.id == *id)
    }

    /// Puts the first that can be answered in front, where nothing stands there. One that stands there stays,
    /// whatever else is asked.
    fn choose(&mut self) -> Vec<News> {
        if self.front.is_some() {
            return Vec::new();
        }
        match self.pending.iter().find(|decision| decision.answerable) {
            Some(decision) => {
                self.front = Some(decision.id.clone());
                vec![News::InFront(Box::new(decision.clone()))]
            }
            None => Vec::new(),
        }
    }
}

impl News {
    /// What to print.
    pub(super) fn in_words(&self, board: &Board) -> String {
        match self {
            Self::InFront(decision) => {
                format!("\n{}", show::card(decision, board.pane(&decision.pane_id)))
            }
            Self::Asked(decision) if decision.answerable => format!(
                "Asked too, in {}: {}  [{}]",
                decision.pane_id,
                show::prompt(decision),
                decision.id
            ),
            Self::Asked(decision) => {
                format!("\n{}", show::card(decision, board.pane(&decision.pane_id)))
            }
            Self::Changed(decision) if decision.answerable => {
                format!("Can be answered here again: {}", show::prompt(decision))
            }
            Self::Changed(decision) => {
                format!(
                    "Can now only be answered in its terminal: {}",
                    show::prompt(decision)
                )
            }
            Self::Ended(words) => words.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use signaltty_core::protocol::ClearReason;

    fn decision(id: &str, answerable: bool) -> Decision {
        serde_json::from_value(
            json!({ "id": id, "pane_id": "p", "kind": "permission", "prompt": id, "text": "none",
            "answerable": answerable, "asked_at": 0, "agent": "a" }),
        )
        .expect("a decision")
    }

    fn created(id: &str, answerable: bool, prev: Option<&str>) -> Event {
        let prev = prev.map(DecisionId::from_trusted);
        Event::DecisionCreated(DecisionCreated {
            decision: decision(id, answerable),
            prev,
            prev_reason: None,
        })
    }

    fn cleared(id: &str) -> Event {
        Event::DecisionCleared(DecisionCleared {
            pane_id: PaneId::from_trusted("p"),
            decision_id: DecisionId::from_trusted(id),
            reason: ClearReason::MovedOn,
            applied: None,
            applied_label: None,
            by: None,
            via: None,
            latency_ms: None,
        })
    }

    fn front(board: &Board) -> Option<&str> {
        board.front().map(|decision| decision.id.as_str())
    }

    #[test]
    fn the_first_question_stays_in_front_until_it_ends() {
        let mut board = Board::default();
        assert!(matches!(
            board.take(created("a", true, None)).as_slice(),
            [News::InFront(_)]
        ));
        assert!(matches!(
            board.take(created("b", true, None)).as_slice(),
            [News::Asked(_)]
        ));
        assert_eq!(front(&board), Some("a"));
        assert!(matches!(
            board.take(cleared("a")).as_slice(),
            [News::Ended(_), News::InFront(_)]
        ));
        assert_eq!(front(&board), Some("b"));
        board.take(cleared("b"));
        assert_eq!(front(&board), None);
    }

    #[test]
    fn a_question_that_is_replaced_does_not_hand_its_place_on_unseen() {
        let mut board = Board::default();
        board.take(created("a", true, None));
        let news = board.take(created("b", true, Some("a")));
        assert!(
            matches!(news.as_slice(), [News::Ended(_), News::InFront(_)]),
            "{news:?}"
        );
        assert_eq!(front(&board), Some("b"));
    }

    #[test]
    fn what_cannot_be_answered_never_stands_in_front() {
        let mut board = Board::default();
        assert!(matches!(
            board.take(created("hint", false, None)).as_slice(),
            [News::Asked(_)]
        ));
        assert_eq!(front(&board), None);
        board.take(created("a", true, None));
        board.take(Event::DecisionUpdated {
            decision: decision("a", false),
        });
        assert_eq!(front(&board), None);
        board.take(Event::DecisionUpdated {
            decision: decision("a", true),
        });
        assert_eq!(front(&board), Some("a"));
    }

    #[test]
    fn a_question_can_be_left_for_later() {
        let mut board = Board::default();
        board.take(created("a", true, None));
        board.take(created("b", true, None));
        board.next();
        assert_eq!(front(&board), Some("b"));
        board.next();
        assert_eq!(front(&board), Some("a"));
    }
}
