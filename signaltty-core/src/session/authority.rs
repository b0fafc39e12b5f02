//! Who may do what: an agent cannot approve itself (`specs/001 §5`).

use super::Session;
use super::command::Caller;
use super::error::SessionError;
use crate::limits::PANES_MAX;
use crate::model::PaneId;

/// Something that a caller wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Report what an agent does.
    Report,
    /// Ask a human.
    Ask,
    /// List panes, decisions, agents, the layout, the state of integrations.
    List,
    /// Read a terminal.
    Read,
    /// Open a pane.
    Open,
    /// Wait for something.
    Wait,
    /// Answer a decision.
    Answer,
    /// End the host.
    Shutdown,
    /// Put another host in its place.
    Replace,
    /// Arrange panes.
    Layout,
    /// Change settings.
    Settings,
    /// Change an agent's configuration.
    Integration,
    /// Change who may listen in or answer from elsewhere.
    AepAccess,
    /// Type into a pane.
    Input,
    /// Attach to a pane.
    Attach {
        /// Whether what is sent is typed.
        input: bool,
    },
    /// Give a terminal a size.
    Resize,
    /// Signal a pane's programs.
    Signal,
    /// End a pane.
    Close,
    /// Name a pane.
    Rename,
    /// Say that a human has looked at a pane.
    MarkSeen,
}

impl Action {
    /// What it does, to be said after "cannot".
    fn words(self) -> &'static str {
        match self {
            Self::Report => "report",
            Self::Ask => "ask",
            Self::List => "list",
            Self::Read | Self::Attach { input: false } => "read a terminal",
            Self::Open => "open a pane",
            Self::Wait => "wait",
            Self::Answer => "answer a decision",
            Self::Shutdown => "end the host",
            Self::Replace => "replace the host",
            Self::Layout => "change the layout",
            Self::Settings => "change settings",
            Self::Integration => "change an integration",
            Self::AepAccess => "change AEP access",
            Self::Input | Self::Attach { input: true } => "type into this pane",
            Self::Resize => "resize this pane",
            Self::Signal => "signal this pane",
            Self::Close => "close this pane",
            Self::Rename => "rename this pane",
            Self::MarkSeen => "mark this pane as seen",
        }
    }
}

/// What an action needs of a caller inside a pane.
enum Need {
    Nothing,
    /// That the pane was opened from the caller's own, and that nobody is asked anything there.
    OwnPane,
    Outside,
}

impl Session {
    /// Whether `caller` may do this, to that pane where it concerns one.
    ///
    /// From inside a pane answering, ending or replacing the host, the layout, settings, integrations and AEP
    /// access are refused. What changes a pane works only on panes that the caller's own pane opened, however
    /// indirectly, and never on one with a decision. The rest is free.
    ///
    /// # Errors
    /// [`SessionError::Forbidden`] says why and what to do instead.
    pub fn may(
        &self,
        caller: &Caller,
        action: Action,
        pane: Option<&PaneId>,
    ) -> Result<(), SessionError> {
        let Caller::Inside(own) = caller else {
            return Ok(());
        };
        match need(action) {
            Need::Nothing => Ok(()),
            Need::Outside => Err(forbidden(
                action,
                "it could approve what an agent asks for",
                "do it from the window, or from a terminal outside SignalTTY",
            )),
            Need::OwnPane => {
                let opened = match (own, pane) {
                    (Some(own), Some(pane)) => self.opened_from(pane, own),
                    _ => false,
                };
                if !opened {
                    return Err(forbidden(
                        action,
                        "its own pane did not open it",
                        "open a pane with `signaltty new` and use that one",
                    ));
                }
                let asks = pane
                    .and_then(|id| self.position(id))
                    .is_some_and(|at| !self.panes[at].decisions.is_empty());
                if asks {
                    return Err(forbidden(
                        action,
                        "a human is asked something there",
                        "wait with `signaltty wait` until it is answered",
                    ));
                }
                Ok(())
            }
        }
    }

    /// Whether `pane` was opened from `opener`, by whatever way.
    fn opened_from(&self, pane: &PaneId, opener: &PaneId) -> bool {
        self.ancestors(pane).any(|ancestor| ancestor == opener)
    }

    /// The panes that a pane comes from, nearest first.
    fn ancestors<'a>(&'a self, pane: &PaneId) -> impl Iterator<Item = &'a PaneId> {
        // Bounded, because a pane that an earlier host had may name any opener, even itself.
        std::iter::successors(self.openers.get(pane), |opener| self.openers.get(*opener))
            .take(PANES_MAX)
    }

    /// Forgets who opened panes that nobody descends from any more.
    pub(super) fn forget_openers(&mut self) {
        let mut kept = std::collections::BTreeSet::new();
        for pane in &self.panes {
            kept.insert(pane.face.id.clone());
            kept.extend(self.ancestors(&pane.face.id).cloned());
        }
        self.openers.retain(|pane, _| kept.contains(pane));
    }
}

fn need(action: Action) -> Need {
    match action {
        Action::Report
        | Action::Ask
        | Action::List
        | Action::Read
        | Action::Open
        | Action::Wait
        | Action::Attach { input: false } => Need::Nothing,
        Action::Answer
        | Action::Shutdown
        | Action::Replace
        | Action::Layout
        | Action::Settings
        | Action::Integration
        | Action::AepAccess => Need::Outside,
        Action::Input
        | Action::Attach { input: true }
        | Action::Resize
        | Action::Signal
        | Action::Close
        | Action::Rename
        | Action::MarkSeen => Need::OwnPane,
    }
}

fn forbidden(action: Action, why: &str, instead: &str) -> SessionError {
    SessionError::Forbidden(format!(
        "a program inside a pane cannot {}: {why}; {instead}",
        action.words()
    ))
}
