//! What a report changes, in this order: what it says of the agent's work, then what it asks, then what it tells.

use super::attribution::Place;
use super::calls::Scope;
use super::command::Report;
use super::effect::Reported;
use super::error::SessionError;
use super::ingest::{self, Asker};
use super::state::Entry;
use super::{NewPane, Session, Step};
use crate::adapter::Ask;
use crate::limits::{MESSAGE_MAX, QUEUE_MAX};
use crate::model::{Attention, DecisionId, HookId, Origin, PaneId, Size, id};
use crate::protocol::Event;
use crate::sanitise::cut;

/// What a question turned out to be.
enum Question {
    /// A new one.
    New(Box<Entry>),
    /// One that is there already.
    Known(DecisionId),
    /// One of an earlier host that ended here in the meantime.
    Over(DecisionId),
    /// None that can be taken: no opinion.
    None,
}

impl Session {
    pub(super) fn report(
        &mut self,
        step: &mut Step<'_>,
        mut report: Report,
    ) -> Result<(), SessionError> {
        bound(&mut report);
        let place = self.attribute(&report)?;
        let asker = Asker {
            agent: report.agent.clone(),
            scope: Scope {
                session_id: report.reading.session_id.clone(),
                turn_id: report.reading.turn_id.clone(),
                subagent: report.reading.subagent.clone(),
            },
        };
        let asked = report.reading.ask.take();
        let origin = asked.as_ref().map(|ask| ask.origin);
        let Some(pane_id) = self.pane_of(place, &report, origin) else {
            step.out.reported = Some(Reported::default());
            return Ok(());
        };
        // Everything that can be refused comes before anything that changes.
        let question = match asked {
            Some(ask) => self.question(step, place, &pane_id, &asker, &report, ask)?,
            None => Question::None,
        };
        let at = match place {
            Place::Pane(at) => at,
            Place::Own | Place::Nowhere => {
                if !matches!(question, Question::New(_)) {
                    step.out.reported = Some(Reported::default());
                    return Ok(());
                }
                self.make_own_pane(step, &pane_id, &report)?;
                self.at(&pane_id)?
            }
        };

        step.touch(&pane_id);
        let mut reported = Reported {
            pane_id: Some(pane_id),
            ..Reported::default()
        };
        self.hear(step, at, &report, &asker.scope, origin);
        match question {
            Question::New(entry) => {
                let id = self.ask(step, at, *entry, &report);
                reported.held = self.holds_for(&id, report.hook);
                reported.decision_id = Some(id);
            }
            Question::Known(id) => {
                self.ask_again(step, &id, &report);
                reported.held = self.holds_for(&id, report.hook);
                reported.decision_id = Some(id);
            }
            Question::Over(id) => reported.decision_id = Some(id),
            Question::None => {}
        }
        self.pass_on(step, at, report.reading.message.as_deref());
        step.out.reported = Some(reported);
        Ok(())
    }

    /// The id of the pane that a report belongs to. A pane is made for a question only.
    fn pane_of(&self, place: Place, report: &Report, origin: Option<Origin>) -> Option<PaneId> {
        match place {
            Place::Pane(at) => self.panes.get(at).map(|pane| pane.face.id.clone()),
            Place::Own => origin.and(report.own_pane.clone()),
            Place::Nowhere => None,
        }
    }

    /// Reads a question. Changes nothing.
    fn question(
        &self,
        step: &Step<'_>,
        place: Place,
        pane_id: &PaneId,
        asker: &Asker,
        report: &Report,
        mut ask: Ask,
    ) -> Result<Question, SessionError> {
        let spelt_out = matches!(ask.origin, Origin::Plain | Origin::Ask);
        let resumed = resumes(report, &ask);
        if !spelt_out {
            // A vendor's id that cannot be one of ours gets one of ours.
            ask.id = ask.id.filter(|id| id::check(id.as_str()).is_ok());
        }
        ask.id = ask.id.or_else(|| resumed.cloned());
        let entry = ingest::entry(asker, pane_id.clone(), ask, step.now)?;
        if let Some(known) = self.known(place, &entry, resumed.is_some())? {
            return Ok(known);
        }
        if entry.expires.is_some_and(|until| until <= step.now.boot_ms) {
            return Ok(Question::None);
        }
        match place {
            Place::Pane(at) if self.panes[at].exited() => {
                if spelt_out {
                    Err(SessionError::PaneExited(pane_id.clone()))
                } else {
                    Ok(Question::None)
                }
            }
            Place::Pane(at) if self.full(at, &entry) => {
                let limit = SessionError::Limit {
                    what: "decisions of one pane",
                    limit: QUEUE_MAX,
                };
                if spelt_out {
                    Err(limit)
                } else {
                    Ok(Question::None)
                }
            }
            Place::Pane(_) | Place::Own | Place::Nowhere => Ok(Question::New(Box::new(entry))),
        }
    }

    /// Whether the question's id is known (`specs/010 §1.2`).
    fn known(
        &self,
        place: Place,
        entry: &Entry,
        resumed: bool,
    ) -> Result<Option<Question>, SessionError> {
        if entry.id().as_str().is_empty() {
            return Ok(None);
        }
        let taken = |problem: &str| {
            let problem = format!("{} {problem}", entry.id());
            Err(SessionError::BadDecision {
                path: "decision.id".into(),
                problem,
            })
        };
        match self.find(entry.id()) {
            Some((at, slot)) => match self.entry(at, slot) {
                Some(there) if place == Place::Pane(at) && there.same_content(entry) => {
                    Ok(Some(Question::Known(entry.id().clone())))
                }
                _ => taken("is the id of another decision; leave it out to get a new one"),
            },
            None if !self.fates.taken(entry.id()) => Ok(None),
            None if resumed => Ok(Some(Question::Over(entry.id().clone()))),
            None => taken("has ended; ids are never used again, leave it out to get a new one"),
        }
    }

    /// Puts a new question on its pane and gives back its id.
    fn ask(
        &mut self,
        step: &mut Step<'_>,
        at: usize,
        mut entry: Entry,
        report: &Report,
    ) -> DecisionId {
        if entry.id().as_str().is_empty() {
            entry.decision.id = self.fresh_id(step);
        }
        if let Some(call) = &mut entry.call {
            self.panes[at].calls.pair(call);
        }
        let resumed = report.resumes.as_ref() == Some(entry.id());
        if let Some(hook) = report
            .hook
            .filter(|_| self.holds(&entry, step.now, resumed))
        {
            Self::hold(&mut entry, hook, step.now);
        }
        let answerable = self.answerable(at, &entry);
        entry.set_answerable(answerable);
        let id = entry.id().clone();
        self.place(step, at, entry);
        id
    }

    /// The same question again. It changes nothing but for a hook that comes back to wait (`specs/010 §1.4`).
    fn ask_again(&mut self, step: &mut Step<'_>, id: &DecisionId, report: &Report) {
        let Some((at, slot)) = self.find(id) else {
            return;
        };
        let Some(entry) = self.entry(at, slot) else {
            return;
        };
        let resumed = report.resumes.as_ref() == Some(entry.id());
        let free = entry.delivery.is_none() && (!entry.held() || resumed);
        if let Some(hook) = report
            .hook
            .filter(|_| free && self.holds(entry, step.now, resumed))
        {
            self.resume(step, at, slot, hook);
        }
    }

    fn holds_for(&self, id: &DecisionId, hook: Option<HookId>) -> bool {
        let entry = self.find(id).and_then(|(at, slot)| self.entry(at, slot));
        entry.is_some_and(|entry| entry.held() && entry.hook == hook)
    }

    /// Tells what the agent tells.
    fn pass_on(&mut self, step: &mut Step<'_>, at: usize, message: Option<&str>) {
        let Some(message) = message.filter(|message| !message.trim().is_empty()) else {
            return;
        };
        self.panes[at].sticky.insert(Attention::Unread);
        step.tell(Event::AgentNotification {
            pane_id: self.panes[at].face.id.clone(),
            title: None,
            body: cut(message, MESSAGE_MAX).into_owned(),
        });
    }

    /// Makes a pane without terminal for a question that has no other.
    fn make_own_pane(
        &mut self,
        step: &mut Step<'_>,
        id: &PaneId,
        report: &Report,
    ) -> Result<(), SessionError> {
        let pane = NewPane {
            id: id.clone(),
            argv: Vec::new(),
            cwd: report.reading.cwd.clone().unwrap_or_default(),
            pid: None,
            agent: Some(report.agent.clone()),
            session_id: report.reading.session_id.clone(),
            title: None,
            size: Size::DEFAULT,
            terminal: false,
            opened_by: None,
            created_at: None,
        };
        self.add_pane(step, pane, true)
    }
}

/// The id under which an earlier host held this very hook, where the question brings none of its own.
fn resumes<'a>(report: &'a Report, ask: &Ask) -> Option<&'a DecisionId> {
    let resumes = report
        .resumes
        .as_ref()
        .filter(|id| id::check(id.as_str()).is_ok())?;
    ask.id
        .as_ref()
        .is_none_or(|id| id == resumes)
        .then_some(resumes)
}

/// Bounds the names that the vendor gave.
fn bound(report: &mut Report) {
    report.agent = ingest::agent(&report.agent);
    let reading = &mut report.reading;
    reading.session_id = ingest::name(reading.session_id.take());
    reading.turn_id = ingest::name(reading.turn_id.take());
    reading.subagent = ingest::name(reading.subagent.take());
}
