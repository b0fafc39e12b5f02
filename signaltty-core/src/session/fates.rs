//! What became of decisions that are no more, and which ids were ever used (`specs/010 §1.2`, `§1.5`).

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::error::Fate;
use crate::limits::{ENDED_MAX, IDS_MAX};
use crate::model::DecisionId;

/// The last [`ENDED_MAX`] fates, and the last [`IDS_MAX`] ids as digests.
#[derive(Debug, Clone, Default)]
pub(super) struct Fates {
    known: HashMap<DecisionId, Fate>,
    order: VecDeque<DecisionId>,
    used: HashSet<u64>,
    used_order: VecDeque<u64>,
}

impl Fates {
    /// Notes that an id is taken, for ever.
    pub(super) fn take(&mut self, id: &DecisionId) {
        let digest = digest(id);
        if self.used.insert(digest) {
            self.used_order.push_back(digest);
            if self.used_order.len() > IDS_MAX {
                if let Some(oldest) = self.used_order.pop_front() {
                    self.used.remove(&oldest);
                }
            }
        }
    }

    /// Whether an id was ever taken.
    pub(super) fn taken(&self, id: &DecisionId) -> bool {
        self.used.contains(&digest(id))
    }

    /// Notes how a decision ended.
    pub(super) fn end(&mut self, id: DecisionId, fate: Fate) {
        if self.known.insert(id.clone(), fate).is_none() {
            self.order.push_back(id);
            if self.order.len() > ENDED_MAX {
                if let Some(oldest) = self.order.pop_front() {
                    self.known.remove(&oldest);
                }
            }
        }
    }

    /// How it ended, where that is still known.
    pub(super) fn of(&self, id: &DecisionId) -> Option<&Fate> {
        self.known.get(id)
    }
}

fn digest(id: &DecisionId) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}
