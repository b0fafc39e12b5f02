//! Viewer input read as keys (specs/001 §4).

use proptest::prelude::*;
use signaltty_core::host::terminal::KeyParser;
use signaltty_core::limits::LONE_ESC;
use signaltty_core::model::Key;

use crate::random;

const LONE_ESC_MS: u64 = LONE_ESC.as_millis() as u64;
/// Longer than anything is waited for.
const LATER_MS: u64 = 1_000_000;

/// The keys of `bytes`, and what is left once nothing follows.
fn keys(bytes: &[u8]) -> Vec<Key> {
    let mut parser = KeyParser::new();
    let mut keys = parser.feed(bytes, 0);
    keys.extend(parser.expire(LATER_MS));
    assert_eq!(parser.deadline(), None);
    keys
}

fn characters(text: &str) -> Vec<Key> {
    text.chars().map(Key::Char).collect()
}

#[test]
fn keys_are_read() {
    for (bytes, expected) in [
        ("", vec![]),
        ("yes é日🙂", characters("yes é日🙂")),
        ("1\r", vec![Key::Char('1'), Key::Enter]),
        ("\n", vec![Key::Ctrl('j')]),
        ("\t\x1b[Z", vec![Key::Tab, Key::BackTab]),
        ("\x7f\x08", vec![Key::Backspace, Key::Backspace]),
        (
            "\x03\x01\x1a",
            vec![Key::Ctrl('c'), Key::Ctrl('a'), Key::Ctrl('z')],
        ),
        ("\x00\x1c", vec![Key::Other, Key::Other]),
        (
            "\x1b[A\x1b[B\x1b[C\x1b[D",
            vec![Key::Up, Key::Down, Key::Right, Key::Left],
        ),
        (
            "\x1bOA\x1bOB\x1bOC\x1bOD",
            vec![Key::Up, Key::Down, Key::Right, Key::Left],
        ),
        ("\x1bOM", vec![Key::Enter]),
        ("\x1b", vec![Key::Escape]),
        ("\x1b\x1b", vec![Key::Escape, Key::Escape]),
        ("a\x1b", vec![Key::Char('a'), Key::Escape]),
        ("\x1bx\x1b日", vec![Key::Alt('x'), Key::Alt('日')]),
        // Neither is the plain key: a newline in a composer, a word taken back.
        ("\x1b\r\x1b\x7f", vec![Key::Other, Key::Other]),
        // With modifiers, an arrow is another key.
        ("\x1b[1;5A\x1b\x1b[A", vec![Key::Other, Key::Other]),
        ("\x1b[1;1A", vec![Key::Up]),
        (
            "\x1b[H\x1b[F\x1b[3~\x1bOP\x1b[15~\x1b[1;2P",
            vec![Key::Other; 6],
        ),
        ("\x1b[", vec![Key::Alt('[')]),
        ("\x1bO", vec![Key::Alt('O')]),
        ("\x1b]", vec![Key::Alt(']')]),
        ("\x1bP", vec![Key::Alt('P')]),
        ("\x1b]x", vec![Key::Alt(']'), Key::Char('x')]),
        (
            "\x1b[13u\x1b[27u\x1b[49u\x1b[99;5u\x1b[98;3u",
            vec![
                Key::Enter,
                Key::Escape,
                Key::Char('1'),
                Key::Ctrl('c'),
                Key::Alt('b'),
            ],
        ),
        ("\x1b[49;1:3u", vec![]),
        ("\u{9b}", vec![Key::Other]),
    ] {
        assert_eq!(keys(bytes.as_bytes()), expected, "{bytes:?}");
    }
}

#[test]
fn reports_and_replies_are_no_keys() {
    for report in [
        // Focus.
        "\x1b[I",
        "\x1b[O",
        // Mouse: X10, with bytes that would be keys; SGR; urxvt.
        "\x1b[M !!",
        "\x1b[M\x201\r",
        "\x1b[M\x03\x1b1",
        "\x1b[<0;10;20M",
        "\x1b[<0;10;20m",
        "\x1b[32;10;20M",
        // DA1 to DA3, DSR, CPR, DECRPM, kitty flags, window reports.
        "\x1b[?65;1;9c",
        "\x1b[>65;7006;1c",
        "\x1bP!|7E565445\x1b\\",
        "\x1b[0n",
        "\x1b[24;80R",
        "\x1b[1;1R",
        "\x1b[?24;80;1R",
        "\x1b[?2026;0$y",
        "\x1b[4;2$y",
        "\x1b[?1u",
        "\x1b[8;24;80t",
        // Colours, XTVERSION, DECRQSS, titles.
        "\x1b]11;rgb:0000/0000/0000\x07",
        "\x1b]4;1;rgb:cdcd/0000/0000\x1b\\",
        "\x1bP>|VTE(7006)\x1b\\",
        "\x1bP1$r0m\x1b\\",
        "\x1bP0+r544e\x1b\\",
        "\x1b]lyes\x1b\\",
        "\x1b]52;c;MQ0=\x07",
    ] {
        assert_eq!(keys(report.as_bytes()), [], "{report:?}");
        let typed = format!("a{report}b");
        assert_eq!(keys(typed.as_bytes()), characters("ab"), "{typed:?}");
    }
}

#[test]
fn a_paste_is_one_key_whatever_it_holds() {
    for (paste, expected) in [
        ("\x1b[200~1\r\x1b[201~", Key::Paste(true)),
        (
            "\x1b[200~yes\x1b[Ano\x1b\x1b[20~\x1b[201~",
            Key::Paste(true),
        ),
        ("\x1b[200~日\x1b[201~", Key::Paste(true)),
        ("\x1b[200~\r\n\t\x1b[201~", Key::Paste(false)),
        ("\x1b[200~\x1b\x1b[201~", Key::Paste(false)),
        ("\x1b[200~\x1b[201~", Key::Paste(false)),
    ] {
        assert_eq!(
            keys(paste.as_bytes()),
            std::slice::from_ref(&expected),
            "{paste:?}"
        );
        let around = format!("a{paste}\r");
        assert_eq!(
            keys(around.as_bytes()),
            [Key::Char('a'), expected, Key::Enter],
            "{around:?}"
        );
    }
    // However long it takes, no pasted byte becomes a key.
    let mut parser = KeyParser::new();
    assert_eq!(parser.feed(b"\x1b[200~a", 0), [Key::Paste(true)]);
    assert_eq!(parser.deadline(), None);
    assert_eq!(parser.feed(b"1\r", LATER_MS), []);
    assert_eq!(parser.feed(b"\x1b[201~\r", LATER_MS), [Key::Enter]);
}

#[test]
fn a_lone_escape_is_one_that_nothing_follows_in_time() {
    let mut parser = KeyParser::new();
    assert_eq!(parser.feed(b"\x1b", 100), []);
    assert_eq!(parser.deadline(), Some(100 + LONE_ESC_MS));
    assert_eq!(parser.expire(100 + LONE_ESC_MS - 1), []);
    assert_eq!(parser.expire(100 + LONE_ESC_MS), [Key::Escape]);
    assert_eq!(parser.deadline(), None);
    // The next byte comes too late to belong to it, or just in time.
    assert_eq!(parser.feed(b"\x1b", 200), []);
    assert_eq!(
        parser.feed(b"[A", 200 + LONE_ESC_MS),
        [Key::Escape, Key::Char('['), Key::Char('A')]
    );
    assert_eq!(parser.feed(b"\x1b", 400), []);
    assert_eq!(parser.feed(b"[A", 400 + LONE_ESC_MS - 1), [Key::Up]);
}

#[test]
fn keys_do_not_vanish_in_what_never_ends() {
    let mut parser = KeyParser::new();
    assert_eq!(parser.feed(b"\x1b]1", 0), []);
    let deadline = parser
        .deadline()
        .expect("a reply is not waited for without end");
    assert_eq!(parser.feed(b"1", deadline), [Key::Other, Key::Char('1')]);
    // A mouse report without its coordinates, a character without its end.
    parser.feed(b"\x1b[M", deadline);
    assert_eq!(parser.feed(b"1", deadline + LONE_ESC_MS), [Key::Char('1')]);
    parser.feed(b"\xe2\x82", deadline + 1_000);
    assert_eq!(
        parser.feed(b"1", deadline + 2_000),
        [Key::Char('\u{FFFD}'), Key::Char('1')]
    );
    // A reply longer than any.
    let mut long = b"\x1b]11;".to_vec();
    long.resize(1024 * 1024, b'x');
    long.push(b'\r');
    let keys = KeyParser::new().feed(&long, 0);
    assert_eq!(
        (keys.first(), keys.last()),
        (Some(&Key::Other), Some(&Key::Enter))
    );
    // A sequence longer than any.
    let long = format!("\x1b[{}A1", "1".repeat(1_000));
    assert_eq!(
        KeyParser::new().feed(long.as_bytes(), 0).last(),
        Some(&Key::Char('1'))
    );
}

#[test]
fn a_sequence_cut_off_by_another_is_no_key_that_counts() {
    assert_eq!(keys(b"\x1b[1\x1b[A"), [Key::Other, Key::Up]);
    assert_eq!(keys(b"\x1b]11;x\x1b[A"), [Key::Up]);
    assert_eq!(keys(b"\xe2\x82\x1b[A"), [Key::Char('\u{FFFD}'), Key::Up]);
    assert_eq!(keys(b"\xff1"), [Key::Char('\u{FFFD}'), Key::Char('1')]);
}

fn input() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        4 => "[a-zé日1-3]{1,5}".prop_map(String::into_bytes),
        4 => prop::sample::select(vec![
            "\r", "\t", "\x1b", "\x1b[A", "\x1bOB", "\x1b[Z", "\x1b[1;5C", "\x1b[I", "\x1b[O", "\x1b[<0;1;2M", "\x1b[M !!",
            "\x1b[32;1;2M", "\x1b[200~", "\x1b[201~", "\x1b]11;rgb:0/0/0\x07", "\x1bP>|VTE\x1b\\", "\x1b[?1;2c", "\x1b[3~",
            "\x1bx", "\x1b[49;1u", "\x1b]", "\x1b[",
        ]).prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 1..6),
    ];
    prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
}

#[test]
fn it_does_not_matter_how_input_is_cut_into_reads() {
    let property = |bytes: Vec<u8>| {
        let whole = keys(&bytes);
        for step in 1..8 {
            let mut parser = KeyParser::new();
            let mut cut = Vec::new();
            for part in bytes.chunks(step) {
                cut.extend(parser.feed(part, 0));
            }
            cut.extend(parser.expire(LATER_MS));
            prop_assert_eq!(&whole, &cut, "in steps of {}", step);
        }
        Ok(())
    };
    random::check(1_500, &input(), property, |bytes| random::readable(bytes));
}
