//! `pane.attach`: the connection becomes the terminal's byte stream, both ways.
//!
//! The viewer gets a snapshot and then the tail. Its input passes the key parser, so that the session knows
//! what a human typed, before the bytes reach the terminal.

use std::sync::Arc;

use serde_json::Value as Json;
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::{Duration, sleep};

use super::clock;
use super::connection::Connection;
use super::dispatch;
use super::pane_runtime::{PaneRuntime, ViewerId};
use super::state::Host;
use super::terminal::keys::KeyParser;
use super::typing;
use crate::limits::LONE_ESC;
use crate::model::{Key, PaneId};
use crate::protocol::params::{PaneAttachParams, PaneAttached};
use crate::protocol::{ErrorCode, WireError};
use crate::session::{Action, Caller};

/// Bytes that are taken from a viewer at once.
const READ_MAX: usize = 16 * 1024;

/// A viewer whose connection is about to become a byte stream.
pub struct Attached {
    /// The request that asked for it.
    pub request: u64,
    /// The reply to it.
    pub reply: Json,
    pane_id: PaneId,
    runtime: Arc<PaneRuntime>,
    viewer: ViewerId,
    input: bool,
    caller: Caller,
}

/// Checks authority and registers the viewer, whose backlog begins with the snapshot.
///
/// # Errors
/// `NO_SUCH_PANE`, `FORBIDDEN`, or `BAD_PARAMS` for a pane without terminal.
pub fn begin(
    host: &Arc<Host>,
    connection: &Connection,
    request: u64,
    params: &PaneAttachParams,
) -> Result<Attached, WireError> {
    dispatch::may(
        host,
        connection,
        Action::Attach {
            input: params.input,
        },
        Some(&params.pane_id),
    )?;
    if params.size.is_some() {
        dispatch::may(host, connection, Action::Resize, Some(&params.pane_id))?;
    }
    let runtime = dispatch::terminal(host, &params.pane_id)?;
    if let Some(colors) = &params.colors {
        // A program inside a pane does not say which colours a human sees.
        if connection.peer.caller == Caller::Outside {
            runtime.set_colors(colors);
        }
    }
    if let Some(size) = params.size {
        typing::resize(host, &params.pane_id, size.clamped(), None)?;
    }
    let pane = dispatch::pane(host, &params.pane_id)?;
    let reply = serde_json::to_value(PaneAttached {
        size: runtime.size(),
        exited: pane.exit,
    })
    .map_err(|error| WireError::new(ErrorCode::Internal, error.to_string()))?;
    let viewer = runtime.add_viewer(ViewerId(host.next()), connection.peer.pid, params.size);
    Ok(Attached {
        request,
        reply,
        pane_id: params.pane_id.clone(),
        runtime,
        viewer,
        input: params.input,
        caller: connection.peer.caller.clone(),
    })
}

impl Drop for Attached {
    fn drop(&mut self) {
        self.runtime.remove_viewer(self.viewer);
    }
}

/// Carries bytes both ways until the viewer or the pane goes.
pub async fn serve(
    host: Arc<Host>,
    attached: Attached,
    reader: BufReader<OwnedReadHalf>,
    writer: OwnedWriteHalf,
) {
    let (runtime, viewer) = (attached.runtime.clone(), attached.viewer);
    let output = tokio::spawn(write_output(runtime.clone(), viewer, writer));
    let abort = output.abort_handle();
    tokio::select! {
        _ = output => {}
        () = read_input(&host, &attached, reader) => abort.abort(),
    }
}

/// What the terminal shows, until the pane has ended and everything was shown.
async fn write_output(runtime: Arc<PaneRuntime>, viewer: ViewerId, mut writer: OwnedWriteHalf) {
    let mut chunk = Vec::new();
    loop {
        chunk.clear();
        if !runtime.next_output(viewer, &mut chunk).await || writer.write_all(&chunk).await.is_err()
        {
            break;
        }
    }
    let _ = writer.shutdown().await;
}

/// What the viewer types, until it closes its side.
async fn read_input(host: &Arc<Host>, attached: &Attached, mut reader: BufReader<OwnedReadHalf>) {
    let mut parser = KeyParser::new();
    let mut chunk = vec![0; READ_MAX];
    loop {
        let read = tokio::select! {
            read = reader.read(&mut chunk) => read,
            () = lone_escape(&parser) => {
                let keys = parser.expire(clock::boot_ms());
                typed(host, attached, keys);
                continue;
            }
        };
        let Ok(read @ 1..) = read else { break };
        if !attached.input {
            continue;
        }
        let bytes = &chunk[..read];
        let mut keys = parser.feed(bytes, clock::boot_ms());
        if keys.is_empty() && parser.deadline().is_some() {
            // It may turn out to be a lone Esc, which the program sees now and the session only later: whatever
            // menu a typed answer is meant for is not certain from here on.
            keys.push(Key::Other);
        }
        if !keys.is_empty() {
            // Whoever types owns the size (specs/020 §1).
            if let Some(size) = attached.runtime.claim_size(attached.viewer) {
                let _ = typing::resize(host, &attached.pane_id, size, None);
            }
        }
        if !typed(host, attached, keys) {
            continue;
        }
        // A child that does not read holds up this viewer, and nobody else.
        attached.runtime.type_input(bytes).await;
    }
}

/// The session learns of it before the program does: a decision that this answers is over by then. False where
/// this viewer may not type now; its bytes then go nowhere.
fn typed(host: &Host, attached: &Attached, keys: Vec<Key>) -> bool {
    match typing::typed(host, &attached.caller, &attached.pane_id, keys) {
        Ok(()) => true,
        Err(error) => {
            tracing::debug!(%error, "a viewer's input was dropped");
            false
        }
    }
}

async fn lone_escape(parser: &KeyParser) {
    match parser.deadline() {
        Some(deadline) => {
            let wait =
                Duration::from_millis(deadline.saturating_sub(clock::boot_ms())).min(LONE_ESC);
            sleep(wait).await;
        }
        None => std::future::pending().await,
    }
}
