//! The host's terminal: what comes of a program's output, what a new viewer gets, what a viewer types.
#![cfg(feature = "host")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "these are tests"
)]

mod backlog;
mod dump;
mod keys;
mod output;
mod random;
mod snapshot;
