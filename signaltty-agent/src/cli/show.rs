//! Printing. Whatever comes from an agent goes through [`sanitise`]; whatever is printed can fail, and a closed
//! pipe is no reason to panic.

use std::io::Write;

use serde::Serialize;
use signaltty_core::model::{Decision, Field, Pane, RespondVia, TextUse};
use signaltty_core::sanitise;

use super::failure::Failure;

/// Characters of a title in a list.
const TITLE_WIDTH: usize = 32;
/// Characters of a prompt in a list.
const PROMPT_WIDTH: usize = 72;
/// Characters of a label.
const LABEL_WIDTH: usize = 400;

/// Prints one JSON document.
pub(super) fn json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string(value).map_err(|error| Failure::failed(error.to_string()))?;
    line(&text)
}

/// Prints a line, at once.
pub(super) fn line(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Ok(()) => Ok(()),
        // Whoever read us has read enough.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {
            Err(Failure::silent(super::failure::FAILED))
        }
        Err(error) => Err(error.into()),
    }
}

/// Prints beside the result, on standard error. Where nobody reads that, nothing is lost.
pub(super) fn aside(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let _ = stderr
        .write_all(text.as_bytes())
        .and_then(|()| stderr.flush());
}

/// Text of several lines, safe to print.
pub(super) fn text(untrusted: &str) -> String {
    sanitise::visible(untrusted).text
}

/// Text on one line, safe to print.
pub(super) fn one_line(untrusted: &str, width: usize) -> String {
    sanitise::one_line(untrusted, width)
}

/// A pane's title, on one line.
pub(super) fn title(pane: &Pane) -> String {
    one_line(&pane.title, TITLE_WIDTH)
}

/// A prompt, on one line.
pub(super) fn prompt(decision: &Decision) -> String {
    one_line(&decision.prompt, PROMPT_WIDTH)
}

/// A label, on one line.
pub(super) fn label(label: &str) -> String {
    one_line(label, LABEL_WIDTH)
}

/// The whole of a decision, as lines: who asks what, all of it, and how it can be answered.
pub(super) fn card(decision: &Decision, pane: Option<&Pane>) -> String {
    let place = pane.map_or_else(
        || decision.pane_id.to_string(),
        |pane| format!("{} ({})", title(pane), pane.id),
    );
    let mut lines = vec![format!(
        "{} asks in {place}, decision {}",
        one_line(&decision.agent, TITLE_WIDTH),
        decision.id
    )];
    let asked = sanitise::visible(&decision.prompt);
    lines.extend(indented(&asked.text, "  "));
    let mut found = asked.found;
    if let Some(detail) = &decision.detail {
        let shown = sanitise::visible_detail(decision.detail_kind, detail);
        lines.extend(indented(&shown.text, "    "));
        found = found.and(&shown.found);
    }
    if found.any() {
        lines.push(format!("  ! hidden characters, written out above: {found}"));
    }
    for (index, option) in decision.options.iter().enumerate() {
        let mark = if decision.answerable {
            format!("{})", index + 1)
        } else {
            "-".into()
        };
        lines.push(format!(
            "  {mark} {}  [{}]",
            label(&option.label),
            option.id
        ));
    }
    for field in &decision.fields {
        lines.extend(self::field(field));
    }
    lines.push(format!("  {}", how(decision)));
    lines.join("\n")
}

fn field(field: &Field) -> Vec<String> {
    let mut lines = vec![format!("  {} = {}", field.id, label(&field.label))];
    for choice in &field.choices {
        let about = choice
            .description
            .as_ref()
            .map(|about| format!(": {}", label(about)))
            .unwrap_or_default();
        lines.push(format!(
            "      {} = {}{about}",
            choice.id,
            label(&choice.label)
        ));
    }
    let mut takes = Vec::new();
    if field.multi {
        takes.push("several, separated by commas");
    }
    if field.other {
        takes.push("or words of your own");
    }
    if !takes.is_empty() {
        lines.push(format!("      ({})", takes.join(", ")));
    }
    lines
}

/// What a person can do about a decision.
fn how(decision: &Decision) -> &'static str {
    if !decision.answerable {
        let hook = decision
            .respond_via
            .as_ref()
            .is_some_and(|via| via.contains(&RespondVia::Control));
        return if hook {
            "Answer it in the agent's own terminal now."
        } else {
            "Answer it in the agent's own terminal."
        };
    }
    match (decision.fields.is_empty(), decision.text) {
        (false, _) => "Answer every field: FIELD=VALUE.",
        (true, TextUse::Reason) => {
            "Answer with an option; any other words refuse, and are passed on as the reason."
        }
        (true, TextUse::Answer) => "Answer with your own words or an option.",
        (true, TextUse::None) => "Answer with an option.",
    }
}

fn indented<'a>(text: &'a str, indent: &'a str) -> impl Iterator<Item = String> + 'a {
    text.lines().map(move |line| format!("{indent}{line}"))
}
