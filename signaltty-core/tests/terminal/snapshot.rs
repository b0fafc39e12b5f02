//! A fresh terminal that is fed a snapshot is the terminal that it was taken of (specs/001 §4).

use proptest::prelude::*;
use signaltty_core::host::terminal::history::{
    HISTORY_BYTES_MAX, HISTORY_LINE_MAX, HISTORY_LINES_MAX,
};
use signaltty_core::host::terminal::scan::OSC_MAX;
use signaltty_core::host::terminal::screen::COMBINING_MAX;
use signaltty_core::host::terminal::{Fed, Terminal};
use signaltty_core::model::Size;
use signaltty_core::protocol::params::{Colors, ReadWhat};

use crate::dump::dump;
use crate::random;

fn terminal(cols: u16, rows: u16) -> Terminal {
    Terminal::new(Size { cols, rows }, &Colors::default())
}

fn feed(terminal: &mut Terminal, bytes: &[u8]) -> Fed {
    let mut fed = Fed::default();
    terminal.feed(bytes, 0, &mut fed);
    fed
}

/// What a fresh terminal becomes by the snapshot of `original`.
fn rebuilt(original: &Terminal) -> Terminal {
    let size = original.size();
    let mut fresh = terminal(size.cols, size.rows);
    let snapshot = original.checkpoint(usize::MAX);
    let fed = feed(&mut fresh, &snapshot);
    assert!(
        fed.replies.is_empty(),
        "a snapshot asks nothing: {:?}",
        String::from_utf8_lossy(&fed.replies)
    );
    fresh
}

#[track_caller]
fn assert_rebuilt(original: &Terminal) {
    let fresh = rebuilt(original);
    let (expected, got) = (dump(original), dump(&fresh));
    if expected != got {
        let snapshot = String::from_utf8_lossy(&original.checkpoint(usize::MAX))
            .escape_debug()
            .to_string();
        panic!(
            "not the same\n--- original\n{expected}\n--- rebuilt\n{got}\n--- snapshot\n{snapshot}"
        );
    }
}

macro_rules! rebuilds {
    ($($name:ident: $bytes:expr;)*) => {$(
        #[test]
        fn $name() {
            for (cols, rows) in [(20, 5), (7, 3), (80, 24)] {
                let mut original = terminal(cols, rows);
                feed(&mut original, $bytes.as_bytes());
                assert_rebuilt(&original);
            }
        }
    )*};
}

rebuilds! {
    blank: "";
    plain_text: "hello\r\nworld";
    scrollback: "1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8";
    a_long_line_wraps: "abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrst\r\nx";
    a_cursor_that_waits_to_wrap: "abcdefghijklmnopqrst\x1b[1;1Habcdefg";
    colours_and_styles: "\x1b[1;3;4:3;31;48;5;200;58:2::1:2:3mstyled\x1b[0m plain \x1b[38;2;1;2;3;9;7mrgb\x1b[2;8;4:2m x\x1b[4:4my\x1b[4:5mz";
    a_background_that_fills_rows: "\x1b[44mblue and quite a lot of it here\r\nmore\x1b[K\r\n\x1b[mno\x1b[42m\r\n\r\n\r\n";
    wide_characters: "日本語テキスト日本語テキスト日本\r\nx日本語";
    half_a_wide_character: "日本語\x1b[1;2Hx\x1b[1;5H\x1b[X\x1b[2;1H日本\x1b[2;1H\x1b[P";
    combining_characters: "e\u{301}a\u{308}\u{332} \u{301}日\u{301}\r\n\u{301}";
    links: "\x1b]8;id=a;https://a.example/\x1b\\one\x1b]8;;\x07 two \x1b]8;;https://b.example/x;y\x07three";
    saved_cursor: "a\x1b[3;4H\x1b[1;35m\x1b(0\x0e\x1b7\x1b[m\x1b(B\x0f\x1b[2;2Hb";
    scroll_region: "1\r\n2\r\n3\x1b[2;3r\x1b[3;1H\n\nx";
    origin_mode: "\x1b[2;3r\x1b[?6h\x1b[2;2Hx";
    tab_stops: "\x1b[3g\x1b[1;3H\x1bH\x1b[1;6H\x1bH\r\tx\ty";
    no_tab_stops: "\x1b[3g\tx";
    charsets: "\x1b(0lqk\x1b(Bx\x1b)0\x0eq\x0fq\x0e";
    insert_mode: "abc\r\x1b[4hx";
    no_autowrap: "\x1b[?7labcdefghijklmnopqrstuvwxyz";
    modes: "\x1b[?1h\x1b=\x1b[?2004h\x1b[?1004h\x1b[?1002h\x1b[?1006h\x1b[?25l\x1b[20h\x1b[?12h\x1b[?5h";
    cursor_shape: "\x1b[5 q";
    cursor_shape_given_back: "\x1b[?12h\x1b[0 q";
    title: "\x1b]2;a title\x07";
    palette: "\x1b]4;1;#102030;200;rgb:ff/00/10\x07\x1b]10;#aabbcc\x1b\\\x1b]12;#010203\x07";
    alternate_screen: "under\r\nit\x1b[1;31m\x1b[?1049h\x1b[Hover\x1b7\x1b[2;3H\x1b[44m\x1b[2Jall blue";
    alternate_screen_entered_waiting_to_wrap: "abcdefghijklmnopqrst\x1b[?1049hx";
    alternate_screen_that_wraps: "\x1b[?1049habcdefghijklmnopqrstuvwxyz";
    alternate_screen_with_scrollback: "1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\x1b[?1049hx";
    a_saved_cursor_that_waits_to_wrap: "abcdefghijklmnopqrst\x1b7uvw";
    restored_to_wait_to_wrap: "abcdefghijklmnopqrst\x1b7uvw\x1b8\x1b[31m";
    a_wrapped_line_cut_off: "abcdefghijklmnopqrstuvw\x1b[A\x1b[L";
    wide_at_the_margin: "abcdefghijklmnopqrs日abcdef日abcdefgh";
    wide_at_the_margin_coloured: "\x1b[41mabcdefghijklmnopqrs日\x1b[mx\r\n\n\n\nabcdef\x1b[42m日\x1b[m";
    erased_after_wrapping: "abcdefghijklmnopqrstuvw\x1b[2K\x1b[4;4H";
    erased_first_row_of_a_scrolled_line: "\n\n\n\n\n\n\n\n\n\nabcdefghijklmnopqrstuvwabcdefghijklmnopqrstuvwabcdefghijklmnopqrstuvw\x1b[H\x1b[2Kx\n\n\n\n";
}

/// Both are given `bytes`; neither may show what the other does not.
fn assert_same(first: &Terminal, second: &Terminal, what: &str) -> Result<(), TestCaseError> {
    let (expected, got) = (dump(first), dump(second));
    prop_assert!(
        expected == got,
        "{}\n--- expected\n{}\n--- got\n{}\n--- snapshot\n{}",
        what,
        expected,
        got,
        String::from_utf8_lossy(&first.checkpoint(usize::MAX)).escape_debug()
    );
    Ok(())
}

/// Ends a sequence, and what REP could repeat: that is not rebuilt, since viewers get repetitions written out.
const NOTHING_UNFINISHED: &[u8] = b"\x18\0";

#[test]
fn a_snapshot_of_anything_rebuilds_it_and_what_follows_is_the_same() {
    let strategy = (
        random::size(),
        random::anything(),
        random::program(true),
        random::size(),
    );
    type Case = ((u16, u16), Vec<u8>, Vec<u8>, (u16, u16));
    let property = |((cols, rows), before, after, (new_cols, new_rows)): Case| {
        let mut original = terminal(cols, rows);
        feed(&mut original, &before);
        feed(&mut original, NOTHING_UNFINISHED);
        let mut fresh = rebuilt(&original);
        assert_same(&original, &fresh, "rebuilt")?;
        let (first, second) = (
            random::readable(&original.checkpoint(usize::MAX)),
            random::readable(&fresh.checkpoint(usize::MAX)),
        );
        prop_assert_eq!(first, second, "a snapshot of it is the same");
        feed(&mut original, &after);
        feed(&mut fresh, &after);
        assert_same(&original, &fresh, "after more output")?;
        let size = Size {
            cols: new_cols,
            rows: new_rows,
        };
        original.resize(size);
        let fresh = rebuilt(&original);
        assert_same(&original, &fresh, "rebuilt after a resize")?;
        Ok(())
    };
    random::check(
        800,
        &strategy,
        property,
        |(size, before, after, new_size)| {
            let (before, after) = (random::readable(before), random::readable(after));
            format!("{size:?} {before}\nthen {after}\nresized to {new_size:?}")
        },
    );
}

#[test]
fn the_next_host_goes_on_in_the_middle_of_anything() {
    let strategy = (
        random::size(),
        random::anything(),
        any::<prop::sample::Index>(),
    );
    let property = |((cols, rows), output, cut): ((u16, u16), Vec<u8>, prop::sample::Index)| {
        let (before, after) = output.split_at(cut.index(output.len() + 1));
        let mut original = terminal(cols, rows);
        let mut next = terminal(cols, rows);
        feed(&mut original, before);
        feed(&mut next, &original.checkpoint(usize::MAX));
        let inside_a_character = after
            .first()
            .is_some_and(|byte| (0x80..0xC0).contains(byte));
        if !inside_a_character {
            // What REP could repeat is not handed over.
            feed(&mut original, b"\0");
            feed(&mut next, b"\0");
        }
        feed(&mut original, after);
        feed(&mut next, after);
        assert_same(&original, &next, "went on")
    };
    random::check(800, &strategy, property, |(size, output, cut)| {
        let (before, after) = output.split_at(cut.index(output.len() + 1));
        format!(
            "{size:?} {} then {}",
            random::readable(before),
            random::readable(after)
        )
    });
}

#[test]
fn the_next_host_goes_on_in_what_is_too_long() {
    for (begin, end) in [
        ("\x1b]52;c;", "\x07"),
        ("\x1bP", "\x1b\\"),
        ("\x1b[", "m"),
        ("\x1b_", "\x1b\\"),
    ] {
        let mut original = terminal(80, 24);
        feed(
            &mut original,
            format!("a{begin}{}", "1".repeat(2 * OSC_MAX)).as_bytes(),
        );
        let mut next = terminal(80, 24);
        feed(&mut next, &original.checkpoint(usize::MAX));
        let fed = feed(&mut next, format!("1{end}b").as_bytes());
        assert_eq!(
            (
                next.text(ReadWhat::Screen, None).as_str(),
                fed.viewers.as_slice()
            ),
            ("ab", b"b".as_slice())
        );
        assert!(fed.clipboard.is_empty());
    }
}

#[test]
fn a_flood_keeps_the_last_lines_within_bounds() {
    let mut original = terminal(110, 30);
    let mut fed = Fed::default();
    for number in 0..20_000 {
        fed.clear();
        original.feed(
            format!("{number} {}\r\n", "x".repeat(100)).as_bytes(),
            0,
            &mut fed,
        );
    }
    let history = original.screen().history();
    assert_eq!(history.lines().len(), HISTORY_LINES_MAX);
    assert!(history.bytes() <= HISTORY_BYTES_MAX);
    let first = history.lines().next().expect("there are lines").text();
    assert!(first.starts_with("9971 "), "{first}");
    assert_rebuilt(&original);
    // Lines that cost more than their text, and one that never ends.
    for (text, times) in [
        (
            "\x1b]8;;https://a.example/\x1b\\a\x1b]8;;\x1b\\b".repeat(40) + "\r\n",
            10_000,
        ),
        ("x".repeat(1_000), 10_000),
    ] {
        for _ in 0..times {
            fed.clear();
            original.feed(text.as_bytes(), 0, &mut fed);
        }
        let history = original.screen().history();
        assert!(history.bytes() <= HISTORY_BYTES_MAX, "{}", history.bytes());
        assert!(
            history
                .lines()
                .all(|line| line.text().len() <= HISTORY_LINE_MAX + 110)
        );
        assert_rebuilt(&original);
    }
}

#[test]
fn the_largest_terminal_has_a_bounded_model() {
    let mut original = terminal(Size::MAX, Size::MAX);
    feed(&mut original, b"\x1b[9999;9999Hx");
    let screen = original.screen();
    assert_eq!((screen.rows(), screen.columns()), (256, 4_096));
    assert_rebuilt(&original);
}

#[test]
fn marks_on_one_cell_are_bounded() {
    let mut original = terminal(20, 5);
    feed(
        &mut original,
        format!("e{}", "\u{301}".repeat(10_000)).as_bytes(),
    );
    assert_eq!(
        original.text(ReadWhat::Screen, None).chars().count(),
        1 + COMBINING_MAX
    );
    assert_rebuilt(&original);
}

#[test]
fn the_recorded_screens_of_agents_are_rebuilt_at_every_size() {
    let Some(screens) = recorded() else {
        println!("skipped: the recorded screens are not here (SIGNALTTY_SHARED)");
        return;
    };
    assert!(!screens.is_empty());
    for (name, bytes) in screens {
        for (cols, rows) in [(100, 30), (40, 10), (7, 3)] {
            let mut original = terminal(cols, rows);
            let text = String::from_utf8_lossy(&bytes).replace('\n', "\r\n");
            feed(&mut original, text.as_bytes());
            assert_rebuilt(&original);
            original.resize(Size {
                cols: cols + 13,
                rows: rows + 2,
            });
            assert_rebuilt(&original);
            original.resize(Size {
                cols: cols / 2,
                rows,
            });
            assert_rebuilt(&original);
            println!("{name} at {cols}x{rows}");
        }
    }
}

/// The screens that agents were recorded with: text, or a program's raw output.
fn recorded() -> Option<Vec<(String, Vec<u8>)>> {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let shared = std::env::var_os("SIGNALTTY_SHARED").map(std::path::PathBuf::from);
    let shared = shared.or_else(|| {
        here.ancestors()
            .map(|folder| folder.join("shared"))
            .find(|folder| folder.join("agents").is_dir())
    })?;
    let mut screens = Vec::new();
    for agent in std::fs::read_dir(shared.join("agents")).ok()?.flatten() {
        for file in std::fs::read_dir(agent.path())
            .into_iter()
            .flatten()
            .flatten()
        {
            let name = file.file_name().to_string_lossy().into_owned();
            if name.starts_with("screen-") {
                screens.push((name, std::fs::read(file.path()).ok()?));
            }
        }
    }
    Some(screens)
}

#[test]
fn a_checkpoint_within_a_bound_leaves_out_the_oldest_lines_and_nothing_else() {
    const MAX: usize = 16 * 1024;
    let mut original = terminal(80, 24);
    for number in 0..2_000 {
        feed(
            &mut original,
            format!("\x1b[3{}mline {number}\x1b[m\r\n", number % 8).as_bytes(),
        );
    }
    feed(&mut original, b"\x1b[?2004hprompt");
    let checkpoint = original.checkpoint(MAX);
    assert!(checkpoint.len() <= MAX, "{} bytes", checkpoint.len());
    let mut next = terminal(80, 24);
    feed(&mut next, &checkpoint);
    let text = |terminal: &Terminal, what| terminal.text(what, None);
    assert_eq!(
        text(&next, ReadWhat::Screen),
        text(&original, ReadWhat::Screen)
    );
    assert!(next.modes().bracketed_paste);
    let kept = text(&next, ReadWhat::Scrollback);
    assert!(kept.lines().count() > 100, "it keeps what fits");
    assert!(text(&original, ReadWhat::Scrollback).ends_with(&kept));
    // The screen is whole however small the bound.
    let mut least = terminal(80, 24);
    feed(&mut least, &original.checkpoint(1));
    assert_eq!(
        text(&least, ReadWhat::Screen),
        text(&original, ReadWhat::Screen)
    );
}
