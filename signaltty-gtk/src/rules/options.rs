//! Which of a decision's options a surface with little room shows.

use signaltty_core::model::{AnswerOption, Decision, Polarity, TextUse};

use crate::text;

/// Options that the strip has room for.
const STRIP_OPTIONS: usize = 2;
/// Actions that a notification carries beside its default one.
const NOTIFICATION_OPTIONS: usize = 3;

/// The two main options of a decision: the first, and the first that refuses where it is not among two.
pub fn main_two(options: &[AnswerOption]) -> Vec<&AnswerOption> {
    pick(options, STRIP_OPTIONS)
}

/// The options that a notification offers: none where it cannot be answered, a refusal always among them.
pub fn of_notification(decision: &Decision) -> Vec<&AnswerOption> {
    if decision.answerable {
        pick(&decision.options, NOTIFICATION_OPTIONS)
    } else {
        Vec::new()
    }
}

/// Digits that chords have for what a card offers.
const DIGITS: u8 = 9;

/// The digit of the chord that chooses the option at that place, counted from 0: none where they have run out.
pub fn digit_of_option(decision: &Decision, at: usize) -> Option<u8> {
    let digits = if decision.fields.is_empty() {
        DIGITS
    } else {
        DIGITS - 1
    };
    u8::try_from(at)
        .ok()
        .and_then(|at| at.checked_add(1))
        .filter(|digit| *digit <= digits)
}

/// The digit of the chord that sends a form's values: the one after those of its options, the last where those take
/// all. None where there is no form.
pub fn digit_of_form(decision: &Decision) -> Option<u8> {
    if decision.fields.is_empty() {
        return None;
    }
    Some(digit_of_option(decision, decision.options.len()).unwrap_or(DIGITS))
}

/// Whether a strip with room enough holds all there is to choose and to read of a decision: what it would cut,
/// has no place for or cannot flag needs a card. Whether there is room is the strip's to measure.
pub fn strip_holds_all(decision: &Decision) -> bool {
    decision.options.len() <= STRIP_OPTIONS
        && decision.answerable
        && decision.detail.is_none()
        && decision.subject.is_none()
        && decision.source.subagent.is_none()
        && decision.expires_at.is_none()
        && decision.fields.is_empty()
        && decision.text == TextUse::None
        && holds(&decision.prompt, STRIP_PROMPT)
        && decision
            .options
            .iter()
            .all(|option| holds(&option.label, STRIP_CHARS))
}

/// Whether a text stands as it is in one line of so many characters.
fn holds(text: &str, most: usize) -> bool {
    text.chars().count() <= most && !text.trim().contains(['\n', '\r']) && !text::hides(text)
}

/// Characters of a label that the strip shows at most.
pub const STRIP_CHARS: usize = 18;

/// A prompt of more characters may not fit a strip's line.
const STRIP_PROMPT: usize = 48;

/// At most `room` options in the agent's order, with a refusal among them wherever there is one.
fn pick(options: &[AnswerOption], room: usize) -> Vec<&AnswerOption> {
    if options.len() <= room {
        return options.iter().collect();
    }
    let refusal = options
        .iter()
        .position(|option| option.polarity == Polarity::Refuses);
    let mut chosen: Vec<usize> = (0..room).collect();
    if let (Some(refusal), Some(last)) = (refusal, chosen.last_mut()) {
        if refusal > *last {
            *last = refusal;
        }
    }
    // The one that grants least is the first; a wider grant must not push it out.
    chosen.iter().filter_map(|&at| options.get(at)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option(id: &str, polarity: Polarity) -> AnswerOption {
        AnswerOption {
            id: id.into(),
            label: id.to_uppercase(),
            polarity,
        }
    }

    fn ids(options: &[&AnswerOption]) -> Vec<String> {
        options.iter().map(|option| option.id.clone()).collect()
    }

    #[test]
    fn the_strip_shows_the_first_grant_and_a_refusal() {
        let options = [
            option("allow", Polarity::Grants),
            option("always-1", Polarity::Grants),
            option("deny", Polarity::Refuses),
        ];
        assert_eq!(ids(&main_two(&options)), ["allow", "deny"]);
    }

    #[test]
    fn options_without_polarity_are_shown_in_their_order() {
        let options = [
            option("a", Polarity::Neutral),
            option("b", Polarity::Neutral),
            option("c", Polarity::Neutral),
        ];
        assert_eq!(ids(&main_two(&options)), ["a", "b"]);
    }

    #[test]
    fn a_refusal_that_comes_early_is_not_doubled() {
        let options = [
            option("deny", Polarity::Refuses),
            option("allow", Polarity::Grants),
            option("abort", Polarity::Refuses),
        ];
        assert_eq!(ids(&main_two(&options)), ["deny", "allow"]);
    }

    fn plain_question(members: &[(&str, serde_json::Value)]) -> Decision {
        let mut whole = serde_json::json!({
            "id": "d.1", "pane_id": "p", "kind": "input", "prompt": "Deploy?", "text": "none",
            "answerable": true, "asked_at": 0, "agent": "script",
            "options": [
                { "id": "yes", "label": "Yes", "polarity": "grants" },
                { "id": "no", "label": "No", "polarity": "refuses" },
            ],
        });
        for (name, value) in members {
            whole[*name] = value.clone();
        }
        serde_json::from_value(whole).unwrap()
    }

    #[test]
    fn a_form_is_sent_by_the_digit_after_its_options_and_always_has_one() {
        let fields = (
            "fields",
            serde_json::json!([{ "id": "f", "type": "string", "label": "Why?" }]),
        );
        let many = |count: usize| {
            let options: Vec<_> = (0..count)
                .map(|n| serde_json::json!({ "id": n.to_string(), "label": "x", "polarity": "neutral" }))
                .collect();
            ("options", serde_json::Value::from(options))
        };
        for (count, digit) in [(0, 1), (2, 3), (8, 9), (9, 9), (20, 9)] {
            let decision = plain_question(&[fields.clone(), many(count)]);
            assert_eq!(digit_of_form(&decision), Some(digit), "{count} options");
            let taken = (0..count).filter_map(|at| digit_of_option(&decision, at));
            assert!(
                taken.into_iter().all(|other| other != digit),
                "two mean {digit}"
            );
        }
        let without = plain_question(&[many(12)]);
        assert_eq!(digit_of_form(&without), None);
        assert_eq!(digit_of_option(&without, 8), Some(9));
        assert_eq!(digit_of_option(&without, 9), None);
    }

    #[test]
    fn the_strip_holds_a_short_question_with_two_short_options() {
        assert!(strip_holds_all(&plain_question(&[])));
    }

    #[test]
    fn the_strip_does_not_hold_what_it_would_cut_leave_out_or_not_flag() {
        let always = "Always: make test and all";
        assert!(always.chars().count() > STRIP_CHARS);
        let labelled =
            |label: &str| serde_json::json!([{ "id": "a", "label": label, "polarity": "grants" }]);
        for (name, value) in [
            ("detail", "make".into()),
            ("subject", "Bash".into()),
            ("expires_at", 1.into()),
            ("text", "reason".into()),
            ("answerable", false.into()),
            (
                "source",
                serde_json::json!({ "origin": "hook", "subagent": "reviewer" }),
            ),
            ("prompt", "Deploy\u{202e}?".into()),
            ("prompt", "Deploy\nit?".into()),
            ("prompt", "x".repeat(STRIP_PROMPT + 1).into()),
            ("options", labelled(always)),
            ("options", labelled("Al\u{200b}low")),
            ("options", labelled("Allow\nall")),
        ] {
            let decision = plain_question(&[(name, value.clone())]);
            assert!(!strip_holds_all(&decision), "{name}: {value}");
        }
    }

    #[test]
    fn three_of_many_always_hold_a_refusal() {
        let mut options: Vec<_> = (1..=5)
            .map(|n| option(&format!("o{n}"), Polarity::Grants))
            .collect();
        options.push(option("deny", Polarity::Refuses));
        assert_eq!(
            ids(&pick(&options, NOTIFICATION_OPTIONS)),
            ["o1", "o2", "deny"]
        );
    }
}
