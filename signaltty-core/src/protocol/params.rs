//! Parameters and results of the methods.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::answer::Applied;
use crate::model::{
    DecisionId, DetailKind, Exit, Field, Kind, Layout, Lifecycle, PaneId, Polarity, RespondVia,
    Size, TextUse, Values,
};

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A human is behind it and may answer: hooks that hide their agent's own prompt are held while one is connected.
    Operator,
    /// It watches.
    #[default]
    Observer,
    /// It is an agent's hook.
    Hook,
}

/// `hello`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HelloParams {
    /// The protocol that the client speaks.
    pub protocol: u32,
    /// Its name and version, for the log and for `by`.
    #[serde(default)]
    pub client: String,
    /// What it is for.
    #[serde(default)]
    pub role: Role,
}

/// Result of `hello`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HelloReply {
    /// The protocol that will be spoken.
    pub protocol: u32,
    /// The host's version.
    pub host: String,
    /// This run of the host.
    pub epoch: String,
    /// Whether the caller is inside a pane: then it cannot answer, whatever its role.
    pub inside: bool,
}

/// Result of `host.info`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostInfoReply {
    /// Its version.
    pub host: String,
    /// This run of the host.
    pub epoch: String,
    /// Its process id.
    pub pid: u32,
    /// The keeper's process id.
    pub keeper_pid: i32,
    /// Newest protocol.
    pub protocol: u32,
    /// Oldest protocol.
    pub protocol_min: u32,
    /// Milliseconds since it started.
    pub uptime_ms: u64,
    /// How many there are: panes, connections, operators, pending, queued.
    pub counts: BTreeMap<String, u64>,
    /// Refusals since it started, by error code.
    pub refusals: BTreeMap<String, u64>,
}

/// What becomes of the panes when the host ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ShutdownPanes {
    /// The keeper holds them for the next host.
    #[default]
    Keep,
    /// Their programs are ended.
    Close,
}

/// `host.shutdown`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostShutdownParams {
    /// What becomes of the panes.
    #[serde(default)]
    pub panes: ShutdownPanes,
}

/// `subscribe`
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SubscribeParams {
    /// The run of the host that `from` counts in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<String>,
    /// The number of the last event that the caller has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
}

/// `pane.spawn`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PaneSpawnParams {
    /// The program and its arguments. Not empty.
    pub argv: Vec<String>,
    /// The folder to start in.
    pub cwd: String,
    /// Its environment, less what must not pass.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Size of the terminal until a viewer gives it one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
    /// What to name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// Result of `pane.spawn`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PaneSpawned {
    /// The new pane.
    pub pane_id: PaneId,
}

/// A pane.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PaneParams {
    /// Which.
    pub pane_id: PaneId,
}

/// What to read of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadWhat {
    /// What is on screen now.
    #[default]
    Screen,
    /// The lines above it, and what is on screen.
    Scrollback,
}

/// `pane.read`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PaneReadParams {
    /// Which pane.
    pub pane_id: PaneId,
    /// What of it.
    #[serde(default)]
    pub what: ReadWhat,
    /// At most so many of the last lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<usize>,
}

/// Result of `pane.read`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PaneText {
    /// The lines, without trailing blanks, joined by newlines. Untrusted text.
    pub text: String,
}

/// `pane.input`: exactly one of `text` and `data_base64`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PaneInputParams {
    /// Which pane.
    pub pane_id: PaneId,
    /// Text to type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Bytes to type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_base64: Option<String>,
}

/// Result of `pane.input`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PaneWritten {
    /// Bytes that the terminal took.
    pub written: usize,
}

/// `pane.resize`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PaneResizeParams {
    /// Which pane.
    pub pane_id: PaneId,
    /// Columns.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
}

/// `pane.signal`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PaneSignalParams {
    /// Which pane.
    pub pane_id: PaneId,
    /// A signal's name, with or without SIG: INT, TERM, KILL, HUP, QUIT, STOP, CONT, USR1, USR2, WINCH.
    pub signal: String,
}

/// `pane.rename`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PaneRenameParams {
    /// Which pane.
    pub pane_id: PaneId,
    /// Its name; empty gives it back to the program.
    pub title: String,
}

/// `pane.wait`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PaneWaitParams {
    /// Which pane.
    pub pane_id: PaneId,
    /// Until its lifecycle is this.
    pub until: Lifecycle,
    /// For at most so many seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_s: Option<f64>,
}

/// Colours that a viewer shows, as `#rrggbb`, for the answers to colour queries.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Colors {
    /// Default foreground.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreground: Option<String>,
    /// Default background.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<String>,
    /// Cursor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The first 16 of the palette.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub palette: Vec<String>,
}

/// `pane.attach`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PaneAttachParams {
    /// Which pane.
    pub pane_id: PaneId,
    /// The viewer's size; without it attaching does not resize.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
    /// The viewer's colours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub colors: Option<Colors>,
    /// Whether what the viewer sends is typed. Default: yes.
    #[serde(default = "yes")]
    pub input: bool,
}

/// Result of `pane.attach`. After this line the connection is the terminal's byte stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PaneAttached {
    /// The terminal's size.
    pub size: Size,
    /// How its program ended, if it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exited: Option<Exit>,
}

/// An option of a decision that a `hook-event` spells out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OptionParams {
    /// What an answer names it by.
    pub id: String,
    /// What a person reads. Default: the id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What choosing it does. Without any: ids deny, reject, no, cancel refuse (DECISIONS §2.8).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub polarity: Option<Polarity>,
}

/// A decision that a `hook-event` spells out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DecisionParams {
    /// Its id; minted by the host if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What is asked for.
    #[serde(default)]
    pub kind: Kind,
    /// The question.
    pub prompt: String,
    /// What it is about, whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// How to show the detail.
    #[serde(default)]
    pub detail_kind: DetailKind,
    /// The acted-upon thing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The choices: whole and in the order of the menu on screen.
    #[serde(default)]
    pub options: Vec<OptionParams>,
    /// The questions of a form.
    #[serde(default)]
    pub fields: Vec<Field>,
    /// What typed text can do. Default: what the channel can carry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<TextUse>,
    /// Milliseconds since the Unix epoch at which the asker gives up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
}

/// `hook-event`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HookEventParams {
    /// The agent that it speaks for.
    pub agent: String,
    /// The vendor's name of the event, where the payload does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The vendor's payload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Json>,
    /// The pane, where the caller knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pane_id: Option<PaneId>,
    /// The agent's own id of its session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// A decision, spelt out. Never beside a payload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<DecisionParams>,
    /// How an answer can travel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub respond_via: Option<Vec<RespondVia>>,
    /// Where the agent stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifecycle: Option<Lifecycle>,
    /// A message for the human.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Whether the caller can wait for a verdict on this connection.
    #[serde(default)]
    pub hold: bool,
    /// The decision under which an earlier host held this very hook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumes: Option<DecisionId>,
}

/// Result of `hook-event`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookEventReply {
    /// The pane it was attributed to, or none.
    pub pane_id: Option<PaneId>,
    /// The decision it made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_id: Option<DecisionId>,
    /// Whether a verdict line follows.
    pub held: bool,
}

/// `hook.ack`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookAckParams {
    /// The decision whose verdict was written.
    pub decision_id: DecisionId,
}

/// `decision.list`
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct DecisionListParams {
    /// Of this pane only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pane_id: Option<PaneId>,
    /// With those that stand in line.
    #[serde(default)]
    pub queued: bool,
}

/// `decision.get`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DecisionGetParams {
    /// Which.
    pub decision_id: DecisionId,
}

/// `decision.answer`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DecisionAnswerParams {
    /// The pane it is meant for.
    pub pane_id: PaneId,
    /// The decision it is meant for.
    pub decision_id: DecisionId,
    /// The option chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option_id: Option<String>,
    /// Words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Values of a form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Values>,
    /// By which way it came: `window`, `notification`, `cli`, `watch`. Default: the client's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
}

/// Result of `decision.answer`: delivered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DecisionAnswered {
    /// What was applied.
    pub applied: Applied,
}

/// `layout.get`, `layout.set`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LayoutReply {
    /// The arrangement.
    pub layout: Layout,
}

/// An agent that this host knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentInfo {
    /// Its name on the wire.
    pub agent: String,
    /// Its name for people.
    pub display_name: String,
    /// The path of its program, if it is installed here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// What Shift+Enter sends to get a newline in its composer.
    pub newline: String,
}

/// Result of `agent.list`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Agents {
    /// The agents.
    pub agents: Vec<AgentInfo>,
}

/// `integration.*`
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct IntegrationParams {
    /// This agent only; without it all that are installed here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// Why a decision in the history ended: the reasons of `decision.cleared`, and two that no event has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HistoryReason {
    /// It was answered through us.
    Answered,
    /// The agent no longer needs a human for it.
    AttentionCleared,
    /// The agent went on.
    MovedOn,
    /// The program of its pane ended.
    PaneExited,
    /// Its asker's deadline passed.
    Expired,
    /// An answer was consumed and did not reach the agent.
    Undeliverable,
    /// A newer one of the same agent and session took its place.
    Superseded,
    /// Its host ended before it did, and it did not come back to the next one.
    HostEnded,
}

/// `history.list`: every condition given has to hold.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct HistoryListParams {
    /// Of this pane only. It may be long gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pane_id: Option<PaneId>,
    /// Of this agent only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Ended at this time or later, in milliseconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<i64>,
    /// Ended earlier than this, in milliseconds since the Unix epoch: the `ended_at` of the last entry of a
    /// reply asks for the ones after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<i64>,
    /// At most so many, 1 to `HISTORY_MAX`, which is also the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

/// A decision that has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryEntry {
    /// The decision.
    pub decision_id: DecisionId,
    /// The pane that it stood on.
    pub pane_id: PaneId,
    /// The agent that asked.
    pub agent: String,
    /// The agent's own id of its session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// What was asked for.
    pub kind: Kind,
    /// The question, cut where it was long. Untrusted text.
    pub prompt: String,
    /// The acted-upon thing. Untrusted text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Milliseconds since the Unix epoch.
    pub asked_at: i64,
    /// Milliseconds since the Unix epoch.
    pub ended_at: i64,
    /// Why it ended.
    pub reason: HistoryReason,
    /// What was applied, long words cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<Applied>,
    /// Label of the applied option. Untrusted text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied_label: Option<String>,
    /// Who answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// By which way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
    /// Milliseconds from its announcement to the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<u64>,
}

/// Result of `history.list`
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct HistoryReply {
    /// The decisions, the one that ended last first.
    pub entries: Vec<HistoryEntry>,
    /// Whether there are older ones that the conditions hold for.
    pub more: bool,
}

/// `history.forget`: every condition given has to hold; without any, all that has ended is forgotten.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct HistoryForgetParams {
    /// Of this pane only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pane_id: Option<PaneId>,
    /// Ended earlier than this, in milliseconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<i64>,
}

/// Result of `history.forget`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryForgotten {
    /// Decisions that are gone from the disk.
    pub decisions: usize,
}

fn yes() -> bool {
    true
}
