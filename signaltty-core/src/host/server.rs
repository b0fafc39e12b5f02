//! Starting the host, listening, and ending it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::net::UnixListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::caller::Peer;
use super::connection::{self, Slot};
use super::keeper::{HeldPane, Keeper, KeeperError, KeeperEvent};
use super::lock::{HostLock, LockError};
use super::paths::{self, HostPaths};
use super::state::Host;
use super::storage::Storage;
use super::{clock, hardening, spawn};
use crate::adapter::Adapters;
use crate::limits::CONNECTIONS_MAX;
use crate::paths::PathError;
use crate::protocol::{ErrorCode, WireError};
use crate::session::{Command, keep_in_layout};

/// How a host is started.
#[derive(Debug, Clone)]
pub struct Options {
    /// The `signaltty` program: run as the keeper, and named in the integrations' shim.
    pub program: PathBuf,
    /// How long to wait for an earlier host to end; `None`: not at all.
    pub wait_for_lock: Option<Duration>,
}

/// Why there is no host.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// Another host runs.
    #[error("a host is running already")]
    AlreadyRunning,
    /// The socket's folder cannot be used.
    #[error(transparent)]
    Paths(#[from] PathError),
    /// The lock cannot be taken.
    #[error(transparent)]
    Lock(LockError),
    /// The keeper could not be reached or started.
    #[error(transparent)]
    Keeper(#[from] KeeperError),
    /// The runtime could not be built.
    #[error("the host could not start: {0}")]
    Runtime(#[from] std::io::Error),
}

/// Runs the host until it is told to end. Blocks; builds its own runtime.
///
/// # Errors
/// Why it could not start. A host that runs ends without an error.
pub fn run(options: Options, adapters: Adapters) -> Result<(), HostError> {
    // A session of its own: closing the terminal that started it does not end it. Where it leads a process
    // group already (a shell's foreground job) it stays there.
    let _ = rustix::process::setsid();
    hardening::make_undumpable()?;
    hardening::raise_file_limit();
    let paths = HostPaths::from_env()?;
    paths::prepare_folder(&paths)?;
    let lock = HostLock::take(&paths.lock, options.wait_for_lock).map_err(|error| match error {
        LockError::Held { .. } => HostError::AlreadyRunning,
        other => HostError::Lock(other),
    })?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let result = runtime.block_on(serve(options, adapters, &paths, &lock));
    runtime.shutdown_timeout(Duration::from_millis(200));
    drop(lock);
    result
}

async fn serve(
    options: Options,
    adapters: Adapters,
    paths: &HostPaths,
    lock: &HostLock,
) -> Result<(), HostError> {
    let (keeper, held, keeper_events) =
        Keeper::connect_or_start(paths, lock, &options.program).await?;
    let epoch = ulid::Ulid::new().to_string();
    let host = Host::new(adapters, keeper, options.program, paths.clone(), epoch);
    let weak = Arc::downgrade(&host);
    host.storage
        .start(Storage::file(paths).as_deref(), move |message| {
            if let Some(host) = weak.upgrade() {
                host.warn(message);
            }
        });
    take_over(&host, held);
    restore_layout(&host).await;
    let listener = listen(paths)?;
    tracing::info!(
        pid = std::process::id(),
        keeper = host.keeper.pid(),
        "listening"
    );
    tokio::spawn(keeper_told(host.clone(), keeper_events));
    tokio::spawn(deadlines(host.clone()));
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        () = accept(&host, listener) => {}
        () = host.shutdown.notified() => {}
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    let _ = std::fs::remove_file(&paths.host);
    if host.close_panes.load(Ordering::Acquire) {
        if let Err(error) = host.keeper.shutdown(spawn::CLOSE_GRACE).await {
            tracing::warn!(%error, "the panes could not all be ended");
        }
    }
    host.storage.close();
    Ok(())
}

/// The lock is held, so whatever lies at the socket's path is nobody's.
fn listen(paths: &HostPaths) -> Result<UnixListener, HostError> {
    let socket = std::os::unix::net::UnixListener::from(paths::bind_socket(&paths.host)?);
    socket.set_nonblocking(true)?;
    Ok(UnixListener::from_std(socket)?)
}

async fn accept(host: &Arc<Host>, listener: UnixListener) {
    let own_uid = rustix::process::getuid().as_raw();
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of descriptors: those who are connected go on, the next one waits a moment.
                tracing::warn!(%error, "a connection could not be accepted");
                sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let Some(slot) = Slot::take(&host.connections, CONNECTIONS_MAX) else {
            let message = format!("this host serves {CONNECTIONS_MAX} connections already");
            let error = WireError::new(ErrorCode::RateLimited, message);
            host.refused(&error);
            // One line that its buffer surely takes; whoever does not read it finds the connection closed.
            let line = format!("{}\n", serde_json::json!({ "id": null, "error": error }));
            let _ = stream.try_write(line.as_bytes());
            continue;
        };
        let host = host.clone();
        tokio::spawn(async move {
            let _slot = slot;
            match Peer::resolve(&host, &stream).await {
                Some(peer) if peer.uid == own_uid => connection::serve(host, stream, peer).await,
                _ => tracing::warn!("refused a connection of another user"),
            }
        });
    }
}

/// Panes that an earlier host left with the keeper.
fn take_over(host: &Arc<Host>, held: Vec<HeldPane>) {
    for pane in held {
        let pane_id = pane.pane_id.clone();
        if pane.meta.is_empty() {
            // A probe that an earlier host did not live to end.
            let host = host.clone();
            tokio::spawn(async move {
                let _ = host.keeper.end(&pane_id, Duration::ZERO).await;
                let _ = host.keeper.forget(&pane_id).await;
            });
            continue;
        }
        if let Err(error) = spawn::restore(host, pane) {
            tracing::warn!(%pane_id, %error, "a pane could not be taken over");
        }
    }
}

/// The arrangement that an earlier host left, as far as its panes are still there.
async fn restore_layout(host: &Host) {
    let Some(mut layout) = host.storage.layout().await else {
        return;
    };
    let mut core = host.core();
    keep_in_layout(&mut layout, |pane_id| core.session.pane(pane_id).is_some());
    if let Err(error) = host.drive_locked(&mut core, Command::SetLayout { layout }) {
        tracing::warn!(%error, "the layout of the last host could not be taken over");
    }
}

async fn keeper_told(host: Arc<Host>, mut events: mpsc::Receiver<KeeperEvent>) {
    while let Some(event) = events.recv().await {
        match event {
            KeeperEvent::Exited { pane_id, exit } => {
                tokio::spawn(spawn::exited(host.clone(), pane_id, exit));
            }
            KeeperEvent::Lost => break,
        }
    }
    // Without its keeper this host cannot vouch for who is inside a pane, and every terminal is gone: it says
    // so and ends. The next client starts a fresh one.
    if !host.close_panes.load(Ordering::Acquire) {
        tracing::error!("the keeper is gone, and every pane with it");
    }
    host.shutdown.notify_one();
}

/// Wakes the session at its deadlines.
async fn deadlines(host: Arc<Host>) {
    loop {
        let due = host.core().session.next_deadline();
        let wait = due.map(|due| Duration::from_millis(due.saturating_sub(clock::boot_ms())));
        tokio::select! {
            () = host.deadline_moved.notified() => continue,
            () = sleep(wait.map_or(IDLE, |wait| wait.min(LOOK_AGAIN))) => {}
        }
        if wait.is_some() {
            if let Err(error) = host.drive(Command::Tick) {
                tracing::warn!(%error, "a deadline could not be kept");
            }
        }
    }
}

/// How long to sleep where nothing is due.
const IDLE: Duration = Duration::from_secs(3_600);
/// Longest sleep before a deadline is looked at again: the sleep's own clock stands while the machine is
/// suspended, the deadline's does not.
const LOOK_AGAIN: Duration = Duration::from_secs(15);
