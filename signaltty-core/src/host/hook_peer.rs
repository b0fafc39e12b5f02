//! A connection that waits for a verdict.

use serde_json::json;
use tokio::sync::mpsc;

use super::publish::Line;
use crate::model::DecisionId;

/// Where a verdict goes.
#[derive(Debug, Clone)]
pub struct HookPeer {
    /// Its connection's number.
    pub connection: u64,
    /// The lines of its connection.
    pub lines: mpsc::Sender<Line>,
}

impl HookPeer {
    /// Sends the second line of a held `hook-event`. False where the connection cannot take it: it is gone.
    pub fn verdict(&self, decision_id: &DecisionId, stdout: &str) -> bool {
        let line =
            json!({ "event": "verdict", "data": { "decision_id": decision_id, "stdout": stdout } });
        self.lines.try_send(format!("{line}\n").into()).is_ok()
    }
}
