//! The writer's thread: the only one that touches the disk, and the only one that waits for it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::database::Database;
use super::queue::Queue;
use super::write::Write;
use super::{Request, StorageError};
use crate::host::clock;

/// How long writes are gathered into one transaction. What a host that is killed loses is no more than this.
const GATHER: Duration = Duration::from_millis(200);
/// How often the bounds are looked at where nothing is written.
const PRUNE_PAUSE: Duration = Duration::from_secs(3_600);
/// Writes between two looks at the bounds.
const PRUNE_EVERY: usize = 1_000;
/// How long a file that failed is left alone.
const RETRY: Duration = Duration::from_secs(30);

/// Tells people; called at most once a sort of trouble.
pub(super) type Warn = Box<dyn Fn(String) + Send>;

/// See the module.
pub(super) struct Writer {
    queue: Arc<Queue>,
    path: PathBuf,
    warn: Warn,
    database: Option<Database>,
    /// Why there is none, and since when.
    failed: Option<(StorageError, Instant)>,
    /// Whether this run has had the file open.
    begun: bool,
    told_failure: bool,
    told_dropped: bool,
    lost: u64,
    /// Writes since the last pruning.
    written: usize,
    prune_more: bool,
}

impl Writer {
    pub(super) fn new(queue: Arc<Queue>, path: PathBuf, warn: Warn) -> Self {
        Self {
            queue,
            path,
            warn,
            database: None,
            failed: None,
            begun: false,
            told_failure: false,
            told_dropped: false,
            lost: 0,
            // The first look is at the start.
            written: PRUNE_EVERY,
            prune_more: false,
        }
    }

    /// Until the queue is closed and empty.
    pub(super) fn run(mut self) {
        self.open();
        while self.turn() {}
        if self.lost > 0 {
            tracing::warn!(lost = self.lost, "history that was not written in this run");
        }
    }

    /// Opens the file where it is not open, and not within [`RETRY`] of the last failure.
    fn open(&mut self) {
        let resting = |(_, since): &(StorageError, Instant)| since.elapsed() < RETRY;
        if self.database.is_some() || self.failed.as_ref().is_some_and(resting) {
            return;
        }
        let opened = Database::open(&self.path).and_then(|mut database| {
            if !self.begun {
                database.end_left_open(clock::now().wall_ms)?;
            }
            Ok(database)
        });
        match opened {
            Ok(database) => {
                self.begun = true;
                if self.failed.take().is_some() {
                    tracing::info!("the history is written again");
                }
                self.database = Some(database);
            }
            Err(error) => self.fail(error),
        }
    }

    /// One batch. False after the last one.
    pub(super) fn turn(&mut self) -> bool {
        let idle = if self.prune_more { GATHER } else { PRUNE_PAUSE };
        let batch = self.queue.next(idle, GATHER);
        self.overflowed(batch.dropped);
        self.open();
        self.write(&batch.writes);
        let idle = batch.writes.is_empty() && batch.requests.is_empty();
        for request in batch.requests {
            self.serve(request);
        }
        if !batch.last {
            self.prune(idle);
        }
        !batch.last
    }

    fn write(&mut self, writes: &[Write]) {
        if writes.is_empty() {
            return;
        }
        self.written += writes.len();
        let written = self
            .database
            .as_mut()
            .map(|database| database.write(writes));
        if !matches!(written, Some(Ok(()))) {
            self.lost += writes.len() as u64;
        }
        if let Some(Err(error)) = written {
            self.fail(error);
        }
    }

    fn prune(&mut self, idle: bool) {
        if !(idle || self.prune_more || self.written >= PRUNE_EVERY) {
            return;
        }
        self.written = 0;
        let now = clock::now().wall_ms;
        match self.database.as_mut().map(|database| database.prune(now)) {
            Some(Ok(more)) => self.prune_more = more,
            Some(Err(error)) => self.fail(error),
            None => self.prune_more = false,
        }
    }

    /// An asker that went away meanwhile needs no reply.
    fn serve(&mut self, request: Request) {
        let Some(database) = &mut self.database else {
            let why = self
                .failed
                .as_ref()
                .map_or_else(String::new, |(error, _)| error.to_string());
            request.refuse(StorageError::Unavailable(why));
            return;
        };
        match request {
            Request::List(wanted, reply) => drop(reply.send(database.list(&wanted))),
            Request::Forget(what, reply) => drop(reply.send(database.forget(&what))),
            Request::Layout(reply) => drop(reply.send(database.layout())),
        }
    }

    /// The file is let go and tried again later: a disk that was full may have room then. Agents go on.
    fn fail(&mut self, error: StorageError) {
        tracing::warn!(%error, file = %self.path.display(), "the history is not written");
        if !std::mem::replace(&mut self.told_failure, true) {
            (self.warn)(format!(
                "the history of decisions is not kept: {error} ({}); agents and answers are not affected",
                self.path.display()
            ));
        }
        self.database = None;
        self.queue.write_panes_again();
        self.prune_more = false;
        self.failed = Some((error, Instant::now()));
    }

    /// The file is tried again at the next turn.
    #[cfg(test)]
    pub(super) fn retry_now(&mut self) {
        if let Some((_, since)) = &mut self.failed {
            *since = Instant::now().checked_sub(RETRY).unwrap();
        }
    }

    /// The file cannot grow any more.
    #[cfg(test)]
    pub(super) fn limit_pages(&self) {
        if let Some(database) = &self.database {
            database
                .connection
                .pragma_update(None, "max_page_count", 1)
                .unwrap();
        }
    }

    fn overflowed(&mut self, dropped: u64) {
        if dropped == 0 {
            return;
        }
        self.lost += dropped;
        tracing::warn!(dropped, "the disk does not keep up: history was lost");
        if !std::mem::replace(&mut self.told_dropped, true) {
            (self.warn)(format!(
                "the disk does not keep up: {dropped} entries of the history were lost; agents are not affected"
            ));
        }
    }
}
