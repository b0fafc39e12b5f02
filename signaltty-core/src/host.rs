//! The host: one process a user that owns panes, decisions, lifecycle and attention.
//!
//! ```text
//! server → connection → dispatch ─┐                       ┌→ publish → subscribers
//! hooks, attach, keeper events ───┴→ state (the session) ─┴→ delivery → hook or terminal
//! ```

pub mod ancestry;
mod answering;
mod attach;
mod caller;
mod clock;
mod connection;
mod delivery;
mod dispatch;
pub mod environment;
mod hardening;
mod hook_peer;
mod hooks;
mod integrations;
pub mod keeper;
mod later;
mod lines;
pub mod lock;
mod pane_runtime;
pub mod paths;
pub mod peer;
mod probe;
pub mod pty;
mod publish;
mod rate;
mod server;
mod spawn;
mod state;
mod storage;
pub mod terminal;
mod typing;
mod waiting;

pub use server::{HostError, Options, run};
