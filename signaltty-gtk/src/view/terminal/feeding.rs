//! The task that feeds one stream to one terminal widget, a bounded portion at a time.

use std::time::Duration;

use gtk::glib;
use signaltty_core::limits::FEED_MAX;
use vte::prelude::*;

use super::TerminalView;
use crate::bridge::Output;
use crate::rules::feed::{SENTINEL, Scanner, repaints};

/// A widget that does not answer the sentinel within this is fed all the same.
const SENTINEL_MAX: Duration = Duration::from_secs(2);

/// Feeds a stream to the widget until it ends. True: the host refused it.
pub(super) async fn feed_all(
    view: &glib::WeakRef<TerminalView>,
    output: &async_channel::Receiver<Output>,
    processed: &async_channel::Receiver<()>,
) -> bool {
    let mut waiting: Vec<u8> = Vec::new();
    let mut scanner = Scanner::default();
    let mut scrolled_back = None;
    let mut refused = false;
    let mut open = true;
    while open {
        let mut next = output.recv().await.ok();
        // Whatever else is there goes into the same portion.
        loop {
            match next {
                Some(Output::Attached(attached)) => {
                    let Some(view) = view.upgrade() else {
                        return false;
                    };
                    tracing::debug!(size = ?attached.size, "attached");
                    scrolled_back = view.rows_back();
                    view.begin();
                    scanner.reset();
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
            let Some(view) = view.upgrade() else {
                return false;
            };
            let terminal = view.terminal().clone();
            match scanner.cut(&waiting) {
                Some(cut) => {
                    if scrolled_back.is_none() && waiting.get(..cut).is_some_and(repaints) {
                        scrolled_back = view.rows_back();
                    }
                    drop(view);
                    let rest = waiting.split_off(cut);
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
                    drop(view);
                    let rest = waiting.split_off(waiting.len().min(FEED_MAX));
                    scanner.pass(&waiting);
                    terminal.feed(&waiting);
                    waiting = rest;
                    glib::timeout_future(Duration::from_millis(1)).await;
                }
            }
        }
        if let (Some(rows), Some(view)) = (scrolled_back.take(), view.upgrade()) {
            view.scroll_back(rows);
        }
    }
    refused
}
