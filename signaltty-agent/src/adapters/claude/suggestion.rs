//! The vendor's own always-choices (`permission_suggestions`), in exact words.
//!
//! A suggestion that is echoed sets precisely what it says and no more: adding a folder, for one, does not stop
//! the next command from being asked for. So each label says what is set, and a suggestion whose effect cannot
//! be said whole is not offered.

use serde_json::Value as Json;

use crate::reading::Members;

/// What the suggestion sets, and for how long; `None` where it cannot be said, or where it grants nothing.
pub(super) fn words(suggestion: &Json) -> Option<String> {
    let suggestion = Members::of(suggestion)?;
    let lasts = destination(suggestion.text("destination")?)?;
    let what = match suggestion.text("type")? {
        "addRules" => {
            if suggestion
                .text("behavior")
                .is_some_and(|behavior| behavior != "allow")
            {
                return None;
            }
            format!("allow {}", rules(suggestion.list("rules"))?)
        }
        "addDirectories" => format!(
            "add {} to the working folders",
            texts(suggestion.list("directories"))?
        ),
        "setMode" => mode(suggestion.text("mode")?)?,
        _ => return None,
    };
    Some(format!("{what} ({lasts})"))
}

fn rules(rules: &[Json]) -> Option<String> {
    let rules: Option<Vec<String>> = rules.iter().map(rule).collect();
    Some(rules.filter(|rules| !rules.is_empty())?.join(", "))
}

fn rule(rule: &Json) -> Option<String> {
    let rule = Members::of(rule)?;
    let tool = rule.text("toolName")?;
    match rule.get("ruleContent") {
        None | Some(Json::Null) => Some(format!("every use of {tool}")),
        Some(Json::String(content)) => Some(format!("{tool}({content})")),
        Some(_) => None,
    }
}

fn texts(list: &[Json]) -> Option<String> {
    let texts: Option<Vec<&str>> = list.iter().map(Json::as_str).collect();
    Some(texts.filter(|texts| !texts.is_empty())?.join(", "))
}

fn mode(mode: &str) -> Option<String> {
    let effect = match mode {
        "acceptEdits" => "file edits are accepted without asking",
        "bypassPermissions" => "EVERYTHING runs without asking",
        "auto" => "the agent's own classifier decides what is asked for",
        "plan" => "nothing is changed before a plan is approved",
        "default" => "edits and commands are asked for",
        "dontAsk" => "what is not allowed yet is refused without asking",
        _ => return None,
    };
    Some(format!("switch to mode {mode}: {effect}"))
}

fn destination(destination: &str) -> Option<&'static str> {
    Some(match destination {
        "session" => "this session",
        "localSettings" => "saved in .claude/settings.local.json, this project, only you",
        "projectSettings" => "saved in .claude/settings.json, this project, everyone",
        "userSettings" => "saved in your own settings, every project",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_label_says_the_exact_rule_and_how_long_it_lasts() {
        let rule = json!({ "type": "addRules", "behavior": "allow", "destination": "localSettings",
            "rules": [{ "toolName": "Bash", "ruleContent": "npm test:*" }, { "toolName": "WebSearch" }] });
        assert_eq!(
            words(&rule).as_deref(),
            Some(
                "allow Bash(npm test:*), every use of WebSearch (saved in .claude/settings.local.json, this project, only you)"
            )
        );
        let folder = json!({ "type": "addDirectories", "directories": ["/srv/a"], "destination": "session" });
        assert_eq!(
            words(&folder).as_deref(),
            Some("add /srv/a to the working folders (this session)")
        );
        let mode = json!({ "type": "setMode", "mode": "acceptEdits", "destination": "session" });
        assert_eq!(
            words(&mode).as_deref(),
            Some(
                "switch to mode acceptEdits: file edits are accepted without asking (this session)"
            )
        );
    }

    #[test]
    fn what_cannot_be_said_whole_is_not_offered() {
        for unsayable in [
            json!(null),
            json!({ "type": "addRules", "rules": [], "destination": "session" }),
            json!({ "type": "addRules", "rules": [{ "toolName": "Bash", "ruleContent": 7 }], "destination": "session" }),
            json!({ "type": "addRules", "rules": [{ "toolName": "Bash" }], "behavior": "deny", "destination": "session" }),
            json!({ "type": "addDirectories", "directories": ["/a", 1], "destination": "session" }),
            json!({ "type": "setMode", "mode": "acceptEdits", "destination": "elsewhere" }),
            json!({ "type": "setMode", "mode": "newMode", "destination": "session" }),
            json!({ "type": "replaceRules", "rules": [{ "toolName": "Bash" }], "destination": "session" }),
        ] {
            assert_eq!(words(&unsayable), None, "{unsayable}");
        }
    }
}
