//! Installing and uninstalling our hook in the vendors' files: merged, idempotent, atomic, and undone.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops where it stands"
)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

use serde_json::Value as Json;
use signaltty_agent::integration::{CLAUDE, CODEX, HookFile};
use signaltty_core::adapter::{
    INSTALLED_TIMEOUT, Integration, IntegrationEnv, IntegrationError, IntegrationState,
};

/// A home of its own for every test.
struct Home {
    folder: tempfile::TempDir,
    env: IntegrationEnv,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("folder");
        let home = folder.path().to_owned();
        let env = IntegrationEnv {
            data_dir: home.join("data/signaltty"),
            program: home.join("bin/signaltty"),
            vars: BTreeMap::from([("PATH".to_owned(), home.join("bin").display().to_string())]),
            home,
        };
        Self { folder, env }
    }

    fn file(&self, agent: &HookFile) -> PathBuf {
        self.folder.path().join(agent.folder).join(agent.file)
    }

    fn write(&self, agent: &HookFile, text: &str) {
        let file = self.file(agent);
        fs::create_dir_all(file.parent().expect("folder")).expect("folder");
        fs::write(file, text).expect("written");
    }

    fn text(&self, agent: &HookFile) -> String {
        fs::read_to_string(self.file(agent)).expect("text")
    }

    fn json(&self, agent: &HookFile) -> Json {
        serde_json::from_str(&self.text(agent)).expect("JSON")
    }

    fn command(&self, agent: &HookFile) -> String {
        format!(
            "\"{}\" {}",
            self.env.data_dir.join("hook").display(),
            agent.agent
        )
    }
}

/// Files as people have them: all layouts, all stages of emptiness.
const FILES: &[&str] = &[
    "{}",
    "{}\n",
    "{\n}\n",
    "{ }",
    "{\n\n}",
    "{\"model\":\"opus\"}",
    "{\"a\":1,\"b\":2}\n",
    "{\n  \"model\": \"opus\",\n  \"env\": {\"A\": \"1\"}\n}\n",
    "{\n\t\"model\": \"opus\"\n}",
    "{\r\n    \"model\": \"opus\"\r\n}\r\n",
    "{\"hooks\":{}}",
    "{\"hooks\": { }, \"x\": [ ]}",
    "{\n  \"hooks\": {\n  }\n}\n",
    "{\n  \"hooks\": {\n    \"Stop\": []\n  },\n  \"x\": 1\n}\n",
    "{\n  \"hooks\": {\"Stop\": [ ], \"PermissionRequest\": [\n  ]}\n}",
    "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n            \"command\": \"mine --now\"\n          }\n        ]\n      }\n    ],\n    \"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]}]\n  }\n}\n",
    "\u{feff}{\"hooks\":{\"Stop\":[{\"hooks\":[]}]},\"\\u0068\":\"\\u00e4\",\"n\":1.50e3}",
];

#[test]
fn installing_puts_every_hook_in_and_keeps_everything_else() {
    for agent in [&CLAUDE, &CODEX] {
        for text in FILES {
            let home = Home::new();
            home.write(agent, text);
            let before: Json =
                serde_json::from_str(text.trim_start_matches('\u{feff}')).expect("JSON");
            let report = agent.install(&home.env).expect("installed");
            assert_eq!(
                (report.state, report.changed),
                (IntegrationState::Installed, true),
                "{text:?}"
            );
            let written = home.text(agent);
            let after: Json =
                serde_json::from_str(written.trim_start_matches('\u{feff}')).expect("JSON");
            for line in agent.events {
                let groups = after["hooks"][line.event].as_array().expect("groups");
                let last = groups.last().expect("a group");
                assert_eq!(last["matcher"].as_str(), line.matcher);
                assert_eq!(
                    last["hooks"][0]["command"].as_str(),
                    Some(home.command(agent).as_str())
                );
                assert_eq!(last["hooks"][0]["timeout"].as_u64(), Some(line.seconds));
                let others = before["hooks"][line.event].as_array().map_or(0, Vec::len);
                assert_eq!(groups.len(), others + 1, "{text:?}");
            }
            for (name, value) in before.as_object().expect("members") {
                if name != "hooks" {
                    assert_eq!(&after[name], value);
                }
            }
            // Every byte that was there is there still, in order.
            let mut rest = written.chars();
            assert!(
                text.chars().all(|wanted| rest.any(|found| found == wanted)),
                "{text:?} in {written:?}"
            );
        }
    }
}

#[test]
fn uninstalling_restores_the_bytes() {
    for agent in [&CLAUDE, &CODEX] {
        for text in FILES {
            let home = Home::new();
            home.write(agent, text);
            agent.install(&home.env).expect("installed");
            let report = agent.uninstall(&home.env).expect("uninstalled");
            assert_eq!(
                (report.state, report.changed),
                (IntegrationState::Absent, true)
            );
            assert_eq!(&home.text(agent), text);
            assert!(!agent.uninstall(&home.env).expect("again").changed);
        }
    }
}

#[test]
fn a_file_that_was_not_there_goes_again() {
    let home = Home::new();
    assert_eq!(
        CLAUDE.status(&home.env).expect("status").state,
        IntegrationState::Absent
    );
    CLAUDE.install(&home.env).expect("installed");
    assert!(
        home.text(&CLAUDE)
            .starts_with("{\n  \"hooks\": {\n    \"SessionStart\": [{\"hooks\": ")
    );
    assert_eq!(
        fs::metadata(home.file(&CLAUDE))
            .expect("file")
            .permissions()
            .mode()
            & 0o777,
        0o600
    );
    CLAUDE.uninstall(&home.env).expect("uninstalled");
    assert!(!home.file(&CLAUDE).exists());
}

#[test]
fn what_somebody_added_to_our_file_stays() {
    let home = Home::new();
    CODEX.install(&home.env).expect("installed");
    let text = home
        .text(&CODEX)
        .replacen("{\n", "{\n  \"mine\": true,\n", 1);
    home.write(&CODEX, &text);
    CODEX.uninstall(&home.env).expect("uninstalled");
    assert_eq!(home.text(&CODEX), "{\n  \"mine\": true\n}\n");
}

#[test]
fn installing_again_changes_nothing() {
    for text in FILES {
        let home = Home::new();
        home.write(&CLAUDE, text);
        CLAUDE.install(&home.env).expect("installed");
        let (once, at) = (
            home.text(&CLAUDE),
            fs::metadata(home.file(&CLAUDE))
                .expect("file")
                .modified()
                .expect("time"),
        );
        let report = CLAUDE.install(&home.env).expect("again");
        assert!(!report.changed);
        assert_eq!(home.text(&CLAUDE), once);
        assert_eq!(
            fs::metadata(home.file(&CLAUDE))
                .expect("file")
                .modified()
                .expect("time"),
            at
        );
        assert_eq!(
            CLAUDE.status(&home.env).expect("status").state,
            IntegrationState::Installed
        );
    }
}

#[test]
fn the_line_stays_the_same_whatever_the_program_is() {
    let mut home = Home::new();
    CODEX.install(&home.env).expect("installed");
    let lines = home.text(&CODEX);
    home.env.program = home.folder.path().join("elsewhere/signaltty");
    assert_eq!(
        CODEX.status(&home.env).expect("status").state,
        IntegrationState::Partial
    );
    let report = CODEX.install(&home.env).expect("again");
    assert!(report.changed);
    assert_eq!(home.text(&CODEX), lines);
    let shim = fs::read_to_string(home.env.data_dir.join("hook")).expect("shim");
    assert!(shim.contains("elsewhere/signaltty"));
}

#[test]
fn an_older_form_is_made_whole() {
    let home = Home::new();
    home.write(&CLAUDE, "{\n  \"model\": \"opus\"\n}\n");
    CLAUDE.install(&home.env).expect("installed");
    let current = home.text(&CLAUDE);
    let older = current
        .replace(&INSTALLED_TIMEOUT.as_secs().to_string(), "600")
        .replace("    \"Notification\"", "    \"Retired\"")
        .replacen(
            &home.env.data_dir.display().to_string(),
            "/old/place/signaltty",
            1,
        );
    assert_ne!(older, current);
    home.write(&CLAUDE, &older);
    assert_eq!(
        CLAUDE.status(&home.env).expect("status").state,
        IntegrationState::Partial
    );
    CLAUDE.install(&home.env).expect("again");
    assert_eq!(
        CLAUDE.status(&home.env).expect("status").state,
        IntegrationState::Installed
    );
    assert!(!home.text(&CLAUDE).contains("Retired"));
    CLAUDE.uninstall(&home.env).expect("uninstalled");
    assert_eq!(home.text(&CLAUDE), "{\n  \"model\": \"opus\"\n}\n");
}

#[test]
fn a_hook_of_ours_beside_others_in_one_group_is_taken_out_alone() {
    let home = Home::new();
    let mine = r#"{"type":"command","command":"mine"}"#;
    let command = serde_json::to_string(&home.command(&CODEX)).expect("JSON");
    let ours = format!(r#"{{"type":"command","command":{command},"timeout":10}}"#);
    home.write(
        &CODEX,
        &format!("{{\"hooks\":{{\"Stop\":[{{\"hooks\":[{ours},{mine}]}}]}}}}"),
    );
    CODEX.uninstall(&home.env).expect("uninstalled");
    assert_eq!(
        home.text(&CODEX),
        format!("{{\"hooks\":{{\"Stop\":[{{\"hooks\":[{mine}]}}]}}}}")
    );
}

#[test]
fn commands_of_others_are_never_ours() {
    let home = Home::new();
    let other = "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"/x/signaltty/hook codex; mine\"}]}]}}";
    home.write(&CODEX, other);
    assert_eq!(
        CODEX.status(&home.env).expect("status").state,
        IntegrationState::Absent
    );
    assert!(!CODEX.uninstall(&home.env).expect("uninstalled").changed);
    assert_eq!(home.text(&CODEX), other);
}

#[test]
fn a_malformed_file_is_refused_with_its_line_and_left_alone() {
    for (text, wrong) in [
        ("{\n  \"a\": 1,\n}\n", 3),
        ("{\n  // mine\n  \"a\": 1\n}", 2),
        ("{\n  \"a\": \"x\n}", 2),
        ("[]", 1),
        ("{\"a\":1}\n\n{}", 3),
        ("{\n\"hooks\": []}", 2),
        ("{\n\"hooks\":\n {\"Stop\": {}}}", 3),
        ("{\"hooks\":\n{\"Stop\":\n [\"x\"]}}", 3),
    ] {
        for attempt in [HookFile::install, HookFile::uninstall, HookFile::status] {
            let home = Home::new();
            home.write(&CLAUDE, text);
            match attempt(&CLAUDE, &home.env) {
                Err(IntegrationError::Malformed { file, line, .. }) => {
                    assert_eq!(
                        (file.as_str(), line),
                        (home.file(&CLAUDE).to_str().expect("path"), wrong),
                        "{text:?}"
                    );
                }
                other => panic!("{text:?}: {other:?}"),
            }
            assert_eq!(home.text(&CLAUDE), text);
            assert!(
                !home.env.data_dir.exists(),
                "nothing else was written either"
            );
        }
    }
}

#[test]
fn a_blank_file_is_taken_as_none() {
    let home = Home::new();
    home.write(&CLAUDE, "\n");
    CLAUDE.install(&home.env).expect("installed");
    assert_eq!(
        CLAUDE.status(&home.env).expect("status").state,
        IntegrationState::Installed
    );
}

#[test]
fn the_mode_stays_and_a_link_stays_a_link() {
    let home = Home::new();
    let real = home.folder.path().join("dotfiles.json");
    fs::write(&real, "{}\n").expect("written");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).expect("mode");
    fs::create_dir_all(home.file(&CLAUDE).parent().expect("folder")).expect("folder");
    symlink("../dotfiles.json", home.file(&CLAUDE)).expect("link");
    CLAUDE.install(&home.env).expect("installed");
    assert!(home.file(&CLAUDE).is_symlink());
    assert_eq!(
        fs::metadata(&real).expect("file").permissions().mode() & 0o777,
        0o640
    );
    assert!(
        fs::read_to_string(&real)
            .expect("text")
            .contains("SessionStart")
    );
    CLAUDE.uninstall(&home.env).expect("uninstalled");
    assert!(home.file(&CLAUDE).is_symlink());
    assert_eq!(fs::read_to_string(&real).expect("text"), "{}\n");
    let left: Vec<_> = fs::read_dir(home.folder.path())
        .expect("folder")
        .map(|entry| entry.expect("entry").file_name())
        .collect();
    assert!(
        !left
            .iter()
            .any(|name| name.to_string_lossy().starts_with(".signaltty-")),
        "{left:?}"
    );
}

#[test]
fn a_file_that_cannot_be_written_is_an_error_and_stays() {
    let home = Home::new();
    // A folder where the file should be: neither readable as text nor replaceable, whoever runs the test.
    fs::create_dir_all(home.file(&CODEX)).expect("folder");
    assert!(matches!(
        CODEX.install(&home.env),
        Err(IntegrationError::Io { .. })
    ));
    assert!(home.file(&CODEX).is_dir());
}

#[test]
fn the_vendors_own_variable_names_the_folder() {
    let mut home = Home::new();
    let other = home.folder.path().join("other");
    home.env
        .vars
        .insert("CODEX_HOME".into(), other.display().to_string());
    CODEX.install(&home.env).expect("installed");
    assert!(other.join("hooks.json").exists());
    assert!(!home.file(&CODEX).exists());
}

#[test]
fn timeouts_are_in_the_vendors_unit_and_within_its_bounds() {
    let home = Home::new();
    CLAUDE.install(&home.env).expect("installed");
    CODEX.install(&home.env).expect("installed");
    for agent in [&CLAUDE, &CODEX] {
        let seconds = &home.json(agent)["hooks"]["PermissionRequest"][0]["hooks"][0]["timeout"];
        assert_eq!(seconds.as_u64(), Some(3_660));
    }
    for event in ["SessionEnd", "Interrupt"] {
        assert_eq!(
            home.json(&CODEX)["hooks"][event][0]["hooks"][0]["timeout"].as_u64(),
            Some(3),
            "{event}"
        );
    }
}

#[test]
fn what_a_person_has_to_know_is_said() {
    let home = Home::new();
    let codex = CODEX.install(&home.env).expect("installed");
    assert!(
        codex
            .notes
            .iter()
            .any(|note| note.contains("Hooks need review")),
        "{:?}",
        codex.notes
    );
    home.write(&CLAUDE, "{\"disableAllHooks\": true}");
    let claude = CLAUDE.install(&home.env).expect("installed");
    assert!(
        claude
            .notes
            .iter()
            .any(|note| note.contains("disableAllHooks")),
        "{:?}",
        claude.notes
    );
    assert!(!claude.found);
    fs::create_dir_all(home.folder.path().join("bin")).expect("folder");
    fs::write(home.folder.path().join("bin/claude"), "").expect("written");
    assert!(CLAUDE.status(&home.env).expect("status").found);
}
