//! Lines off a socket, bounded while they are read.

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// What came off the socket.
#[derive(Debug, PartialEq, Eq)]
pub enum Read {
    /// A line, without its newline.
    Line(String),
    /// A line over the bound. It was passed over to its end; the connection goes on.
    TooLong,
    /// A line that is not UTF-8.
    NotText,
    /// The peer closed, or the connection broke.
    End,
}

/// Reads one line of at most `max` bytes, its newline included.
pub async fn read_line(reader: &mut (impl AsyncBufRead + Unpin), max: usize) -> Read {
    let mut line = Vec::new();
    let mut too_long = false;
    loop {
        let Ok(chunk) = reader.fill_buf().await else {
            return Read::End;
        };
        if chunk.is_empty() {
            return Read::End;
        }
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let part = end.unwrap_or(chunk.len());
        if line.len() + part + 1 > max {
            too_long = true;
            line = Vec::new();
        }
        if !too_long {
            line.extend_from_slice(&chunk[..part]);
        }
        reader.consume(end.map_or(part, |end| end + 1));
        if end.is_some() {
            break;
        }
    }
    if too_long {
        return Read::TooLong;
    }
    String::from_utf8(line).map_or(Read::NotText, Read::Line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::BufReader;

    async fn all(bytes: &[u8], max: usize) -> Vec<Read> {
        let mut reader = BufReader::with_capacity(3, bytes);
        let mut found = Vec::new();
        loop {
            match read_line(&mut reader, max).await {
                Read::End => return found,
                other => found.push(other),
            }
        }
    }

    #[tokio::test]
    async fn a_line_over_the_bound_is_passed_over_and_the_next_one_is_read() {
        let read = all(b"ab\n0123456789\ncd\n\xff\nlast without newline", 8).await;
        assert_eq!(
            read,
            [
                Read::Line("ab".into()),
                Read::TooLong,
                Read::Line("cd".into()),
                Read::NotText
            ]
        );
    }

    #[tokio::test]
    async fn the_bound_includes_the_newline() {
        assert_eq!(all(b"1234567\n", 8).await, [Read::Line("1234567".into())]);
        assert_eq!(all(b"12345678\n", 8).await, [Read::TooLong]);
    }
}
