//! Async client of the host's protocol: requests, events, and a pane's byte stream.
//!
//! One connection carries any number of requests at once. A pane is attached on a connection of its own,
//! because that connection becomes the terminal's byte stream.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep, timeout};

use crate::limits::{EVENT_RING, IN_FLIGHT_MAX, LINE_MAX};
use crate::protocol::frame::{EventFrame, Incoming, RequestFrame, ResponseFrame};
use crate::protocol::method::{Hello, Method, PaneAttach, Subscribe, Subscribed};
use crate::protocol::params::{
    HelloParams, HelloReply, PaneAttachParams, PaneAttached, SubscribeParams,
};
use crate::protocol::{ErrorCode, WireError};

/// How long a host that was just started has until it answers.
pub const START_MAX: Duration = Duration::from_secs(10);
/// How long one request may take before the connection counts as lost. `pane.wait` is asked for its own time.
pub const REPLY_MAX: Duration = Duration::from_secs(30);
/// How long to look again for a socket that is not there yet.
const START_POLL: Duration = Duration::from_millis(20);

/// Why a request has no result.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nobody listens on the socket.
    #[error("no host answers at {socket}: {source}")]
    NoHost {
        /// The socket.
        socket: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The host could not be started.
    #[error("the host could not be started with {program}: {problem}")]
    Start {
        /// The program.
        program: String,
        /// What went wrong.
        problem: String,
    },
    /// The connection ended.
    #[error("the connection to the host was lost")]
    Lost,
    /// The host sent something that is no line of the protocol.
    #[error("the host sent what is no line of the protocol: {0}")]
    Garbled(String),
    /// The host refused.
    #[error("{0}")]
    Refused(WireError),
}

impl ClientError {
    /// The code of a refusal.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Refused(error) => Some(error.code),
            _ => None,
        }
    }
}

/// How to start a host where none runs.
#[derive(Debug, Clone)]
pub struct StartHost {
    /// The `signaltty` program.
    pub program: PathBuf,
    /// The socket that it will listen on.
    pub socket: PathBuf,
}

/// Replies that are waited for, by request id. `None` once the connection ended.
type Waiting = Arc<Mutex<Option<HashMap<u64, oneshot::Sender<ResponseFrame>>>>>;

/// A connection to the host. Cheap to clone; the connection ends with the last clone.
#[derive(Debug, Clone)]
pub struct Client {
    lines: mpsc::Sender<String>,
    waiting: Waiting,
    next_id: Arc<AtomicU64>,
    hello: Arc<HelloReply>,
}

/// The events of a connection that subscribed. Ends when the connection does.
#[derive(Debug)]
pub struct Events(mpsc::Receiver<EventFrame>);

impl Events {
    /// The next event, or `None` once the connection ended.
    pub async fn recv(&mut self) -> Option<EventFrame> {
        self.0.recv().await
    }
}

impl Client {
    /// Connects and says hello.
    ///
    /// # Errors
    /// [`ClientError::NoHost`], or [`ClientError::Refused`] where the host speaks no common protocol.
    pub async fn connect(socket: &Path, hello: HelloParams) -> Result<(Self, Events), ClientError> {
        let stream = UnixStream::connect(socket)
            .await
            .map_err(|source| ClientError::NoHost {
                socket: socket.display().to_string(),
                source,
            })?;
        let (read, write) = stream.into_split();
        let (lines, to_write) = mpsc::channel(IN_FLIGHT_MAX);
        let (event_out, events) = mpsc::channel(EVENT_RING);
        let waiting: Waiting = Arc::new(Mutex::new(Some(HashMap::new())));
        tokio::spawn(write_lines(write, to_write));
        tokio::spawn(read_lines(read, waiting.clone(), event_out));
        let mut client = Self {
            lines,
            waiting,
            next_id: Arc::new(AtomicU64::new(1)),
            hello: Arc::new(HelloReply {
                protocol: 0,
                host: String::new(),
                epoch: String::new(),
                inside: false,
            }),
        };
        client.hello = Arc::new(client.call::<Hello>(hello).await?);
        Ok((client, Events(events)))
    }

    /// What the host said of itself.
    pub fn hello(&self) -> &HelloReply {
        &self.hello
    }

    /// Calls a method and waits for its result, at most [`REPLY_MAX`].
    ///
    /// # Errors
    /// [`ClientError::Refused`] with the host's error, or [`ClientError::Lost`].
    pub async fn call<M: Method>(&self, params: M::Params) -> Result<M::Reply, ClientError> {
        self.call_within::<M>(params, REPLY_MAX).await
    }

    /// Calls a method that may take long by its nature.
    ///
    /// # Errors
    /// As [`Self::call`].
    pub async fn call_within<M: Method>(
        &self,
        params: M::Params,
        limit: Duration,
    ) -> Result<M::Reply, ClientError> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let line = request_line::<M>(id, params)?;
        if line.len() > LINE_MAX {
            let len = line.len();
            let message = format!("the request has {len} bytes, and a line at most {LINE_MAX}");
            let error = WireError::new(ErrorCode::TooLarge, message);
            return Err(ClientError::Refused(error));
        }
        let (done, reply) = oneshot::channel();
        match self.waiting.lock() {
            Ok(mut waiting) => match waiting.as_mut() {
                Some(waiting) => drop(waiting.insert(id, done)),
                None => return Err(ClientError::Lost),
            },
            Err(_) => return Err(ClientError::Lost),
        }
        let outcome = timeout(limit, async {
            self.lines.send(line).await.map_err(|_| ClientError::Lost)?;
            reply.await.map_err(|_| ClientError::Lost)
        })
        .await
        .unwrap_or(Err(ClientError::Lost));
        if outcome.is_err() {
            if let Ok(mut waiting) = self.waiting.lock() {
                if let Some(waiting) = waiting.as_mut() {
                    waiting.remove(&id);
                }
            }
        }
        read_reply::<M>(outcome?)
    }

    /// Subscribes; the events then come from the connection's [`Events`].
    ///
    /// # Errors
    /// As [`Self::call`].
    pub async fn subscribe(&self, params: SubscribeParams) -> Result<Subscribed, ClientError> {
        self.call::<Subscribe>(params).await
    }
}

/// Connects, and starts the host first where none answers (CONTRACT §2: whichever outside client comes first).
///
/// # Errors
/// As [`Client::connect`], and [`ClientError::Start`].
pub async fn connect_or_start(
    start: &StartHost,
    hello: HelloParams,
) -> Result<(Client, Events), ClientError> {
    match Client::connect(&start.socket, hello.clone()).await {
        Err(ClientError::NoHost { .. }) => {}
        other => return other,
    }
    let failed = |problem: String| ClientError::Start {
        program: start.program.display().to_string(),
        problem,
    };
    let mut child = Command::new(&start.program)
        .arg("daemon")
        .env("SIGNALTTY_SOCKET", &start.socket)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| failed(error.to_string()))?;
    let mut complaint = child.stderr.take();
    let deadline = Instant::now() + START_MAX;
    loop {
        match Client::connect(&start.socket, hello.clone()).await {
            Err(ClientError::NoHost { .. }) => {}
            other => {
                // The host lives on; its end is collected here so that it never stands as a zombie.
                std::thread::spawn(move || child.wait());
                return other;
            }
        }
        if let Ok(Some(status)) = child.try_wait() {
            // It may have ended because another client's host was first; that one answers then.
            if let Ok(connected) = Client::connect(&start.socket, hello.clone()).await {
                return Ok(connected);
            }
            if !status.success() {
                let mut said = String::new();
                if let Some(stderr) = complaint.take() {
                    use std::io::Read as _;
                    let _ = stderr.take(4_096).read_to_string(&mut said);
                }
                return Err(failed(format!("{status}: {}", said.trim())));
            }
        }
        if Instant::now() > deadline {
            std::thread::spawn(move || child.wait());
            return Err(failed(format!(
                "it did not answer within {} s",
                START_MAX.as_secs()
            )));
        }
        sleep(START_POLL).await;
    }
}

/// Attaches to a pane: what follows on the stream are the terminal's bytes, both ways.
///
/// # Errors
/// [`ClientError::NoHost`], or the host's refusal.
pub async fn attach(
    socket: &Path,
    hello: HelloParams,
    params: PaneAttachParams,
) -> Result<(PaneAttached, UnixStream), ClientError> {
    let mut stream = UnixStream::connect(socket)
        .await
        .map_err(|source| ClientError::NoHost {
            socket: socket.display().to_string(),
            source,
        })?;
    let lines = request_line::<Hello>(1, hello)? + &request_line::<PaneAttach>(2, params)?;
    stream
        .write_all(lines.as_bytes())
        .await
        .map_err(|_| ClientError::Lost)?;
    timeout(REPLY_MAX, async {
        read_reply::<Hello>(one_response(&mut stream).await?)?;
        let attached = read_reply::<PaneAttach>(one_response(&mut stream).await?)?;
        Ok((attached, stream))
    })
    .await
    .map_err(|_| ClientError::Lost)?
}

/// Reads exactly one line: what follows belongs to the terminal and must stay in the stream.
async fn one_response(stream: &mut UnixStream) -> Result<ResponseFrame, ClientError> {
    let mut line = Vec::new();
    loop {
        match stream.read_u8().await {
            Ok(b'\n') => break,
            Ok(byte) if line.len() < LINE_MAX => line.push(byte),
            Ok(_) => return Err(ClientError::Garbled("a line that does not end".into())),
            Err(_) => return Err(ClientError::Lost),
        }
    }
    serde_json::from_slice(&line).map_err(|error| ClientError::Garbled(error.to_string()))
}

fn request_line<M: Method>(id: u64, params: M::Params) -> Result<String, ClientError> {
    let garbled = |error: serde_json::Error| ClientError::Garbled(error.to_string());
    let params = serde_json::to_value(params).map_err(garbled)?;
    let frame = RequestFrame {
        id,
        method: M::NAME.into(),
        params,
    };
    let mut line = serde_json::to_string(&frame).map_err(garbled)?;
    line.push('\n');
    Ok(line)
}

fn read_reply<M: Method>(frame: ResponseFrame) -> Result<M::Reply, ClientError> {
    if let Some(error) = frame.error {
        return Err(ClientError::Refused(error));
    }
    serde_json::from_value(frame.result.unwrap_or_default())
        .map_err(|error| ClientError::Garbled(error.to_string()))
}

async fn write_lines(mut socket: OwnedWriteHalf, mut lines: mpsc::Receiver<String>) {
    while let Some(line) = lines.recv().await {
        if socket.write_all(line.as_bytes()).await.is_err() {
            break;
        }
    }
}

/// Hands replies to whoever waits and events to the subscriber. A subscriber that does not read holds up
/// this connection alone: the host then sends it the whole state again instead of what it missed.
async fn read_lines(socket: OwnedReadHalf, waiting: Waiting, events: mpsc::Sender<EventFrame>) {
    let mut reader = BufReader::new(socket);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut reader)
            .take(SNAPSHOT_MAX)
            .read_until(b'\n', &mut line)
            .await
        {
            Ok(0) | Err(_) => break,
            Ok(_) if line.last() != Some(&b'\n') => break,
            Ok(_) => {}
        }
        let parsed = std::str::from_utf8(&line).ok().map(Incoming::parse);
        match parsed {
            Some(Ok(Incoming::Response(frame))) => {
                let waiter = frame
                    .id
                    .and_then(|id| waiting.lock().ok()?.as_mut()?.remove(&id));
                if let Some(waiter) = waiter {
                    let _ = waiter.send(frame);
                }
            }
            Some(Ok(Incoming::Event(frame))) => {
                // Whoever only calls methods has dropped the receiver; that is no fault.
                let _ = events.send(*frame).await;
            }
            // A kind of line or event that is newer than this client: passed over.
            Some(Ok(Incoming::Verdict(_)) | Err(_)) | None => {
                tracing::debug!(
                    bytes = line.len(),
                    "passed over a line that this client does not know"
                );
            }
        }
    }
    // Whoever still waits learns at once that nothing will come.
    if let Ok(mut waiting) = waiting.lock() {
        waiting.take();
    }
}

/// Longest line that the host sends: the whole state of as many panes as it keeps.
const SNAPSHOT_MAX: u64 = 64 * 1024 * 1024;
