//! Putting our hook into agents' configurations. Done here, in the user's own environment, without the host.

use clap::Subcommand;
use signaltty_core::adapter::{
    AgentAdapter, Integration, IntegrationEnv, IntegrationError, IntegrationReport,
    IntegrationState,
};
use signaltty_core::protocol::method::IntegrationReports;

use super::failure::Failure;
use super::{Output, host, show};
use crate::{adapters, integration};

/// `integration`
#[derive(Debug, Subcommand)]
pub(super) enum Integrations {
    /// Put it in; everything else in the file stays as it is
    Install(Agents),
    /// Take it out again
    Uninstall(Agents),
    /// See how it stands
    Status(Agents),
}

/// Which agents.
#[derive(Debug, clap::Args)]
pub(super) struct Agents {
    /// The agent; by default all that are installed here
    agent: Option<String>,
}

type Act = fn(&dyn Integration, &IntegrationEnv) -> Result<IntegrationReport, IntegrationError>;

impl Integrations {
    pub(super) fn run(self, output: Output) -> Result<(), Failure> {
        let (agents, act, changes): (Agents, Act, bool) = match self {
            Self::Install(agents) => (agents, |to, env| to.install(env), true),
            Self::Uninstall(agents) => (agents, |from, env| from.uninstall(env), true),
            Self::Status(agents) => (agents, |of, env| of.status(env), false),
        };
        if changes && host::inside_pane() {
            return Err(Failure::forbidden(
                "integrations are not changed from inside a pane: an agent must not change how it is asked for leave; \
                 run this in a terminal of your own",
            ));
        }
        let env = integration::environment(host::program()?).ok_or_else(|| {
            Failure::failed("HOME is not set: there is no configuration to look at")
        })?;
        let all = adapters::all();
        let mut reports = Vec::new();
        for integration in chosen(&all, agents.agent.as_deref(), changes, &env)? {
            reports
                .push(act(integration, &env).map_err(|error| Failure::failed(error.to_string()))?);
        }
        if output.json {
            return show::json(&IntegrationReports {
                integrations: reports,
            });
        }
        reports.iter().try_for_each(print)
    }
}

/// The one that is named; else all, and of those only the installed ones where something is to be changed.
fn chosen<'a>(
    all: &'a [Box<dyn AgentAdapter>],
    agent: Option<&str>,
    changes: bool,
    env: &IntegrationEnv,
) -> Result<Vec<&'a dyn Integration>, Failure> {
    let known = || {
        all.iter()
            .filter_map(|adapter| Some((adapter.agent(), adapter.integration()?)))
    };
    if let Some(agent) = agent {
        return match known().find(|(name, _)| *name == agent) {
            Some((_, integration)) => Ok(vec![integration]),
            None => {
                let names: Vec<&str> = known().map(|(name, _)| name).collect();
                Err(Failure::usage(format!(
                    "no integration for {agent:?}; there are {}",
                    names.join(", ")
                )))
            }
        };
    }
    let found: Vec<&dyn Integration> = known()
        .map(|(_, integration)| integration)
        // A file that cannot be read is reported by the act itself.
        .filter(|integration| {
            !changes || integration.status(env).map_or(true, |report| report.found)
        })
        .collect();
    if found.is_empty() {
        return Err(Failure::failed(
            "no agent that we know is installed here; name one to go on all the same",
        ));
    }
    Ok(found)
}

fn print(report: &IntegrationReport) -> Result<(), Failure> {
    let state = match report.state {
        IntegrationState::Absent => "not installed",
        IntegrationState::Installed => "installed",
        IntegrationState::Partial => "partly installed, or an older form; install again",
    };
    let program = if report.found {
        ""
    } else {
        " (its program is not on your PATH)"
    };
    let changed = if report.changed {
        ", changed just now"
    } else {
        ""
    };
    show::line(&format!(
        "{}: {state}{changed}{program}",
        report.display_name
    ))?;
    for file in &report.files {
        show::line(&format!("  {}", show::text(file)))?;
    }
    for note in &report.notes {
        show::line(&format!("  {}", show::text(note)))?;
    }
    Ok(())
}
