//! Our hook in the vendors' own configuration: merged, idempotent, atomic, and taken out again.
//!
//! Everything that is not ours stays as it is, byte for byte. A file that is not what it should be is refused
//! with its line, and nothing is changed.

mod edit;
mod file;
mod hooks;
mod json;
mod shim;

pub use hooks::{HookFile, HookLine};

use std::path::PathBuf;

use signaltty_core::adapter::IntegrationEnv;

use crate::adapters::{claude, codex};
use crate::paths;

/// Where integrations read and write for the user of this process; `None` where there is no home. `program` is
/// what the shim will run.
pub fn environment(program: PathBuf) -> Option<IntegrationEnv> {
    let names = [CLAUDE.folder_variable, CODEX.folder_variable, "PATH"];
    let vars = names
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), std::env::var(name).ok()?)))
        .collect();
    Some(IntegrationEnv {
        home: paths::home()?,
        data_dir: paths::data_dir()?,
        vars,
        program,
    })
}

/// Seconds that a hook which is not held may take: far more than it needs.
const REPORT_SECONDS: u64 = 10;
/// Seconds that Codex allows the hooks of an ending session; it clamps larger ones and calls that an issue.
const ENDING_SECONDS: u64 = 3;
/// Seconds that a held hook may take.
const HELD_SECONDS: u64 = signaltty_core::adapter::INSTALLED_TIMEOUT.as_secs();

/// Claude Code: `settings.json` of its configuration folder.
pub static CLAUDE: HookFile = HookFile {
    agent: claude::AGENT,
    display_name: "Claude Code",
    program: "claude",
    folder_variable: "CLAUDE_CONFIG_DIR",
    folder: ".claude",
    file: "settings.json",
    events: &[
        HookLine {
            event: "SessionStart",
            matcher: None,
            seconds: REPORT_SECONDS,
        },
        HookLine {
            event: "UserPromptSubmit",
            matcher: None,
            seconds: REPORT_SECONDS,
        },
        HookLine {
            event: "PreToolUse",
            matcher: Some("*"),
            seconds: REPORT_SECONDS,
        },
        HookLine {
            event: "PermissionRequest",
            matcher: Some("*"),
            seconds: HELD_SECONDS,
        },
        HookLine {
            event: "PostToolUse",
            matcher: Some("*"),
            seconds: REPORT_SECONDS,
        },
        HookLine {
            event: "PostToolUseFailure",
            matcher: Some("*"),
            seconds: REPORT_SECONDS,
        },
        HookLine {
            event: "Notification",
            matcher: None,
            seconds: REPORT_SECONDS,
        },
        HookLine {
            event: "Stop",
            matcher: None,
            seconds: REPORT_SECONDS,
        },
        HookLine {
            event: "StopFailure",
            matcher: None,
            seconds: REPORT_SECONDS,
        },
        HookLine {
            event: "SubagentStop",
            matcher: None,
            seconds: REPORT_SECONDS,
        },
        HookLine {
            event: "SessionEnd",
            matcher: None,
            seconds: REPORT_SECONDS,
        },
    ],
    switched_off_by: Some("disableAllHooks"),
    after_install: &[
        "Sessions of Claude Code that are running take it up when they are started again.",
    ],
};

/// Codex: `hooks.json` of its configuration folder.
pub static CODEX: HookFile = HookFile {
    agent: codex::AGENT,
    display_name: "Codex",
    program: "codex",
    folder_variable: "CODEX_HOME",
    folder: ".codex",
    file: "hooks.json",
    events: &[
        HookLine {
            event: "SessionStart",
            matcher: None,
            seconds: REPORT_SECONDS,
        },
        HookLine {
            event: "UserPromptSubmit",
            matcher: None,
            seconds: REPORT_SECONDS,
        },
        HookLine {
            event: "PreToolUse",
            matcher: None,
            seconds: REPORT_SECONDS,
        },
        HookLine {
            event: "PermissionRequest",
            matcher: None,
            seconds: HELD_SECONDS,
        },
        HookLine {
            event: "PostToolUse",
            matcher: None,
            seconds: REPORT_SECONDS,
        },
        HookLine {
            event: "Stop",
            matcher: None,
            seconds: REPORT_SECONDS,
        },
        HookLine {
            event: "Interrupt",
            matcher: None,
            seconds: ENDING_SECONDS,
        },
        HookLine {
            event: "SessionEnd",
            matcher: None,
            seconds: ENDING_SECONDS,
        },
    ],
    switched_off_by: None,
    after_install: &[
        "Codex runs a new hook only after you trusted it: at its next start it shows \"Hooks need review\"; choose \"Trust all and continue\" (or use /hooks later).",
        "Codex sessions that you start yourself share one background server; start them as `codex --no-daemon`, or from SignalTTY, so that each is found in its own pane.",
    ],
};
