//! The walls between the parts (specs/001 §2), read from `cargo metadata` and from the sources.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops where it stands"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value as Json;

/// The crates.
const MEMBERS: [&str; 3] = ["signaltty-core", "signaltty-agent", "signaltty-gtk"];
/// Parts of the core that do no I/O, read no clock and are not async: time and ids come in.
const PURE: [&str; 5] = ["model", "session", "answer", "sanitise", "aep"];
/// Identifiers that a pure part has no use for: files, sockets, clocks, randomness, threads, tasks, output.
const IMPURE: [&str; 24] = [
    "fs",
    "net",
    "File",
    "UnixStream",
    "TcpStream",
    "Instant",
    "SystemTime",
    "clock_gettime",
    "sleep",
    "thread",
    "spawn",
    "tokio",
    "async",
    "await",
    "Future",
    "rustix",
    "libc",
    "Ulid",
    "rand",
    "getrandom",
    "println",
    "eprintln",
    "stdin",
    "stdout",
];
/// Crates that draw.
const GUI: [&str; 13] = [
    "gtk",
    "gtk4",
    "gdk4",
    "gsk4",
    "gdk-pixbuf",
    "libadwaita",
    "vte4",
    "glib",
    "gio",
    "winit",
    "egui",
    "iced",
    "cairo-rs",
];
/// Words that name a vendor or its program wherever they stand, also inside another word.
const VENDORS: [&str; 8] = [
    "claude",
    "anthropic",
    "codex",
    "openai",
    "gemini",
    "qwen",
    "copilot",
    "opencode",
];
/// The same for words that stand inside ordinary ones ("decline"): only whole.
const VENDORS_WHOLE: [&str; 5] = ["kilo", "kimi", "hermes", "cline", "aider"];
/// What may stand at the top of the repository.
const TOP: [&str; 11] = [
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "Makefile",
    "README.md",
    "data",
    "signaltty-agent",
    "signaltty-core",
    "signaltty-gtk",
    "specs",
];

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

/// `cargo metadata` for this machine's platform: what is built here, and no more to be fetched for it.
fn metadata() -> Json {
    let rustc = Command::new("rustc").arg("-vV").output().unwrap();
    let rustc = String::from_utf8(rustc.stdout).unwrap();
    let platform = rustc
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .unwrap()
        .to_owned();
    let done = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--format-version",
            "1",
            "--locked",
            "--filter-platform",
            &platform,
        ])
        .current_dir(top())
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    serde_json::from_slice(&done.stdout).unwrap()
}

fn package<'a>(metadata: &'a Json, name: &str) -> &'a Json {
    let packages = metadata["packages"].as_array().unwrap();
    packages
        .iter()
        .find(|package| package["name"] == name)
        .unwrap_or_else(|| panic!("no package {name}"))
}

/// Names of everything that a package is built from, whatever kind of dependency leads there.
fn closure(metadata: &Json, name: &str) -> BTreeSet<String> {
    let below: BTreeMap<&str, &Json> = metadata["resolve"]["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| (node["id"].as_str().unwrap(), &node["dependencies"]))
        .collect();
    let names: BTreeMap<&str, &str> = metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|package| {
            (
                package["id"].as_str().unwrap(),
                package["name"].as_str().unwrap(),
            )
        })
        .collect();
    let mut found = BTreeSet::new();
    let mut open = vec![package(metadata, name)["id"].as_str().unwrap()];
    while let Some(id) = open.pop() {
        for dependency in below[id]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Json::as_str)
        {
            if found.insert(names[dependency].to_owned()) {
                open.push(dependency);
            }
        }
    }
    found
}

/// The sources below a folder, or the one file, by path. Nothing where there is neither.
fn sources(at: &Path) -> Vec<(PathBuf, String)> {
    if at.is_dir() {
        return std::fs::read_dir(at)
            .unwrap()
            .flat_map(|entry| sources(&entry.unwrap().path()))
            .collect();
    }
    let is_source = at.is_file() && at.extension().is_some_and(|extension| extension == "rs");
    is_source
        .then(|| (at.to_owned(), std::fs::read_to_string(at).unwrap()))
        .into_iter()
        .collect()
}

/// A source without comments and without what stands in string literals.
fn code(source: &str) -> String {
    let mut out = String::new();
    let mut rest = source;
    while let Some(c) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |at| at + 2)
        } else if rest.starts_with("'\"'") {
            3
        } else if c == '"' {
            let mut escaped = false;
            let end = rest.char_indices().skip(1).find(|(_, c)| {
                let ends = *c == '"' && !escaped;
                escaped = *c == '\\' && !escaped;
                ends
            });
            end.map_or(rest.len(), |(at, _)| at + 1)
        } else {
            out.push(c);
            c.len_utf8()
        };
        rest = &rest[length..];
    }
    out
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
}

#[test]
fn the_window_is_built_without_the_adapters_and_without_the_host() {
    let metadata = metadata();
    assert!(
        !closure(&metadata, "signaltty-gtk").contains("signaltty-agent"),
        "the window depends on the adapters"
    );

    let core = package(&metadata, "signaltty-core");
    let default = core["features"]
        .get("default")
        .and_then(Json::as_array)
        .map_or(0, Vec::len);
    assert_eq!(
        default, 0,
        "the core has default features: a client would get them unasked"
    );
    let window = package(&metadata, "signaltty-gtk")["dependencies"]
        .as_array()
        .unwrap();
    let asked: Vec<_> = window
        .iter()
        .filter(|dependency| dependency["name"] == "signaltty-core")
        .collect();
    assert!(!asked.is_empty());
    for dependency in asked {
        let features = dependency["features"].as_array().unwrap();
        assert!(
            !features.contains(&Json::from("host")),
            "the window asks for the host's half of the core"
        );
    }
}

#[test]
fn the_core_depends_on_no_gui_crate() {
    let below = closure(&metadata(), "signaltty-core");
    let drawing: Vec<_> = below
        .iter()
        .filter(|name| GUI.contains(&name.as_str()))
        .collect();
    assert!(drawing.is_empty(), "the core depends on {drawing:?}");
}

#[test]
fn the_core_names_no_vendor() {
    let core = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = sources(core);
    files.push((
        core.join("Cargo.toml"),
        std::fs::read_to_string(core.join("Cargo.toml")).unwrap(),
    ));
    let mut named = Vec::new();
    for (path, source) in files
        .iter()
        .filter(|(path, _)| !path.ends_with("tests/walls.rs"))
    {
        for (number, line) in source.lines().enumerate() {
            let line = line.to_lowercase();
            let inside = VENDORS.iter().any(|vendor| line.contains(vendor));
            if inside
                || words(&line)
                    .any(|word| word.split('_').any(|part| VENDORS_WHOLE.contains(&part)))
            {
                named.push(format!("{}:{}: {line}", path.display(), number + 1));
            }
        }
    }
    assert!(
        named.is_empty(),
        "the core names vendors:\n{}",
        named.join("\n")
    );
}

#[test]
fn the_rules_do_no_io_read_no_clock_and_are_not_async() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    let mut read = 0;
    for part in PURE {
        // A part is a file, a folder, or both.
        for (path, source) in sources(&src.join(part))
            .into_iter()
            .chain(sources(&src.join(part).with_extension("rs")))
        {
            read += 1;
            let code = code(&source);
            let impure: BTreeSet<_> = words(&code).filter(|word| IMPURE.contains(word)).collect();
            if !impure.is_empty() {
                found.push(format!("{}: {impure:?}", path.display()));
            }
        }
    }
    assert!(read > 10, "only {read} files of the rules were found");
    assert!(
        found.is_empty(),
        "the rules are to be pure:\n{}",
        found.join("\n")
    );
}

#[test]
fn comments_and_strings_are_not_taken_for_code() {
    let source =
        "let a = \"fs \\\" net\"; // tokio\n/* async */ let q = '\"'; let b = File::open(a);";
    let read = code(source);
    let found: Vec<_> = words(&read).filter(|word| IMPURE.contains(word)).collect();
    assert_eq!(found, ["File"]);
}

#[test]
fn every_file_has_a_subject_and_says_it_first() {
    for member in MEMBERS {
        for (path, source) in sources(&top().join(member)) {
            let name = path.file_name().unwrap().to_str().unwrap();
            assert!(
                name != "mod.rs",
                "{}: a file is named after its module",
                path.display()
            );
            assert!(
                !name.starts_with("util"),
                "{}: a subject has a name",
                path.display()
            );
            let says = source
                .lines()
                .find(|line| !line.is_empty() && !line.starts_with("#!["));
            assert!(
                says.is_some_and(|line| line.starts_with("//!")),
                "{} does not say its subject",
                path.display()
            );
        }
    }
}

#[test]
fn every_crate_is_held_to_the_workspace_lints() {
    let workspace = std::fs::read_to_string(top().join("Cargo.toml")).unwrap();
    for lint in [
        "unwrap_used",
        "expect_used",
        "panic",
        "todo",
        "unimplemented",
    ] {
        assert!(
            workspace.contains(&format!("\n{lint} = \"warn\"")),
            "clippy::{lint} is off"
        );
    }
    for member in MEMBERS {
        let manifest = std::fs::read_to_string(top().join(member).join("Cargo.toml")).unwrap();
        assert!(
            manifest.contains("[lints]\nworkspace = true"),
            "{member} has lints of its own"
        );
        for (path, source) in sources(&top().join(member).join("src")) {
            let programs = code(source.split("#[cfg(test)]").next().unwrap_or_default());
            for lint in ["unwrap_used", "expect_used", "panic"] {
                let excused = programs.contains(&format!("allow(clippy::{lint}"));
                assert!(
                    !excused,
                    "{} allows {lint}: nothing that runs may panic",
                    path.display()
                );
            }
        }
    }
}

#[test]
fn the_top_of_the_repository_stays_as_it_is() {
    let listed = Command::new("git")
        .args(["ls-files", "-z"])
        .current_dir(top())
        .output()
        .unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let strangers: BTreeSet<_> = listed
        .split('\0')
        .filter_map(|path| path.split('/').next())
        .filter(|name| !name.is_empty() && !name.starts_with('.') && !TOP.contains(name))
        .collect();
    assert!(
        strangers.is_empty(),
        "{strangers:?} at the top; specs/001 §2 says where things belong"
    );
}

#[test]
fn no_locked_dependency_asks_for_a_newer_rust_than_ours() {
    let metadata = metadata();
    let version = |text: &str| -> Vec<u32> {
        text.split('.')
            .map_while(|part| part.parse().ok())
            .collect()
    };
    let ours = version(
        package(&metadata, "signaltty-core")["rust_version"]
            .as_str()
            .unwrap(),
    );
    let newer: Vec<_> = metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|package| Some((package["name"].as_str()?, package["rust_version"].as_str()?)))
        .filter(|(_, asked)| version(asked).into_iter().take(2).collect::<Vec<_>>() > ours)
        .collect();
    assert!(
        newer.is_empty(),
        "these ask for a newer Rust than {ours:?}: {newer:?}"
    );
}
