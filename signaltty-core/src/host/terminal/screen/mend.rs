//! The rules that hold after every operation, made to hold.

use std::ops::Range;

use alacritty_terminal::grid::{Dimensions, Grid};
use alacritty_terminal::index::Column;
use alacritty_terminal::term::cell::{Cell, Flags};

use super::{Screen, line, row_of};
use crate::host::terminal::style::Style;

impl Screen {
    pub(super) fn unwrap_row(&mut self, row: usize) {
        unwrap(self.term.grid_mut(), row);
    }

    /// Makes the cursor's row whole after cells in it were moved.
    pub(super) fn mend_row(&mut self) {
        self.mend(0..self.columns());
    }

    /// Makes the cursor's row whole after cells from or up to `column` were erased.
    pub(super) fn mend_at(&mut self, column: usize) {
        let last = self.columns() - 1;
        self.mend(column.saturating_sub(1).min(last)..column.min(last) + 1);
    }

    pub(super) fn mend(&mut self, columns: Range<usize>) {
        let row = self.row();
        mend(self.term.grid_mut(), row, columns);
        if row == 0 && self.primary.is_none() {
            self.history.meet(&self.term.grid()[line(0)][Column(0)]);
        }
    }
}

/// What stands below `row` is not the rest of its line.
fn unwrap(grid: &mut Grid<Cell>, row: usize) {
    let last = grid.columns() - 1;
    grid[line(row)][Column(last)]
        .flags
        .remove(Flags::WRAPLINE | Flags::LEADING_WIDE_CHAR_SPACER);
}

fn mend(grid: &mut Grid<Cell>, row: usize, columns: Range<usize>) {
    let width = grid.columns();
    let cells = &mut grid[line(row)][..];
    for column in columns {
        let flags = cells[column].flags;
        if !flags.intersects(PLACED) {
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
        if column + 1 < width {
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

/// Flags that say where a cell stands.
const PLACED: Flags = Flags::WIDE_CHAR
    .union(Flags::WIDE_CHAR_SPACER)
    .union(Flags::WRAPLINE)
    .union(Flags::LEADING_WIDE_CHAR_SPACER);

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
pub(super) fn settle(grid: &mut Grid<Cell>) {
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
        mend(grid, row, 0..columns);
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
