//! Every bound and every wait that more than one module relies on, named once with its unit.

use std::time::Duration;

/// Longest line on the host's socket, either way, in bytes, the newline included.
pub const LINE_MAX: usize = 1024 * 1024;
/// Decisions that one pane may have at once, the pending one included. Beyond it a hook gets no opinion.
pub const QUEUE_MAX: usize = 16;
/// How long a hook is held for an answer. The vendor's own hook timeout is written [`HOOK_MARGIN`] above it.
pub const HOLD_MAX: Duration = Duration::from_secs(3_600);
/// What the installed hook timeout exceeds [`HOLD_MAX`] by, so that we always give up first.
pub const HOOK_MARGIN: Duration = Duration::from_secs(60);
/// How long a hook or a held decision survives the loss of its host, or of its last operator.
pub const RECONNECT: Duration = Duration::from_secs(1);
/// How long granting controls stay inert after a different decision appeared.
pub const GUARD: Duration = Duration::from_millis(500);
/// How long after its announcement a decision's typed answer is held back from the terminal.
pub const ANNOUNCE: Duration = Duration::from_millis(300);
/// A lone Esc is one that nothing followed for this long.
pub const LONE_ESC: Duration = Duration::from_millis(50);
/// How long a hook has to confirm that its verdict was written and flushed.
pub const ACK: Duration = Duration::from_millis(250);
/// How long the host may take to say what became of a delivery before it counts as failed. Only a fail-safe:
/// the channel's own bound ([`ACK`] for a hook, the vendor's API limit) is shorter.
pub const DELIVERY_MAX: Duration = Duration::from_secs(10);
/// How long a vendor may take to report what became of a hook that went away.
pub const HOOK_LOSS_GRACE: Duration = Duration::from_secs(1);
/// Longest time a synchronized update (mode 2026) is withheld from viewers.
pub const SYNC_MAX: Duration = Duration::from_millis(150);
/// Most bytes of a synchronized update that are withheld from viewers.
pub const SYNC_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Most bytes fed to a terminal widget in one turn of its main loop.
pub const FEED_MAX: usize = 256 * 1024;

/// Panes that one host keeps at once.
pub const PANES_MAX: usize = 512;
/// Connections that one host serves at once.
pub const CONNECTIONS_MAX: usize = 512;
/// Requests that one connection may have in flight.
pub const IN_FLIGHT_MAX: usize = 64;
/// Options that one decision may offer.
pub const OPTIONS_MAX: usize = 32;
/// Fields that one form may have, and choices that one field may offer.
pub const FIELDS_MAX: usize = 32;
/// Longest id of a decision, an option, a field or a choice, in bytes.
pub const ID_MAX: usize = 128;
/// Longest label of an option, a field or a choice, in bytes.
pub const LABEL_MAX: usize = 1_024;
/// Longest prompt of a decision, in bytes.
pub const PROMPT_MAX: usize = 16 * 1024;
/// Longest detail of a decision (a command, a diff, a plan), in bytes.
pub const DETAIL_MAX: usize = 256 * 1024;
/// Longest text that an answer may carry, in bytes.
pub const TEXT_MAX: usize = 16 * 1024;
/// Longest title or name, in bytes.
pub const TITLE_MAX: usize = 256;
/// Longest message of a notification that an agent sends, in bytes.
pub const MESSAGE_MAX: usize = 4 * 1024;
/// Bytes of input that wait for a child that does not read.
pub const INPUT_MAX: usize = 256 * 1024;
/// Ended decisions whose fate the host remembers, so that a late answer learns what became of them.
pub const ENDED_MAX: usize = 4_096;
/// Ids of decisions that the host never takes again, newest first: long after their fate is forgotten.
pub const IDS_MAX: usize = 65_536;
/// Tool calls of one pane that are remembered between their start, their question and their end.
pub const CALLS_MAX: usize = 64;
/// Ended turns of one pane whose late events are ignored.
pub const TURNS_MAX: usize = 16;
/// Events that the host keeps for subscribers that come back.
pub const EVENT_RING: usize = 4_096;
/// Answers a minute that one peer may send.
pub const ANSWERS_PER_MINUTE: u32 = 240;
/// Entries that one reply of `history.list` may have.
pub const HISTORY_MAX: usize = 500;
