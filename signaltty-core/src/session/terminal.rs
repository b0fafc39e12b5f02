//! What typing and the byte stream mean (`specs/010 §3`, `specs/001 §3`).

use super::command::{StreamSignal, Typist};
use super::error::SessionError;
use super::line::Ending;
use super::{Session, Step};
use crate::adapter::AnswerChannel;
use crate::limits::{MESSAGE_MAX, TITLE_MAX};
use crate::model::{Attention, Key, Lifecycle, PaneId};
use crate::protocol::{ClearReason, Event};
use crate::sanitise::cut;

/// Whether text may stand in the program's composer that nobody submitted.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Draft {
    /// Typed, and no Enter since.
    open: bool,
    /// Typed and followed by Enter, but the agent has not reported a prompt since: it may still stand there.
    entered: bool,
}

impl Draft {
    /// What was typed is not known; the next submitted prompt settles it.
    pub(super) fn unknown() -> Self {
        Self {
            open: false,
            entered: true,
        }
    }

    pub(super) fn is_there(self) -> bool {
        self.open || self.entered
    }

    fn typed(&mut self, key: &Key) {
        if key.is_text() {
            self.open = true;
        } else if *key == Key::Enter && self.open {
            self.open = false;
            self.entered = true;
        }
    }

    /// The agent reported a prompt: that is what stood before the last Enter.
    pub(super) fn submitted(&mut self) {
        self.entered = false;
    }
}

impl Session {
    /// Somebody typed. Bytes that a delivery of ours writes are not typing and do not come here.
    pub(super) fn typed(
        &mut self,
        step: &mut Step<'_>,
        pane_id: &PaneId,
        keys: &[Key],
        by: Typist,
    ) -> Result<(), SessionError> {
        let at = self.at(pane_id)?;
        if keys.is_empty() {
            return Ok(());
        }
        step.touch(pane_id);
        self.lower_if_typed_into(step, at);
        for key in keys {
            self.panes[at].draft.typed(key);
        }
        if by == Typist::Human {
            self.human_typed(step, at, keys);
        }
        Ok(())
    }

    /// A menu into which somebody typed is not certain any more (`specs/010 §3`, `TypeText`).
    fn lower_if_typed_into(&mut self, step: &mut Step<'_>, at: usize) {
        let Some(front) = self.panes[at].pending() else {
            return;
        };
        if front.channel == AnswerChannel::TypeText {
            self.lower(step, at, 0);
        }
    }

    fn human_typed(&mut self, step: &mut Step<'_>, at: usize, keys: &[Key]) {
        // One batch answers one prompt: the rest of it was not typed at the next one.
        if let Some(key) = self.answering_key(at, keys) {
            self.end(step, at, 0, ClearReason::MovedOn, Ending::default());
            if key == Key::Escape {
                self.broken_off(at);
            }
        } else if keys.contains(&Key::Escape) && self.panes[at].decisions.is_empty() {
            self.broken_off(at);
        }
    }

    /// The key by which a human answered the vendor's own prompt, which stands beside the pending decision.
    fn answering_key(&mut self, at: usize, keys: &[Key]) -> Option<Key> {
        let entry = self.panes[at].decisions.front_mut()?;
        if entry.delivery.is_some() {
            return None;
        }
        let known = entry.keys.as_ref()?;
        for key in keys {
            let answers = if entry.text_open {
                matches!(key, Key::Enter | Key::Escape)
            } else {
                known.answers.contains(key)
            };
            if answers {
                return Some(key.clone());
            }
            entry.text_open |= known.opens_text.contains(key);
        }
        None
    }

    /// A lone Esc breaks a turn off, and most vendors report nothing of it.
    fn broken_off(&mut self, at: usize) {
        let pane = &mut self.panes[at];
        if pane.agent_active && pane.work == Lifecycle::Working {
            pane.work = Lifecycle::Interrupted;
            pane.derived = true;
        }
    }

    /// The byte stream of a pane said something.
    pub(super) fn stream(
        &mut self,
        step: &mut Step<'_>,
        pane_id: &PaneId,
        signal: StreamSignal,
    ) -> Result<(), SessionError> {
        let at = self.at(pane_id)?;
        step.touch(pane_id);
        let pane = &mut self.panes[at];
        match signal {
            StreamSignal::Bell => {
                pane.sticky.insert(Attention::Unread);
            }
            StreamSignal::Title(title) => {
                let title = title.trim();
                pane.program_title =
                    (!title.is_empty()).then(|| cut(title, TITLE_MAX).into_owned());
            }
            StreamSignal::Notification { title, body } => {
                pane.sticky.insert(Attention::Unread);
                step.tell(Event::AgentNotification {
                    pane_id: pane_id.clone(),
                    title: title.map(|title| cut(&title, TITLE_MAX).into_owned()),
                    body: cut(&body, MESSAGE_MAX).into_owned(),
                });
            }
            StreamSignal::PromptMark { mark, status } => self.prompt_mark(at, mark, status),
            StreamSignal::Progress(progress) => self.progress(at, progress),
        }
        Ok(())
    }

    /// A shell's own marks. Where an agent reports, its reports say more.
    fn prompt_mark(&mut self, at: usize, mark: char, status: Option<i32>) {
        /// What a shell reports for a command that SIGINT ended.
        const INTERRUPTED: i32 = 130;
        let pane = &mut self.panes[at];
        if pane.agent_active {
            return;
        }
        let ran = pane.work == Lifecycle::Working;
        pane.work = match (mark, status) {
            ('C', _) => Lifecycle::Working,
            ('D', Some(INTERRUPTED)) if ran => Lifecycle::Interrupted,
            ('D', Some(failed)) if ran && failed != 0 => Lifecycle::Failed,
            ('D' | 'A', _) if ran => Lifecycle::Done,
            ('A', _) if pane.work == Lifecycle::Unknown => Lifecycle::Idle,
            _ => return,
        };
        if matches!(pane.work, Lifecycle::Done | Lifecycle::Failed) {
            pane.sticky.insert(Attention::Unread);
        }
    }

    /// A program's own progress. States: 1 normal, 2 error, 3 indeterminate, 4 paused.
    fn progress(&mut self, at: usize, progress: Option<(u8, u8)>) {
        let pane = &mut self.panes[at];
        match progress {
            Some((2, _)) => {
                pane.sticky.insert(Attention::Error);
            }
            Some((4, _)) => {
                pane.sticky.insert(Attention::Warning);
            }
            Some(_) => {
                pane.sticky.remove(&Attention::Error);
                pane.sticky.remove(&Attention::Warning);
                if !pane.agent_active {
                    pane.work = Lifecycle::Working;
                }
            }
            None => {
                if !pane.agent_active && pane.work == Lifecycle::Working {
                    pane.work = Lifecycle::Done;
                    pane.sticky.insert(Attention::Unread);
                }
            }
        }
    }
}
