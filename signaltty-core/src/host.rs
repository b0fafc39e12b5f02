//! The host: the one owner of panes, decisions and lifecycle, and the keeper behind it.

pub mod ancestry;
pub mod environment;
pub mod hardening;
pub mod keeper;
pub mod lock;
pub mod paths;
pub mod peer;
pub mod pty;
pub mod terminal;
