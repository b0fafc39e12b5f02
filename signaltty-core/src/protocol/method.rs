//! Every method with its parameters and its result.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::params::*;
use super::{ErrorCode, Snapshot, WireError};
use crate::adapter::IntegrationReport;
use crate::model::{Decision, Pane};

/// A method of the socket.
pub trait Method {
    /// Its name on the wire.
    const NAME: &'static str;
    /// What it takes.
    type Params: Serialize + DeserializeOwned + JsonSchema;
    /// What it gives.
    type Reply: Serialize + DeserializeOwned + JsonSchema;
}

macro_rules! methods {
    ($($(#[$doc:meta])* $variant:ident = $name:literal ($params:ty) -> $reply:ty;)*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy)]
            pub struct $variant;

            impl Method for $variant {
                const NAME: &'static str = $name;
                type Params = $params;
                type Reply = $reply;
            }
        )*

        /// A request whose parameters were read.
        #[allow(clippy::large_enum_variant, reason = "one at a time, on its way to its method")]
        #[derive(Debug, Clone)]
        pub enum Request {
            $(
                $(#[$doc])*
                $variant($params),
            )*
        }

        impl Request {
            /// Reads a method's parameters.
            ///
            /// # Errors
            /// `UNKNOWN_METHOD`, or `BAD_PARAMS` with the path of the member.
            pub fn read(method: &str, params: Json) -> Result<Self, WireError> {
                match method {
                    $($name => typed::<$params>(params).map(Self::$variant),)*
                    other => Err(WireError::new(
                        ErrorCode::UnknownMethod,
                        format!("no method {:?}; host.schema lists them", other.chars().take(64).collect::<String>()),
                    )),
                }
            }

            /// The method's name.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)*
                }
            }
        }

        /// Name, parameters and result of every method.
        pub fn describe(generator: &mut SchemaGenerator) -> Vec<(&'static str, Schema, Schema)> {
            vec![$(($name, generator.subschema_for::<$params>(), generator.subschema_for::<$reply>()),)*]
        }
    };
}

/// Reads a value, or says where it is wrong.
fn typed<T: DeserializeOwned>(params: Json) -> Result<T, WireError> {
    let params = if params.is_null() {
        Json::Object(serde_json::Map::new())
    } else {
        params
    };
    serde_path_to_error::deserialize(params).map_err(|error| {
        let path = error.path().to_string();
        WireError::bad_params(&path, error.into_inner())
    })
}

methods! {
    /// Says who one is and which protocol one speaks.
    Hello = "hello" (HelloParams) -> HelloReply;
    /// What the host is and how it does.
    HostInfo = "host.info" (Nothing) -> HostInfoReply;
    /// The schema of this protocol.
    HostSchema = "host.schema" (Nothing) -> Json;
    /// Ends the host.
    HostShutdown = "host.shutdown" (HostShutdownParams) -> Nothing;
    /// The whole state, then every event.
    Subscribe = "subscribe" (SubscribeParams) -> Subscribed;
    /// Starts a program in a new pane.
    PaneSpawn = "pane.spawn" (PaneSpawnParams) -> PaneSpawned;
    /// All panes.
    PaneList = "pane.list" (Nothing) -> Panes;
    /// One pane.
    PaneGet = "pane.get" (PaneParams) -> PaneReply;
    /// Text of a pane's terminal.
    PaneRead = "pane.read" (PaneReadParams) -> PaneText;
    /// Types into a pane.
    PaneInput = "pane.input" (PaneInputParams) -> PaneWritten;
    /// Gives a pane's terminal a size.
    PaneResize = "pane.resize" (PaneResizeParams) -> Nothing;
    /// Sends a signal to a pane's foreground process group.
    PaneSignal = "pane.signal" (PaneSignalParams) -> Nothing;
    /// Names a pane.
    PaneRename = "pane.rename" (PaneRenameParams) -> Nothing;
    /// Takes `unread` away, and nothing else.
    PaneMarkSeen = "pane.mark_seen" (PaneParams) -> Nothing;
    /// Ends a pane's program and forgets the pane.
    PaneClose = "pane.close" (PaneParams) -> Nothing;
    /// Waits until a pane is in a lifecycle.
    PaneWait = "pane.wait" (PaneWaitParams) -> PaneReply;
    /// Turns this connection into the pane's terminal.
    PaneAttach = "pane.attach" (PaneAttachParams) -> PaneAttached;
    /// An agent's hook reports.
    HookEvent = "hook-event" (HookEventParams) -> HookEventReply;
    /// A hook wrote and flushed its verdict.
    HookAck = "hook.ack" (HookAckParams) -> Nothing;
    /// Pending decisions of all panes, or of one.
    DecisionList = "decision.list" (DecisionListParams) -> Decisions;
    /// One pending decision.
    DecisionGet = "decision.get" (DecisionGetParams) -> DecisionReply;
    /// Answers a pending decision.
    DecisionAnswer = "decision.answer" (DecisionAnswerParams) -> DecisionAnswered;
    /// The arrangement of panes.
    LayoutGet = "layout.get" (Nothing) -> LayoutReply;
    /// Arranges panes.
    LayoutSet = "layout.set" (LayoutReply) -> Nothing;
    /// The agents that this host knows.
    AgentList = "agent.list" (Nothing) -> Agents;
    /// Whether our hook is in the agents' configurations.
    IntegrationStatus = "integration.status" (IntegrationParams) -> IntegrationReports;
    /// Puts it there.
    IntegrationInstall = "integration.install" (IntegrationParams) -> IntegrationReports;
    /// Takes it out.
    IntegrationUninstall = "integration.uninstall" (IntegrationParams) -> IntegrationReports;
    /// Decisions that have ended, from the disk.
    HistoryList = "history.list" (HistoryListParams) -> HistoryReply;
    /// Takes them off the disk.
    HistoryForget = "history.forget" (HistoryForgetParams) -> HistoryForgotten;
}

/// No parameters, or no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Nothing {}

/// `pane.list`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Panes {
    /// The panes.
    pub panes: Vec<Pane>,
}

/// `pane.get`, `pane.wait`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PaneReply {
    /// The pane.
    pub pane: Pane,
}

/// `decision.list`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Decisions {
    /// The decisions.
    pub decisions: Vec<Decision>,
}

/// `decision.get`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DecisionReply {
    /// The decision.
    pub decision: Decision,
}

/// `integration.*`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IntegrationReports {
    /// One an agent.
    pub integrations: Vec<IntegrationReport>,
}

/// `subscribe`: the whole state, or only where it was left off.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Subscribed {
    /// The whole state.
    Whole(Snapshot),
    /// The same epoch, and what came since is still there: the missed events follow as lines.
    Since {
        /// This run of the host.
        epoch: String,
        /// The number of the last event before those that follow.
        seq: u64,
    },
}
