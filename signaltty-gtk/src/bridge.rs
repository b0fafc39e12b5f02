//! The one bridge between tokio, where the host's protocol lives, and GLib's main loop, where widgets live.
//!
//! A runtime of its own keeps a connection to the host: it starts a host where none runs, connects again when
//! the connection is lost, and subscribes where it left off. What happens comes to the main loop over one
//! bounded channel as [`Update`]s; calls go the other way as futures that the main loop may await. A pane's
//! byte stream is an [`Attachment`]: a bounded channel each way, so that a terminal that is busy holds up its
//! own socket and nothing else.

use std::path::{Path, PathBuf};
use std::time::Duration;

use signaltty_core::client::{self, Client, ClientError, Events, StartHost};
use signaltty_core::protocol::method::{Method, Subscribed};
use signaltty_core::protocol::params::{
    HelloParams, HelloReply, PaneAttachParams, PaneAttached, Role, SubscribeParams,
};
use signaltty_core::protocol::{Event, PROTOCOL, Snapshot};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::time::sleep;

/// How long to wait before the first new attempt to connect, and at most before any later one.
const RETRY_FIRST: Duration = Duration::from_millis(50);
const RETRY_MAX: Duration = Duration::from_secs(5);
/// Updates that wait for the main loop. Beyond it the socket waits, and the host resyncs a reader that is too slow.
const UPDATES_MAX: usize = 1_024;
/// Bytes read from a pane's stream at once, and portions of them that wait for the terminal.
const READ_SIZE: usize = 64 * 1024;
const PORTIONS_MAX: usize = 4;
/// Pieces of typing that wait for the host.
const TYPED_MAX: usize = 256;

/// What the main loop learns.
#[derive(Debug)]
pub enum Update {
    /// The host answers. The whole state, or `None` where only the missed events follow.
    Connected(HelloReply, Option<Snapshot>),
    /// The connection ended; a new one is being tried.
    Lost,
    /// There is no host and none could be started; it is tried again. For people.
    Unreachable(String),
    /// Something happened.
    Event(Box<Event>),
}

/// What comes out of a pane.
#[derive(Debug)]
pub enum Output {
    /// The stream begins: a snapshot of the screen first.
    Attached(PaneAttached),
    /// Bytes for the terminal.
    Bytes(Vec<u8>),
    /// The stream is over: its program ended, or the host is gone, or it refused.
    Ended(Option<ClientError>),
}

/// A pane's byte stream. Dropping it detaches.
#[derive(Debug)]
pub struct Attachment {
    /// From the pane.
    pub output: async_channel::Receiver<Output>,
    /// To the pane: typing, as bytes.
    pub input: async_channel::Sender<Vec<u8>>,
}

/// The way to the host.
#[derive(Debug)]
pub struct Bridge {
    runtime: Option<Runtime>,
    socket: PathBuf,
    link: watch::Receiver<Option<Client>>,
}

impl Bridge {
    /// Starts the runtime and its first attempt to connect. `may_start`: a host is started where none runs.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(
        start: StartHost,
        may_start: bool,
    ) -> std::io::Result<(Self, async_channel::Receiver<Update>)> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("signaltty-bridge")
            .enable_all()
            .build()?;
        let (updates, received) = async_channel::bounded(UPDATES_MAX);
        let (set_link, link) = watch::channel(None);
        let socket = start.socket.clone();
        runtime.spawn(keep_connected(start, may_start, updates, set_link));
        Ok((
            Self {
                runtime: Some(runtime),
                socket,
                link,
            },
            received,
        ))
    }

    /// Calls a method. The future may be awaited on the main loop.
    ///
    /// # Errors
    /// As [`Client::call`]; [`ClientError::NoHost`] while there is no connection: then nothing was sent.
    pub async fn call<M>(&self, params: M::Params) -> Result<M::Reply, ClientError>
    where
        M: Method,
        M::Params: Send + 'static,
        M::Reply: Send + 'static,
    {
        let client = self
            .link
            .borrow()
            .clone()
            .ok_or_else(|| ClientError::NoHost {
                socket: self.socket.display().to_string(),
                source: std::io::ErrorKind::NotConnected.into(),
            })?;
        let runtime = self.runtime.as_ref().ok_or(ClientError::Lost)?;
        let call = runtime.spawn(async move { client.call::<M>(params).await });
        call.await.unwrap_or(Err(ClientError::Lost))
    }

    /// Opens a pane's byte stream.
    pub fn attach(&self, params: PaneAttachParams) -> Attachment {
        let (output_in, output) = async_channel::bounded(PORTIONS_MAX);
        let (input, input_out) = async_channel::bounded(TYPED_MAX);
        if let Some(runtime) = &self.runtime {
            runtime.spawn(stream(self.socket.clone(), params, output_in, input_out));
        }
        Attachment { output, input }
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        // Not the runtime's own drop, which would wait on the main loop for its tasks.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn hello(role: Role) -> HelloParams {
    HelloParams {
        protocol: PROTOCOL,
        client: concat!("signaltty-gtk ", env!("CARGO_PKG_VERSION")).into(),
        role,
    }
}

/// Where the events of a run of the host were left off.
type Known = Option<(String, u64)>;

async fn keep_connected(
    start: StartHost,
    mut may_start: bool,
    updates: async_channel::Sender<Update>,
    link: watch::Sender<Option<Client>>,
) {
    let mut known: Known = None;
    let mut pause = RETRY_FIRST;
    loop {
        match connect(&start, may_start, &known).await {
            Ok((client, mut events, subscribed)) => {
                pause = RETRY_FIRST;
                let whole = match subscribed {
                    Subscribed::Whole(snapshot) => {
                        known = Some((snapshot.epoch.clone(), snapshot.seq));
                        Some(snapshot)
                    }
                    Subscribed::Since { .. } => None,
                };
                let hello = client.hello().clone();
                // A host that was started from inside a pane would end with it, and count as a part of it.
                may_start &= !hello.inside;
                link.send_replace(Some(client));
                if updates.send(Update::Connected(hello, whole)).await.is_err() {
                    return;
                }
                while let Some(frame) = events.recv().await {
                    match (&frame.event, &mut known) {
                        (Event::Resync(snapshot), known) => {
                            *known = Some((snapshot.epoch.clone(), snapshot.seq))
                        }
                        (_, Some((_, seq))) => *seq = frame.seq,
                        (_, None) => {}
                    }
                    if updates
                        .send(Update::Event(Box::new(frame.event)))
                        .await
                        .is_err()
                    {
                        return;
                    }
                }
                link.send_replace(None);
                if updates.send(Update::Lost).await.is_err() {
                    return;
                }
            }
            Err(error) => {
                tracing::warn!(%error, "no connection to the host");
                if updates
                    .send(Update::Unreachable(error.to_string()))
                    .await
                    .is_err()
                {
                    return;
                }
            }
        }
        sleep(pause).await;
        pause = (pause * 2).min(RETRY_MAX);
    }
}

async fn connect(
    start: &StartHost,
    may_start: bool,
    known: &Known,
) -> Result<(Client, Events, Subscribed), ClientError> {
    let hello = hello(Role::Operator);
    let (client, events) = if may_start {
        client::connect_or_start(start, hello).await?
    } else {
        Client::connect(&start.socket, hello).await?
    };
    let (epoch, from) = known.clone().unzip();
    let subscribed = client.subscribe(SubscribeParams { epoch, from }).await?;
    Ok((client, events, subscribed))
}

/// Carries one pane's bytes both ways until either side ends.
async fn stream(
    socket: PathBuf,
    params: PaneAttachParams,
    output: async_channel::Sender<Output>,
    input: async_channel::Receiver<Vec<u8>>,
) {
    let ended = match attach(&socket, params).await {
        Ok((attached, stream)) => {
            if output.send(Output::Attached(attached)).await.is_err() {
                return;
            }
            let (mut read, mut write) = stream.into_split();
            let typing = async {
                while let Ok(bytes) = input.recv().await {
                    if write.write_all(&bytes).await.is_err() {
                        break;
                    }
                }
                // Whoever typed has let go of the pane; a socket that takes no more ends the reading below.
                input.is_closed()
            };
            let reading = async {
                let mut buffer = vec![0; READ_SIZE];
                loop {
                    match read.read(&mut buffer).await {
                        Ok(0) | Err(_) => break,
                        Ok(count) => {
                            let bytes = buffer.get(..count).unwrap_or_default().to_vec();
                            if output.send(Output::Bytes(bytes)).await.is_err() {
                                break;
                            }
                        }
                    }
                }
            };
            tokio::pin!(reading);
            tokio::select! {
                () = &mut reading => {}
                let_go = typing => if !let_go { reading.await },
            }
            None
        }
        Err(error) => Some(error),
    };
    let _ = output.send(Output::Ended(ended)).await;
}

async fn attach(
    socket: &Path,
    params: PaneAttachParams,
) -> Result<(PaneAttached, UnixStream), ClientError> {
    client::attach(socket, hello(Role::Operator), params).await
}
