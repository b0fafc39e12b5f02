//! What a decision that cannot be answered here asks, as lines of information.

use signaltty_core::model::{Decision, FieldType};

use crate::text;

/// Every option, every question of a form and every choice of it, in the agent's order, safe to show and whole.
pub fn lines(decision: &Decision) -> Vec<String> {
    let shown = |words: &str| text::label(decision.detail_kind, words);
    let mut lines = Vec::new();
    for field in &decision.fields {
        let takes = match field.field_type {
            FieldType::Boolean => " (yes or no)",
            FieldType::Number => " (a number)",
            FieldType::Select if field.multi => " (any of these)",
            FieldType::Select | FieldType::String => "",
        };
        lines.push(format!("• {}{takes}", shown(&field.label)));
        for choice in &field.choices {
            let described = choice
                .description
                .as_deref()
                .filter(|words| !words.trim().is_empty())
                .map(|words| format!(": {}", shown(words)))
                .unwrap_or_default();
            lines.push(format!("   – {}{described}", shown(&choice.label)));
        }
        if field.other {
            lines.push("   – other words".into());
        }
    }
    lines.extend(
        decision
            .options
            .iter()
            .map(|option| format!("• {}", shown(&option.label))),
    );
    lines
}

/// Every label of a decision's options, fields and choices, as the agent wrote it.
pub fn labels(decision: &Decision) -> impl Iterator<Item = &str> {
    let options = decision.options.iter().map(|option| option.label.as_str());
    let fields = decision.fields.iter().flat_map(|field| {
        let choices = field.choices.iter().flat_map(|choice| {
            let described = choice.description.as_deref();
            std::iter::once(choice.label.as_str()).chain(described)
        });
        std::iter::once(field.label.as_str()).chain(choices)
    });
    options.chain(fields)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_form_s_questions_and_choices_and_the_options_are_all_listed_whole() {
        let long = format!("Always: {}", "x".repeat(400));
        let decision: Decision = serde_json::from_value(json!({
            "id": "d.1", "pane_id": "p", "kind": "form", "prompt": "Set it up", "text": "none",
            "answerable": false, "asked_at": 0, "agent": "agent",
            "options": [{ "id": "a", "label": long, "polarity": "grants" }],
            "fields": [
                { "id": "db", "type": "select", "label": "Which data\u{200b}base?", "other": true, "choices": [
                    { "id": "pg", "label": "PostgreSQL", "description": "runs already" },
                    { "id": "lite", "label": "SQLite" },
                ] },
                { "id": "seed", "type": "boolean", "label": "Seed it?" },
            ],
        }))
        .unwrap();
        assert_eq!(
            lines(&decision),
            [
                "• Which data⟨U+200B⟩base?",
                "   – PostgreSQL: runs already",
                "   – SQLite",
                "   – other words",
                "• Seed it? (yes or no)",
                &format!("• {long}"),
            ]
        );
        let hidden: usize = labels(&decision)
            .map(|label| text::found_in_label(decision.detail_kind, label).total())
            .sum();
        assert_eq!((labels(&decision).count(), hidden), (6, 1));
    }
}
