//! Opening panes, and everything that is done to one.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use signaltty_core::model::{Attention, Lifecycle, Pane, Size};
use signaltty_core::protocol::method::{
    Nothing, PaneClose, PaneInput, PaneList, PaneRead, PaneSignal, PaneSpawn, PaneWait,
};
use signaltty_core::protocol::params::{
    PaneInputParams, PaneParams, PaneReadParams, PaneSignalParams, PaneSpawnParams, PaneWaitParams,
    ReadWhat,
};

use super::failure::Failure;
use super::{Output, find, host, show};

/// How long the host's reply to a wait may lag behind its limit.
const WAIT_MARGIN: Duration = Duration::from_secs(10);
/// How long a wait without a limit lasts at most.
const WAIT_MAX: Duration = Duration::from_secs(366 * 24 * 3_600);

/// `new`
#[derive(Debug, Args)]
pub(super) struct New {
    /// The folder to start in; by default this one
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// What to name the pane
    #[arg(long)]
    title: Option<String>,
    /// Size of its terminal until somebody looks at it
    #[arg(long, value_name = "COLSxROWS", value_parser = size)]
    size: Option<Size>,
    /// The command and its arguments
    #[arg(required = true, last = true, value_name = "CMD")]
    command: Vec<String>,
}

impl New {
    pub(super) async fn run(self, output: Output) -> Result<(), Failure> {
        let cwd = match &self.cwd {
            Some(folder) => std::path::absolute(folder)?,
            None => std::env::current_dir()?,
        };
        if !cwd.is_dir() {
            return Err(Failure::failed(format!("{} is no folder", cwd.display())));
        }
        let argv = resolved(self.command, &cwd)?;
        let cwd = cwd
            .into_os_string()
            .into_string()
            .map_err(|_| Failure::failed("the folder's name is no UTF-8 text"))?;
        let client = host::connect().await?;
        let params = PaneSpawnParams {
            argv,
            cwd,
            env: environment(),
            size: self.size,
            title: self.title,
        };
        let opened = client.call::<PaneSpawn>(params).await?;
        if output.json {
            show::json(&opened)
        } else {
            show::line(opened.pane_id.as_str())
        }
    }
}

fn size(text: &str) -> Result<Size, String> {
    let parsed = text.split_once(['x', 'X']).and_then(|(cols, rows)| {
        Some(Size {
            cols: cols.parse().ok()?,
            rows: rows.parse().ok()?,
        })
    });
    match parsed {
        Some(size) if size == size.clamped() => Ok(size),
        _ => Err(format!(
            "a size is COLSxROWS, each 1 to {}: 100x30",
            Size::MAX
        )),
    }
}

/// The command with its program as a path: which program runs is decided here, where it was typed.
fn resolved(mut argv: Vec<String>, cwd: &Path) -> Result<Vec<String>, Failure> {
    let Some(name) = argv.first_mut() else {
        return Err(Failure::usage("no command"));
    };
    let runs = |path: &Path| {
        path.metadata()
            .is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
    };
    let found = if name.contains('/') {
        Some(cwd.join(&*name)).filter(|path| runs(path))
    } else {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&folders)
            .map(|folder| cwd.join(folder).join(&*name))
            .find(|path| runs(path))
    };
    match found.and_then(|path| path.into_os_string().into_string().ok()) {
        Some(path) => {
            *name = path;
            Ok(argv)
        }
        None => Err(Failure::failed(format!("no program {name:?} on your PATH"))),
    }
}

/// This process' environment; the host takes out what must not pass.
fn environment() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// `ls`
pub(super) async fn list(output: Output) -> Result<(), Failure> {
    let client = host::connect().await?;
    let mut listed = client.call::<PaneList>(Nothing {}).await?;
    if output.json {
        return show::json(&listed);
    }
    listed.panes.sort_by_key(need);
    for pane in &listed.panes {
        let agent = pane.agent.as_deref().unwrap_or("-");
        let asks = match &pane.decision {
            Some(decision) if pane.queued > 0 => {
                format!("  {} (+{} in line)", show::prompt(decision), pane.queued)
            }
            Some(decision) => format!("  {}", show::prompt(decision)),
            None => String::new(),
        };
        show::line(&format!(
            "{}  {:<11} {:<8} {}{asks}",
            pane.id,
            word(pane.lifecycle),
            show::one_line(agent, 16),
            show::title(pane)
        ))?;
    }
    Ok(())
}

/// Sorts those that need somebody first: by how much, then by how long.
fn need(pane: &Pane) -> (Reverse<u8>, i64, i64) {
    let urgency = if pane.decision.is_some() {
        3
    } else if pane.attention.contains(&Attention::Error) {
        2
    } else {
        u8::from(!pane.attention.is_empty())
    };
    let since = pane
        .decision
        .as_ref()
        .map_or(pane.since, |decision| decision.asked_at);
    (
        Reverse(urgency),
        if urgency > 0 { since } else { 0 },
        pane.created_at,
    )
}

/// A lifecycle's word on the wire.
pub(super) fn word(lifecycle: Lifecycle) -> String {
    serde_json::to_value(lifecycle)
        .ok()
        .and_then(|word| word.as_str().map(str::to_owned))
        .unwrap_or_default()
}

/// `read`
#[derive(Debug, Args)]
pub(super) struct Read {
    /// The pane
    pane: String,
    /// The lines above the screen too
    #[arg(long)]
    scrollback: bool,
    /// At most so many of the last lines
    #[arg(long)]
    lines: Option<usize>,
}

impl Read {
    pub(super) async fn run(self, output: Output) -> Result<(), Failure> {
        let client = host::connect().await?;
        let pane_id = find::pane(&client, &self.pane).await?.id;
        let what = if self.scrollback {
            ReadWhat::Scrollback
        } else {
            ReadWhat::Screen
        };
        let read = client
            .call::<PaneRead>(PaneReadParams {
                pane_id,
                what,
                lines: self.lines,
            })
            .await?;
        if output.json {
            show::json(&read)
        } else {
            show::line(show::text(&read.text).trim_end_matches('\n'))
        }
    }
}

/// `send`
#[derive(Debug, Args)]
pub(super) struct Send {
    /// The pane
    pane: String,
    /// What to type
    #[arg(allow_hyphen_values = true)]
    text: String,
    /// Press Enter after it
    #[arg(long)]
    enter: bool,
}

impl Send {
    pub(super) async fn run(self, output: Output) -> Result<(), Failure> {
        let client = host::connect().await?;
        let pane_id = find::pane(&client, &self.pane).await?.id;
        let mut text = self.text;
        if self.enter {
            text.push('\r');
        }
        let params = PaneInputParams {
            pane_id,
            text: Some(text),
            data_base64: None,
        };
        let written = client.call::<PaneInput>(params).await?;
        if output.json {
            show::json(&written)
        } else {
            Ok(())
        }
    }
}

/// `close`
#[derive(Debug, Args)]
pub(super) struct Close {
    /// The pane
    pane: String,
}

impl Close {
    pub(super) async fn run(self, output: Output) -> Result<(), Failure> {
        let client = host::connect().await?;
        let pane_id = find::pane(&client, &self.pane).await?.id;
        let closed = client.call::<PaneClose>(PaneParams { pane_id }).await?;
        if output.json {
            show::json(&closed)
        } else {
            Ok(())
        }
    }
}

/// `signal`
#[derive(Debug, Args)]
pub(super) struct SignalPane {
    /// The pane
    pane: String,
    /// The signal: INT, TERM, KILL, HUP, QUIT, STOP, CONT, USR1, USR2, WINCH
    signal: String,
}

impl SignalPane {
    pub(super) async fn run(self, output: Output) -> Result<(), Failure> {
        let client = host::connect().await?;
        let pane_id = find::pane(&client, &self.pane).await?.id;
        let done = client
            .call::<PaneSignal>(PaneSignalParams {
                pane_id,
                signal: self.signal,
            })
            .await?;
        if output.json {
            show::json(&done)
        } else {
            Ok(())
        }
    }
}

/// `wait`
#[derive(Debug, Args)]
pub(super) struct Wait {
    /// The pane
    pane: String,
    /// The state: unknown, working, blocked, done, idle, interrupted, failed, exited
    #[arg(long, value_name = "STATE", value_parser = lifecycle)]
    until: Lifecycle,
    /// Give up after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,
}

impl Wait {
    pub(super) async fn run(self, output: Output) -> Result<(), Failure> {
        let client = host::connect().await?;
        let pane_id = find::pane(&client, &self.pane).await?.id;
        let timeout_s = self.timeout.map(|timeout| timeout.as_secs_f64());
        let limit = self
            .timeout
            .map_or(WAIT_MAX, |timeout| timeout.saturating_add(WAIT_MARGIN));
        let reached = client
            .call_within::<PaneWait>(
                PaneWaitParams {
                    pane_id,
                    until: self.until,
                    timeout_s,
                },
                limit,
            )
            .await?;
        if output.json {
            show::json(&reached)
        } else {
            show::line(&word(reached.pane.lifecycle))
        }
    }
}

fn lifecycle(text: &str) -> Result<Lifecycle, String> {
    serde_json::from_value(serde_json::Value::String(text.to_owned())).map_err(|_| {
        "one of unknown, working, blocked, done, idle, interrupted, failed, exited".into()
    })
}

/// A number of seconds, with a fraction where wanted.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|wait| !wait.is_zero() && *wait <= WAIT_MAX)
        .ok_or_else(|| "more than 0 and at most a year of seconds".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_columns_by_rows() {
        assert_eq!(size("90x20"), Ok(Size { cols: 90, rows: 20 }));
        for wrong in [
            "",
            "wide",
            "90",
            "0x20",
            "90x",
            "90x20x1",
            "-1x2",
            "5000x10",
            "99999999x1",
        ] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn seconds_are_positive_and_finite() {
        assert_eq!(seconds("1.5"), Ok(Duration::from_millis(1_500)));
        for wrong in ["", "0", "-1", "inf", "NaN", "1e300", "soon"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn states_have_the_words_of_the_wire() {
        assert_eq!(lifecycle("blocked"), Ok(Lifecycle::Blocked));
        assert_eq!(word(Lifecycle::Blocked), "blocked");
        assert!(lifecycle("asleep").is_err());
    }

    #[test]
    fn a_program_is_found_where_it_was_typed() {
        let folder = tempfile::tempdir().expect("folder");
        let tool = folder.path().join("tool");
        std::fs::write(&tool, "").expect("written");
        let words = |name: &str| vec![name.to_owned(), "x".to_owned()];
        assert!(
            resolved(words("./tool"), folder.path()).is_err(),
            "not executable"
        );
        std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).expect("mode");
        let found = resolved(words("./tool"), folder.path()).expect("found");
        assert!(found[0].ends_with("/tool") && found[0].starts_with('/') && found[1] == "x");
        assert!(resolved(words("sh"), folder.path()).expect("found")[0].ends_with("/sh"));
        assert!(resolved(words("no-such-program-anywhere"), folder.path()).is_err());
    }
}
