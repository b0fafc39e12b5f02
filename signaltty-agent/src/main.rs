//! The `signaltty` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    signaltty_agent::run()
}
