//! The open file: writing a batch, pruning, reading back, forgetting. One connection, on the writer's thread.

use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params, params_from_iter};
use serde::de::DeserializeOwned;

use super::write::{AskedRow, EndedRow, PaneRow, Write, word};
use super::{AGE_MAX, DECISIONS_MAX, FILE_MAX, PANES_KEPT, PRUNE_BATCH, StorageError, schema};
use crate::limits::HISTORY_MAX;
use crate::model::{DecisionId, Layout, PaneId};
use crate::protocol::params::{
    HistoryEntry, HistoryForgetParams, HistoryListParams, HistoryReason, HistoryReply,
};

/// Bytes of entries in one reply: half a line of the protocol.
const REPLY_MAX: usize = crate::limits::LINE_MAX / 2;

/// See the module.
pub(super) struct Database {
    pub(super) connection: Connection,
}

impl Database {
    /// Opens the file.
    ///
    /// # Errors
    /// As [`schema::open`].
    pub(super) fn open(path: &Path) -> Result<Self, StorageError> {
        let connection = schema::open(path)?;
        Ok(Self { connection })
    }

    /// Ends what an earlier host left open; a pane or a question that comes back is opened again. Before the
    /// first write of a host, and never after it.
    ///
    /// # Errors
    /// The disk's.
    pub(super) fn end_left_open(&mut self, now: i64) -> Result<(), StorageError> {
        let step = self.connection.transaction()?;
        step.execute(
            "UPDATE decisions SET ended_at = max(?1, asked_at), reason = ?2 WHERE ended_at IS NULL",
            params![now, word(&HistoryReason::HostEnded)],
        )?;
        step.execute(
            "UPDATE panes SET closed_at = ?1 WHERE closed_at IS NULL",
            [now],
        )?;
        step.commit()?;
        Ok(())
    }

    /// Writes all of it or nothing.
    ///
    /// # Errors
    /// The disk's.
    pub(super) fn write(&mut self, writes: &[Write]) -> Result<(), StorageError> {
        let step = self.connection.transaction()?;
        for write in writes {
            match write {
                Write::Pane(row) => pane(&step, row)?,
                Write::PaneClosed { pane_id, at } => {
                    step.prepare_cached("UPDATE panes SET closed_at = ?2 WHERE pane_id = ?1")?
                        .execute(params![pane_id.as_str(), at])?;
                }
                Write::Asked(row) => asked(&step, row)?,
                Write::Ended(row) => ended(&step, row)?,
                Write::Layout(layout) => {
                    step.prepare_cached("INSERT OR REPLACE INTO layout VALUES (1, ?1)")?
                        .execute([layout])?;
                }
            }
        }
        step.commit()?;
        Ok(())
    }

    /// Takes away what is beyond the bounds, at most [`PRUNE_BATCH`] rows of a sort. True if there may be more.
    ///
    /// # Errors
    /// The disk's.
    pub(super) fn prune(&mut self, now: i64) -> Result<bool, StorageError> {
        let oldest = now.saturating_sub(i64::try_from(AGE_MAX.as_millis()).unwrap_or(i64::MAX));
        let too_big = self.bytes_used()? > FILE_MAX;
        let step = self.connection.transaction()?;
        let mut most = 0;
        for (table, time, kept) in [
            ("decisions", "ended_at", DECISIONS_MAX),
            ("panes", "closed_at", PANES_KEPT),
        ] {
            let count = |condition: &str, value: i64| {
                step.query_row(
                    &format!("SELECT count(*) FROM {table} WHERE {condition} ?1"),
                    [value],
                    |row| row.get::<_, usize>(0),
                )
            };
            let surplus = count(&format!("{time} >="), i64::MIN)?.saturating_sub(kept);
            let old = count(&format!("{time} <"), oldest)?;
            let excess = if too_big {
                PRUNE_BATCH
            } else {
                surplus.max(old)
            };
            step.execute(
                &format!(
                    "DELETE FROM {table} WHERE rowid IN
                         (SELECT rowid FROM {table} WHERE {time} IS NOT NULL ORDER BY {time} LIMIT ?1)"
                ),
                [excess.min(PRUNE_BATCH)],
            )?;
            most = most.max(excess);
        }
        step.commit()?;
        Ok(most > PRUNE_BATCH || self.bytes_used()? > FILE_MAX)
    }

    /// Bytes of the file that hold something. What was deleted is used again before the file grows.
    fn bytes_used(&self) -> Result<i64, StorageError> {
        Ok(self.connection.query_row(
            "SELECT (page_count - freelist_count) * page_size
             FROM pragma_page_count, pragma_freelist_count, pragma_page_size",
            [],
            |row| row.get(0),
        )?)
    }

    /// `history.list`
    ///
    /// # Errors
    /// The disk's.
    pub(super) fn list(&self, wanted: &HistoryListParams) -> Result<HistoryReply, StorageError> {
        let limit = wanted.limit.unwrap_or(HISTORY_MAX).clamp(1, HISTORY_MAX);
        let mut conditions = Conditions::default();
        conditions.add("pane_id = ?", id(wanted.pane_id.as_ref()));
        conditions.add("agent = ?", wanted.agent.clone());
        conditions.add("ended_at >= ?", wanted.since);
        conditions.add("ended_at < ?", wanted.before);
        let query = format!(
            "SELECT decision_id, pane_id, agent, session_id, kind, prompt, subject, asked_at, ended_at,
                    reason, applied, applied_label, answered_by, via, latency_ms
             FROM decisions WHERE {} ORDER BY ended_at DESC, seq DESC LIMIT {}",
            conditions.text,
            limit + 1,
        );
        let mut statement = self.connection.prepare_cached(&query)?;
        let mut rows = statement.query(params_from_iter(conditions.values.iter()))?;
        let mut reply = HistoryReply::default();
        let mut bytes = 0;
        while let Some(row) = rows.next()? {
            let entry = entry(row)?;
            bytes += serde_json::to_vec(&entry).map_or(0, |text| text.len());
            if reply.entries.len() == limit || (bytes > REPLY_MAX && !reply.entries.is_empty()) {
                reply.more = true;
                // The next page begins at a time: those that ended at the same one go there together.
                let ended_at = entry.ended_at;
                let whole = reply
                    .entries
                    .iter()
                    .take_while(|entry| entry.ended_at > ended_at);
                match whole.count() {
                    0 => {}
                    whole => reply.entries.truncate(whole),
                }
                break;
            }
            reply.entries.push(entry);
        }
        Ok(reply)
    }

    /// `history.forget`: how many decisions went. Their bytes are overwritten, in the log beside the file too.
    ///
    /// # Errors
    /// The disk's.
    pub(super) fn forget(&mut self, what: &HistoryForgetParams) -> Result<usize, StorageError> {
        let mut forgotten = 0;
        for (table, time) in [("panes", "closed_at"), ("decisions", "ended_at")] {
            let mut conditions = Conditions::of_time(time);
            conditions.add("pane_id = ?", id(what.pane_id.as_ref()));
            conditions.add(&format!("{time} < ?"), what.before);
            forgotten = self.connection.execute(
                &format!("DELETE FROM {table} WHERE {}", conditions.text),
                params_from_iter(conditions.values.iter()),
            )?;
        }
        self.connection
            .execute_batch("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE);")?;
        Ok(forgotten)
    }

    /// The arrangement of panes that was written last.
    ///
    /// # Errors
    /// The disk's.
    pub(super) fn layout(&self) -> Result<Option<Layout>, StorageError> {
        let text: Option<String> = self
            .connection
            .query_row("SELECT layout FROM layout", [], |row| row.get(0))
            .optional()?;
        // One that cannot be read is none: the next change writes a new one.
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
    }
}

/// What rows have to be.
struct Conditions {
    text: String,
    values: Vec<Value>,
}

impl Default for Conditions {
    fn default() -> Self {
        Self::of_time("ended_at")
    }
}

impl Conditions {
    /// Rows that have ended by that column.
    fn of_time(column: &str) -> Self {
        Self {
            text: format!("{column} IS NOT NULL"),
            values: Vec::new(),
        }
    }

    /// `condition` has a `?` for the value.
    fn add(&mut self, condition: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.text.push_str(" AND ");
            self.text.push_str(condition);
            self.values.push(value.into());
        }
    }
}

/// A pane's id as a value of a query.
fn id(pane_id: Option<&PaneId>) -> Option<String> {
    pane_id.map(|pane_id| pane_id.as_str().to_owned())
}

fn pane(step: &Transaction<'_>, row: &PaneRow) -> rusqlite::Result<()> {
    step.prepare_cached(
        "INSERT OR REPLACE INTO panes (pane_id, program, cwd, agent, session_id, created_at, exit_code, exit_signal)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(params![
        row.pane_id.as_str(),
        row.program,
        row.cwd,
        row.agent,
        row.session_id,
        row.created_at,
        row.exit_code,
        row.exit_signal,
    ])?;
    Ok(())
}

/// A question that comes back from a host that ended is the same one, asked when it was asked.
fn asked(step: &Transaction<'_>, row: &AskedRow) -> rusqlite::Result<()> {
    let id = row.decision_id.as_str();
    let back = step
        .prepare_cached(
            "UPDATE decisions SET ended_at = NULL, reason = NULL, pane_id = ?2
             WHERE seq = (SELECT max(seq) FROM decisions WHERE decision_id = ?1 AND reason = 'host_ended')",
        )?
        .execute(params![id, row.pane_id.as_str()])?;
    if back > 0 {
        return Ok(());
    }
    step.prepare_cached(
        "INSERT OR REPLACE INTO decisions
             (decision_id, pane_id, agent, session_id, kind, prompt, subject, asked_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(params![
        id,
        row.pane_id.as_str(),
        row.agent,
        row.session_id,
        row.kind,
        row.prompt,
        row.subject,
        row.asked_at,
    ])?;
    Ok(())
}

fn ended(step: &Transaction<'_>, row: &EndedRow) -> rusqlite::Result<()> {
    step.prepare_cached(
        "UPDATE decisions SET ended_at = ?2, reason = ?3, applied = ?4, applied_label = ?5, answered_by = ?6,
             via = ?7, latency_ms = ?8
         WHERE decision_id = ?1 AND ended_at IS NULL",
    )?
    .execute(params![
        row.decision_id.as_str(),
        row.ended_at,
        row.reason,
        row.applied,
        row.applied_label,
        row.by,
        row.via,
        row.latency_ms,
    ])?;
    Ok(())
}

fn entry(row: &Row<'_>) -> rusqlite::Result<HistoryEntry> {
    let text = |at: usize| row.get::<_, String>(at);
    let reason = text(9)?;
    Ok(HistoryEntry {
        decision_id: DecisionId::from_trusted(text(0)?),
        pane_id: PaneId::from_trusted(text(1)?),
        agent: text(2)?,
        session_id: row.get(3)?,
        kind: of_word(&text(4)?, 4)?,
        prompt: text(5)?,
        subject: row.get(6)?,
        asked_at: row.get(7)?,
        ended_at: row.get(8)?,
        reason: of_word(&reason, 9)?,
        applied: row
            .get::<_, Option<String>>(10)?
            .and_then(|applied| serde_json::from_str(&applied).ok()),
        applied_label: row.get(11)?,
        by: row.get(12)?,
        via: row.get(13)?,
        latency_ms: row
            .get::<_, Option<i64>>(14)?
            .and_then(|latency| u64::try_from(latency).ok()),
    })
}

/// The value whose word on the wire that is.
fn of_word<T: DeserializeOwned>(word: &str, column: usize) -> rusqlite::Result<T> {
    serde_json::from_value(serde_json::Value::from(word)).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(
            column,
            rusqlite::types::Type::Text,
            Box::new(error),
        )
    })
}
