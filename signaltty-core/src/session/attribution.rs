//! Which pane a report belongs to (`specs/001 §5`).

use super::Session;
use super::command::{Report, ReportedBy};
use super::error::SessionError;
use super::state::PaneState;
use crate::model::Pane;

/// Where a report belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// On that pane (its place in the list).
    Pane(usize),
    /// On a pane of its own that is to be made.
    Own,
    /// Nowhere: no decision, no opinion.
    Nowhere,
}

impl Session {
    /// The pane that the reporting process descends from; else the one whose agent reported that session;
    /// else the only one with that agent and folder; else the one that an outside caller named; else one of
    /// its own, if it may have one.
    ///
    /// # Errors
    /// The caller named a pane that is not there.
    pub(super) fn attribute(&self, report: &Report) -> Result<Place, SessionError> {
        match &report.by {
            ReportedBy::Pane(pane_id) => {
                return Ok(self.position(pane_id).map_or(Place::Nowhere, Place::Pane));
            }
            // It could otherwise choose whom it speaks for.
            ReportedBy::Unknown => {
                let own = report.own_pane.as_ref().map(|_| Place::Own);
                return Ok(own.unwrap_or(Place::Nowhere));
            }
            ReportedBy::Elsewhere | ReportedBy::Outside => {}
        }
        let named = report
            .pane_id
            .as_ref()
            .map(|pane_id| self.at(pane_id))
            .transpose()?;
        let own = report.own_pane.as_ref().map(|_| Place::Own);
        let found = self
            .by_session(report)
            .or_else(|| self.by_folder(report))
            .or(named);
        Ok(found.map(Place::Pane).or(own).unwrap_or(Place::Nowhere))
    }

    fn by_session(&self, report: &Report) -> Option<usize> {
        let session = report.reading.session_id.as_deref()?;
        self.only(|pane| {
            pane.agent.as_deref() == Some(&report.agent)
                && pane.session_id.as_deref() == Some(session)
        })
    }

    fn by_folder(&self, report: &Report) -> Option<usize> {
        let cwd = folder(report.reading.cwd.as_deref()?);
        // The same agent in the same folder, but in a terminal of the user's own, is another session than the
        // one that the pane's agent has reported.
        let any_session = report.by != ReportedBy::Outside;
        self.only(|pane| {
            pane.agent.as_deref() == Some(&report.agent)
                && folder(&pane.cwd) == cwd
                && (any_session || pane.session_id.is_none())
        })
    }

    /// The one live pane that is meant, if there is exactly one. Panes made for one question are nobody's.
    fn only(&self, meant: impl Fn(&Pane) -> bool) -> Option<usize> {
        let meant = |pane: &PaneState| !pane.own && !pane.exited() && meant(&pane.face);
        let mut found = self
            .panes
            .iter()
            .enumerate()
            .filter(|(_, pane)| meant(pane))
            .map(|(at, _)| at);
        let first = found.next()?;
        found.next().is_none().then_some(first)
    }
}

fn folder(path: &str) -> &str {
    match path.trim_end_matches('/') {
        "" => path,
        trimmed => trimmed,
    }
}
