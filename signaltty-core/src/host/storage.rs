//! What outlives the host: which panes there were and how they were arranged, what was asked, and who answered
//! it when, by which way and how fast. Never what a terminal showed (`specs/040`).
//!
//! ```text
//! state (under the lock) ─► write ─► queue ─► writer (a thread) ─► database ─► history.db
//!                           cut      bounded   batches             SQLite
//! ```
//!
//! The host never waits for the disk: what cannot be written is counted, told once, and gone.

mod database;
mod queue;
mod schema;
#[cfg(test)]
mod tests;
mod write;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::paths::HostPaths;
use crate::model::Layout;
use crate::protocol::params::{
    HistoryForgetParams, HistoryForgotten, HistoryListParams, HistoryReply,
};
use crate::protocol::{ErrorCode, Event, WireError};
use queue::Queue;
use writer::Writer;

/// Writes that wait for the disk.
const WRITES_MAX: usize = 4_096;
/// Decisions that are kept.
const DECISIONS_MAX: usize = 100_000;
/// Panes that are kept after they closed.
const PANES_KEPT: usize = 10_000;
/// How long anything is kept after its end.
const AGE_MAX: Duration = Duration::from_secs(180 * 24 * 3_600);
/// Bytes of the file that may hold something. Beyond it the oldest go, whatever their number.
const FILE_MAX: i64 = 64 * 1024 * 1024;
/// Rows that go in one transaction.
const PRUNE_BATCH: usize = 500;
/// How long an asker waits for the disk.
const REPLY_MAX: Duration = Duration::from_secs(10);
/// How long the start of the host waits for the layout.
const LAYOUT_MAX: Duration = Duration::from_secs(2);
/// How long the end of the host waits for what is still to be written.
const CLOSE_MAX: Duration = Duration::from_secs(2);
/// Pause between two looks whether that is done.
const CLOSE_PAUSE: Duration = Duration::from_millis(5);

/// Why something is not kept, or not found.
#[derive(Debug, thiserror::Error)]
enum StorageError {
    /// The file system said no.
    #[error("{0}")]
    File(#[source] std::io::Error),
    /// A newer version wrote the file.
    #[error("a newer SignalTTY wrote it (version {found}, this one knows {known})")]
    Newer {
        /// The file's.
        found: usize,
        /// Ours.
        known: usize,
    },
    /// The database said no.
    #[error(transparent)]
    Database(#[from] rusqlite::Error),
    /// There is none.
    #[error("no history is kept: {0}")]
    Unavailable(String),
}

/// Something that the writer answers.
enum Request {
    /// `history.list`
    List(HistoryListParams, Reply<HistoryReply>),
    /// `history.forget`
    Forget(HistoryForgetParams, Reply<usize>),
    /// The arrangement of panes.
    Layout(Reply<Option<Layout>>),
}

type Reply<T> = oneshot::Sender<Result<T, StorageError>>;

impl Request {
    fn refuse(self, error: StorageError) {
        match self {
            Self::List(_, reply) => drop(reply.send(Err(error))),
            Self::Forget(_, reply) => drop(reply.send(Err(error))),
            Self::Layout(reply) => drop(reply.send(Err(error))),
        }
    }
}

/// The host's end of it.
#[derive(Default)]
pub struct Storage {
    queue: Arc<Queue>,
    writer: Mutex<Option<std::thread::JoinHandle<()>>>,
}

impl Storage {
    /// The file of the host with these sockets, as this process' environment says; `None` without a home.
    pub fn file(sockets: &HostPaths) -> Option<PathBuf> {
        schema::path(|name| std::env::var_os(name), sockets)
    }

    /// Starts the writer. What was recorded before waits for it. `warn` tells people, and may be called on
    /// any thread.
    pub fn start(&self, file: Option<&Path>, warn: impl Fn(String) + Send + 'static) {
        let Some(file) = file else {
            self.queue.close();
            tracing::warn!("neither XDG_STATE_HOME nor HOME is set: no history is kept");
            return warn("no history is kept: there is no home folder".into());
        };
        let writer = Writer::new(self.queue.clone(), file.to_owned(), Box::new(warn));
        let started = std::thread::Builder::new()
            .name("storage".into())
            .spawn(move || writer.run());
        match started {
            Ok(thread) => {
                *self.writer.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
            }
            Err(error) => {
                self.queue.close();
                tracing::warn!(%error, "no history is kept: its thread could not be started");
            }
        }
    }

    /// Keeps what an event tells. Waits for nothing. `at`: now, in milliseconds since the Unix epoch.
    pub fn record(&self, event: &Event, at: i64) {
        for write in write::of_event(event, at).into_iter().flatten() {
            self.queue.push(write);
        }
    }

    /// `history.list`, with everything that was recorded before.
    ///
    /// # Errors
    /// `BAD_PARAMS`, `RATE_LIMITED` where too many ask at once, `TIMEOUT`, `INTERNAL` where nothing is kept.
    pub async fn list(&self, wanted: HistoryListParams) -> Result<HistoryReply, WireError> {
        let most = crate::limits::HISTORY_MAX;
        if wanted
            .limit
            .is_some_and(|limit| !(1..=most).contains(&limit))
        {
            return Err(WireError::bad_params("limit", format!("1 to {most}")));
        }
        self.ask(REPLY_MAX, |reply| Request::List(wanted, reply))
            .await
    }

    /// `history.forget`
    ///
    /// # Errors
    /// As [`Self::list`].
    pub async fn forget(&self, what: HistoryForgetParams) -> Result<HistoryForgotten, WireError> {
        let decisions = self
            .ask(REPLY_MAX, |reply| Request::Forget(what, reply))
            .await?;
        Ok(HistoryForgotten { decisions })
    }

    /// The arrangement of panes that an earlier host left; `None` where there is none, or the disk is slow.
    pub async fn layout(&self) -> Option<Layout> {
        match self.ask(LAYOUT_MAX, Request::Layout).await {
            Ok(layout) => layout,
            Err(error) => {
                tracing::warn!(%error, "the layout of the last host is not known");
                None
            }
        }
    }

    async fn ask<T>(
        &self,
        limit: Duration,
        request: impl FnOnce(Reply<T>) -> Request,
    ) -> Result<T, WireError> {
        let (reply, answer) = oneshot::channel();
        if self.queue.ask(request(reply)).is_err() {
            let message = "the history is not kept, or too many ask for it at once";
            return Err(WireError::new(ErrorCode::RateLimited, message));
        }
        match tokio::time::timeout(limit, answer).await {
            Ok(Ok(Ok(answer))) => Ok(answer),
            Ok(Ok(Err(error))) => Err(WireError::new(ErrorCode::Internal, error.to_string())),
            Ok(Err(_)) => Err(WireError::new(ErrorCode::Internal, "the host ends")),
            Err(_) => Err(WireError::new(
                ErrorCode::Timeout,
                "the disk did not answer in time",
            )),
        }
    }

    /// Writes what waits, for at most [`CLOSE_MAX`]. Blocks; for the end of the host.
    pub fn close(&self) {
        self.queue.close();
        let thread = self
            .writer
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let Some(thread) = thread else { return };
        let deadline = Instant::now() + CLOSE_MAX;
        while !thread.is_finished() {
            if Instant::now() > deadline {
                tracing::warn!("the disk does not keep up: the last of the history is lost");
                return;
            }
            std::thread::sleep(CLOSE_PAUSE);
        }
        let _ = thread.join();
    }
}
