//! What SignalTTY knows of the vendors' agents, and the `signaltty` program.
//!
//! ```text
//! agent's hook ─► hook ─► host ─► adapters::interpret ─► the session's rules
//!                  ▲                                            │
//!                  └──────────── adapters::verdict ◄────────────┘
//! ```
//!
//! [`adapters`] read the vendors' payloads and spell their verdicts; [`integration`] puts our hook into their
//! configuration; [`hook`] is that hook; [`cli`] is everything else that the program does.

use std::process::ExitCode;

pub mod adapters;
pub mod cli;
pub mod diff;
pub mod hook;
pub mod integration;
pub mod paths;
pub mod reading;

/// Runs the program. Two things come before the command line is read: the hook, because it runs at every step
/// of an agent, and the keeper, because it must be one thread and know every open file.
pub fn run() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next() {
        Some(word) if word == "hook" => {
            if let Some(invocation) = hook::Invocation::from_arguments(arguments) {
                hook::run(&invocation);
                return ExitCode::SUCCESS;
            }
        }
        Some(word) if word == "keeper" && arguments.next().is_none() => {
            return signaltty_core::host::keeper::run();
        }
        _ => {}
    }
    cli::run()
}
