//! The agents that SignalTTY knows: one adapter a vendor, one line each.

use signaltty_core::adapter::{Adapters, AgentAdapter};

pub mod ask;
pub mod card;
pub mod claude;
pub mod codex;

/// All adapters, in the order in which they are offered to people.
pub fn all() -> Vec<Box<dyn AgentAdapter>> {
    vec![
        Box::new(claude::Claude),
        Box::new(codex::Codex),
        Box::new(ask::Script),
    ]
}

/// The same, as the host takes them.
pub fn registry() -> Adapters {
    Adapters::new(all())
}

/// Whether a session id can stand on a command line as it is: nothing that a program takes for an option.
fn plain_session_id(id: &str) -> bool {
    signaltty_core::model::id::check(id).is_ok() && !id.starts_with('-')
}
