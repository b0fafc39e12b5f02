//! The host's process: starting it, stopping it, taking over from it.

use std::time::{Duration, Instant};

use clap::Args;
use signaltty_core::client::ClientError;
use signaltty_core::host::{HostError, Options};
use signaltty_core::protocol::method::HostShutdown;
use signaltty_core::protocol::params::{HostShutdownParams, Role, ShutdownPanes};
use tracing_subscriber::EnvFilter;

use super::failure::Failure;
use super::{host, show, wait_for};
use crate::adapters;

/// What is logged, and how much: the syntax of tracing's `EnvFilter`.
const LOG_ENV: &str = "SIGNALTTY_LOG";
/// How long a host may take to end, or to answer.
const CHANGE_MAX: Duration = Duration::from_secs(15);
/// How long a host that answers no more may still hold its lock.
const ENDING_MAX: Duration = Duration::from_secs(3);
/// Pause between two looks whether it has.
const CHANGE_PAUSE: Duration = Duration::from_millis(20);

/// `daemon`
#[derive(Debug, Args)]
pub(super) struct Daemon {
    /// Stop the running host; its panes go on and wait for the next one
    #[arg(long, conflicts_with = "replace")]
    stop: bool,
    /// With --stop: end the panes' programs too
    #[arg(long, requires = "stop")]
    close: bool,
    /// Take over from the running host; no pane is lost
    #[arg(long)]
    replace: bool,
}

impl Daemon {
    pub(super) fn run(self) -> Result<(), Failure> {
        if self.stop {
            let panes = if self.close {
                ShutdownPanes::Close
            } else {
                ShutdownPanes::Keep
            };
            return if stop(panes)? {
                Ok(())
            } else {
                show::line("no host is running")
            };
        }
        if self.replace {
            stop(ShutdownPanes::Keep)?;
        }
        serve(self.replace)
    }
}

/// Ends the running host and waits until it no longer answers. False if there is none.
fn stop(panes: ShutdownPanes) -> Result<bool, Failure> {
    let mut stopped = false;
    wait_for(async {
        let Some(client) = host::connect_if_running(Role::Observer).await? else {
            return Ok(());
        };
        match client
            .call::<HostShutdown>(HostShutdownParams { panes })
            .await
        {
            // It may be gone before its reply is.
            Ok(_) | Err(ClientError::Lost) => {}
            Err(error) => return Err(error.into()),
        }
        drop(client);
        stopped = true;
        until(false, "the host was told to end and has not").await
    })?;
    Ok(stopped)
}

/// Waits until a host answers, or until none does.
async fn until(answers: bool, otherwise: &str) -> Result<(), Failure> {
    let deadline = Instant::now() + CHANGE_MAX;
    loop {
        // One that is just ending may accept and say nothing.
        let running = match host::connect_if_running(Role::Observer).await {
            Ok(client) => client.is_some(),
            Err(_) => !answers,
        };
        if running == answers {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(Failure::failed(otherwise));
        }
        tokio::time::sleep(CHANGE_PAUSE).await;
    }
}

/// Is the host, until it is told to end.
fn serve(replaces: bool) -> Result<(), Failure> {
    tracing_subscriber::fmt()
        .with_env_filter(
            EnvFilter::try_from_env(LOG_ENV).unwrap_or_else(|_| EnvFilter::new("info")),
        )
        .with_writer(std::io::stderr)
        // Where nobody reads the log any more, that is no reason to fail.
        .log_internal_errors(false)
        .init();
    let options = Options {
        program: host::program()?,
        wait_for_lock: Some(if replaces { CHANGE_MAX } else { ENDING_MAX }),
    };
    match signaltty_core::host::run(options, adapters::registry()) {
        Ok(()) => Ok(()),
        Err(HostError::AlreadyRunning) => {
            // Two clients may start a host at once. The one that lost is told so only when the other's answers.
            wait_for(until(
                true,
                "another host holds the lock and does not answer",
            ))?;
            Err(Failure::failed(HostError::AlreadyRunning.to_string()))
        }
        Err(error) => Err(Failure::failed(error.to_string())),
    }
}
