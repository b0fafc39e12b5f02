//! Requests: each is checked for authority, done, and answered.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::attach::Attached;
use super::connection::Connection;
use super::later::later;
use super::state::Host;
use super::{answering, delivery, hooks, integrations, spawn, typing, waiting};
use crate::limits::TITLE_MAX;
use crate::model::{PaneId, Size};
use crate::protocol::method::{Decisions, PaneReply, Panes, Subscribed};
use crate::protocol::params::{
    HelloParams, HelloReply, LayoutReply, PaneText, Role, ShutdownPanes, SubscribeParams,
};
use crate::protocol::{ErrorCode, PROTOCOL, PROTOCOL_MIN, Request, WireError};
use crate::session::{Action, Caller, Command, SessionError};

/// What is next after a request.
pub enum Then {
    /// This is its reply.
    Reply(Result<Json, WireError>),
    /// Its reply comes by itself.
    Later,
    /// The connection becomes a terminal's byte stream.
    Attach(Box<Attached>),
}

/// Does one request.
pub async fn request(
    host: &Arc<Host>,
    connection: &mut Connection,
    id: u64,
    request: Request,
) -> Then {
    match request {
        Request::PaneAttach(params) => match super::attach::begin(host, connection, id, &params) {
            Ok(attached) => Then::Attach(Box::new(attached)),
            Err(error) => Then::Reply(Err(error)),
        },
        Request::HookEvent(params) => match hooks::report(host, connection, id, params) {
            Ok(()) => Then::Later,
            Err(error) => Then::Reply(Err(error)),
        },
        Request::Subscribe(params) => subscribe(host, connection, id, &params),
        Request::DecisionAnswer(params) => answering::answer(host, connection, id, params),
        Request::PaneSpawn(params) => {
            let (host, caller) = (host.clone(), connection.peer.caller.clone());
            later(connection, id, async move {
                value(spawn::pane(&host, &caller, params).await?)
            })
        }
        Request::PaneInput(params) => Then::Reply(typing::input(host, connection, params).await),
        Request::PaneSignal(params) => {
            if let Err(error) = may(host, connection, Action::Signal, Some(&params.pane_id)) {
                return Then::Reply(Err(error));
            }
            let host = host.clone();
            later(connection, id, async move {
                value(spawn::signal(&host, &params).await?)
            })
        }
        Request::PaneWait(params) => {
            let host = host.clone();
            later(
                connection,
                id,
                async move { waiting::wait(&host, params).await },
            )
        }
        Request::PaneClose(params) => {
            if let Err(error) = may(host, connection, Action::Close, Some(&params.pane_id)) {
                return Then::Reply(Err(error));
            }
            let host = host.clone();
            later(connection, id, async move {
                value(spawn::close(&host, &params.pane_id).await?)
            })
        }
        Request::IntegrationStatus(params) => {
            let host = host.clone();
            later(connection, id, async move {
                value(integrations::status(&host, params.agent).await?)
            })
        }
        Request::IntegrationInstall(params) => {
            if let Err(error) = may(host, connection, Action::Integration, None) {
                return Then::Reply(Err(error));
            }
            let host = host.clone();
            later(connection, id, async move {
                value(integrations::install(&host, params.agent).await?)
            })
        }
        Request::IntegrationUninstall(params) => {
            if let Err(error) = may(host, connection, Action::Integration, None) {
                return Then::Reply(Err(error));
            }
            let host = host.clone();
            later(connection, id, async move {
                value(integrations::uninstall(&host, params.agent).await?)
            })
        }
        Request::HistoryList(params) => {
            if let Err(error) = may(host, connection, Action::List, None) {
                return Then::Reply(Err(error));
            }
            let host = host.clone();
            later(connection, id, async move {
                value(host.storage.list(params).await?)
            })
        }
        Request::HistoryForget(params) => {
            if let Err(error) = may(host, connection, Action::Settings, None) {
                return Then::Reply(Err(error));
            }
            let host = host.clone();
            later(connection, id, async move {
                value(host.storage.forget(params).await?)
            })
        }
        other => Then::Reply(at_once(host, connection, other)),
    }
}

/// Requests that need no waiting.
fn at_once(
    host: &Arc<Host>,
    connection: &mut Connection,
    request: Request,
) -> Result<Json, WireError> {
    match request {
        Request::Hello(params) => value(hello(host, connection, params)?),
        Request::HostInfo(_) => value(host.info()),
        Request::HostSchema(_) => Ok(crate::protocol::schema::document()),
        Request::HostShutdown(params) => {
            may(host, connection, Action::Shutdown, None)?;
            if params.panes == ShutdownPanes::Close {
                host.close_panes
                    .store(true, std::sync::atomic::Ordering::Release);
            }
            host.shutdown.notify_one();
            Ok(json!({}))
        }
        Request::PaneList(_) => value(Panes {
            panes: host.core().session.panes(),
        }),
        Request::PaneGet(params) => value(PaneReply {
            pane: pane(host, &params.pane_id)?,
        }),
        Request::PaneRead(params) => {
            pane(host, &params.pane_id)?;
            value(PaneText {
                text: terminal(host, &params.pane_id)?.text(params.what, params.lines),
            })
        }
        Request::PaneResize(params) => {
            may(host, connection, Action::Resize, Some(&params.pane_id))?;
            let size = Size {
                cols: params.cols,
                rows: params.rows,
            };
            if size != size.clamped() {
                return Err(WireError::bad_params(
                    "cols",
                    format!("1 to {} columns and rows", Size::MAX),
                ));
            }
            typing::resize(host, &params.pane_id, size, Some(connection.peer.pid))?;
            Ok(json!({}))
        }
        Request::PaneRename(params) => {
            may(host, connection, Action::Rename, Some(&params.pane_id))?;
            let named = crate::sanitise::cut(&params.title, TITLE_MAX).into_owned();
            let title = (!named.is_empty()).then(|| named.clone());
            host.drive(Command::RenamePane {
                pane_id: params.pane_id.clone(),
                title: named,
            })?;
            if let Some(runtime) = host.core().panes.get(&params.pane_id) {
                runtime.remember_title(title);
            }
            Ok(json!({}))
        }
        Request::PaneMarkSeen(params) => {
            may(host, connection, Action::MarkSeen, Some(&params.pane_id))?;
            host.drive(Command::MarkSeen {
                pane_id: params.pane_id,
            })?;
            Ok(json!({}))
        }
        Request::HookAck(params) => {
            let outcome = delivery::Outcome::Confirmed {
                connection: connection.id,
            };
            if delivery::settle(host, &params.decision_id, outcome) {
                Ok(json!({}))
            } else {
                Err(WireError::new(
                    ErrorCode::NoSuchDecision,
                    "no verdict for that decision is outstanding on this connection",
                )
                .with(json!({ "decision_id": params.decision_id })))
            }
        }
        Request::DecisionList(params) => {
            let mut decisions = host.core().session.decisions(params.queued);
            if let Some(pane_id) = params.pane_id {
                pane(host, &pane_id)?;
                decisions.retain(|decision| decision.pane_id == pane_id);
            }
            value(Decisions { decisions })
        }
        Request::DecisionGet(params) => {
            let core = host.core();
            match core.session.decision(&params.decision_id) {
                Some(decision) => Ok(json!({ "decision": decision })),
                None => {
                    let fate = Box::new(core.session.fate(&params.decision_id));
                    Err(SessionError::NoSuchDecision {
                        decision_id: params.decision_id,
                        fate,
                    }
                    .into())
                }
            }
        }
        Request::LayoutGet(_) => value(LayoutReply {
            layout: host.core().session.layout().clone(),
        }),
        Request::LayoutSet(params) => {
            may(host, connection, Action::Layout, None)?;
            host.drive(Command::SetLayout {
                layout: params.layout,
            })?;
            Ok(json!({}))
        }
        Request::AgentList(_) => value(integrations::agents(host)),
        _ => Err(WireError::new(
            ErrorCode::Internal,
            "this request went the wrong way",
        )),
    }
}

fn hello(
    host: &Arc<Host>,
    connection: &mut Connection,
    params: HelloParams,
) -> Result<HelloReply, WireError> {
    if !(PROTOCOL_MIN..=PROTOCOL).contains(&params.protocol) {
        let message = format!(
            "this host speaks protocols {PROTOCOL_MIN} to {PROTOCOL}, the client {}: upgrade the older of the two",
            params.protocol
        );
        return Err(
            WireError::new(ErrorCode::UnsupportedProtocol, message).with(json!({
                "host": { "min": PROTOCOL_MIN, "max": PROTOCOL },
                "client": { "min": params.protocol, "max": params.protocol },
            })),
        );
    }
    connection.client = crate::sanitise::cut(&params.client, CLIENT_NAME_MAX).into_owned();
    connection.role = params.role;
    let inside = connection.peer.caller != Caller::Outside;
    let mut core = host.core();
    // A caller inside a pane is no operator, whatever it says: nothing is held open for it.
    let was = !core.operators.is_empty();
    if params.role == Role::Operator && !inside {
        core.operators.insert(connection.id);
    } else {
        core.operators.remove(&connection.id);
    }
    let is = !core.operators.is_empty();
    if was != is {
        host.drive_locked(&mut core, Command::Operators { connected: is })?;
    }
    Ok(HelloReply {
        protocol: params.protocol,
        host: env!("CARGO_PKG_VERSION").into(),
        epoch: core.publisher.epoch().into(),
        inside,
    })
}

/// Longest name of a client or of a way to answer, in bytes.
pub const CLIENT_NAME_MAX: usize = 64;

/// The reply, what was missed and everything that comes after stand in one order: all of it is queued under
/// the lock that events are published under.
fn subscribe(host: &Arc<Host>, connection: &Connection, id: u64, params: &SubscribeParams) -> Then {
    let mut core = host.core();
    let missed = params
        .from
        .filter(|_| params.epoch.as_deref() == Some(core.publisher.epoch()))
        .and_then(|from| Some((from, core.publisher.since(from)?)))
        .filter(|(_, lines)| connection.lines.capacity() > lines.len() + 1);
    let (reply, missed) = match missed {
        Some((from, lines)) => (
            Subscribed::Since {
                epoch: core.publisher.epoch().to_owned(),
                seq: from,
            },
            lines,
        ),
        None => (Subscribed::Whole(core.snapshot()), Vec::new()),
    };
    let line = format!("{}\n", json!({ "id": id, "result": reply }));
    if connection.lines.try_send(line.into()).is_err() {
        let message = "read the replies that wait on this connection first";
        return Then::Reply(Err(WireError::new(ErrorCode::RateLimited, message)));
    }
    for line in missed {
        if connection.lines.try_send(line).is_err() {
            break;
        }
    }
    core.publisher
        .subscribe(connection.id, connection.lines.clone());
    core.tell_warnings();
    Then::Later
}

/// Whether the caller may do that.
pub fn may(
    host: &Host,
    connection: &Connection,
    action: Action,
    pane_id: Option<&PaneId>,
) -> Result<(), WireError> {
    Ok(host
        .core()
        .session
        .may(&connection.peer.caller, action, pane_id)?)
}

/// The pane, or `NO_SUCH_PANE`.
pub fn pane(host: &Host, pane_id: &PaneId) -> Result<crate::model::Pane, WireError> {
    host.core()
        .session
        .pane(pane_id)
        .ok_or_else(|| SessionError::NoSuchPane(pane_id.clone()).into())
}

/// The pane's terminal, or why there is none.
pub fn terminal(
    host: &Host,
    pane_id: &PaneId,
) -> Result<Arc<super::pane_runtime::PaneRuntime>, WireError> {
    pane(host, pane_id)?;
    host.core().panes.get(pane_id).cloned().ok_or_else(|| {
        WireError::new(
            ErrorCode::BadParams,
            format!("pane {pane_id} has no terminal"),
        )
        .with(json!({ "path": "pane_id", "reason": "no_terminal" }))
    })
}

/// A reply as it travels.
pub fn value(reply: impl serde::Serialize) -> Result<Json, WireError> {
    serde_json::to_value(reply)
        .map_err(|error| WireError::new(ErrorCode::Internal, error.to_string()))
}
