//! What control sequences do to the screen. Alacritty does it where it does as VTE does.

use alacritty_terminal::index::Column;
use alacritty_terminal::term::TermMode;
use alacritty_terminal::vte::ansi::{
    Attr, CharsetIndex, ClearMode, CursorStyle, Handler, Hyperlink, LineClearMode, Mode,
    NamedPrivateMode, PrivateMode, Rgb, StandardCharset, TabulationClearMode,
};
use unicode_width::UnicodeWidthChar;

use super::{LINK_ID, Saved, Screen, default_tabs, line};

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
        self.stay();
        self.line_down(false);
    }

    fn reverse_index(&mut self) {
        self.stay();
        let row = self.row();
        if row == self.region.start {
            self.scroll_rows_down(self.region.clone(), 1);
        } else {
            self.cursor_mut().point.line = line(row.saturating_sub(1));
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
            self.carriage_return();
        }
    }

    fn delete_lines(&mut self, rows: usize) {
        let row = self.row();
        if self.region.contains(&row) {
            self.scroll_rows_up(row..self.region.end, rows, false, false);
            self.carriage_return();
        }
    }

    fn insert_blank(&mut self, count: usize) {
        self.stay();
        self.term.insert_blank(count);
        self.mend_row();
    }

    fn delete_chars(&mut self, count: usize) {
        self.stay();
        // Alacritty erases from the left margin where there are fewer cells than asked for.
        let room = self.columns() - self.cursor().point.column.0;
        self.term.delete_chars(count.min(room));
        self.mend_row();
    }

    fn erase_chars(&mut self, count: usize) {
        self.stay();
        let column = self.cursor().point.column.0;
        self.term.erase_chars(count);
        self.mend_at(column);
        self.mend_at(column + count);
    }

    fn clear_line(&mut self, mode: LineClearMode) {
        let column = self.cursor().point.column.0;
        let edge = match mode {
            LineClearMode::Right => Some(column),
            LineClearMode::Left => {
                self.stay();
                Some(column + 1)
            }
            LineClearMode::All => None,
        };
        self.term.clear_line(mode);
        match edge {
            Some(column) => self.mend_at(column),
            None => self.mend(0..0),
        }
    }

    fn clear_screen(&mut self, mode: ClearMode) {
        let row = self.row();
        match mode {
            ClearMode::Below => {
                self.stay();
                self.term.clear_screen(ClearMode::Below);
                self.mend_at(self.cursor().point.column.0);
            }
            ClearMode::Above => {
                self.stay();
                self.term.clear_screen(ClearMode::Above);
                if row > 0 {
                    self.term.grid_mut().reset_region(..line(row));
                    self.cut_above(0);
                }
                self.mend_at(self.cursor().point.column.0 + 1);
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
        self.term.grid_mut().saved_cursor.input_needs_wrap = false;
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
    /// A cursor that waits to wrap does not any more. Which sequences do this, and which do not, is as in VTE.
    fn stay(&mut self) {
        self.cursor_mut().input_needs_wrap = false;
    }

    fn blink(&mut self, blinking: bool) {
        let style = self.cursor_style.get_or_insert_with(CursorStyle::default);
        style.blinking = blinking;
    }
}
