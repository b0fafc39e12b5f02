//! What the host owns, and the one way to change it.
//!
//! Everything that happens becomes a command to the session state machine under one lock; its events are
//! published and its effects carried out before the lock is given back, so that every subscriber sees one
//! order. Nothing here waits: a write that would is handed to the task or thread that owns the descriptor.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::{Notify, broadcast, oneshot, watch};

use super::clock;
use super::delivery::Delivery;
use super::hook_peer::HookPeer;
use super::keeper::Keeper;
use super::pane_runtime::PaneRuntime;
use super::paths::HostPaths;
use super::probe::Known;
use super::publish::Publisher;
use super::storage::Storage;
use crate::adapter::Adapters;
use crate::answer::Applied;
use crate::model::{DecisionId, Exit, HookId, Lifecycle, PaneId};
use crate::protocol::params::HostInfoReply;
use crate::protocol::{Event, PROTOCOL, PROTOCOL_MIN, Snapshot, WireError};
use crate::session::{Command, Effect, Reported, Session, SessionConfig, SessionError};

/// Lifecycles that a waiter may be behind before it looks again.
const LIFECYCLES: usize = 1_024;

/// The host, shared by its tasks and threads.
pub struct Host {
    /// The adapters of this build.
    pub adapters: Adapters,
    /// The process that holds the terminals.
    pub keeper: Keeper,
    /// What agents' programs said that they know.
    pub probed: Known,
    /// The `signaltty` program, for the integrations' shim.
    pub program: PathBuf,
    /// Where this host's sockets are.
    pub paths: HostPaths,
    /// What outlives this host.
    pub storage: Storage,
    /// Told whenever the session's next deadline may be another.
    pub deadline_moved: Notify,
    /// Told when the host is to end.
    pub shutdown: Notify,
    /// How many connections there are.
    pub connections: Arc<AtomicUsize>,
    /// Whether a subscriber has missed something and is owed the whole state.
    pub lagging: AtomicBool,
    /// Whether the panes' programs are ended with the host.
    pub close_panes: AtomicBool,
    /// Every lifecycle that any pane passes through.
    pub lifecycles: broadcast::Sender<(PaneId, Lifecycle)>,
    /// Told whenever any pane may be different.
    pub changes: watch::Sender<()>,
    started_ms: u64,
    counter: AtomicU64,
    core: Mutex<Core>,
    /// Where tasks are spawned, also by threads that are none of the runtime's.
    pub runtime: tokio::runtime::Handle,
    me: Weak<Host>,
}

/// Warnings that wait for somebody to hear them.
const UNHEARD_MAX: usize = 16;

/// What the lock guards.
pub struct Core {
    /// The state machine.
    pub session: Session,
    /// The stream of events.
    pub publisher: Publisher,
    /// Terminals, by pane. A session without terminal has none.
    pub panes: HashMap<PaneId, Arc<PaneRuntime>>,
    /// Connections that wait for a verdict.
    pub hooks: HashMap<HookId, HookPeer>,
    /// Answerers that wait for the outcome of their answer.
    pub tickets: HashMap<u64, oneshot::Sender<Result<Applied, SessionError>>>,
    /// Verdicts that were sent and not confirmed yet.
    pub deliveries: HashMap<DecisionId, Delivery>,
    /// Connections with a human behind them.
    pub operators: BTreeSet<u64>,
    /// Panes whose spawn is not settled yet, and their end if it came already.
    pub spawning: HashMap<PaneId, Option<Exit>>,
    /// Refusals, by code.
    refusals: BTreeMap<String, u64>,
    /// Warnings that nobody was there to hear.
    unheard: Vec<String>,
}

impl Host {
    /// A host with nothing in it yet. Called inside the runtime that its tasks are to run on.
    pub fn new(
        adapters: Adapters,
        keeper: Keeper,
        program: PathBuf,
        paths: HostPaths,
        epoch: String,
    ) -> Arc<Self> {
        Arc::new_cyclic(|me| Self {
            adapters,
            keeper,
            probed: Known::default(),
            program,
            paths,
            storage: Storage::default(),
            deadline_moved: Notify::new(),
            shutdown: Notify::new(),
            connections: Arc::new(AtomicUsize::new(0)),
            lagging: AtomicBool::new(false),
            close_panes: AtomicBool::new(false),
            lifecycles: broadcast::Sender::new(LIFECYCLES),
            changes: watch::Sender::new(()),
            started_ms: clock::boot_ms(),
            counter: AtomicU64::new(1),
            core: Mutex::new(Core {
                session: Session::new(SessionConfig::default()),
                publisher: Publisher::new(epoch),
                panes: HashMap::new(),
                hooks: HashMap::new(),
                tickets: HashMap::new(),
                deliveries: HashMap::new(),
                operators: BTreeSet::new(),
                spawning: HashMap::new(),
                refusals: BTreeMap::new(),
                unheard: Vec::new(),
            }),
            runtime: tokio::runtime::Handle::current(),
            me: me.clone(),
        })
    }

    /// A number that this run of the host has not given before.
    pub fn next(&self) -> u64 {
        self.counter.fetch_add(1, Ordering::Relaxed)
    }

    /// Takes the lock. A thread that panicked under it lost its own request and nothing of the state that
    /// the session had not finished with, so the others go on.
    pub fn core(&self) -> MutexGuard<'_, Core> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands a command to the session and does what comes of it.
    ///
    /// # Errors
    /// The session's refusal; then nothing changed.
    pub fn drive(&self, command: Command) -> Result<Option<Reported>, SessionError> {
        let mut core = self.core();
        self.drive_locked(&mut core, command)
    }

    /// The same for who holds the lock already.
    ///
    /// # Errors
    /// As [`Self::drive`].
    pub fn drive_locked(
        &self,
        core: &mut Core,
        command: Command,
    ) -> Result<Option<Reported>, SessionError> {
        let outcome = core
            .session
            .apply(command, clock::now(), &mut mint_decision_id)?;
        let reported = outcome.reported.clone();
        let mut follow_ups = VecDeque::new();
        self.settle(core, outcome.events, outcome.effects, &mut follow_ups);
        // What an effect leads to (a write that failed at once) is itself a command. Each decision is
        // delivered at most once, so this ends.
        while let Some(command) = follow_ups.pop_front() {
            match core
                .session
                .apply(command, clock::now(), &mut mint_decision_id)
            {
                Ok(outcome) => self.settle(core, outcome.events, outcome.effects, &mut follow_ups),
                Err(error) => tracing::warn!(%error, "an effect's outcome was refused"),
            }
        }
        self.deadline_moved.notify_one();
        self.changes.send_replace(());
        Ok(reported)
    }

    fn settle(
        &self,
        core: &mut Core,
        events: Vec<Event>,
        effects: Vec<Effect>,
        follow_ups: &mut VecDeque<Command>,
    ) {
        for event in events {
            if let Event::PaneUpdated { pane } | Event::PaneCreated { pane } = &event {
                if let Some(runtime) = core.panes.get(&pane.id) {
                    runtime.remember(pane);
                }
            }
            if let Event::PaneUpdated { pane } = &event {
                // Nobody waits: nobody is told.
                let _ = self.lifecycles.send((pane.id.clone(), pane.lifecycle));
            }
            if let Event::PaneClosed { pane_id } = &event {
                core.panes.remove(pane_id);
            }
            self.storage.record(&event, clock::now().wall_ms);
            core.publisher.publish(event);
        }
        self.catch_up(core);
        for effect in effects {
            match effect {
                Effect::Deliver { .. } => {
                    if let Some(command) = super::delivery::begin(self, core, effect) {
                        follow_ups.push_back(command);
                    }
                }
                Effect::Release { hook, decision_id } => {
                    if let Some(peer) = core.hooks.remove(&hook) {
                        peer.verdict(&decision_id, "");
                    }
                }
                Effect::Answered { ticket, result } => {
                    if let Some(answerer) = core.tickets.remove(&ticket) {
                        // An answerer that went away meanwhile needs no reply.
                        let _ = answerer.send(result);
                    }
                }
            }
        }
    }

    /// Gives the whole state to subscribers that missed something and read again.
    pub fn catch_up(&self, core: &mut Core) {
        if core.publisher.any_lagging() {
            let state = core.snapshot();
            core.publisher.catch_up(|| state);
            self.lagging
                .store(core.publisher.any_lagging(), Ordering::Release);
        }
    }

    /// Tells people that something of the host needs care. Who subscribes first is told what came before.
    pub fn warn(&self, message: String) {
        let mut core = self.core();
        if core.unheard.len() < UNHEARD_MAX {
            core.unheard.push(message);
        }
        core.tell_warnings();
        self.catch_up(&mut core);
    }

    /// Counts a refusal for `host.info`.
    pub fn refused(&self, error: &WireError) {
        let code = serde_json::to_value(error.code).ok();
        if let Some(code) = code.as_ref().and_then(|code| code.as_str()) {
            *self.core().refusals.entry(code.to_owned()).or_default() += 1;
        }
    }

    /// `host.info`
    pub fn info(&self) -> HostInfoReply {
        let core = self.core();
        let panes = core.session.panes();
        let pending = panes.iter().filter(|pane| pane.decision.is_some()).count();
        let queued: usize = panes.iter().map(|pane| pane.queued).sum();
        let count = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        HostInfoReply {
            host: env!("CARGO_PKG_VERSION").into(),
            epoch: core.publisher.epoch().into(),
            pid: std::process::id(),
            keeper_pid: self.keeper.pid(),
            protocol: PROTOCOL,
            protocol_min: PROTOCOL_MIN,
            uptime_ms: clock::boot_ms().saturating_sub(self.started_ms),
            counts: BTreeMap::from([
                ("panes".into(), count(panes.len())),
                (
                    "connections".into(),
                    count(self.connections.load(Ordering::Relaxed)),
                ),
                ("operators".into(), count(core.operators.len())),
                ("pending".into(), count(pending)),
                ("queued".into(), count(queued)),
            ]),
            refusals: core.refusals.clone(),
        }
    }

    /// A handle for a task or thread that outlives the call.
    pub fn handle(&self) -> Option<Arc<Self>> {
        self.me.upgrade()
    }
}

impl Core {
    /// Tells the warnings that nobody has heard, if somebody listens now.
    pub fn tell_warnings(&mut self) {
        if self.publisher.is_heard() {
            for message in std::mem::take(&mut self.unheard) {
                self.publisher.publish(Event::HostWarning { message });
            }
        }
    }

    /// Panes that there are or are about to be.
    pub fn panes_and_coming(&self) -> usize {
        self.session.panes().len() + self.spawning.len()
    }

    /// The whole state, as `subscribe` and `resync` tell it.
    pub fn snapshot(&self) -> Snapshot {
        self.session
            .snapshot(self.publisher.epoch(), self.publisher.seq())
    }
}

fn mint_decision_id() -> DecisionId {
    DecisionId::from_trusted(ulid::Ulid::new().to_string())
}
