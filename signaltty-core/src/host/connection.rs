//! One connection: its lines in, its lines out, and who is at the other end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value as Json, json};
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{Semaphore, mpsc, oneshot, watch};

use super::caller::Peer;
use super::dispatch::{self, Then};
use super::lines::{Read, read_line};
use super::publish::Line;
use super::rate::Rate;
use super::state::Host;
use crate::limits::{ANSWERS_PER_MINUTE, EVENT_RING, IN_FLIGHT_MAX, LINE_MAX};
use crate::model::HookId;
use crate::protocol::frame::RequestFrame;
use crate::protocol::params::Role;
use crate::protocol::{ErrorCode, Request, WireError};
use crate::session::Command;

/// What the host knows of one connection.
pub struct Connection {
    /// Its number in this run of the host.
    pub id: u64,
    /// Who is at the other end, as resolved when it connected.
    pub peer: Peer,
    /// Its lines, out.
    pub lines: mpsc::Sender<Line>,
    /// Requests that it may still start.
    pub in_flight: Arc<Semaphore>,
    /// Answers that it may still send.
    pub answers: Rate,
    /// What it said that it is for.
    pub role: Role,
    /// What it said its name is.
    pub client: String,
    /// Hooks that wait on it.
    pub hooks: Vec<HookId>,
    /// Dropped with the connection, which ends what still waits on its behalf.
    pub here: watch::Sender<()>,
}

/// Serves one connection to its end.
pub async fn serve(host: Arc<Host>, stream: UnixStream, peer: Peer) {
    let (read, write) = stream.into_split();
    let (lines, to_write) = mpsc::channel::<Line>(EVENT_RING);
    let (give_back, write_back) = oneshot::channel();
    let writer_host = host.clone();
    tokio::spawn(write_lines(writer_host, write, to_write, give_back));
    let mut connection = Connection {
        id: host.next(),
        peer,
        lines,
        in_flight: Arc::new(Semaphore::new(IN_FLIGHT_MAX)),
        answers: Rate::per_minute(ANSWERS_PER_MINUTE),
        role: Role::Observer,
        client: String::new(),
        hooks: Vec::new(),
        here: watch::Sender::new(()),
    };
    let mut reader = BufReader::new(read);
    let then = read_requests(&host, &mut connection, &mut reader).await;
    leave(&host, &connection);
    let Some(attached) = then else { return };
    // The connection becomes the terminal's byte stream: what the writer still has goes out first.
    drop(connection);
    let Ok(mut write) = write_back.await else {
        return;
    };
    let reply = format!(
        "{}\n",
        json!({ "id": attached.request, "result": attached.reply })
    );
    if write.write_all(reply.as_bytes()).await.is_ok() {
        super::attach::serve(host, attached, reader, write).await;
    }
}

/// Reads requests until the peer goes away, or until one turns the connection into a byte stream.
async fn read_requests(
    host: &Arc<Host>,
    connection: &mut Connection,
    reader: &mut BufReader<OwnedReadHalf>,
) -> Option<super::attach::Attached> {
    loop {
        let read = tokio::select! {
            read = read_line(reader, LINE_MAX) => read,
            // A writer that broke means that the peer is gone, though it may still hold its sending half.
            () = connection.lines.closed() => return None,
        };
        let line = match read {
            Read::End => return None,
            Read::TooLong => {
                let problem =
                    format!("a line has at most {LINE_MAX} bytes; this one was passed over");
                refuse(
                    host,
                    connection,
                    None,
                    WireError::new(ErrorCode::TooLarge, problem),
                )
                .await;
                continue;
            }
            Read::NotText => {
                let problem = "a line is UTF-8; this one was passed over";
                refuse(
                    host,
                    connection,
                    None,
                    WireError::new(ErrorCode::BadRequest, problem),
                )
                .await;
                continue;
            }
            Read::Line(line) => line,
        };
        let (id, request) = match read_request(&line) {
            Ok(read) => read,
            Err((id, error)) => {
                refuse(host, connection, id, error).await;
                continue;
            }
        };
        match dispatch::request(host, connection, id, request).await {
            Then::Reply(Ok(result)) => reply(connection, id, &result).await,
            Then::Reply(Err(error)) => refuse(host, connection, Some(id), error).await,
            Then::Later => {}
            Then::Attach(attached) => return Some(*attached),
        }
    }
}

/// The connection is over: whoever waited on it is told.
fn leave(host: &Arc<Host>, connection: &Connection) {
    let mut core = host.core();
    core.publisher.unsubscribe(connection.id);
    for hook in &connection.hooks {
        if core.hooks.remove(hook).is_some() {
            core.deliveries.retain(|_, delivery| delivery.hook != *hook);
            if let Err(error) = host.drive_locked(&mut core, Command::HookGone { hook: *hook }) {
                tracing::warn!(%error, "a hook could not leave");
            }
        }
    }
    if core.operators.remove(&connection.id) && core.operators.is_empty() {
        let _ = host.drive_locked(&mut core, Command::Operators { connected: false });
    }
}

/// Reads one line as a request; where it is none, says why, with the id if that much could be read.
fn read_request(line: &str) -> Result<(u64, Request), (Option<u64>, WireError)> {
    let bad = |problem: String| WireError::new(ErrorCode::BadRequest, problem);
    let value: Json = serde_json::from_str(line).map_err(|error| {
        (
            None,
            bad(format!("a request is one JSON object a line: {error}")),
        )
    })?;
    let id = value.get("id").and_then(Json::as_u64);
    let frame: RequestFrame = serde_json::from_value(value).map_err(|error| {
        (
            id,
            bad(format!(
                "a request is {{\"id\": number, \"method\": text, \"params\": object}}: {error}"
            )),
        )
    })?;
    if !frame.params.is_null() && !frame.params.is_object() {
        return Err((id, WireError::bad_params("params", "an object")));
    }
    Request::read(&frame.method, frame.params)
        .map(|request| (frame.id, request))
        .map_err(|error| (id, error))
}

async fn reply(connection: &Connection, id: u64, result: &Json) {
    send_line(&connection.lines, &json!({ "id": id, "result": result })).await;
}

async fn refuse(host: &Host, connection: &Connection, id: Option<u64>, error: WireError) {
    host.refused(&error);
    send_line(&connection.lines, &json!({ "id": id, "error": error })).await;
}

/// Queues one line; waits where the peer does not read, which holds up nobody but itself.
pub async fn send_line(lines: &mpsc::Sender<Line>, value: &Json) {
    let _ = lines.send(format!("{value}\n").into()).await;
}

async fn write_lines(
    host: Arc<Host>,
    mut socket: OwnedWriteHalf,
    mut lines: mpsc::Receiver<Line>,
    give_back: oneshot::Sender<OwnedWriteHalf>,
) {
    while let Some(line) = lines.recv().await {
        if socket.write_all(line.as_bytes()).await.is_err() {
            return;
        }
        if host.lagging.load(Ordering::Acquire) && lines.is_empty() {
            host.catch_up(&mut host.core());
        }
    }
    let _ = give_back.send(socket);
}

/// Counts connections, so that there are never more than the bound.
pub struct Slot {
    count: Arc<AtomicUsize>,
}

impl Slot {
    /// Takes a place, if there is one.
    pub fn take(count: &Arc<AtomicUsize>, max: usize) -> Option<Self> {
        count
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |n| {
                (n < max).then_some(n + 1)
            })
            .is_ok()
            .then(|| Self {
                count: count.clone(),
            })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::AcqRel);
    }
}
