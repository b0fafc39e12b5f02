//! Reaching the host, and starting it where none runs.

use std::path::PathBuf;

use signaltty_core::client::{Client, ClientError, Events, StartHost, connect_or_start};
use signaltty_core::host::environment::PANE_ENV;
use signaltty_core::paths::SocketPaths;
use signaltty_core::protocol::PROTOCOL;
use signaltty_core::protocol::params::{HelloParams, Role};

use super::failure::Failure;

/// Connects as an onlooker; starts the host where none runs.
pub(super) async fn connect() -> Result<Client, Failure> {
    Ok(connect_as(Role::Observer).await?.0)
}

/// Connects; starts the host where none runs, but never from inside a pane (specs/001 §1).
pub(super) async fn connect_as(role: Role) -> Result<(Client, Events), Failure> {
    if inside_pane() {
        return Ok(Client::connect(&socket()?, hello(role)).await?);
    }
    let start = StartHost {
        program: program()?,
        socket: socket()?,
    };
    Ok(connect_or_start(&start, hello(role)).await?)
}

/// Connects to a host that runs; `None` where none does.
pub(super) async fn connect_if_running(role: Role) -> Result<Option<Client>, Failure> {
    match Client::connect(&socket()?, hello(role)).await {
        Ok((client, _)) => Ok(Some(client)),
        // One that is just ending may still accept, and say nothing.
        Err(ClientError::NoHost { .. } | ClientError::Lost) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// What this program says of itself.
pub(super) fn hello(role: Role) -> HelloParams {
    HelloParams {
        protocol: PROTOCOL,
        client: format!("signaltty {}", env!("CARGO_PKG_VERSION")),
        role,
    }
}

/// The host's socket, in a folder that nobody else can have written to.
pub(super) fn socket() -> Result<PathBuf, Failure> {
    let paths = SocketPaths::from_env().map_err(|error| Failure::failed(error.to_string()))?;
    match paths.check_folder() {
        Ok(()) => {}
        // The host makes the folder.
        Err(signaltty_core::paths::PathError::Io { source, .. })
            if source.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(Failure::failed(error.to_string())),
    }
    Ok(paths.host)
}

/// This program, by a path that a later process can run.
pub(super) fn program() -> Result<PathBuf, Failure> {
    std::env::current_exe()
        .map_err(|error| Failure::failed(format!("cannot find my own program: {error}")))
}

/// Whether this process says that it runs in a pane. Only a hint, and only ever used to do less: the host
/// finds out for itself.
pub(super) fn inside_pane() -> bool {
    std::env::var_os(PANE_ENV).is_some_and(|pane| !pane.is_empty())
}
