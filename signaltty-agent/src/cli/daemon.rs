//! The host's process: starting it, stopping it, taking over from it.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use clap::Args;
use signaltty_core::protocol::method::HostShutdown;
use signaltty_core::protocol::params::{HostShutdownParams, Role, ShutdownPanes};
use tracing_subscriber::EnvFilter;

use super::failure::Failure;
use super::{host, show, wait_for};

/// What is logged, and how much: the syntax of tracing's `EnvFilter`.
const LOG_ENV: &str = "SIGNALTTY_LOG";
/// How long a host that was told to end may take.
const END_MAX: Duration = Duration::from_secs(15);
/// Pause between two looks whether it has.
const END_PAUSE: Duration = Duration::from_millis(20);

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
            let stopped = stop(panes)?;
            return if stopped {
                Ok(())
            } else {
                show::line("no host is running")
            };
        }
        if self.replace {
            stop(ShutdownPanes::Keep)?;
        }
        serve()
    }
}

/// Ends the running host and waits until it is gone. False if there is none.
fn stop(panes: ShutdownPanes) -> Result<bool, Failure> {
    let mut stopped = false;
    wait_for(async {
        let Some(client) = host::connect_if_running(Role::Observer).await? else {
            return Ok(());
        };
        client
            .call::<HostShutdown>(HostShutdownParams { panes })
            .await?;
        drop(client);
        stopped = true;
        let deadline = Instant::now() + END_MAX;
        while host::connect_if_running(Role::Observer).await?.is_some() {
            if Instant::now() > deadline {
                return Err(Failure::failed("the host was told to end and has not"));
            }
            tokio::time::sleep(END_PAUSE).await;
        }
        Ok(())
    })?;
    Ok(stopped)
}

/// Is the host, until it is told to end.
fn serve() -> Result<(), Failure> {
    // Started by a client, it must outlive the terminal of whoever that was. A supervisor's service leads a
    // session already, and then this changes nothing.
    if !std::io::stdin().is_terminal() {
        let _ = rustix::process::setsid();
    }
    tracing_subscriber::fmt()
        .with_env_filter(
            EnvFilter::try_from_env(LOG_ENV).unwrap_or_else(|_| EnvFilter::new("info")),
        )
        .with_writer(std::io::stderr)
        // Where nobody reads the log any more, that is no reason to fail.
        .log_internal_errors(false)
        .init();
    Err(Failure::failed("this build has no host"))
}
