//! The host's two clocks, read in one place.

use std::time::{SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};

use crate::model::Moment;

/// Now, on CLOCK_BOOTTIME and on the wall.
pub fn now() -> Moment {
    let wall = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Moment {
        boot_ms: boot_ms(),
        wall_ms: i64::try_from(wall.as_millis()).unwrap_or(i64::MAX),
    }
}

/// Milliseconds on CLOCK_BOOTTIME: it also runs while the machine sleeps, and nobody sets it back.
pub fn boot_ms() -> u64 {
    let time = clock_gettime(ClockId::Boottime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let millis = u64::try_from(time.tv_nsec).unwrap_or_default() / 1_000_000;
    seconds.saturating_mul(1_000).saturating_add(millis)
}
