//! The bytes that rebuild a terminal in a fresh one of its size.
//!
//! Order matters: what is written first scrolls up, what moves the cursor comes before the cursor is set, and what
//! changes how text lands (modes, charsets, region) comes after the text. Only plain, old sequences are used, so that
//! any terminal that is attached shows the same.

use alacritty_terminal::grid::{Cursor, Grid, Row};
use alacritty_terminal::index::Column;
use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::vte::ansi::{CharsetIndex, StandardCharset};
use unicode_width::UnicodeWidthChar;

use super::history::{Line as HistoryLine, occupied};
use super::modes::PrivateModes;
use super::query::cursor_style_number;
use super::screen::{Saved, Screen, is_wrapped, line, row_of};
use super::style::{Style, push};

/// Sent before a snapshot to a terminal that is not fresh: a full reset, and the scrollback away.
///
/// Begins with CAN: what it was sent before may have ended inside a sequence.
pub const CLEAR: &[u8] = b"\x18\x1bc\x1b[3J";

/// The colours that a program can set: 256 of the palette, text, background, cursor.
const COLORS: usize = 259;

/// Rebuilds `screen` with at most the last `history` lines above it. The target is a fresh terminal of its size.
pub fn write(
    screen: &Screen,
    modes: &PrivateModes,
    title: Option<&str>,
    history: usize,
) -> Vec<u8> {
    let mut writer = Writer {
        history,
        out: Vec::new(),
        style: Style::default(),
        columns: screen.columns(),
    };
    writer.colors(screen);
    if let Some(title) = title {
        push(&mut writer.out, format_args!("\x1b]2;{title}\x1b\\"));
    }
    match screen.hidden_primary() {
        None => writer.scrolled(screen, screen.grid()),
        Some((primary, entered)) => {
            writer.scrolled(screen, primary);
            // The cursor that the primary screen comes back with is saved by entering the alternate one.
            writer.saved_cursor(&primary.saved_cursor, entered, "\x1b[?1049h");
            writer.neutral();
            writer.out.extend_from_slice(b"\x1b[2J");
            writer.in_place(screen.grid());
        }
    }
    writer.tabs(screen);
    let grid = screen.grid();
    if grid.saved_cursor != Cursor::default() || screen.saved() != Saved::default() {
        writer.saved_cursor(&grid.saved_cursor, screen.saved(), "\x1b7");
        writer.neutral();
    }
    writer.modes(screen, modes);
    writer.cursor(screen);
    writer.out
}

struct Writer {
    /// Most lines above the screen that are written.
    history: usize,
    out: Vec<u8>,
    /// What the target writes in now.
    style: Style,
    columns: usize,
}

impl Writer {
    fn set(&mut self, style: &Style) {
        if self.style != *style {
            self.style.change(style, &mut self.out);
            self.style = style.clone();
        }
    }

    fn plain(&mut self) {
        self.set(&Style::default());
    }

    fn put(&mut self, character: char) {
        let mut buffer = [0; 4];
        self.out
            .extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
    }

    fn colors(&mut self, screen: &Screen) {
        for index in 0..COLORS {
            let Some(color) = screen.color(index) else {
                continue;
            };
            match index {
                0..=255 => push(&mut self.out, format_args!("\x1b]4;{index};{color}\x1b\\")),
                _ => push(
                    &mut self.out,
                    format_args!("\x1b]{};{color}\x1b\\", index - 256 + 10),
                ),
            }
        }
    }

    /// The primary screen with the lines above it, which scroll off as they did.
    fn scrolled(&mut self, screen: &Screen, grid: &Grid<Cell>) {
        let lines = screen.history().lines();
        let left_out = lines.len().saturating_sub(self.history);
        for line in lines.skip(left_out) {
            self.history_line(line);
            self.plain();
            self.out.extend_from_slice(b"\r\n");
        }
        if let Some(open) = screen.history().open_line(&grid[line(0)][Column(0)]) {
            self.history_line(&open);
        }
        let mut continues = screen.history().is_open();
        for row in 0..screen.rows() {
            let cells = &grid[line(row)];
            self.row(cells, continues);
            continues = is_wrapped(cells);
            if !continues && row + 1 < screen.rows() {
                self.plain();
                self.out.extend_from_slice(b"\r\n");
            }
        }
    }

    fn history_line(&mut self, line: &HistoryLine) {
        let mut column = 0;
        let mut colored = false;
        for (text, style) in line.parts() {
            self.set(style);
            self.out.extend_from_slice(text.as_bytes());
            colored |= !style.plain_background();
            for width in text.chars().filter_map(|c| c.width()) {
                // A character that does not fit goes to the next row whole.
                column = if column + width > self.columns {
                    width
                } else {
                    column + width
                };
            }
        }
        // Wrapping at the bottom fills the new row with the background of the moment.
        if colored && column < self.columns {
            self.clear_to_end();
        }
    }

    fn clear_to_end(&mut self) {
        self.plain();
        self.out.extend_from_slice(b"\x1b[K");
    }

    /// A screen whose rows do not scroll.
    fn in_place(&mut self, grid: &Grid<Cell>) {
        let mut continues = false;
        let rows = alacritty_terminal::grid::Dimensions::screen_lines(grid);
        for row in 0..rows {
            let cells = &grid[line(row)];
            let wrapped = is_wrapped(cells);
            if !continues && (wrapped || occupied(cells) > 0) {
                self.go_to(row, 0);
            }
            self.row(cells, continues);
            continues = wrapped;
        }
    }

    /// The cells of a row, from its first column, or from the end of the row before if it `continues` that one.
    fn row(&mut self, cells: &Row<Cell>, continues: bool) {
        let wrapped = is_wrapped(cells);
        let least = usize::from(continues);
        let mut end = if wrapped {
            self.columns
        } else {
            occupied(cells).max(least)
        };
        // Blank cells of one background up to the end were erased in that colour.
        let erased = if end == self.columns && !wrapped {
            erased_tail(cells).filter(|start| *start >= least)
        } else {
            None
        };
        end = erased.unwrap_or(end);
        let mut colored = continues && !self.style.plain_background();
        for (index, cell) in cells[Column(0)..Column(end)].iter().enumerate() {
            if cell.flags.contains(Flags::WIDE_CHAR_SPACER) {
                continue;
            }
            // The target makes its own where the wide character of the next row does not fit.
            if cell.flags.contains(Flags::LEADING_WIDE_CHAR_SPACER)
                && wrapped
                && index + 1 == self.columns
            {
                continue;
            }
            self.cell(cell);
            colored |= continues && !self.style.plain_background();
        }
        if erased.is_some() {
            if let Some(cell) = cells.last() {
                self.set(&Style::of(cell));
            }
            self.out.extend_from_slice(b"\x1b[K");
        } else if colored && end < self.columns {
            self.clear_to_end();
        }
    }

    fn cell(&mut self, cell: &Cell) {
        if !self.style.is_of(cell) {
            self.set(&Style::of(cell));
        }
        self.put(cell.c);
        cell.zerowidth()
            .into_iter()
            .flatten()
            .for_each(|c| self.put(*c));
    }

    fn go_to(&mut self, row: usize, column: usize) {
        push(
            &mut self.out,
            format_args!("\x1b[{};{}H", row + 1, column + 1),
        );
    }

    fn tabs(&mut self, screen: &Screen) {
        if screen.has_default_tabs() {
            return;
        }
        self.out.extend_from_slice(b"\x1b[3g");
        for (column, stop) in screen.tabs().iter().enumerate() {
            if *stop {
                push(&mut self.out, format_args!("\x1b[{}G\x1bH", column + 1));
            }
        }
    }

    /// Brings the cursor to where `cursor` is and lets `save` save it. The region is the whole screen.
    fn saved_cursor(&mut self, cursor: &Cursor<Cell>, saved: Saved, save: &str) {
        if saved.origin {
            self.out.extend_from_slice(b"\x1b[?6h");
        }
        self.go_to(row_of(cursor.point.line), cursor.point.column.0);
        self.pen(cursor, saved.charset);
        self.out.extend_from_slice(save.as_bytes());
    }

    /// Puts the cursor at its place; `row` as CUP counts it. If it waits to wrap, by writing the last cell again.
    fn position(&mut self, grid: &Grid<Cell>, cursor: &Cursor<Cell>, row: usize) {
        let column = cursor.point.column.0;
        if !cursor.input_needs_wrap {
            self.go_to(row, column);
            return;
        }
        let cells = &grid[cursor.point.line];
        let spacer = cells[Column(column)]
            .flags
            .contains(Flags::WIDE_CHAR_SPACER);
        let start = column - usize::from(spacer && column > 0);
        self.go_to(row, start);
        self.cell(&cells[Column(start)]);
    }

    /// Style, link and charsets.
    fn pen(&mut self, cursor: &Cursor<Cell>, charset: CharsetIndex) {
        self.set(&Style::of(&cursor.template));
        for (index, designate) in [
            (CharsetIndex::G0, '('),
            (CharsetIndex::G1, ')'),
            (CharsetIndex::G2, '*'),
            (CharsetIndex::G3, '+'),
        ] {
            if cursor.charsets[index] == StandardCharset::SpecialCharacterAndLineDrawing {
                push(&mut self.out, format_args!("\x1b{designate}0"));
            }
        }
        if charset == CharsetIndex::G1 {
            self.out.push(0x0E);
        }
    }

    /// Takes back what [`Writer::pen`] set. The cursor stays, and goes on waiting to wrap.
    fn plain_pen(&mut self) {
        self.plain();
        self.out.extend_from_slice(b"\x1b(B\x1b)B\x1b*B\x1b+B\x0f");
    }

    /// Takes back what a saved cursor brought: plain style, ASCII, no origin mode.
    fn neutral(&mut self) {
        self.plain_pen();
        self.out.extend_from_slice(b"\x1b[?6l");
    }

    fn modes(&mut self, screen: &Screen, modes: &PrivateModes) {
        for (mode, set) in modes.changed() {
            // Autowrap goes last: the cursor may have to wait for a wrap.
            if mode != 7 {
                push(
                    &mut self.out,
                    format_args!("\x1b[?{mode}{}", if set { 'h' } else { 'l' }),
                );
            }
        }
        if screen.mode().contains(TermMode::APP_KEYPAD) {
            self.out.extend_from_slice(b"\x1b=");
        }
        if screen.mode().contains(TermMode::LINE_FEED_NEW_LINE) {
            self.out.extend_from_slice(b"\x1b[20h");
        }
        // Mode 12 was among them and has to do with the shape; this comes after it and settles both.
        if screen.cursor_style().is_some() || modes.get(12) == Some(true) {
            push(
                &mut self.out,
                format_args!("\x1b[{} q", cursor_style_number(screen.cursor_style())),
            );
        }
        let region = screen.region();
        if region != (0..screen.rows()) {
            push(
                &mut self.out,
                format_args!("\x1b[{};{}r", region.start + 1, region.end),
            );
        }
    }

    /// The cursor as it is, and the modes that must not be there before.
    fn cursor(&mut self, screen: &Screen) {
        let grid = screen.grid();
        let cursor = &grid.cursor;
        let row = row_of(cursor.point.line);
        let origin = screen.mode().contains(TermMode::ORIGIN);
        if origin {
            self.out.extend_from_slice(b"\x1b[?6h");
        }
        let top = if origin { screen.region().start } else { 0 };
        self.position(grid, cursor, row - top.min(row));
        self.pen(cursor, screen.charset());
        if !screen.mode().contains(TermMode::LINE_WRAP) {
            self.out.extend_from_slice(b"\x1b[?7l");
        }
        if screen.mode().contains(TermMode::INSERT) {
            self.out.extend_from_slice(b"\x1b[4h");
        }
    }
}

/// Where the blank cells begin that an erase to the end of the row in one colour would make, if there are two or more.
fn erased_tail(cells: &Row<Cell>) -> Option<usize> {
    let last = cells.last()?;
    let look = Style::of(last);
    let erased = Style {
        bg: look.bg,
        ..Style::default()
    };
    if look != erased || look.plain_background() {
        return None;
    }
    let is_erased = |cell: &Cell| {
        cell.c == ' '
            && erased.is_of(cell)
            && cell.zerowidth().is_none_or(<[char]>::is_empty)
            && !cell
                .flags
                .intersects(Flags::WIDE_CHAR_SPACER | Flags::LEADING_WIDE_CHAR_SPACER)
    };
    let start = cells
        .into_iter()
        .rposition(|cell| !is_erased(cell))
        .map_or(0, |used| used + 1);
    (start + 1 < cells.len()).then_some(start)
}
