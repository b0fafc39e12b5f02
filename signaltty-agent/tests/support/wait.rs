//! Waiting for what other programs do: always for a state, always with a bound.

use std::time::{Duration, Instant};

/// How long anything may take. Generous: it is reached only when the test fails.
pub const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks at something that tells nobody when it changes.
const PAUSE: Duration = Duration::from_millis(20);

/// The first `Some` of `look`; fails the test, saying `what` was waited for, after [`PATIENCE`].
#[track_caller]
pub fn until<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    within(PATIENCE, look).unwrap_or_else(|| panic!("waited {PATIENCE:?} in vain: {what}"))
}

/// The first `Some` of `look` within a time.
pub fn within<T>(time: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + time;
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if Instant::now() > end {
            return None;
        }
        std::thread::sleep(PAUSE);
    }
}

/// Looks for the whole of a time: what must not happen has to be given the time to.
///
/// # Panics
/// At once when it happens.
#[track_caller]
pub fn never(what: &str, time: Duration, mut look: impl FnMut() -> bool) {
    let happened = within(time, || look().then_some(()));
    assert!(happened.is_none(), "it happened: {what}");
}
