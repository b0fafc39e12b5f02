//! What a person did on a terminal's input, after reports and replies were taken out.

/// One input of a human, as the host's key parser reads it (DESIGN §4).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Key {
    /// A printable character.
    Char(char),
    /// Enter or keypad Enter.
    Enter,
    /// A lone Esc: nothing followed it for [`crate::limits::LONE_ESC`].
    Escape,
    /// Tab.
    Tab,
    /// Shift+Tab.
    BackTab,
    /// Backspace.
    Backspace,
    /// An arrow.
    Up,
    /// An arrow.
    Down,
    /// An arrow.
    Left,
    /// An arrow.
    Right,
    /// Ctrl and a letter, lower case.
    Ctrl(char),
    /// Alt and a character.
    Alt(char),
    /// A bracketed paste. Typing, but never an answer key. True if it held anything printable.
    Paste(bool),
    /// Any other key: function keys, Home, End, …
    Other,
}

impl Key {
    /// Whether the key put text into whatever reads the terminal.
    pub fn is_text(&self) -> bool {
        matches!(self, Self::Char(_) | Self::Paste(true))
    }
}
