//! What the cards of several vendors share: the verdict options, the bounds, and the view of an input that no
//! special view exists for.

use serde_json::Value as Json;
use signaltty_core::adapter::{AnswerChannel, Ask, AskOption, Holding};
use signaltty_core::limits::{DETAIL_MAX, LABEL_MAX, PROMPT_MAX};
use signaltty_core::model::{DetailKind, Polarity, RespondVia, TextUse};

use crate::reading::Members;

/// Id of the granting option of a verdict card (specs/010 §2.7).
pub const ALLOW: &str = "allow";
/// Id of the refusing option of every card of ours.
pub const DENY: &str = "deny";

/// Most characters of a name (a path, a tool) that a prompt's sentence takes.
const NAME_MAX: usize = 400;

/// The option that grants this once.
pub fn allow_once() -> AskOption {
    AskOption {
        id: ALLOW.into(),
        label: "Allow once".into(),
        polarity: Polarity::Grants,
        carries_text: false,
    }
}

/// The option that refuses, with a reason where there is one.
pub fn deny(label: &str) -> AskOption {
    AskOption {
        id: DENY.into(),
        label: label.into(),
        polarity: Polarity::Refuses,
        carries_text: true,
    }
}

/// What a card shows of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The question.
    pub prompt: String,
    /// The whole of it.
    pub detail: String,
    /// How to show the detail.
    pub kind: DetailKind,
}

impl View {
    /// A view of an input that nothing special is known about: all of it, as indented JSON.
    pub fn generic(tool: &str, input: &Json) -> Self {
        let detail = serde_json::to_string_pretty(input).unwrap_or_else(|_| input.to_string());
        Self {
            prompt: format!("Use {}?", name(tool)),
            detail,
            kind: DetailKind::Text,
        }
    }

    /// The same view whose prompt also names what `shown` leaves out of the input.
    #[must_use]
    pub fn with_others(mut self, input: Members<'_>, shown: &[&str]) -> Self {
        for other in input.others(shown) {
            self.prompt.push('\n');
            self.prompt.push_str(&other);
        }
        self
    }
}

/// A name as one sentence takes it: shortened in the middle of nothing, at its end, where it is absurdly long.
pub fn name(text: &str) -> String {
    if text.chars().count() <= NAME_MAX {
        text.to_owned()
    } else {
        text.chars().take(NAME_MAX).chain(['…']).collect()
    }
}

/// Brings a card within the bounds of the host. What a person cannot read whole is not theirs to grant from
/// here: such a card becomes a hint, and the agent asks in its own terminal.
pub fn bounded(mut ask: Ask) -> Ask {
    let mut cut = shorten(&mut ask.prompt, PROMPT_MAX);
    if let Some(detail) = &mut ask.detail {
        cut |= shorten(detail, DETAIL_MAX);
    }
    for label in ask.options.iter_mut().map(|option| &mut option.label) {
        cut |= shorten(label, LABEL_MAX);
    }
    for field in &mut ask.fields {
        cut |= shorten(&mut field.label, LABEL_MAX);
        for choice in &mut field.choices {
            cut |= shorten(&mut choice.label, LABEL_MAX);
            if let Some(description) = &mut choice.description {
                cut |= shorten(description, LABEL_MAX);
            }
        }
    }
    if cut { hint_only(ask) } else { ask }
}

/// The same card, only to be read: it is answered where the agent itself asks.
pub fn hint_only(mut ask: Ask) -> Ask {
    ask.channel = AnswerChannel::None;
    ask.holding = Holding::Never;
    ask.respond_via = Some(vec![RespondVia::Oob]);
    ask.text = TextUse::None;
    ask
}

/// Cuts `text` to at most `max` bytes and says so at its end.
fn shorten(text: &mut String, max: usize) -> bool {
    if text.len() <= max {
        return false;
    }
    let whole = text.len();
    let end = format!("\n… {whole} bytes in all; the rest is in the terminal");
    let mut at = max.saturating_sub(end.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    text.truncate(at);
    text.push_str(&end);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_that_is_cut_can_only_be_read() {
        let ask = Ask {
            detail: Some("x".repeat(DETAIL_MAX + 1)),
            options: vec![allow_once(), deny("Deny")],
            channel: AnswerChannel::HookVerdict,
            holding: Holding::Always,
            text: TextUse::Reason,
            ..Ask::default()
        };
        let cut = bounded(ask);
        assert!(cut.detail.as_ref().is_some_and(
            |detail| detail.len() <= DETAIL_MAX && detail.ends_with("in the terminal")
        ));
        assert_eq!(
            (cut.channel, cut.holding, cut.text),
            (AnswerChannel::None, Holding::Never, TextUse::None)
        );
        assert_eq!(cut.respond_via, Some(vec![RespondVia::Oob]));
    }

    #[test]
    fn a_cut_never_splits_a_character() {
        let mut text = "ä".repeat(PROMPT_MAX);
        assert!(shorten(&mut text, PROMPT_MAX));
        assert!(text.len() <= PROMPT_MAX);
    }
}
