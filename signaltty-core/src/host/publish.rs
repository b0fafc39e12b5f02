//! Events to subscribers: numbered, in order, never waiting for a slow one.
//!
//! A subscriber has a bounded queue. When it is full, the subscriber loses what is in it and gets one
//! `resync` with the whole state as soon as it reads again (CONTRACT §1).

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use crate::limits::EVENT_RING;
use crate::protocol::{Event, EventFrame, Snapshot};

/// Most bytes of events that are kept for subscribers that come back.
const RING_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Lines that may wait for a subscriber however few the ring holds.
const QUEUE_FREE: usize = 8;

/// A line, shared by all who get it.
pub type Line = Arc<str>;

/// One who subscribed.
struct Subscriber {
    connection: u64,
    lines: mpsc::Sender<Line>,
    /// Missed something, and owes a `resync` before anything else.
    lagging: bool,
}

/// The numbered stream of one run of the host.
pub struct Publisher {
    epoch: String,
    seq: u64,
    ring: VecDeque<(u64, Line)>,
    /// Bytes in the ring.
    ring_bytes: usize,
    subscribers: Vec<Subscriber>,
}

impl Publisher {
    /// A stream that begins with number 1.
    pub fn new(epoch: String) -> Self {
        Self {
            epoch,
            seq: 0,
            ring: VecDeque::new(),
            ring_bytes: 0,
            subscribers: Vec::new(),
        }
    }

    /// This run of the host.
    pub fn epoch(&self) -> &str {
        &self.epoch
    }

    /// The number of the last event.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// Whether anybody listens.
    pub fn is_heard(&self) -> bool {
        !self.subscribers.is_empty()
    }

    /// Whether anybody listens who has missed something: then [`Self::catch_up`] is due.
    pub fn any_lagging(&self) -> bool {
        self.subscribers.iter().any(|subscriber| subscriber.lagging)
    }

    /// Numbers an event and hands it to everybody whose queue has room.
    pub fn publish(&mut self, event: Event) {
        self.seq += 1;
        let Some(line) = line(&EventFrame {
            seq: self.seq,
            event,
        }) else {
            return;
        };
        self.ring_bytes += line.len();
        self.ring.push_back((self.seq, line.clone()));
        while self.ring.len() > EVENT_RING || self.ring_bytes > RING_BYTES_MAX {
            let Some((_, oldest)) = self.ring.pop_front() else {
                break;
            };
            self.ring_bytes -= oldest.len();
        }
        let kept = self.ring.len();
        self.subscribers.retain_mut(|subscriber| {
            if subscriber.lagging {
                return !subscriber.lines.is_closed();
            }
            // What waits for it is what the ring still has, so that the ring's bound is the queue's too.
            let waiting = subscriber.lines.max_capacity() - subscriber.lines.capacity();
            if waiting > kept.max(QUEUE_FREE) {
                subscriber.lagging = true;
                return true;
            }
            match subscriber.lines.try_send(line.clone()) {
                Ok(()) => true,
                Err(TrySendError::Full(_)) => {
                    subscriber.lagging = true;
                    true
                }
                Err(TrySendError::Closed(_)) => false,
            }
        });
    }

    /// Gives those who missed something the whole state, if their queue has drained.
    pub fn catch_up(&mut self, state: impl FnOnce() -> Snapshot) {
        if !self.any_lagging() {
            return;
        }
        let Some(line) = line(&EventFrame {
            seq: self.seq,
            event: Event::Resync(state()),
        }) else {
            return;
        };
        for subscriber in self
            .subscribers
            .iter_mut()
            .filter(|subscriber| subscriber.lagging)
        {
            // Only an empty queue shows that the subscriber reads again.
            if subscriber.lines.capacity() == subscriber.lines.max_capacity()
                && subscriber.lines.try_send(line.clone()).is_ok()
            {
                subscriber.lagging = false;
            }
        }
    }

    /// The events after `from`, if all of them are still there.
    pub fn since(&self, from: u64) -> Option<Vec<Line>> {
        if from > self.seq {
            return None;
        }
        let first = self.ring.front().map_or(self.seq + 1, |(seq, _)| *seq);
        if from + 1 < first {
            return None;
        }
        Some(
            self.ring
                .iter()
                .filter(|(seq, _)| *seq > from)
                .map(|(_, line)| line.clone())
                .collect(),
        )
    }

    /// From now on this connection gets every event. A connection that subscribes again is one subscriber.
    pub fn subscribe(&mut self, connection: u64, lines: mpsc::Sender<Line>) {
        self.unsubscribe(connection);
        self.subscribers.push(Subscriber {
            connection,
            lines,
            lagging: false,
        });
    }

    /// The connection is gone.
    pub fn unsubscribe(&mut self, connection: u64) {
        self.subscribers
            .retain(|subscriber| subscriber.connection != connection);
    }
}

/// A frame as a line.
fn line(frame: &EventFrame) -> Option<Line> {
    let mut text = serde_json::to_string(frame).ok()?;
    text.push('\n');
    Some(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Layout, PaneId};

    fn closed(n: usize) -> Event {
        Event::PaneClosed {
            pane_id: PaneId::from_trusted(format!("p{n}")),
        }
    }

    fn state() -> Snapshot {
        Snapshot {
            panes: Vec::new(),
            layout: Layout::default(),
            epoch: "e".into(),
            seq: 0,
        }
    }

    #[test]
    fn a_subscriber_that_does_not_read_gets_one_resync_and_then_the_stream_again() {
        let mut publisher = Publisher::new("e".into());
        let (lines, mut queue) = mpsc::channel(2);
        publisher.subscribe(1, lines);
        for n in 0..5 {
            publisher.publish(closed(n));
        }
        publisher.catch_up(state);
        assert!(publisher.any_lagging(), "its queue is still full");
        assert!(queue.try_recv().unwrap().contains("\"seq\":1"));
        assert!(queue.try_recv().unwrap().contains("\"seq\":2"));
        publisher.catch_up(state);
        assert!(queue.try_recv().unwrap().contains("resync"));
        publisher.publish(closed(6));
        assert!(queue.try_recv().unwrap().contains("\"seq\":6"));
    }

    #[test]
    fn a_subscriber_that_comes_back_gets_what_it_missed_while_the_ring_still_has_it() {
        let mut publisher = Publisher::new("e".into());
        for n in 0..EVENT_RING + 10 {
            publisher.publish(closed(n));
        }
        let last = publisher.seq();
        assert_eq!(publisher.since(last).map(|lines| lines.len()), Some(0));
        assert_eq!(publisher.since(last - 3).map(|lines| lines.len()), Some(3));
        assert_eq!(
            publisher.since(10).map(|lines| lines.len()),
            Some(EVENT_RING)
        );
        assert_eq!(publisher.since(9), None, "the tenth is gone");
        assert_eq!(publisher.since(last + 1), None, "a number of another run");
    }

    #[test]
    fn what_is_kept_and_what_waits_is_bounded_in_bytes_too() {
        let mut publisher = Publisher::new("e".into());
        let (lines, mut queue) = mpsc::channel(EVENT_RING);
        publisher.subscribe(1, lines);
        let large = "x".repeat(1024 * 1024);
        for _ in 0..64 {
            publisher.publish(Event::HostWarning {
                message: large.clone(),
            });
        }
        assert!(publisher.ring_bytes <= RING_BYTES_MAX);
        let kept = publisher.ring.len();
        assert!(kept > 0 && kept < 64, "{kept} of 64 are kept");
        assert!(
            publisher.any_lagging(),
            "who does not read is owed the state"
        );
        let mut waiting = 0;
        while let Ok(line) = queue.try_recv() {
            waiting += line.len();
        }
        assert!(
            waiting <= RING_BYTES_MAX + 2 * large.len(),
            "{waiting} bytes wait"
        );
    }
}
