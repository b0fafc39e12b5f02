//! Untrusted text on its way to a widget, through the core's sanitiser. Labels are never markup.

/// Longest chunk of a detail that one label lays out, in bytes.
const CHUNK_MAX: usize = 16 * 1024;

/// A text that is safe to show, and what to say of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The text, with everything that could deceive written out.
    pub text: String,
    /// Lines of the original.
    pub lines: usize,
    /// Bytes of the original.
    pub bytes: usize,
    /// How many characters had to be written out.
    pub escaped: usize,
}

/// Text in one line, with everything that could deceive written out.
pub fn line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

/// The same, of at most so many characters.
pub fn line_of(text: &str, max: usize) -> String {
    line(text).chars().take(max).collect()
}

/// Text whole, its lines kept.
pub fn block(text: &str) -> Shown {
    Shown { text: text.to_owned(), lines: text.lines().count(), bytes: text.len(), escaped: 0 }
}

/// Cuts a text into chunks for one label each, between lines where it can.
pub fn chunks(text: &str) -> Vec<&str> {
    let mut chunks = Vec::new();
    let mut rest = text.strip_suffix('\n').unwrap_or(text);
    while rest.len() > CHUNK_MAX {
        let mut end = CHUNK_MAX;
        while !rest.is_char_boundary(end) {
            end -= 1;
        }
        let (chunk, mut after) = rest.split_at(end);
        let chunk = match chunk.rfind('\n') {
            Some(newline) => {
                after = &rest[newline + 1..];
                &chunk[..newline]
            }
            None => chunk,
        };
        chunks.push(chunk);
        rest = after;
    }
    chunks.push(rest);
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_end_between_lines_and_lose_nothing() {
        let text: String = (0..5_000).map(|n| format!("line {n}\n")).collect();
        let chunks = chunks(&text);
        assert!(chunks.len() > 1);
        assert!(chunks.iter().all(|chunk| chunk.len() <= CHUNK_MAX));
        assert_eq!(chunks.join("\n") + "\n", text);
    }

    #[test]
    fn a_line_longer_than_a_chunk_is_cut_between_characters() {
        let text = "ä".repeat(CHUNK_MAX);
        assert_eq!(chunks(&text).concat(), text);
    }
}
