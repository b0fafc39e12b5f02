//! The window's words: what a pane is doing, how long it has waited, how a decision ended.
//!
//! Pure functions of data, so that what a person reads is tested without a display. Text from agents passes
//! through [`signaltty_core::sanitise`] before it comes in here or on its way out.

use std::time::Duration;

use signaltty_core::answer::Applied;
use signaltty_core::client::ClientError;
use signaltty_core::model::{Decision, Exit, Kind, Lifecycle, Pane};
use signaltty_core::protocol::{ClearReason, DecisionCleared, ErrorCode, WireError};
use signaltty_core::sanitise::Found;

use crate::rules::order::Need;
use crate::text::{self, Block};

/// How something went, for its icon and its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// As it should.
    Good,
    /// Neither good nor bad.
    Plain,
    /// Not as it should; nothing is lost.
    Warning,
    /// It failed.
    Bad,
}

/// One quiet line on what became of a decision or of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// How it went.
    pub tone: Tone,
    /// What a person reads.
    pub text: String,
}

impl Outcome {
    fn new(tone: Tone, text: impl Into<String>) -> Self {
        Self {
            tone,
            text: text.into(),
        }
    }
}

/// What a pane does, in a few words.
pub fn state(pane: &Pane) -> String {
    if let Some(decision) = &pane.decision {
        let asks = match decision.kind {
            Kind::Permission => "Asks for permission",
            Kind::Input => "Asks a question",
            Kind::Form => "Asks for several answers",
            Kind::Review => "Has something to review",
        };
        return match pane.queued {
            0 => asks.into(),
            more => format!("{asks}, {more} more in line"),
        };
    }
    match pane.lifecycle {
        Lifecycle::Unknown => "Running",
        Lifecycle::Working => "Working",
        Lifecycle::Blocked => "Waits for you",
        Lifecycle::Done => "Done",
        Lifecycle::Idle => "Idle",
        Lifecycle::Interrupted => "Interrupted",
        Lifecycle::Failed => "Failed",
        Lifecycle::Exited => return exit(pane.exit.unwrap_or_default()),
    }
    .into()
}

/// The same for the strip, whose second row is the question: who asks goes with it.
pub fn strip_state(pane: &Pane) -> String {
    let state = state(pane);
    match pane
        .decision
        .as_ref()
        .map(|decision| text::line(&decision.agent))
        .filter(|agent| !agent.is_empty())
    {
        Some(agent) => {
            let mut letters = state.chars();
            let lowered = letters
                .next()
                .map(|first| first.to_lowercase().chain(letters).collect::<String>());
            format!("{agent} {}", lowered.unwrap_or_default())
        }
        None => state,
    }
}

/// How a program ended.
pub fn exit(exit: Exit) -> String {
    match (exit.code, exit.signal) {
        (Some(0), _) => "Ended".into(),
        (Some(code), _) => format!("Ended with status {code}"),
        (None, Some(signal)) => format!("Ended by signal {signal}"),
        (None, None) => "Ended".into(),
    }
}

/// Name of the icon that tells a need by its shape.
pub fn icon(need: Need) -> &'static str {
    match need {
        Need::Asks => "signaltty-asks-symbolic",
        Need::Failed => "signaltty-failed-symbolic",
        Need::Unseen => "signaltty-unseen-symbolic",
        Need::Working => "signaltty-working-symbolic",
        Need::Quiet => "signaltty-quiet-symbolic",
        Need::Ended => "signaltty-ended-symbolic",
    }
}

/// Name of the style class of a need.
pub fn class(need: Need) -> &'static str {
    match need {
        Need::Asks => "need-asks",
        Need::Failed => "need-failed",
        Need::Unseen => "need-unseen",
        Need::Working => "need-working",
        Need::Quiet => "need-quiet",
        Need::Ended => "need-ended",
    }
}

/// What heads a group of panes in the sidebar.
pub fn group(need: Need) -> &'static str {
    match need {
        Need::Asks | Need::Failed | Need::Unseen => "Needs you",
        Need::Working => "Working",
        Need::Quiet => "Quiet",
        Need::Ended => "Ended",
    }
}

/// What a decision is about: its kind and the thing that is acted upon.
pub fn heading(decision: &Decision) -> String {
    let kind = match decision.kind {
        Kind::Permission => "Permission",
        Kind::Input => "Question",
        Kind::Form => "Questions",
        Kind::Review => "Review",
    };
    let mut heading = kind.to_owned();
    if let Some(subject) = decision
        .subject
        .as_deref()
        .filter(|subject| !subject.is_empty())
    {
        heading = format!("{heading} · {}", text::line(subject));
    }
    if let Some(subagent) = decision.source.subagent.as_deref() {
        heading = format!("{heading} · subagent {}", text::line(subagent));
    }
    heading
}

/// How long the detail is.
pub fn facts(detail: &Block) -> String {
    format!(
        "{} · {}",
        count(detail.lines, "line", "lines"),
        count(detail.bytes, "byte", "bytes")
    )
}

/// That characters of the request had to be written out.
pub fn escaped(found: &Found) -> String {
    format!("{found}. They are made visible: read with care.")
}

fn count(count: usize, one: &str, many: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    }
}

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// A span in its largest unit: "12 s", "3 min", "2 h", "4 d".
pub fn span(span: Duration) -> String {
    match span.as_secs() {
        seconds @ 0..MINUTE => format!("{seconds} s"),
        seconds @ MINUTE..HOUR => format!("{} min", seconds / MINUTE),
        seconds @ HOUR..DAY => format!("{} h", seconds / HOUR),
        seconds => format!("{} d", seconds / DAY),
    }
}

/// How long until [`span`] reads differently, for a span that grows.
pub fn span_changes_in(span: Duration) -> Duration {
    let unit = match span.as_secs() {
        0..MINUTE => 1,
        MINUTE..HOUR => MINUTE,
        HOUR..DAY => HOUR,
        _ => DAY,
    };
    let unit = Duration::from_secs(unit);
    let into = span.as_nanos() % unit.as_nanos();
    unit.saturating_sub(Duration::from_nanos(
        u64::try_from(into).unwrap_or_default(),
    ))
}

/// From here on down the time left is told to the second.
const COUNTED_DOWN: u64 = 10 * MINUTE;

/// The time left to answer: "2 h left", "4:05 left".
pub fn time_left(left: Duration) -> String {
    match left.as_secs() {
        0 => "Time is up".into(),
        seconds @ 1..COUNTED_DOWN => format!("{}:{:02} left", seconds / MINUTE, seconds % MINUTE),
        _ => format!("{} left", span(left)),
    }
}

/// What was chosen or said, in one line.
pub fn applied(applied: &Applied, label: Option<&str>) -> String {
    let option = label.or(applied.option_id.as_deref()).map(text::line);
    let words = applied
        .text
        .as_deref()
        .map(|words| format!("“{}”", text::line(words)));
    match (option, words, &applied.values) {
        (Some(option), Some(words), _) => format!("{option}: {words}"),
        (Some(option), None, _) => option,
        (None, Some(words), _) => words,
        (None, None, Some(values)) => match values.len() {
            1 => "1 value".into(),
            count => format!("{count} values"),
        },
        (None, None, None) => "Answered".into(),
    }
}

/// Who answered and how, as the end of a line. `ours`: this window did.
fn author(by: Option<&str>, via: Option<&str>, ours: bool) -> String {
    match (ours, by, via) {
        (true, _, Some("notification")) => "by you, from its notification".into(),
        (true, ..) => "by you, here".into(),
        (false, Some(by), Some(via)) if !by.starts_with(via) => {
            format!("by {} ({})", text::line(by), text::line(via))
        }
        (false, Some(by), _) => format!("by {}", text::line(by)),
        (false, None, Some(via)) => format!("elsewhere ({})", text::line(via)),
        (false, None, None) => "elsewhere".into(),
    }
}

/// How a decision ended. `ours`: it was this window that answered.
pub fn ended(cleared: &DecisionCleared, ours: bool) -> Outcome {
    match cleared.reason {
        ClearReason::Answered => {
            let nothing = Applied::default();
            let what = applied(
                cleared.applied.as_ref().unwrap_or(&nothing),
                cleared.applied_label.as_deref(),
            );
            let who = author(cleared.by.as_deref(), cleared.via.as_deref(), ours);
            Outcome::new(
                if ours { Tone::Good } else { Tone::Plain },
                format!("{what} · answered {who}"),
            )
        }
        reason => of_reason(reason),
    }
}

/// How a decision ended without an answer of ours.
pub fn of_reason(reason: ClearReason) -> Outcome {
    match reason {
        ClearReason::Answered => Outcome::new(Tone::Plain, "Answered"),
        ClearReason::AttentionCleared => {
            Outcome::new(Tone::Plain, "No longer asked: the agent went ahead")
        }
        ClearReason::MovedOn => Outcome::new(Tone::Plain, "Settled in the terminal"),
        ClearReason::PaneExited => Outcome::new(Tone::Plain, "The program ended before an answer"),
        ClearReason::Expired => Outcome::new(Tone::Warning, "Expired before an answer"),
        ClearReason::Undeliverable => Outcome::new(Tone::Bad, "The answer could not be delivered"),
    }
}

/// How the decision before the one shown ended.
pub fn former(outcome: &Outcome) -> String {
    format!("Before this: {}", outcome.text)
}

/// A decision that another took the place of.
pub fn superseded() -> Outcome {
    Outcome::new(Tone::Plain, "The agent asks something else now")
}

/// Why an answer of ours did not do what it should. The second: whether the decision may still be answered.
pub fn refused(error: &ClientError) -> (Outcome, bool) {
    match error {
        ClientError::Refused(error) => of_refusal(error),
        ClientError::NoHost { .. } => (
            Outcome::new(
                Tone::Warning,
                "Not sent: there is no connection to the host",
            ),
            true,
        ),
        ClientError::Lost => (
            Outcome::new(
                Tone::Warning,
                "The connection was lost while sending: it is not known whether it arrived",
            ),
            true,
        ),
        other => (
            Outcome::new(
                Tone::Bad,
                format!("Not sent: {}", text::line(&other.to_string())),
            ),
            true,
        ),
    }
}

fn of_refusal(error: &WireError) -> (Outcome, bool) {
    let said = |name: &str| error.data.get(name).and_then(|value| value.as_str());
    match error.code {
        ErrorCode::NoSuchDecision => {
            let state = said("state").unwrap_or("ended");
            let outcome = match state {
                "answered" => {
                    let what = error
                        .data
                        .get("applied")
                        .and_then(|value| serde_json::from_value::<Applied>(value.clone()).ok())
                        .map_or_else(|| "Answered".into(), |value| applied(&value, None));
                    let who = author(said("by"), said("via"), false);
                    Outcome::new(
                        Tone::Warning,
                        format!("Not sent: answered {who} first · {what}"),
                    )
                }
                "answering" => Outcome::new(
                    Tone::Warning,
                    format!(
                        "Not sent: being answered {}",
                        author(said("by"), said("via"), false)
                    ),
                ),
                "expired" => Outcome::new(Tone::Warning, "Not sent: it had expired"),
                "moved_on" => {
                    Outcome::new(Tone::Warning, "Not sent: it was settled in the terminal")
                }
                "superseded" => {
                    Outcome::new(Tone::Warning, "Not sent: the agent asks something else now")
                }
                "undeliverable" => Outcome::new(
                    Tone::Bad,
                    "Not sent: an earlier answer could not be delivered",
                ),
                _ => Outcome::new(Tone::Warning, "Not sent: the question had ended"),
            };
            (outcome, false)
        }
        ErrorCode::DeliveryFailed => (
            Outcome::new(
                Tone::Bad,
                format!("Could not be delivered: {}", text::line(&error.message)),
            ),
            false,
        ),
        ErrorCode::Forbidden => (
            Outcome::new(
                Tone::Bad,
                format!("Not allowed: {}", text::line(&error.message)),
            ),
            true,
        ),
        _ => (
            Outcome::new(
                Tone::Warning,
                format!("Not sent: {}", text::line(&error.message)),
            ),
            true,
        ),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use signaltty_core::model::{DecisionId, PaneId};

    use super::*;

    fn answered(by: &str, via: &str) -> DecisionCleared {
        DecisionCleared {
            pane_id: PaneId::from_trusted("p"),
            decision_id: DecisionId::from_trusted("d"),
            reason: ClearReason::Answered,
            applied: Some(Applied {
                option_id: Some("allow".into()),
                ..Applied::default()
            }),
            applied_label: Some("Allow once".into()),
            by: Some(by.into()),
            via: Some(via.into()),
            latency_ms: None,
        }
    }

    #[test]
    fn an_answer_names_what_was_applied_and_by_whom() {
        assert_eq!(
            ended(&answered("signaltty-gtk", "window"), true).text,
            "Allow once · answered by you, here"
        );
        assert_eq!(
            ended(&answered("signaltty 0.1.0", "cli"), false).text,
            "Allow once · answered by signaltty 0.1.0 (cli)"
        );
    }

    #[test]
    fn a_refusal_with_words_shows_them() {
        let applied_ = Applied {
            option_id: Some("deny".into()),
            text: Some("use staging".into()),
            values: None,
        };
        assert_eq!(applied(&applied_, Some("Deny")), "Deny: “use staging”");
    }

    #[test]
    fn losing_a_race_says_who_won_and_with_what() {
        let error = WireError::new(ErrorCode::NoSuchDecision, "").with(
            json!({ "state": "answered", "applied": { "option_id": "deny" }, "by": "signaltty 0.1.0", "via": "cli" }),
        );
        let (outcome, still) = refused(&ClientError::Refused(error));
        assert_eq!(
            outcome.text,
            "Not sent: answered by signaltty 0.1.0 (cli) first · deny"
        );
        assert!(!still);
    }

    #[test]
    fn an_invalid_answer_leaves_the_decision_answerable() {
        let error = WireError::new(ErrorCode::BadParams, "the text is blank");
        assert!(refused(&ClientError::Refused(error)).1);
    }

    #[test]
    fn what_is_not_known_is_not_claimed() {
        let (outcome, still) = refused(&ClientError::Lost);
        assert!(outcome.text.contains("not known"));
        assert!(still);
        let (outcome, still) = refused(&ClientError::NoHost {
            socket: "host.sock".into(),
            source: std::io::ErrorKind::NotConnected.into(),
        });
        assert_eq!(outcome.text, "Not sent: there is no connection to the host");
        assert!(still);
    }

    #[test]
    fn the_last_minutes_are_counted_down() {
        let told = |seconds| time_left(Duration::from_secs(seconds));
        assert_eq!(
            [told(0), told(5), told(245), told(600), told(7_200)],
            [
                "Time is up",
                "0:05 left",
                "4:05 left",
                "10 min left",
                "2 h left"
            ]
        );
    }

    #[test]
    fn spans_are_told_in_their_largest_unit() {
        let told = |seconds| span(Duration::from_secs(seconds));
        assert_eq!(
            [
                told(0),
                told(59),
                told(60),
                told(3_599),
                told(3_600),
                told(172_800)
            ],
            ["0 s", "59 s", "1 min", "59 min", "1 h", "2 d"]
        );
    }

    #[test]
    fn a_clock_of_spans_ticks_only_when_the_words_change() {
        assert_eq!(
            span_changes_in(Duration::from_millis(1_250)),
            Duration::from_millis(750)
        );
        assert_eq!(
            span_changes_in(Duration::from_secs(61)),
            Duration::from_secs(59)
        );
        assert_eq!(
            span_changes_in(Duration::from_secs(3_600)),
            Duration::from_secs(3_600)
        );
    }
}
