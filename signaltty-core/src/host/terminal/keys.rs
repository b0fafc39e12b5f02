//! What a viewer sends, read as keys: the one parser that all viewer input passes (specs/001 §4).
//!
//! It tells a person's keys from what a terminal sends by itself. Focus and mouse reports and replies are no keys. A
//! lone ESC is one that nothing follows for [`LONE_ESC`]. A bracketed paste is one key, whatever it holds, so that no
//! pasted character can be taken for an answer; it counts as soon as it holds something printable.

use std::str;

use crate::limits::LONE_ESC;
use crate::model::Key;

/// Longest sequence of a key or report that is looked at, in bytes.
const SEQUENCE_MAX: usize = 64;
/// Longest reply that is skipped whole, in bytes.
const REPLY_MAX: usize = 64 * 1024;
/// A reply that nothing follows for so long was none, in milliseconds: keys must not vanish in it.
const REPLY_WAIT_MS: u64 = 1_000;
/// Bytes of an X10 mouse report after its introducer.
const MOUSE_BYTES: u8 = 3;
/// Ends a bracketed paste.
const PASTE_END: &[u8] = b"\x1b[201~";

const ESC: u8 = 0x1B;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ground,
    /// ESC, and whether another ESC stood before it.
    Escape {
        twice: bool,
    },
    /// `ESC [`
    Csi {
        alt: bool,
    },
    /// `ESC O`
    Ss3 {
        alt: bool,
    },
    /// `ESC [ M`, and how many bytes are to come.
    Mouse {
        left: u8,
    },
    /// `ESC ]` or `ESC P`, and whether the last byte was an ESC.
    Reply {
        introducer: u8,
        escaped: bool,
    },
    /// Inside a paste: whether it was counted, and how much of its end was read.
    Paste {
        counted: bool,
        matched: usize,
    },
    /// Inside a UTF-8 character.
    Character {
        alt: bool,
    },
}

/// The parser. One for each viewer.
#[derive(Debug)]
pub struct KeyParser {
    state: State,
    /// What there is of a sequence after its introducer, or of a character.
    bytes: Vec<u8>,
    /// How many bytes a reply has so far.
    skipped: usize,
    /// When the last byte came, in milliseconds.
    last_ms: u64,
}

impl Default for KeyParser {
    fn default() -> Self {
        Self::new()
    }
}

impl KeyParser {
    /// One that read nothing.
    pub fn new() -> Self {
        Self {
            state: State::Ground,
            bytes: Vec::new(),
            skipped: 0,
            last_ms: 0,
        }
    }

    /// Reads `bytes`, the next that the viewer sent. `now_ms` is any steady clock's.
    pub fn feed(&mut self, bytes: &[u8], now_ms: u64) -> Vec<Key> {
        let mut keys = self.expire(now_ms);
        for byte in bytes {
            self.byte(*byte, &mut keys);
        }
        self.last_ms = now_ms;
        keys
    }

    /// When [`KeyParser::expire`] has something to do.
    pub fn deadline(&self) -> Option<u64> {
        let wait = match self.state {
            State::Ground | State::Paste { .. } => return None,
            State::Reply { .. } if self.skipped > 0 => REPLY_WAIT_MS,
            _ => u64::try_from(LONE_ESC.as_millis()).unwrap_or(u64::MAX),
        };
        Some(self.last_ms.saturating_add(wait))
    }

    /// Time passed: what is unfinished and would have gone on by now is a key, or nothing.
    pub fn expire(&mut self, now_ms: u64) -> Vec<Key> {
        let mut keys = Vec::new();
        if self.deadline().is_some_and(|deadline| now_ms >= deadline) {
            match self.state {
                State::Escape { twice } => {
                    keys.push(Key::Escape);
                    if twice {
                        keys.push(Key::Escape);
                    }
                }
                State::Csi { alt: false } if self.bytes.is_empty() => keys.push(Key::Alt('[')),
                State::Ss3 { alt: false } => keys.push(Key::Alt('O')),
                State::Reply {
                    introducer,
                    escaped: false,
                } if self.skipped == 0 => {
                    keys.push(Key::Alt(char::from(introducer)));
                }
                State::Character { alt } => keys.push(text('\u{FFFD}', alt)),
                State::Csi { .. } | State::Ss3 { .. } | State::Reply { .. } => {
                    keys.push(Key::Other)
                }
                State::Mouse { .. } | State::Ground | State::Paste { .. } => (),
            }
            self.state = State::Ground;
        }
        keys
    }

    fn byte(&mut self, byte: u8, keys: &mut Vec<Key>) {
        match self.state {
            State::Ground => self.ground(byte, keys),
            State::Escape { twice } => self.escape(byte, twice, keys),
            State::Csi { alt } => self.csi(byte, alt, keys),
            State::Ss3 { alt } => self.ss3(byte, alt, keys),
            State::Mouse { left } => {
                self.state = if left > 1 {
                    State::Mouse { left: left - 1 }
                } else {
                    State::Ground
                };
            }
            State::Reply {
                introducer,
                escaped,
            } => self.reply(byte, introducer, escaped, keys),
            State::Paste { counted, matched } => self.paste(byte, counted, matched, keys),
            State::Character { alt } => self.character(byte, alt, keys),
        }
    }

    fn ground(&mut self, byte: u8, keys: &mut Vec<Key>) {
        match byte {
            ESC => self.state = State::Escape { twice: false },
            b'\r' => keys.push(Key::Enter),
            b'\t' => keys.push(Key::Tab),
            0x08 | 0x7F => keys.push(Key::Backspace),
            0x01..=0x1A => keys.push(Key::Ctrl(char::from(byte - 1 + b'a'))),
            0x00 | 0x1C..=0x1F => keys.push(Key::Other),
            0x20..=0x7E => keys.push(Key::Char(char::from(byte))),
            0x80..=0xFF => self.begin_character(byte, false, keys),
        }
    }

    fn begin_character(&mut self, byte: u8, alt: bool, keys: &mut Vec<Key>) {
        self.bytes.clear();
        self.state = State::Character { alt };
        self.finish_character(byte, alt, keys);
    }

    fn character(&mut self, byte: u8, alt: bool, keys: &mut Vec<Key>) {
        if byte & 0xC0 == 0x80 {
            self.finish_character(byte, alt, keys);
        } else {
            keys.push(text('\u{FFFD}', alt));
            self.state = State::Ground;
            self.ground(byte, keys);
        }
    }

    fn finish_character(&mut self, byte: u8, alt: bool, keys: &mut Vec<Key>) {
        self.bytes.push(byte);
        let character = match str::from_utf8(&self.bytes) {
            Ok(text) => text.chars().next(),
            Err(error) if error.error_len().is_none() => return,
            Err(_) => None,
        };
        self.state = State::Ground;
        keys.push(match character {
            Some(character) if character.is_control() => Key::Other,
            Some(character) => text(character, alt),
            // A program may take it for a character, so it is text.
            None => text('\u{FFFD}', alt),
        });
    }

    fn escape(&mut self, byte: u8, twice: bool, keys: &mut Vec<Key>) {
        self.bytes.clear();
        self.skipped = 0;
        self.state = match byte {
            b'[' => State::Csi { alt: twice },
            b'O' => State::Ss3 { alt: twice },
            b']' | b'P' if !twice => State::Reply {
                introducer: byte,
                escaped: false,
            },
            ESC => {
                if twice {
                    keys.push(Key::Escape);
                }
                State::Escape { twice: true }
            }
            0x80..=0xFF => return self.begin_character(byte, true, keys),
            _ => State::Ground,
        };
        if self.state == State::Ground {
            // ESC and Enter is a newline in a composer, ESC and Backspace takes a word: neither is the plain key.
            keys.push(if (0x20..0x7F).contains(&byte) {
                Key::Alt(char::from(byte))
            } else {
                Key::Other
            });
        }
    }

    fn csi(&mut self, byte: u8, alt: bool, keys: &mut Vec<Key>) {
        match byte {
            0x20..=0x3F if self.bytes.len() < SEQUENCE_MAX => self.bytes.push(byte),
            b'M' if self.bytes.is_empty() => self.state = State::Mouse { left: MOUSE_BYTES },
            0x40..=0x7E => {
                self.state = State::Ground;
                if self.bytes == b"200" && byte == b'~' {
                    self.state = State::Paste {
                        counted: false,
                        matched: 0,
                    };
                } else if let Some(key) = control_sequence(&self.bytes, byte) {
                    keys.push(if alt { Key::Other } else { key });
                }
            }
            // Too long, or cut off: whatever it was, it was no key that counts.
            _ => {
                keys.push(Key::Other);
                self.state = State::Ground;
                if !(0x20..=0x3F).contains(&byte) {
                    self.ground(byte, keys);
                }
            }
        }
    }

    fn ss3(&mut self, byte: u8, alt: bool, keys: &mut Vec<Key>) {
        self.state = State::Ground;
        let key = match byte {
            b'A' => Key::Up,
            b'B' => Key::Down,
            b'C' => Key::Right,
            b'D' => Key::Left,
            b'M' => Key::Enter,
            0x40..=0x7E => Key::Other,
            _ => {
                keys.push(Key::Alt('O'));
                return self.ground(byte, keys);
            }
        };
        keys.push(if alt { Key::Other } else { key });
    }

    fn reply(&mut self, byte: u8, introducer: u8, escaped: bool, keys: &mut Vec<Key>) {
        let begins = match introducer {
            b']' => byte.is_ascii_digit() || matches!(byte, b'l' | b'L'),
            _ => byte.is_ascii_digit() || matches!(byte, b'>' | b'!' | b'$' | b'+' | b'|' | b'='),
        };
        if self.skipped == 0 && !begins {
            self.state = State::Ground;
            keys.push(Key::Alt(char::from(introducer)));
            return self.ground(byte, keys);
        }
        self.skipped += 1;
        match byte {
            b'\\' if escaped => self.state = State::Ground,
            // Another sequence begins: this one was cut off.
            _ if escaped => {
                self.state = State::Escape { twice: false };
                self.escape(byte, false, keys);
            }
            ESC => {
                self.state = State::Reply {
                    introducer,
                    escaped: true,
                }
            }
            0x07 | 0x18 | 0x1A => self.state = State::Ground,
            _ if self.skipped > REPLY_MAX => {
                keys.push(Key::Other);
                self.state = State::Ground;
            }
            _ => (),
        }
    }

    fn paste(&mut self, byte: u8, mut counted: bool, matched: usize, keys: &mut Vec<Key>) {
        let matched = match PASTE_END.get(matched) {
            Some(expected) if *expected == byte => matched + 1,
            _ => {
                // Of what looked like its end, all but ESC is printable; so is most of what is not an end at all.
                let printable = matched > 1 || (byte >= 0x20 && byte != 0x7F);
                if printable && !counted {
                    counted = true;
                    keys.push(Key::Paste(true));
                }
                usize::from(byte == ESC)
            }
        };
        self.state = State::Paste { counted, matched };
        if matched == PASTE_END.len() {
            self.state = State::Ground;
            if !counted {
                keys.push(Key::Paste(false));
            }
        }
    }
}

fn text(character: char, alt: bool) -> Key {
    if alt {
        Key::Alt(character)
    } else {
        Key::Char(character)
    }
}

/// The key of `CSI parameters last`, `None` for a report or a reply.
fn control_sequence(parameters: &[u8], last: u8) -> Option<Key> {
    let plain = matches!(parameters, b"" | b"1" | b"1;1");
    let key = match (parameters, last) {
        // Replies (DA, DECRPM, kitty flags, …) and SGR mouse reports.
        ([b'<'..=b'?', ..], _) => return None,
        // Focus, urxvt mouse, cursor position, status, window and mode reports.
        (b"", b'I' | b'O') | (_, b'M' | b'R' | b'n' | b't' | b'y' | b'c' | b'x') => return None,
        (_, b'A') if plain => Key::Up,
        (_, b'B') if plain => Key::Down,
        (_, b'C') if plain => Key::Right,
        (_, b'D') if plain => Key::Left,
        (_, b'Z') if plain => Key::BackTab,
        (_, b'u') => return unicode_key(parameters),
        _ => Key::Other,
    };
    Some(key)
}

/// `CSI code ; modifiers : event u`. Viewers are never asked to send it; one that does is still understood.
fn unicode_key(parameters: &[u8]) -> Option<Key> {
    let mut fields = str::from_utf8(parameters).unwrap_or_default().split(';');
    let code = fields
        .next()
        .and_then(|code| code.split(':').next()?.parse::<u32>().ok());
    let mut modifiers = fields.next().unwrap_or("1").split(':');
    let modifier = modifiers
        .next()
        .and_then(|modifier| modifier.parse::<u32>().ok())
        .unwrap_or(1);
    if modifiers.next() == Some("3") {
        // A key was let go.
        return None;
    }
    let character = code.and_then(char::from_u32);
    Some(match (character, modifier) {
        (Some('\r'), 1) => Key::Enter,
        (Some('\u{1B}'), 1) => Key::Escape,
        (Some('\t'), 1) => Key::Tab,
        (Some('\t'), 2) => Key::BackTab,
        (Some('\u{7F}'), 1) => Key::Backspace,
        (Some(character), _) if character.is_control() => Key::Other,
        (Some(character), 1) => Key::Char(character),
        (Some(character), 3) => Key::Alt(character),
        (Some(character @ 'a'..='z'), 5) => Key::Ctrl(character),
        _ => Key::Other,
    })
}
