//! Panes open, are named, seen, end and go away.

use std::collections::VecDeque;
use std::path::Path;

use super::calls::Calls;
use super::command::NewPane;
use super::error::SessionError;
use super::state::PaneState;
use super::terminal::Draft;
use super::turns::Turns;
use super::{Session, Step, arrangement};
use crate::limits::{PANES_MAX, TITLE_MAX};
use crate::model::{Attention, AttentionSet, Exit, Lifecycle, Pane, PaneId};
use crate::protocol::{ClearReason, Event};
use crate::sanitise::cut;

impl Session {
    pub(super) fn open_pane(
        &mut self,
        step: &mut Step<'_>,
        new: NewPane,
    ) -> Result<(), SessionError> {
        self.add_pane(step, new, false)
    }

    /// Adds a pane. `own`: it was made for one question and goes away with it.
    pub(super) fn add_pane(
        &mut self,
        step: &mut Step<'_>,
        new: NewPane,
        own: bool,
    ) -> Result<(), SessionError> {
        self.room_for_pane(&new.id)?;
        let program = new.argv.first().map(String::as_str).unwrap_or_default();
        let program = Path::new(program)
            .file_name()
            .and_then(|name| name.to_str());
        let default_title = program.or(new.agent.as_deref()).unwrap_or("session");
        let default_title = cut(default_title, TITLE_MAX).into_owned();
        let named = new
            .title
            .filter(|title| !title.is_empty())
            .map(|title| cut(&title, TITLE_MAX).into_owned());
        if let Some(opener) = &new.opened_by {
            self.openers.insert(new.id.clone(), opener.clone());
        }
        let face = Pane {
            id: new.id,
            title: named.clone().unwrap_or_else(|| default_title.clone()),
            argv: new.argv,
            cwd: new.cwd,
            pid: new.pid,
            agent: new.agent,
            session_id: new.session_id,
            size: new.size.clamped(),
            terminal: new.terminal,
            lifecycle: Lifecycle::Unknown,
            since: step.now.wall_ms,
            attention: AttentionSet::new(),
            decision: None,
            queued: 0,
            opened_by: new.opened_by,
            exit: None,
            created_at: new.created_at.unwrap_or(step.now.wall_ms),
        };
        let pane = PaneState {
            told: face.clone(),
            decisions: VecDeque::new(),
            work: Lifecycle::Unknown,
            derived: false,
            sticky: AttentionSet::new(),
            turns: Turns::default(),
            calls: Calls::default(),
            // What was typed before an earlier host ended is not known.
            draft: if new.created_at.is_some() {
                Draft::unknown()
            } else {
                Draft::default()
            },
            default_title,
            named,
            program_title: None,
            agent_active: face.agent.is_some(),
            own,
            face,
        };
        step.tell(Event::PaneCreated { pane: pane.whole() });
        self.panes.push(pane);
        Ok(())
    }

    /// Whether another pane can be opened under that id.
    pub(super) fn room_for_pane(&self, pane_id: &PaneId) -> Result<(), SessionError> {
        if self.position(pane_id).is_some() {
            return Err(SessionError::BadDecision {
                path: "pane_id".into(),
                problem: "there is such a pane already".into(),
            });
        }
        if self.panes.len() >= PANES_MAX {
            return Err(SessionError::Limit {
                what: "panes",
                limit: PANES_MAX,
            });
        }
        Ok(())
    }

    pub(super) fn pane_exited(
        &mut self,
        step: &mut Step<'_>,
        pane_id: &PaneId,
        exit: Exit,
    ) -> Result<(), SessionError> {
        let at = self.at(pane_id)?;
        if self.panes[at].exited() {
            return Ok(());
        }
        self.panes[at].face.exit = Some(exit);
        self.panes[at].face.pid = None;
        self.end_where(step, at, ClearReason::PaneExited, |_| true);
        let pane = &mut self.panes[at];
        pane.sticky.insert(Attention::Unread);
        if pane.agent_active
            && exit
                != (Exit {
                    code: Some(0),
                    signal: None,
                })
        {
            pane.sticky.insert(Attention::Error);
        }
        step.touch(pane_id);
        step.tell(Event::PaneExited {
            pane_id: pane_id.clone(),
            exit,
        });
        Ok(())
    }

    pub(super) fn close_pane(
        &mut self,
        step: &mut Step<'_>,
        pane_id: &PaneId,
    ) -> Result<(), SessionError> {
        let at = self.at(pane_id)?;
        self.give_up_delivery(step, at);
        self.end_where(step, at, ClearReason::PaneExited, |_| true);
        self.remove_pane(step, at);
        Ok(())
    }

    /// Takes a pane without decisions away, and out of the layout.
    pub(super) fn remove_pane(&mut self, step: &mut Step<'_>, at: usize) {
        let pane_id = self.panes.remove(at).face.id;
        self.forget_openers();
        step.tell(Event::PaneClosed {
            pane_id: pane_id.clone(),
        });
        if arrangement::prune(&mut self.layout, &pane_id) {
            step.tell(Event::LayoutChanged {
                layout: self.layout.clone(),
            });
        }
    }

    pub(super) fn rename_pane(
        &mut self,
        step: &mut Step<'_>,
        pane_id: &PaneId,
        title: &str,
    ) -> Result<(), SessionError> {
        let at = self.at(pane_id)?;
        let title = title.trim();
        self.panes[at].named = (!title.is_empty()).then(|| cut(title, TITLE_MAX).into_owned());
        step.touch(pane_id);
        Ok(())
    }

    /// A person looked. That takes `unread` away and no other attention, no decision and no hold; a turn that
    /// is done and has now been seen has nothing new any more, which is what `idle` means.
    pub(super) fn mark_seen(
        &mut self,
        step: &mut Step<'_>,
        pane_id: &PaneId,
    ) -> Result<(), SessionError> {
        let at = self.at(pane_id)?;
        let pane = &mut self.panes[at];
        pane.sticky.remove(&Attention::Unread);
        if pane.work == Lifecycle::Done {
            pane.work = Lifecycle::Idle;
        }
        step.touch(pane_id);
        Ok(())
    }
}
