//! What a vendor adapter is: it reads the vendor's payloads, names the one channel that an answer takes,
//! and spells the vendor's verdicts. Reading is pure; nothing here does I/O but [`Integration`].

use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::answer::Applied;
use crate::model::{
    DecisionId, DetailKind, Field, Key, Kind, Lifecycle, Origin, Polarity, RespondVia, TextUse,
};

/// How an answer reaches the agent. One a decision, named at ingest; never a fallback (DECISIONS §3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerChannel {
    /// Not at all: the agent is only watched.
    #[default]
    None,
    /// The standard output of the hook that waits.
    HookVerdict,
    /// The vendor's own local API, plugin or hub.
    Reply,
    /// Bytes on the pane's input path.
    TypeText,
}

impl AnswerChannel {
    /// Its name on the wire; `None` has none.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::HookVerdict => Some("hook_verdict"),
            Self::Reply => Some("reply"),
            Self::TypeText => Some("type_text"),
        }
    }
}

/// When a hook that brings a decision is held for its answer (DECISIONS §3 "Holding").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Holding {
    /// The vendor's own prompt stands beside the held hook: hold always.
    Always,
    /// Holding hides the vendor's prompt: hold only while an operator is connected.
    WhileOperator,
    /// Holding would delay the vendor's prompt: never hold.
    #[default]
    Never,
}

/// What it means that a held hook went away before our wait was over (DECISIONS §1.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum HookLoss {
    /// The human said no, or the program ended: `moved_on` at once.
    #[default]
    MovedOn,
    /// Wait at most [`crate::limits::HOOK_LOSS_GRACE`] for a telling event, then `moved_on`.
    AwaitReport,
}

/// One tool call, as far as a payload identifies it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct CallRef {
    /// The vendor's id of the call, where the payload has one.
    pub call_id: Option<String>,
    /// The tool's name.
    pub tool: String,
    /// The tool's input in canonical form: the same text whenever it is the same call. See [`canonical`].
    pub input: String,
}

/// What a payload says about the agent's work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signal {
    /// A session began or was resumed.
    SessionStarted,
    /// A human submitted a prompt: a new turn begins, whatever the last one still asked is over.
    PromptSubmitted,
    /// A tool is about to be called.
    ToolStarted(CallRef),
    /// A tool call ended.
    ToolFinished(CallRef),
    /// The turn ended by itself. `background` tasks of the agent may still run.
    TurnEnded {
        /// Whether the agent named tasks that still run.
        background: bool,
    },
    /// The turn ended in an error.
    TurnFailed,
    /// The human broke the turn off.
    Interrupted,
    /// The session ended.
    SessionEnded,
    /// The agent says it waits for a prompt.
    Idle,
    /// The vendor reports that a request is over; the ref names which.
    Resolved(CallRef),
    /// The agent is at work (any other sign of it).
    Working,
}

/// Keys that answer the vendor's own prompt in the terminal (DECISIONS §3 "Answered in the terminal").
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TerminalKeys {
    /// Any of these ends the vendor's prompt.
    pub answers: Vec<Key>,
    /// After one of these only Enter and Esc count: the vendor's prompt has a text field open.
    pub opens_text: Vec<Key>,
}

/// One option that an adapter mints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskOption {
    /// See [`crate::model::AnswerOption`].
    pub id: String,
    /// What a person reads.
    pub label: String,
    /// What choosing it does.
    pub polarity: Polarity,
    /// Whether the channel can carry a text with it.
    pub carries_text: bool,
}

/// A question to a human, as an adapter read it.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// An id that the event brought.
    pub id: Option<DecisionId>,
    /// What is asked for.
    pub kind: Kind,
    /// The question.
    pub prompt: String,
    /// What it is about, whole.
    pub detail: Option<String>,
    /// How to show the detail.
    pub detail_kind: DetailKind,
    /// The tool's name.
    pub subject: Option<String>,
    /// The choices.
    pub options: Vec<AskOption>,
    /// The questions of a form.
    pub fields: Vec<Field>,
    /// What typed text can do.
    pub text: TextUse,
    /// What the event declares, or what the adapter declares for its channel.
    pub respond_via: Option<Vec<RespondVia>>,
    /// Milliseconds since the Unix epoch at which the asker gives up.
    pub expires_at: Option<i64>,
    /// How an answer would travel.
    pub channel: AnswerChannel,
    /// When its hook is held.
    pub holding: Holding,
    /// What the loss of its hook means.
    pub hook_loss: HookLoss,
    /// The call that it is about.
    pub call: Option<CallRef>,
    /// Keys that answer the vendor's own prompt while this one stands beside it.
    pub keys: Option<TerminalKeys>,
    /// By which way it came in.
    pub origin: Origin,
    /// Whatever the adapter needs again to spell the verdict. Never shown, never stored.
    pub carry: Json,
}

impl Default for Ask {
    fn default() -> Self {
        Self {
            id: None,
            kind: Kind::Permission,
            prompt: String::new(),
            detail: None,
            detail_kind: DetailKind::Text,
            subject: None,
            options: Vec::new(),
            fields: Vec::new(),
            text: TextUse::None,
            respond_via: None,
            expires_at: None,
            channel: AnswerChannel::None,
            holding: Holding::Never,
            hook_loss: HookLoss::MovedOn,
            call: None,
            keys: None,
            origin: Origin::Hook,
            carry: Json::Null,
        }
    }
}

/// What an adapter read in one payload.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reading {
    /// The agent's own id of its session.
    pub session_id: Option<String>,
    /// The vendor's id of the turn or prompt.
    pub turn_id: Option<String>,
    /// The subagent that speaks.
    pub subagent: Option<String>,
    /// The folder that the session works in.
    pub cwd: Option<String>,
    /// What it says about the agent's work.
    pub signal: Option<Signal>,
    /// An explicit lifecycle (a plain `hook-event` may bring one).
    pub lifecycle: Option<Lifecycle>,
    /// A question.
    pub ask: Option<Ask>,
    /// A message for the human, shown as a notification of the agent.
    pub message: Option<String>,
}

/// Why a payload could not be read, or a verdict not be spelt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AdapterError {
    /// The payload is not what this agent sends.
    #[error("{agent} payload: {problem}")]
    Payload {
        /// The agent.
        agent: &'static str,
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// The adapter cannot spell this answer.
    #[error("{agent} cannot carry that answer: {problem}")]
    Verdict {
        /// The agent.
        agent: &'static str,
        /// What is wrong.
        problem: String,
    },
}

/// One vendor's program, as we know it.
pub trait AgentAdapter: Send + Sync {
    /// Its name in commands and on the wire: lower case, stable.
    fn agent(&self) -> &'static str;

    /// Its name for people.
    fn display_name(&self) -> &'static str;

    /// File names of its program.
    fn programs(&self) -> &'static [&'static str];

    /// The channel of a decision that a plain `hook-event` spells out. Default: read-only.
    fn answer_channel(&self) -> AnswerChannel {
        AnswerChannel::None
    }

    /// Reads one payload. Pure; an event that it does not know is an empty [`Reading`].
    ///
    /// # Errors
    /// [`AdapterError::Payload`] where the payload is not an object of this agent.
    fn interpret(&self, event: Option<&str>, payload: &Json) -> Result<Reading, AdapterError>;

    /// Spells the standard output that carries `applied` to the waiting hook. `carry` is the ask's.
    ///
    /// # Errors
    /// [`AdapterError::Verdict`] where the vendor has no such answer.
    fn verdict(&self, carry: &Json, applied: &Applied) -> Result<String, AdapterError> {
        let _ = (carry, applied);
        Err(AdapterError::Verdict {
            agent: self.agent(),
            problem: "it is only watched".into(),
        })
    }

    /// The bytes that choose the option at `index` (from 0) of the menu on screen ([`AnswerChannel::TypeText`]).
    fn typed_choice(&self, index: usize) -> Vec<u8> {
        format!("{}\r", index + 1).into_bytes()
    }

    /// Arguments with which the program prints its help, where [`Self::launch`] depends on what it knows. It is
    /// run below the keeper like any program of a pane, never by the host: whatever carries the agent's name
    /// must not get out of its pane.
    fn probe(&self) -> Option<&'static [&'static str]> {
        None
    }

    /// `argv` with the proven flags that this agent gets when we launch it ourselves. `help` is what its
    /// probe printed, empty where it printed nothing. Untrusted text.
    fn launch(&self, help: &str, argv: Vec<String>) -> Vec<String> {
        let _ = help;
        argv
    }

    /// Whether a process with this command line is a server that this vendor shares between sessions, so
    /// that its descendants do not belong to the pane that started it.
    fn is_shared_server(&self, cmdline: &[String]) -> bool {
        let _ = cmdline;
        false
    }

    /// What Shift+Enter sends to get a newline in its composer.
    fn newline(&self) -> &'static [u8] {
        b"\n"
    }

    /// The vendor's own command that resumes a session.
    fn resume(&self, session_id: &str) -> Option<Vec<String>> {
        let _ = session_id;
        None
    }

    /// How our hook gets into its configuration, where we can put it there.
    fn integration(&self) -> Option<&dyn Integration> {
        None
    }
}

/// Where integrations read and write.
#[derive(Debug, Clone)]
pub struct IntegrationEnv {
    /// The user's home.
    pub home: PathBuf,
    /// `$XDG_DATA_HOME/signaltty`, where the shim lies.
    pub data_dir: PathBuf,
    /// Variables that vendors take their configuration folder from, by name.
    pub vars: std::collections::BTreeMap<String, String>,
    /// The `signaltty` program that the shim runs.
    pub program: PathBuf,
}

/// Whether our hook is in an agent's configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntegrationState {
    /// Not at all.
    Absent,
    /// Whole and current.
    Installed,
    /// Some of it, or an older form of it.
    Partial,
}

/// What an integration found or did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IntegrationReport {
    /// The agent.
    pub agent: String,
    /// Its name for people.
    pub display_name: String,
    /// Whether the agent's program is on the search path.
    pub found: bool,
    /// How it stands now.
    pub state: IntegrationState,
    /// The files concerned.
    pub files: Vec<String>,
    /// Whether this call changed anything.
    pub changed: bool,
    /// What the person has to do or know, in whole sentences.
    pub notes: Vec<String>,
}

/// Why an integration was left alone. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum IntegrationError {
    /// The vendor's file is not what it should be.
    #[error("{file}:{line}: {problem}; nothing was changed")]
    Malformed {
        /// The file.
        file: String,
        /// Its line, from 1.
        line: usize,
        /// What is wrong there.
        problem: String,
    },
    /// A file could not be read or written.
    #[error("{file}: {source}; nothing was changed")]
    Io {
        /// The file.
        file: String,
        /// What the system said.
        source: std::io::Error,
    },
}

/// How our hook gets into one vendor's configuration: merged, idempotent, atomic, and taken out again.
pub trait Integration: Send + Sync {
    /// Looks, changes nothing.
    ///
    /// # Errors
    /// A malformed or unreadable file.
    fn status(&self, env: &IntegrationEnv) -> Result<IntegrationReport, IntegrationError>;

    /// Puts the hook in.
    ///
    /// # Errors
    /// As [`Self::status`]; nothing was changed then.
    fn install(&self, env: &IntegrationEnv) -> Result<IntegrationReport, IntegrationError>;

    /// Takes the hook out and leaves everything else.
    ///
    /// # Errors
    /// As [`Self::status`]; nothing was changed then.
    fn uninstall(&self, env: &IntegrationEnv) -> Result<IntegrationReport, IntegrationError>;
}

/// The adapters that a host works with, and what it needs of them at once.
pub struct Adapters {
    all: Vec<Box<dyn AgentAdapter>>,
}

impl Adapters {
    /// Takes them in the order in which they are offered to people.
    pub fn new(all: Vec<Box<dyn AgentAdapter>>) -> Self {
        Self { all }
    }

    /// The adapter of that name.
    pub fn get(&self, agent: &str) -> Option<&dyn AgentAdapter> {
        self.all
            .iter()
            .map(AsRef::as_ref)
            .find(|adapter| adapter.agent() == agent)
    }

    /// The adapter whose program a command line runs.
    pub fn of_program(&self, argv0: &str) -> Option<&dyn AgentAdapter> {
        let name = Path::new(argv0).file_name()?.to_str()?;
        self.iter()
            .find(|adapter| adapter.programs().contains(&name))
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &dyn AgentAdapter> {
        self.all.iter().map(AsRef::as_ref)
    }
}

/// The canonical text of a tool input: members sorted, no white space.
pub fn canonical(input: &Json) -> String {
    fn sorted(value: &Json) -> Json {
        match value {
            Json::Object(map) => {
                let mut members: Vec<_> = map.iter().collect();
                members.sort_by(|a, b| a.0.cmp(b.0));
                Json::Object(
                    members
                        .into_iter()
                        .map(|(k, v)| (k.clone(), sorted(v)))
                        .collect(),
                )
            }
            Json::Array(items) => Json::Array(items.iter().map(sorted).collect()),
            other => other.clone(),
        }
    }
    sorted(input).to_string()
}

/// The vendor's hook timeout that goes with our longest hold.
pub const INSTALLED_TIMEOUT: Duration =
    Duration::from_secs(crate::limits::HOLD_MAX.as_secs() + crate::limits::HOOK_MARGIN.as_secs());
