//! The task that feeds one stream to one terminal widget, a bounded portion at a time.

use std::time::Duration;

use gtk::glib;
use signaltty_core::limits::FEED_MAX;
use vte::prelude::*;

use super::TerminalView;
use crate::bridge::Output;
use crate::rules::feed::{SENTINEL, Scanner};
use crate::rules::scrolled::{Clears, LINES_SETTLE};

/// A widget that does not answer the sentinel within this is fed all the same.
const SENTINEL_MAX: Duration = Duration::from_secs(2);

/// Feeds a stream to the widget until it ends. True: the host refused it.
pub(super) async fn feed_all(
    weak: &glib::WeakRef<TerminalView>,
    output: &async_channel::Receiver<Output>,
    processed: &async_channel::Receiver<()>,
) -> bool {
    let mut waiting: Vec<u8> = Vec::new();
    let mut scanner = Scanner::default();
    let mut clears = Clears::default();
    let mut refused = false;
    let mut open = true;
    while open {
        let waits = weak.upgrade().is_some_and(|view| view.waits_for_lines());
        let mut next = if waits {
            match glib::future_with_timeout(LINES_SETTLE, output.recv()).await {
                Ok(next) => next.ok(),
                // There are no more lines to wait for.
                Err(_) => {
                    let Some(view) = weak.upgrade() else {
                        return false;
                    };
                    view.settle(true);
                    continue;
                }
            }
        } else {
            output.recv().await.ok()
        };
        // Whatever else is there goes into the same portion.
        loop {
            match next {
                Some(Output::Attached(attached)) => {
                    let Some(view) = weak.upgrade() else {
                        return false;
                    };
                    tracing::debug!(size = ?attached.size, "attached");
                    view.begin();
                    scanner.reset();
                    clears = Clears::default();
                }
                Some(Output::Bytes(bytes)) => waiting.extend_from_slice(&bytes),
                Some(Output::Ended(error)) => {
                    refused = error.as_ref().is_some_and(|error| error.code().is_some());
                    if let Some(error) = error {
                        tracing::info!(%error, "a pane could not be attached");
                    }
                    open = false;
                }
                None => open = false,
            }
            if !open || waiting.len() >= FEED_MAX {
                break;
            }
            match output.try_recv() {
                Ok(more) => next = Some(more),
                Err(_) => break,
            }
        }
        while !waiting.is_empty() {
            let Some(view) = weak.upgrade() else {
                return false;
            };
            let terminal = view.terminal().clone();
            let (back, _) = view.scrolled();
            match scanner.cut(&waiting) {
                Some(cut) => {
                    let rest = waiting.split_off(cut);
                    if let Some(before) = clears.pass(&waiting, back) {
                        view.wish(before);
                    }
                    drop(view);
                    waiting.extend_from_slice(SENTINEL);
                    while processed.try_recv().is_ok() {}
                    terminal.feed(&waiting);
                    waiting = rest;
                    if glib::future_with_timeout(SENTINEL_MAX, processed.recv())
                        .await
                        .is_err()
                    {
                        tracing::warn!("the terminal did not say that it was done");
                    }
                }
                // The beginning of a sequence: its end is still to come.
                None if waiting.len() < FEED_MAX && open => break,
                // A sequence longer than a portion: fed as it is, a portion a turn of the main loop.
                None => {
                    let rest = waiting.split_off(waiting.len().min(FEED_MAX));
                    scanner.pass(&waiting);
                    // None can begin here: it would have ended the sequence, and the portion with it.
                    clears.pass(&waiting, back);
                    drop(view);
                    terminal.feed(&waiting);
                    waiting = rest;
                    glib::timeout_future(Duration::from_millis(1)).await;
                }
            }
            if let Some(view) = weak.upgrade() {
                view.settle(false);
            }
        }
    }
    refused
}
