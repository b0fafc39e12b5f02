//! Which tool call a report is about (`specs/010 §1.7`).
//!
//! A question's payload often lacks the call's id while the report of the call's start just before it has
//! one: the two are paired, so that two identical calls stay two. Inputs are kept as digests: they can be
//! as large as a line.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::state::same_session;
use crate::adapter::CallRef;
use crate::limits::CALLS_MAX;

/// In what a call was made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Scope {
    /// The agent's own id of its session.
    pub session_id: Option<String>,
    /// The vendor's id of the turn or prompt.
    pub turn_id: Option<String>,
    /// The subagent that made it.
    pub subagent: Option<String>,
}

/// One tool call, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    scope: Scope,
    call_id: Option<String>,
    /// Whether the id comes from pairing, not from the payload itself.
    inferred: bool,
    tool: String,
    input: (usize, u64),
}

impl Call {
    pub(super) fn new(scope: Scope, call: CallRef) -> Self {
        let mut hasher = DefaultHasher::new();
        call.input.hash(&mut hasher);
        Self {
            scope,
            call_id: call.call_id,
            inferred: false,
            tool: call.tool,
            input: (call.input.len(), hasher.finish()),
        }
    }

    /// Whether this is that call: by id where both have one, else by all that is known of both.
    pub(super) fn is(&self, other: &Self) -> bool {
        match (&self.call_id, &other.call_id) {
            (Some(a), Some(b)) => a == b,
            _ => self.like(other),
        }
    }

    /// Whether it looks the same: session, turn where both name one, subagent, tool and input.
    fn like(&self, other: &Self) -> bool {
        let turns = match (&self.scope.turn_id, &other.scope.turn_id) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        };
        turns
            && self.scope.session_id == other.scope.session_id
            && self.scope.subagent == other.scope.subagent
            && self.tool == other.tool
            && self.input == other.input
    }
}

/// What became of the report that a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Finished {
    /// It was answered before: no question is about it any more.
    Answered,
    /// It was answered before, under the id of one that looks the same; that one has the other id.
    Swapped {
        /// The id that the still pending one really has.
        call_id: Option<String>,
    },
    /// Not known to be answered.
    Open,
}

/// The tool calls of one pane between start and end, oldest first; at most [`CALLS_MAX`] of each sort.
#[derive(Debug, Clone, Default)]
pub(super) struct Calls {
    started: VecDeque<Started>,
    /// Answered so that they may run, and not yet reported as ended.
    answered: VecDeque<Call>,
}

#[derive(Debug, Clone)]
struct Started {
    call: Call,
    asked: bool,
}

impl Calls {
    /// A call is about to run.
    pub(super) fn start(&mut self, call: Call) {
        if call.call_id.is_some()
            && self
                .started
                .iter()
                .any(|known| known.call.call_id == call.call_id)
        {
            return;
        }
        if self.started.len() >= CALLS_MAX {
            self.started.pop_front();
        }
        self.started.push_back(Started { call, asked: false });
    }

    /// Gives a question's call the id of the oldest started one that looks the same and was not asked about.
    pub(super) fn pair(&mut self, asked: &mut Call) {
        let found = match &asked.call_id {
            Some(_) => self
                .started
                .iter_mut()
                .find(|known| known.call.call_id == asked.call_id),
            None => self
                .started
                .iter_mut()
                .find(|known| !known.asked && known.call.like(asked)),
        };
        if let Some(known) = found {
            known.asked = true;
            if asked.call_id.is_none() {
                asked.call_id.clone_from(&known.call.call_id);
                asked.inferred = asked.call_id.is_some();
            }
        }
    }

    /// A question about this call was answered, not by a refusal: its end will be reported.
    pub(super) fn answer(&mut self, call: Call) {
        if self.answered.len() >= CALLS_MAX {
            self.answered.pop_front();
        }
        self.answered.push_back(call);
    }

    /// A call ended. `asked` is the still unanswered question's call that it would end.
    pub(super) fn finish(&mut self, ended: &Call, asked: Option<&Call>) -> Finished {
        if let Some(at) = self.started.iter().position(|known| known.call.is(ended)) {
            self.started.remove(at);
        }
        if let Some(at) = self.answered.iter().position(|known| known.is(ended)) {
            self.answered.remove(at);
            return Finished::Answered;
        }
        // Two alike ran side by side and were paired by guess: the answered one is the one that ended.
        if let Some(asked) = asked.filter(|asked| asked.inferred) {
            let twin = self
                .answered
                .iter()
                .position(|known| known.inferred && known.like(asked));
            if let Some(twin) = twin.and_then(|at| self.answered.remove(at)) {
                return Finished::Swapped {
                    call_id: twin.call_id,
                };
            }
        }
        Finished::Open
    }

    /// Whether a resolved call is one that was answered here.
    pub(super) fn was_answered(&self, call: &Call) -> bool {
        self.answered.iter().any(|known| known.is(call))
    }

    /// Forgets the calls of a session, or of all where none is named; those of subagents only if asked.
    pub(super) fn forget(&mut self, session_id: Option<&str>, subagents: bool) {
        let kept = |call: &Call| {
            !same_session(call.scope.session_id.as_deref(), session_id)
                || (!subagents && call.scope.subagent.is_some())
        };
        self.started.retain(|known| kept(&known.call));
        self.answered.retain(kept);
    }

    /// Whether a call of that session runs.
    pub(super) fn runs_in(&self, session_id: Option<&str>) -> bool {
        self.started
            .iter()
            .any(|known| same_session(known.call.scope.session_id.as_deref(), session_id))
    }
}

impl Call {
    /// The same call under its real id.
    pub(super) fn set_id(&mut self, call_id: Option<String>) {
        self.call_id = call_id;
    }
}
