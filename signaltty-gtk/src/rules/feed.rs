//! Feeding a terminal widget without flooding it.
//!
//! The widget takes bytes into a queue of its own without bound, and says nothing when it has worked them off.
//! So every portion of at most [`FEED_MAX`] bytes ends with a [`SENTINEL`], a query whose reply comes through
//! the widget's `commit`; the next portion waits for that (specs/030). A portion ends only where the terminal
//! is between characters and between control sequences: a query in the middle of one would break it.

use signaltty_core::limits::FEED_MAX;

/// Asks for the cursor's position: the reply says that all before it was processed.
pub const SENTINEL: &[u8] = b"\x1b[6n";

/// Most bytes of a portion before its sentinel.
const PORTION_MAX: usize = FEED_MAX - SENTINEL.len();

/// Where an incremental reader of a terminal's output stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum At {
    /// Between characters and sequences.
    #[default]
    Ground,
    /// Inside a UTF-8 character: its first byte and how many are still to come.
    Character { lead: u8, left: u8 },
    /// After ESC, and whatever intermediates followed.
    Escape,
    /// Inside CSI.
    Control,
    /// Inside a string: OSC, which BEL ends too, or DCS, SOS, PM, APC. `lead`: the byte before was 0xc2, with
    /// which 0x9c is the control ST; after any other lead it is part of a letter.
    Text { bell: bool, lead: bool },
    /// After ESC inside a string.
    Ending,
}

/// Follows a terminal's output far enough to know where it may be cut.
#[derive(Debug, Default)]
pub struct Scanner(At);

impl Scanner {
    /// The length of the longest beginning of `bytes`, at most [`FEED_MAX`] with the sentinel,
    /// after which a query may be put.
    /// The scanner moves on to there. `None`: nothing of it ends between sequences, and it stays where it was.
    pub fn cut(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = self.0;
        let mut cut = None;
        for (index, &byte) in bytes.iter().take(PORTION_MAX).enumerate() {
            at = step(at, byte);
            if at == At::Ground {
                cut = Some(index + 1);
            }
        }
        if cut.is_some() {
            self.0 = At::Ground;
        }
        cut
    }

    /// Moves on over bytes that are fed although they end inside a sequence.
    pub fn pass(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |at, &byte| step(at, byte));
    }

    /// The terminal was reset.
    pub fn reset(&mut self) {
        self.0 = At::Ground;
    }
}

fn step(at: At, byte: u8) -> At {
    match (at, byte) {
        // CAN and SUB abort any sequence.
        (_, 0x18 | 0x1a) => At::Ground,
        (At::Text { .. }, 0x1b) => At::Ending,
        (At::Ending, b'\\') => At::Ground,
        (_, 0x1b) => At::Escape,
        // ESC and no backslash: the string is over and a sequence begins.
        (At::Ending, byte) => step(At::Escape, byte),
        (At::Escape, b'[') => At::Control,
        (At::Escape, b']') => At::Text {
            bell: true,
            lead: false,
        },
        (At::Escape, b'P' | b'X' | b'^' | b'_') => At::Text {
            bell: false,
            lead: false,
        },
        (At::Escape, 0x30..=0x7e) => At::Ground,
        (At::Escape, _) => At::Escape,
        (At::Control, 0x40..=0x7e) => At::Ground,
        (At::Control, _) => At::Control,
        (At::Text { bell: true, .. }, 0x07) | (At::Text { lead: true, .. }, 0x9c) => At::Ground,
        (At::Text { bell, .. }, byte) => At::Text {
            bell,
            lead: byte == 0xc2,
        },
        (At::Character { lead, left: 1 }, byte) => finished(lead, byte),
        (At::Character { lead, left }, 0x80..=0xbf) => At::Character {
            lead,
            left: left - 1,
        },
        (At::Ground | At::Character { .. }, 0xc2..=0xdf) => At::Character {
            lead: byte,
            left: 1,
        },
        (At::Ground | At::Character { .. }, 0xe0..=0xef) => At::Character {
            lead: byte,
            left: 2,
        },
        (At::Ground | At::Character { .. }, 0xf0..=0xf4) => At::Character {
            lead: byte,
            left: 3,
        },
        (At::Ground | At::Character { .. }, _) => At::Ground,
    }
}

/// The last byte of a character: C1 controls written as U+0080 to U+009F open sequences of their own.
fn finished(lead: u8, byte: u8) -> At {
    match (lead, byte) {
        (0xc2, 0x9b) => At::Control,
        (0xc2, 0x9d) => At::Text {
            bell: true,
            lead: false,
        },
        (0xc2, 0x90 | 0x98 | 0x9e | 0x9f) => At::Text {
            bell: false,
            lead: false,
        },
        (_, 0x80..=0xbf) => At::Ground,
        (_, byte) => step(At::Ground, byte),
    }
}

/// What a `commit` of the widget is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commit {
    /// The reply to the sentinel.
    Processed,
    /// A reply to a query of the program: the host has answered it already.
    Reply,
    /// Typing, pasting, a mouse or a focus report.
    Typed,
}

/// Reads a `commit`. `by_key`: the text came out of a key press, as Shift+F3 comes out as what a reply looks like.
pub fn commit(bytes: &[u8], by_key: bool) -> Commit {
    if by_key {
        return Commit::Typed;
    }
    if let Some(body) = bytes.strip_prefix(b"\x1b[") {
        let Some((&end, parameters)) = body.split_last() else {
            return Commit::Typed;
        };
        let numbers = |bytes: &[u8]| {
            !bytes.is_empty() && bytes.iter().all(|b| b.is_ascii_digit() || *b == b';')
        };
        return match (end, parameters.first()) {
            (b'R', Some(b'0'..=b'9')) if numbers(parameters) => Commit::Processed,
            // Device attributes, status and mode reports, window reports, terminal parameters.
            (b'c' | b'R' | b'n' | b'y', Some(b'?' | b'>' | b'=')) => Commit::Reply,
            (b'n' | b't' | b'x', Some(b'0'..=b'9')) if numbers(parameters) => Commit::Reply,
            _ => Commit::Typed,
        };
    }
    // Replies of colour queries, of settings and of the terminal's name.
    let string =
        bytes.starts_with(b"\x1b]") || bytes.starts_with(b"\x1bP") || bytes.starts_with(b"\x1b_");
    if string && (bytes.ends_with(b"\x1b\\") || bytes.ends_with(b"\x07")) {
        Commit::Reply
    } else {
        Commit::Typed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(bytes: &[u8]) -> Option<usize> {
        Scanner::default().cut(bytes)
    }

    #[test]
    fn plain_text_is_cut_at_its_end() {
        assert_eq!(cut(b"hello\r\n"), Some(7));
    }

    #[test]
    fn a_portion_is_never_longer_than_the_bound() {
        assert_eq!(
            cut(&vec![b'x'; FEED_MAX + 9]),
            Some(FEED_MAX - SENTINEL.len())
        );
    }

    #[test]
    fn it_never_ends_inside_a_sequence() {
        assert_eq!(cut(b"ab\x1b[38;5;1"), Some(2));
        assert_eq!(cut(b"ab\x1b"), Some(2));
        assert_eq!(cut(b"ab\x1b(").unwrap_or(0), 2);
        assert_eq!(cut(b"ab\x1b]0;title"), Some(2));
        assert_eq!(cut(b"ab\x1b]0;title\x07"), Some(12));
        assert_eq!(cut(b"ab\x1bPq..\x07"), Some(2));
        assert_eq!(cut(b"ab\x1bPq..\x1b\\c"), Some(10));
    }

    #[test]
    fn it_never_ends_inside_a_character() {
        let euro = "€".as_bytes();
        assert_eq!(cut(&euro[..2]), None);
        assert_eq!(cut(euro), Some(3));
        assert_eq!(cut(&[b'a', 0xf0, 0x9f, 0x98]), Some(1));
    }

    #[test]
    fn a_c1_control_written_as_a_character_opens_its_sequence() {
        assert_eq!(cut("a\u{9b}31".as_bytes()), Some(1));
        assert_eq!(cut("a\u{9b}31m".as_bytes()), Some(6));
    }

    #[test]
    fn the_scanner_goes_on_where_the_bytes_before_ended() {
        let mut scanner = Scanner::default();
        scanner.pass(b"\x1b]52;c;");
        assert_eq!(scanner.cut(b"AAAA"), None);
        assert_eq!(scanner.cut(b"AAAA\x07x"), Some(6));
        assert_eq!(scanner.cut(b"y"), Some(1));
    }

    #[test]
    fn a_letter_that_holds_the_byte_of_a_terminator_does_not_end_a_title() {
        assert_eq!(cut("a\x1b]0;\u{dc}ber".as_bytes()), Some(1));
        assert_eq!(cut("a\x1b]0;x\u{9c}b".as_bytes()), Some(9));
    }

    #[test]
    fn an_aborted_sequence_is_over() {
        assert_eq!(cut(b"\x1b[12\x18"), Some(5));
        assert_eq!(cut(b"\x1b]0;x\x1b[0m"), Some(9));
    }

    #[test]
    fn the_sentinels_reply_is_told_from_typing_and_from_other_replies() {
        assert_eq!(commit(b"\x1b[24;80R", false), Commit::Processed);
        assert_eq!(commit(b"\x1b[1;2R", true), Commit::Typed, "Shift+F3");
        for reply in [
            &b"\x1b[?62;1c"[..],
            b"\x1b[>65;7006;1c",
            b"\x1b[0n",
            b"\x1b[?2026;0$y",
            b"\x1b[8;24;80t",
            b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\",
            b"\x1bP>|name\x1b\\",
        ] {
            assert_eq!(
                commit(reply, false),
                Commit::Reply,
                "{}",
                reply.escape_ascii()
            );
        }
        for typed in [
            &b"a"[..],
            b"\r",
            b"\x1b",
            b"\x1b[A",
            b"\x1b[1;5C",
            b"\x1b[I",
            b"\x1b[<0;10;10M",
            b"\x1b[200~words\x1b[201~",
            b"\x1bOP",
            b"\x1b]",
            "ß".as_bytes(),
        ] {
            assert_eq!(
                commit(typed, false),
                Commit::Typed,
                "{}",
                typed.escape_ascii()
            );
        }
    }
}
