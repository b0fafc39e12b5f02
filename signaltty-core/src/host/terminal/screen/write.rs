//! Text onto the screen: ASCII straight into the cells, the rest through alacritty, wrapping as one.

use alacritty_terminal::index::Column;
use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::vte::ansi::{CharsetIndex, Handler, StandardCharset};

use super::{COMBINING_MAX, Screen, line};

impl Screen {
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
    pub(super) fn wrap(&mut self) -> bool {
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

    /// Writes a character that fits in the row.
    pub(super) fn write(&mut self, c: char) {
        if self.row() == 0 && self.cursor().point.column.0 <= 1 && self.primary.is_none() {
            let over = self.term.grid_mut().cursor_cell().flags;
            if over.intersects(Flags::WIDE_CHAR | Flags::WIDE_CHAR_SPACER) {
                // As alacritty does for the rows below: the placeholder of a wide character goes with it.
                self.history.meet(&Cell::default());
            }
        }
        self.term.input(c);
        if self.term.mode().contains(TermMode::INSERT) {
            self.mend_row();
        }
    }

    /// Writes a wide character that does not fit in this row: a placeholder here, itself in the next.
    pub(super) fn write_in_next_row(&mut self, c: char) {
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
    pub(super) fn combine(&mut self, c: char) {
        let grid = self.term.grid();
        let cursor = &grid.cursor;
        let row = &grid[cursor.point.line];
        let mut column = cursor.point.column.0;
        if !cursor.input_needs_wrap {
            // As in VTE, there is nothing before the first column.
            let Some(before) = column.checked_sub(1) else {
                return;
            };
            column = before;
        }
        if row[Column(column)].flags.contains(Flags::WIDE_CHAR_SPACER) {
            column = column.saturating_sub(1);
        }
        if row[Column(column)].zerowidth().map_or(0, <[char]>::len) < COMBINING_MAX {
            self.term.input(c);
        }
    }
}
