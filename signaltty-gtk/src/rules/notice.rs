//! What a notification of a decision says and offers.

use signaltty_core::model::{AnswerOption, Decision, DecisionId, Polarity};

use super::options;
use crate::text;

/// Name of the action that a click on the notification itself is.
pub const OPEN: &str = "default";
/// What the name of an action that answers begins with.
const ANSWER: &str = "answer/";

/// Longest line of a notification, in characters, and most lines of a detail in it.
const LINE_CHARS: usize = 160;
const DETAIL_LINES: usize = 6;
/// A longer label would be cut off on its button, and with it the rule that an always-option sets.
const LABEL_CHARS: usize = 40;

/// What the notification server can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Capabilities {
    /// It shows actions as buttons.
    pub actions: bool,
    /// It takes the body as markup, so that text has to be escaped.
    pub body_markup: bool,
}

impl Capabilities {
    /// Reads the server's own words.
    pub fn read<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        words
            .into_iter()
            .fold(Self::default(), |known, word| match word {
                "actions" => Self {
                    actions: true,
                    ..known
                },
                "body-markup" => Self {
                    body_markup: true,
                    ..known
                },
                _ => known,
            })
    }
}

/// A notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// Its title. Never markup, whatever the server.
    pub summary: String,
    /// Its text, escaped if the server wants markup.
    pub body: String,
    /// Name and label of each action.
    pub actions: Vec<(String, String)>,
}

/// The notification of a decision. `nonce`: what nobody else can know, new for each notification. Where a server
/// lets any process replace a notification of ours, an action that was put in the place of one of ours lacks it.
pub fn of_decision(
    decision: &Decision,
    pane_title: &str,
    server: Capabilities,
    nonce: &str,
) -> Notice {
    let (body, whole) = request(decision);
    let asks = if decision.agent.is_empty() {
        "Asks".to_owned()
    } else {
        format!("{} asks", text::line(&decision.agent))
    };
    let mut notice = plain(
        &format!("{asks} · {}", text::line(pane_title)),
        &body,
        server,
    );
    if server.actions {
        notice.actions.push((OPEN.into(), "Open".into()));
        for option in offered(decision, whole) {
            notice.actions.push((
                name(nonce, &decision.id, &option.id),
                text::line(&option.label),
            ));
        }
    }
    notice
}

/// A notification that only says something.
pub fn plain(summary: &str, body: &str, server: Capabilities) -> Notice {
    let body = if server.body_markup {
        escape(body)
    } else {
        body.to_owned()
    };
    Notice {
        summary: summary.to_owned(),
        body,
        actions: Vec::new(),
    }
}

/// The decision and the option that an action's name carries, if it is one of the notification with that nonce.
pub fn read_name(nonce: &str, name: &str) -> Option<(DecisionId, String)> {
    // Neither a nonce nor an id of a decision has a slash.
    let (own, rest) = name.strip_prefix(ANSWER)?.split_once('/')?;
    let (decision, option) = rest.split_once('/').filter(|_| own == nonce)?;
    Some((DecisionId::new(decision).ok()?, option.to_owned()))
}

fn name(nonce: &str, decision: &DecisionId, option: &str) -> String {
    format!("{ANSWER}{nonce}/{decision}/{option}")
}

/// The request in a few lines, and whether it can be judged by them: nothing was cut off, and nothing in it was
/// hidden.
fn request(decision: &Decision) -> (String, bool) {
    let prompt = text::prose(decision.prompt.trim());
    let mut whole = !prompt.found().any() && prompt.shown.text.chars().count() <= LINE_CHARS;
    let mut body = text::line_of(&decision.prompt, LINE_CHARS);
    let Some(detail) = decision.detail.as_deref() else {
        return (body, whole);
    };
    // As the card shows it: what a command must not hide is not the same as what prose may hold.
    let detail = text::detail(decision.detail_kind, detail);
    whole &= !detail.found().any();
    let lines = || {
        let lines = detail.shown.text.lines();
        lines.filter(|line| !line.trim().is_empty())
    };
    for line in lines().take(DETAIL_LINES) {
        let (line, cut) = clipped(line);
        whole &= !cut;
        body.push('\n');
        body.push_str(&line);
    }
    match lines().count().saturating_sub(DETAIL_LINES) {
        0 => {}
        more => {
            whole = false;
            let noun = if more == 1 { "line" } else { "lines" };
            body.push_str(&format!("\n… {more} more {noun}"));
        }
    }
    (body, whole)
}

/// The beginning of a line, and whether there is more of it.
fn clipped(line: &str) -> (String, bool) {
    if line.chars().count() <= LINE_CHARS {
        return (line.to_owned(), false);
    }
    let mut beginning: String = line.chars().take(LINE_CHARS - 1).collect();
    beginning.push('…');
    (beginning, true)
}

/// The options that the notification offers. What can only be seen in part can only be refused.
fn offered(decision: &Decision, whole: bool) -> Vec<AnswerOption> {
    let mut shown = decision.clone();
    shown.options.retain(|option| {
        let label = text::prose(option.label.trim());
        option.polarity == Polarity::Refuses
            || (whole && !label.found().any() && label.shown.text.chars().count() <= LABEL_CHARS)
    });
    options::of_notification(&shown)
        .into_iter()
        .cloned()
        .collect()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NONCE: &str = "5d1c";

    fn of_decision(decision: &Decision, title: &str, server: Capabilities) -> Notice {
        super::of_decision(decision, title, server, NONCE)
    }

    const ALL: Capabilities = Capabilities {
        actions: true,
        body_markup: true,
    };

    fn decision(members: serde_json::Value) -> Decision {
        let mut whole = json!({
            "id": "d.1", "pane_id": "p", "kind": "permission", "prompt": "Run it?", "text": "reason",
            "answerable": true, "asked_at": 0, "agent": "agent",
            "options": [
                { "id": "allow", "label": "Allow once", "polarity": "grants" },
                { "id": "always-1", "label": "Always: test", "polarity": "grants" },
                { "id": "always-2", "label": "Always: build", "polarity": "grants" },
                { "id": "deny", "label": "Deny", "polarity": "refuses" },
            ],
        });
        for (name, value) in members.as_object().cloned().unwrap_or_default() {
            whole[name] = value;
        }
        serde_json::from_value(whole).unwrap()
    }

    fn labels(notice: &Notice) -> Vec<&str> {
        notice
            .actions
            .iter()
            .map(|(_, label)| label.as_str())
            .collect()
    }

    #[test]
    fn at_most_three_options_are_offered_and_a_refusal_is_among_them() {
        let notice = of_decision(&decision(json!({})), "pane", ALL);
        assert_eq!(
            labels(&notice),
            ["Open", "Allow once", "Always: test", "Deny"]
        );
    }

    #[test]
    fn an_option_whose_rule_would_be_cut_off_is_not_offered() {
        let long = decision(json!({ "options": [
            { "id": "allow", "label": "Allow once", "polarity": "grants" },
            { "id": "always-1", "label": format!("Always: {}", "x".repeat(LABEL_CHARS)), "polarity": "grants" },
            { "id": "deny", "label": "Deny", "polarity": "refuses" },
        ] }));
        assert_eq!(
            labels(&of_decision(&long, "pane", ALL)),
            ["Open", "Allow once", "Deny"]
        );
    }

    #[test]
    fn what_cannot_be_answered_offers_nothing_but_to_open_it() {
        let notice = of_decision(&decision(json!({ "answerable": false })), "pane", ALL);
        assert_eq!(labels(&notice), ["Open"]);
    }

    #[test]
    fn a_server_without_actions_gets_none() {
        assert!(
            of_decision(&decision(json!({})), "pane", Capabilities::default())
                .actions
                .is_empty()
        );
    }

    #[test]
    fn the_body_is_escaped_only_for_a_server_that_takes_markup() {
        let shell = decision(json!({ "detail": "a < b && c" }));
        let with = of_decision(&shell, "a < b", ALL);
        assert_eq!(with.body, "Run it?\na &lt; b &amp;&amp; c");
        assert!(with.summary.contains("a < b"), "a summary is never markup");
        let without = of_decision(
            &shell,
            "pane",
            Capabilities {
                body_markup: false,
                ..ALL
            },
        );
        assert_eq!(without.body, "Run it?\na < b && c");
    }

    #[test]
    fn a_long_detail_says_how_much_more_there_is() {
        let lines: Vec<String> = (0..10).map(|n| format!("step {n}")).collect();
        let notice = of_decision(
            &decision(json!({ "detail": lines.join("\n") })),
            "pane",
            ALL,
        );
        assert!(
            notice.body.ends_with("step 5\n… 4 more lines"),
            "{}",
            notice.body
        );
        assert_eq!(
            labels(&notice),
            ["Open", "Deny"],
            "what is not shown cannot be granted"
        );
    }

    #[test]
    fn what_is_cut_off_can_only_be_refused_or_opened() {
        let long = "x".repeat(LINE_CHARS + 1);
        for members in [json!({ "prompt": long }), json!({ "detail": long })] {
            let notice = of_decision(&decision(members), "pane", ALL);
            assert_eq!(labels(&notice), ["Open", "Deny"]);
            assert!(notice.body.contains('…'), "{}", notice.body);
        }
    }

    #[test]
    fn what_was_hidden_can_only_be_refused_or_opened() {
        for members in [
            json!({ "prompt": "Run\u{202e} it?" }),
            json!({ "detail": "rm\u{200b} x", "detail_kind": "command" }),
        ] {
            let notice = of_decision(&decision(members), "pane", ALL);
            assert_eq!(labels(&notice), ["Open", "Deny"], "{}", notice.body);
        }
    }

    #[test]
    fn a_command_is_shown_as_strictly_as_on_the_card() {
        // A character that Persian words are written with: it has its place in prose alone.
        let body = |kind| {
            let members = json!({ "detail": "می\u{200c}خواهم", "detail_kind": kind });
            of_decision(&decision(members), "pane", ALL).body
        };
        assert!(body("text").contains('\u{200c}'), "{}", body("text"));
        assert!(!body("command").contains('\u{200c}'), "{}", body("command"));
    }

    #[test]
    fn an_actions_name_carries_its_decision_and_its_option() {
        let name = name(NONCE, &DecisionId::from_trusted("d.1"), "o/1");
        assert_eq!(
            read_name(NONCE, &name),
            Some((DecisionId::from_trusted("d.1"), "o/1".into()))
        );
        assert_eq!(read_name(NONCE, OPEN), None);
    }

    #[test]
    fn an_action_that_somebody_else_could_name_answers_nothing() {
        let notice = of_decision(&decision(json!({})), "pane", ALL);
        let (allow, _) = &notice.actions[1];
        assert!(read_name(NONCE, allow).is_some());
        assert_eq!(read_name("another", allow), None);
        assert_eq!(read_name(NONCE, "answer/d.1/allow"), None);
        assert_eq!(read_name(NONCE, "answer//d.1/allow"), None);
    }
}
