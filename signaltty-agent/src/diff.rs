//! What an edit does, as a unified diff.

use similar::TextDiff;

/// Lines of context around a change.
const CONTEXT: usize = 3;

/// A unified diff from `old` to `new`, both parts of the file at `path`. The line numbers count from the part's
/// start: where in the file it stands is not in the payload.
pub fn edit(path: &str, old: &str, new: &str) -> String {
    TextDiff::from_lines(old, new)
        .unified_diff()
        .context_radius(CONTEXT)
        .header(path, path)
        .to_string()
}

/// A unified diff that puts `content` at `path`, whatever may be there now.
pub fn whole(path: &str, content: &str) -> String {
    TextDiff::from_lines("", content)
        .unified_diff()
        .context_radius(CONTEXT)
        .header("/dev/null", path)
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_shows_what_goes_and_what_comes() {
        let diff = edit("src/a.rs", "one\ntwo\nthree\n", "one\n2\nthree\n");
        assert_eq!(
            diff,
            "--- src/a.rs\n+++ src/a.rs\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
        );
    }

    #[test]
    fn a_whole_file_is_all_additions() {
        assert_eq!(
            whole("n.txt", "a\nb\n"),
            "--- /dev/null\n+++ n.txt\n@@ -0,0 +1,2 @@\n+a\n+b\n"
        );
    }
}
