//! Another size: lines are wrapped anew, with as many of those above as the new screen may need.

use alacritty_terminal::grid::{Dimensions, Grid};
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::Cell;

use super::mend::settle;
use super::{Extent, MODEL_HISTORY, Screen, TAB, is_wrapped, line};
use crate::model::Size;

impl Screen {
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
            hidden.saved_cursor.input_needs_wrap = false;
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
