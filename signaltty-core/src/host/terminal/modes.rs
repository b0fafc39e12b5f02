//! The private modes that viewers are told of, so that a new viewer and an answer to DECRQM agree with them.
//!
//! Alacritty keeps some of these and not others, and takes the mouse modes for exclusive where VTE does not; what
//! a viewer was sent is what counts.

/// A mode and its value in a new terminal.
type Known = (u16, bool);

/// The modes that we and VTE carry out, in the order in which a snapshot sets them.
const KNOWN: [Known; 17] = [
    (1, false),    // cursor keys send SS3
    (5, false),    // reverse video
    (6, false),    // origin: set by the snapshot where the cursor is placed
    (7, true),     // autowrap
    (9, false),    // mouse, X10
    (12, false),   // blinking cursor
    (25, true),    // visible cursor
    (67, false),   // backspace key sends BS
    (1000, false), // mouse buttons
    (1002, false), // mouse drags
    (1003, false), // mouse motion
    (1004, false), // focus reports
    (1006, false), // mouse reports as SGR
    (1007, true),  // wheel as arrows on the alternate screen
    (1015, false), // mouse reports as urxvt
    (1036, true),  // Alt sends ESC
    (2004, false), // bracketed paste
];
/// Modes that no viewer gets: each would make it talk, lock up, resize or withhold, and none is in the model.
///
/// 2 VT52, 3 and 40 132 columns, 45 reverse wrap, 69 margins, 80 and 8452 sixel, 1001 highlight mouse, 1005 mouse
/// as UTF-8 (its reports look like text to the key parser), 1016 mouse in pixels, 1042 and 1043 urgency,
/// 1070 sixel colours, 2027 grapheme widths, 2031 colour scheme reports, 2048 size reports, 5522 clipboard events,
/// 9001 console key events.
const WITHHELD: [u16; 18] = [
    2, 3, 40, 45, 69, 80, 1001, 1005, 1016, 1042, 1043, 1070, 2027, 2031, 2048, 5522, 8452, 9001,
];
/// Origin mode.
pub const ORIGIN: u16 = 6;
/// Focus reports.
pub const FOCUS: u16 = 1004;
/// Bracketed paste.
pub const BRACKETED_PASTE: u16 = 2004;

/// What is set now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrivateModes {
    now: [bool; KNOWN.len()],
    /// By XTSAVE.
    saved: [Option<bool>; KNOWN.len()],
}

impl Default for PrivateModes {
    fn default() -> Self {
        Self {
            now: KNOWN.map(|(_, value)| value),
            saved: [None; KNOWN.len()],
        }
    }
}

impl PrivateModes {
    /// Whether viewers never get this mode.
    pub fn is_withheld(mode: u16) -> bool {
        WITHHELD.contains(&mode)
    }

    /// Notes that viewers got it.
    pub fn set(&mut self, mode: u16, value: bool) {
        if let Some(index) = index(mode) {
            self.now[index] = value;
        }
    }

    /// Whether it is set, `None` if it is not one of ours.
    pub fn get(&self, mode: u16) -> Option<bool> {
        index(mode).map(|index| self.now[index])
    }

    /// XTSAVE.
    pub fn save(&mut self, mode: u16) {
        if let Some(index) = index(mode) {
            self.saved[index] = Some(self.now[index]);
        }
    }

    /// What XTRESTORE brings back.
    pub fn saved(&self, mode: u16) -> Option<bool> {
        index(mode).and_then(|index| self.saved[index])
    }

    /// Those that differ from a new terminal's, origin mode aside.
    pub fn changed(&self) -> impl Iterator<Item = (u16, bool)> + '_ {
        KNOWN
            .iter()
            .zip(self.now)
            .filter(|((mode, default), now)| now != default && *mode != ORIGIN)
            .map(|((mode, _), now)| (*mode, now))
    }
}

fn index(mode: u16) -> Option<usize> {
    KNOWN.iter().position(|(known, _)| *known == mode)
}
