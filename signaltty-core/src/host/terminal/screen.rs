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

mod handler;
mod mend;
mod resize;
mod scroll;
mod write;

use std::ops::Range;

use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::{Cursor, Dimensions, Grid};
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::term::{Config, Term, TermMode};
use alacritty_terminal::vte::ansi::{
    CharsetIndex, CursorStyle, Handler, NamedMode, NamedPrivateMode, Rgb,
};

use super::history::History;
use crate::model::Size;

/// Lines of history that alacritty keeps itself.
pub const MODEL_HISTORY: usize = 0;
/// Most zero-width characters on one cell.
pub const COMBINING_MAX: usize = 16;
/// Fewest columns that the model has. A wide character needs two, and two beside it to be written again alone; a
/// viewer that is narrower shows what it can.
const COLUMNS_MIN: u16 = 4;
/// Most cells of one screen: 24 MiB. Of a terminal that is larger than any display, the model has the upper rows.
const CELLS_MAX: usize = 1024 * 1024;
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
        let columns = usize::from(size.cols.max(COLUMNS_MIN));
        Self {
            rows: usize::from(size.rows).min(CELLS_MAX / columns),
            columns,
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
        self.term.unset_keypad_application_mode();
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
