//! Asking an agent's program what it knows, before it is started in a pane.
//!
//! The program is whatever carries the agent's name on the caller's path: a pane's program may have put it there.
//! It is therefore run by the keeper, like every program of a pane, so that it and all that it starts stay inside.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use super::keeper::SpawnSpec;
use super::pty::{Output, Pty};
use super::state::Host;
use crate::model::{PaneId, Size};

/// How long a probe may take.
const WAIT: Duration = Duration::from_secs(5);
/// Most bytes of what it prints.
const TEXT_MAX: usize = 256 * 1024;
/// Chunks that wait to be taken.
const CHUNKS: usize = 8;
/// Programs whose help is remembered.
const KNOWN_MAX: usize = 32;
/// Wide enough that no line of a help is broken.
const SIZE: Size = Size {
    cols: 400,
    rows: 50,
};

/// What programs said of themselves, by path, for as long as the file is the same. Failures are not kept.
#[derive(Debug, Default)]
pub struct Known(Mutex<HashMap<PathBuf, (SystemTime, String)>>);

impl Known {
    fn get(&self, program: &Path, changed: SystemTime) -> Option<String> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known
            .get(program)
            .filter(|(at, _)| *at == changed)
            .map(|(_, help)| help.clone())
    }

    fn put(&self, program: &Path, changed: SystemTime, help: String) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= KNOWN_MAX {
            known.clear();
        }
        known.insert(program.to_owned(), (changed, help));
    }
}

/// What the program prints with these arguments; empty where it prints nothing in time. Untrusted text.
pub async fn help(
    host: &Host,
    program: &Path,
    arguments: &[&str],
    cwd: &str,
    env: &BTreeMap<String, String>,
) -> String {
    let changed = std::fs::metadata(program)
        .and_then(|about| about.modified())
        .unwrap_or(SystemTime::UNIX_EPOCH);
    if let Some(help) = host.probed.get(program, changed) {
        return help;
    }
    let help = run(host, program, arguments, cwd, env)
        .await
        .unwrap_or_default();
    if !help.trim().is_empty() {
        host.probed.put(program, changed, help.clone());
    }
    help
}

async fn run(
    host: &Host,
    program: &Path,
    arguments: &[&str],
    cwd: &str,
    env: &BTreeMap<String, String>,
) -> Option<String> {
    let pane_id = PaneId::from_trusted(format!("probe-{}", ulid::Ulid::new()));
    let argv = std::iter::once(program.as_os_str().to_owned())
        .chain(arguments.iter().map(OsString::from))
        .collect();
    let mut env = env.clone();
    for (name, value) in [("TERM", "dumb"), ("NO_COLOR", "1"), ("PAGER", "cat")] {
        env.insert(name.into(), value.into());
    }
    let spec = SpawnSpec {
        pane_id: pane_id.clone(),
        argv,
        cwd: cwd.into(),
        env: env
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect(),
        size: SIZE,
        // No record: a host that finds it left over ends it.
        meta: Vec::new(),
    };
    let spawned = host.keeper.spawn(spec).await.ok()?;
    let text = read(spawned.master).await;
    let _ = host.keeper.end(&pane_id, Duration::ZERO).await;
    let _ = host.keeper.forget(&pane_id).await;
    text
}

async fn read(master: std::os::fd::OwnedFd) -> Option<String> {
    let (chunks, mut output) = mpsc::channel(CHUNKS);
    let pty = Pty::new(master).ok()?;
    let reader = pty
        .read("probe", move |output| {
            if let Output::Bytes(bytes) = output {
                // Whoever asked may have gone.
                let _ = chunks.blocking_send(bytes.to_vec());
            }
        })
        .ok()?;
    let deadline = Instant::now() + WAIT;
    let mut text = Vec::new();
    // The channel ends with the reader, and the reader with the program.
    while let Ok(Some(chunk)) = timeout_at(deadline, output.recv()).await {
        text.extend_from_slice(&chunk);
        if text.len() >= TEXT_MAX {
            break;
        }
    }
    drop(output);
    drop(reader);
    text.truncate(TEXT_MAX);
    Some(String::from_utf8_lossy(&text).replace('\r', ""))
}

/// The search for an agent's program.
pub fn find_program(name: &str, path: &str) -> Option<std::path::PathBuf> {
    path.split(':')
        .map(|dir| Path::new(dir).join(name))
        .find(|candidate| {
            rustix::fs::access(candidate, rustix::fs::Access::EXEC_OK).is_ok()
                && candidate.is_file()
        })
}
