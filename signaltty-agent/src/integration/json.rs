//! A JSON reader that remembers where everything stands, so that a file can be edited without touching the rest.
//!
//! Own code, because what is needed is not a value but positions: no library in use keeps the bytes between the
//! members. It reads strict JSON (RFC 8259), to a bounded depth.

use std::ops::Range;

/// Deepest nesting that is read.
const DEPTH_MAX: usize = 128;

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    /// Its bytes.
    pub span: Range<usize>,
    /// What it is.
    pub kind: NodeKind,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum NodeKind {
    /// An object's members, in order.
    Object(Vec<Member>),
    /// An array's items, in order.
    Array(Vec<Node>),
    /// A text, without its escapes.
    Text(String),
    /// A whole number that is not negative.
    Whole(u64),
    /// Another number, `true`, `false` or `null`.
    Other,
}

/// A member of an object.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Member {
    /// Its name, without escapes.
    pub name: String,
    /// Where its name begins.
    pub start: usize,
    /// Its value.
    pub value: Node,
}

impl Member {
    /// From its name to the end of its value.
    pub(super) fn span(&self) -> Range<usize> {
        self.start..self.value.span.end
    }
}

impl Node {
    /// Its members, if it is an object.
    pub(super) fn members(&self) -> Option<&[Member]> {
        match &self.kind {
            NodeKind::Object(members) => Some(members),
            _ => None,
        }
    }

    /// Its items, if it is an array.
    pub(super) fn items(&self) -> Option<&[Node]> {
        match &self.kind {
            NodeKind::Array(items) => Some(items),
            _ => None,
        }
    }

    /// Its text, if it is one.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.kind {
            NodeKind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Its number, if it is a whole one that is not negative.
    pub(super) fn number(&self) -> Option<u64> {
        match self.kind {
            NodeKind::Whole(number) => Some(number),
            _ => None,
        }
    }

    /// The value of its member of that name. Of several the last counts, as it does for every reader.
    pub(super) fn get(&self, name: &str) -> Option<&Node> {
        self.members()?
            .iter()
            .rev()
            .find(|member| member.name == name)
            .map(|member| &member.value)
    }
}

/// What is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Malformed {
    /// The byte.
    pub at: usize,
    /// What is wrong there.
    pub problem: String,
}

impl Malformed {
    /// Its line, from 1.
    pub(super) fn line(&self, text: &str) -> usize {
        line_of(text, self.at)
    }
}

/// The line of a byte, from 1.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes()
        .iter()
        .take(at)
        .filter(|byte| **byte == b'\n')
        .count()
        + 1
}

/// Reads a whole document.
pub(super) fn parse(text: &str) -> Result<Node, Malformed> {
    let mut reader = Reader { text, at: 0 };
    // A byte order mark is no part of the document, but stays where it is.
    if text.starts_with('\u{feff}') {
        reader.at = '\u{feff}'.len_utf8();
    }
    let node = reader.value(0)?;
    reader.blanks();
    match reader.peek() {
        None => Ok(node),
        Some(_) => Err(reader.wrong("there is more after the end of the document")),
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn wrong(&self, problem: impl Into<String>) -> Malformed {
        Malformed {
            at: self.at,
            problem: problem.into(),
        }
    }

    fn expected(&self, what: &str) -> Malformed {
        match self
            .text
            .get(self.at..)
            .and_then(|rest| rest.chars().next())
        {
            Some(found) => self.wrong(format!("expected {what}, found {found:?}")),
            None => self.wrong(format!("expected {what}, but the file ends")),
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, Malformed> {
        if depth > DEPTH_MAX {
            return Err(self.wrong(format!("nested deeper than {DEPTH_MAX}")));
        }
        self.blanks();
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => NodeKind::Text(self.string()?),
            Some(_) => self.scalar()?,
            None => return Err(self.expected("a value")),
        };
        Ok(Node {
            span: start..self.at,
            kind,
        })
    }

    fn object(&mut self, depth: usize) -> Result<NodeKind, Malformed> {
        self.at += 1;
        let mut members = Vec::new();
        self.blanks();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(NodeKind::Object(members));
        }
        loop {
            self.blanks();
            let start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.expected("the name of a member"));
            }
            let name = self.string()?;
            self.blanks();
            if self.peek() != Some(b':') {
                return Err(self.expected("':'"));
            }
            self.at += 1;
            let value = self.value(depth + 1)?;
            members.push(Member { name, start, value });
            self.blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(NodeKind::Object(members));
                }
                _ => return Err(self.expected("',' or '}'")),
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<NodeKind, Malformed> {
        self.at += 1;
        let mut items = Vec::new();
        self.blanks();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(NodeKind::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(NodeKind::Array(items));
                }
                _ => return Err(self.expected("',' or ']'")),
            }
        }
    }

    /// A text: its end is found here, its escapes are read by the JSON library.
    fn string(&mut self) -> Result<String, Malformed> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.at += 2,
                Some(_) => self.at += 1,
                None => {
                    return Err(Malformed {
                        at: start,
                        problem: "a text that does not end".into(),
                    });
                }
            }
        }
        self.at += 1;
        self.text
            .get(start..self.at)
            .and_then(|raw| serde_json::from_str(raw).ok())
            .ok_or(Malformed {
                at: start,
                problem: "a text with a wrong escape or a control character".into(),
            })
    }

    fn scalar(&mut self) -> Result<NodeKind, Malformed> {
        let start = self.at;
        while matches!(self.peek(), Some(byte) if byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
        {
            self.at += 1;
        }
        match self
            .text
            .get(start..self.at)
            .map(serde_json::from_str::<serde_json::Value>)
        {
            Some(Ok(value)) => Ok(value.as_u64().map_or(NodeKind::Other, NodeKind::Whole)),
            _ => {
                self.at = start;
                Err(self.expected("a value"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_found_where_it_stands() {
        let text = "{ \"a\" : [1, {\"b\\u0021\": null}] }\n";
        let root = parse(text).expect("JSON");
        let list = root.get("a").expect("a");
        assert_eq!(&text[list.span.clone()], "[1, {\"b\\u0021\": null}]");
        let inner = &list.items().expect("items")[1];
        let member = &inner.members().expect("members")[0];
        assert_eq!(member.name, "b!");
        assert_eq!(&text[member.span()], "\"b\\u0021\": null");
    }

    #[test]
    fn it_takes_what_json_is_and_nothing_else() {
        for text in [
            "{}",
            "[]",
            " null ",
            "-1.5e3",
            "\"\\\"\\\\\"",
            "\u{feff}{}",
            "{\"a\":{\"b\":[[]]}}",
        ] {
            assert!(parse(text).is_ok(), "{text:?}");
        }
        for text in [
            "",
            "{",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "[1 2]",
            "[1,]",
            "nul",
            "01",
            "{} x",
            "\"a",
            "\"\\x\"",
            "\"a\nb\"",
            "// c\n{}",
            "{'a':1}",
            "\"\\",
        ] {
            assert!(parse(text).is_err(), "{text:?}");
            assert!(
                serde_json::from_str::<serde_json::Value>(text).is_err(),
                "{text:?}"
            );
        }
        assert!(parse(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let text = "{\n  \"a\": 1\n  \"b\": 2\n}";
        let wrong = parse(text).expect_err("malformed");
        assert_eq!(
            (wrong.line(text), wrong.problem.as_str()),
            (3, "expected ',' or '}', found '\"'")
        );
    }
}
