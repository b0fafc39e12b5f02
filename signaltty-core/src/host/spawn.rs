//! Panes begin, come back, and end.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::hooks::mint_pane_id;
use super::keeper::{HeldPane, KeeperError, SpawnError, SpawnSpec, Spawned, Target};
use super::pane_runtime::{PaneRuntime, Record};
use super::probe;
use super::probe::find_program;
use super::pty::Pty;
use super::state::Host;
use super::terminal::Terminal;
use super::{clock, environment};
use crate::limits::{PANES_MAX, TITLE_MAX};
use crate::model::{Exit, PaneId, Size};
use crate::protocol::method::Nothing;
use crate::protocol::params::{Colors, PaneSignalParams, PaneSpawnParams, PaneSpawned};
use crate::protocol::{ErrorCode, WireError};
use crate::session::{Caller, Command, NewPane, StreamSignal};

/// How long a program has to end after SIGHUP before it is killed.
pub const CLOSE_GRACE: Duration = Duration::from_secs(2);
/// Arguments that a program may be started with.
const ARGS_MAX: usize = 1_024;

/// `pane.spawn`
///
/// # Errors
/// `BAD_PARAMS`, `SPAWN_FAILED` with the system's own words, `RATE_LIMITED` over [`PANES_MAX`].
pub async fn pane(
    host: &Arc<Host>,
    caller: &Caller,
    params: PaneSpawnParams,
) -> Result<PaneSpawned, WireError> {
    let program = params.argv.first().filter(|program| !program.is_empty());
    let Some(program) = program.cloned() else {
        return Err(WireError::bad_params(
            "argv",
            "a program and its arguments; it is empty",
        ));
    };
    if params.argv.len() > ARGS_MAX {
        return Err(WireError::bad_params(
            "argv",
            format!("at most {ARGS_MAX} arguments"),
        ));
    }
    if !Path::new(&params.cwd).is_absolute() {
        return Err(WireError::bad_params(
            "cwd",
            format!("an absolute path, not {:?}", params.cwd),
        ));
    }
    if host.core().panes_and_coming() >= PANES_MAX {
        let message = format!("there are {PANES_MAX} panes already; close one first");
        return Err(WireError::new(ErrorCode::RateLimited, message));
    }
    let title = params
        .title
        .map(|title| crate::sanitise::cut(&title, TITLE_MAX).into_owned())
        .filter(|title| !title.is_empty());
    let size = params.size.unwrap_or(Size::DEFAULT).clamped();
    let pane_id = free_id(host);
    let env = environment::of_pane(&params.env, &pane_id, &params.cwd, &host.paths);
    let (agent, argv) = with_proven_flags(host, &program, params.argv, &params.cwd, &env).await;
    let opened_by = match caller {
        Caller::Inside(pane_id) => pane_id.clone(),
        Caller::Outside => None,
    };
    let record = Record {
        argv: kept_arguments(&argv),
        cwd: params.cwd.clone(),
        title: title.clone(),
        agent: agent.clone(),
        session_id: None,
        size,
        opened_by: opened_by.clone(),
        created_at: clock::now().wall_ms,
    };
    let spec = SpawnSpec {
        pane_id: pane_id.clone(),
        argv: argv.iter().map(OsString::from).collect(),
        cwd: PathBuf::from(&params.cwd),
        env: env
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect(),
        size,
        meta: serde_json::to_vec(&record).unwrap_or_default(),
    };
    host.core().spawning.insert(pane_id.clone(), None);
    let result = settle(host, &pane_id, spec, record).await;
    let early = host.core().spawning.remove(&pane_id).flatten();
    result?;
    // The keeper may have told of its end while nobody knew the pane yet.
    if let Some(exit) = early {
        tokio::spawn(exited(host.clone(), pane_id.clone(), exit));
    }
    Ok(PaneSpawned { pane_id })
}

async fn settle(
    host: &Arc<Host>,
    pane_id: &PaneId,
    spec: SpawnSpec,
    record: Record,
) -> Result<(), WireError> {
    let size = spec.size;
    let spawned = host
        .keeper
        .spawn(spec)
        .await
        .map_err(|error| spawn_failed(&error))?;
    let shown = show(host, pane_id, spawned, size, record);
    if shown.is_err() {
        // Nobody could see it or end it: it does not go on behind everybody's back.
        if let Err(error) = host.drive(Command::ClosePane {
            pane_id: pane_id.clone(),
        }) {
            tracing::debug!(%pane_id, %error, "a pane that never opened");
        }
        let _ = host.keeper.end(pane_id, CLOSE_GRACE).await;
        let _ = host.keeper.forget(pane_id).await;
    }
    shown
}

/// Gives a program that runs its screen and its place among the panes.
fn show(
    host: &Arc<Host>,
    pane_id: &PaneId,
    spawned: Spawned,
    size: Size,
    record: Record,
) -> Result<(), WireError> {
    let failed = |error: std::io::Error| WireError::new(ErrorCode::SpawnFailed, error.to_string());
    let pty = Pty::new(spawned.master).map_err(failed)?;
    let terminal = Terminal::new(size, &Colors::default());
    let runtime = PaneRuntime::new(
        host,
        pane_id.clone(),
        pty,
        spawned.memory,
        terminal,
        record.clone(),
    );
    open(
        host,
        &runtime,
        pane_id.clone(),
        spawned.pid,
        record,
        Open::New,
    )?;
    runtime.start().map_err(failed)
}

/// A pane that an earlier host left: its screen as it was, and what came since.
///
/// # Errors
/// What kept it from being taken over; the keeper goes on holding it.
pub fn restore(host: &Arc<Host>, held: HeldPane) -> Result<(), WireError> {
    let internal =
        |error: &dyn std::fmt::Display| WireError::new(ErrorCode::Internal, error.to_string());
    let record: Record = serde_json::from_slice(&held.meta).map_err(|error| internal(&error))?;
    let restored = held.memory.restore().map_err(|error| internal(&error))?;
    let mut terminal = Terminal::new(record.size, &Colors::default());
    // Its queries were answered, and its signals told, by the host that saw them first.
    let mut fed = super::terminal::Fed::default();
    for bytes in [&restored.snapshot, &restored.tail] {
        terminal.feed(bytes, clock::boot_ms(), &mut fed);
    }
    let pty = Pty::new(held.master).map_err(|error| internal(&error))?;
    let runtime = PaneRuntime::new(
        host,
        held.pane_id.clone(),
        pty,
        held.memory,
        terminal,
        record.clone(),
    );
    let title = runtime.title();
    let pane_id = held.pane_id.clone();
    open(host, &runtime, pane_id, held.pid, record, Open::Restored)?;
    if let Some(title) = title {
        let signal = StreamSignal::Title(title);
        host.drive(Command::Stream {
            pane_id: held.pane_id.clone(),
            signal,
        })?;
    }
    runtime.start().map_err(|error| internal(&error))?;
    match held.exit {
        Some(exit) => drop(tokio::spawn(exited(host.clone(), held.pane_id, exit))),
        None => runtime.nudge(),
    }
    Ok(())
}

/// Whether a pane is a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    New,
    Restored,
}

fn open(
    host: &Arc<Host>,
    runtime: &Arc<PaneRuntime>,
    pane_id: PaneId,
    pid: i32,
    record: Record,
    how: Open,
) -> Result<(), WireError> {
    let mut core = host.core();
    core.panes.insert(pane_id.clone(), runtime.clone());
    let pane = NewPane {
        id: pane_id.clone(),
        argv: record.argv,
        cwd: record.cwd,
        pid: Some(pid),
        agent: record.agent,
        session_id: record.session_id,
        title: record.title,
        size: record.size,
        terminal: true,
        opened_by: record.opened_by,
        // The session takes a pane that was there before for one whose composer nobody knows.
        created_at: (how == Open::Restored).then_some(record.created_at),
    };
    if let Err(error) = host.drive_locked(&mut core, Command::OpenPane(pane)) {
        core.panes.remove(&pane_id);
        return Err(error.into());
    }
    Ok(())
}

/// The keeper tells that a pane's program has ended.
pub async fn exited(host: Arc<Host>, pane_id: PaneId, exit: Exit) {
    let runtime = {
        let mut core = host.core();
        match core.panes.get(&pane_id).cloned() {
            Some(runtime) => runtime,
            None => {
                // It ended before its spawn was settled, or it was closed meanwhile.
                if let Some(early) = core.spawning.get_mut(&pane_id) {
                    *early = Some(exit);
                }
                return;
            }
        }
    };
    let ending = Command::PaneExited {
        pane_id: pane_id.clone(),
        exit,
    };
    // First its last words, so that whoever sees it end has seen them.
    runtime.finish().await;
    if let Err(error) = host.drive(ending) {
        tracing::debug!(%pane_id, %error, "a pane that is gone has ended");
    }
}

/// `pane.close`
///
/// # Errors
/// `NO_SUCH_PANE`, or the keeper is lost.
pub async fn close(host: &Arc<Host>, pane_id: &PaneId) -> Result<Nothing, WireError> {
    let pane = super::dispatch::pane(host, pane_id)?;
    let lost = |error: KeeperError| WireError::new(ErrorCode::Internal, error.to_string());
    if pane.terminal && pane.exit.is_none() {
        let mut changes = host.changes.subscribe();
        match host.keeper.end(pane_id, CLOSE_GRACE).await {
            Ok(()) | Err(KeeperError::Ended) => {}
            Err(error) => return Err(lost(error)),
        }
        let ended = async {
            while host
                .core()
                .session
                .pane(pane_id)
                .is_some_and(|pane| pane.exit.is_none())
            {
                if changes.changed().await.is_err() {
                    break;
                }
            }
        };
        let _ = tokio::time::timeout(CLOSE_GRACE * 2, ended).await;
    }
    if pane.terminal {
        match host.keeper.forget(pane_id).await {
            Ok(()) | Err(KeeperError::NoSuchPane) => {}
            Err(error) => return Err(lost(error)),
        }
    }
    host.drive(Command::ClosePane {
        pane_id: pane_id.clone(),
    })?;
    Ok(Nothing {})
}

/// `pane.signal`
///
/// # Errors
/// `BAD_PARAMS` for a signal that is not known, `PANE_EXITED`.
pub async fn signal(host: &Arc<Host>, params: &PaneSignalParams) -> Result<Nothing, WireError> {
    super::dispatch::terminal(host, &params.pane_id)?;
    let name = params.signal.to_ascii_uppercase();
    let name = name.strip_prefix("SIG").unwrap_or(&name);
    let Some((_, number)) = SIGNALS.iter().find(|(known, _)| *known == name) else {
        let known: Vec<_> = SIGNALS.iter().map(|(known, _)| *known).collect();
        return Err(WireError::bad_params(
            "signal",
            format!("one of {}", known.join(" ")),
        ));
    };
    match host
        .keeper
        .signal(&params.pane_id, Target::Foreground, *number)
        .await
    {
        Ok(()) => Ok(Nothing {}),
        Err(KeeperError::Ended) => {
            Err(crate::session::SessionError::PaneExited(params.pane_id.clone()).into())
        }
        Err(error) => Err(WireError::new(ErrorCode::Internal, error.to_string())),
    }
}

const SIGNALS: [(&str, i32); 10] = [
    ("INT", libc::SIGINT),
    ("TERM", libc::SIGTERM),
    ("KILL", libc::SIGKILL),
    ("HUP", libc::SIGHUP),
    ("QUIT", libc::SIGQUIT),
    ("STOP", libc::SIGSTOP),
    ("CONT", libc::SIGCONT),
    ("USR1", libc::SIGUSR1),
    ("USR2", libc::SIGUSR2),
    ("WINCH", libc::SIGWINCH),
];

/// The agent that a program is, and its arguments with the flags that are proven for it.
async fn with_proven_flags(
    host: &Host,
    program: &str,
    argv: Vec<String>,
    cwd: &str,
    env: &std::collections::BTreeMap<String, String>,
) -> (Option<String>, Vec<String>) {
    let Some(adapter) = host.adapters.of_program(program) else {
        return (None, argv);
    };
    let agent = Some(adapter.agent().to_owned());
    let Some(arguments) = adapter.probe() else {
        return (agent, adapter.launch("", argv));
    };
    let path = if program.contains('/') {
        Some(Path::new(cwd).join(program))
    } else {
        find_program(program, env.get("PATH").map_or("", String::as_str))
    };
    let help = match path {
        Some(path) => probe::help(host, &path, arguments, cwd, env).await,
        None => String::new(),
    };
    (agent, adapter.launch(&help, argv))
}

/// Longest arguments that a pane's record keeps, in bytes: it has to fit what the keeper takes.
const KEPT_ARGUMENTS_MAX: usize = 16 * 1024;

/// The arguments as they are shown, which may be fewer than the program gets.
fn kept_arguments(argv: &[String]) -> Vec<String> {
    let mut left = KEPT_ARGUMENTS_MAX;
    let mut kept = Vec::new();
    for argument in argv {
        let part = crate::sanitise::cut(argument, left).into_owned();
        left = left.saturating_sub(part.len());
        kept.push(part);
        if left == 0 {
            break;
        }
    }
    kept
}

fn free_id(host: &Host) -> PaneId {
    loop {
        let id = mint_pane_id();
        if host.core().session.pane(&id).is_none() {
            return id;
        }
    }
}

fn spawn_failed(error: &SpawnError) -> WireError {
    let message = error.to_string();
    match error {
        SpawnError::Cwd { .. } => WireError::new(ErrorCode::SpawnFailed, message)
            .with(serde_json::json!({ "path": "cwd" })),
        SpawnError::Invalid(_) => WireError::bad_params("argv", message),
        SpawnError::TooMany => WireError::new(ErrorCode::RateLimited, message),
        SpawnError::Keeper(_) => WireError::new(ErrorCode::Internal, message),
        _ => WireError::new(ErrorCode::SpawnFailed, message)
            .with(serde_json::json!({ "path": "argv" })),
    }
}
