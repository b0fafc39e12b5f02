//! Leave to use a tool.

use serde_json::{Map, Value as Json, json};
use signaltty_core::adapter::{
    AdapterError, AnswerChannel, Ask, AskOption, Holding, HookLoss, TerminalKeys,
};
use signaltty_core::answer::Applied;
use signaltty_core::limits::LABEL_MAX;
use signaltty_core::model::{DetailKind, Key, Kind, Polarity, RespondVia, TextUse};

use super::super::card::{ALLOW, DENY, View, allow_once, deny, name};
use super::{cannot, refusal, suggestion};
use crate::diff;
use crate::reading::Members;

/// How the carry names this card.
pub(super) const CARD: &str = "permission";

/// Rows that its menu has at least where it offers to remember something: the answering digits reach this far.
const ROWS: usize = 4;
/// Rows beside the suggestions: "Yes" and "No".
const VERDICT_ROWS: usize = 2;
/// Most always-choices that a card offers.
const ALWAYS_MAX: usize = 8;

/// The card of a tool's call.
pub(super) fn ask(tool: &str, value: &Json, input: Members<'_>, suggestions: &[Json]) -> Ask {
    let view = view(tool, value, input);
    let always = always(suggestions);
    let carry: Map<String, Json> = always
        .iter()
        .map(|(option, suggestion)| (option.id.clone(), suggestion.clone()))
        .collect();
    let mut options = vec![allow_once(), deny("Deny")];
    options.extend(always.into_iter().map(|(option, _)| option));
    Ask {
        kind: Kind::Permission,
        prompt: view.prompt,
        detail: Some(view.detail),
        detail_kind: view.kind,
        options,
        text: TextUse::Reason,
        respond_via: Some(vec![RespondVia::Control, RespondVia::Oob]),
        channel: AnswerChannel::HookVerdict,
        holding: Holding::Always,
        hook_loss: HookLoss::MovedOn,
        keys: Some(keys(suggestions.len())),
        carry: json!({ "card": CARD, "always": carry }),
        ..Ask::default()
    }
}

/// What answers its prompt in the terminal: a digit of a row, Enter on the row chosen, Esc. Tab opens a text
/// field for a reason.
fn keys(suggestions: usize) -> TerminalKeys {
    let rows = (suggestions + VERDICT_ROWS).clamp(ROWS, 9);
    let mut answers: Vec<Key> = ('1'..='9').take(rows).map(Key::Char).collect();
    answers.extend([Key::Enter, Key::Escape]);
    TerminalKeys {
        answers,
        opens_text: vec![Key::Tab],
    }
}

/// One option for every suggestion whose whole effect can be said, with the suggestion itself.
fn always(suggestions: &[Json]) -> Vec<(AskOption, Json)> {
    let mut found: Vec<(AskOption, Json)> = Vec::new();
    for suggestion in suggestions {
        let Some(words) = suggestion::words(suggestion) else {
            continue;
        };
        let label = format!("Always: {words}");
        if label.len() > LABEL_MAX || found.iter().any(|(option, _)| option.label == label) {
            continue;
        }
        let id = format!("always-{}", found.len() + 1);
        found.push((
            AskOption {
                id,
                label,
                polarity: Polarity::Grants,
                carries_text: false,
            },
            suggestion.clone(),
        ));
        if found.len() == ALWAYS_MAX {
            break;
        }
    }
    found
}

fn view(tool: &str, value: &Json, input: Members<'_>) -> View {
    let known = match tool {
        "Bash" => command(input),
        "Write" => write(input),
        "Edit" => edit(input),
        "MultiEdit" => edits(input),
        "NotebookEdit" => notebook(input),
        "WebFetch" => fetch(input),
        _ => None,
    };
    known.unwrap_or_else(|| View::generic(tool, value))
}

fn command(input: Members<'_>) -> Option<View> {
    let command = input.text("command")?;
    let prompt = match input.text("description") {
        Some(description) => format!("Run this command? {description}"),
        None => "Run this command?".into(),
    };
    let view = View {
        prompt,
        detail: command.into(),
        kind: DetailKind::Command,
    };
    Some(view.with_others(input, &["command", "description"]))
}

fn write(input: Members<'_>) -> Option<View> {
    let path = input.text("file_path")?;
    let content = input.maybe_empty("content")?;
    let view = View {
        prompt: format!("Write this as the whole of {}?", name(path)),
        detail: diff::whole(path, content),
        kind: DetailKind::Diff,
    };
    Some(view.with_others(input, &["file_path", "content"]))
}

fn edit(input: Members<'_>) -> Option<View> {
    let path = input.text("file_path")?;
    let detail = one_edit(path, input)?;
    let every = if input.flag("replace_all") {
        ", everywhere it occurs"
    } else {
        ""
    };
    let view = View {
        prompt: format!("Edit {}{every}?", name(path)),
        detail,
        kind: DetailKind::Diff,
    };
    Some(view.with_others(
        input,
        &["file_path", "old_string", "new_string", "replace_all"],
    ))
}

fn edits(input: Members<'_>) -> Option<View> {
    let path = input.text("file_path")?;
    let edits = input.list("edits");
    let parts: Option<Vec<String>> = edits
        .iter()
        .map(|edit| one_edit(path, Members::of(edit)?))
        .collect();
    let parts = parts.filter(|parts| !parts.is_empty())?;
    let every = edits
        .iter()
        .any(|edit| edit.get("replace_all").and_then(Json::as_bool) == Some(true));
    let every = if every {
        ", some of it everywhere it occurs"
    } else {
        ""
    };
    let view = View {
        prompt: format!("Make {} edits in {}{every}?", parts.len(), name(path)),
        detail: parts.concat(),
        kind: DetailKind::Diff,
    };
    Some(view.with_others(input, &["file_path", "edits"]))
}

fn one_edit(path: &str, edit: Members<'_>) -> Option<String> {
    Some(diff::edit(
        path,
        edit.maybe_empty("old_string")?,
        edit.maybe_empty("new_string")?,
    ))
}

fn notebook(input: Members<'_>) -> Option<View> {
    let path = input.text("notebook_path")?;
    let source = input.maybe_empty("new_source")?;
    let mode = input.text("edit_mode").unwrap_or("replace");
    let cell = input
        .text("cell_id")
        .map(|cell| format!(" cell {}", name(cell)))
        .unwrap_or_default();
    let view = View {
        prompt: format!("Change the notebook {} ({mode}{cell})?", name(path)),
        detail: diff::whole(path, source),
        kind: DetailKind::Diff,
    };
    Some(view.with_others(
        input,
        &["notebook_path", "new_source", "edit_mode", "cell_id"],
    ))
}

fn fetch(input: Members<'_>) -> Option<View> {
    let url = input.text("url")?;
    let view = View {
        prompt: "Fetch this address?".into(),
        detail: url.into(),
        kind: DetailKind::Text,
    };
    Some(view.with_others(input, &["url"]))
}

/// The `decision` of the hook's output.
pub(super) fn verdict(carry: &Json, applied: &Applied) -> Result<Json, AdapterError> {
    match applied.option_id.as_deref() {
        Some(ALLOW) => Ok(json!({ "behavior": "allow" })),
        Some(DENY) => Ok(refusal(applied.text.as_deref())),
        Some(always) => match carry.get("always").and_then(|offered| offered.get(always)) {
            Some(suggestion) => {
                Ok(json!({ "behavior": "allow", "updatedPermissions": [suggestion] }))
            }
            None => Err(cannot("no such option was offered")),
        },
        None => Err(cannot("only an option answers a permission request")),
    }
}
