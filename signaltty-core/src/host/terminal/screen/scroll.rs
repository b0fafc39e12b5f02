//! Scrolling, and what leaves the screen by it.

use std::ops::Range;

use alacritty_terminal::grid::GridCell;

use super::{Screen, is_wrapped, line};

impl Screen {
    /// Moves the cursor down a row, scrolling at the region's end. False if it stays in the last row of the screen.
    pub(super) fn line_down(&mut self, wrapping: bool) -> bool {
        let row = self.row();
        if row + 1 == self.region.end {
            self.scroll_rows_up(self.region.clone(), 1, true, wrapping);
        } else if row + 1 < self.rows() {
            self.cursor_mut().point.line = line(row + 1);
        } else {
            return false;
        }
        true
    }

    /// Moves the rows of `region` up. What leaves the primary screen at its top is kept, if `keep`.
    pub(super) fn scroll_rows_up(
        &mut self,
        region: Range<usize>,
        count: usize,
        keep: bool,
        wrapping: bool,
    ) {
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

    pub(super) fn scroll_rows_down(&mut self, region: Range<usize>, count: usize) {
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
    pub(super) fn cut_above(&mut self, row: usize) {
        if row > 0 {
            self.unwrap_row(row - 1);
        } else if self.primary.is_none() {
            self.history.close();
        }
    }

    /// The row under a cursor that waits to wrap changed: it does not go on before the cursor does.
    pub(super) fn settle_cursor(&mut self) {
        if self.cursor().input_needs_wrap {
            self.unwrap_row(self.row());
        }
    }

    /// What is on screen goes to the history, down to the last row that holds something.
    pub(super) fn scroll_away(&mut self) {
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
