//! Input and size of a pane's terminal, whoever they come from.

use std::sync::Arc;

use serde_json::Value as Json;

use super::clock;
use super::connection::Connection;
use super::dispatch::{may, pane, terminal, value};
use super::state::Host;
use super::terminal::KeyParser;
use crate::limits::INPUT_MAX;
use crate::model::{Key, Lifecycle, PaneId, Size};
use crate::protocol::params::{PaneInputParams, PaneWritten};
use crate::protocol::{ErrorCode, WireError};
use crate::session::{Action, Caller, Command, SessionError, Typist};

/// `pane.input`
///
/// In order, so not in a task of its own: a program that does not read holds up this connection alone.
pub async fn input(
    host: &Arc<Host>,
    connection: &Connection,
    params: PaneInputParams,
) -> Result<Json, WireError> {
    use base64::Engine as _;
    may(host, connection, Action::Input, Some(&params.pane_id))?;
    let bytes = match (params.text, params.data_base64) {
        (Some(text), None) => text.into_bytes(),
        (None, Some(data)) => base64::engine::general_purpose::STANDARD
            .decode(data)
            .map_err(|error| WireError::bad_params("data_base64", error))?,
        _ => {
            return Err(WireError::bad_params(
                "text",
                "exactly one of text and data_base64",
            ));
        }
    };
    if pane(host, &params.pane_id)?.lifecycle == Lifecycle::Exited {
        return Err(SessionError::PaneExited(params.pane_id).into());
    }
    let runtime = terminal(host, &params.pane_id)?;
    if bytes.len() > INPUT_MAX {
        let message = format!("at most {INPUT_MAX} bytes of input at once; nothing was typed");
        return Err(WireError::new(ErrorCode::TooLarge, message));
    }
    typed(
        host,
        &connection.peer.caller,
        &params.pane_id,
        whole_input(&bytes),
    )?;
    value(PaneWritten {
        written: runtime.type_input(&bytes).await,
    })
}

/// The keys of input that came whole: an Esc at its end is a lone one.
fn whole_input(bytes: &[u8]) -> Vec<Key> {
    let mut parser = KeyParser::new();
    let mut keys = parser.feed(bytes, clock::boot_ms());
    if let Some(deadline) = parser.deadline() {
        keys.extend(parser.expire(deadline));
    }
    keys
}

/// Somebody types: whether they may is looked at, and the session is told, under one lock, so that no decision
/// comes between the two.
pub fn typed(
    host: &Host,
    caller: &Caller,
    pane_id: &PaneId,
    keys: Vec<Key>,
) -> Result<(), WireError> {
    let mut core = host.core();
    core.session.may(caller, Action::Input, Some(pane_id))?;
    if keys.is_empty() {
        return Ok(());
    }
    let by = match caller {
        Caller::Outside => Typist::Human,
        Caller::Inside(_) => Typist::Inside,
    };
    let pane_id = pane_id.clone();
    host.drive_locked(&mut core, Command::Typed { pane_id, keys, by })?;
    Ok(())
}

/// Gives a terminal a size. `pid` names the process whose viewers have that size from now on.
pub fn resize(
    host: &Host,
    pane_id: &PaneId,
    size: Size,
    pid: Option<i32>,
) -> Result<(), WireError> {
    terminal(host, pane_id)?.resize(size, pid);
    host.drive(Command::ResizePane {
        pane_id: pane_id.clone(),
        size,
    })?;
    Ok(())
}
