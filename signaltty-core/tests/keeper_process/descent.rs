//! Who is inside.

use std::process::ExitCode;

use libtest_mimic::Trial;

pub fn trials() -> Vec<Trial> {
    vec![]
}

pub fn run_probe() -> ExitCode {
    ExitCode::SUCCESS
}
