//! What a session knows: panes with their decisions, and what the rules remember of each.

use std::collections::{BTreeSet, VecDeque};

use serde_json::Value as Json;

use super::calls::{Call, Calls};
use super::ingest::Minted;
use super::terminal::Draft;
use super::turns::Turns;
use crate::adapter::{AnswerChannel, Holding, HookLoss, TerminalKeys};
use crate::answer::{Applied, Card};
use crate::model::{
    Attention, AttentionSet, Decision, DecisionId, HookId, Kind, Lifecycle, Origin, Pane,
    RespondVia,
};

/// A decision with what stays in the host.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// As clients see it.
    pub decision: Decision,
    /// Ids of the options that the channel can carry a text with.
    pub carries_text: Vec<String>,
    /// The adapter's own ids where ours had to differ.
    pub minted: Minted,
    /// `respond_via` as it was declared.
    pub declared_via: Option<Vec<RespondVia>>,
    /// How its answer travels.
    pub channel: AnswerChannel,
    /// When its hook is held, by the adapter's word.
    pub holding: Holding,
    /// What the loss of its hook means.
    pub hook_loss: HookLoss,
    /// The connection that waits. A decision is *held* while there is one.
    pub hook: Option<HookId>,
    /// The call that it is about.
    pub call: Option<Call>,
    /// The vendor's id of its turn.
    pub turn_id: Option<String>,
    /// Keys that answer the vendor's own prompt.
    pub keys: Option<TerminalKeys>,
    /// Whether a key opened the text field of the vendor's own prompt.
    pub text_open: bool,
    /// What the adapter gets back.
    pub carry: Json,
    /// When it became the pending one (`boot_ms`).
    pub announced: u64,
    /// When our wait is over (`boot_ms`).
    pub hold_until: Option<u64>,
    /// When its asker gives up (`boot_ms`).
    pub expires: Option<u64>,
    /// Until when a telling event is waited for after its hook went away (`boot_ms`).
    pub loss_until: Option<u64>,
    /// Set once an answer consumed it.
    pub delivery: Option<Delivery>,
}

/// An answer that consumed a decision and is on its way.
#[derive(Debug, Clone)]
pub(super) struct Delivery {
    /// Names the answer.
    pub ticket: u64,
    /// What is applied.
    pub applied: Applied,
    /// Who answered.
    pub by: String,
    /// By which way.
    pub via: String,
    /// Milliseconds from the announcement to the answer.
    pub latency_ms: u64,
    /// How far it is.
    pub stage: Stage,
    /// Something ended the question in the meantime: nobody waits any more.
    pub overtaken: bool,
}

/// How far a delivery is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Its bytes are written when this moment has come (`boot_ms`) and the checks hold again.
    Announcing(u64),
    /// The host was told to deliver; it has failed if nothing was heard by then (`boot_ms`).
    InFlight(u64),
}

impl Entry {
    pub(super) fn id(&self) -> &DecisionId {
        &self.decision.id
    }

    pub(super) fn held(&self) -> bool {
        self.hook.is_some()
    }

    pub(super) fn card(&self) -> Card<'_> {
        Card {
            kind: self.decision.kind,
            options: &self.decision.options,
            carries_text: &self.carries_text,
            fields: &self.decision.fields,
            text: self.decision.text,
        }
    }

    /// Whether `other` asks for the same agent and session. An event that names no session speaks for
    /// whichever its agent has in this pane.
    pub(super) fn same_source(&self, other: &Self) -> bool {
        self.decision.agent == other.decision.agent
            && same_session(
                self.decision.source.session_id.as_deref(),
                other.decision.source.session_id.as_deref(),
            )
    }

    /// Whether the same thing is asked in the same words (`specs/010 §1.2`).
    pub(super) fn same_content(&self, other: &Self) -> bool {
        let (a, b) = (&self.decision, &other.decision);
        a.kind == b.kind
            && a.prompt == b.prompt
            && a.detail == b.detail
            && a.detail_kind == b.detail_kind
            && a.subject == b.subject
            && a.options == b.options
            && a.fields == b.fields
            && a.text == b.text
            && a.expires_at == b.expires_at
            && a.agent == b.agent
            && a.source == b.source
            && self.declared_via == other.declared_via
            && self.channel == other.channel
    }

    /// Sets whether it can be answered, and with it what it declares. A caller's own declaration stays as it
    /// was; ours follows the truth (`specs/010 §3`). True if anything is different now.
    pub(super) fn set_answerable(&mut self, answerable: bool) -> bool {
        let ours = matches!(self.decision.source.origin, Origin::Hook | Origin::Stream);
        let via = match &self.declared_via {
            Some(ways) if ours && !answerable && ways.contains(&RespondVia::Control) => {
                Some(vec![RespondVia::Oob])
            }
            declared => declared.clone(),
        };
        let different = self.decision.answerable != answerable || self.decision.respond_via != via;
        self.decision.answerable = answerable;
        self.decision.respond_via = via;
        different
    }
}

/// Sessions are the same where both are named and equal, or one is not named.
pub(super) fn same_session(a: Option<&str>, b: Option<&str>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    }
}

/// A pane with what stays in the host.
#[derive(Debug, Clone)]
pub(super) struct PaneState {
    /// As clients see it, without its decision.
    pub face: Pane,
    /// As clients were last told.
    pub told: Pane,
    /// The pending decision in front, those that stand in line behind it. At most `QUEUE_MAX`.
    pub decisions: VecDeque<Entry>,
    /// Where its agent stands, decisions aside.
    pub work: Lifecycle,
    /// Whether `work` was derived from typing or from a lost hook; any explicit signal beats it.
    pub derived: bool,
    /// What stands until somebody looks or the agent goes on.
    pub sticky: AttentionSet,
    /// Turns that ended, and the one that runs.
    pub turns: Turns,
    /// Tool calls between start and end.
    pub calls: Calls,
    /// What was typed and not yet submitted.
    pub draft: Draft,
    /// What it is called until somebody says otherwise.
    pub default_title: String,
    /// A name that a person gave.
    pub named: Option<String>,
    /// A title that the program set.
    pub program_title: Option<String>,
    /// Whether an agent reports from here, so that derived signals count less.
    pub agent_active: bool,
    /// Made for one question; goes away with it.
    pub own: bool,
}

impl PaneState {
    /// The pending decision.
    pub(super) fn pending(&self) -> Option<&Entry> {
        self.decisions.front()
    }

    /// As clients see it, whole.
    pub(super) fn whole(&self) -> Pane {
        Pane {
            decision: self.pending().map(|entry| entry.decision.clone()),
            ..self.face.clone()
        }
    }

    pub(super) fn exited(&self) -> bool {
        self.face.exit.is_some()
    }

    /// Brings what is derived up to date: lifecycle, attention, queue, title.
    pub(super) fn derive(&mut self, wall_ms: i64) {
        let lifecycle = if self.exited() {
            Lifecycle::Exited
        } else if self.decisions.is_empty() {
            self.work
        } else {
            Lifecycle::Blocked
        };
        if lifecycle != self.face.lifecycle {
            self.face.lifecycle = lifecycle;
            self.face.since = wall_ms;
        }
        self.face.queued = self.decisions.len().saturating_sub(1);
        self.face.attention = self.attention();
        let title = self
            .named
            .as_ref()
            .or(self.program_title.as_ref())
            .unwrap_or(&self.default_title);
        if *title != self.face.title {
            self.face.title.clone_from(title);
        }
    }

    fn attention(&self) -> AttentionSet {
        let required = self
            .decisions
            .iter()
            .map(|entry| match entry.decision.kind {
                Kind::Permission | Kind::Review => Attention::PermissionRequired,
                Kind::Input | Kind::Form => Attention::InputRequired,
            });
        let mut attention: BTreeSet<_> = self.sticky.iter().copied().chain(required).collect();
        if self.decisions.is_empty() && self.work == Lifecycle::Blocked && !self.exited() {
            attention.insert(Attention::InputRequired);
        }
        attention
    }
}
