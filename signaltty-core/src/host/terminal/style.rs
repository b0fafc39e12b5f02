//! How a cell looks, apart from its character, and the bytes that make a terminal write like that.

use std::io::Write;

use alacritty_terminal::term::cell::{Cell, Flags, Hyperlink};
use alacritty_terminal::vte::ansi::{Color, NamedColor};

/// The flags that a program sets by SGR; the others say where a cell stands, not how it looks.
const VISIBLE: Flags = Flags::BOLD
    .union(Flags::DIM)
    .union(Flags::ITALIC)
    .union(Flags::ALL_UNDERLINES)
    .union(Flags::INVERSE)
    .union(Flags::HIDDEN)
    .union(Flags::STRIKEOUT);

/// The look of a run of cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Style {
    /// Text colour.
    pub fg: Color,
    /// Background colour.
    pub bg: Color,
    /// Bold, italic, the kind of underline, …
    pub flags: Flags,
    /// Colour of the underline, if it is not the text's.
    pub underline: Option<Color>,
    /// Where it links to.
    pub link: Option<Hyperlink>,
}

impl Default for Style {
    fn default() -> Self {
        Self::PLAIN
    }
}

impl Style {
    /// That of a new terminal.
    pub const PLAIN: Self = Self {
        fg: Color::Named(NamedColor::Foreground),
        bg: Color::Named(NamedColor::Background),
        flags: Flags::empty(),
        underline: None,
        link: None,
    };

    /// The look of `cell`.
    pub fn of(cell: &Cell) -> Self {
        Self {
            fg: cell.fg,
            bg: cell.bg,
            flags: cell.flags.intersection(VISIBLE),
            underline: cell.underline_color(),
            link: cell.hyperlink(),
        }
    }

    /// Whether `cell` looks like this. Cheaper than making its style.
    pub fn is_of(&self, cell: &Cell) -> bool {
        self.fg == cell.fg
            && self.bg == cell.bg
            && self.flags == cell.flags.intersection(VISIBLE)
            && match &cell.extra {
                None => self.underline.is_none() && self.link.is_none(),
                Some(_) => {
                    self.underline == cell.underline_color() && self.link == cell.hyperlink()
                }
            }
    }

    /// Makes `cell` look like this. Keeps its character and what flags say of its place.
    pub fn apply(&self, cell: &mut Cell) {
        cell.fg = self.fg;
        cell.bg = self.bg;
        cell.flags = cell.flags.difference(VISIBLE).union(self.flags);
        cell.set_underline_color(self.underline);
        cell.set_hyperlink(self.link.clone());
    }

    /// Whether the background is the terminal's own.
    pub fn plain_background(&self) -> bool {
        self.bg == Color::Named(NamedColor::Background)
    }

    /// Writes what turns `self` into `next` on a terminal.
    pub fn change(&self, next: &Self, out: &mut Vec<u8>) {
        if self.link != next.link {
            write_link(next.link.as_ref(), out);
        }
        let same = self.fg == next.fg
            && self.bg == next.bg
            && self.flags == next.flags
            && self.underline == next.underline;
        if !same {
            write_sgr(next, out);
        }
    }

    /// The parameters of the SGR sequence for this look, the leading reset included.
    pub fn sgr(&self) -> Vec<u8> {
        let mut out = b"0".to_vec();
        for (flag, parameter) in [
            (Flags::BOLD, ";1"),
            (Flags::DIM, ";2"),
            (Flags::ITALIC, ";3"),
            (Flags::UNDERLINE, ";4"),
            (Flags::DOUBLE_UNDERLINE, ";4:2"),
            (Flags::UNDERCURL, ";4:3"),
            (Flags::DOTTED_UNDERLINE, ";4:4"),
            (Flags::DASHED_UNDERLINE, ";4:5"),
            (Flags::INVERSE, ";7"),
            (Flags::HIDDEN, ";8"),
            (Flags::STRIKEOUT, ";9"),
        ] {
            if self.flags.contains(flag) {
                out.extend_from_slice(parameter.as_bytes());
            }
        }
        write_color(self.fg, 30, &mut out);
        write_color(self.bg, 40, &mut out);
        // Colons: a terminal that does not know 58 must not read its parts as blink and underline.
        match self.underline {
            Some(Color::Spec(rgb)) => push(
                &mut out,
                format_args!(";58:2::{}:{}:{}", rgb.r, rgb.g, rgb.b),
            ),
            Some(Color::Indexed(index)) => push(&mut out, format_args!(";58:5:{index}")),
            Some(Color::Named(_)) | None => (),
        }
        out
    }
}

/// The part of a look that a cell holds itself, for quick comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    fg: Color,
    bg: Color,
    flags: Flags,
}

impl Look {
    /// That of a cell, underline colour and link aside.
    #[inline]
    pub fn of(cell: &Cell) -> Self {
        Self {
            fg: cell.fg,
            bg: cell.bg,
            flags: cell.flags.intersection(VISIBLE),
        }
    }

    /// That of a style which has no more to it.
    pub fn of_simple(style: &Style) -> Option<Self> {
        let simple = style.underline.is_none() && style.link.is_none();
        simple.then_some(Self {
            fg: style.fg,
            bg: style.bg,
            flags: style.flags,
        })
    }
}

/// Formats into a byte buffer, which cannot fail.
pub fn push(out: &mut Vec<u8>, arguments: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(arguments);
}

fn write_sgr(style: &Style, out: &mut Vec<u8>) {
    out.extend_from_slice(b"\x1b[");
    let parameters = style.sgr();
    if parameters != b"0" {
        out.extend_from_slice(&parameters);
    }
    out.push(b'm');
}

/// `base` is 30 for the text and 40 for the background.
fn write_color(color: Color, base: u8, out: &mut Vec<u8>) {
    match color {
        Color::Named(name) => match name as usize {
            index @ 0..=7 => push(out, format_args!(";{}", usize::from(base) + index)),
            index @ 8..=15 => push(out, format_args!(";{}", usize::from(base) + 60 + index - 8)),
            _ => (),
        },
        Color::Indexed(index) => push(out, format_args!(";{};5;{index}", base + 8)),
        Color::Spec(rgb) => push(
            out,
            format_args!(";{};2;{};{};{}", base + 8, rgb.r, rgb.g, rgb.b),
        ),
    }
}

fn write_link(link: Option<&Hyperlink>, out: &mut Vec<u8>) {
    match link {
        Some(link) => push(
            out,
            format_args!("\x1b]8;id={};{}\x1b\\", link.id(), link.uri()),
        ),
        None => out.extend_from_slice(b"\x1b]8;;\x1b\\"),
    }
}
