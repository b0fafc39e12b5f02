//! The lines above the screen, kept as text and runs of style instead of cells of 24 bytes.
//!
//! A line here is what the program wrote between two line ends, however many rows it took: a terminal that is
//! given it wraps it at its own width, so nothing has to be done here when the size changes.

use std::collections::VecDeque;
use std::mem::size_of;

use alacritty_terminal::grid::Row;
use alacritty_terminal::index::Column;
use alacritty_terminal::term::cell::{Cell, Flags};
use unicode_width::UnicodeWidthChar;

use super::style::Style;

/// Most lines that are kept above a screen.
pub const HISTORY_LINES_MAX: usize = 10_000;
/// Most bytes that they take together.
pub const HISTORY_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Longest single line, in bytes of text: a longer one is cut, so that no line has to be taken back whole.
pub const HISTORY_LINE_MAX: usize = 16 * 1024;

/// A run of one style. Ends before this byte of the line's text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Run {
    end: u32,
    style: Style,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Line {
    text: Box<str>,
    /// Empty where all of it has the default style.
    runs: Box<[Run]>,
}

impl Line {
    /// Its text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its parts of one style each.
    pub fn parts(&self) -> impl Iterator<Item = (&str, &Style)> {
        parts(&self.text, &self.runs)
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + self.text.len() + runs_bytes(&self.runs)
    }
}

/// The line that goes on in the first row of the screen.
#[derive(Debug, Default)]
struct Open {
    text: String,
    runs: Vec<Run>,
}

/// The lines above the screen, oldest first.
#[derive(Debug, Default)]
pub struct History {
    lines: VecDeque<Line>,
    /// Bytes of `lines`.
    bytes: usize,
    open: Option<Open>,
}

impl History {
    /// Takes over `row`, the topmost of the screen. If it is `wrapped`, the line goes on in the next row.
    pub fn push(&mut self, row: &Row<Cell>, wrapped: bool) {
        let mut open = self.open.take().unwrap_or_default();
        append(row, wrapped, &mut open);
        if wrapped && open.text.len() < HISTORY_LINE_MAX {
            self.open = Some(open);
        } else {
            self.finish(&open);
        }
    }

    /// The last line ends here; what comes on screen is another one.
    pub fn close(&mut self) {
        if let Some(open) = self.open.take() {
            self.finish(&open);
        }
    }

    fn finish(&mut self, open: &Open) {
        let line = Line {
            text: open.text.as_str().into(),
            runs: open.runs.as_slice().into(),
        };
        self.bytes += line.bytes();
        self.lines.push_back(line);
        while self.lines.len() > HISTORY_LINES_MAX || self.bytes > HISTORY_BYTES_MAX {
            let Some(oldest) = self.lines.pop_front() else {
                break;
            };
            self.bytes -= oldest.bytes();
        }
    }

    /// Forgets all of it.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Whether the last line goes on in the first row of the screen.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// How many lines there are, an open one included.
    pub fn len(&self) -> usize {
        self.lines.len() + usize::from(self.open.is_some())
    }

    /// The whole lines, oldest first.
    pub fn lines(&self) -> impl DoubleEndedIterator<Item = &Line> {
        self.lines.iter()
    }

    /// The open line, as a line.
    pub fn open_line(&self) -> Option<Line> {
        self.open.as_ref().map(|open| Line {
            text: open.text.as_str().into(),
            runs: open.runs.as_slice().into(),
        })
    }

    /// Takes back the last line as rows of `columns` cells. `None` if there is none.
    pub fn pop(&mut self, columns: usize) -> Option<Vec<Vec<Cell>>> {
        if let Some(open) = self.open.take() {
            let mut rows = rows(&open.text, &open.runs, columns);
            if let Some(last) = rows.last_mut() {
                // It filled its row, except where a wide character did not fit.
                if last.len() + 1 == columns {
                    let mut spacer = Cell::default();
                    spacer.flags.insert(Flags::LEADING_WIDE_CHAR_SPACER);
                    last.push(spacer);
                }
                last.resize_with(columns, Cell::default);
                if let Some(cell) = last.last_mut() {
                    cell.flags.insert(Flags::WRAPLINE);
                }
            }
            return Some(rows);
        }
        let line = self.lines.pop_back()?;
        self.bytes -= line.bytes();
        Some(rows(&line.text, &line.runs, columns))
    }
}

/// How many cells of `row` there are before the blank ones at its end.
pub fn occupied(row: &Row<Cell>) -> usize {
    row.into_iter()
        .rposition(|cell| !is_blank(cell))
        .map_or(0, |last| last + 1)
}

fn is_blank(cell: &Cell) -> bool {
    use alacritty_terminal::vte::ansi::{Color, NamedColor};
    cell.c == ' '
        && cell.bg == Color::Named(NamedColor::Background)
        && cell.fg == Color::Named(NamedColor::Foreground)
        && cell.flags.is_empty()
        && cell.extra.as_ref().is_none_or(|_| {
            cell.zerowidth().is_none_or(<[char]>::is_empty)
                && cell.hyperlink().is_none()
                && cell.underline_color().is_none()
        })
}

fn append(row: &Row<Cell>, wrapped: bool, open: &mut Open) {
    let end = if wrapped { row.len() } else { occupied(row) };
    let default = Style::default();
    for cell in &row[Column(0)..Column(end)] {
        if cell
            .flags
            .intersects(Flags::WIDE_CHAR_SPACER | Flags::LEADING_WIDE_CHAR_SPACER)
        {
            continue;
        }
        let before = open.text.len();
        open.text.push(cell.c);
        if cell.extra.is_some() {
            open.text.extend(cell.zerowidth().into_iter().flatten());
        }
        let end = u32::try_from(open.text.len()).unwrap_or(u32::MAX);
        match open.runs.last_mut() {
            Some(run) if run.style.is_of(cell) => run.end = end,
            None if default.is_of(cell) => (),
            None if before > 0 => {
                let plain = u32::try_from(before).unwrap_or(u32::MAX);
                open.runs.push(Run {
                    end: plain,
                    style: default.clone(),
                });
                open.runs.push(Run {
                    end,
                    style: Style::of(cell),
                });
            }
            _ => open.runs.push(Run {
                end,
                style: Style::of(cell),
            }),
        }
    }
}

fn runs_bytes(runs: &[Run]) -> usize {
    // A link is shared by the cells of one run at least; what it holds is counted once a run.
    runs.iter()
        .map(|run| {
            size_of::<Run>()
                + run
                    .style
                    .link
                    .as_ref()
                    .map_or(0, |link| link.uri().len() + link.id().len())
        })
        .sum()
}

fn parts<'a>(text: &'a str, runs: &'a [Run]) -> impl Iterator<Item = (&'a str, &'a Style)> {
    static PLAIN: std::sync::LazyLock<Style> = std::sync::LazyLock::new(Style::default);
    let mut start = 0;
    let plain = if runs.is_empty() && !text.is_empty() {
        Some((text, &*PLAIN))
    } else {
        None
    };
    plain.into_iter().chain(runs.iter().filter_map(move |run| {
        let end = run.end as usize;
        let part = text.get(start..end)?;
        start = end;
        Some((part, &run.style))
    }))
}

/// The rows that a terminal of `columns` columns makes of a line. At least one.
fn rows(text: &str, runs: &[Run], columns: usize) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    let mut row: Vec<Cell> = Vec::with_capacity(columns);
    for (part, style) in parts(text, runs) {
        for c in part.chars() {
            let width = c.width().unwrap_or(1);
            if width == 0 {
                let spacer = row
                    .last()
                    .is_some_and(|cell| cell.flags.contains(Flags::WIDE_CHAR_SPACER));
                let at = row.len().saturating_sub(1 + usize::from(spacer));
                if let Some(cell) = row.get_mut(at) {
                    cell.push_zerowidth(c);
                }
                continue;
            }
            let mut cell = Cell::default();
            style.apply(&mut cell);
            if row.len() + width > columns {
                if row.len() < columns {
                    let mut spacer = cell.clone();
                    spacer.flags.insert(Flags::LEADING_WIDE_CHAR_SPACER);
                    row.push(spacer);
                }
                if let Some(last) = row.last_mut() {
                    last.flags.insert(Flags::WRAPLINE);
                }
                rows.push(std::mem::replace(&mut row, Vec::with_capacity(columns)));
            }
            cell.c = c;
            if width == 2 {
                let mut spacer = cell.clone();
                cell.flags.insert(Flags::WIDE_CHAR);
                spacer.c = ' ';
                spacer.flags.insert(Flags::WIDE_CHAR_SPACER);
                row.push(cell);
                row.push(spacer);
            } else {
                row.push(cell);
            }
        }
    }
    rows.push(row);
    rows
}
