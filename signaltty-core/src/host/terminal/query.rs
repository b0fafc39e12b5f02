//! What a program asks the terminal, and the answers. The host answers once; viewers never see a question.
//!
//! Only what both the model and VTE 0.70 do is claimed: no kitty keyboard protocol, no sixel, no rectangles. A
//! question that would be answered by a claim gets no answer, as from a terminal that does not know it. Titles are
//! never reported: what a program wrote there would come back as typed text.

use alacritty_terminal::term::TermMode;
use alacritty_terminal::vte::ansi::{CursorShape, CursorStyle, Rgb};

use super::modes::PrivateModes;
use super::scan::Csi;
use super::screen::Screen;
use super::style::{Style, push};

/// Size of a character cell that is reported, in pixels. A viewer's own is not known, and no image protocol that
/// would need it is claimed; programs divide by it, so it has to be something.
const CELL_PIXELS: (usize, usize) = (10, 20);
/// Our unit id (DA3): "SGTY".
const UNIT: &str = "53475459";
/// Terminal name that XTGETTCAP gives: the host starts programs with `TERM` set to it.
const TERM: &str = "xterm-256color";

/// What answers depend on.
pub struct Known<'a> {
    /// The model.
    pub screen: &'a Screen,
    /// The private modes that viewers have.
    pub modes: &'a PrivateModes,
    /// Whether the program is inside a synchronized update.
    pub synchronized: bool,
}

/// DA1: a VT220 with colours.
pub fn primary_attributes(out: &mut Vec<u8>) {
    out.extend_from_slice(b"\x1b[?62;22c");
}

/// Whether `csi` asks something, or would make a viewer talk. If so it is answered, if there is an answer, and
/// viewers do not get it.
pub fn csi(csi: &Csi<'_>, known: &Known<'_>, out: &mut Vec<u8>) -> bool {
    let first = csi.param(0).unwrap_or(0);
    match (csi.prefix, csi.intermediates, csi.last) {
        (0, [], b'c') if first == 0 => primary_attributes(out),
        (b'>', [], b'c') if first == 0 => {
            push(out, format_args!("\x1b[>0;{};0c", version_number()))
        }
        (b'=', [], b'c') if first == 0 => push(out, format_args!("\x1bP!|{UNIT}\x1b\\")),
        (0, [], b'n') => status(first, known, out),
        (b'?', [], b'n') => private_status(first, known, out),
        (0, [b'$'], b'p') => push(
            out,
            format_args!("\x1b[{first};{}$y", ecma_mode(first, known)),
        ),
        (b'?', [b'$'], b'p') => push(
            out,
            format_args!("\x1b[?{first};{}$y", private_mode(first, known)),
        ),
        (b'>', [], b'q') if first == 0 => {
            push(
                out,
                format_args!("\x1bP>|SignalTTY({})\x1b\\", env!("CARGO_PKG_VERSION")),
            );
        }
        (0, [], b't') => window(first, known, out),
        // Attributes with another parameter, kitty's keyboard protocol, keyboard modifiers, terminal parameters,
        // graphics, checksums, presentation and locator reports, printing.
        (_, [], b'c')
        | (b'?' | b'>' | b'<' | b'=', [], b'u')
        | (b'>' | b'?', [], b'm' | b'n' | b'q')
        | (0, [], b'x' | b'i')
        | (b'?', [], b'i' | b'S')
        | (_, [b'*'], b'y')
        | (_, [b'#'], b'y' | b'R' | b'|')
        | (_, [b'$'], b'w' | b'u')
        | (_, [b'&'], b'u')
        | (_, [b'"'], b'v')
        | (_, [b'\''], b'w' | b'z' | b'{' | b'|')
        | (b'>', [], b't' | b'T') => (),
        _ => return false,
    }
    true
}

/// DSR.
fn status(what: u16, known: &Known<'_>, out: &mut Vec<u8>) {
    match what {
        5 => out.extend_from_slice(b"\x1b[0n"),
        6 => {
            let (row, column) = known.screen.cursor_report();
            push(out, format_args!("\x1b[{};{}R", row + 1, column + 1));
        }
        _ => (),
    }
}

/// DECDSR.
fn private_status(what: u16, known: &Known<'_>, out: &mut Vec<u8>) {
    match what {
        6 => {
            let (row, column) = known.screen.cursor_report();
            push(out, format_args!("\x1b[?{};{};1R", row + 1, column + 1));
        }
        // No printer, no locator.
        15 => out.extend_from_slice(b"\x1b[?13n"),
        55 => out.extend_from_slice(b"\x1b[?53n"),
        _ => (),
    }
}

/// DECRPM: 0 not known, 1 set, 2 reset.
fn ecma_mode(mode: u16, known: &Known<'_>) -> u8 {
    let set = match mode {
        4 => known.screen.mode().contains(TermMode::INSERT),
        20 => known.screen.mode().contains(TermMode::LINE_FEED_NEW_LINE),
        _ => return 0,
    };
    if set { 1 } else { 2 }
}

fn private_mode(mode: u16, known: &Known<'_>) -> u8 {
    let set = match mode {
        6 => known.screen.mode().contains(TermMode::ORIGIN),
        47 | 1047 | 1049 => known.screen.is_alternate(),
        66 => known.screen.mode().contains(TermMode::APP_KEYPAD),
        2026 => known.synchronized,
        _ => match known.modes.get(mode) {
            Some(set) => set,
            None => return 0,
        },
    };
    if set { 1 } else { 2 }
}

/// XTWINOPS: reports of sizes; a program moves, sizes or names no window here.
fn window(what: u16, known: &Known<'_>, out: &mut Vec<u8>) {
    let (rows, columns) = (known.screen.rows(), known.screen.columns());
    let (width, height) = CELL_PIXELS;
    match what {
        11 => out.extend_from_slice(b"\x1b[1t"),
        14 => push(
            out,
            format_args!("\x1b[4;{};{}t", rows * height, columns * width),
        ),
        16 => push(out, format_args!("\x1b[6;{height};{width}t")),
        18 => push(out, format_args!("\x1b[8;{rows};{columns}t")),
        19 => push(out, format_args!("\x1b[9;{rows};{columns}t")),
        _ => (),
    }
}

/// A device control string: DECRQSS and XTGETTCAP are answered.
pub fn dcs(body: &[u8], screen: &Screen, out: &mut Vec<u8>) {
    if let Some(setting) = body.strip_prefix(b"$q") {
        match request_setting(setting, screen) {
            Some(value) => {
                out.extend_from_slice(b"\x1bP1$r");
                out.extend_from_slice(&value);
            }
            None => out.extend_from_slice(b"\x1bP0$r"),
        }
        out.extend_from_slice(b"\x1b\\");
    } else if let Some(names) = body.strip_prefix(b"+q") {
        names
            .split(|byte| *byte == b';')
            .for_each(|name| capability(name, out));
    }
}

fn request_setting(setting: &[u8], screen: &Screen) -> Option<Vec<u8>> {
    let mut value = Vec::new();
    match setting {
        b"m" => value = Style::of(&screen.grid().cursor.template).sgr(),
        b"r" => push(
            &mut value,
            format_args!("{};{}", screen.region().start + 1, screen.region().end),
        ),
        b" q" => push(
            &mut value,
            format_args!("{}", cursor_style_number(screen.cursor_style())),
        ),
        _ => return None,
    }
    value.extend_from_slice(setting);
    Some(value)
}

/// The parameter of DECSCUSR for this style.
pub fn cursor_style_number(style: Option<CursorStyle>) -> u8 {
    let Some(style) = style else { return 0 };
    let steady = match style.shape {
        CursorShape::Underline => 4,
        CursorShape::Beam => 6,
        _ => 2,
    };
    steady - u8::from(style.blinking)
}

/// One name of XTGETTCAP, in hexadecimal.
fn capability(name: &[u8], out: &mut Vec<u8>) {
    let value = match decode_hex(name).as_deref() {
        Some(b"TN" | b"name") => TERM,
        Some(b"Co" | b"colors") => "256",
        Some(b"RGB") => "8",
        _ => {
            // Nothing that did not come as hexadecimal digits goes back to the program.
            out.extend_from_slice(b"\x1bP0+r");
            out.extend(name.iter().filter(|byte| byte.is_ascii_hexdigit()));
            out.extend_from_slice(b"\x1b\\");
            return;
        }
    };
    out.extend_from_slice(b"\x1bP1+r");
    out.extend_from_slice(name);
    out.push(b'=');
    value
        .bytes()
        .for_each(|byte| push(out, format_args!("{byte:02X}")));
    out.extend_from_slice(b"\x1b\\");
}

fn decode_hex(digits: &[u8]) -> Option<Vec<u8>> {
    let digits = std::str::from_utf8(digits)
        .ok()
        .filter(|digits| digits.is_ascii() && digits.len() % 2 == 0)?;
    (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).ok())
        .collect()
}

/// The answer to a colour query that began with `prefix`, ended as the query was.
pub fn color(prefix: &str, color: Rgb, bel: bool, out: &mut Vec<u8>) {
    let Rgb { r, g, b } = color;
    let end = if bel { "\x07" } else { "\x1b\\" };
    push(
        out,
        format_args!("\x1b]{prefix};rgb:{r:02x}{r:02x}/{g:02x}{g:02x}/{b:02x}{b:02x}{end}"),
    );
}

/// DA2's version: 0.1.0 is 100.
fn version_number() -> u32 {
    env!("CARGO_PKG_VERSION")
        .split('.')
        .take(3)
        .fold(0, |number, part| {
            number * 100 + part.parse::<u32>().unwrap_or(0)
        })
}
