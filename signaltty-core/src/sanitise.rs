//! Untrusted text made safe to show, for every surface: the window, a terminal, a notification (`specs/030`).
//!
//! Whatever would not be seen, or would change how its neighbours are seen, is written out as `⟨U+202E⟩` and
//! counted, so that a surface can flag it. What comes out holds no control character but newline and tab: it
//! can be printed to a terminal as it is. It is not markup-escaped; no surface of ours takes it as markup.
//!
//! Ordinary text of every script stays as it is, with its accents, emoji and joiners. In code nothing stays
//! that cannot be seen, not even what is right in prose: a joiner in a Persian word, a no-break space.

mod hidden;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use crate::model::DetailKind;
pub use hidden::Hidden;
use hidden::{Neighbours, Strictness};

/// A text that is safe to show.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Shown {
    /// The text, with hidden characters written out.
    pub text: String,
    /// Where in `text` they are, as byte ranges in order.
    pub marks: Vec<Range<usize>>,
    /// How many there were.
    pub found: Found,
}

/// How many hidden characters a text had, by sort.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found([usize; Hidden::ALL.len()]);

impl Found {
    /// Whether there was any.
    pub fn any(&self) -> bool {
        self.total() > 0
    }

    /// All of them.
    pub fn total(&self) -> usize {
        self.0.iter().sum()
    }

    /// Those of one sort.
    pub fn of(&self, sort: Hidden) -> usize {
        self.0[sort as usize]
    }

    /// These and those, for a card whose prompt and detail are flagged as one.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine += theirs;
        }
        self
    }
}

impl fmt::Display for Found {
    /// `3 hidden characters: 2 bidirectional, 1 zero-width`; nothing where there are none.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.total();
        if total == 0 {
            return Ok(());
        }
        write!(
            f,
            "{total} hidden character{}: ",
            if total == 1 { "" } else { "s" }
        )?;
        let sorts = Hidden::ALL.into_iter().filter(|sort| self.of(*sort) > 0);
        for (index, sort) in sorts.enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{} {}", self.of(sort), sort.word())?;
        }
        Ok(())
    }
}

/// Prose that may run over several lines: prompts, plans, messages.
pub fn visible(text: &str) -> Shown {
    show(text, Strictness::Prose)
}

/// A command, a diff, a path: nothing that cannot be seen stays.
pub fn visible_code(text: &str) -> Shown {
    show(text, Strictness::Code)
}

/// A decision's detail, by its kind.
pub fn visible_detail(kind: DetailKind, text: &str) -> Shown {
    match kind {
        DetailKind::Text => visible(text),
        DetailKind::Command | DetailKind::Diff => visible_code(text),
    }
}

/// One line of at most `max` characters, with an ellipsis where it was cut: titles, labels, rows of a list.
/// Line ends show as `⏎`; nothing is joined without a trace.
pub fn one_line(text: &str, max: usize) -> String {
    // No more of the text can reach the result, whatever it holds; the rest is not looked at.
    let head = text
        .char_indices()
        .nth(max.saturating_mul(2))
        .map_or(text, |(at, _)| &text[..at]);
    let shown = visible(head.trim());
    let mut line = String::new();
    let mut count = 0;
    let mut pieces = pieces(&shown).peekable();
    while let Some(piece) = pieces.next() {
        let length = piece.chars().count();
        let last = pieces.peek().is_none() && head.len() == text.len();
        if count + length > if last { max } else { max.saturating_sub(1) } {
            while line.ends_with(['\u{200d}', '\u{fe0f}']) {
                line.pop();
            }
            if max > 0 {
                line.push('…');
            }
            return line;
        }
        count += length;
        match piece {
            "\n" => line.push('⏎'),
            "\t" => line.push(' '),
            other => line.push_str(other),
        }
    }
    if head.len() < text.len() && max > 0 {
        line.push('…');
    }
    line
}

/// At most `max` bytes of `text`, cut between characters; how much was cut is said at the end, within `max`.
pub fn cut(text: &str, max: usize) -> Cow<'_, str> {
    if text.len() <= max {
        return Cow::Borrowed(text);
    }
    // Room for the longest note that there can be.
    const NOTE_MAX: usize = " … [18446744073709551615 bytes cut]".len();
    if max < NOTE_MAX * 2 {
        return Cow::Borrowed(&text[..floor_char(text, max)]);
    }
    let keep = floor_char(text, max - NOTE_MAX);
    Cow::Owned(format!(
        "{} … [{} bytes cut]",
        &text[..keep],
        text.len() - keep
    ))
}

/// The greatest character boundary that is at most `at`.
pub fn floor_char(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn show(text: &str, strictness: Strictness) -> Shown {
    let mut shown = Shown {
        text: String::with_capacity(text.len()),
        ..Shown::default()
    };
    let mut around = Neighbours::default();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        around.next = chars.peek().copied();
        let Some(sort) = hidden::sort(c, &around, strictness) else {
            // The line end of other systems is a line end in prose; code shows it, as diffs do.
            if c != '\r' {
                shown.text.push(c);
            }
            around.passed(c);
            continue;
        };
        let mut run = 1;
        while chars.next_if_eq(&c).is_some() {
            run += 1;
        }
        let start = shown.text.len();
        shown.text.push_str(&match run {
            1 => format!("⟨U+{:04X}⟩", u32::from(c)),
            _ => format!("⟨U+{:04X} ×{run}⟩", u32::from(c)),
        });
        shown.marks.push(start..shown.text.len());
        shown.found.0[sort as usize] += run;
        around.broken();
    }
    shown
}

/// The characters of a shown text, each written-out one in one piece.
fn pieces(shown: &Shown) -> impl Iterator<Item = &str> {
    let mut marks = shown.marks.iter().peekable();
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = shown.text.get(at..)?;
        let end = match marks.next_if(|mark| mark.start == at) {
            Some(mark) => mark.end,
            None => at + rest.chars().next()?.len_utf8(),
        };
        let piece = shown.text.get(at..end);
        at = end;
        piece
    })
}
