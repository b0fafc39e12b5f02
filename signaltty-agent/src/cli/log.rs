//! What was asked and who answered it, from the host's history; and forgetting it (specs/040).

use clap::Args;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use signaltty_core::client::Client;
use signaltty_core::limits::HISTORY_MAX;
use signaltty_core::protocol::method::{HistoryForget, HistoryList};
use signaltty_core::protocol::params::{
    HistoryEntry, HistoryForgetParams, HistoryListParams, HistoryReason, HistoryReply,
};

use super::failure::Failure;
use super::{Output, find, host, show};

/// Entries that are printed where nobody says how many.
const ENTRIES: usize = 50;
/// Characters of an agent's name, a client's name or a way.
const NAME_WIDTH: usize = 32;
/// Characters of a question on its line.
const PROMPT_WIDTH: usize = 100;
/// Characters of the words of an answer.
const WORDS_WIDTH: usize = 200;

/// `log`
#[derive(Debug, Args)]
pub(super) struct Log {
    /// From then on: 45s, 30m, 2h, 7d or 2w ago, or a local time: 2026-11-30, 2026-11-30T14:00
    #[arg(long, value_name = "TIME", value_parser = moment, conflicts_with = "forget")]
    since: Option<Timestamp>,
    /// Before then, in the same words
    #[arg(long, value_name = "TIME", value_parser = moment)]
    before: Option<Timestamp>,
    /// Of this pane; of one that is gone by its whole id
    #[arg(long)]
    pane: Option<String>,
    /// Of this agent
    #[arg(long, conflicts_with = "forget")]
    agent: Option<String>,
    /// At most so many, the newest; by default 50
    #[arg(long, value_name = "N", conflicts_with = "forget")]
    limit: Option<usize>,
    /// Forget instead: all of it, or what --pane and --before say. What is still asked stays
    #[arg(long)]
    forget: bool,
}

impl Log {
    pub(super) async fn run(self, output: Output) -> Result<(), Failure> {
        let client = host::connect().await?;
        let pane_id = match &self.pane {
            Some(word) => Some(find::pane_or_gone(&client, word).await?),
            None => None,
        };
        let before = self.before.map(Timestamp::as_millisecond);
        if self.forget {
            return forget(&client, HistoryForgetParams { pane_id, before }, output).await;
        }
        let wanted = HistoryListParams {
            pane_id,
            agent: self.agent,
            since: self.since.map(Timestamp::as_millisecond),
            before,
            limit: None,
        };
        let listed = list(&client, wanted, self.limit.unwrap_or(ENTRIES)).await?;
        if output.json {
            return show::json(&listed);
        }
        let zone = TimeZone::system();
        for entry in &listed.entries {
            show::line(&lines(entry, &zone))?;
        }
        Ok(())
    }
}

/// Page after page, until there are `limit` entries or no more.
async fn list(
    client: &Client,
    mut wanted: HistoryListParams,
    limit: usize,
) -> Result<HistoryReply, Failure> {
    let mut all = HistoryReply {
        entries: Vec::new(),
        more: limit > 0,
    };
    while all.more && all.entries.len() < limit {
        wanted.limit = Some((limit - all.entries.len()).min(HISTORY_MAX));
        let page = client.call::<HistoryList>(wanted.clone()).await?;
        wanted.before = page.entries.last().map(|entry| entry.ended_at);
        all.more = page.more && !page.entries.is_empty();
        all.entries.extend(page.entries);
    }
    Ok(all)
}

async fn forget(client: &Client, what: HistoryForgetParams, output: Output) -> Result<(), Failure> {
    let forgotten = client.call::<HistoryForget>(what).await?;
    if output.json {
        return show::json(&forgotten);
    }
    let s = if forgotten.decisions == 1 { "" } else { "s" };
    show::line(&format!("forgot {} decision{s}", forgotten.decisions))
}

/// An entry: when, who asked where, what, and what became of it.
fn lines(entry: &HistoryEntry, zone: &TimeZone) -> String {
    let subject = entry
        .subject
        .as_ref()
        .map(|subject| format!(" ({})", show::one_line(subject, NAME_WIDTH)))
        .unwrap_or_default();
    format!(
        "{}  {} in {}{subject}: {}\n    {}",
        clock(entry.ended_at, zone),
        show::one_line(&entry.agent, NAME_WIDTH),
        show::one_line(entry.pane_id.as_str(), NAME_WIDTH),
        show::one_line(&entry.prompt, PROMPT_WIDTH),
        end(entry),
    )
}

fn end(entry: &HistoryEntry) -> String {
    let mut said = match entry.reason {
        HistoryReason::Answered => answer(entry),
        HistoryReason::AttentionCleared => "settled without us".into(),
        HistoryReason::MovedOn => "the agent went on".into(),
        HistoryReason::PaneExited => "its program ended".into(),
        HistoryReason::Expired => "nobody answered in time".into(),
        HistoryReason::Undeliverable => "an answer did not reach the agent".into(),
        HistoryReason::Superseded => "a newer question took its place".into(),
        HistoryReason::HostEnded => "the host ended before it was answered".into(),
    };
    let name = |name: &String| show::one_line(name, NAME_WIDTH);
    if let Some(by) = entry.by.as_ref().map(name) {
        said.push_str(&format!(", by {by}"));
    }
    if let Some(via) = entry
        .via
        .as_ref()
        .filter(|via| entry.by.as_ref() != Some(via))
    {
        said.push_str(&format!(" ({})", name(via)));
    }
    if let Some(latency) = entry.latency_ms {
        said.push_str(&format!(", after {}", pause(latency)));
    }
    said
}

fn answer(entry: &HistoryEntry) -> String {
    let applied = entry.applied.as_ref();
    let option = entry
        .applied_label
        .as_ref()
        .or(applied.and_then(|applied| applied.option_id.as_ref()))
        .map(|label| show::label(label));
    let words = applied
        .and_then(|applied| applied.text.as_ref())
        .map(|text| format!("“{}”", show::one_line(text, WORDS_WIDTH)));
    let values = applied
        .and_then(|applied| applied.values.as_ref())
        .and_then(|values| serde_json::to_string(values).ok())
        .map(|values| show::one_line(&values, WORDS_WIDTH));
    let all: Vec<String> = [option, words, values].into_iter().flatten().collect();
    if all.is_empty() {
        return "answered".into();
    }
    all.join(" ")
}

/// A time in the user's own zone, to the second.
fn clock(ms: i64, zone: &TimeZone) -> String {
    Timestamp::from_millisecond(ms).map_or_else(
        |_| "?".into(),
        |time| time.to_zoned(zone.clone()).strftime("%F %T").to_string(),
    )
}

/// A pause as people say it.
fn pause(ms: u64) -> String {
    let seconds = ms / 1_000;
    match seconds {
        0..10 => format!("{}.{} s", seconds, ms % 1_000 / 100),
        10..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

fn moment(text: &str) -> Result<Timestamp, String> {
    read_moment(text, Timestamp::now(), &TimeZone::system())
}

/// How long ago, or a time of the clock on the wall.
fn read_moment(text: &str, now: Timestamp, zone: &TimeZone) -> Result<Timestamp, String> {
    let none = || {
        format!("{text:?} is no time; say 45s, 30m, 2h, 7d, 2w, or 2026-11-30, or 2026-11-30T14:00")
    };
    if let Some((digits, unit)) = text.char_indices().last().map(|(at, _)| text.split_at(at)) {
        let seconds = match unit {
            "s" => Some(1),
            "m" => Some(60),
            "h" => Some(3_600),
            "d" => Some(86_400),
            "w" => Some(7 * 86_400),
            _ => None,
        };
        if let Some(seconds) = seconds {
            let count: u32 = digits.parse().map_err(|_| none())?;
            let ago = SignedDuration::from_secs(i64::from(count) * seconds);
            return now.checked_sub(ago).map_err(|_| none());
        }
    }
    let local: DateTime = text
        .parse::<DateTime>()
        .or_else(|_| text.parse::<Date>().map(DateTime::from))
        .map_err(|_| none())?;
    local
        .to_zoned(zone.clone())
        .map(|time| time.timestamp())
        .map_err(|_| none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn entry(more: &serde_json::Value) -> HistoryEntry {
        let mut entry = json!({ "decision_id": "d", "pane_id": "p1", "agent": "tester", "kind": "permission",
            "prompt": "May I?", "asked_at": 0, "ended_at": 1_000, "reason": "answered" });
        for (name, value) in more.as_object().expect("members") {
            entry[name] = value.clone();
        }
        serde_json::from_value(entry).expect("an entry")
    }

    fn printed(more: &serde_json::Value) -> String {
        lines(&entry(more), &TimeZone::UTC)
    }

    #[test]
    fn an_entry_says_who_answered_what_by_which_way_and_how_fast() {
        let all = json!({ "subject": "Shell", "applied": { "option_id": "deny", "text": "not on a Friday" },
            "applied_label": "Deny", "by": "desk", "via": "window", "latency_ms": 75_000 });
        assert_eq!(
            printed(&all),
            "1970-01-01 00:00:01  tester in p1 (Shell): May I?\n    Deny “not on a Friday”, by desk (window), after 1 min 15 s"
        );
        assert_eq!(
            printed(&json!({ "reason": "host_ended" })),
            "1970-01-01 00:00:01  tester in p1: May I?\n    the host ended before it was answered"
        );
    }

    #[test]
    fn text_of_agents_is_printed_safely() {
        let bad = "a\u{1b}[2J\nb\u{202e}";
        let all = printed(
            &json!({ "agent": bad, "prompt": bad, "subject": bad, "applied": { "text": bad, "values": { "f": bad } },
                "applied_label": bad, "by": bad, "via": bad }),
        );
        assert!(!all.contains(['\u{1b}', '\u{202e}']), "{all:?}");
        assert_eq!(all.lines().count(), 2, "{all:?}");
    }

    #[test]
    fn times_are_read() {
        let now: Timestamp = "2026-11-30T12:00:00Z".parse().expect("a time");
        let zone = TimeZone::fixed(jiff::tz::offset(1));
        let read = |text: &str| read_moment(text, now, &zone).map(|time| time.to_string());
        for (text, expected) in [
            ("2h", "2026-11-30T10:00:00Z"),
            ("45s", "2026-11-30T11:59:15Z"),
            ("30m", "2026-11-30T11:30:00Z"),
            ("7d", "2026-11-23T12:00:00Z"),
            ("1w", "2026-11-23T12:00:00Z"),
            ("2026-11-30", "2026-11-29T23:00:00Z"),
            ("2026-11-30T14:00", "2026-11-30T13:00:00Z"),
            ("2026-11-30 14:00:05", "2026-11-30T13:00:05Z"),
        ] {
            assert_eq!(read(text), Ok(expected.into()), "{text}");
        }
        for text in [
            "",
            "h",
            "2",
            "-2h",
            "soon",
            "2026-13-01",
            "4000000000w",
            "é",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
