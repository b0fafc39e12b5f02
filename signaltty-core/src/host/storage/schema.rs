//! The file: where it lies, who may read it, and the shape of what is in it.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::StorageError;
use crate::host::paths::HostPaths;

/// What each version adds to the one before. Only ever appended to.
const MIGRATIONS: [&str; 1] = [include_str!("schema_1.sql")];
/// How long to wait for somebody else who reads the file.
const BUSY_MAX: Duration = Duration::from_secs(2);
/// What the write-ahead log is cut to, in bytes.
const JOURNAL_KEPT: i64 = 4 * 1024 * 1024;

/// The file of the host with these sockets: `$XDG_STATE_HOME/signaltty/history.db`, else below
/// `~/.local/state`. A host with another socket has a file of its own. `None` without a home.
pub(super) fn path(env: impl Fn(&str) -> Option<OsString>, sockets: &HostPaths) -> Option<PathBuf> {
    let absolute = |name: &str| {
        env(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let state = absolute("XDG_STATE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".local/state")))?;
    let name = if sockets.default {
        "history.db".to_owned()
    } else {
        let socket = sockets.host.as_os_str().as_encoded_bytes();
        format!("history-{:016x}.db", fnv1a(socket))
    };
    Some(state.join("signaltty").join(name))
}

/// The same number for the same path in every version, which the standard hasher does not promise.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Opens the file, makes it where it is missing, and brings it to this version's shape.
///
/// # Errors
/// What is in the way. A file that is no database, or of a newer version, is left as it is.
pub(super) fn open(path: &Path) -> Result<Connection, StorageError> {
    prepare(path).map_err(StorageError::File)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_MAX)?;
    // The next host waits for this one's end, so that does not wait for the disk: the log is as safe as the file.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    let version: usize = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if version > MIGRATIONS.len() {
        return Err(StorageError::Newer {
            found: version,
            known: MIGRATIONS.len(),
        });
    }
    if version == 0 {
        // Only a file without tables can be given it.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    }
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "journal_size_limit", JOURNAL_KEPT)?;
    // What is forgotten is overwritten.
    connection.pragma_update(None, "secure_delete", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    for (index, migration) in MIGRATIONS.iter().enumerate().skip(version) {
        let step = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        step.execute_batch(migration)?;
        step.pragma_update(None, "user_version", index + 1)?;
        step.commit()?;
    }
    Ok(connection)
}

/// The folder with mode 0700, the file with mode 0600, both ours. The journals beside it get the file's mode.
fn prepare(path: &Path) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    let uid = rustix::process::getuid().as_raw();
    let theirs = |what: &str| io::Error::other(format!("{what} belongs to another user"));
    let meta = std::fs::metadata(folder)?;
    if meta.uid() != uid {
        return Err(theirs("its folder"));
    }
    if meta.mode() & 0o077 != 0 {
        std::fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    }
    // Before the database has it open: closing a second descriptor would drop its locks.
    let file: File = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)?;
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    if meta.uid() != uid {
        return Err(theirs("it"));
    }
    if meta.mode() & 0o177 != 0 {
        file.set_permissions(Permissions::from_mode(0o600))?;
    }
    Ok(())
}
