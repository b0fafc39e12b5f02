//! The screen model: alacritty's terminal, with what it keeps to itself or does unlike VTE put right.
//!
//! [`Term`] hides its tab stops, scroll region, active charset and inactive screen, all of which a snapshot
//! needs, and lets a line that leaves its history go unseen. So this wraps it as a [`Handler`]: the cells and
//! what is done to them are alacritty's; which screen is shown, where it scrolls and what scrolls off are kept
//! here. Lines that leave the primary screen go to the [`History`]; alacritty itself keeps none
//! ([`MODEL_HISTORY`]), because each would cost 24 bytes a cell and its buffer grows by a thousand lines at once.
//!
//! Three rules hold after every operation, so that a snapshot can rebuild what is here: a row is marked as wrapped
//! only where the next row of the screen goes on with it; the row of a cursor that waits to wrap is not marked yet;
//! and no half of a wide character stands alone.

use std::ops::Range;

use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::{Cursor, Dimensions, Grid};
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::term::{Config, Term, TermMode};
use alacritty_terminal::vte::ansi::{
    Attr, CharsetIndex, ClearMode, CursorStyle, Handler, Hyperlink, LineClearMode, Mode, NamedMode,
    NamedPrivateMode, PrivateMode, Rgb, StandardCharset, TabulationClearMode,
};
use unicode_width::UnicodeWidthChar;

use super::history::History;
use super::style::Style;
use crate::model::Size;

/// Lines of history that alacritty keeps itself.
pub const MODEL_HISTORY: usize = 0;
/// Most zero-width characters on one cell.
pub const COMBINING_MAX: usize = 16;
/// Fewest columns that the model has. A wide character needs two, and two beside it to be written again alone; a
/// viewer that is narrower shows what it can.
const COLUMNS_MIN: u16 = 4;
/// How the ids begin that links without one are given.
const LINK_ID: &str = "signaltty-";
/// Columns between the tab stops that a terminal begins with.
const TAB: usize = 8;
/// How many colours of the palette a reset takes back.
const PALETTE: usize = 256;

/// The size of a grid.
#[derive(Debug, Clone, Copy)]
struct Extent {
    rows: usize,
    columns: usize,
}

impl From<Size> for Extent {
    fn from(size: Size) -> Self {
        let size = size.clamped();
        Self {
            rows: usize::from(size.rows),
            columns: usize::from(size.cols.max(COLUMNS_MIN)),
        }
    }
}

impl Dimensions for Extent {
    fn total_lines(&self) -> usize {
        self.rows
    }

    fn screen_lines(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        self.columns
    }
}

/// What DECSC saves beside alacritty's cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Saved {
    /// Origin mode.
    pub origin: bool,
    /// The active charset.
    pub charset: CharsetIndex,
}

/// The screen model.
pub struct Screen {
    term: Term<VoidListener>,
    /// The primary screen, and what it saved, while the alternate one is shown.
    primary: Option<(Grid<Cell>, Saved)>,
    /// What the shown screen saved.
    saved: Saved,
    tabs: Vec<bool>,
    region: Range<usize>,
    charset: CharsetIndex,
    cursor_style: Option<CursorStyle>,
    history: History,
    /// Numbers the links that have no id, so that the cells of one stay together.
    links: u64,
    /// Whether BEL was read since [`Screen::take_bell`].
    bell: bool,
}

impl Screen {
    /// A blank one.
    pub fn new(size: Size) -> Self {
        let extent = Extent::from(size);
        let config = Config {
            scrolling_history: MODEL_HISTORY,
            ..Config::default()
        };
        Self {
            term: Term::new(config, &extent, VoidListener),
            primary: None,
            saved: Saved::default(),
            tabs: default_tabs(extent.columns),
            region: 0..extent.rows,
            charset: CharsetIndex::G0,
            cursor_style: None,
            history: History::default(),
            links: 0,
            bell: false,
        }
    }

    /// Columns.
    pub fn columns(&self) -> usize {
        self.term.grid().columns()
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.term.grid().screen_lines()
    }

    /// The screen that is shown.
    pub fn grid(&self) -> &Grid<Cell> {
        self.term.grid()
    }

    /// The primary screen and what it saved, while the alternate one is shown.
    pub fn hidden_primary(&self) -> Option<(&Grid<Cell>, Saved)> {
        self.primary.as_ref().map(|(grid, saved)| (grid, *saved))
    }

    /// What DECSC saved on the shown screen, beside the cursor.
    pub fn saved(&self) -> Saved {
        self.saved
    }

    /// The lines above the primary screen.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Modes that alacritty keeps.
    pub fn mode(&self) -> TermMode {
        *self.term.mode()
    }

    /// Tab stops, one a column.
    pub fn tabs(&self) -> &[bool] {
        &self.tabs
    }

    /// Whether the tab stops are those of a new terminal.
    pub fn has_default_tabs(&self) -> bool {
        self.tabs
            .iter()
            .enumerate()
            .all(|(column, stop)| *stop == (column % TAB == 0))
    }

    /// Rows that scroll.
    pub fn region(&self) -> Range<usize> {
        self.region.clone()
    }

    /// The charset in use.
    pub fn charset(&self) -> CharsetIndex {
        self.charset
    }

    /// The cursor's shape, `None` for the viewer's own.
    pub fn cursor_style(&self) -> Option<CursorStyle> {
        self.cursor_style
    }

    /// The colour that a program gave `index`: 0 to 255 of the palette, 256 text, 257 background, 258 cursor.
    pub fn color(&self, index: usize) -> Option<Rgb> {
        self.term.colors()[index]
    }

    /// Row and column of the cursor, from 0; the row counts from the scroll region's top in origin mode.
    pub fn cursor_report(&self) -> (usize, usize) {
        let point = self.cursor().point;
        let top = if self.mode().contains(TermMode::ORIGIN) {
            self.region.start
        } else {
            0
        };
        (row_of(point.line).saturating_sub(top), point.column.0)
    }

    /// Whether BEL was read since the last call.
    pub fn take_bell(&mut self) -> bool {
        std::mem::take(&mut self.bell)
    }

    fn cursor(&self) -> &Cursor<Cell> {
        &self.term.grid().cursor
    }

    fn cursor_mut(&mut self) -> &mut Cursor<Cell> {
        &mut self.term.grid_mut().cursor
    }

    fn row(&self) -> usize {
        row_of(self.cursor().point.line)
    }

    /// Puts the cursor somewhere on the screen.
    fn place(&mut self, row: usize, column: usize) {
        let (row, column) = (row.min(self.rows() - 1), column.min(self.columns() - 1));
        let cursor = self.cursor_mut();
        cursor.point.line = line(row);
        cursor.point.column = Column(column);
        cursor.input_needs_wrap = false;
    }

    /// Shows text: printable characters and single controls.
    pub fn print(&mut self, text: &str) {
        let mut rest = text;
        while let Some(first) = rest.bytes().next() {
            if matches!(first, 0x20..=0x7E) && self.writes_plainly() {
                let run = rest
                    .bytes()
                    .position(|byte| !matches!(byte, 0x20..=0x7E))
                    .unwrap_or(rest.len());
                self.print_ascii(&rest.as_bytes()[..run]);
                rest = &rest[run..];
            } else if first < 0x20 {
                self.control(first);
                rest = &rest[1..];
            } else {
                let mut characters = rest.chars();
                if let Some(character) = characters.next() {
                    self.input(character);
                }
                rest = characters.as_str();
            }
        }
    }

    fn control(&mut self, byte: u8) {
        match byte {
            0x07 => self.bell(),
            0x08 => self.backspace(),
            0x09 => self.put_tab(1),
            0x0A..=0x0C => self.linefeed(),
            0x0D => self.carriage_return(),
            0x0E => self.set_active_charset(CharsetIndex::G1),
            0x0F => self.set_active_charset(CharsetIndex::G0),
            _ => (),
        }
    }

    /// Whether ASCII goes into the cells as it is.
    fn writes_plainly(&self) -> bool {
        let cursor = self.cursor();
        !self.term.mode().contains(TermMode::INSERT)
            && cursor.charsets[self.charset] == StandardCharset::Ascii
            && cursor.template.extra.is_none()
    }

    fn print_ascii(&mut self, mut run: &[u8]) {
        let columns = self.columns();
        while !run.is_empty() {
            if self.cursor().input_needs_wrap {
                if !self.term.mode().contains(TermMode::LINE_WRAP) {
                    run.iter().for_each(|byte| self.input(char::from(*byte)));
                    return;
                }
                self.wrap();
            }
            let grid = self.term.grid_mut();
            let start = grid.cursor.point.column.0;
            let count = run.len().min(columns - start);
            let (now, later) = run.split_at(count);
            let (fg, bg, flags) = (
                grid.cursor.template.fg,
                grid.cursor.template.bg,
                grid.cursor.template.flags,
            );
            let at = grid.cursor.point.line;
            let cells = &mut grid[at][Column(start)..Column(start + count)];
            if cells.iter().any(|cell| {
                cell.flags
                    .intersects(Flags::WIDE_CHAR | Flags::WIDE_CHAR_SPACER)
            }) {
                now.iter().for_each(|byte| self.input(char::from(*byte)));
            } else {
                for (cell, byte) in cells.iter_mut().zip(now) {
                    cell.c = char::from(*byte);
                    cell.fg = fg;
                    cell.bg = bg;
                    cell.flags = flags;
                    cell.extra = None;
                }
                if start + count < columns {
                    grid.cursor.point.column = Column(start + count);
                } else {
                    grid.cursor.point.column = Column(columns - 1);
                    grid.cursor.input_needs_wrap = true;
                }
            }
            run = later;
        }
    }

    /// The line goes on in the next row. False if there is none: it goes on in the same one.
    fn wrap(&mut self) -> bool {
        self.term
            .grid_mut()
            .cursor_cell()
            .flags
            .insert(Flags::WRAPLINE);
        let moved = self.line_down(true);
        if !moved {
            self.term
                .grid_mut()
                .cursor_cell()
                .flags
                .remove(Flags::WRAPLINE | Flags::LEADING_WIDE_CHAR_SPACER);
        }
        let cursor = self.cursor_mut();
        cursor.point.column = Column(0);
        cursor.input_needs_wrap = false;
        moved
    }

    /// Moves the cursor down a row, scrolling at the region's end. False if it stays in the last row of the screen.
    fn line_down(&mut self, wrapping: bool) -> bool {
        let row = self.row();
        if row + 1 == self.region.end {
            self.scroll_rows_up(self.region.clone(), 1, true, wrapping);
        } else if row + 1 < self.rows() {
            self.cursor_mut().point.line = line(row + 1);
        } else {
            return false;
        }
        if !wrapping {
            self.settle_cursor();
        }
        true
    }

    /// Moves the rows of `region` up. What leaves the primary screen at its top is kept, if `keep`.
    fn scroll_rows_up(&mut self, region: Range<usize>, count: usize, keep: bool, wrapping: bool) {
        let count = count.min(region.len());
        if count == 0 {
            return;
        }
        if !wrapping {
            self.unwrap_row(region.end - 1);
        }
        if region.start > 0 {
            self.unwrap_row(region.start - 1);
        } else if self.primary.is_none() {
            if keep {
                for row in 0..count {
                    let row = &self.term.grid()[line(row)];
                    self.history.push(row, is_wrapped(row));
                }
            } else {
                self.history.close();
            }
        }
        self.term
            .grid_mut()
            .scroll_up(&(line(region.start)..line(region.end)), count);
        if !wrapping {
            self.settle_cursor();
        }
    }

    fn scroll_rows_down(&mut self, region: Range<usize>, count: usize) {
        let count = count.min(region.len());
        if count == 0 {
            return;
        }
        self.cut_above(region.start);
        self.term
            .grid_mut()
            .scroll_down(&(line(region.start)..line(region.end)), count);
        self.unwrap_row(region.end - 1);
        self.settle_cursor();
    }

    /// What stands in `row` is not the rest of a line that began above it.
    fn cut_above(&mut self, row: usize) {
        if row > 0 {
            self.unwrap_row(row - 1);
        } else if self.primary.is_none() {
            self.history.close();
        }
    }

    /// The row under a cursor that waits to wrap changed: it does not go on before the cursor does.
    fn settle_cursor(&mut self) {
        if self.cursor().input_needs_wrap {
            self.unwrap_row(self.row());
        }
    }

    fn unwrap_row(&mut self, row: usize) {
        unwrap(self.term.grid_mut(), row);
    }

    /// Makes `row` whole after cells in it were moved or erased.
    fn mend(&mut self, row: usize) {
        mend(self.term.grid_mut(), row);
        if row == 0 && self.primary.is_none() {
            self.history.meet(&self.term.grid()[line(0)][Column(0)]);
        }
    }

    /// Shows the alternate screen, blank.
    pub fn enter_alternate(&mut self) {
        if self.primary.is_some() {
            return;
        }
        self.save_cursor_position();
        let mut alternate = Grid::new(self.rows(), self.columns(), 0);
        alternate.cursor = self.cursor().clone();
        alternate.reset_region(..);
        let primary = std::mem::replace(self.term.grid_mut(), alternate);
        self.primary = Some((primary, self.saved));
        self.saved = Saved::default();
    }

    /// Shows the primary screen again, the cursor as it was.
    pub fn leave_alternate(&mut self) {
        let Some((primary, saved)) = self.primary.take() else {
            return;
        };
        *self.term.grid_mut() = primary;
        self.saved = saved;
        self.restore_cursor_position();
    }

    /// Whether the alternate screen is shown.
    pub fn is_alternate(&self) -> bool {
        self.primary.is_some()
    }

    /// DECSTR: modes, attributes, charsets, region and palette as in a new terminal; what is on screen stays.
    pub fn soft_reset(&mut self) {
        self.term.unset_mode(NamedMode::Insert.into());
        self.term.unset_mode(NamedMode::LineFeedNewLine.into());
        let point = self.cursor().point;
        *self.cursor_mut() = Cursor {
            point,
            ..Cursor::default()
        };
        self.term
            .unset_private_mode(NamedPrivateMode::Origin.into());
        self.term
            .set_private_mode(NamedPrivateMode::LineWrap.into());
        self.region = 0..self.rows();
        self.set_active_charset(CharsetIndex::G0);
        self.cursor_style = None;
        self.reset_palette();
        self.save_cursor_position();
        if let Some((primary, saved)) = &mut self.primary {
            let point = primary.cursor.point;
            primary.cursor = Cursor {
                point,
                ..Cursor::default()
            };
            primary.saved_cursor = primary.cursor.clone();
            *saved = Saved::default();
        }
    }

    fn reset_palette(&mut self) {
        (0..PALETTE).for_each(|index| self.term.reset_color(index));
    }

    /// Another size. Lines of the primary screen are wrapped anew, and those above it come down where there is room.
    pub fn resize(&mut self, size: Size) {
        let extent = Extent::from(size);
        if extent.rows == self.rows() && extent.columns == self.columns() {
            return;
        }
        // Alacritty resizes the grid that it takes for the primary screen.
        if let Some((hidden, _)) = &mut self.primary {
            std::mem::swap(self.term.grid_mut(), hidden);
        }
        self.take_back(extent);
        self.term.resize(extent);
        self.put_away();
        settle(self.term.grid_mut());
        if let Some((hidden, _)) = &mut self.primary {
            hidden.resize(false, extent.rows, extent.columns);
            settle(hidden);
            std::mem::swap(self.term.grid_mut(), hidden);
            // The cursor that comes back is the one that was on screen, wherever its line went.
            hidden.saved_cursor = hidden.cursor.clone();
        }
        let old = self.tabs.len();
        self.tabs.truncate(extent.columns);
        self.tabs
            .extend((old..extent.columns).map(|column| column % TAB == 0));
        self.region = 0..extent.rows;
    }

    /// Gives alacritty the last lines above the screen for the time of a resize: enough to fill the new one.
    fn take_back(&mut self, new: Extent) {
        let (height, columns) = (self.rows(), self.columns());
        let first = self.term.grid()[line(0)][Column(0)].clone();
        let mut above: Vec<Vec<Vec<Cell>>> = Vec::new();
        let mut count = 0;
        while count <= new.rows {
            let Some(line) = self.history.pop(columns, &first) else {
                break;
            };
            count += line.len();
            above.push(line);
        }
        let old = self.term.grid_mut();
        // No row may be lost, however many one becomes.
        let limit = (count + height) * (columns / new.columns + 2);
        let mut grid: Grid<Cell> = Grid::new(height, columns, limit);
        let mut scrolled = 0;
        while scrolled < count {
            let step = height.min(count - scrolled);
            grid.scroll_up(&(line(0)..line(height)), step);
            scrolled += step;
        }
        for (index, cells) in above.into_iter().rev().flatten().enumerate() {
            let row = &mut grid[Line(index as i32 - count as i32)];
            for (column, cell) in cells.into_iter().take(columns).enumerate() {
                row[Column(column)] = cell;
            }
        }
        for row in 0..height {
            std::mem::swap(&mut grid[line(row)], &mut old[line(row)]);
        }
        grid.cursor = old.cursor.clone();
        grid.saved_cursor = old.saved_cursor.clone();
        *old = grid;
    }

    /// Takes all lines above the screen from alacritty.
    fn put_away(&mut self) {
        let grid = self.term.grid_mut();
        let count = grid.history_size() as i32;
        for row in -count..0 {
            let row = &grid[Line(row)];
            self.history.push(row, is_wrapped(row));
        }
        grid.update_history(MODEL_HISTORY);
        grid.truncate();
    }
}

/// The line of a row on screen. There are at most [`Size::MAX`].
pub fn line(row: usize) -> Line {
    Line(row as i32)
}

/// The row of a line on screen.
pub fn row_of(line: Line) -> usize {
    usize::try_from(line.0).unwrap_or(0)
}

/// Whether the line goes on in the next row.
pub fn is_wrapped(row: &alacritty_terminal::grid::Row<Cell>) -> bool {
    row.last()
        .is_some_and(|cell| cell.flags.contains(Flags::WRAPLINE))
}

fn default_tabs(columns: usize) -> Vec<bool> {
    (0..columns).map(|column| column % TAB == 0).collect()
}

fn unwrap(grid: &mut Grid<Cell>, row: usize) {
    let last = grid.columns() - 1;
    grid[line(row)][Column(last)]
        .flags
        .remove(Flags::WRAPLINE | Flags::LEADING_WIDE_CHAR_SPACER);
}

fn mend(grid: &mut Grid<Cell>, row: usize) {
    let columns = grid.columns();
    let cells = &mut grid[line(row)][..];
    for column in 0..columns {
        let flags = cells[column].flags;
        let placed = Flags::WIDE_CHAR
            | Flags::WIDE_CHAR_SPACER
            | Flags::WRAPLINE
            | Flags::LEADING_WIDE_CHAR_SPACER;
        if !flags.intersects(placed) {
            continue;
        }
        let spacer_follows = cells
            .get(column + 1)
            .is_some_and(|next| next.flags.contains(Flags::WIDE_CHAR_SPACER));
        if flags.contains(Flags::WIDE_CHAR) && !spacer_follows {
            cells[column].clear_wide();
        }
        let follows_wide = column > 0 && cells[column - 1].flags.contains(Flags::WIDE_CHAR);
        if flags.contains(Flags::WIDE_CHAR_SPACER) && !follows_wide {
            cells[column].flags.remove(Flags::WIDE_CHAR_SPACER);
        }
        if column + 1 < columns {
            cells[column]
                .flags
                .remove(Flags::WRAPLINE | Flags::LEADING_WIDE_CHAR_SPACER);
        }
    }
    if row > 0 {
        mend_placeholder(grid, row - 1);
    }
    mend_placeholder(grid, row);
}

/// The last cell of `row` is a placeholder only while the next row begins with the wide character that did not fit,
/// which it looks like.
fn mend_placeholder(grid: &mut Grid<Cell>, row: usize) {
    let last = Column(grid.columns() - 1);
    if !grid[line(row)][last]
        .flags
        .contains(Flags::LEADING_WIDE_CHAR_SPACER)
    {
        return;
    }
    let stands = row + 1 < grid.screen_lines() && {
        let next = &grid[line(row + 1)][Column(0)];
        next.flags.contains(Flags::WIDE_CHAR) && Style::of(next).is_of(&grid[line(row)][last])
    };
    if !stands {
        grid[line(row)][last]
            .flags
            .remove(Flags::LEADING_WIDE_CHAR_SPACER);
    }
}

/// Brings a resized screen back under the rules of this module.
fn settle(grid: &mut Grid<Cell>) {
    let (rows, columns) = (grid.screen_lines(), grid.columns());
    unwrap(grid, rows - 1);
    // Alacritty makes plain placeholders here, where writing makes them look like the character that did not fit.
    for row in 0..rows - 1 {
        if grid[line(row)][Column(columns - 1)]
            .flags
            .contains(Flags::LEADING_WIDE_CHAR_SPACER)
        {
            let style = Style::of(&grid[line(row + 1)][Column(0)]);
            style.apply(&mut grid[line(row)][Column(columns - 1)]);
        }
    }
    for row in 0..rows {
        mend(grid, row);
    }
    for cursor in [&mut grid.cursor, &mut grid.saved_cursor] {
        cursor.point.line = line(row_of(cursor.point.line).min(rows - 1));
        cursor.point.column = Column(cursor.point.column.0.min(columns - 1));
        if cursor.input_needs_wrap && cursor.point.column.0 + 1 < columns {
            // There is room after the last character now.
            cursor.point.column += 1;
            cursor.input_needs_wrap = false;
        }
    }
    if grid.cursor.input_needs_wrap {
        unwrap(grid, row_of(grid.cursor.point.line));
    }
}

impl Handler for Screen {
    fn input(&mut self, c: char) {
        let Some(width) = c.width() else { return };
        if width == 0 {
            return self.combine(c);
        }
        let columns = self.columns();
        let wraps = self.term.mode().contains(TermMode::LINE_WRAP);
        if wraps && self.cursor().input_needs_wrap {
            self.wrap();
        }
        if width == 2 && self.cursor().point.column.0 + 1 >= columns {
            if wraps {
                return self.write_in_next_row(c);
            }
            // As VTE does: it takes the last two columns.
            self.place(self.row(), columns - 2);
        }
        self.write(c);
    }

    fn goto(&mut self, row: i32, column: usize) {
        let row = usize::try_from(row).unwrap_or(0);
        if self.term.mode().contains(TermMode::ORIGIN) {
            self.place((row + self.region.start).min(self.region.end - 1), column);
        } else {
            self.place(row, column);
        }
    }

    fn goto_line(&mut self, row: i32) {
        self.goto(row, self.cursor().point.column.0);
    }

    fn goto_col(&mut self, column: usize) {
        self.place(self.row(), column);
    }

    fn move_up(&mut self, rows: usize) {
        let row = self.row();
        let top = if row >= self.region.start {
            self.region.start
        } else {
            0
        };
        self.place(
            row.saturating_sub(rows).max(top),
            self.cursor().point.column.0,
        );
    }

    fn move_down(&mut self, rows: usize) {
        let row = self.row();
        let bottom = if row < self.region.end {
            self.region.end
        } else {
            self.rows()
        };
        self.place((row + rows).min(bottom - 1), self.cursor().point.column.0);
    }

    fn move_down_and_cr(&mut self, rows: usize) {
        self.move_down(rows);
        self.carriage_return();
    }

    fn move_up_and_cr(&mut self, rows: usize) {
        self.move_up(rows);
        self.carriage_return();
    }

    fn move_forward(&mut self, columns: usize) {
        self.place(self.row(), self.cursor().point.column.0 + columns);
    }

    fn move_backward(&mut self, columns: usize) {
        self.place(
            self.row(),
            self.cursor().point.column.0.saturating_sub(columns),
        );
    }

    fn put_tab(&mut self, count: u16) {
        self.move_forward_tabs(count);
    }

    fn move_forward_tabs(&mut self, count: u16) {
        let last = self.columns() - 1;
        for _ in 0..count {
            let column = self.cursor().point.column.0;
            if column == last {
                break;
            }
            let next = (column + 1..last)
                .find(|column| self.tabs[*column])
                .unwrap_or(last);
            self.cursor_mut().point.column = Column(next);
        }
    }

    fn move_backward_tabs(&mut self, count: u16) {
        for _ in 0..count {
            let column = self.cursor().point.column.0;
            let previous = (0..column)
                .rev()
                .find(|column| self.tabs[*column])
                .unwrap_or(0);
            self.place(self.row(), previous);
            if previous == 0 {
                break;
            }
        }
    }

    fn backspace(&mut self) {
        self.move_backward(1);
    }

    fn carriage_return(&mut self) {
        self.place(self.row(), 0);
    }

    fn linefeed(&mut self) {
        self.line_down(false);
    }

    fn reverse_index(&mut self) {
        let row = self.row();
        if row == self.region.start {
            self.scroll_rows_down(self.region.clone(), 1);
        } else {
            self.cursor_mut().point.line = line(row.saturating_sub(1));
            self.settle_cursor();
        }
    }

    fn bell(&mut self) {
        self.bell = true;
    }

    fn scroll_up(&mut self, rows: usize) {
        self.scroll_rows_up(self.region.clone(), rows, true, false);
    }

    fn scroll_down(&mut self, rows: usize) {
        self.scroll_rows_down(self.region.clone(), rows);
    }

    fn insert_blank_lines(&mut self, rows: usize) {
        let row = self.row();
        if self.region.contains(&row) {
            self.scroll_rows_down(row..self.region.end, rows);
        }
    }

    fn delete_lines(&mut self, rows: usize) {
        let row = self.row();
        if self.region.contains(&row) {
            self.scroll_rows_up(row..self.region.end, rows, false, false);
        }
    }

    fn insert_blank(&mut self, count: usize) {
        self.term.insert_blank(count);
        self.mend(self.row());
    }

    fn delete_chars(&mut self, count: usize) {
        // Alacritty erases from the left margin where there are fewer cells than asked for.
        let room = self.columns() - self.cursor().point.column.0;
        self.term.delete_chars(count.min(room));
        self.mend(self.row());
    }

    fn erase_chars(&mut self, count: usize) {
        self.term.erase_chars(count);
        self.mend(self.row());
    }

    fn clear_line(&mut self, mode: LineClearMode) {
        self.term.clear_line(mode);
        self.mend(self.row());
    }

    fn clear_screen(&mut self, mode: ClearMode) {
        let row = self.row();
        match mode {
            ClearMode::Below => {
                self.term.clear_screen(ClearMode::Below);
                self.mend(row);
            }
            ClearMode::Above => {
                self.term.clear_screen(ClearMode::Above);
                if row > 0 {
                    self.term.grid_mut().reset_region(..line(row));
                    self.cut_above(0);
                }
                self.mend(row);
            }
            ClearMode::All => {
                if self.primary.is_none() {
                    self.scroll_away();
                }
                self.term.grid_mut().reset_region(..);
                self.cut_above(0);
            }
            ClearMode::Saved => self.history.clear(),
        }
    }

    fn set_horizontal_tabstop(&mut self) {
        let column = self.cursor().point.column.0;
        self.tabs[column] = true;
    }

    fn clear_tabs(&mut self, mode: TabulationClearMode) {
        let column = self.cursor().point.column.0;
        match mode {
            TabulationClearMode::Current => self.tabs[column] = false,
            TabulationClearMode::All => self.tabs.fill(false),
        }
    }

    fn set_tabs(&mut self, _interval: u16) {
        self.tabs = default_tabs(self.columns());
    }

    fn save_cursor_position(&mut self) {
        self.term.save_cursor_position();
        self.saved = Saved {
            origin: self.mode().contains(TermMode::ORIGIN),
            charset: self.charset,
        };
    }

    fn restore_cursor_position(&mut self) {
        self.term.restore_cursor_position();
        self.set_active_charset(self.saved.charset);
        let cursor = self.cursor().clone();
        if self.saved.origin {
            self.term.set_private_mode(NamedPrivateMode::Origin.into());
        } else {
            self.term
                .unset_private_mode(NamedPrivateMode::Origin.into());
        }
        *self.cursor_mut() = cursor;
        let row = self.row();
        if self.saved.origin && !self.region.contains(&row) {
            self.place(
                row.clamp(self.region.start, self.region.end - 1),
                self.cursor().point.column.0,
            );
        }
        self.settle_cursor();
    }

    fn reset_state(&mut self) {
        if let Some((primary, _)) = self.primary.take() {
            *self.term.grid_mut() = primary;
        }
        self.term.reset_state();
        self.reset_palette();
        self.history.clear();
        self.saved = Saved::default();
        self.region = 0..self.rows();
        self.tabs = default_tabs(self.columns());
        self.charset = CharsetIndex::G0;
        self.cursor_style = None;
    }

    fn decaln(&mut self) {
        self.term.decaln();
        self.cut_above(0);
        self.region = 0..self.rows();
        self.place(0, 0);
    }

    fn terminal_attribute(&mut self, attr: Attr) {
        self.term.terminal_attribute(attr);
    }

    fn set_mode(&mut self, mode: Mode) {
        self.term.set_mode(mode);
    }

    fn unset_mode(&mut self, mode: Mode) {
        self.term.unset_mode(mode);
    }

    fn set_private_mode(&mut self, mode: PrivateMode) {
        match mode {
            PrivateMode::Named(NamedPrivateMode::SwapScreenAndSetRestoreCursor) => {
                self.enter_alternate()
            }
            PrivateMode::Named(NamedPrivateMode::Origin) => {
                self.term.set_private_mode(mode);
                self.goto(0, 0);
            }
            PrivateMode::Named(NamedPrivateMode::BlinkingCursor) => self.blink(true),
            PrivateMode::Named(NamedPrivateMode::ColumnMode) | PrivateMode::Unknown(_) => (),
            PrivateMode::Named(_) => self.term.set_private_mode(mode),
        }
    }

    fn unset_private_mode(&mut self, mode: PrivateMode) {
        match mode {
            PrivateMode::Named(NamedPrivateMode::SwapScreenAndSetRestoreCursor) => {
                self.leave_alternate()
            }
            PrivateMode::Named(NamedPrivateMode::Origin) => {
                self.term.unset_private_mode(mode);
                self.goto(0, 0);
            }
            PrivateMode::Named(NamedPrivateMode::BlinkingCursor) => self.blink(false),
            PrivateMode::Named(NamedPrivateMode::ColumnMode) | PrivateMode::Unknown(_) => (),
            PrivateMode::Named(_) => self.term.unset_private_mode(mode),
        }
    }

    fn set_scrolling_region(&mut self, top: usize, bottom: Option<usize>) {
        let rows = self.rows();
        let bottom = bottom.unwrap_or(rows).min(rows);
        if top < bottom {
            self.region = top.saturating_sub(1)..bottom;
            self.goto(0, 0);
        }
    }

    fn set_keypad_application_mode(&mut self) {
        self.term.set_keypad_application_mode();
    }

    fn unset_keypad_application_mode(&mut self) {
        self.term.unset_keypad_application_mode();
    }

    fn set_active_charset(&mut self, index: CharsetIndex) {
        self.charset = index;
        self.term.set_active_charset(index);
    }

    fn configure_charset(&mut self, index: CharsetIndex, charset: StandardCharset) {
        self.term.configure_charset(index, charset);
    }

    fn set_color(&mut self, index: usize, color: Rgb) {
        self.term.set_color(index, color);
    }

    fn reset_color(&mut self, index: usize) {
        self.term.reset_color(index);
    }

    fn set_cursor_style(&mut self, style: Option<CursorStyle>) {
        self.cursor_style = style;
    }

    fn set_hyperlink(&mut self, link: Option<Hyperlink>) {
        let link = link.map(|link| {
            let id = link
                .id
                .unwrap_or_else(|| format!("{LINK_ID}{}", self.links.wrapping_add(1)));
            // One of ours that comes back by a snapshot is not given twice.
            if let Some(number) = id
                .strip_prefix(LINK_ID)
                .and_then(|number| number.parse().ok())
            {
                self.links = self.links.max(number);
            }
            Hyperlink {
                id: Some(id),
                uri: link.uri,
            }
        });
        self.term.set_hyperlink(link);
    }
}

impl Screen {
    fn write(&mut self, c: char) {
        if self.row() == 0 && self.cursor().point.column.0 <= 1 && self.primary.is_none() {
            let over = self.term.grid_mut().cursor_cell().flags;
            if over.intersects(Flags::WIDE_CHAR | Flags::WIDE_CHAR_SPACER) {
                // As alacritty does for the rows below: the placeholder of a wide character goes with it.
                self.history.meet(&Cell::default());
            }
        }
        self.term.input(c);
        if self.term.mode().contains(TermMode::INSERT) {
            self.mend(self.row());
        }
    }

    /// Writes a wide character that does not fit in this row: a placeholder here, itself in the next.
    fn write_in_next_row(&mut self, c: char) {
        self.cursor_mut()
            .template
            .flags
            .insert(Flags::LEADING_WIDE_CHAR_SPACER);
        self.write(' ');
        self.cursor_mut()
            .template
            .flags
            .remove(Flags::LEADING_WIDE_CHAR_SPACER);
        let moved = self.wrap();
        self.write(c);
        let (row, last) = (self.row(), self.columns() - 1);
        if moved && row > 0 {
            // Where the character took the place of another wide one, alacritty took the placeholder for that one's.
            self.term.grid_mut()[line(row - 1)][Column(last)]
                .flags
                .insert(Flags::LEADING_WIDE_CHAR_SPACER);
        }
    }

    /// A zero-width character belongs to the cell before the cursor.
    fn combine(&mut self, c: char) {
        let grid = self.term.grid();
        let cursor = &grid.cursor;
        let row = &grid[cursor.point.line];
        let mut column = cursor.point.column.0;
        if !cursor.input_needs_wrap {
            column = column.saturating_sub(1);
        }
        if row[Column(column)].flags.contains(Flags::WIDE_CHAR_SPACER) {
            column = column.saturating_sub(1);
        }
        if row[Column(column)].zerowidth().map_or(0, <[char]>::len) < COMBINING_MAX {
            self.term.input(c);
        }
    }

    fn blink(&mut self, blinking: bool) {
        let style = self.cursor_style.get_or_insert_with(CursorStyle::default);
        style.blinking = blinking;
    }

    /// What is on screen goes to the history, down to the last row that holds something.
    fn scroll_away(&mut self) {
        use alacritty_terminal::grid::GridCell;
        let grid = self.term.grid();
        let used = (0..self.rows())
            .rev()
            .find(|row| grid[line(*row)].into_iter().any(|cell| !cell.is_empty()));
        for row in 0..used.map_or(0, |row| row + 1) {
            let row = &self.term.grid()[line(row)];
            self.history.push(row, is_wrapped(row));
        }
        self.history.close();
    }
}
