//! Two clocks, read once by whoever calls the state machine.

/// A moment: `boot_ms` for deadlines, `wall_ms` for showing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Moment {
    /// Milliseconds on CLOCK_BOOTTIME, which also runs while the machine sleeps and is never set back.
    pub boot_ms: u64,
    /// Milliseconds since the Unix epoch. May jump; never used for a deadline.
    pub wall_ms: i64,
}
