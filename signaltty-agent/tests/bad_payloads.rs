//! Payloads that no version of a vendor sends, or that a later one might: nothing panics, and nothing that
//! was not asked becomes a question that can be granted.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops where it stands"
)]

use serde_json::{Value as Json, json};
use signaltty_agent::adapters;
use signaltty_core::adapter::{AgentAdapter, AnswerChannel, Ask};
use signaltty_core::answer::Applied;
use signaltty_core::limits::{DETAIL_MAX, LABEL_MAX, OPTIONS_MAX, PROMPT_MAX};
use signaltty_core::model::Polarity;

/// Every captured payload of an agent.
fn payloads(agent: &str) -> Vec<(String, Json)> {
    let folder = format!("{}/tests/payloads/{agent}", env!("CARGO_MANIFEST_DIR"));
    let Ok(files) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut found: Vec<_> = files
        .map(|file| {
            let path = file.expect("file").path();
            let text = std::fs::read_to_string(&path).expect("payload");
            (
                path.file_name()
                    .expect("name")
                    .to_string_lossy()
                    .into_owned(),
                serde_json::from_str(&text).expect("JSON"),
            )
        })
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

/// The paths of every value in a document.
fn paths(value: &Json, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Json::Object(members) => {
            for (name, inner) in members {
                paths(
                    inner,
                    &format!("{at}/{}", name.replace('~', "~0").replace('/', "~1")),
                    found,
                );
            }
        }
        Json::Array(items) => {
            for (index, inner) in items.iter().enumerate() {
                paths(inner, &format!("{at}/{index}"), found);
            }
        }
        _ => {}
    }
}

fn within_bounds(ask: &Ask, what: &str) {
    assert!(ask.prompt.len() <= PROMPT_MAX, "{what}: prompt");
    assert!(
        ask.detail
            .as_ref()
            .is_none_or(|detail| detail.len() <= DETAIL_MAX),
        "{what}: detail"
    );
    assert!(ask.options.len() <= OPTIONS_MAX, "{what}: options");
    for (index, option) in ask.options.iter().enumerate() {
        assert!(option.label.len() <= LABEL_MAX, "{what}: label");
        let equal = |other: &signaltty_core::adapter::AskOption| {
            other.id.eq_ignore_ascii_case(&option.id)
                || other.label == option.label
                || other.label == option.id
        };
        assert!(
            !ask.options[index + 1..].iter().any(equal),
            "{what}: {:?} twice",
            option.id
        );
    }
}

/// A question that can be granted says what it is about: the very tool, and the whole of its input.
fn nothing_is_granted_unseen(adapter: &dyn AgentAdapter, payload: &Json, what: &str) {
    let Ok(reading) = adapter.interpret(None, payload) else {
        return;
    };
    let Some(ask) = reading.ask else { return };
    within_bounds(&ask, what);
    if ask.channel == AnswerChannel::None {
        return;
    }
    assert_eq!(payload["hook_event_name"], "PermissionRequest", "{what}");
    assert!(
        payload["tool_name"].is_string() && payload["tool_input"].is_object(),
        "{what}"
    );
    assert!(!ask.prompt.is_empty(), "{what}");
    for option in ask
        .options
        .iter()
        .filter(|option| option.polarity == Polarity::Refuses)
    {
        let refused = Applied {
            option_id: Some(option.id.clone()),
            ..Applied::default()
        };
        let verdict = adapter.verdict(&ask.carry, &refused).expect("a refusal");
        assert!(
            verdict.contains(r#""behavior":"deny""#),
            "{what}: {verdict}"
        );
    }
    for nothing in [
        Applied::default(),
        Applied {
            option_id: Some("nothing".into()),
            ..Applied::default()
        },
    ] {
        assert!(adapter.verdict(&ask.carry, &nothing).is_err(), "{what}");
    }
}

#[test]
fn a_member_that_is_missing_or_of_another_type_grants_nothing() {
    for adapter in adapters::all() {
        for (name, payload) in payloads(adapter.agent()) {
            let mut places = Vec::new();
            paths(&payload, "", &mut places);
            for place in places {
                for wrong in [
                    json!(null),
                    json!(7),
                    json!(true),
                    json!(""),
                    json!([]),
                    json!({}),
                    json!([[]]),
                    json!("\u{202e}\u{0}\u{1b}[2J"),
                ] {
                    let mut changed = payload.clone();
                    *changed.pointer_mut(&place).expect("a place") = wrong.clone();
                    nothing_is_granted_unseen(
                        adapter.as_ref(),
                        &changed,
                        &format!("{name}{place} = {wrong}"),
                    );
                }
                let Some((parent, member)) = place.rsplit_once('/') else {
                    continue;
                };
                let mut changed = payload.clone();
                if let Some(Json::Object(members)) = changed.pointer_mut(parent) {
                    members.remove(member);
                    nothing_is_granted_unseen(
                        adapter.as_ref(),
                        &changed,
                        &format!("{name} without {place}"),
                    );
                }
            }
        }
    }
}

#[test]
fn texts_that_are_huge_stay_within_the_bounds() {
    let huge = "é".repeat(400_000);
    for adapter in adapters::all() {
        for (name, payload) in payloads(adapter.agent()) {
            let mut places = Vec::new();
            paths(&payload, "", &mut places);
            for place in places {
                let mut changed = payload.clone();
                let target = changed.pointer_mut(&place).expect("a place");
                if target.is_string() && !place.ends_with("hook_event_name") {
                    *target = json!(huge);
                    nothing_is_granted_unseen(
                        adapter.as_ref(),
                        &changed,
                        &format!("{name}{place} huge"),
                    );
                }
            }
        }
    }
}

#[test]
fn lists_that_are_huge_stay_within_the_bounds() {
    let rule = |n: usize| json!({ "type": "addDirectories", "directories": [format!("/d{n}")], "destination": "session" });
    let rules: Vec<Json> = (0..5_000).map(rule).collect();
    let claude = adapters::registry();
    let claude = claude.get("claude").expect("an adapter");
    let (_, mut request) = payloads("claude")
        .into_iter()
        .find(|(name, _)| name == "PermissionRequest-Bash.json")
        .expect("a payload");
    request["permission_suggestions"] = json!(rules);
    let ask = claude
        .interpret(None, &request)
        .expect("a reading")
        .ask
        .expect("a question");
    within_bounds(&ask, "suggestions");
    let question = json!({ "question": "?", "options": (0..500).map(|n| json!({ "label": n.to_string() })).collect::<Vec<_>>() });
    request["tool_name"] = json!("AskUserQuestion");
    request["tool_input"] = json!({ "questions": [question] });
    assert!(claude.interpret(None, &request).is_err());
}

#[test]
fn an_event_that_is_not_known_says_nothing() {
    for adapter in adapters::all()
        .iter()
        .filter(|adapter| adapter.integration().is_some())
    {
        for event in ["", "permissionrequest", "PermissionRequestV2", "Nonsense"] {
            let payload = json!({ "hook_event_name": event, "tool_name": "Bash", "tool_input": { "command": "ls" } });
            let reading = adapter.interpret(None, &payload).expect("a reading");
            assert_eq!(
                (reading.ask, reading.signal, reading.message),
                (None, None, None),
                "{event}"
            );
        }
    }
}

#[test]
fn what_is_no_object_is_refused() {
    for adapter in adapters::all() {
        for payload in [json!(null), json!([]), json!("PermissionRequest"), json!(1)] {
            assert!(
                adapter
                    .interpret(Some("PermissionRequest"), &payload)
                    .is_err()
            );
        }
    }
}

#[test]
fn every_agent_has_its_own_name() {
    let all = adapters::all();
    let mut names: Vec<_> = all.iter().map(|adapter| adapter.agent()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all.len());
}
