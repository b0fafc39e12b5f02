//! The terminal of a pane: what its program writes, made into a screen, answers, signals and bytes for viewers.
//!
//! ```text
//!  program ──bytes──► scan ──pieces──► Terminal ──┬─► Screen (the model) ──► snapshot, text
//!                                                 ├─► replies   (query.rs; to the program, once)
//!                                                 ├─► signals, clipboard writes (osc.rs)
//!                                                 └─► sync ──► viewers
//! ```
//!
//! The model is fed exactly what viewers get, so that a snapshot and the tail after it show what a viewer shows that
//! was there from the beginning. Plain synchronous code without I/O and without a clock: a pane's terminal runs on
//! one thread, and time is handed in as milliseconds of any steady clock. It carries out specs/001 §3 and §4.

pub mod backlog;
pub mod colors;
pub mod history;
pub mod keys;
pub mod modes;
pub mod osc;
pub mod query;
pub mod scan;
pub mod screen;
pub mod snapshot;
pub mod style;
pub mod sync;
pub mod text;

pub use backlog::Backlog;
pub use keys::KeyParser;
pub use osc::{ClipboardWrite, Selection};

use alacritty_terminal::vte::ansi::{Processor, Timeout};

use crate::model::Size;
use crate::protocol::params::{Colors, ReadWhat};
use crate::session::StreamSignal;

use self::colors::ViewerColors;
use self::modes::PrivateModes;
use self::osc::{ColorPart, Meaning, OscReader};
use self::query::Known;
use self::scan::{Csi, Piece, Scanner, Sink};
use self::screen::Screen;
use self::sync::Sync;

/// Most bytes of replies to one [`Terminal::feed`]. What a program asks beyond it in one write stays unanswered.
pub const REPLIES_MAX: usize = 64 * 1024;
/// Most signals of one [`Terminal::feed`], beside one bell and one title. What comes beyond it is left out.
pub const SIGNALS_MAX: usize = 64;
/// What control sequences end in whose only parameter is a count, at least one.
const COUNTED: &[u8] = b"@ABCDEFIZLMPSTX";
/// Most titles that a program may put aside (XTWINOPS 22).
const TITLES_MAX: usize = 16;

/// What came of a [`Terminal::feed`]. One is kept and used again; [`Fed::clear`] keeps its buffers.
#[derive(Debug, Default)]
pub struct Fed {
    /// To write to the program.
    pub replies: Vec<u8>,
    /// What attached viewers may see now.
    pub viewers: Vec<u8>,
    /// What the stream said by itself, in order; of several titles only the last.
    pub signals: Vec<StreamSignal>,
    /// Clipboard writes, at most one a selection.
    pub clipboard: Vec<ClipboardWrite>,
}

impl Fed {
    /// Empties it.
    pub fn clear(&mut self) {
        self.replies.clear();
        self.viewers.clear();
        self.signals.clear();
        self.clipboard.clear();
    }

    fn signal(&mut self, signal: StreamSignal) {
        match &signal {
            StreamSignal::Bell if self.signals.contains(&StreamSignal::Bell) => return,
            StreamSignal::Bell => (),
            StreamSignal::Title(_) => self
                .signals
                .retain(|signal| !matches!(signal, StreamSignal::Title(_))),
            _ if self.signals.len() >= SIGNALS_MAX => return,
            _ => (),
        }
        self.signals.push(signal);
    }
}

/// What the host has to know of a terminal's modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Modes {
    /// The program wants pastes bracketed.
    pub bracketed_paste: bool,
    /// It wants to know when it has the focus.
    pub focus_reports: bool,
    /// It shows the alternate screen.
    pub alternate_screen: bool,
}

/// A pane's terminal.
pub struct Terminal {
    size: Size,
    scanner: Scanner,
    state: State,
}

struct State {
    screen: Screen,
    /// Reads whole sequences for the model. It holds nothing between them.
    parser: Processor<NoTimeout>,
    modes: PrivateModes,
    sync: Sync,
    osc: OscReader,
    colors: ViewerColors,
    title: Option<String>,
    titles: Vec<Option<String>>,
    /// The character that REP repeats: the last one, if nothing came since.
    last: Option<char>,
}

/// Alacritty's parser must not hold back synchronized updates: [`Sync`] does.
#[derive(Debug, Default)]
struct NoTimeout;

impl Timeout for NoTimeout {
    fn set_timeout(&mut self, _: std::time::Duration) {}

    fn clear_timeout(&mut self) {}

    fn pending_timeout(&self) -> bool {
        false
    }
}

impl Terminal {
    /// A blank one.
    pub fn new(size: Size, colors: &Colors) -> Self {
        let size = size.clamped();
        Self {
            size,
            scanner: Scanner::default(),
            state: State {
                screen: Screen::new(size),
                parser: Processor::new(),
                modes: PrivateModes::default(),
                sync: Sync::default(),
                osc: OscReader::default(),
                colors: ViewerColors::from(colors),
                title: None,
                titles: Vec::new(),
                last: None,
            },
        }
    }

    /// Reads `bytes`, the next that the program wrote. What comes of them is added to `fed`.
    pub fn feed(&mut self, bytes: &[u8], now_ms: u64, fed: &mut Fed) {
        self.expire(now_ms, fed);
        self.scanner.feed(
            bytes,
            &mut Reader {
                state: &mut self.state,
                fed,
                now_ms,
            },
        );
        if self.state.screen.take_bell() {
            fed.signal(StreamSignal::Bell);
        }
    }

    /// When [`Terminal::expire`] has something to do, in milliseconds of the clock of [`Terminal::feed`].
    pub fn deadline(&self) -> Option<u64> {
        self.state.sync.deadline()
    }

    /// Time passed: a synchronized update that takes too long goes to viewers as far as it is.
    pub fn expire(&mut self, now_ms: u64, fed: &mut Fed) {
        self.state.sync.expire(now_ms, &mut fed.viewers);
    }

    /// Gives it another size. Lines are wrapped anew; the program learns of it from the PTY.
    pub fn resize(&mut self, size: Size) {
        self.size = size.clamped();
        self.state.screen.resize(self.size);
    }

    /// Queries are answered with these from now on: the latest viewer's.
    pub fn set_colors(&mut self, colors: &Colors) {
        self.state.colors = ViewerColors::from(colors);
    }

    /// Its size.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Its title, if the program gave it one. Untrusted text.
    pub fn title(&self) -> Option<&str> {
        self.state.title.as_deref()
    }

    /// Its modes.
    pub fn modes(&self) -> Modes {
        Modes {
            bracketed_paste: self.state.modes.get(modes::BRACKETED_PASTE) == Some(true),
            focus_reports: self.state.modes.get(modes::FOCUS) == Some(true),
            alternate_screen: self.state.screen.is_alternate(),
        }
    }

    /// Its model, to look at.
    pub fn screen(&self) -> &Screen {
        &self.state.screen
    }

    /// The private modes that viewers have.
    pub fn private_modes(&self) -> &PrivateModes {
        &self.state.modes
    }

    /// The bytes that make a fresh terminal of this size show and be what this one shows and is, for a viewer.
    ///
    /// They hold what is withheld of a synchronized update too, so that goes to `fed` first: those who are attached
    /// are to be given it, the new viewer is not.
    pub fn snapshot(&mut self, fed: &mut Fed) -> Vec<u8> {
        self.state.sync.release(&mut fed.viewers);
        self.rebuild(usize::MAX)
    }

    /// The same for the next host, which feeds them to a new terminal and then all that the program writes from now
    /// on: what there is of an unfinished sequence comes last. Its oldest lines are left out where it would have
    /// more than `max` bytes; the screen itself never is.
    pub fn checkpoint(&self, max: usize) -> Vec<u8> {
        let mut history = usize::MAX;
        loop {
            let mut bytes = self.rebuild(history);
            self.scanner.unfinished(&mut bytes);
            if bytes.len() <= max || history == 0 {
                return bytes;
            }
            // In proportion, and a little less: lines are not all of one length.
            let lines = history.min(self.state.screen.history().lines().len());
            history = lines.saturating_mul(max) / bytes.len() * 9 / 10;
        }
    }

    fn rebuild(&self, history: usize) -> Vec<u8> {
        let State {
            screen,
            modes,
            title,
            ..
        } = &self.state;
        snapshot::write(screen, modes, title.as_deref(), history)
    }

    /// The text on screen, or that above it too: rows without trailing blanks, joined by newlines, blank rows at the
    /// end left away; at most the last `lines`. Untrusted text.
    pub fn text(&self, what: ReadWhat, lines: Option<usize>) -> String {
        text::read(&self.state.screen, what, lines)
    }
}

/// Takes the pieces of one feed.
struct Reader<'a> {
    state: &'a mut State,
    fed: &'a mut Fed,
    now_ms: u64,
}

impl Sink for Reader<'_> {
    fn piece(&mut self, piece: Piece<'_>) {
        let State {
            screen, sync, last, ..
        } = &mut *self.state;
        match piece {
            Piece::Text(text) => {
                screen.print(text);
                *last = text.chars().next_back().filter(|c| !c.is_control());
                sync.pass(text.as_bytes(), &mut self.fed.viewers);
                return;
            }
            Piece::Csi(csi) => self.csi(&csi),
            Piece::Esc {
                intermediates,
                last,
                raw,
            } => self.escape(intermediates, last, raw),
            Piece::Osc { body, bel } => self.osc(body, bel),
            Piece::Dcs(body) => self.reply(|state, out| query::dcs(body, &state.screen, out)),
        }
        self.state.last = None;
    }
}

impl Reader<'_> {
    /// Gives a sequence to the model and to viewers.
    fn pass(&mut self, raw: &[u8]) {
        self.state.parser.advance(&mut self.state.screen, raw);
        self.state.sync.pass(raw, &mut self.fed.viewers);
    }

    /// Adds an answer, while there is room for answers.
    fn reply(&mut self, answer: impl FnOnce(&State, &mut Vec<u8>)) {
        if self.fed.replies.len() < REPLIES_MAX {
            answer(self.state, &mut self.fed.replies);
        }
    }

    fn escape(&mut self, intermediates: &[u8], last: u8, raw: &[u8]) {
        match (intermediates, last) {
            ([], b'Z') => self.reply(|_, out| query::primary_attributes(out)),
            ([], b'c') => {
                self.state.modes = PrivateModes::default();
                self.state.titles.clear();
                self.pass(raw);
            }
            // Charsets that the model does not have read as ASCII.
            ([set @ (b'(' | b')' | b'*' | b'+'), rest @ ..], last) => {
                let known = rest.is_empty() && matches!(last, b'0' | b'B');
                self.pass(&[0x1B, *set, if known { last } else { b'B' }]);
            }
            // Other encodings, and viewers that talk in eight bits.
            ([b'%' | b'-' | b'.' | b'/', ..] | [b' '], _) => (),
            _ => self.pass(raw),
        }
    }

    fn csi(&mut self, csi: &Csi<'_>) {
        if (csi.prefix, csi.intermediates, csi.last) == (0, &[], b't') {
            self.titles(csi);
        }
        let known = Known {
            screen: &self.state.screen,
            modes: &self.state.modes,
            synchronized: self.state.sync.is_inside(),
        };
        let mut answer = Vec::new();
        if query::csi(csi, &known, &mut answer) {
            self.reply(|_, out| out.append(&mut answer));
            return;
        }
        match (csi.prefix, csi.intermediates, csi.last) {
            (b'?', [], b'h' | b'l') => {
                csi.numbers()
                    .flatten()
                    .for_each(|mode| self.private_mode(mode, csi.last == b'h'));
            }
            (b'?', [], b's') => csi
                .numbers()
                .flatten()
                .for_each(|mode| self.state.modes.save(mode)),
            (b'?', [], b'r') => {
                for mode in csi.numbers().flatten() {
                    if let Some(value) = self.state.modes.saved(mode) {
                        self.private_mode(mode, value);
                    }
                }
            }
            // Insert and new-line mode; the others lock the keyboard or echo.
            (0, [], b'h' | b'l') => {
                for mode in csi
                    .numbers()
                    .flatten()
                    .filter(|mode| matches!(mode, 4 | 20))
                {
                    self.pass(format!("\x1b[{mode}{}", char::from(csi.last)).as_bytes());
                }
            }
            (0, [b'!'], b'p') => {
                self.state.modes = PrivateModes::default();
                self.state.screen.soft_reset();
                self.state.sync.pass(csi.raw, &mut self.fed.viewers);
            }
            (0, [], b'b') => self.repeat(csi),
            (0, [], b'r') => self.scroll_region(csi),
            // Relative positions by a name that VTE does not know.
            (0, [], b'a' | b'e') => {
                let known = if csi.last == b'a' { 'C' } else { 'B' };
                self.pass(format!("\x1b[{}{known}", csi.param(0).unwrap_or(1).max(1)).as_bytes());
            }
            // One, where VTE takes a written zero for none.
            (0, [], last) if csi.params == b"0" && COUNTED.contains(&last) => {
                self.pass(&[0x1B, b'[', b'1', last]);
            }
            // No further than the row goes: VTE 0.70 crashes where it erases far beyond it.
            (0, [], b'X') => {
                let column = self.state.screen.grid().cursor.point.column.0;
                let room = self.state.screen.columns() - column;
                let count = usize::from(csi.param(0).unwrap_or(1)).min(room);
                self.pass(format!("\x1b[{count}X").as_bytes());
            }
            // All tab stops, by names that alacritty does not know.
            (0, [], b'g') if matches!(csi.param(0), Some(2 | 5)) => self.pass(b"\x1b[3g"),
            // Selective erase: nothing is protected, so it erases all.
            (b'?', [], b'J' | b'K') => {
                self.pass(
                    format!("\x1b[{}{}", csi.param(0).unwrap_or(0), char::from(csi.last))
                        .as_bytes(),
                );
            }
            _ => self.pass(csi.raw),
        }
    }

    fn private_mode(&mut self, mode: u16, set: bool) {
        let end = if set { 'h' } else { 'l' };
        match mode {
            2026 if set => self.state.sync.begin(self.now_ms),
            2026 => self.state.sync.end(&mut self.fed.viewers),
            // All ways to the alternate screen are one. Entering it twice, or leaving it where it is not shown,
            // moves the cursor in one terminal and not in another.
            47 | 1047 | 1049 => {
                if self.state.screen.is_alternate() != set {
                    self.pass(format!("\x1b[?1049{end}").as_bytes());
                }
            }
            1048 => self.pass(if set { b"\x1b7" } else { b"\x1b8" }),
            66 => self.pass(if set { b"\x1b=" } else { b"\x1b>" }),
            _ if PrivateModes::is_withheld(mode) => (),
            _ => {
                self.state.modes.set(mode, set);
                self.pass(format!("\x1b[?{mode}{end}").as_bytes());
            }
        }
    }

    /// REP: the character goes out as often as it says, within the row, so that nothing depends on who remembers it.
    fn repeat(&mut self, csi: &Csi<'_>) {
        let Some(character) = self.state.last else {
            return;
        };
        let cursor = &self.state.screen.grid().cursor;
        let room = if cursor.input_needs_wrap {
            0
        } else {
            self.state.screen.columns() - cursor.point.column.0
        };
        let count = usize::from(csi.param(0).unwrap_or(1).max(1)).min(room);
        let text: String = std::iter::repeat_n(character, count).collect();
        self.state.screen.print(&text);
        self.state.sync.pass(text.as_bytes(), &mut self.fed.viewers);
    }

    /// DECSTBM: terminals disagree on what a region beyond the screen is, so it goes out as it is taken.
    fn scroll_region(&mut self, csi: &Csi<'_>) {
        let rows = u16::try_from(self.state.screen.rows()).unwrap_or(u16::MAX);
        let top = csi.param(0).unwrap_or(1).max(1);
        let bottom = csi
            .param(1)
            .filter(|bottom| *bottom > 0)
            .unwrap_or(rows)
            .min(rows);
        if top < bottom {
            self.pass(format!("\x1b[{top};{bottom}r").as_bytes());
        }
    }

    /// XTWINOPS 22 and 23: titles put aside and brought back. Kept here, since a snapshot cannot carry a stack.
    fn titles(&mut self, csi: &Csi<'_>) {
        if csi.param(1) == Some(1) {
            // The icon's title, which nobody shows.
            return;
        }
        match csi.param(0) {
            Some(22) if self.state.titles.len() < TITLES_MAX => {
                self.state.titles.push(self.state.title.clone())
            }
            Some(23) => {
                if let Some(title) = self.state.titles.pop() {
                    self.set_title(2, title.unwrap_or_default());
                }
            }
            _ => (),
        }
    }

    fn set_title(&mut self, number: u8, title: String) {
        self.state.sync.pass(
            format!("\x1b]{number};{title}\x1b\\").as_bytes(),
            &mut self.fed.viewers,
        );
        if number != 1 {
            self.state.title = Some(title.clone()).filter(|title| !title.is_empty());
            self.fed.signal(StreamSignal::Title(title));
        }
    }

    fn osc(&mut self, body: &[u8], bel: bool) {
        match self.state.osc.read(body) {
            Meaning::Drop => (),
            Meaning::Pass => self.pass_osc(body),
            Meaning::Title(number, title) => self.set_title(number, title),
            Meaning::Signal(signal, pass) => {
                self.fed.signal(signal);
                if pass {
                    self.pass_osc(body);
                }
            }
            Meaning::Clipboard(write) => {
                self.fed
                    .clipboard
                    .retain(|earlier| earlier.selection != write.selection);
                self.fed.clipboard.push(write);
            }
            Meaning::Colors(parts) => {
                for part in parts {
                    match part {
                        ColorPart::Set(body) => self.pass_osc(body.as_bytes()),
                        ColorPart::Query(prefix, index) => self.reply(|state, out| {
                            let color = state
                                .screen
                                .color(index)
                                .or_else(|| state.colors.get(index));
                            if let Some(color) = color {
                                query::color(&prefix, color, bel, out);
                            }
                        }),
                    }
                }
            }
        }
    }

    /// As UTF-8, and ended by ST, which every terminal takes.
    fn pass_osc(&mut self, body: &[u8]) {
        let body = String::from_utf8_lossy(body);
        let mut raw = Vec::with_capacity(body.len() + 4);
        raw.extend_from_slice(b"\x1b]");
        raw.extend_from_slice(body.as_bytes());
        raw.extend_from_slice(b"\x1b\\");
        self.pass(&raw);
    }
}
