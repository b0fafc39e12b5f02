//! What of an event is kept: cut to its bounds here, before it waits.
//!
//! Left out on purpose: everything a terminal showed, a pane's title (its program sets it through the
//! terminal), its arguments (they hold prompts and keys), a decision's detail (`specs/040`).

use crate::answer::Applied;
use crate::model::{DecisionId, Pane, PaneId, Value};
use crate::protocol::params::HistoryReason;
use crate::protocol::{ClearReason, DecisionCleared, DecisionCreated, Event};
use crate::sanitise::{cut, floor_char};

/// Longest prompt that is kept, in bytes. Also of the words of an answer, and of each text among its values.
const PROMPT_KEPT: usize = 2_048;
/// Longest name, label, subject, path or id that is kept, in bytes.
const NAME_KEPT: usize = 256;
/// Values of a form that are kept of one answer.
const VALUES_KEPT: usize = 8;

/// One thing to be written.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Write {
    /// A pane is there, or different.
    Pane(PaneRow),
    /// A pane is gone.
    PaneClosed {
        /// Which.
        pane_id: PaneId,
        /// When, in milliseconds since the Unix epoch.
        at: i64,
    },
    /// Something was asked.
    Asked(Box<AskedRow>),
    /// It ended.
    Ended(Box<EndedRow>),
    /// The arrangement of panes, as JSON.
    Layout(String),
}

/// What is kept of a pane.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PaneRow {
    pub(super) pane_id: PaneId,
    /// Its program, without arguments.
    pub(super) program: String,
    pub(super) cwd: String,
    pub(super) agent: Option<String>,
    pub(super) session_id: Option<String>,
    pub(super) created_at: i64,
    pub(super) exit_code: Option<i32>,
    pub(super) exit_signal: Option<i32>,
}

/// What is kept of a decision when it is asked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AskedRow {
    pub(super) decision_id: DecisionId,
    pub(super) pane_id: PaneId,
    pub(super) agent: String,
    pub(super) session_id: Option<String>,
    pub(super) kind: String,
    pub(super) prompt: String,
    pub(super) subject: Option<String>,
    pub(super) asked_at: i64,
}

/// What is kept of its end.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct EndedRow {
    pub(super) decision_id: DecisionId,
    pub(super) ended_at: i64,
    pub(super) reason: String,
    /// As JSON.
    pub(super) applied: Option<String>,
    pub(super) applied_label: Option<String>,
    pub(super) by: Option<String>,
    pub(super) via: Option<String>,
    pub(super) latency_ms: Option<i64>,
}

/// What an event leads to, in order. `at` is now, in milliseconds since the Unix epoch.
pub(super) fn of_event(event: &Event, at: i64) -> [Option<Write>; 2] {
    match event {
        Event::PaneCreated { pane } | Event::PaneUpdated { pane } => {
            [Some(Write::Pane(pane_row(pane))), None]
        }
        Event::PaneClosed { pane_id } => [
            Some(Write::PaneClosed {
                pane_id: pane_id.clone(),
                at,
            }),
            None,
        ],
        Event::DecisionCreated(created) => [
            superseded(created, at),
            Some(Write::Asked(Box::new(asked(created)))),
        ],
        Event::DecisionCleared(cleared) => [Some(Write::Ended(Box::new(ended(cleared, at)))), None],
        Event::LayoutChanged { layout } => {
            [serde_json::to_string(layout).ok().map(Write::Layout), None]
        }
        // A pane's exit comes with its next `pane.updated`; the rest is of the moment.
        Event::PaneExited { .. }
        | Event::DecisionUpdated { .. }
        | Event::AgentNotification { .. }
        | Event::ConfigChanged { .. }
        | Event::HostWarning { .. }
        | Event::Resync(_) => [None, None],
    }
}

fn pane_row(pane: &Pane) -> PaneRow {
    PaneRow {
        pane_id: pane.id.clone(),
        program: pane.argv.first().map(|word| name(word)).unwrap_or_default(),
        cwd: name(&pane.cwd),
        agent: pane.agent.as_deref().map(name),
        session_id: pane.session_id.as_deref().map(name),
        created_at: pane.created_at,
        exit_code: pane.exit.and_then(|exit| exit.code),
        exit_signal: pane.exit.and_then(|exit| exit.signal),
    }
}

fn asked(created: &DecisionCreated) -> AskedRow {
    let decision = &created.decision;
    AskedRow {
        decision_id: decision.id.clone(),
        pane_id: decision.pane_id.clone(),
        agent: name(&decision.agent),
        session_id: decision.source.session_id.as_deref().map(name),
        kind: word(&decision.kind),
        prompt: cut(&decision.prompt, PROMPT_KEPT).into_owned(),
        subject: decision.subject.as_deref().map(name),
        asked_at: decision.asked_at,
    }
}

fn superseded(created: &DecisionCreated, at: i64) -> Option<Write> {
    let reason = created
        .prev_reason
        .map_or(HistoryReason::Superseded, history_reason);
    Some(Write::Ended(Box::new(EndedRow {
        decision_id: created.prev.clone()?,
        ended_at: at,
        reason: word(&reason),
        applied: None,
        applied_label: None,
        by: None,
        via: None,
        latency_ms: None,
    })))
}

fn ended(cleared: &DecisionCleared, at: i64) -> EndedRow {
    EndedRow {
        decision_id: cleared.decision_id.clone(),
        ended_at: at,
        reason: word(&history_reason(cleared.reason)),
        applied: cleared
            .applied
            .clone()
            .and_then(|applied| serde_json::to_string(&bounded(applied)).ok()),
        applied_label: cleared.applied_label.as_deref().map(name),
        by: cleared.by.as_deref().map(name),
        via: cleared.via.as_deref().map(name),
        latency_ms: cleared
            .latency_ms
            .map(|latency| i64::try_from(latency).unwrap_or(i64::MAX)),
    }
}

fn history_reason(reason: ClearReason) -> HistoryReason {
    match reason {
        ClearReason::Answered => HistoryReason::Answered,
        ClearReason::AttentionCleared => HistoryReason::AttentionCleared,
        ClearReason::MovedOn => HistoryReason::MovedOn,
        ClearReason::PaneExited => HistoryReason::PaneExited,
        ClearReason::Expired => HistoryReason::Expired,
        ClearReason::Undeliverable => HistoryReason::Undeliverable,
    }
}

/// An answer within its bounds: words are cut, further values left out.
fn bounded(mut applied: Applied) -> Applied {
    let short = |text: &mut String| *text = cut(text, PROMPT_KEPT).into_owned();
    if let Some(text) = &mut applied.text {
        short(text);
    }
    if let Some(values) = &mut applied.values {
        *values = std::mem::take(values)
            .into_iter()
            .take(VALUES_KEPT)
            .collect();
        for value in values.values_mut() {
            match value {
                Value::String(text) => short(text),
                Value::Many(all) => {
                    all.truncate(VALUES_KEPT);
                    all.iter_mut().for_each(|text| *text = name(text));
                }
                Value::Boolean(_) | Value::Number(_) => {}
            }
        }
    }
    applied
}

fn name(text: &str) -> String {
    text[..floor_char(text, NAME_KEPT)].to_owned()
}

/// The word that a value is on the wire.
pub(super) fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}
