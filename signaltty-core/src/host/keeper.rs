//! The keeper: a very small process that outlives every host (specs/001 §1).
//!
//! It forks the panes' programs, holds their terminals' masters and one bounded [`memory`](PaneMemory) a
//! pane, reaps what ends, and hands everything to the next host. So a host that is killed, crashes or is
//! replaced loses no agent, and no output of a terminal lies on disk. It is a child subreaper, so that
//! everything a pane starts stays its descendant, which is what [`super::ancestry`] reads.
//!
//! It obeys one host at a time: the process that holds the host lock and shows it. It refuses another
//! user's processes, and every process that descends from itself or may do so. It is non-dumpable, so that
//! no process of the same user may trace it or open its descriptors.
//!
//! - [`run`] is `signaltty keeper`: what becomes of a process that the host has started as its keeper.
//! - [`Keeper::connect_or_start`] is the host's side.
//!
//! ```text
//! keeper.rs        (this)
//!   wire.rs          the messages, versioned
//!     codec.rs         as bytes
//!   link.rs          frames and descriptors over a socket, for both ends
//!   entry.rs         becoming a keeper
//!   process.rs       the keeper's loop
//!     pane.rs          one pane
//!     peers.rs         who comes, and who of them is the host
//!     host.rs          hearing and telling the host
//!     requests.rs      carrying out what it asks for
//!   child.rs         from fork to exec
//!   memory.rs        snapshot and output that outlive a host
//!   client.rs        the host's handle
//!     connection.rs    hello, and the task behind the handle
//!     error.rs         what can go wrong
//!   start.rs         finding or starting a keeper
//! ```

mod child;
mod client;
mod entry;
mod link;
mod memory;
mod process;
mod start;
pub mod wire;

pub use client::{HeldPane, Keeper, KeeperError, KeeperEvent, SpawnError, SpawnSpec, Spawned};
pub use entry::run;
pub use memory::{MemoryError, PaneMemory, Restored, SNAPSHOT_AFTER, SNAPSHOT_MAX, TAIL_MAX};
pub use process::IDLE_EXIT;
pub use wire::{META_MAX, Target};
