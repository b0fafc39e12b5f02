//! What the tests on real programs share: a private world, a host in it, agents, a model server, a desktop.
//!
//! Included by path from the integration tests of both programs, so each uses what it needs of it.
#![allow(dead_code, reason = "every test uses another part of it")]
#![allow(unused_imports, reason = "the same")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops where it stands"
)]

pub mod agent;
pub mod client;
pub mod desk;
pub mod install;
pub mod model;
pub mod scenario;
pub mod wait;
pub mod world;

pub use agent::{Agent, RealPane, Vendor};
pub use client::{Client, Viewer, WireFailure};
pub use desk::Desk;
pub use scenario::Stage;
pub use wait::{PATIENCE, until};
pub use world::{Pane, World};

/// One real agent at a time in a test binary: two cores carry no more without turning bounds into guesses.
static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// Taken by every test that starts a real agent or a desktop, for as long as it runs.
pub fn one_at_a_time() -> std::sync::MutexGuard<'static, ()> {
    // A test that failed while it held it leaves nothing that the next one could trip over.
    ONE_AT_A_TIME
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Says on the real standard error that a test did not run, and fails it where a skip must not be.
pub fn skip(what: &str, why: &str) {
    use std::io::Write as _;
    // Past cargo's capture: a skipped test must not look like one that passed.
    let _ = writeln!(std::io::stderr(), "\nSKIPPED {what}: {why}");
    assert!(
        std::env::var("CI").as_deref() != Ok("true"),
        "{what} was skipped, and CI=true: {why}"
    );
}
