//! Untrusted text on its way to a widget, through the core's sanitiser. Labels are never markup.

use std::ops::Range;

use signaltty_core::model::DetailKind;
use signaltty_core::sanitise::{self, Found, Shown};

/// Longest line of a title, a label or a state, in characters.
const LINE_CHARS: usize = 240;
/// Longest chunk of a detail that one label lays out, in bytes.
const CHUNK_MAX: usize = 16 * 1024;

/// A text that is safe to show, and what to say of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The text, with everything that could deceive written out.
    pub shown: Shown,
    /// Lines of the original.
    pub lines: usize,
    /// Bytes of the original.
    pub bytes: usize,
}

impl Block {
    /// What had to be written out.
    pub fn found(&self) -> &Found {
        &self.shown.found
    }
}

/// Text in one line, with everything that could deceive written out.
pub fn line(text: &str) -> String {
    line_of(text, LINE_CHARS)
}

/// The same, of at most so many characters.
pub fn line_of(text: &str, max: usize) -> String {
    sanitise::one_line(text, max)
}

/// One name of several parts, for a screen reader; empty ones are left out.
pub fn name(parts: &[&str]) -> String {
    let parts: Vec<&str> = parts
        .iter()
        .map(|part| part.trim())
        .filter(|part| !part.is_empty())
        .collect();
    parts.join(", ")
}

/// A text of an option whole, in one line: what a rule that it sets covers must not be cut. `kind` is that of the
/// decision's detail, for a label that quotes code hides what code hides.
pub fn label(kind: DetailKind, text: &str) -> String {
    sanitise::visible_detail(kind, text.trim())
        .text
        .replace('\n', "⏎")
        .replace('\t', " ")
}

/// Whether a text holds a character that would not be seen, as code or as prose.
pub fn hides(text: &str) -> bool {
    sanitise::visible_code(text).found.any()
}

/// What a label had to have written out.
pub fn found_in_label(kind: DetailKind, text: &str) -> Found {
    sanitise::visible_detail(kind, text.trim()).found
}

/// A prompt whole, its lines kept.
pub fn prose(text: &str) -> Block {
    block(sanitise::visible(text), text)
}

/// A detail whole, its lines kept.
pub fn detail(kind: DetailKind, text: &str) -> Block {
    block(sanitise::visible_detail(kind, text), text)
}

fn block(shown: Shown, text: &str) -> Block {
    Block {
        shown,
        lines: text.lines().count(),
        bytes: text.len(),
    }
}

/// The marks that lie in a part of the text, counted from the part's beginning.
pub fn marks_within(shown: &Shown, part: &Range<usize>) -> Vec<Range<usize>> {
    let from = shown.marks.partition_point(|mark| mark.end <= part.start);
    let marks = shown
        .marks
        .iter()
        .skip(from)
        .take_while(|mark| mark.start < part.end);
    marks
        .map(|mark| mark.start.max(part.start) - part.start..mark.end.min(part.end) - part.start)
        .collect()
}

/// Cuts a text into chunks for one label each, between lines where it can: the newline between two is in neither.
pub fn chunks(text: &str) -> Vec<Range<usize>> {
    let end = text.strip_suffix('\n').unwrap_or(text).len();
    let mut chunks = Vec::new();
    let mut start = 0;
    while end - start > CHUNK_MAX {
        let most = sanitise::floor_char(text, start + CHUNK_MAX);
        let newline = text.get(start..most).and_then(|chunk| chunk.rfind('\n'));
        match newline {
            Some(newline) => {
                chunks.push(start..start + newline);
                start += newline + 1;
            }
            None => {
                chunks.push(start..most);
                start = most;
            }
        }
    }
    chunks.push(start..end);
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<&str> {
        chunks(text).into_iter().map(|chunk| &text[chunk]).collect()
    }

    #[test]
    fn chunks_end_between_lines_and_lose_nothing() {
        let text: String = (0..5_000).map(|n| format!("line {n}\n")).collect();
        let chunks = cut(&text);
        assert!(chunks.len() > 1);
        assert!(chunks.iter().all(|chunk| chunk.len() <= CHUNK_MAX));
        assert_eq!(chunks.join("\n") + "\n", text);
    }

    #[test]
    fn a_line_longer_than_a_chunk_is_cut_between_characters() {
        let text = "ä".repeat(CHUNK_MAX);
        assert_eq!(cut(&text).concat(), text);
    }

    #[test]
    fn hidden_characters_are_written_out_and_counted() {
        let block = detail(DetailKind::Command, "rm\u{200b} -rf \u{202e}x");
        assert!(!block.shown.text.contains(['\u{200b}', '\u{202e}']));
        assert_eq!(block.found().total(), 2);
        assert_eq!(block.bytes, "rm\u{200b} -rf \u{202e}x".len());
    }

    #[test]
    fn marks_are_found_in_the_chunk_that_they_lie_in() {
        let shown = sanitise::visible_code("a\u{200b}b\nc\u{200b}d");
        let second = shown.text.find('c').unwrap()..shown.text.len();
        let marks = marks_within(&shown, &second);
        assert_eq!(marks.len(), 1);
        assert!(shown.text[second][marks[0].clone()].contains("200B"));
    }

    #[test]
    fn an_option_s_label_is_whole_and_hides_nothing_that_code_can_hide() {
        let rule = format!("Always: {}", "x".repeat(LINE_CHARS * 2));
        assert_eq!(label(DetailKind::Command, &rule), rule);
        let joined = label(DetailKind::Command, "rm\u{a0}-r\na");
        assert!(!joined.contains(['\u{a0}', '\n']), "{joined}");
        assert!(hides("rm\u{a0}-r") && !hides("rm -r ä"));
    }

    #[test]
    fn a_name_leaves_out_what_is_empty() {
        assert_eq!(
            name(&["fix it", "", "asks", " Run this? "]),
            "fix it, asks, Run this?"
        );
    }

    #[test]
    fn a_line_stays_one_line() {
        assert!(!line("a\nb\u{2028}c").contains(['\n', '\u{2028}']));
    }
}
