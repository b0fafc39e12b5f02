//! One pane's terminal while its host lives: the screen, its viewers, its input.
//!
//! A thread reads the PTY and feeds the screen; what viewers may see goes to each one's backlog. Input goes to
//! the PTY as far as it takes it. The order of locks is core before screen, and the thread holds neither when
//! it takes the other.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::sleep;

use super::clock;
use super::keeper::PaneMemory;
use super::pty::{Output, Pty, PtyReader};
use super::state::Host;
use super::terminal::{Backlog, Fed, Terminal};
use crate::model::{Pane, PaneId, Size};
use crate::protocol::params::{Colors, ReadWhat};
use crate::session::{Command, StreamSignal};

/// Replies to terminal queries that wait for the PTY. A program that asks without reading loses answers.
const REPLIES_MAX: usize = 64;
/// How long input waits for a program that does not read it.
pub const INPUT_WAIT: Duration = Duration::from_secs(2);
/// Bytes that one viewer is sent at once.
const WRITE_MAX: usize = 256 * 1024;
/// Longest checkpoint of a screen, in bytes: what the keeper takes at most, halved, because it is written while
/// the program floods.
const CHECKPOINT_MAX: usize = super::keeper::SNAPSHOT_MAX / 2;
/// Least time between two snapshots into a pane's memory while it floods.
const MEMORY_PAUSE_MS: u64 = 100;

/// Names one viewer in this run of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ViewerId(pub u64);

/// What the next host has to know of a pane; the keeper holds it, unread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Its folder.
    pub cwd: String,
    /// The title that a person gave.
    pub title: Option<String>,
    /// The agent, once known.
    pub agent: Option<String>,
    /// The agent's own id of its session.
    pub session_id: Option<String>,
    /// Size of the terminal.
    pub size: Size,
    /// The pane whose program opened it.
    pub opened_by: Option<PaneId>,
    /// Milliseconds since the Unix epoch.
    pub created_at: i64,
}

/// A pane's terminal.
pub struct PaneRuntime {
    id: PaneId,
    host: Weak<Host>,
    pty: Pty,
    reader: Mutex<Option<PtyReader>>,
    screen: Mutex<Screen>,
    record: Mutex<Record>,
    replies: mpsc::Sender<Vec<u8>>,
    /// True once the PTY gave its last byte.
    drained: watch::Sender<bool>,
}

/// What the screen's lock guards.
struct Screen {
    terminal: Terminal,
    memory: PaneMemory,
    remembered_ms: u64,
    viewers: Vec<Viewer>,
    fed: Fed,
    /// The pane is over: viewers get what they still have, then their connection ends.
    ended: bool,
}

/// One connection that shows the pane.
struct Viewer {
    id: ViewerId,
    /// Its process: a resize by the same process is this viewer's too.
    pid: i32,
    /// The size that it has when it types.
    size: Option<Size>,
    backlog: Backlog,
    wake: Arc<Notify>,
}

impl PaneRuntime {
    /// Puts the parts together. Reading begins with [`Self::start`].
    pub fn new(
        host: &Host,
        id: PaneId,
        pty: Pty,
        memory: PaneMemory,
        terminal: Terminal,
        record: Record,
    ) -> Arc<Self> {
        let (replies, to_write) = mpsc::channel(REPLIES_MAX);
        host.runtime.spawn(write_replies(pty.clone(), to_write));
        let screen = Screen {
            terminal,
            memory,
            remembered_ms: 0,
            viewers: Vec::new(),
            fed: Fed::default(),
            ended: false,
        };
        Arc::new(Self {
            id,
            host: host
                .handle()
                .map_or_else(Weak::new, |host| Arc::downgrade(&host)),
            pty,
            reader: Mutex::new(None),
            screen: Mutex::new(screen),
            record: Mutex::new(record),
            replies,
            drained: watch::Sender::new(false),
        })
    }

    /// Begins to read, on a thread of its own.
    ///
    /// # Errors
    /// No thread is to be had.
    pub fn start(self: &Arc<Self>) -> std::io::Result<()> {
        let pane = Arc::downgrade(self);
        let reader = self.pty.read(&format!("pane {}", self.id), move |output| {
            let Some(pane) = pane.upgrade() else { return };
            match output {
                Output::Bytes(bytes) => pane.take(bytes),
                Output::End(_) => {
                    pane.drained.send_replace(true);
                }
            }
        })?;
        *self.reader.lock().unwrap_or_else(PoisonError::into_inner) = Some(reader);
        Ok(())
    }

    /// The terminal's size.
    pub fn size(&self) -> Size {
        self.screen().terminal.size()
    }

    /// The title that the program set. Untrusted.
    pub fn title(&self) -> Option<String> {
        self.screen().terminal.title().map(str::to_owned)
    }

    /// The screen's text. Untrusted.
    pub fn text(&self, what: ReadWhat, lines: Option<usize>) -> String {
        self.screen().terminal.text(what, lines)
    }

    /// Answers to colour queries are these from now on.
    pub fn set_colors(&self, colors: &Colors) {
        self.screen().terminal.set_colors(colors);
    }

    /// Gives the terminal a size. Viewers of the process `pid` have that size from now on.
    pub fn resize(&self, size: Size, pid: Option<i32>) {
        {
            let mut screen = self.screen();
            for viewer in &mut screen.viewers {
                if pid == Some(viewer.pid) {
                    viewer.size = Some(size);
                }
            }
            if screen.terminal.size() == size {
                return;
            }
            screen.terminal.resize(size);
        }
        if let Err(error) = self.pty.resize(size) {
            tracing::debug!(pane = %self.id, %error, "a terminal could not be resized");
        }
    }

    /// Tells the program that its size may be another, so that it draws itself again.
    pub fn nudge(&self) {
        let size = self.size();
        // The kernel signals a change alone, so the size is another one for a moment.
        let other = Size {
            rows: if size.rows > 1 {
                size.rows - 1
            } else {
                size.rows + 1
            },
            ..size
        };
        if self
            .pty
            .resize(other)
            .and_then(|()| self.pty.resize(size))
            .is_err()
        {
            tracing::debug!(pane = %self.id, "a terminal could not be nudged");
        }
    }

    /// A new viewer; its backlog begins with the snapshot.
    pub fn add_viewer(&self, id: ViewerId, pid: i32, size: Option<Size>) -> ViewerId {
        let mut screen = self.screen();
        let mut backlog = Backlog::default();
        backlog.restart(&screen.snapshot());
        screen.viewers.push(Viewer {
            id,
            pid,
            size,
            backlog,
            wake: Arc::new(Notify::new()),
        });
        id
    }

    /// A viewer is gone.
    pub fn remove_viewer(&self, id: ViewerId) {
        self.screen().viewers.retain(|viewer| viewer.id != id);
    }

    /// The size that this viewer claims by typing, if the terminal has another.
    pub fn claim_size(&self, id: ViewerId) -> Option<Size> {
        let screen = self.screen();
        let size = screen.viewers.iter().find(|viewer| viewer.id == id)?.size?;
        (size != screen.terminal.size()).then_some(size)
    }

    /// Waits for output for this viewer. False once the pane is over and everything was given.
    pub async fn next_output(&self, id: ViewerId, chunk: &mut Vec<u8>) -> bool {
        loop {
            let wake = {
                let mut screen = self.screen();
                let fell_behind = |viewer: &Viewer| viewer.id == id && viewer.backlog.overflowed();
                // What it missed is in the snapshot.
                let snapshot = screen
                    .viewers
                    .iter()
                    .any(fell_behind)
                    .then(|| screen.snapshot());
                let screen = &mut *screen;
                let Some(viewer) = screen.viewers.iter_mut().find(|viewer| viewer.id == id) else {
                    return false;
                };
                if let Some(snapshot) = snapshot {
                    viewer.backlog.restart(&snapshot);
                }
                let waiting = viewer.backlog.waiting();
                if !waiting.is_empty() {
                    chunk.extend_from_slice(&waiting[..waiting.len().min(WRITE_MAX)]);
                    viewer.backlog.take(chunk.len());
                    return true;
                }
                if screen.ended {
                    return false;
                }
                viewer.wake.clone()
            };
            wake.notified().await;
        }
    }

    /// Types, as far as the program reads. Gives the number of bytes that the terminal took.
    pub async fn type_input(&self, bytes: &[u8]) -> usize {
        match self.pty.write(bytes, INPUT_WAIT).await {
            Ok(()) => bytes.len(),
            Err(error) => {
                tracing::debug!(pane = %self.id, %error, "input was not taken whole");
                error.written()
            }
        }
    }

    /// Types an answer at once, before anything that is typed later: all of it, or it does not count.
    pub fn type_answer(&self, bytes: &[u8]) -> bool {
        match self.pty.write_now(bytes) {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(pane = %self.id, %error, "an answer was not taken whole");
                false
            }
        }
    }

    /// The program has ended: what the terminal still holds is read, then viewers are let go.
    pub async fn finish(&self) {
        if let Some(reader) = self
            .reader
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .as_ref()
        {
            reader.finish();
        }
        let mut drained = self.drained.subscribe();
        let _ = tokio::time::timeout(DRAIN_MAX, drained.wait_for(|done| *done)).await;
        let mut screen = self.screen();
        screen.ended = true;
        for viewer in &screen.viewers {
            viewer.wake.notify_one();
        }
    }

    /// Keeps with the keeper what the next host has to know, where it is different now.
    pub fn remember(&self, pane: &Pane) {
        let mut record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        let new = Record {
            agent: pane.agent.clone(),
            session_id: pane.session_id.clone(),
            size: pane.size,
            // A title that the program set comes back with its screen.
            title: record.title.clone(),
            ..record.clone()
        };
        if new == *record {
            return;
        }
        *record = new;
        self.keep(&record);
    }

    /// The same for the title that a person gave.
    pub fn remember_title(&self, title: Option<String>) {
        let mut record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        record.title = title;
        self.keep(&record);
    }

    fn keep(&self, record: &Record) {
        let (Some(host), Ok(meta)) = (self.host.upgrade(), serde_json::to_vec(record)) else {
            return;
        };
        let id = self.id.clone();
        let runtime = host.runtime.clone();
        runtime.spawn(async move {
            if let Err(error) = host.keeper.set_meta(&id, meta).await {
                tracing::debug!(pane = %id, %error, "the keeper did not take a pane's record");
            }
        });
    }

    /// Output of the program, on the reading thread.
    fn take(self: &Arc<Self>, bytes: &[u8]) {
        let now = clock::boot_ms();
        let (signals, held_until) = {
            let mut screen = self.screen();
            let screen = &mut *screen;
            // Before anybody is shown it: what was seen is then what comes back.
            if let Err(error) = screen.memory.append(bytes) {
                tracing::warn!(pane = %self.id, %error, "output is not kept for the next host");
            }
            screen.terminal.feed(bytes, now, &mut screen.fed);
            screen.show();
            screen.remember(now, &self.id);
            if !screen.fed.replies.is_empty() {
                let _ = self
                    .replies
                    .try_send(std::mem::take(&mut screen.fed.replies));
            }
            (
                std::mem::take(&mut screen.fed.signals),
                screen.terminal.deadline(),
            )
        };
        if let Some(deadline) = held_until {
            self.expire_at(deadline, now);
        }
        self.tell(signals);
    }

    /// A synchronized update that does not end is shown when its time is over.
    fn expire_at(self: &Arc<Self>, deadline: u64, now: u64) {
        let (Some(host), pane) = (self.host.upgrade(), Arc::downgrade(self)) else {
            return;
        };
        host.runtime.spawn(async move {
            sleep(Duration::from_millis(deadline.saturating_sub(now) + 1)).await;
            let Some(pane) = pane.upgrade() else { return };
            let mut screen = pane.screen();
            let screen = &mut *screen;
            screen.terminal.expire(clock::boot_ms(), &mut screen.fed);
            screen.show();
        });
    }

    fn tell(&self, signals: Vec<StreamSignal>) {
        let Some(host) = self.host.upgrade() else {
            return;
        };
        for signal in signals {
            let command = Command::Stream {
                pane_id: self.id.clone(),
                signal,
            };
            if let Err(error) = host.drive(command) {
                tracing::debug!(pane = %self.id, %error, "a signal of a pane that is gone");
            }
        }
    }

    fn screen(&self) -> MutexGuard<'_, Screen> {
        self.screen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long the last output of an ended program is waited for.
const DRAIN_MAX: Duration = Duration::from_secs(2);

impl Screen {
    /// Hands viewers what they may see now.
    fn show(&mut self) {
        if self.fed.viewers.is_empty() {
            return;
        }
        for viewer in &mut self.viewers {
            viewer.backlog.push(&self.fed.viewers);
            viewer.wake.notify_one();
        }
        self.fed.viewers.clear();
    }

    /// A snapshot for one viewer. What it holds and the others have not seen yet is handed to them.
    fn snapshot(&mut self) -> Vec<u8> {
        let snapshot = self.terminal.snapshot(&mut self.fed);
        self.show();
        snapshot
    }

    /// Writes a snapshot into the pane's memory when enough output came since the last one.
    fn remember(&mut self, now: u64, id: &PaneId) {
        if !self.memory.wants_snapshot() || now.saturating_sub(self.remembered_ms) < MEMORY_PAUSE_MS
        {
            return;
        }
        self.remembered_ms = now;
        let checkpoint = self.terminal.checkpoint(CHECKPOINT_MAX);
        if let Err(error) = self.memory.write_snapshot(&checkpoint) {
            tracing::warn!(pane = %id, %error, "a screen is not kept for the next host");
        }
    }
}

async fn write_replies(pty: Pty, mut replies: mpsc::Receiver<Vec<u8>>) {
    while let Some(reply) = replies.recv().await {
        if let Err(error) = pty.write(&reply, INPUT_WAIT).await {
            tracing::debug!(%error, "a query's answer was not taken");
        }
    }
}
