//! Which turns of an agent ended, so that late events of an ended one are ignored (`specs/001 §3`).

use std::collections::VecDeque;

use crate::limits::TURNS_MAX;

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TurnEnd {
    /// By itself. A tool that starts in it afterwards continues it: agents go on where a stop hook sends
    /// them on, or a background task comes back.
    Complete,
    /// Broken off, failed, or followed by another: it never goes on.
    Final,
}

/// The turn that runs and those that ended, at most [`TURNS_MAX`].
#[derive(Debug, Clone, Default)]
pub(super) struct Turns {
    current: Option<String>,
    ended: VecDeque<(String, TurnEnd)>,
}

impl Turns {
    /// A turn begins; the one before is over for good.
    pub(super) fn begin(&mut self, turn: Option<&str>) {
        if let Some(last) = self.current.take() {
            if Some(last.as_str()) != turn {
                self.note(last, TurnEnd::Final);
            }
        }
        if let Some(turn) = turn {
            self.reopen(turn);
        }
    }

    /// A turn ended.
    pub(super) fn end(&mut self, turn: Option<&str>, how: TurnEnd) {
        let turn = turn.map(str::to_owned).or_else(|| self.current.clone());
        if let Some(turn) = turn {
            if self.current.as_deref() == Some(&turn) {
                self.current = None;
            }
            self.note(turn, how);
        }
    }

    /// Something shows that this turn runs.
    pub(super) fn reopen(&mut self, turn: &str) {
        self.ended.retain(|(ended, _)| ended != turn);
        self.current = Some(turn.to_owned());
    }

    /// Something happens in that turn.
    pub(super) fn see(&mut self, turn: Option<&str>) {
        if let Some(turn) = turn {
            self.current = Some(turn.to_owned());
        }
    }

    /// Whether that turn is not the one that runs.
    pub(super) fn is_other(&self, turn: Option<&str>) -> bool {
        match (&self.current, turn) {
            (Some(current), Some(turn)) => current != turn,
            _ => false,
        }
    }

    /// How that turn ended, if it did.
    pub(super) fn ended(&self, turn: Option<&str>) -> Option<TurnEnd> {
        let turn = turn?;
        self.ended
            .iter()
            .find(|(ended, _)| ended == turn)
            .map(|(_, how)| *how)
    }

    fn note(&mut self, turn: String, how: TurnEnd) {
        self.ended.retain(|(ended, _)| *ended != turn);
        if self.ended.len() >= TURNS_MAX {
            self.ended.pop_front();
        }
        self.ended.push_back((turn, how));
    }
}
