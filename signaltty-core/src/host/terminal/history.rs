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

use super::style::{Look, Style};

/// Most lines that are kept above a screen.
pub const HISTORY_LINES_MAX: usize = 10_000;
/// Most bytes that they take together.
pub const HISTORY_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Longest single line, in bytes of text: a longer one is cut, so that no line has to be taken back whole.
pub const HISTORY_LINE_MAX: usize = 16 * 1024;

/// The style that most text has.
const PLAIN: Style = Style::PLAIN;

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
#[derive(Debug, Default, Clone)]
struct Open {
    text: String,
    runs: Vec<Run>,
    /// Whether its last row ends one column early, since a wide character did not fit there.
    spacer: bool,
}

impl Open {
    /// Where the wide character that did not fit was since overwritten, the column before it is a blank.
    fn meet(&mut self, next: &Cell) {
        if self.spacer && !next.flags.contains(Flags::WIDE_CHAR) {
            self.spacer = false;
            push_cell(&Cell::default(), self);
        }
    }

    fn line(&self) -> Line {
        Line {
            text: self.text.as_str().into(),
            runs: self.runs.as_slice().into(),
        }
    }

    fn clear(&mut self) {
        self.text.clear();
        self.runs.clear();
        self.spacer = false;
    }

    /// Adds ASCII in the style of what is there.
    fn push_ascii(&mut self, ascii: &[u8]) {
        if ascii.is_empty() {
            return;
        }
        self.text
            .push_str(std::str::from_utf8(ascii).unwrap_or_default());
        let end = offset(self.text.len());
        if let Some(run) = self.runs.last_mut() {
            run.end = end;
        }
    }

    /// Takes away the blank cells at its end, as at the end of every line.
    fn trim(&mut self) {
        if self.runs.last().is_some_and(|run| run.style != PLAIN) {
            return;
        }
        let end = self.text.trim_end_matches(' ').len();
        let start = self
            .runs
            .iter()
            .rev()
            .nth(1)
            .map_or(0, |run| run.end as usize);
        self.text.truncate(end.max(start));
        let end = offset(self.text.len());
        if let Some(run) = self.runs.last_mut() {
            run.end = end;
        }
        if end as usize == start {
            self.runs.pop();
        }
    }
}

/// The lines above the screen, oldest first.
#[derive(Debug, Default)]
pub struct History {
    lines: VecDeque<Line>,
    /// Bytes of `lines`.
    bytes: usize,
    open: Option<Open>,
    /// An empty line with room: lines are made in it, since they come by the hundred thousand.
    spare: Open,
}

impl History {
    /// Takes over `row`, the topmost of the screen. If it is `wrapped`, the line goes on in the next row.
    pub fn push(&mut self, row: &Row<Cell>, wrapped: bool) {
        let mut open = self
            .open
            .take()
            .unwrap_or_else(|| std::mem::take(&mut self.spare));
        open.meet(&row[Column(0)]);
        append(row, wrapped, &mut open);
        if wrapped && open.text.len() < HISTORY_LINE_MAX {
            self.open = Some(open);
        } else {
            self.finish(open);
        }
    }

    /// The last line ends here; what comes on screen is another one.
    pub fn close(&mut self) {
        if let Some(open) = self.open.take() {
            self.finish(open);
        }
    }

    fn finish(&mut self, mut open: Open) {
        open.trim();
        let line = open.line();
        open.clear();
        self.spare = open;
        self.bytes += line.bytes();
        self.lines.push_back(line);
        while self.lines.len() > HISTORY_LINES_MAX || self.bytes > HISTORY_BYTES_MAX {
            let Some(oldest) = self.lines.pop_front() else {
                break;
            };
            self.bytes -= oldest.bytes();
        }
    }

    /// The first cell on screen is `next` now: where a wide character stood there that did not fit in the row before
    /// and is gone, the last column of that row is a blank.
    pub fn meet(&mut self, next: &Cell) {
        if let Some(open) = &mut self.open {
            open.meet(next);
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

    /// Bytes that the whole lines take, at most [`HISTORY_BYTES_MAX`].
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The whole lines, oldest first.
    pub fn lines(&self) -> impl DoubleEndedIterator<Item = &Line> + ExactSizeIterator {
        self.lines.iter()
    }

    /// The open line, as a line that goes on with `next`, the first cell on screen.
    pub fn open_line(&self, next: &Cell) -> Option<Line> {
        let mut open = self.open.clone()?;
        open.meet(next);
        Some(open.line())
    }

    /// Takes back the last line as rows of `columns` cells; `next` is the first cell on screen. `None` if there is
    /// none.
    pub fn pop(&mut self, columns: usize, next: &Cell) -> Option<Vec<Vec<Cell>>> {
        if let Some(mut open) = self.open.take() {
            open.meet(next);
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

/// Bytes of ASCII that are collected before they go into a line's text.
const ASCII: usize = 128;

fn append(row: &Row<Cell>, wrapped: bool, open: &mut Open) {
    let end = if wrapped { row.len() } else { occupied(row) };
    let mut ascii = [0; ASCII];
    let mut length = 0;
    let mut look = Look::of_simple(open.runs.last().map_or(&PLAIN, |run| &run.style));
    for cell in &row[Column(0)..Column(end)] {
        // Nearly all cells are ASCII that looks like the cell before; the rest goes the long way.
        if cell.c.is_ascii()
            && cell.extra.is_none()
            && look == Some(Look::of(cell))
            && length < ASCII
        {
            if !cell.flags.intersects(SPACER) {
                ascii[length] = cell.c as u8;
                length += 1;
            }
            continue;
        }
        open.push_ascii(&ascii[..length]);
        length = 0;
        if !cell.flags.intersects(SPACER) {
            push_cell(cell, open);
            look = cell.extra.is_none().then(|| Look::of(cell));
        }
    }
    open.push_ascii(&ascii[..length]);
    open.spacer = row
        .last()
        .is_some_and(|cell| cell.flags.contains(Flags::LEADING_WIDE_CHAR_SPACER));
}

/// Flags of cells that hold no character of their own.
const SPACER: Flags = Flags::WIDE_CHAR_SPACER.union(Flags::LEADING_WIDE_CHAR_SPACER);

fn push_cell(cell: &Cell, open: &mut Open) {
    let before = open.text.len();
    open.text.push(cell.c);
    if cell.extra.is_some() {
        open.text.extend(cell.zerowidth().into_iter().flatten());
    }
    let end = offset(open.text.len());
    match open.runs.last_mut() {
        Some(run) if run.style.is_of(cell) => run.end = end,
        None if PLAIN.is_of(cell) => (),
        None if before > 0 => {
            open.runs.push(Run {
                end: offset(before),
                style: PLAIN.clone(),
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

/// A line is far shorter than this can count.
fn offset(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
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
    let mut start = 0;
    let plain = if runs.is_empty() && !text.is_empty() {
        Some((text, &PLAIN))
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
