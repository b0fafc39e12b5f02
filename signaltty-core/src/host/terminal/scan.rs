//! The scanner: cuts a program's output into text and whole control sequences, however it arrives.
//!
//! It is the one place that parses untrusted bytes before anything else looks at them, and it settles what
//! terminals disagree about, so that the model and every viewer read the same stream:
//!
//! - text comes out as UTF-8 at character boundaries; what is not UTF-8 becomes U+FFFD, as in a viewer;
//! - C1 controls (U+0080 to U+009F) come out in their seven-bit form, which every terminal reads alike;
//! - a control character inside a sequence takes effect before it, as ECMA-48 terminals do;
//! - a sequence that is cut off (CAN, SUB, a new ESC, a byte above 0x7F) is dropped, not shown in part;
//! - a sequence over its bound is dropped to its end: nothing else can follow safely.

use std::str;

/// Longest CSI or ESC sequence, in bytes.
pub const CSI_MAX: usize = 1_024;
/// Longest OSC, in bytes. Room for a clipboard write of `CLIPBOARD_MAX` bytes in base64.
pub const OSC_MAX: usize = 1_400 * 1_024;
/// Longest device control string that is looked at, in bytes: those that we know are short queries.
pub const DCS_MAX: usize = 4 * 1_024;
/// Capacity that the sequence buffer keeps after a long sequence, in bytes.
const KEEP: usize = 4 * 1_024;

const BEL: u8 = 0x07;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1A;
const ESC: u8 = 0x1B;
const ENQ: u8 = 0x05;
const DEL: u8 = 0x7F;
/// First byte of U+0080 to U+00BF, of which the lower half are C1 controls.
const C1_LEAD: u8 = 0xC2;

/// One piece of the stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Printable characters and single controls, except ESC, ENQ and C1.
    Text(&'a str),
    /// A short escape sequence.
    Esc {
        /// Bytes between ESC and the final one.
        intermediates: &'a [u8],
        /// Its last byte.
        last: u8,
        /// All of it, ESC included.
        raw: &'a [u8],
    },
    /// A control sequence.
    Csi(Csi<'a>),
    /// An operating system command.
    Osc {
        /// Between `ESC ]` and its end, without control characters. Not always UTF-8.
        body: &'a [u8],
        /// Whether BEL ended it, so that an answer ends alike.
        bel: bool,
    },
    /// A device control string, without introducer and terminator.
    Dcs(&'a [u8]),
}

/// A control sequence: `CSI [prefix] params [intermediates] last`.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub struct Csi<'a> {
    /// `?`, `>`, `=` or `<`, or 0.
    pub prefix: u8,
    /// Digits, `;` and `:`.
    pub params: &'a [u8],
    /// Bytes 0x20 to 0x2F before the last.
    pub intermediates: &'a [u8],
    /// Its last byte.
    pub last: u8,
    /// All of it, introducer included.
    pub raw: &'a [u8],
}

impl Csi<'_> {
    /// The parameter at `index`, `None` if absent or empty. Sub-parameters are left out.
    pub fn param(&self, index: usize) -> Option<u16> {
        self.numbers().nth(index).flatten()
    }

    /// All parameters; an empty one is `None`.
    pub fn numbers(&self) -> impl Iterator<Item = Option<u16>> + '_ {
        self.params.split(|byte| *byte == b';').map(|param| {
            let digits = param.split(|byte| *byte == b':').next().unwrap_or_default();
            if digits.is_empty() {
                return None;
            }
            let number = digits.iter().fold(0_u16, |number, digit| {
                number
                    .saturating_mul(10)
                    .saturating_add(u16::from(digit.wrapping_sub(b'0')))
            });
            Some(number)
        })
    }
}

/// Takes the pieces.
pub trait Sink {
    /// The next one.
    fn piece(&mut self, piece: Piece<'_>);
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    Escape,
    Csi,
    Osc,
    Dcs,
    /// SOS, PM or APC: nothing in them is for us or for a viewer.
    Ignored,
    /// ESC inside a string: its end, if a backslash follows.
    StringEscape,
    /// The first byte of what may be a C1 control inside a string.
    StringC1,
}

/// The incremental scanner. Whatever lies in it was handed on to nobody yet.
#[derive(Debug, Default)]
pub struct Scanner {
    state: State,
    /// The string that [`State::StringEscape`] or [`State::StringC1`] interrupts.
    string: State,
    /// What there is of a sequence, introducer included, in seven-bit form.
    sequence: Vec<u8>,
    /// Whether the sequence outgrew its bound.
    overflow: bool,
    /// What there is of a character cut off by the end of a chunk.
    partial: [u8; 4],
    partial_len: usize,
}

impl Scanner {
    /// Reads `bytes`, the next of the stream.
    pub fn feed(&mut self, bytes: &[u8], sink: &mut impl Sink) {
        let mut rest = bytes;
        while !rest.is_empty() {
            rest = match self.state {
                State::Ground => self.ground(rest, sink),
                State::Escape => self.escape(rest, sink),
                State::Csi => self.csi(rest, sink),
                State::Osc | State::Dcs | State::Ignored => self.string(rest, sink),
                State::StringEscape => self.string_escape(rest, sink),
                State::StringC1 => self.string_c1(rest, sink),
            };
        }
    }

    /// Writes what was read and handed on to nobody yet, so that another scanner goes on from there.
    pub fn unfinished(&self, out: &mut Vec<u8>) {
        if self.state == State::Ground {
            return out.extend_from_slice(&self.partial[..self.partial_len]);
        }
        let kind = match self.state {
            State::StringEscape | State::StringC1 => self.string,
            state => state,
        };
        match kind {
            State::Ignored => out.extend_from_slice(b"\x1bX"),
            // What began it is gone. None of these means anything, whatever follows.
            State::Osc if self.overflow => out.extend_from_slice(b"\x1b]x"),
            State::Dcs if self.overflow => out.extend_from_slice(b"\x1bPx"),
            State::Csi | State::Escape if self.overflow => out.extend_from_slice(b"\x1b[ 0"),
            _ => out.extend_from_slice(&self.sequence),
        }
        match self.state {
            State::StringEscape => out.push(ESC),
            State::StringC1 => out.push(C1_LEAD),
            _ => (),
        }
    }

    fn ground<'a>(&mut self, bytes: &'a [u8], sink: &mut impl Sink) -> &'a [u8] {
        if self.partial_len > 0 {
            return self.complete(bytes, sink);
        }
        let end = memchr::memchr3(ESC, ENQ, C1_LEAD, bytes).unwrap_or(bytes.len());
        if end > 0 {
            let held = self.text(&bytes[..end], end == bytes.len(), sink);
            if held > 0 {
                self.hold(&bytes[end - held..end]);
            }
            return &bytes[end..];
        }
        match bytes[0] {
            ESC => self.begin(),
            C1_LEAD => match bytes.get(1) {
                None => self.hold(&bytes[..1]),
                Some(second) => return self.c1_or_text(*second, &bytes[1..], sink),
            },
            // ENQ asks for an answerback that nobody gives.
            _ => (),
        }
        &bytes[1..]
    }

    /// `C2` was read, `second` follows as the first of `rest`.
    fn c1_or_text<'a>(&mut self, second: u8, rest: &'a [u8], sink: &mut impl Sink) -> &'a [u8] {
        match second {
            0x80..=0x9F => {
                self.begin();
                self.introduced(second - 0x40, sink);
                &rest[1..]
            }
            0xA0..=0xBF => {
                let character = [C1_LEAD, second];
                self.text(&character, false, sink);
                &rest[1..]
            }
            _ => {
                sink.piece(Piece::Text("\u{FFFD}"));
                rest
            }
        }
    }

    /// Goes on with a character that the last chunk cut off.
    fn complete<'a>(&mut self, bytes: &'a [u8], sink: &mut impl Sink) -> &'a [u8] {
        if self.partial[0] == C1_LEAD {
            self.partial_len = 0;
            return self.c1_or_text(bytes[0], bytes, sink);
        }
        for (taken, byte) in bytes.iter().enumerate() {
            let (partial, length) = (self.partial, self.partial_len);
            if byte & 0xC0 != 0x80 {
                self.partial_len = 0;
                self.text(&partial[..length], false, sink);
                return &bytes[taken..];
            }
            self.partial[length] = *byte;
            self.partial_len += 1;
            let (partial, length) = (self.partial, self.partial_len);
            if !matches!(str::from_utf8(&partial[..length]), Err(error) if error.error_len().is_none())
            {
                self.partial_len = 0;
                self.text(&partial[..length], false, sink);
                return &bytes[taken + 1..];
            }
        }
        &[]
    }

    fn hold(&mut self, bytes: &[u8]) {
        self.partial[..bytes.len()].copy_from_slice(bytes);
        self.partial_len = bytes.len();
    }

    /// Hands on text. Returns how many bytes at its end may be the beginning of a character, if `more` may come.
    fn text(&mut self, mut bytes: &[u8], more: bool, sink: &mut impl Sink) -> usize {
        while !bytes.is_empty() {
            match str::from_utf8(bytes) {
                Ok(text) => {
                    sink.piece(Piece::Text(text));
                    return 0;
                }
                Err(error) => {
                    let (valid, rest) = bytes.split_at(error.valid_up_to());
                    if let (false, Ok(text)) = (valid.is_empty(), str::from_utf8(valid)) {
                        sink.piece(Piece::Text(text));
                    }
                    match error.error_len() {
                        None if more => return rest.len(),
                        None => {
                            sink.piece(Piece::Text("\u{FFFD}"));
                            return 0;
                        }
                        Some(length) => {
                            sink.piece(Piece::Text("\u{FFFD}"));
                            bytes = &rest[length..];
                        }
                    }
                }
            }
        }
        0
    }

    fn begin(&mut self) {
        self.sequence.clear();
        if self.sequence.capacity() > KEEP {
            self.sequence.shrink_to(KEEP);
        }
        self.sequence.push(ESC);
        self.overflow = false;
        self.state = State::Escape;
    }

    fn put(&mut self, byte: u8, bound: usize) {
        if self.sequence.len() < bound {
            self.sequence.push(byte);
        } else {
            self.overflow = true;
        }
    }

    /// A control character inside a sequence takes effect before it.
    fn control(byte: u8, sink: &mut impl Sink) {
        if byte != ENQ {
            if let Ok(text) = str::from_utf8(&[byte]) {
                sink.piece(Piece::Text(text));
            }
        }
    }

    fn escape<'a>(&mut self, bytes: &'a [u8], sink: &mut impl Sink) -> &'a [u8] {
        let byte = bytes[0];
        match byte {
            ESC => self.begin(),
            CAN | SUB => self.state = State::Ground,
            0x00..=0x1F => Self::control(byte, sink),
            0x20..=0x2F => self.put(byte, CSI_MAX),
            DEL => (),
            0x80..=0xFF => {
                self.state = State::Ground;
                return bytes;
            }
            _ if self.sequence.len() > 1 => self.finish_escape(byte, sink),
            _ => self.introduced(byte, sink),
        }
        &bytes[1..]
    }

    /// The byte after ESC, where it may introduce a longer sequence.
    fn introduced(&mut self, byte: u8, sink: &mut impl Sink) {
        self.state = match byte {
            b'[' => State::Csi,
            b']' => State::Osc,
            b'P' => State::Dcs,
            b'X' | b'^' | b'_' => State::Ignored,
            _ => return self.finish_escape(byte, sink),
        };
        self.sequence.push(byte);
    }

    fn finish_escape(&mut self, last: u8, sink: &mut impl Sink) {
        self.state = State::Ground;
        self.put(last, CSI_MAX);
        // A lone ST ends a string that was already cut off.
        if self.overflow || self.sequence == b"\x1b\\" {
            return;
        }
        let raw = self.sequence.as_slice();
        sink.piece(Piece::Esc {
            intermediates: &raw[1..raw.len() - 1],
            last,
            raw,
        });
    }

    fn csi<'a>(&mut self, bytes: &'a [u8], sink: &mut impl Sink) -> &'a [u8] {
        let byte = bytes[0];
        match byte {
            ESC => self.begin(),
            CAN | SUB => self.state = State::Ground,
            0x00..=0x1F => Self::control(byte, sink),
            DEL => (),
            0x20..=0x3F => self.put(byte, CSI_MAX),
            0x40..=0x7E => {
                self.put(byte, CSI_MAX);
                self.state = State::Ground;
                if let (false, Some(csi)) = (self.overflow, parse_csi(&self.sequence)) {
                    sink.piece(Piece::Csi(csi));
                }
            }
            0x80..=0xFF => {
                self.state = State::Ground;
                return bytes;
            }
        }
        &bytes[1..]
    }

    fn string<'a>(&mut self, bytes: &'a [u8], sink: &mut impl Sink) -> &'a [u8] {
        let end = bytes
            .iter()
            .position(|byte| *byte < 0x20 || *byte == C1_LEAD)
            .unwrap_or(bytes.len());
        if end > 0 {
            self.put_string(&bytes[..end]);
            return &bytes[end..];
        }
        match bytes[0] {
            ESC => {
                self.string = self.state;
                self.state = State::StringEscape;
            }
            BEL if self.state == State::Osc => self.finish_string(State::Osc, true, sink),
            CAN | SUB => self.state = State::Ground,
            C1_LEAD => {
                self.string = self.state;
                self.state = State::StringC1;
            }
            _ => (),
        }
        &bytes[1..]
    }

    fn put_string(&mut self, bytes: &[u8]) {
        let bound = if self.state == State::Osc {
            OSC_MAX
        } else {
            DCS_MAX
        };
        if self.state == State::Ignored || self.overflow {
            return;
        }
        if self.sequence.len() + bytes.len() <= bound {
            self.sequence.extend_from_slice(bytes);
        } else {
            self.overflow = true;
            self.sequence = Vec::new();
        }
    }

    fn string_c1<'a>(&mut self, bytes: &'a [u8], sink: &mut impl Sink) -> &'a [u8] {
        self.state = self.string;
        match bytes[0] {
            0x9C => self.finish_string(self.string, false, sink),
            second @ 0x80..=0x9F => {
                self.begin();
                self.introduced(second - 0x40, sink);
            }
            _ => {
                self.put_string(&[C1_LEAD]);
                return bytes;
            }
        }
        &bytes[1..]
    }

    fn string_escape<'a>(&mut self, bytes: &'a [u8], sink: &mut impl Sink) -> &'a [u8] {
        if bytes[0] == b'\\' {
            self.finish_string(self.string, false, sink);
            return &bytes[1..];
        }
        // Not its end: the string is cut off, and a new sequence has begun.
        self.begin();
        bytes
    }

    fn finish_string(&mut self, kind: State, bel: bool, sink: &mut impl Sink) {
        self.state = State::Ground;
        if self.overflow {
            return;
        }
        let body = self.sequence.get(2..).unwrap_or_default();
        match kind {
            State::Osc => sink.piece(Piece::Osc { body, bel }),
            State::Dcs => sink.piece(Piece::Dcs(body)),
            _ => (),
        }
    }
}

/// Cuts `ESC [ …` into its parts. `None` if parameters follow intermediates, which means nothing.
fn parse_csi(raw: &[u8]) -> Option<Csi<'_>> {
    let (last, body) = raw.get(2..)?.split_last()?;
    let (prefix, body) = match body.first() {
        Some(prefix @ b'<'..=b'?') => (*prefix, &body[1..]),
        _ => (0, body),
    };
    let params_end = body
        .iter()
        .position(|byte| !matches!(byte, b'0'..=b';'))
        .unwrap_or(body.len());
    let (params, intermediates) = body.split_at(params_end);
    if intermediates
        .iter()
        .any(|byte| !matches!(byte, 0x20..=0x2F))
    {
        return None;
    }
    Some(Csi {
        prefix,
        params,
        intermediates,
        last: *last,
        raw,
    })
}
