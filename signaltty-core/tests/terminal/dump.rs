//! A terminal's whole state as text, so that two can be compared and a difference read.

use std::fmt::Write;

use alacritty_terminal::grid::{Cursor, Grid};
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::vte::ansi::CharsetIndex;
use signaltty_core::host::terminal::Terminal;
use signaltty_core::host::terminal::style::Style;

/// All that a snapshot has to carry.
pub fn dump(terminal: &Terminal) -> String {
    let screen = terminal.screen();
    let mut out = String::new();
    let primary = screen
        .hidden_primary()
        .map_or(screen.grid(), |(primary, _)| primary);
    for line in screen.history().lines() {
        history_line(&mut out, "line", line);
    }
    if let Some(line) = screen.history().open_line(&primary[Line(0)][Column(0)]) {
        history_line(&mut out, "open", &line);
    }
    if let Some((grid, saved)) = screen.hidden_primary() {
        writeln!(out, "-- primary, hidden").unwrap();
        rows(&mut out, grid, screen.rows());
        writeln!(out, "entered {} {saved:?}", cursor(&grid.saved_cursor)).unwrap();
        writeln!(out, "-- alternate").unwrap();
    }
    let grid = screen.grid();
    rows(&mut out, grid, screen.rows());
    writeln!(
        out,
        "cursor {} {:?}",
        cursor(&grid.cursor),
        screen.charset()
    )
    .unwrap();
    writeln!(
        out,
        "saved {} {:?}",
        cursor(&grid.saved_cursor),
        screen.saved()
    )
    .unwrap();
    let model = TermMode::ORIGIN
        | TermMode::INSERT
        | TermMode::LINE_WRAP
        | TermMode::APP_KEYPAD
        | TermMode::LINE_FEED_NEW_LINE;
    writeln!(out, "model modes {:?}", screen.mode() & model).unwrap();
    let private: Vec<_> = terminal.private_modes().changed().collect();
    writeln!(out, "private modes {private:?} {:?}", terminal.modes()).unwrap();
    writeln!(
        out,
        "region {:?} style {:?}",
        screen.region(),
        screen.cursor_style()
    )
    .unwrap();
    let tabs: Vec<_> = screen
        .tabs()
        .iter()
        .enumerate()
        .filter(|(_, stop)| **stop)
        .map(|(at, _)| at)
        .collect();
    writeln!(out, "tabs {tabs:?}").unwrap();
    let colors: Vec<_> = (0..259)
        .filter_map(|index| screen.color(index).map(|color| (index, color)))
        .collect();
    writeln!(out, "colors {colors:?}").unwrap();
    writeln!(out, "title {:?}", terminal.title()).unwrap();
    out
}

fn history_line(
    out: &mut String,
    kind: &str,
    line: &signaltty_core::host::terminal::history::Line,
) {
    write!(out, "{kind}").unwrap();
    for (text, style) in line.parts() {
        write!(out, " {text:?}{}", look(style)).unwrap();
    }
    out.push('\n');
}

fn rows(out: &mut String, grid: &Grid<Cell>, count: usize) {
    for row in 0..count {
        let cells = &grid[Line(row as i32)];
        let mut text = String::new();
        let mut previous = Style::default();
        for cell in cells {
            let style = Style::of(cell);
            if style != previous {
                write!(text, "«{}»", look(&style)).unwrap();
                previous = style;
            }
            let mark = if cell.flags.contains(Flags::WIDE_CHAR_SPACER) {
                '›'
            } else if cell.flags.contains(Flags::LEADING_WIDE_CHAR_SPACER) {
                '‹'
            } else {
                cell.c
            };
            text.push(mark);
            text.extend(cell.zerowidth().into_iter().flatten());
        }
        let wrapped = cells[Column(cells.len() - 1)]
            .flags
            .contains(Flags::WRAPLINE);
        let text = text.trim_end_matches(' ');
        writeln!(
            out,
            "{row:3} {}|{}",
            text.escape_debug(),
            if wrapped { "↩" } else { "" }
        )
        .unwrap();
    }
}

fn cursor(cursor: &Cursor<Cell>) -> String {
    let sets: Vec<_> = [
        CharsetIndex::G0,
        CharsetIndex::G1,
        CharsetIndex::G2,
        CharsetIndex::G3,
    ]
    .map(|index| format!("{:?}", cursor.charsets[index]))
    .into();
    format!(
        "{},{}{} {} {}",
        cursor.point.line.0,
        cursor.point.column.0,
        if cursor.input_needs_wrap { "+" } else { "" },
        look(&Style::of(&cursor.template)),
        sets.join(",")
    )
}

fn look(style: &Style) -> String {
    let mut text = String::from_utf8(style.sgr()).unwrap();
    if let Some(link) = &style.link {
        // Which number a link without id got is of no account.
        let id = if link.id().starts_with("signaltty-") {
            "own"
        } else {
            link.id()
        };
        write!(text, " link {id} {}", link.uri()).unwrap();
    }
    text
}
