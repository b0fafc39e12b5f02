//! Untrusted text made safe to show, for every surface.

use std::borrow::Cow;

/// At most `max` bytes of `text`, cut between characters; what was cut is said at the end, within `max`.
pub fn cut(text: &str, max: usize) -> Cow<'_, str> {
    if text.len() <= max {
        return Cow::Borrowed(text);
    }
    // Room for the longest note: the count of a text that cannot be longer than the address space.
    const NOTE_MAX: usize = " … [18446744073709551615 bytes cut]".len();
    let keep = floor_char(text, max.saturating_sub(NOTE_MAX));
    let note = format!(" … [{} bytes cut]", text.len() - keep);
    if keep == 0 {
        return Cow::Borrowed(&text[..floor_char(text, max)]);
    }
    Cow::Owned(format!("{}{note}", &text[..keep]))
}

/// The greatest character boundary that is at most `at`.
pub fn floor_char(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
