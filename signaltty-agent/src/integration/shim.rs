//! The shim: the one line that a vendor's configuration names, for ever.
//!
//! It runs the program if it can, hands SIGTERM on and always exits 0. A removed program must not make an agent
//! deny everything, and a changed line would make another ask for trust again: so the line names the shim, and
//! only the shim knows the program.

use std::path::{Path, PathBuf};

use signaltty_core::adapter::{IntegrationEnv, IntegrationError};

use super::file;

/// Its file in our data folder.
const FILE: &str = "hook";

/// Where it lies.
pub(super) fn path(env: &IntegrationEnv) -> PathBuf {
    env.data_dir.join(FILE)
}

/// The command that a vendor's configuration gets.
pub(super) fn command(env: &IntegrationEnv, agent: &str) -> Result<String, IntegrationError> {
    let path = path(env);
    let text = utf8(&path)?;
    let mut quoted = String::with_capacity(text.len() + 2);
    for c in text.chars() {
        if matches!(c, '"' | '\\' | '$' | '`') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    Ok(format!("\"{quoted}\" {agent}"))
}

/// Whether a command of a configuration is ours: this line, or the line of another data folder.
pub(super) fn is_ours(command: &str, agent: &str) -> bool {
    let tail = format!("/signaltty/{FILE}\" {agent}");
    command.starts_with('"') && command.ends_with(&tail)
}

/// The script. POSIX sh: standard input is kept apart, because a shell gives background commands none.
fn script(program: &str) -> String {
    let program = format!("'{}'", program.replace('\'', r"'\''"));
    format!(
        "#!/bin/sh\n\
         # SignalTTY's hook. It never fails the agent that runs it: no program, no opinion, always exit 0.\n\
         [ -x {program} ] || exit 0\n\
         trap 'kill -TERM \"$!\" 2>/dev/null; exit 0' TERM INT HUP\n\
         {{ {program} hook \"$@\" <&3 3<&- & }} 3<&0 2>/dev/null; wait \"$!\"\n\
         exit 0\n"
    )
}

/// Whether it lies there as it should.
pub(super) fn is_current(env: &IntegrationEnv) -> Result<bool, IntegrationError> {
    let executable = std::fs::metadata(path(env)).is_ok_and(|about| {
        std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o111 != 0
    });
    Ok(executable && file::read(&path(env))?.as_deref() == Some(&script(utf8(&env.program)?)))
}

/// Writes it where it is missing, or where it runs another program. True if anything changed.
pub(super) fn write(env: &IntegrationEnv) -> Result<bool, IntegrationError> {
    if is_current(env)? {
        return Ok(false);
    }
    let path = path(env);
    let was = file::read(&path)?;
    // Whatever its mode was, this one must be executable. It is there at every moment: agents run it meanwhile.
    file::replace_with_mode(&path, was.as_deref(), &script(utf8(&env.program)?), 0o755)?;
    Ok(true)
}

fn utf8(path: &Path) -> Result<&str, IntegrationError> {
    path.to_str().ok_or_else(|| {
        file::io(
            path,
            std::io::Error::new(
                std::io::ErrorKind::InvalidInput,
                "its name is no UTF-8 text",
            ),
        )
    })
}
