//! SignalTTY without a window: panes, decisions and the rules that govern them.
//!
//! One direction runs through this crate. A vendor's hook is read by an [`adapter`], becomes a
//! command to the [`session`] state machine, and comes out as an event of the [`protocol`] that every
//! [`client`] sees. An answer goes the other way: [`answer`] says what it means, the session consumes
//! the decision, and an effect carries it to the agent through the one channel its adapter named.
//!
//! [`model`], [`session`], [`answer`] and [`sanitise`] do no I/O, read no clock and are not async:
//! time and ids are handed in. The crate names no vendor and depends on no GUI crate.

pub mod adapter;
pub mod answer;
pub mod client;
#[cfg(feature = "host")]
pub mod host;
pub mod limits;
pub mod model;
pub mod paths;
pub mod protocol;
pub mod sanitise;
pub mod session;
