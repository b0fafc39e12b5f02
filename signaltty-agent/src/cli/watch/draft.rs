//! The line that is being typed, and the question that it belongs to.

use std::time::Duration;

use signaltty_core::limits::TEXT_MAX;
use signaltty_core::model::DecisionId;

/// A whole line, or the wish to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Typed {
    /// Enter was pressed.
    Line {
        /// What was typed.
        text: String,
        /// The question that stood in front when the first letter was typed.
        meant: Option<DecisionId>,
        /// How long it had stood there then.
        age: Duration,
    },
    /// Ctrl+D on an empty line.
    End,
}

/// What was typed since the last Enter.
#[derive(Debug, Default)]
pub(super) struct Draft {
    text: String,
    /// Set with the first letter: the question in front, and how long it had been there.
    begun: Option<(Option<DecisionId>, Duration)>,
    /// The bytes of a character that is not whole yet.
    part: Vec<u8>,
    escape: Escape,
}

/// How far into an escape sequence the input is; arrows and the like are no text.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Escape {
    #[default]
    None,
    Begun,
    Inside,
}

impl Draft {
    /// Takes bytes of the terminal (or of a pipe) while `front` stands in front, for as long as `age` already.
    pub(super) fn take(
        &mut self,
        bytes: &[u8],
        front: Option<&DecisionId>,
        age: Duration,
    ) -> Vec<Typed> {
        let mut typed = Vec::new();
        for &byte in bytes {
            if self.escaped(byte) {
                continue;
            }
            match byte {
                b'\r' | b'\n' => {
                    let (meant, age) = self.begun.take().unwrap_or((front.cloned(), age));
                    self.part.clear();
                    typed.push(Typed::Line {
                        text: std::mem::take(&mut self.text),
                        meant,
                        age,
                    });
                }
                // Ctrl+D
                0x04 if self.text.is_empty() => typed.push(Typed::End),
                // Backspace
                0x08 | 0x7f => self.erase(|text| {
                    text.pop();
                }),
                // Ctrl+U
                0x15 => self.erase(String::clear),
                // Ctrl+W
                0x17 => self.erase(|text| {
                    let kept = text
                        .trim_end()
                        .trim_end_matches(|c: char| !c.is_whitespace())
                        .len();
                    text.truncate(kept);
                }),
                0x1b => self.escape = Escape::Begun,
                b'\t' => self.letter(' ', front, age),
                0x00..=0x1f => {}
                _ => self.byte(byte, front, age),
            }
        }
        typed
    }

    /// The line as it can be shown while it is typed.
    pub(super) fn shown(&self) -> String {
        super::super::show::one_line(&self.text, 4 * TEXT_MAX)
    }

    fn byte(&mut self, byte: u8, front: Option<&DecisionId>, age: Duration) {
        self.part.push(byte);
        match std::str::from_utf8(&self.part) {
            Ok(whole) => {
                let letters: Vec<char> = whole.chars().collect();
                self.part.clear();
                for letter in letters {
                    self.letter(letter, front, age);
                }
            }
            // More of the character may come; what cannot become one is dropped.
            Err(error) if error.error_len().is_none() => {}
            Err(_) => self.part.clear(),
        }
    }

    fn letter(&mut self, letter: char, front: Option<&DecisionId>, age: Duration) {
        if self.begun.is_none() {
            self.begun = Some((front.cloned(), age));
        }
        if self.text.len() + letter.len_utf8() <= TEXT_MAX {
            self.text.push(letter);
        }
    }

    /// Takes something away. An empty line belongs to no question any more.
    fn erase(&mut self, erase: impl FnOnce(&mut String)) {
        erase(&mut self.text);
        self.part.clear();
        if self.text.is_empty() {
            self.begun = None;
        }
    }

    /// Whether the byte belongs to an escape sequence.
    fn escaped(&mut self, byte: u8) -> bool {
        let (inside, next) = match (self.escape, byte) {
            (Escape::None, _) => (false, Escape::None),
            // A lone Esc, and then Enter.
            (_, b'\r' | b'\n') => (false, Escape::None),
            (Escape::Begun, b'[' | b'O') => (true, Escape::Inside),
            (Escape::Begun, _) => (true, Escape::None),
            (Escape::Inside, 0x40..=0x7e) => (true, Escape::None),
            (Escape::Inside, _) => (true, Escape::Inside),
        };
        self.escape = next;
        inside
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(9);

    fn id(text: &str) -> DecisionId {
        DecisionId::from_trusted(text)
    }

    fn line(text: &str, meant: Option<&str>, age: Duration) -> Typed {
        Typed::Line {
            text: text.into(),
            meant: meant.map(id),
            age,
        }
    }

    #[test]
    fn a_line_belongs_to_the_question_of_its_first_letter() {
        let mut draft = Draft::default();
        assert_eq!(draft.take(b"use ", Some(&id("a")), LONG), []);
        assert_eq!(
            draft.take(b"staging\r", Some(&id("b")), Duration::ZERO),
            [line("use staging", Some("a"), LONG)]
        );
        assert_eq!(
            draft.take(b"1\n", Some(&id("b")), LONG),
            [line("1", Some("b"), LONG)]
        );
        assert_eq!(draft.take(b"x\n", None, LONG), [line("x", None, LONG)]);
    }

    #[test]
    fn a_line_that_was_emptied_belongs_to_none() {
        let mut draft = Draft::default();
        draft.take(b"no", Some(&id("a")), LONG);
        draft.take(b"\x7f\x7f", Some(&id("b")), LONG);
        assert_eq!(
            draft.take(b"yes\n", Some(&id("b")), LONG),
            [line("yes", Some("b"), LONG)]
        );
    }

    #[test]
    fn editing_keys_edit_and_arrows_are_no_text() {
        let mut draft = Draft::default();
        let typed = draft.take("a b\u{17}c\x1b[A\x1bOB\u{7f}é\tz\r".as_bytes(), None, LONG);
        assert_eq!(typed, [line("a é z", None, LONG)]);
        assert_eq!(
            draft.take(b"gone\x15kept\r", None, LONG),
            [line("kept", None, LONG)]
        );
        assert_eq!(draft.take(b"x\x04\r", None, LONG), [line("x", None, LONG)]);
        assert_eq!(draft.take(b"\x04", None, LONG), [Typed::End]);
    }

    #[test]
    fn characters_may_come_in_parts_and_bad_bytes_are_dropped() {
        let mut draft = Draft::default();
        draft.take(&"ß".as_bytes()[..1], None, LONG);
        draft.take(&"ß".as_bytes()[1..], None, LONG);
        assert_eq!(draft.take(b"\xff\r", None, LONG), [line("ß", None, LONG)]);
    }

    #[test]
    fn a_line_has_a_bound() {
        let mut draft = Draft::default();
        draft.take(&vec![b'x'; TEXT_MAX * 2], None, LONG);
        assert!(
            matches!(draft.take(b"\r", None, LONG).as_slice(), [Typed::Line { text, .. }] if text.len() == TEXT_MAX)
        );
    }
}
