//! The real agents, installed from npm at pinned versions into a cache folder.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::fs::{FlockOperation, flock};

/// One package of npm and where its program lies in it.
pub struct Package {
    /// Its name.
    pub name: &'static str,
    /// Its version. The adapters are proven against exactly this one.
    pub version: &'static str,
    /// The scope's folder, the prefix of the folder that holds the machine's own build, and the program's name.
    scope: &'static str,
    native: &'static str,
    program: &'static str,
}

/// Claude Code.
pub const CLAUDE: Package = Package {
    name: "@anthropic-ai/claude-code",
    version: "2.1.332",
    scope: "@anthropic-ai",
    native: "claude-code-linux-",
    program: "claude",
};
/// Codex.
pub const CODEX: Package = Package {
    name: "@openai/codex",
    version: "0.171.0",
    scope: "@openai",
    native: "codex-linux-",
    program: "codex",
};

impl Package {
    /// The program, installed if it is not there yet.
    ///
    /// # Errors
    /// Why it cannot be had, as npm says it.
    pub fn program(&self) -> Result<PathBuf, String> {
        let cache = cache()?;
        fs::create_dir_all(&cache).map_err(|error| format!("{}: {error}", cache.display()))?;
        // Test binaries, and runs, may want the same one at the same time.
        let lock = File::create(cache.join("lock")).map_err(|error| error.to_string())?;
        flock(&lock, FlockOperation::LockExclusive).map_err(|error| error.to_string())?;

        let folder = cache.join(format!("{}-{}", self.program, self.version));
        if let Some(program) = self.find(&folder) {
            return Ok(program);
        }
        let partial = cache.join(format!("{}-{}.partial", self.program, self.version));
        let _ = fs::remove_dir_all(&partial);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&partial).map_err(|error| error.to_string())?;
        eprintln!("installing {}@{}", self.name, self.version);
        let done = Command::new("npm")
            .args([
                "install",
                "--no-audit",
                "--no-fund",
                "--no-package-lock",
                "--no-save",
                "--prefix",
            ])
            .arg(&partial)
            .arg(format!("{}@{}", self.name, self.version))
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("npm: {error}"))?;
        if !done.status.success() {
            return Err(format!(
                "npm cannot install {}@{}: {}",
                self.name,
                self.version,
                super::world::text(&done)
            ));
        }
        fs::rename(&partial, &folder).map_err(|error| error.to_string())?;
        self.find(&folder).ok_or_else(|| {
            format!(
                "{}@{} has no program {}",
                self.name, self.version, self.program
            )
        })
    }

    /// The native program below an installed package's folder.
    fn find(&self, folder: &Path) -> Option<PathBuf> {
        let scope = fs::read_dir(folder.join("node_modules").join(self.scope)).ok()?;
        let native = scope
            .flatten()
            .find(|entry| entry.file_name().to_string_lossy().starts_with(self.native))?;
        find_file(&native.path(), self.program, 5)
    }
}

/// `$SIGNALTTY_AGENTS_CACHE`, else `$XDG_CACHE_HOME/signaltty/agents`, else `~/.cache/signaltty/agents`.
fn cache() -> Result<PathBuf, String> {
    if let Some(folder) = std::env::var_os("SIGNALTTY_AGENTS_CACHE") {
        return Ok(folder.into());
    }
    let base = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))
        .ok_or("neither HOME nor XDG_CACHE_HOME is set")?;
    Ok(base.join("signaltty/agents"))
}

/// A file of that name at most `depth` folders down.
fn find_file(folder: &Path, name: &str, depth: usize) -> Option<PathBuf> {
    let entries: Vec<_> = fs::read_dir(folder)
        .ok()?
        .flatten()
        .map(|entry| entry.path())
        .collect();
    if let Some(found) = entries
        .iter()
        .find(|path| path.is_file() && path.file_name().is_some_and(|file| file == name))
    {
        return Some(found.clone());
    }
    if depth == 0 {
        return None;
    }
    entries
        .iter()
        .filter(|path| path.is_dir())
        .find_map(|path| find_file(path, name, depth - 1))
}
