//! What may stand as a decision (`specs/010 §2.6` to `§2.8`, `specs/001 §5` "bounded").

use signaltty_core::adapter::{AnswerChannel, Ask};
use signaltty_core::limits::{DETAIL_MAX, FIELDS_MAX, LABEL_MAX, OPTIONS_MAX, PROMPT_MAX};
use signaltty_core::model::{Decision, Field, Kind, Origin, Polarity, TextUse, Value, Values};
use signaltty_core::session::SessionError;

use super::harness::*;
use Polarity::{Grants, Neutral, Refuses};

fn taken(ask: Ask) -> Decision {
    let mut world = World::new();
    world.hint(ask);
    world.pending().unwrap()
}

fn refused(ask: Ask) -> String {
    let mut world = World::new();
    let before = world.session.panes();
    let error = world.try_report("p1", asks(ask), None).unwrap_err();
    assert_eq!(
        world.session.panes(),
        before,
        "a refused report changes nothing"
    );
    match error {
        SessionError::BadDecision { path, .. } => path,
        other => panic!("{other:?}"),
    }
}

fn fields(json: serde_json::Value) -> Vec<Field> {
    serde_json::from_value(json).unwrap()
}

/// What a caller spelt out itself is refused where it is wrong, with the path of the member.
#[test]
fn a_decision_that_is_spelt_out_wrongly_is_refused_by_path() {
    let many = |n: usize| {
        (0..n)
            .map(|n| option(&format!("o{n}"), &format!("Option {n}"), Neutral, false))
            .collect()
    };
    let select = |choices: serde_json::Value| {
        fields(
            serde_json::json!([{ "id": "s", "type": "select", "label": "S", "choices": choices }]),
        )
    };
    for (ask, path) in [
        (
            Ask {
                id: Some(signaltty_core::model::DecisionId::from_trusted("a b")),
                ..plain("x")
            },
            "decision.id",
        ),
        (plain(" \n"), "decision.prompt"),
        (plain(&"x".repeat(PROMPT_MAX + 1)), "decision.prompt"),
        (
            Ask {
                detail: Some("x".repeat(DETAIL_MAX + 1)),
                ..plain("x")
            },
            "decision.detail",
        ),
        (
            Ask {
                subject: Some("x".repeat(LABEL_MAX + 1)),
                ..plain("x")
            },
            "decision.subject",
        ),
        (
            Ask {
                options: many(OPTIONS_MAX + 1),
                ..plain("x")
            },
            "decision.options",
        ),
        (
            Ask {
                options: vec![option("a", &"x".repeat(LABEL_MAX + 1), Neutral, false)],
                ..plain("x")
            },
            "decision.options[0].label",
        ),
        (
            Ask {
                options: vec![
                    option("a", "A", Neutral, false),
                    option("A", "B", Neutral, false),
                ],
                ..plain("x")
            },
            "decision.options[1].id",
        ),
        (
            Ask {
                options: vec![
                    option("yes", "Go", Grants, false),
                    option("b", "Yes", Refuses, false),
                ],
                ..plain("x")
            },
            "decision.options[1].label",
        ),
        (
            Ask {
                options: vec![option("a b", "A", Neutral, false)],
                ..plain("x")
            },
            "decision.options[0].id",
        ),
        (
            Ask {
                kind: Kind::Form,
                ..plain("x")
            },
            "decision.fields",
        ),
        (
            Ask {
                fields: select(serde_json::json!([{ "id": "a", "label": "A" }])),
                ..plain("x")
            },
            "decision.fields",
        ),
        (
            Ask {
                kind: Kind::Form,
                fields: select(serde_json::json!([])),
                ..plain("x")
            },
            "decision.fields[0].choices",
        ),
    ] {
        assert_eq!(refused(ask.clone()), path, "{:?}", ask.prompt.get(..20));
        assert_eq!(
            refused(Ask {
                origin: Origin::Ask,
                ..ask
            }),
            path
        );
    }
}

/// What an adapter read is never dropped for its form: it is cut visibly, and ids are minted.
#[test]
fn what_an_adapter_read_is_bounded_and_never_dropped() {
    let decision = taken(Ask {
        id: Some(signaltty_core::model::DecisionId::from_trusted("not an id")),
        detail: Some("é".repeat(DETAIL_MAX)),
        subject: Some("x".repeat(LABEL_MAX * 2)),
        options: (0..OPTIONS_MAX * 2)
            .map(|n| {
                option(
                    "same",
                    &format!("{n} {}", "x".repeat(LABEL_MAX * 2)),
                    Grants,
                    false,
                )
            })
            .collect(),
        ..card(&"x".repeat(PROMPT_MAX * 2))
    });
    assert!(decision.id.as_str().starts_with("minted-"));
    assert!(decision.prompt.len() <= PROMPT_MAX && decision.prompt.ends_with("bytes cut]"));
    let detail = decision.detail.unwrap();
    assert!(detail.len() <= DETAIL_MAX && detail.ends_with("bytes cut]"));
    assert!(decision.subject.unwrap().len() <= LABEL_MAX);
    assert_eq!(decision.options.len(), OPTIONS_MAX);
    assert!(
        decision
            .options
            .iter()
            .all(|option| option.label.len() <= LABEL_MAX)
    );
    signaltty_core::answer::check_options(&decision.options).expect("what stands can be answered");

    let decision = taken(Ask {
        prompt: " ".into(),
        subject: Some("shell".into()),
        ..card("x")
    });
    assert_eq!(decision.prompt, "shell", "something is shown in any case");
}

/// §2.6: clashing ids of an adapter are minted, also where its labels look like minted ids.
#[test]
fn minted_options_clash_with_nothing() {
    for spec in [
        vec![("yes", "Go"), ("b", "YES")],
        vec![("a", "o2"), ("A", "O1"), ("x", "o3")],
        vec![("", "First"), ("", ""), ("b", " ")],
    ] {
        let options: Vec<_> = spec
            .iter()
            .map(|(id, label)| option(id, label, Neutral, false))
            .collect();
        for origin in [Origin::Hook, Origin::Stream, Origin::Aep] {
            let decision = taken(Ask {
                options: options.clone(),
                origin,
                ..card("x")
            });
            let ids: Vec<_> = decision
                .options
                .iter()
                .map(|option| option.id.as_str())
                .collect();
            assert_eq!(ids, ["o1", "o2", "o3"][..spec.len()]);
            signaltty_core::answer::check_options(&decision.options)
                .expect("what stands can be answered");
        }
    }
}

/// §2.6: the same for the fields and choices of a form, and the adapter gets its own ids back.
#[test]
fn a_form_with_odd_ids_is_answered_in_ours_and_delivered_in_its_own() {
    let odd = fields(serde_json::json!([
        { "id": "Which colour?", "type": "select", "label": "Which colour?", "choices": [
            { "id": "Red!", "label": "Red" }, { "id": "c1", "label": "Green" }] },
        { "id": "Tags", "type": "select", "label": "Tags", "multi": true, "choices": [
            { "id": "a b", "label": "A" }, { "id": "b c", "label": "B" }] },
        { "id": "nothing to choose", "type": "select", "label": "?", "choices": [] },
    ]));
    let mut world = World::new();
    let asked = world.held(
        Ask {
            kind: Kind::Form,
            fields: odd,
            options: Vec::new(),
            text: TextUse::Answer,
            ..card("x")
        },
        1,
    );
    let shown = world.pending().unwrap();
    assert_eq!(
        shown
            .fields
            .iter()
            .map(|field| field.id.as_str())
            .collect::<Vec<_>>(),
        ["f1", "f2", "f3"]
    );
    signaltty_core::answer::check_fields(&shown.fields).expect("what stands can be answered");
    let many = |ids: &[&str]| Value::Many(ids.iter().map(|id| (*id).to_owned()).collect());
    let values = Values::from([
        ("f1".to_owned(), Value::String("c2".into())),
        ("f2".to_owned(), many(&["c2", "c1"])),
        ("f3".to_owned(), Value::String("words".into())),
    ]);
    let answer = signaltty_core::answer::Answer {
        values: Some(values.clone()),
        ..Default::default()
    };
    let outcome = world.answer(&asked, answer);
    let own = Values::from([
        ("Which colour?".to_owned(), Value::String("c1".into())),
        ("Tags".to_owned(), many(&["b c", "a b"])),
        (
            "nothing to choose".to_owned(),
            Value::String("words".into()),
        ),
    ]);
    assert_eq!(deliveries(&outcome)[0].1.values, Some(own));
    let outcome = world.run(signaltty_core::session::Command::Delivered { decision_id: asked });
    assert_eq!(
        cleared(&outcome)[0].applied.as_ref().unwrap().values,
        Some(values)
    );
}

#[test]
fn an_adapters_form_is_bounded() {
    let field = |n: usize| serde_json::json!({ "id": format!("f{n}"), "type": "string", "label": "x".repeat(LABEL_MAX * 2) });
    let long = fields((0..FIELDS_MAX * 2).map(field).collect());
    let decision = taken(Ask {
        kind: Kind::Form,
        fields: long,
        ..card("x")
    });
    assert_eq!(decision.fields.len(), FIELDS_MAX);
    signaltty_core::answer::check_fields(&decision.fields).expect("what stands can be answered");
    // A form without fields is a question in words.
    let decision = taken(Ask {
        kind: Kind::Form,
        options: Vec::new(),
        text: TextUse::Answer,
        ..card("x")
    });
    assert_eq!(decision.kind, Kind::Input);
}

/// §2.8: options without any polarity: nothing grants, deny, reject, no and cancel refuse.
#[test]
fn options_without_polarity_get_the_refusing_ones_alone() {
    let ids = ["yes", "allow", "DENY", "Reject", "no", "cancel", "never"];
    let options = |polarity| {
        ids.iter()
            .map(|id| option(id, &format!("{id} it"), polarity, true))
            .collect::<Vec<_>>()
    };
    let polarities = |ask| {
        taken(ask)
            .options
            .iter()
            .map(|option| option.polarity)
            .collect::<Vec<_>>()
    };
    let expected = [
        Neutral, Neutral, Refuses, Refuses, Refuses, Refuses, Neutral,
    ];
    assert_eq!(
        polarities(Ask {
            options: options(Neutral),
            ..plain("x")
        }),
        expected
    );
    // Whoever said any polarity said all of them.
    let mut said = options(Neutral);
    said[0].polarity = Grants;
    assert_eq!(
        polarities(Ask {
            options: said,
            ..plain("x")
        })[2],
        Neutral
    );
    // An adapter knows what its options do.
    assert_eq!(
        polarities(Ask {
            options: options(Neutral),
            ..card("x")
        }),
        [Neutral; 7]
    );
}

/// §2.8: on such a card words never grant either.
#[test]
fn words_on_options_without_polarity_refuse_or_are_invalid() {
    let mut world = World::new();
    let options = vec![
        option("yes", "Yes", Neutral, true),
        option("no", "No", Neutral, true),
    ];
    let script = Ask {
        options,
        origin: Origin::Ask,
        ..card("Deploy?")
    };
    let asked = world.held(script, 1);
    let outcome = world.answer(&asked, by_text("sure"));
    assert_eq!(deliveries(&outcome)[0].1.option_id.as_deref(), Some("no"));
}

/// What typed text can do follows the kind and the channel.
#[test]
fn what_text_can_do_follows_the_kind_and_the_channel() {
    let mute = vec![
        option("allow", "Allow", Grants, false),
        option("deny", "Deny", Refuses, false),
    ];
    for (ask, text) in [
        (card("x"), TextUse::Reason),
        (
            Ask {
                text: TextUse::Answer,
                ..card("x")
            },
            TextUse::Reason,
        ),
        (
            Ask {
                options: mute,
                ..card("x")
            },
            TextUse::None,
        ),
        (
            Ask {
                text: TextUse::None,
                ..card("x")
            },
            TextUse::None,
        ),
        (
            Ask {
                channel: AnswerChannel::TypeText,
                ..card("x")
            },
            TextUse::None,
        ),
        (
            Ask {
                channel: AnswerChannel::TypeText,
                ..question("x")
            },
            TextUse::None,
        ),
        (question("x"), TextUse::Answer),
        (
            Ask {
                text: TextUse::Reason,
                ..question("x")
            },
            TextUse::None,
        ),
    ] {
        assert_eq!(taken(ask).text, text);
    }
}

/// A label is read without the white space around it, so that is how it is kept.
#[test]
fn labels_are_trimmed() {
    let options = vec![
        option("a", "  Go \n", Grants, false),
        option("b", "\u{feff}Stop", Refuses, true),
    ];
    let labels: Vec<_> = taken(Ask {
        options,
        ..card("x")
    })
    .options
    .into_iter()
    .map(|option| option.label)
    .collect();
    assert_eq!(labels, ["Go", "Stop"]);
}
