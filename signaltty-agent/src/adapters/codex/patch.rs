//! The patch text of `apply_patch`, as a diff that any client can show.
//!
//! Only the lines that name files are rewritten; every other line stays as it is. A patch with a line that is
//! not understood is not rewritten at all: it is shown as it came.

use super::super::card::name;

/// A patch whose every line was understood.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Patch {
    /// It, with the file headers of a unified diff.
    pub diff: String,
    /// What it does to which file, in order.
    files: Vec<(Change, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Add,
    Edit,
    Delete,
}

impl Patch {
    /// The question that its card asks.
    pub(super) fn question(&self) -> String {
        match self.files.as_slice() {
            [(change, path)] => {
                let verb = match change {
                    Change::Add => "Add",
                    Change::Edit => "Edit",
                    Change::Delete => "Delete",
                };
                format!("{verb} {}?", name(path))
            }
            several => {
                let count = |wanted| {
                    several
                        .iter()
                        .filter(|(change, _)| *change == wanted)
                        .count()
                };
                let parts: Vec<String> = [
                    ("add", count(Change::Add)),
                    ("edit", count(Change::Edit)),
                    ("delete", count(Change::Delete)),
                ]
                .into_iter()
                .filter(|(_, number)| *number > 0)
                .map(|(verb, number)| format!("{verb} {number}"))
                .collect();
                format!("Change {} files ({})?", several.len(), parts.join(", "))
            }
        }
    }
}

/// Reads a patch, whole or not at all.
pub(super) fn read(text: &str) -> Option<Patch> {
    let body = text
        .trim_end()
        .strip_prefix("*** Begin Patch\n")?
        .strip_suffix("*** End Patch")?;
    let mut patch = Patch {
        diff: String::with_capacity(text.len()),
        files: Vec::new(),
    };
    for line in body.lines() {
        if let Some(path) = line.strip_prefix("*** Add File: ") {
            patch.file(Change::Add, path, "/dev/null", path);
        } else if let Some(path) = line.strip_prefix("*** Delete File: ") {
            patch.file(Change::Delete, path, path, "/dev/null");
        } else if let Some(path) = line.strip_prefix("*** Update File: ") {
            patch.file(Change::Edit, path, path, path);
        } else if patch.files.is_empty() {
            return None;
        } else if let Some(path) = line.strip_prefix("*** Move to: ") {
            patch.line(&format!("rename to {path}"));
        } else if line == "*** End of File"
            || line.is_empty()
            || line.starts_with([' ', '+', '-', '@'])
        {
            patch.line(line);
        } else {
            return None;
        }
    }
    (!patch.files.is_empty()).then_some(patch)
}

impl Patch {
    fn file(&mut self, change: Change, path: &str, old: &str, new: &str) {
        self.line(&format!("--- {old}"));
        self.line(&format!("+++ {new}"));
        self.files.push((change, path.to_owned()));
    }

    fn line(&mut self, line: &str) {
        self.diff.push_str(line);
        self.diff.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_becomes_a_diff_with_every_line_kept() {
        let text = "*** Begin Patch\n*** Add File: a.txt\n+hello\n*** Update File: b.rs\n*** Move to: c.rs\n@@ fn main\n ctx\n-old\n+new\n*** Delete File: d\n*** End Patch";
        let patch = read(text).expect("a patch");
        assert_eq!(
            patch.diff,
            "--- /dev/null\n+++ a.txt\n+hello\n--- b.rs\n+++ b.rs\nrename to c.rs\n@@ fn main\n ctx\n-old\n+new\n--- d\n+++ /dev/null\n"
        );
        assert_eq!(
            patch.question(),
            "Change 3 files (add 1, edit 1, delete 1)?"
        );
    }

    #[test]
    fn one_file_is_named_in_the_question() {
        let patch = read("*** Begin Patch\n*** Add File: newfile.txt\n+hello\n*** End Patch")
            .expect("a patch");
        assert_eq!(patch.question(), "Add newfile.txt?");
    }

    #[test]
    fn what_is_not_understood_is_not_rewritten() {
        for text in [
            "",
            "rm -rf /",
            "*** Begin Patch\n*** End Patch",
            "*** Begin Patch\n+orphan\n*** End Patch",
            "*** Begin Patch\n*** Add File: a\n+x\n*** Chmod: a\n*** End Patch",
            "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nrm -rf /",
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }
}
