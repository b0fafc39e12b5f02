//! What only adapters know, for clients that must not depend on them: agents, and our hook in their
//! configurations. Files are read and written off the main tasks.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::probe::find_program;
use super::state::Host;
use crate::adapter::{
    AgentAdapter, Integration, IntegrationEnv, IntegrationError, IntegrationReport,
};
use crate::protocol::method::IntegrationReports;
use crate::protocol::params::{AgentInfo, Agents};
use crate::protocol::{ErrorCode, WireError};

/// `agent.list`
pub fn agents(host: &Host) -> Agents {
    let agents = host
        .adapters
        .iter()
        .filter(|adapter| !adapter.programs().is_empty())
        .map(|adapter| AgentInfo {
            agent: adapter.agent().into(),
            display_name: adapter.display_name().into(),
            program: program(adapter).map(|path| path.display().to_string()),
            newline: String::from_utf8_lossy(adapter.newline()).into_owned(),
        })
        .collect();
    Agents { agents }
}

/// `integration.status`
///
/// # Errors
/// An agent that is not known, or a configuration that cannot be read.
pub async fn status(
    host: &Arc<Host>,
    agent: Option<String>,
) -> Result<IntegrationReports, WireError> {
    each(host, agent, |integration, env| integration.status(env)).await
}

/// `integration.install`
///
/// # Errors
/// As [`status`]; nothing was changed then.
pub async fn install(
    host: &Arc<Host>,
    agent: Option<String>,
) -> Result<IntegrationReports, WireError> {
    each(host, agent, |integration, env| integration.install(env)).await
}

/// `integration.uninstall`
///
/// # Errors
/// As [`status`]; nothing was changed then.
pub async fn uninstall(
    host: &Arc<Host>,
    agent: Option<String>,
) -> Result<IntegrationReports, WireError> {
    each(host, agent, |integration, env| integration.uninstall(env)).await
}

async fn each(
    host: &Arc<Host>,
    agent: Option<String>,
    act: impl Fn(&dyn Integration, &IntegrationEnv) -> Result<IntegrationReport, IntegrationError>
    + Send
    + 'static,
) -> Result<IntegrationReports, WireError> {
    let host = host.clone();
    let work = move || {
        let env = environment(&host);
        let wanted: Vec<&dyn AgentAdapter> = match &agent {
            Some(agent) => {
                let adapter = host.adapters.get(agent).ok_or_else(|| {
                    WireError::bad_params(
                        "agent",
                        format!("no agent {agent:?}; agent.list names them"),
                    )
                })?;
                vec![adapter]
            }
            // With no name: those that are installed here.
            None => host
                .adapters
                .iter()
                .filter(|adapter| program(*adapter).is_some())
                .collect(),
        };
        let mut integrations = Vec::new();
        for adapter in wanted {
            match adapter.integration() {
                Some(integration) => {
                    integrations.push(act(integration, &env).map_err(|error| refusal(&error))?)
                }
                None if agent.is_some() => {
                    let message = format!(
                        "{} has no configuration that our hook could go into",
                        adapter.display_name()
                    );
                    return Err(WireError::bad_params("agent", message));
                }
                None => {}
            }
        }
        Ok(IntegrationReports { integrations })
    };
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| WireError::new(ErrorCode::Internal, error.to_string()))?
}

fn refusal(error: &IntegrationError) -> WireError {
    let data = match error {
        IntegrationError::Malformed { file, line, .. } => {
            serde_json::json!({ "file": file, "line": line })
        }
        IntegrationError::Io { file, .. } => serde_json::json!({ "file": file }),
    };
    WireError::new(ErrorCode::BadParams, error.to_string()).with(data)
}

fn program(adapter: &dyn AgentAdapter) -> Option<PathBuf> {
    let path = std::env::var("PATH").unwrap_or_default();
    adapter
        .programs()
        .iter()
        .find_map(|name| find_program(name, &path))
}

fn environment(host: &Host) -> IntegrationEnv {
    let vars: BTreeMap<String, String> = std::env::vars_os()
        // A variable that is no text names no folder that a vendor could mean.
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let home = PathBuf::from(vars.get("HOME").cloned().unwrap_or_else(|| "/".into()));
    let data = vars
        .get("XDG_DATA_HOME")
        .filter(|dir| dir.starts_with('/'))
        .map_or_else(|| home.join(".local/share"), PathBuf::from);
    IntegrationEnv {
        home,
        data_dir: data.join("signaltty"),
        vars,
        program: host.program.clone(),
    }
}
