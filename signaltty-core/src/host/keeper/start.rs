//! Finding the keeper of this socket, or starting one.

use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::Resource;

use super::client::KeeperError;
use crate::host::ancestry::keeper_title;
use crate::host::hardening::files_before;
use crate::host::paths::{HostPaths, bind_socket};

/// Bytes of a failed keeper's last words that are kept.
const WORDS_MAX: u64 = 4_096;
/// Variables of the host that the keeper gets. It needs none; a program from an unusual place may need the
/// loader's.
const KEPT: &[&str] = &["LD_LIBRARY_PATH"];

/// Connects to the keeper's socket. None if nobody listens there.
pub(super) fn connect(paths: &HostPaths) -> Result<Option<OwnedFd>, KeeperError> {
    match UnixStream::connect(&paths.keeper) {
        Ok(stream) => Ok(Some(stream.into())),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(KeeperError::Connect(error)),
    }
}

/// Starts `program keeper` and waits until it is ready. Only the holder of the host lock may do this.
///
/// The keeper leaves this process' group and session and becomes nobody's child, so whatever ends the host
/// does not reach it. Blocks for as long as a program takes to start.
pub(super) fn start(paths: &HostPaths, program: &Path) -> Result<(), KeeperError> {
    let listener = bind_socket(&paths.keeper).map_err(KeeperError::Socket)?;
    let failed = |reason: String| KeeperError::Start {
        program: program.to_owned(),
        reason,
    };
    let kept = KEPT
        .iter()
        .filter_map(|name| Some((name, std::env::var_os(name)?)));
    let mut command = Command::new(program);
    if let Some(files) = files_before() {
        // SAFETY: one system call, which is async-signal-safe.
        unsafe {
            command.pre_exec(move || Ok(rustix::process::setrlimit(Resource::Nofile, files)?))
        };
    }
    let mut child = command
        .arg0(keeper_title(&paths.keeper))
        .arg("keeper")
        .env_clear()
        .envs(kept)
        .current_dir("/")
        .process_group(0)
        .stdin(listener)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| failed(error.to_string()))?;
    // Ends with the process that we started or, if that fails, with its words.
    let mut words = Vec::new();
    if let Some(stderr) = child.stderr.take() {
        let _ = stderr.take(WORDS_MAX).read_to_end(&mut words);
    }
    let status = child.wait().map_err(|error| failed(error.to_string()))?;
    if status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&words);
    Err(failed(if words.trim().is_empty() {
        status.to_string()
    } else {
        words.trim().to_owned()
    }))
}
