//! `decision.answer`: one way for every answer, whoever sends it (specs/010 §1.5).

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

use super::connection::Connection;
use super::dispatch::{CLIENT_NAME_MAX, Then, value};
use super::later::{later_with, permit};
use super::state::Host;
use crate::limits::{ANNOUNCE, ANSWERS_PER_MINUTE, HOOK_LOSS_GRACE};
use crate::protocol::params::{DecisionAnswerParams, DecisionAnswered};
use crate::protocol::{ErrorCode, WireError};
use crate::session::{AnswerCommand, Command};

/// How long an answer's outcome may take: the announcement, the acknowledgement and a margin.
const OUTCOME_MAX: Duration =
    Duration::from_secs(ANNOUNCE.as_secs() + HOOK_LOSS_GRACE.as_secs() + 4);
/// Hands an answer to the session; its reply comes when it was delivered, or was not.
pub fn answer(
    host: &Arc<Host>,
    connection: &mut Connection,
    id: u64,
    params: DecisionAnswerParams,
) -> Then {
    if !connection.answers.take() {
        let message = format!("at most {ANSWERS_PER_MINUTE} answers a minute; nothing was applied");
        return Then::Reply(Err(WireError::new(ErrorCode::RateLimited, message)));
    }
    let permit = match permit(connection) {
        Ok(permit) => permit,
        Err(error) => return Then::Reply(Err(error)),
    };
    let name = if connection.client.is_empty() {
        format!("pid {}", connection.peer.pid)
    } else {
        connection.client.clone()
    };
    let ticket = host.next();
    let (done, outcome) = oneshot::channel();
    let command = Command::Answer(AnswerCommand {
        ticket,
        pane_id: params.pane_id,
        decision_id: params.decision_id,
        answer: crate::answer::Answer {
            option_id: params.option_id,
            text: params.text,
            values: params.values,
        },
        via: params.via.map_or_else(
            || name.clone(),
            |via| crate::sanitise::cut(&via, CLIENT_NAME_MAX).into_owned(),
        ),
        by: name,
        caller: connection.peer.caller.clone(),
    });
    {
        let mut core = host.core();
        core.tickets.insert(ticket, done);
        if let Err(error) = host.drive_locked(&mut core, command) {
            core.tickets.remove(&ticket);
            return Then::Reply(Err(error.into()));
        }
    }
    later_with(permit, connection, id, async move {
        match timeout(OUTCOME_MAX, outcome).await {
            Ok(Ok(Ok(applied))) => value(DecisionAnswered { applied }),
            Ok(Ok(Err(error))) => Err(error.into()),
            Ok(Err(_)) | Err(_) => Err(WireError::new(
                ErrorCode::DeliveryFailed,
                "the answer was consumed and its outcome is not known",
            )),
        }
    })
}
