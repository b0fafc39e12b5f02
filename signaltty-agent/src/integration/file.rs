//! Reading a vendor's file, and putting another in its place without a moment in between.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use signaltty_core::adapter::IntegrationError;

/// Largest configuration that is read, in bytes.
const FILE_MAX: u64 = 4 * 1024 * 1024;

/// The text of a file; `None` where there is none.
pub(super) fn read(path: &Path) -> Result<Option<String>, IntegrationError> {
    let mut text = String::new();
    match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io(path, error)),
        Ok(file) => file
            .take(FILE_MAX + 1)
            .read_to_string(&mut text)
            .map_err(|error| io(path, error))?,
    };
    if text.len() as u64 > FILE_MAX {
        return Err(io(
            path,
            std::io::Error::new(
                ErrorKind::FileTooLarge,
                format!("larger than {FILE_MAX} bytes"),
            ),
        ));
    }
    Ok(Some(text))
}

/// Puts `text` in the place of `path`: whole or not at all. A link stays a link, and the mode stays.
///
/// `was` is what was read before: where somebody else wrote in the meantime, nothing is written.
pub(super) fn replace(
    path: &Path,
    was: Option<&str>,
    text: &str,
    new_mode: u32,
) -> Result<(), IntegrationError> {
    put(path, was, text, |old| old.unwrap_or(new_mode))
}

/// The same with this mode, whatever it was before.
pub(super) fn replace_with_mode(
    path: &Path,
    was: Option<&str>,
    text: &str,
    mode: u32,
) -> Result<(), IntegrationError> {
    put(path, was, text, |_| mode)
}

fn put(
    path: &Path,
    was: Option<&str>,
    text: &str,
    mode: impl Fn(Option<u32>) -> u32,
) -> Result<(), IntegrationError> {
    let target = target(path);
    let folder = target.parent().unwrap_or(Path::new("."));
    let written = || -> std::io::Result<()> {
        fs::create_dir_all(folder)?;
        let old = fs::metadata(&target).map(|about| about.permissions().mode() & 0o7777);
        let mode = mode(old.ok());
        let mut next = tempfile::Builder::new()
            .prefix(".signaltty-")
            .tempfile_in(folder)?;
        next.write_all(text.as_bytes())?;
        next.as_file()
            .set_permissions(fs::Permissions::from_mode(mode))?;
        next.as_file().sync_all()?;
        let now = match fs::read_to_string(&target) {
            Ok(now) => Some(now),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if now.as_deref() != was {
            return Err(std::io::Error::other(
                "it was changed by another program at this moment; try again",
            ));
        }
        next.persist(&target).map_err(|failed| failed.error)?;
        // The rename lasts once the folder is on disk.
        File::open(folder).and_then(|folder| folder.sync_all())
    };
    written().map_err(|error| io(path, error))
}

/// Takes a file away.
pub(super) fn delete(path: &Path) -> Result<(), IntegrationError> {
    fs::remove_file(path).map_err(|error| io(path, error))
}

/// Where a path leads, through links.
fn target(path: &Path) -> PathBuf {
    if let Ok(whole) = fs::canonicalize(path) {
        return whole;
    }
    // A link to a file that is not there yet.
    match (fs::read_link(path), path.parent()) {
        (Ok(link), Some(folder)) => folder.join(link),
        _ => path.to_owned(),
    }
}

/// Names the file in an error of the system.
pub(super) fn io(path: &Path, source: std::io::Error) -> IntegrationError {
    IntegrationError::Io {
        file: path.display().to_string(),
        source,
    }
}
