//! What comes of a program's output: answers once, nothing that makes a viewer talk, signals, whole updates
//! (specs/001 §3, §4). And that it does not matter how the output is cut into reads.

use proptest::prelude::*;
use signaltty_core::host::terminal::osc::CLIPBOARD_MAX;
use signaltty_core::host::terminal::scan::{CSI_MAX, OSC_MAX};
use signaltty_core::host::terminal::{
    ClipboardWrite, Fed, REPLIES_MAX, SIGNALS_MAX, Selection, Terminal,
};
use signaltty_core::limits::{MESSAGE_MAX, SYNC_BYTES_MAX, SYNC_MAX, TITLE_MAX};
use signaltty_core::model::Size;
use signaltty_core::protocol::params::{Colors, ReadWhat};
use signaltty_core::session::StreamSignal;

use crate::dump::dump;
use crate::random;

fn terminal(cols: u16, rows: u16) -> Terminal {
    Terminal::new(Size { cols, rows }, &Colors::default())
}

fn feed(terminal: &mut Terminal, bytes: &[u8]) -> Fed {
    feed_at(terminal, bytes, 0)
}

fn feed_at(terminal: &mut Terminal, bytes: &[u8], now_ms: u64) -> Fed {
    let mut fed = Fed::default();
    terminal.feed(bytes, now_ms, &mut fed);
    fed
}

/// What a new 80 by 24 terminal answers.
#[track_caller]
fn assert_answers(query: &str, answer: &str) {
    let fed = feed(&mut terminal(80, 24), query.as_bytes());
    assert_eq!(
        random::readable(&fed.replies),
        random::readable(answer.as_bytes()),
        "to {query:?}"
    );
    assert_eq!(
        random::readable(&fed.viewers),
        random::readable(b""),
        "viewers do not get {query:?}"
    );
}

/// What viewers get of it.
#[track_caller]
fn assert_viewers_get(output: &[u8], expected: &[u8]) {
    let fed = feed(&mut terminal(80, 24), output);
    assert_eq!(random::readable(&fed.viewers), random::readable(expected));
}

fn signals(output: &[u8]) -> Vec<StreamSignal> {
    feed(&mut terminal(80, 24), output).signals
}

fn notification(title: Option<&str>, body: &str) -> StreamSignal {
    StreamSignal::Notification {
        title: title.map(str::to_owned),
        body: body.to_owned(),
    }
}

#[test]
fn queries_are_answered_and_viewers_do_not_get_them() {
    let version = env!("CARGO_PKG_VERSION");
    for (query, answer) in [
        ("\x1b[c", "\x1b[?62;22c"),
        ("\x1b[0c", "\x1b[?62;22c"),
        ("\x1bZ", "\x1b[?62;22c"),
        ("\x1b[>c", "\x1b[>0;100;0c"),
        ("\x1b[=c", "\x1bP!|53475459\x1b\\"),
        ("\x1b[5n", "\x1b[0n"),
        ("\x1b[6n", "\x1b[1;1R"),
        ("\x1b[?6n", "\x1b[?1;1;1R"),
        ("\x1b[?15n", "\x1b[?13n"),
        ("\x1b[?25$p", "\x1b[?25;1$y"),
        ("\x1b[?2004$p", "\x1b[?2004;2$y"),
        ("\x1b[?2026$p", "\x1b[?2026;2$y"),
        ("\x1b[?2027$p", "\x1b[?2027;0$y"),
        ("\x1b[?1049$p", "\x1b[?1049;2$y"),
        ("\x1b[4$p", "\x1b[4;2$y"),
        ("\x1b[2$p", "\x1b[2;0$y"),
        ("\x1b[>q", &format!("\x1bP>|SignalTTY({version})\x1b\\")),
        ("\x1bP$qm\x1b\\", "\x1bP1$r0m\x1b\\"),
        ("\x1bP$qr\x1b\\", "\x1bP1$r1;24r\x1b\\"),
        ("\x1bP$q q\x1b\\", "\x1bP1$r0 q\x1b\\"),
        ("\x1bP$qx\x1b\\", "\x1bP0$r\x1b\\"),
        ("\x1bP+q436f\x1b\\", "\x1bP1+r436f=323536\x1b\\"),
        ("\x1bP+q4d73\x1b\\", "\x1bP0+r4d73\x1b\\"),
        ("\x1b]10;?\x07", "\x1b]10;rgb:d0d0/d0d0/d0d0\x07"),
        ("\x1b]11;?\x1b\\", "\x1b]11;rgb:0000/0000/0000\x1b\\"),
        (
            "\x1b]4;1;?;16;?\x07",
            "\x1b]4;1;rgb:cdcd/0000/0000\x07\x1b]4;16;rgb:0000/0000/0000\x07",
        ),
        ("\x1b[14t", "\x1b[4;480;800t"),
        ("\x1b[16t", "\x1b[6;20;10t"),
        ("\x1b[18t", "\x1b[8;24;80t"),
        // Nobody answers these: not ours to claim, or what was asked would come back as typed text.
        ("\x1b[?u", ""),
        ("\x1b[20t", ""),
        ("\x1b[21t", ""),
        ("\x1b]52;c;?\x07", ""),
        ("\x1b[x", ""),
        ("\x1b[1;1;1;1;1;1*y", ""),
        ("\x1b_Gi=1,a=q;AAAA\x1b\\", ""),
        ("\x05", ""),
        // As C1 controls, and with a control character inside.
        ("\u{9b}5n", "\x1b[0n"),
        ("\u{9d}11;?\u{9c}", "\x1b]11;rgb:0000/0000/0000\x1b\\"),
    ] {
        assert_answers(query, answer);
    }
    let fed = feed(&mut terminal(80, 24), b"\x1b[6\r\nn");
    assert_eq!(
        (fed.replies.as_slice(), fed.viewers.as_slice()),
        (b"\x1b[2;1R".as_slice(), b"\r\n".as_slice())
    );
}

#[test]
fn answers_tell_where_the_terminal_stands_at_the_query() {
    let mut terminal = terminal(80, 24);
    let output = b"\x1b[5;10r\x1b[?6h\x1b[3;4H\x1b[6n\x1b[?6l\x1b[3;4H\x1b[6nab\x1b[6n\x1b[1;4;38;5;9m\x1bP$qm\x1b\\\x1b[5 q\x1bP$q q\x1b\\\x1b[?25l\x1b[?25$p";
    let fed = feed(&mut terminal, output);
    let expected =
        "\x1b[3;4R\x1b[3;4R\x1b[3;6R\x1bP1$r0;1;4;38;5;9m\x1b\\\x1bP1$r5 q\x1b\\\x1b[?25;2$y";
    assert_eq!(
        random::readable(&fed.replies),
        random::readable(expected.as_bytes())
    );
}

#[test]
fn colour_queries_get_the_latest_viewers_colours_unless_the_program_set_one() {
    let mut terminal = terminal(80, 24);
    let colors = Colors {
        foreground: Some("#010203".to_owned()),
        background: Some("#ffeedd".to_owned()),
        cursor: None,
        palette: vec![
            "#000000".to_owned(),
            "#aa0000".to_owned(),
            "nonsense".to_owned(),
        ],
    };
    terminal.set_colors(&colors);
    let fed = feed(&mut terminal, b"\x1b]10;?;?;?\x07\x1b]4;1;?;2;?\x07");
    let expected = "\x1b]10;rgb:0101/0202/0303\x07\x1b]11;rgb:ffff/eeee/dddd\x07\x1b]12;rgb:0101/0202/0303\x07\
                    \x1b]4;1;rgb:aaaa/0000/0000\x07\x1b]4;2;rgb:0000/cdcd/0000\x07";
    assert_eq!(
        random::readable(&fed.replies),
        random::readable(expected.as_bytes())
    );
    let fed = feed(
        &mut terminal,
        b"\x1b]11;#123456\x07\x1b]11;?\x07\x1b]111\x07\x1b]11;?\x07",
    );
    let expected = "\x1b]11;rgb:1212/3434/5656\x07\x1b]11;rgb:ffff/eeee/dddd\x07";
    assert_eq!(
        random::readable(&fed.replies),
        random::readable(expected.as_bytes())
    );
    assert_eq!(
        random::readable(&fed.viewers),
        random::readable(b"\x1b]11;#123456\x1b\\\x1b]111\x1b\\")
    );
}

#[test]
fn viewers_get_the_rest_as_it_is() {
    for output in [
        "plain é 日本\r\n\x1b[1;31mred\x1b[0m",
        "\x1b[?1049h\x1b[2J\x1b[H",
        "\x1b[?7777h\x1b[5;6~",
        "\x1b]7;file:///tmp\x1b\\",
        "\x1b]133;A\x1b\\",
        "\x07",
    ] {
        assert_viewers_get(output.as_bytes(), output.as_bytes());
    }
}

#[test]
fn viewers_get_what_every_terminal_reads_alike() {
    for (output, expected) in [
        // Not UTF-8.
        (b"a\xffb".as_slice(), "a\u{FFFD}b".as_bytes()),
        (b"\xe2\x82\x1b[m", "\u{FFFD}\x1b[m".as_bytes()),
        // C1, a cut-off sequence, a control inside one.
        ("\u{9b}1mx".as_bytes(), b"\x1b[1mx"),
        (b"\x1b[1;\x18x", b"x"),
        (b"\x1b[1\rmx", b"\r\x1b[1mx"),
        (b"\x1b[1;\x1b[2mx", b"\x1b[2mx"),
        // Repetition, the alternate screen's other names, selective erase, regions beyond the screen.
        (b"ab\x1b[3b", b"abbbb"),
        (b"a\x1b[m\x1b[3b", b"a\x1b[m"),
        (b"a\x1b[99999b", &[b'a'; 80]),
        (
            b"\x1b[?47h\x1b[?1049h\x1b[?47l\x1b[?1049l",
            b"\x1b[?1049h\x1b[?1049l",
        ),
        (b"\x1b[?1049l", b""),
        // VTE 0.70 crashes where it erases far beyond the row.
        (b"ab\x1b[65535X\x1b[X", b"ab\x1b[78X\x1b[1X"),
        (b"\x1b[?J", b"\x1b[0J"),
        (
            b"\x1b[3a\x1b[e\x1b[0L\x1b[5g",
            b"\x1b[3C\x1b[1B\x1b[1L\x1b[3g",
        ),
        (b"\x1b[50;60r\x1b[2;90r", b"\x1b[2;24r"),
        // Modes that would make a viewer talk, and the keyboard protocols that are not ours.
        (
            b"\x1b[?2048;2031;25h\x1b[>1u\x1b[>4;2m\x1b[<u",
            b"\x1b[?25h",
        ),
        (b"\x1b[4i", b""),
        (b"\x1b[8;10;10t", b""),
        (b"\x1b(A", b"\x1b(B"),
    ] {
        assert_viewers_get(output, expected);
    }
}

#[test]
fn saved_private_modes_come_back() {
    let mut terminal = terminal(80, 24);
    let fed = feed(
        &mut terminal,
        b"\x1b[?2004h\x1b[?2004;25s\x1b[?2004l\x1b[?25l\x1b[?2004;25r",
    );
    assert_eq!(
        random::readable(&fed.viewers),
        random::readable(b"\x1b[?2004h\x1b[?2004l\x1b[?25l\x1b[?2004h\x1b[?25h")
    );
    assert!(terminal.modes().bracketed_paste);
}

#[test]
fn a_sequence_over_its_bound_is_dropped_to_its_end() {
    for (begin, bound, end) in [
        ("\x1b[", CSI_MAX, "m"),
        ("\x1b]0;", OSC_MAX, "\x07"),
        ("\x1bP", OSC_MAX, "\x1b\\"),
    ] {
        let output = format!("a{begin}{}{end}b", "1".repeat(bound + 1));
        let fed = feed(&mut terminal(80, 24), output.as_bytes());
        assert_eq!(random::readable(&fed.viewers), random::readable(b"ab"));
        assert!(fed.signals.is_empty());
    }
}

#[test]
fn replies_and_signals_of_one_read_are_bounded() {
    let mut output = "\x1b[>q".repeat(20_000);
    output.push_str(&"\x1b]9;x\x07\x07\x1b]2;t\x07".repeat(1_000));
    let fed = feed(&mut terminal(80, 24), output.as_bytes());
    assert!(
        fed.replies.len() < REPLIES_MAX + 100,
        "{}",
        fed.replies.len()
    );
    assert!(
        (SIGNALS_MAX..=SIGNALS_MAX + 2).contains(&fed.signals.len()),
        "{}",
        fed.signals.len()
    );
    assert_eq!(
        fed.signals
            .iter()
            .filter(|signal| **signal == StreamSignal::Bell)
            .count(),
        1
    );
}

#[test]
fn the_stream_says_what_happens_by_itself() {
    let progress = |value| vec![StreamSignal::Progress(value)];
    let mark = |mark, status| vec![StreamSignal::PromptMark { mark, status }];
    for (output, expected) in [
        ("\x07", vec![StreamSignal::Bell]),
        ("a\x07\x07b\x07", vec![StreamSignal::Bell]),
        (
            "\x1b]0;one\x07\x1b]2;two\x1b\\",
            vec![StreamSignal::Title("two".to_owned())],
        ),
        ("\x1b]1;icon\x07", vec![]),
        (
            "\x1b]9;done; really\x07",
            vec![notification(None, "done; really")],
        ),
        ("\x1b]9;\x07", vec![]),
        ("\x1b]9;9;/tmp\x07", vec![]),
        ("\x1b]9;4;1;50\x07", progress(Some((1, 50)))),
        ("\x1b]9;4;3\x07", progress(Some((3, 0)))),
        ("\x1b]9;4;1;250\x07", progress(Some((1, 100)))),
        ("\x1b]9;4;0\x07", progress(None)),
        (
            "\x1b]777;notify;Title;Body; more\x07",
            vec![notification(Some("Title"), "Body; more")],
        ),
        ("\x1b]777;notify;only\x07", vec![notification(None, "only")]),
        ("\x1b]777;other;x\x07", vec![]),
        ("\x1b]99;;hello\x1b\\", vec![notification(None, "hello")]),
        (
            "\x1b]99;i=1:d=0;Ti\x1b\\\x1b]99;i=1:d=0;tle\x1b\\\x1b]99;i=1:p=body:e=1;Ym9keQ==\x1b\\",
            vec![notification(Some("Title"), "body")],
        ),
        ("\x1b]99;i=1:p=?;\x1b\\", vec![]),
        ("\x1b]133;A\x07", mark('A', None)),
        ("\x1b]133;C;cmdline=x\x07", mark('C', None)),
        ("\x1b]133;D;3\x07", mark('D', Some(3))),
        ("\x1b]133;D\x07", mark('D', None)),
        ("\x1b]133;P;k=i\x07", vec![]),
        // BEL that ends a sequence is none; a cut-off command says nothing.
        ("\x1b]8;;\x07", vec![]),
        ("\x1b]9;x\x18", vec![]),
        ("\x1b]9;x\x1b[m", vec![]),
    ] {
        assert_eq!(signals(output.as_bytes()), expected, "{output:?}");
    }
}

#[test]
fn what_a_signal_says_is_bounded_and_free_of_controls() {
    let long = "é".repeat(MESSAGE_MAX);
    let signals = signals(format!("\x1b]2;{long}\x07\x1b]777;notify;{long};{long}\x07").as_bytes());
    let [
        StreamSignal::Title(title),
        StreamSignal::Notification {
            title: Some(head),
            body,
        },
    ] = signals.as_slice()
    else {
        panic!("{signals:?}");
    };
    assert_eq!(
        (title.len(), head.len(), body.len()),
        (TITLE_MAX, TITLE_MAX, MESSAGE_MAX)
    );
    let signals = self::signals("\x1b]2;a\nb\x07".as_bytes());
    assert_eq!(signals, [StreamSignal::Title("ab".to_owned())]);
    let signals = self::signals("\x1b]2;a\u{85}b\x07".as_bytes());
    assert_eq!(
        signals,
        [StreamSignal::Bell],
        "a C1 control cuts a command off"
    );
    let encoded = "\x1b]99;e=1;YQ1iG1swbQ==\x1b\\";
    assert_eq!(
        self::signals(encoded.as_bytes()),
        [notification(None, "ab[0m")]
    );
}

#[test]
fn notifications_are_shown_by_the_host_alone() {
    assert_viewers_get(
        b"\x1b]9;x\x07\x1b]9;4;1;5\x07\x1b]777;notify;a;b\x07\x1b]99;;x\x1b\\",
        b"",
    );
}

#[test]
fn titles_put_aside_come_back() {
    let mut terminal = terminal(80, 24);
    let fed = feed(
        &mut terminal,
        b"\x1b]2;one\x07\x1b[22;0t\x1b]2;two\x07\x1b[23;0t\x1b[23;0t",
    );
    assert_eq!(terminal.title(), Some("one"));
    assert_eq!(fed.signals, [StreamSignal::Title("one".to_owned())]);
    assert!(fed.replies.is_empty());
}

#[test]
fn clipboard_writes_are_reported_and_viewers_do_not_get_them() {
    let mut terminal = terminal(80, 24);
    let fed = feed(
        &mut terminal,
        b"\x1b]52;c;aGVsbG8=\x07\x1b]52;p;cHJpbQ\x1b\\\x1b]52;c;d29ybGQ=\x07",
    );
    let write = |selection, text: &str| ClipboardWrite {
        selection,
        text: text.to_owned(),
    };
    assert_eq!(
        fed.clipboard,
        [
            write(Selection::Primary, "prim"),
            write(Selection::Clipboard, "world")
        ]
    );
    assert!(fed.viewers.is_empty() && fed.replies.is_empty());
    for refused in [
        "\x1b]52;c;?\x07",
        "\x1b]52;c;***\x07",
        "\x1b]52;c;\x07",
        "\x1b]52;q;aGVsbG8=\x07",
    ] {
        let fed = feed(&mut terminal, refused.as_bytes());
        assert!(
            fed.clipboard.is_empty() && fed.viewers.is_empty() && fed.replies.is_empty(),
            "{refused:?}"
        );
    }
    // QUJD is ABC.
    let most = format!("\x1b]52;c;{}\x07", "QUJD".repeat(CLIPBOARD_MAX / 3));
    assert_eq!(feed(&mut terminal, most.as_bytes()).clipboard.len(), 1);
    let more = format!("\x1b]52;c;{}\x07", "QUJD".repeat(CLIPBOARD_MAX / 3 + 1));
    assert!(feed(&mut terminal, more.as_bytes()).clipboard.is_empty());
}

#[test]
fn a_synchronized_update_reaches_viewers_whole() {
    let mut terminal = terminal(80, 24);
    let fed = feed_at(&mut terminal, b"a\x1b[?2026hb", 1_000);
    assert_eq!(fed.viewers, b"a");
    assert_eq!(
        terminal.deadline(),
        Some(1_000 + SYNC_MAX.as_millis() as u64)
    );
    let fed = feed_at(&mut terminal, b"c\x1b[?2026$p\x1b[?2026hd", 1_010);
    assert_eq!(fed.viewers, b"");
    assert_eq!(
        fed.replies, b"\x1b[?2026;1$y",
        "the model is ahead of the viewers"
    );
    let fed = feed_at(&mut terminal, b"e\x1b[?2026lf", 1_020);
    assert_eq!(fed.viewers, b"bcdef");
    assert_eq!(terminal.deadline(), None);
    assert_eq!(terminal.text(ReadWhat::Screen, None), "abcdef");
}

#[test]
fn an_update_that_takes_too_long_is_shown() {
    let mut terminal = terminal(80, 24);
    let late = SYNC_MAX.as_millis() as u64;
    feed_at(&mut terminal, b"\x1b[?2026ha", 0);
    let mut fed = Fed::default();
    terminal.expire(late - 1, &mut fed);
    assert_eq!(fed.viewers, b"");
    terminal.expire(late, &mut fed);
    assert_eq!(
        (fed.viewers.as_slice(), terminal.deadline()),
        (b"a".as_slice(), None)
    );
    // The same where the next read comes first.
    feed_at(&mut terminal, b"\x1b[?2026hb", 1_000);
    assert_eq!(feed_at(&mut terminal, b"c", 1_000 + late).viewers, b"bc");
}

#[test]
fn an_update_that_is_too_long_is_shown() {
    let mut terminal = terminal(80, 24);
    feed(&mut terminal, b"\x1b[?2026h");
    let chunk = vec![b'x'; 1024 * 1024];
    let mut fed = Fed::default();
    for _ in 0..SYNC_BYTES_MAX / chunk.len() {
        terminal.feed(&chunk, 0, &mut fed);
        assert_eq!(fed.viewers.len(), 0);
    }
    terminal.feed(b"y", 0, &mut fed);
    assert_eq!(fed.viewers.len(), SYNC_BYTES_MAX + 1);
    assert_eq!(
        feed(&mut terminal, b"z").viewers,
        b"z",
        "and what follows at once"
    );
    assert_eq!(
        feed(&mut terminal, b"\x1b[?2026l\x1b[?2026ha").viewers,
        b"",
        "until the next update"
    );
}

#[test]
fn a_viewer_that_comes_during_an_update_gets_nothing_twice() {
    let mut terminal = terminal(80, 24);
    feed(&mut terminal, b"\x1b[?2026hone\r\n");
    let mut fed = Fed::default();
    let snapshot = terminal.snapshot(&mut fed);
    assert_eq!(fed.viewers, b"one\r\n", "for those who were there");
    let mut viewer = self::terminal(80, 24);
    feed(&mut viewer, &snapshot);
    let rest = feed(&mut terminal, b"two\x1b[?2026l").viewers;
    feed(&mut viewer, &rest);
    assert_eq!(viewer.text(ReadWhat::Screen, None), "one\ntwo");
}

#[test]
fn text_reads_rows_from_the_end() {
    let mut terminal = terminal(10, 3);
    feed(
        &mut terminal,
        "one  \r\n0123456789abc\r\n日本\x1b[1C語e\u{301}\r\nlast\r\n".as_bytes(),
    );
    assert_eq!(
        terminal.text(ReadWhat::Screen, None),
        "日本 語e\u{301}\nlast"
    );
    assert_eq!(
        terminal.text(ReadWhat::Scrollback, None),
        "one\n0123456789\nabc\n日本 語e\u{301}\nlast"
    );
    assert_eq!(
        terminal.text(ReadWhat::Scrollback, Some(3)),
        "abc\n日本 語e\u{301}\nlast"
    );
    assert_eq!(terminal.text(ReadWhat::Screen, Some(1)), "last");
    feed(&mut terminal, b"\x1b[?1049h\x1b[Hover");
    assert_eq!(terminal.text(ReadWhat::Screen, None), "over");
}

/// Found by feeding the model and VTE 0.70 the same: text, row and column after each, `+` where the cursor waits to
/// wrap.
#[test]
fn the_model_does_as_vte_does() {
    for (output, expected) in [
        // Which sequences let a cursor wait to wrap.
        ("abcdefghij\x1b[@x", "abcdefghix 0,9+"),
        ("abcdefghij\x1b[Px", "abcdefghix 0,9+"),
        ("abcdefghij\x1b[Xx", "abcdefghix 0,9+"),
        ("abcdefghij\x1b[Kx", "abcdefghij/x 1,1"),
        ("abcdefghij\x1b[1Kx", "         x 0,9+"),
        ("abcdefghij\x1b[2Kx", "/x 1,1"),
        ("abcdefghij\x1b[Jx", "abcdefghix 0,9+"),
        ("abcdefghij\nx", "abcdefghij/         x 1,9+"),
        ("\nabcdefghij\x1bMx", "         x/abcdefghij 0,9+"),
        ("abcdefghij\x1b7\x1b8x", "abcdefghix 0,9+"),
        ("abcdefghij\x1b[?1049h\x1b[?1049lx", "abcdefghix 0,9+"),
        ("abcdefghij\x1b[mx", "abcdefghij/x 1,1"),
        ("abcdefghij\tx", "abcdefghij/x 1,1"),
        // Inserting and deleting lines moves to the first column; too many characters are those there are.
        ("1\r\n23\x1b[Lx", "1/x/23 1,1"),
        ("12\r\n34\r\n5\x1b[1;2H\x1b[Mx", "x4/5 0,1"),
        ("abcdef\x1b[4G\x1b[9Px", "abcx 0,4"),
        // Erasing above takes the first row too.
        ("1\r\n22\x1b[1Jx", "/  x 1,3"),
        // Origin mode: the region's own rows and columns, once.
        (
            "\x1b[2;3r\x1b[?6h\x1b[2;5Hx\x1b[2Gy\x1b[Az",
            "/  z/ y  x 1,3",
        ),
        ("1\r\n2\x1b[2;3r\x1b[2;1H\x1b[9Ax", "1/x 1,1"),
        // Wide characters at the margin, with and without wrapping.
        ("abcdefghi日x", "abcdefghi/日x 1,3"),
        ("\x1b[?7labcdefghi日", "abcdefgh日 0,9+"),
        ("\u{301}a\u{301}", "a\u{301} 0,1"),
        ("\x1b[2;2H\x1b#8", "EEEEEEEEEE/EEEEEEEEEE/EEEEEEEEEE 1,1"),
    ] {
        let mut terminal = terminal(10, 3);
        feed(&mut terminal, output.as_bytes());
        let cursor = &terminal.screen().grid().cursor;
        let text = terminal.text(ReadWhat::Screen, None).replace('\n', "/");
        let waits = if cursor.input_needs_wrap { "+" } else { "" };
        let got = format!(
            "{text} {},{}{waits}",
            cursor.point.line.0, cursor.point.column.0
        );
        assert_eq!(got, expected, "{output:?}");
    }
}

#[test]
fn lines_come_back_down_when_the_terminal_grows() {
    let mut terminal = terminal(10, 3);
    feed(&mut terminal, b"1\r\n2\r\n3\r\n4\r\n0123456789abc\r\n6");
    assert_eq!(terminal.text(ReadWhat::Screen, None), "0123456789\nabc\n6");
    terminal.resize(Size { cols: 20, rows: 4 });
    assert_eq!(
        terminal.text(ReadWhat::Screen, None),
        "3\n4\n0123456789abc\n6"
    );
    terminal.resize(Size { cols: 5, rows: 3 });
    assert_eq!(
        terminal.text(ReadWhat::Scrollback, None),
        "1\n2\n3\n4\n01234\n56789\nabc\n6"
    );
}

type Output = (String, String, String);

/// State, bytes for viewers and replies after `output`, read as `cut` says.
fn read_in_pieces(size: (u16, u16), output: &[u8], cut: impl Fn(usize) -> bool) -> Output {
    let mut terminal = terminal(size.0, size.1);
    let mut fed = Fed::default();
    let mut start = 0;
    for end in 1..=output.len() {
        if cut(end) || end == output.len() {
            terminal.feed(&output[start..end], 0, &mut fed);
            start = end;
        }
    }
    (
        dump(&terminal),
        random::readable(&fed.viewers),
        random::readable(&fed.replies),
    )
}

#[test]
fn it_does_not_matter_how_the_output_is_cut_into_reads() {
    let strategy = (random::size(), random::anything(), 1_usize..40);
    let property = |(size, output, step): ((u16, u16), Vec<u8>, usize)| {
        let whole = read_in_pieces(size, &output, |_| false);
        prop_assert_eq!(
            &whole,
            &read_in_pieces(size, &output, |_| true),
            "read byte by byte"
        );
        prop_assert_eq!(
            &whole,
            &read_in_pieces(size, &output, |end| end % step == 0),
            "read in steps"
        );
        for at in 1..output.len().min(48) {
            prop_assert_eq!(
                &whole,
                &read_in_pieces(size, &output, |end| end == at),
                "cut at {}",
                at
            );
        }
        Ok(())
    };
    random::check(80, &strategy, property, |(size, output, step)| {
        format!("{size:?} {} in steps of {step}", random::readable(output))
    });
}

#[test]
fn nothing_in_what_viewers_get_makes_them_answer_or_differ() {
    let strategy = (random::size(), random::anything());
    let property = |(size, output): ((u16, u16), Vec<u8>)| {
        let mut original = terminal(size.0, size.1);
        let mut fed = Fed::default();
        original.feed(&output, 0, &mut fed);
        original.snapshot(&mut fed);
        // A viewer is a terminal that would answer all that we do.
        let mut viewer = terminal(size.0, size.1);
        let seen = feed(&mut viewer, &fed.viewers);
        prop_assert_eq!(random::readable(&seen.replies), random::readable(b""));
        prop_assert_eq!(
            random::readable(&seen.viewers),
            random::readable(&fed.viewers),
            "filtered once is filtered"
        );
        prop_assert_eq!(dump(&original), dump(&viewer));
        Ok(())
    };
    random::check(500, &strategy, property, |(size, output)| {
        format!("{size:?} {}", random::readable(output))
    });
}

#[test]
fn every_query_is_answered_once_wherever_it_is_cut() {
    for query in random::QUERIES {
        let whole = feed(&mut terminal(80, 24), query.as_bytes());
        for at in 1..query.len() {
            let mut terminal = terminal(80, 24);
            let mut fed = Fed::default();
            terminal.feed(&query.as_bytes()[..at], 0, &mut fed);
            terminal.feed(&query.as_bytes()[at..], 0, &mut fed);
            assert_eq!(
                random::readable(&fed.replies),
                random::readable(&whole.replies),
                "{query:?} cut at {at}"
            );
            assert_eq!(
                random::readable(&fed.viewers),
                random::readable(&whole.viewers),
                "{query:?} cut at {at}"
            );
        }
    }
}

/// Bytes of which most mean something somewhere.
fn noise() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        4 => prop::sample::select(b"\x1b\x1b\x1b[]P?;:0123456789\x07\\\x18\x1a\x05\xc2\x9b\x9c\x9d\xe2\xf0\r\n\t\x08".to_vec()),
        2 => 0x40_u8..0x7F,
        1 => any::<u8>(),
    ];
    prop::collection::vec(byte, 0..300)
}

#[test]
fn whatever_bytes_come_viewers_get_utf8_and_nothing_that_answers() {
    let strategy = (random::size(), noise(), random::size());
    let property = |(size, bytes, new_size): ((u16, u16), Vec<u8>, (u16, u16))| {
        let mut original = terminal(size.0, size.1);
        let mut fed = feed(&mut original, &bytes);
        original.snapshot(&mut fed);
        prop_assert!(
            std::str::from_utf8(&fed.viewers).is_ok(),
            "{}",
            random::readable(&fed.viewers)
        );
        let mut viewer = terminal(size.0, size.1);
        let seen = feed(&mut viewer, &fed.viewers);
        prop_assert_eq!(random::readable(&seen.replies), random::readable(b""));
        prop_assert_eq!(dump(&original), dump(&viewer));
        original.resize(Size {
            cols: new_size.0,
            rows: new_size.1,
        });
        original.text(ReadWhat::Scrollback, None);
        Ok(())
    };
    random::check(800, &strategy, property, |(size, bytes, new)| {
        format!("{size:?} {} resized to {new:?}", random::readable(bytes))
    });
}
