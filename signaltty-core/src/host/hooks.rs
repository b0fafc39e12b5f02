//! `hook-event`: an agent reports, and may wait for a verdict.

use std::sync::Arc;

use serde_json::json;

use super::connection::Connection;
use super::hook_peer::HookPeer;
use super::state::Host;
use crate::adapter::{AnswerChannel, Ask, AskOption, Holding, Reading};
use crate::limits::MESSAGE_MAX;
use crate::model::{DecisionId, HookId, Origin, PaneId, Polarity, TextUse};
use crate::protocol::params::{DecisionParams, HookEventParams, HookEventReply};
use crate::protocol::{ErrorCode, WireError};
use crate::session::{Caller, Command, Report};

/// The agent name under which scripts ask; its questions may have a pane of their own.
const ASK: &str = "ask";

/// Ids that refuse where nobody said what an option does (specs/010 §2.8).
const REFUSING_IDS: [&str; 4] = ["deny", "reject", "no", "cancel"];

/// Takes one report and queues the reply to it.
///
/// Both happen under one lock: whoever is told of the decision may answer at once, and the verdict must not
/// overtake the reply that says that there will be one.
///
/// # Errors
/// `BAD_PARAMS` where it is none; nothing changed then.
pub fn report(
    host: &Arc<Host>,
    connection: &mut Connection,
    id: u64,
    params: HookEventParams,
) -> Result<(), WireError> {
    let by = connection.peer.reported_by(host, &params.agent);
    let named = named_pane(connection, params.pane_id.clone())?;
    let hold = params.hold;
    let resumes = params.resumes.clone();
    let agent = params.agent.clone();
    let reading = read(host, &connection.peer.caller, params)?;
    // A question that nobody waits for has nothing to go with: it gets no pane of its own.
    let own_pane = (agent == ASK && reading.ask.is_some() && hold).then(mint_pane_id);

    let hook = hold.then(|| HookId(host.next()));
    let mut core = host.core();
    if let Some(hook) = hook {
        let peer = HookPeer {
            connection: connection.id,
            lines: connection.lines.clone(),
        };
        core.hooks.insert(hook, peer);
    }
    let command = Command::Report(Box::new(Report {
        agent,
        by,
        pane_id: named,
        reading,
        hook,
        resumes,
        own_pane,
    }));
    let reported = match host.drive_locked(&mut core, command) {
        Ok(reported) => reported.unwrap_or_default(),
        Err(error) => {
            if let Some(hook) = hook {
                core.hooks.remove(&hook);
            }
            return Err(error.into());
        }
    };
    if let Some(hook) = hook {
        if reported.held {
            connection.hooks.push(hook);
        } else {
            core.hooks.remove(&hook);
        }
    }
    let reply = HookEventReply {
        pane_id: reported.pane_id,
        decision_id: reported.decision_id,
        held: reported.held,
    };
    let line = format!("{}\n", json!({ "id": id, "result": reply }));
    // A connection that does not read its replies is closed, and its hooks with it.
    if connection.lines.try_send(line.into()).is_err() {
        let message = "read the replies that wait on this connection first";
        return Err(WireError::new(ErrorCode::RateLimited, message));
    }
    drop(core);
    Ok(())
}

/// A pane that the caller names counts for an outside caller; one inside a pane speaks for its own alone.
fn named_pane(connection: &Connection, named: Option<PaneId>) -> Result<Option<PaneId>, WireError> {
    match (&connection.peer.caller, named) {
        (_, None) => Ok(None),
        (Caller::Outside, named) => Ok(named),
        (Caller::Inside(Some(own)), Some(named)) if *own == named => Ok(Some(named)),
        (Caller::Inside(_), Some(_)) => Err(WireError::new(
            ErrorCode::Forbidden,
            "a program inside a pane reports for its own pane alone; leave pane_id out",
        )),
    }
}

/// What the report says: a vendor's payload, or spelt out.
fn read(host: &Host, caller: &Caller, params: HookEventParams) -> Result<Reading, WireError> {
    if params.payload.is_some() && params.decision.is_some() {
        return Err(WireError::bad_params(
            "decision",
            "a payload and a decision exclude each other; send one",
        ));
    }
    let adapter = host.adapters.get(&params.agent);
    let mut reading = match (&params.payload, adapter) {
        (Some(payload), Some(adapter)) => adapter
            .interpret(params.event.as_deref(), payload)
            .map_err(|error| WireError::bad_params("payload", error))?,
        (Some(_), None) => {
            let known: Vec<_> = host
                .adapters
                .iter()
                .map(crate::adapter::AgentAdapter::agent)
                .collect();
            return Err(WireError::bad_params(
                "agent",
                format!(
                    "no adapter reads payloads of {:?}; known are {known:?}",
                    shorten(&params.agent)
                ),
            ));
        }
        (None, _) => Reading::default(),
    };
    if params.session_id.is_some() {
        reading.session_id = params.session_id;
    }
    if params.lifecycle.is_some() {
        reading.lifecycle = params.lifecycle;
    }
    if let Some(message) = params.message {
        reading.message = Some(crate::sanitise::cut(&message, MESSAGE_MAX).into_owned());
    }
    if let Some(decision) = params.decision {
        let channel = adapter.map_or(
            AnswerChannel::None,
            crate::adapter::AgentAdapter::answer_channel,
        );
        // Typed answers go where the card says that the menu stands. A program inside a pane could name the rows
        // falsely and have a human's no typed as a yes (specs/adr/0004).
        let channel = match (channel, caller) {
            (AnswerChannel::TypeText, Caller::Inside(_)) => AnswerChannel::None,
            (channel, _) => channel,
        };
        let mut ask = spelt_out(decision, channel, params.agent == ASK)?;
        ask.respond_via = params.respond_via;
        reading.ask = Some(ask);
    } else if let (Some(via), Some(ask)) = (params.respond_via, reading.ask.as_mut()) {
        ask.respond_via = Some(via);
    }
    Ok(reading)
}

/// A decision that the report spells out. Its options are by contract the menu on screen, whole and in order.
fn spelt_out(
    decision: DecisionParams,
    channel: AnswerChannel,
    scripted: bool,
) -> Result<Ask, WireError> {
    let id = decision
        .id
        .map(DecisionId::new)
        .transpose()
        .map_err(|error| WireError::bad_params("decision.id", error))?;
    let waits = channel == AnswerChannel::HookVerdict;
    let minted = decision
        .options
        .iter()
        .any(|option| option.polarity.is_some());
    let options = decision
        .options
        .into_iter()
        .map(|option| {
            let polarity = option.polarity.unwrap_or_else(|| {
                if !minted && REFUSING_IDS.contains(&option.id.to_lowercase().as_str()) {
                    Polarity::Refuses
                } else {
                    Polarity::Neutral
                }
            });
            let label = option.label.unwrap_or_else(|| option.id.clone());
            AskOption {
                id: option.id,
                label,
                polarity,
                carries_text: waits,
            }
        })
        .collect();
    let default_text = match (waits, decision.kind) {
        (true, crate::model::Kind::Input) => TextUse::Answer,
        (true, crate::model::Kind::Permission | crate::model::Kind::Review) => TextUse::Reason,
        _ => TextUse::None,
    };
    Ok(Ask {
        id,
        kind: decision.kind,
        prompt: decision.prompt,
        detail: decision.detail,
        detail_kind: decision.detail_kind,
        subject: decision.subject,
        options,
        fields: decision.fields,
        text: decision.text.unwrap_or(default_text),
        expires_at: decision.expires_at,
        channel,
        holding: if waits {
            Holding::Always
        } else {
            Holding::Never
        },
        origin: if scripted { Origin::Ask } else { Origin::Plain },
        ..Ask::default()
    })
}

fn shorten(text: &str) -> String {
    text.chars().take(64).collect()
}

/// A pane id that people can type: the random tail of a ULID, which does not repeat in practice, and is
/// checked against the panes that there are where one is opened.
pub fn mint_pane_id() -> PaneId {
    let ulid = ulid::Ulid::new().to_string().to_lowercase();
    PaneId::from_trusted(format!("p{}", &ulid[ulid.len() - 8..]))
}
