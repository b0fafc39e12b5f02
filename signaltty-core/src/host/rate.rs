//! How often a peer may do something: a bucket that refills with time.

use super::clock;

/// A bucket of tokens.
#[derive(Debug, Clone)]
pub struct Rate {
    per_minute: u32,
    tokens: f64,
    filled_ms: u64,
}

impl Rate {
    /// A full bucket that holds one minute's worth.
    pub fn per_minute(per_minute: u32) -> Self {
        Self {
            per_minute,
            tokens: f64::from(per_minute),
            filled_ms: clock::boot_ms(),
        }
    }

    /// Takes one token, if there is one.
    pub fn take(&mut self) -> bool {
        self.take_at(clock::boot_ms())
    }

    #[allow(
        clippy::cast_precision_loss,
        reason = "milliseconds since boot fit a f64 for 285,000 years"
    )]
    fn take_at(&mut self, now_ms: u64) -> bool {
        let elapsed = now_ms.saturating_sub(self.filled_ms) as f64;
        let capacity = f64::from(self.per_minute);
        self.tokens = (self.tokens + elapsed * capacity / 60_000.0).min(capacity);
        self.filled_ms = now_ms;
        let has = self.tokens >= 1.0;
        if has {
            self.tokens -= 1.0;
        }
        has
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_gives_a_minutes_worth_at_once_and_then_refills_with_time() {
        let mut rate = Rate::per_minute(60);
        let start = rate.filled_ms;
        assert_eq!((0..100).filter(|_| rate.take_at(start)).count(), 60);
        assert!(!rate.take_at(start + 500));
        assert!(rate.take_at(start + 1_100));
        assert_eq!(
            (0..100).filter(|_| rate.take_at(start + 600_000)).count(),
            60
        );
    }
}
