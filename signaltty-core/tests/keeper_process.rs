//! The keeper as a process of its own, driven by hosts that are started, killed and replaced.
//!
//! This test program has its own `main`, because it is also what it tests: started with `keeper` as its first
//! argument it is the keeper (as `signaltty keeper` is), with `host` a host that can be killed, with `probe`
//! a process that connects to a socket. So nothing but this crate is needed, and the keeper under test runs
//! on the first and only thread of its process, as it has to.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod keeper_process {
    pub mod bench;
    pub mod descent;
    pub mod hand_over;
    pub mod programs;
}

use std::process::ExitCode;

use keeper_process::{bench, descent, hand_over, programs};

fn main() -> ExitCode {
    let role = std::env::args().nth(1);
    match role.as_deref() {
        Some("keeper") => signaltty_core::host::keeper::run(),
        Some("host") => bench::run_host(),
        Some("probe") => descent::run_probe(),
        _ => {
            let args = libtest_mimic::Arguments::from_args();
            let trials =
                [programs::trials(), hand_over::trials(), descent::trials()].concat_trials();
            libtest_mimic::run(&args, trials).exit_code()
        }
    }
}

trait ConcatTrials {
    fn concat_trials(self) -> Vec<libtest_mimic::Trial>;
}

impl<const N: usize> ConcatTrials for [Vec<libtest_mimic::Trial>; N] {
    fn concat_trials(self) -> Vec<libtest_mimic::Trial> {
        self.into_iter().flatten().collect()
    }
}
