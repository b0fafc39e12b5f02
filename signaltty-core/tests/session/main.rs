//! The rules of the session, read as the specification reads: given, when, then. Each test cites its rule.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "these are tests"
)]

mod answering;
mod ending;
mod harness;
mod hooks;
mod ingest;
mod lifecycle;
mod pending;
mod places;
mod properties;
mod terminal;
mod type_text;
mod watch;
