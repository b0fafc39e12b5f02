//! What operating system commands mean: titles, notifications, prompt marks, progress, clipboard (specs/001 §3, §4).

use base64::Engine;
use base64::engine::GeneralPurpose;
use base64::engine::general_purpose::GeneralPurposeConfig;

use crate::limits::{MESSAGE_MAX, TITLE_MAX};
use crate::session::StreamSignal;

/// Most bytes of one clipboard write, decoded.
pub const CLIPBOARD_MAX: usize = 1024 * 1024;
/// Longest address of a link, in bytes: what VTE takes.
pub const LINK_MAX: usize = 2_083;
/// Longest id of a link, in bytes: what VTE takes.
const LINK_ID_MAX: usize = 250;
/// Longest colour, in bytes. `#rrrrggggbbbb` and `rgb:rrrr/gggg/bbbb` are shorter.
const COLOR_MAX: usize = 32;
/// The index of the text colour, after the palette's 256.
const FOREGROUND: usize = 256;

/// Programs leave the padding away, or not.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(base64::engine::DecodePaddingMode::Indifferent),
);

/// Where a clipboard write goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection {
    /// What Ctrl+V pastes.
    Clipboard,
    /// What the middle button pastes.
    Primary,
}

/// A program wants to set the clipboard (OSC 52). Carried out by policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClipboardWrite {
    /// Which one.
    pub selection: Selection,
    /// With what: untrusted text, at most [`CLIPBOARD_MAX`] bytes.
    pub text: String,
}

/// What one command means.
#[derive(Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Nothing that is ours: viewers get it as it is.
    Pass,
    /// Nothing, for nobody: refused, or withheld from viewers.
    Drop,
    /// A title, to be shown to viewers under this number.
    Title(u8, String),
    /// A signal of the stream. Viewers get the command too if the flag is set.
    Signal(StreamSignal, bool),
    /// A clipboard write.
    Clipboard(ClipboardWrite),
    /// Colours set (the commands for viewers) and asked for (indices).
    Colors(Vec<ColorPart>),
}

/// A part of a colour command.
#[derive(Debug, PartialEq, Eq)]
pub enum ColorPart {
    /// Sets one: the command's body, for viewers.
    Set(String),
    /// Asks for one: how the answer begins, and the colour's index.
    Query(String, usize),
}

/// Reads commands. Remembers only a notification that comes in pieces.
#[derive(Debug, Default)]
pub struct OscReader {
    partial: Option<Partial>,
}

/// A notification of OSC 99 of which there is more to come.
#[derive(Debug, Default, PartialEq, Eq)]
struct Partial {
    id: String,
    title: String,
    body: String,
}

impl OscReader {
    /// What the command with this `body` means.
    pub fn read(&mut self, body: &[u8]) -> Meaning {
        let (number, rest) = split(body);
        let Ok(number) = std::str::from_utf8(number)
            .unwrap_or_default()
            .parse::<u16>()
        else {
            return Meaning::Drop;
        };
        match number {
            0..=2 => Meaning::Title(number as u8, bounded(&text(rest), TITLE_MAX)),
            4 => palette(rest),
            8 => link(rest),
            9 => conemu(rest),
            10..=19 => dynamic(number, rest),
            52 => clipboard(rest),
            99 => self.kitty(rest),
            133 => prompt_mark(rest),
            777 => urxvt(rest),
            // Cursor and font (50), a query of features (60, 61), text of another size (66), files, clipboard and
            // cell sizes (1337, 5522): answers that are not ours to give, or text that the model does not have.
            50 | 60 | 61 | 66 | 1337 | 5522 => Meaning::Drop,
            // A question mark alone is how every command asks.
            _ if rest
                .split(|byte| *byte == b';')
                .any(|part| part.ends_with(b"?")) =>
            {
                Meaning::Drop
            }
            _ => Meaning::Pass,
        }
    }

    /// OSC 99: `metadata;payload`, in pieces of one id until a piece says that it is the last.
    fn kitty(&mut self, rest: &[u8]) -> Meaning {
        let (metadata, payload) = split(rest);
        let key = |name: u8| {
            metadata
                .split(|byte| *byte == b':')
                .find_map(|pair| pair.strip_prefix(&[name, b'=']))
                .map(|value| String::from_utf8_lossy(value).into_owned())
        };
        let payload = match key(b'e').as_deref() {
            Some("1") => {
                String::from_utf8_lossy(&BASE64.decode(payload).unwrap_or_default()).into_owned()
            }
            _ => String::from_utf8_lossy(payload).into_owned(),
        };
        let id = bounded(&key(b'i').unwrap_or_default(), LINK_ID_MAX);
        let mut partial = self
            .partial
            .take()
            .filter(|partial| partial.id == id)
            .unwrap_or_default();
        partial.id = id;
        match key(b'p').as_deref() {
            None | Some("title") => partial.title.push_str(&payload),
            Some("body") => partial.body.push_str(&payload),
            // Closing, icons, buttons, queries.
            Some(_) => return Meaning::Drop,
        }
        partial.title = bounded(&partial.title, MESSAGE_MAX);
        partial.body = bounded(&partial.body, MESSAGE_MAX);
        if key(b'd').as_deref() == Some("0") {
            self.partial = Some(partial);
            return Meaning::Drop;
        }
        let (title, body) = (clean(&partial.title), clean(&partial.body));
        match (title.is_empty(), body.is_empty()) {
            (true, true) => Meaning::Drop,
            (_, true) => notification(None, &title),
            (_, false) => notification(Some(&title), &body),
        }
    }
}

/// Before and after the first semicolon.
fn split(bytes: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memchr(b';', bytes) {
        Some(at) => (&bytes[..at], &bytes[at + 1..]),
        None => (bytes, &[]),
    }
}

/// Without control characters.
fn clean(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

fn text(bytes: &[u8]) -> String {
    clean(&String::from_utf8_lossy(bytes))
}

/// At most `most` bytes of it.
fn bounded(text: &str, most: usize) -> String {
    let end = (0..=most.min(text.len()))
        .rev()
        .find(|end| text.is_char_boundary(*end))
        .unwrap_or(0);
    text[..end].to_owned()
}

fn notification(title: Option<&str>, body: &str) -> Meaning {
    let title = title
        .filter(|title| !title.is_empty())
        .map(|title| bounded(title, TITLE_MAX));
    Meaning::Signal(
        StreamSignal::Notification {
            title,
            body: bounded(body, MESSAGE_MAX),
        },
        false,
    )
}

/// OSC 9: a notification, or a numbered command of which `4` is progress.
fn conemu(rest: &[u8]) -> Meaning {
    let (command, parameters) = split(rest);
    let numbered =
        !command.is_empty() && command.len() <= 2 && command.iter().all(u8::is_ascii_digit);
    if !numbered {
        let body = text(rest);
        return if body.is_empty() {
            Meaning::Drop
        } else {
            notification(None, &body)
        };
    }
    if command != b"4" {
        return Meaning::Drop;
    }
    let number = |bytes: &[u8]| {
        std::str::from_utf8(bytes)
            .ok()
            .and_then(|text| text.parse::<u8>().ok())
    };
    let (state, percent) = split(parameters);
    let percent = number(split(percent).0).unwrap_or(0).min(100);
    match number(state) {
        Some(0) => Meaning::Signal(StreamSignal::Progress(None), false),
        Some(state @ 1..=4) => {
            Meaning::Signal(StreamSignal::Progress(Some((state, percent))), false)
        }
        _ => Meaning::Drop,
    }
}

/// OSC 777: `notify;title;body`.
fn urxvt(rest: &[u8]) -> Meaning {
    let (command, rest) = split(rest);
    if command != b"notify" {
        return Meaning::Drop;
    }
    let (title, body) = split(rest);
    let (title, body) = (text(title), text(body));
    match (title.is_empty(), body.is_empty()) {
        (true, true) => Meaning::Drop,
        (_, true) => notification(None, &title),
        (_, false) => notification(Some(&title), &body),
    }
}

/// OSC 133. Viewers get it too: some jump between prompts by it, and none answers.
fn prompt_mark(rest: &[u8]) -> Meaning {
    let (mark, parameters) = split(rest);
    let [mark @ b'A'..=b'D'] = mark else {
        return Meaning::Pass;
    };
    let status = match mark {
        b'D' => std::str::from_utf8(split(parameters).0)
            .ok()
            .and_then(|text| text.parse().ok()),
        _ => None,
    };
    Meaning::Signal(
        StreamSignal::PromptMark {
            mark: char::from(*mark),
            status,
        },
        true,
    )
}

/// OSC 52: `selections;base64`. Reading is refused; what is not base64 sets nothing.
fn clipboard(rest: &[u8]) -> Meaning {
    let (selections, data) = split(rest);
    if data.is_empty() || data == b"?" {
        return Meaning::Drop;
    }
    let selection = match selections.first() {
        None | Some(b'c') => Selection::Clipboard,
        Some(b'p' | b's') => Selection::Primary,
        Some(_) if selections.contains(&b'c') => Selection::Clipboard,
        Some(_) => return Meaning::Drop,
    };
    let Some(text) = BASE64
        .decode(data)
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok())
    else {
        return Meaning::Drop;
    };
    if text.is_empty() || text.len() > CLIPBOARD_MAX {
        return Meaning::Drop;
    }
    Meaning::Clipboard(ClipboardWrite { selection, text })
}

/// OSC 8: `parameters;address`. One that VTE would not take ends the link that was open.
fn link(rest: &[u8]) -> Meaning {
    let (parameters, address) = split(rest);
    let takes = address.len() <= LINK_MAX
        && parameters.len() <= LINK_ID_MAX
        && std::str::from_utf8(parameters).is_ok()
        && std::str::from_utf8(address).is_ok_and(|address| !address.chars().any(char::is_control));
    if takes {
        Meaning::Pass
    } else {
        Meaning::Colors(vec![ColorPart::Set("8;;".to_owned())])
    }
}

/// OSC 4: `index;colour` pairs.
fn palette(rest: &[u8]) -> Meaning {
    let fields: Vec<&[u8]> = rest.split(|byte| *byte == b';').collect();
    let parts = fields.chunks_exact(2).filter_map(|pair| {
        let index: u8 = std::str::from_utf8(pair[0]).ok()?.parse().ok()?;
        if pair[1] == b"?" {
            return Some(ColorPart::Query(format!("4;{index}"), usize::from(index)));
        }
        Some(ColorPart::Set(format!("4;{index};{}", color(pair[1])?)))
    });
    Meaning::Colors(parts.collect())
}

/// OSC 10 to 19: a colour each for this number and those after it.
fn dynamic(first: u16, rest: &[u8]) -> Meaning {
    let fields = rest.split(|byte| *byte == b';');
    let parts = (first..=19).zip(fields).filter_map(|(number, field)| {
        if field == b"?" {
            // Highlight and pointer colours are not ours to know.
            let index = FOREGROUND + usize::from(number - 10);
            return (number <= 12).then(|| ColorPart::Query(number.to_string(), index));
        }
        Some(ColorPart::Set(format!("{number};{}", color(field)?)))
    });
    Meaning::Colors(parts.collect())
}

fn color(field: &[u8]) -> Option<&str> {
    let plain = !field.is_empty()
        && field.len() <= COLOR_MAX
        && field.iter().all(|byte| (0x21..0x7F).contains(byte));
    if plain {
        std::str::from_utf8(field).ok()
    } else {
        None
    }
}
