//! Edits of a JSON text that can be undone: what is put in leaves a trace of what was there before, so that
//! taking it out again restores the bytes.
//!
//! - Into a container that has children, a child goes behind the last one, spaced like it.
//! - Into a container that was empty, it goes between two blanks: `[]` becomes `[ x ]` and `[]` again.
//! - A container that we made ourselves has its only or first child without a blank before it, or on a line of
//!   its own: emptied again, it goes altogether.

use std::ops::Range;

use super::json::Node;

/// How a text is laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    newline: &'static str,
    /// One step of indent; `None`: all on one line.
    unit: Option<String>,
}

impl Layout {
    /// The layout of a text, by its first member.
    pub(super) fn of(text: &str, root: &Node) -> Self {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let unit = match children(root).first() {
            None => Some("  ".to_owned()),
            Some(first) => {
                let before = &text[root.span.start + 1..first.start];
                before
                    .rsplit_once('\n')
                    .map(|(_, indent)| indent.to_owned())
            }
        };
        Self { newline, unit }
    }

    /// The layout of a text of our own.
    pub(super) fn own() -> Self {
        Self {
            newline: "\n",
            unit: Some("  ".into()),
        }
    }

    fn line(&self, depth: usize) -> Option<String> {
        Some(format!(
            "{}{}",
            self.newline,
            self.unit.as_ref()?.repeat(depth)
        ))
    }

    /// An object of these members, `depth` deep, as we make one.
    pub(super) fn object(&self, members: &[String], depth: usize) -> String {
        match (self.line(depth + 1), self.line(depth)) {
            (Some(inner), Some(outer)) => {
                format!("{{{inner}{}{outer}}}", members.join(&format!(",{inner}")))
            }
            _ => format!("{{{}}}", members.join(", ")),
        }
    }
}

/// Puts `entry` into `container`, `depth` deep in `text`, as its last child.
pub(super) fn insert(
    text: &str,
    container: &Node,
    entry: &str,
    depth: usize,
    layout: &Layout,
) -> String {
    let children = children(container);
    let mut edited = String::with_capacity(text.len() + entry.len() + 16);
    match children.as_slice() {
        [] => {
            let close = container.span.end - 1;
            edited.push_str(&text[..close]);
            edited.push(' ');
            edited.push_str(entry);
            edited.push(' ');
            edited.push_str(&text[close..]);
        }
        [.., last] => {
            let before = match children
                .len()
                .checked_sub(2)
                .and_then(|at| children.get(at))
            {
                Some(previous) => &text[previous.end..last.start],
                None => &text[container.span.start + 1..last.start],
            };
            let mut space: String = before.chars().filter(|c| *c != ',').collect();
            if container.members().is_some() && !space.contains('\n') {
                space = layout.line(depth + 1).unwrap_or(space);
            }
            edited.push_str(&text[..last.end]);
            edited.push(',');
            edited.push_str(&space);
            edited.push_str(entry);
            edited.push_str(&text[last.end..]);
        }
    }
    edited
}

/// What is left of a container after a child was taken out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Removed {
    /// The text, with the container in it.
    Text(String),
    /// Nothing: we had made the container for this child alone, so it has to go too.
    Container,
}

/// Takes a child out of `container`.
pub(super) fn remove(text: &str, container: &Node, index: usize) -> Removed {
    let children = children(container);
    let Some(child) = children.get(index) else {
        return Removed::Text(text.to_owned());
    };
    let cut = if let Some(previous) = index.checked_sub(1).and_then(|before| children.get(before)) {
        previous.end..child.end
    } else if let Some(next) = children.get(1) {
        child.start..next.start
    } else {
        let (open, close) = (container.span.start + 1, container.span.end - 1);
        let (before, after) = (&text[open..child.start], &text[child.end..close]);
        if made_by_us(before, after) {
            return Removed::Container;
        }
        match before.strip_suffix(' ') {
            Some(before) if after == " " => open + before.len()..close,
            _ => open..close,
        }
    };
    let mut edited = text.to_owned();
    edited.replace_range(cut, "");
    Removed::Text(edited)
}

/// Whether the only child stands in its container as we place one in a container of our own.
fn made_by_us(before: &str, after: &str) -> bool {
    let own_line = |blank: &str| blank.starts_with(['\n', '\r']);
    (before.is_empty() && after.is_empty()) || (own_line(before) && own_line(after))
}

/// Where the children of a container stand, in order.
fn children(container: &Node) -> Vec<Range<usize>> {
    match (container.members(), container.items()) {
        (Some(members), _) => members.iter().map(super::json::Member::span).collect(),
        (_, Some(items)) => items.iter().map(|item| item.span.clone()).collect(),
        _ => Vec::new(),
    }
}
