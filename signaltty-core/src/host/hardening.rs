//! What a host makes of its own process before it does anything else.

use std::io;
use std::sync::OnceLock;

use rustix::process::{DumpableBehavior, Resource, Rlimit};

/// Makes this process non-dumpable (specs/001 §5): no process of the same user may trace it, read its memory
/// or open its descriptors through `/proc`, and it leaves no core file with agents' text in it.
///
/// # Errors
/// What the kernel says.
pub fn make_undumpable() -> io::Result<()> {
    Ok(rustix::process::set_dumpable_behavior(
        DumpableBehavior::NotDumpable,
    )?)
}

/// What [`raise_file_limit`] found.
static FILES_BEFORE: OnceLock<Rlimit> = OnceLock::new();

/// Raises the limit of open files to what this process may have: a pane costs a host several descriptors,
/// and 1,024 is a usual limit. The keeper, and with it the panes' programs, still get the limit that the host
/// was started with.
pub fn raise_file_limit() {
    let limit = rustix::process::getrlimit(Resource::Nofile);
    let before = *FILES_BEFORE.get_or_init(|| limit);
    // Refused only if there is nothing to raise.
    let _ = rustix::process::setrlimit(
        Resource::Nofile,
        Rlimit {
            current: before.maximum,
            ..before
        },
    );
}

/// The limit of open files before [`raise_file_limit`]; none if that was not called.
pub(crate) fn files_before() -> Option<Rlimit> {
    FILES_BEFORE.get().copied()
}
