//! The text of a terminal, for who reads it and not shows it.

use std::borrow::Cow;

use alacritty_terminal::grid::Row;
use alacritty_terminal::index::Column;
use alacritty_terminal::term::cell::{Cell, Flags};
use unicode_width::UnicodeWidthChar;

use super::screen::{Saved, Screen, line};
use crate::protocol::params::ReadWhat;

/// See [`super::Terminal::text`].
pub fn read(screen: &Screen, what: ReadWhat, lines: Option<usize>) -> String {
    let most = lines.unwrap_or(usize::MAX);
    let mut rows: Vec<Cow<'_, str>> = Vec::new();
    for row in (0..screen.rows()).rev() {
        let text = row_text(&screen.grid()[line(row)]);
        if !(rows.is_empty() && text.is_empty()) && rows.len() < most {
            rows.push(text.into());
        }
    }
    if what == ReadWhat::Scrollback {
        // Of a line that goes on in the first row, what is above.
        let (primary, _) = screen
            .hidden_primary()
            .unwrap_or((screen.grid(), Saved::default()));
        let open = screen.history().open_line(&primary[line(0)][Column(0)]);
        let open = open.iter().flat_map(|line| {
            wrapped_rows(line.text(), screen.columns())
                .into_iter()
                .rev()
        });
        rows.extend(
            open.map(|row| row.trim_end().to_owned().into())
                .take(most.saturating_sub(rows.len())),
        );
        for line in screen.history().lines().rev() {
            if rows.len() >= most {
                break;
            }
            let room = most - rows.len();
            let above = wrapped_rows(line.text(), screen.columns());
            rows.extend(
                above
                    .into_iter()
                    .rev()
                    .take(room)
                    .map(|row| row.trim_end().into()),
            );
        }
    }
    rows.reverse();
    rows.join("\n")
}

fn row_text(cells: &Row<Cell>) -> String {
    let mut text = String::new();
    for cell in cells {
        if !cell
            .flags
            .intersects(Flags::WIDE_CHAR_SPACER | Flags::LEADING_WIDE_CHAR_SPACER)
        {
            text.push(cell.c);
            text.extend(cell.zerowidth().into_iter().flatten());
        }
    }
    text.truncate(text.trim_end().len());
    text
}

/// Cuts a line into the rows that it takes.
fn wrapped_rows(text: &str, columns: usize) -> Vec<&str> {
    let mut rows = Vec::new();
    let (mut start, mut column) = (0, 0);
    for (at, c) in text.char_indices() {
        let width = c.width().unwrap_or(0);
        if column + width > columns {
            rows.push(&text[start..at]);
            (start, column) = (at, 0);
        }
        column += width;
    }
    rows.push(&text[start..]);
    rows
}
