//! What an answer means (`specs/010 §2`, AEP-0008 §1), as tables.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "these are tests"
)]

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use signaltty_core::answer::{
    Answer, Applied, Card, InvalidAnswer, check_fields, check_options, default_refusal, resolve,
};
use signaltty_core::limits::{OPTIONS_MAX, TEXT_MAX};
use signaltty_core::model::{
    AnswerOption, Choice, Field, FieldType, Kind, Polarity, TextUse, Value, Values,
};

use Polarity::{Grants, Neutral, Refuses};

fn options(spec: &[(&str, &str, Polarity)]) -> Vec<AnswerOption> {
    let option = |(id, label, polarity): &(&str, &str, Polarity)| AnswerOption {
        id: (*id).into(),
        label: (*label).into(),
        polarity: *polarity,
    };
    spec.iter().map(option).collect()
}

/// The card that adapters mint for a permission.
fn verdict() -> Vec<AnswerOption> {
    options(&[
        ("allow", "Allow once", Grants),
        ("deny", "Deny", Refuses),
        ("always-1", "Always: shell(npm test:*)", Grants),
    ])
}

/// A card of a kind, whose `carries` options take a text.
struct Table {
    kind: Kind,
    options: Vec<AnswerOption>,
    carries: Vec<String>,
    fields: Vec<Field>,
    text: TextUse,
}

impl Table {
    fn permission() -> Self {
        Self {
            kind: Kind::Permission,
            options: verdict(),
            carries: vec!["deny".into()],
            fields: Vec::new(),
            text: TextUse::Reason,
        }
    }

    fn of(kind: Kind, options: Vec<AnswerOption>, text: TextUse) -> Self {
        Self {
            kind,
            options,
            text,
            carries: Vec::new(),
            fields: Vec::new(),
        }
    }

    fn form(fields: Vec<Field>) -> Self {
        Self {
            fields,
            ..Self::of(Kind::Form, Vec::new(), TextUse::Answer)
        }
    }

    fn resolve(&self, answer: &Answer) -> Result<Applied, InvalidAnswer> {
        resolve(&self.card(), answer)
    }

    fn card(&self) -> Card<'_> {
        Card {
            kind: self.kind,
            options: &self.options,
            carries_text: &self.carries,
            fields: &self.fields,
            text: self.text,
        }
    }

    fn text(&self, text: &str) -> Result<Applied, InvalidAnswer> {
        self.resolve(&Answer {
            text: Some(text.into()),
            ..Answer::default()
        })
    }

    fn option(&self, id: &str, text: Option<&str>) -> Result<Applied, InvalidAnswer> {
        self.resolve(&Answer {
            option_id: Some(id.into()),
            text: text.map(str::to_owned),
            values: None,
        })
    }

    fn values(&self, values: &[(&str, Value)]) -> Result<Applied, InvalidAnswer> {
        let values: Values = values
            .iter()
            .map(|(id, value)| ((*id).to_owned(), value.clone()))
            .collect();
        self.resolve(&Answer {
            values: Some(values),
            ..Answer::default()
        })
    }
}

fn chose(id: &str) -> Applied {
    Applied {
        option_id: Some(id.into()),
        ..Applied::default()
    }
}

fn refused_with(id: &str, text: &str) -> Applied {
    Applied {
        option_id: Some(id.into()),
        text: Some(text.into()),
        values: None,
    }
}

fn words(text: &str) -> Applied {
    Applied {
        text: Some(text.into()),
        ..Applied::default()
    }
}

/// §2.2: which texts name an option, on cards with odd ids and labels.
#[test]
fn a_text_names_an_option_when_it_equals_its_id_or_its_only_label_in_any_case() {
    let odd = options(&[
        ("allow", "Allow once", Grants),
        ("deny", "Deny", Refuses),
        ("strasse", "Hauptstraße", Neutral),
        ("da", "Разрешить", Neutral),
        ("sigma", "ὈΔΥΣΣΕΎΣ", Neutral),
        ("wide", "ａｌｌｏｗ", Neutral),
        ("iptal", "\u{131}ptal et", Neutral),
        ("ok", "Okay", Neutral),
        ("yes", "Sure", Neutral),
        ("twin-1", "The same", Neutral),
        ("twin-2", "THE SAME", Neutral),
        ("cafe", "Caf\u{e9}", Neutral),
    ]);
    let table = Table::of(Kind::Input, odd, TextUse::Answer);
    for (text, names) in [
        ("allow", Some("allow")),
        (" ALLOW\n", Some("allow")),
        ("\u{a0}\u{3000}aLLoW\t", Some("allow")),
        ("\u{feff}allow\u{feff}", Some("allow")),
        ("\u{85}allow", Some("allow")),
        ("Allow Once", Some("allow")),
        ("allow  once", None),
        ("allow.", None),
        ("allo", None),
        ("al\u{200b}low", None),
        ("\u{200b}allow", None),
        // Sharp s folds to two letters, whatever its case.
        ("STRASSE", Some("strasse")),
        ("straße", Some("strasse")),
        ("HAUPTSTRASSE", Some("strasse")),
        ("HAUPTSTRA\u{1e9e}E", Some("strasse")),
        // Cyrillic has case, Greek has two small sigmas.
        ("РАЗРЕШИТЬ", Some("da")),
        ("разрешить", Some("da")),
        ("ὀδυσσεύς", Some("sigma")),
        // Full-width letters are letters of their own.
        ("ＡＬＬＯＷ", Some("wide")),
        // No locale: a dotted capital i and a dotless small one are neither i, and nothing is upper-cased.
        ("\u{130}PTAL", None),
        ("\u{131}ptal", None),
        ("iptal", Some("iptal")),
        ("IPTAL", Some("iptal")),
        ("iptal et", None),
        ("\u{131}PTAL ET", Some("iptal")),
        // The Kelvin sign and the long s fold to k and s.
        ("o\u{212a}", Some("ok")),
        ("ye\u{17f}", Some("yes")),
        // Two options with that label: neither.
        ("the same", None),
        ("twin-2", Some("twin-2")),
        // No normalisation.
        ("cafe\u{301}", None),
        ("CAF\u{c9}", Some("cafe")),
    ] {
        let expected = names.map_or_else(|| words(text), chose);
        assert_eq!(table.text(text), Ok(expected), "{text:?}");
    }
}

/// §2.2: an id comes before any label. Ingest refuses such a card (§2.6); the rule holds all the same.
#[test]
fn an_id_is_matched_before_a_label() {
    let table = Table::of(
        Kind::Input,
        options(&[("a", "b", Grants), ("b", "c", Refuses)]),
        TextUse::Answer,
    );
    assert_eq!(table.text("B"), Ok(chose("b")));
}

/// §2.2, AEP-0008 §1: the matched word is the decision, not a text that goes along.
#[test]
fn a_matched_text_is_recorded_as_the_option_alone() {
    assert_eq!(Table::permission().text(" DENY "), Ok(chose("deny")));
    assert_eq!(
        Table::permission().text("always: SHELL(npm test:*)"),
        Ok(chose("always-1"))
    );
}

/// §2.3, §2.7: what names no option refuses, with the words as the reason. Never a granting option.
#[test]
fn unmatched_text_refuses_a_permission_and_is_its_reason() {
    for text in [
        "yes",
        "Yes",
        "y",
        "ok",
        "OK",
        "okay",
        "sure",
        "approve",
        "approve it",
        "allow please",
        "allow.",
        "go ahead",
        "1",
        "true",
        "👍",
        "use the staging registry instead",
        " yes\n",
    ] {
        assert_eq!(
            Table::permission().text(text),
            Ok(refused_with("deny", text)),
            "{text:?}"
        );
    }
}

/// §2.3: where no reason can travel, nothing is lost: the decision stays as it is.
#[test]
fn unmatched_text_is_invalid_where_the_channel_carries_no_reason() {
    let mute = Table {
        carries: Vec::new(),
        ..Table::permission()
    };
    let silent = Table {
        text: TextUse::None,
        ..Table::permission()
    };
    let no_refusal = Table {
        options: options(&[("allow", "Allow", Grants)]),
        ..Table::permission()
    };
    let nothing = Table {
        options: Vec::new(),
        ..Table::permission()
    };
    for table in [mute, silent, no_refusal, nothing] {
        let error = table.text("yes").unwrap_err();
        assert!(
            matches!(error, InvalidAnswer::UnmatchedText { .. }),
            "{error:?}"
        );
        assert_eq!(error.path(), "text");
    }
}

/// §2.3: nothing but an option approves a plan.
#[test]
fn text_on_a_plan_sends_it_back_and_never_approves_it() {
    let plan = || {
        options(&[
            ("approve", "Approve the plan", Grants),
            ("revise", "Keep planning", Refuses),
        ])
    };
    let table = Table {
        carries: vec!["revise".into()],
        ..Table::of(Kind::Review, plan(), TextUse::Reason)
    };
    for text in ["yes", "approved", "looks good", "split step 2"] {
        assert_eq!(table.text(text), Ok(refused_with("revise", text)));
    }
    assert_eq!(table.text("approve the PLAN"), Ok(chose("approve")));
    assert_eq!(table.option("approve", None), Ok(chose("approve")));
}

/// §2.3: the first refusing option that carries a reason, else the last that refuses.
#[test]
fn the_default_refusal_is_the_first_with_a_reason_else_the_last() {
    let spec = [
        ("no", "No", Refuses),
        ("deny", "Deny", Refuses),
        ("never", "Never", Refuses),
        ("go", "Go", Grants),
    ];
    let with = |carries: &[&str]| Table {
        options: options(&spec),
        carries: carries.iter().map(|id| (*id).to_owned()).collect(),
        ..Table::permission()
    };
    let refusal = |table: &Table| default_refusal(&table.card()).map(|option| option.id.clone());
    assert_eq!(refusal(&with(&["deny", "never"])).as_deref(), Some("deny"));
    assert_eq!(refusal(&with(&[])).as_deref(), Some("never"));
    // A granting option that carries a text is no refusal.
    assert_eq!(refusal(&with(&["go"])).as_deref(), Some("never"));
    let grants_only = Table {
        options: options(&[("go", "Go", Grants), ("x", "X", Neutral)]),
        ..Table::permission()
    };
    assert_eq!(refusal(&grants_only), None);
}

/// §2.1: an option is known exactly, or the answer is invalid; it is never looked up as text.
#[test]
fn an_option_is_known_exactly_or_invalid() {
    let table = Table::permission();
    assert_eq!(table.option("allow", None), Ok(chose("allow")));
    for id in ["Allow", "ALLOW", " allow", "Allow once", "", "yes", "o1"] {
        assert!(
            matches!(
                table.option(id, None),
                Err(InvalidAnswer::UnknownOption { .. })
            ),
            "{id:?}"
        );
        // Not looked up as text either, whatever text comes along.
        assert!(
            matches!(
                table.option(id, Some("deny")),
                Err(InvalidAnswer::UnknownOption { .. })
            ),
            "{id:?}"
        );
    }
    assert_eq!(table.option("nope", None).unwrap_err().path(), "option_id");
}

/// §2.1: text beside an option is its reason where that can be carried, and invalid where it cannot.
#[test]
fn a_text_beside_an_option_is_its_reason_or_invalid() {
    let table = Table::permission();
    assert_eq!(
        table.option("deny", Some("use staging")),
        Ok(refused_with("deny", "use staging"))
    );
    // Even where the text is the name of another option: the option decides.
    assert_eq!(
        table.option("deny", Some("allow")),
        Ok(refused_with("deny", "allow"))
    );
    assert!(matches!(
        table.option("allow", Some("but be quick")),
        Err(InvalidAnswer::TextNotCarried { .. })
    ));
    let silent = Table {
        text: TextUse::None,
        ..Table::permission()
    };
    assert!(matches!(
        silent.option("deny", Some("why")),
        Err(InvalidAnswer::TextNotCarried { .. })
    ));
}

/// §2.4: blank text is always invalid, on every card and beside every option.
#[test]
fn blank_text_is_always_invalid() {
    for blank in ["", " ", "\n\t", "\u{a0}\u{3000}", "\u{feff}", " \u{feff} "] {
        for kind in [Kind::Permission, Kind::Review, Kind::Input, Kind::Form] {
            let table = Table {
                kind,
                ..Table::permission()
            };
            assert_eq!(
                table.text(blank),
                Err(InvalidAnswer::BlankText),
                "{kind:?} {blank:?}"
            );
        }
        assert_eq!(
            Table::permission().option("deny", Some(blank)),
            Err(InvalidAnswer::BlankText)
        );
    }
}

/// §2.4: an input takes the text itself where text is the answer.
#[test]
fn text_answers_an_input_that_takes_it() {
    let open = Table::of(Kind::Input, Vec::new(), TextUse::Answer);
    assert_eq!(open.text(" two words "), Ok(words(" two words ")));
    for text in [TextUse::None, TextUse::Reason] {
        let closed = Table::of(Kind::Input, Vec::new(), text);
        assert!(matches!(
            closed.text("two words"),
            Err(InvalidAnswer::TextNotTaken { .. })
        ));
        let menu = Table::of(Kind::Input, options(&[("a", "A", Neutral)]), text);
        assert!(matches!(
            menu.text("two words"),
            Err(InvalidAnswer::UnmatchedText { .. })
        ));
        assert_eq!(menu.text("A"), Ok(chose("a")));
    }
}

/// §2.7: where the options are the caller's own, an exact "yes" names the option "Yes", and that is right.
#[test]
fn yes_names_a_callers_own_option_yes() {
    let table = Table {
        options: options(&[("go", "Yes", Grants), ("stop", "No", Refuses)]),
        ..Table::permission()
    };
    assert_eq!(table.text("yes"), Ok(chose("go")));
}

#[test]
fn an_answer_without_any_member_or_with_members_that_cannot_be_carried_is_invalid() {
    let table = Table::permission();
    assert_eq!(table.resolve(&Answer::default()), Err(InvalidAnswer::Empty));
    assert_eq!(
        table.values(&[("a", Value::Boolean(true))]),
        Err(InvalidAnswer::NotAForm)
    );
    let both = Answer {
        option_id: Some("allow".into()),
        values: Some(Values::from([("a".into(), Value::Boolean(true))])),
        text: None,
    };
    assert_eq!(table.resolve(&both), Err(InvalidAnswer::NotAForm));
    let long = "x".repeat(TEXT_MAX + 1);
    assert_eq!(
        table.text(&long),
        Err(InvalidAnswer::TooLong {
            bytes: TEXT_MAX + 1
        })
    );
    assert_eq!(
        table.option("deny", Some(&long)),
        Err(InvalidAnswer::TooLong {
            bytes: TEXT_MAX + 1
        })
    );
}

fn field(id: &str, field_type: FieldType) -> Field {
    Field {
        id: id.into(),
        field_type,
        label: id.to_uppercase(),
        required: true,
        choices: Vec::new(),
        multi: false,
        other: false,
        min: None,
        max: None,
    }
}

fn select(id: &str, choices: &[(&str, &str)]) -> Field {
    let choice = |(id, label): &(&str, &str)| Choice {
        id: (*id).into(),
        label: (*label).into(),
        description: None,
    };
    Field {
        choices: choices.iter().map(choice).collect(),
        ..field(id, FieldType::Select)
    }
}

fn colour() -> Field {
    select("colour", &[("r", "Red"), ("g", "Green")])
}

fn text(value: &str) -> Value {
    Value::String(value.into())
}

fn many(ids: &[&str]) -> Value {
    Value::Many(ids.iter().map(|id| (*id).to_owned()).collect())
}

/// §2.5: values answer a form whole or not at all; an error names the field.
#[test]
fn values_answer_a_form_whole_or_not_at_all() {
    let table = Table::form(vec![
        field("name", FieldType::String),
        Field {
            min: Some(1.0),
            max: Some(9.0),
            ..field("count", FieldType::Number)
        },
        Field {
            required: false,
            ..field("draft", FieldType::Boolean)
        },
        colour(),
        Field {
            multi: true,
            required: false,
            ..select("tags", &[("a", "A"), ("b", "B")])
        },
        Field {
            other: true,
            required: false,
            ..select("where", &[("here", "Here")])
        },
    ]);
    let good = [
        ("name", text("Ada")),
        ("count", Value::Number(3.0)),
        ("colour", text("g")),
    ];
    let with = |extra: &[(&'static str, Value)]| {
        let mut all: Vec<_> = good.to_vec();
        for (id, value) in extra {
            all.retain(|(known, _)| known != id);
            all.push((*id, value.clone()));
        }
        all
    };
    let applied = table
        .values(&with(&[
            ("tags", many(&["a", "b"])),
            ("where", text("over there")),
        ]))
        .unwrap();
    assert_eq!(applied.values.unwrap().len(), 5);
    assert_eq!((applied.option_id, applied.text), (None, None));
    // One choice of several may come without its list.
    let one = table.values(&with(&[("tags", text("b"))])).unwrap();
    assert_eq!(one.values.unwrap()["tags"], many(&["b"]));

    for (wrong, path) in [
        (vec![("name", text("Ada"))], "values.count"),
        (with(&[("name", text(" "))]), "values.name"),
        (with(&[("name", Value::Boolean(true))]), "values.name"),
        (
            with(&[("name", text(&"x".repeat(TEXT_MAX + 1)))]),
            "values.name",
        ),
        (with(&[("count", text("3"))]), "values.count"),
        (with(&[("count", Value::Number(10.0))]), "values.count"),
        (with(&[("count", Value::Number(0.5))]), "values.count"),
        (with(&[("count", Value::Number(f64::NAN))]), "values.count"),
        (with(&[("draft", text("true"))]), "values.draft"),
        (with(&[("colour", text("zzz"))]), "values.colour"),
        (with(&[("colour", text("Green"))]), "values.colour"),
        (with(&[("colour", many(&["r"]))]), "values.colour"),
        (with(&[("tags", many(&["a", "zzz"]))]), "values.tags"),
        (with(&[("tags", many(&["a", "a"]))]), "values.tags"),
        (with(&[("where", text("  "))]), "values.where"),
        (with(&[("size", text("big"))]), "values.size"),
    ] {
        let error = table.values(&wrong).unwrap_err();
        assert_eq!(error.path(), path, "{error}");
    }
    assert_eq!(table.values(&[]).unwrap_err().path(), "values.name");
    let optional = Table::form(vec![Field {
        required: false,
        ..field("name", FieldType::String)
    }]);
    assert_eq!(optional.values(&[]), Err(InvalidAnswer::Empty));
    assert_eq!(table.text("Ada").unwrap_err().path(), "text");
    let both = Answer {
        values: Some(Values::new()),
        text: Some("Ada".into()),
        option_id: None,
    };
    assert!(matches!(
        table.resolve(&both),
        Err(InvalidAnswer::TextNotTaken { .. })
    ));
}

/// §2.5: text on a form is invalid unless it has one field that text can fill.
#[test]
fn text_fills_the_only_field_of_a_form_where_it_can() {
    let value = |table: &Table, text: &str| {
        table
            .text(text)
            .map(|applied| applied.values.unwrap().into_values().next().unwrap())
    };
    assert_eq!(
        value(
            &Table::form(vec![field("name", FieldType::String)]),
            " Ada "
        ),
        Ok(text(" Ada "))
    );
    let one = Table::form(vec![colour()]);
    assert_eq!(value(&one, " GREEN "), Ok(text("g")));
    assert_eq!(value(&one, "r"), Ok(text("r")));
    assert_eq!(one.text("blue").unwrap_err().path(), "values.colour");
    let other = Table::form(vec![Field {
        other: true,
        ..colour()
    }]);
    assert_eq!(value(&other, "sky blue"), Ok(text("sky blue")));
    let several = Table::form(vec![Field {
        multi: true,
        ..colour()
    }]);
    assert_eq!(value(&several, "red"), Ok(many(&["r"])));
    for kind in [FieldType::Number, FieldType::Boolean] {
        assert!(matches!(
            Table::form(vec![field("n", kind)]).text("1"),
            Err(InvalidAnswer::TextNotTaken { .. })
        ));
    }
}

/// AEP-0006: a client that draws no forms sends the choice of a single question as an option.
#[test]
fn a_choice_of_the_only_select_can_be_sent_as_an_option() {
    let one = Table::form(vec![colour()]);
    let applied = one.option("g", None).unwrap();
    assert_eq!(
        applied,
        Applied {
            values: Some(Values::from([("colour".into(), text("g"))])),
            ..Applied::default()
        }
    );
    for id in ["G", "Green", "zzz"] {
        assert!(
            matches!(
                one.option(id, None),
                Err(InvalidAnswer::UnknownOption { .. })
            ),
            "{id:?}"
        );
    }
    let two = Table::form(vec![colour(), field("name", FieldType::String)]);
    assert!(matches!(
        two.option("g", None),
        Err(InvalidAnswer::UnknownOption { .. })
    ));
}

/// §2.6: what one word could name twice cannot be offered.
#[test]
fn options_that_one_word_could_name_twice_are_refused() {
    for (spec, path) in [
        (
            vec![("a", "A", Grants), ("A", "B", Refuses)],
            "options[1].id",
        ),
        (
            vec![("strasse", "A", Grants), ("straße", "B", Refuses)],
            "options[1].id",
        ),
        (
            vec![("allow", "Yes", Grants), ("yes", "No", Refuses)],
            "options[1].id",
        ),
        (
            vec![("yes", "Allow", Grants), ("deny", " YES ", Refuses)],
            "options[1].label",
        ),
        (vec![("", "A", Grants)], "options[0].id"),
        (vec![("a b", "A", Grants)], "options[0].id"),
        (vec![("a", "  ", Grants)], "options[0].label"),
    ] {
        let error = check_options(&options(&spec)).unwrap_err();
        assert_eq!(error.path, path, "{error}");
    }
    // An option's own label may be its id, and two labels may be the same: no text names either then.
    check_options(&options(&[
        ("deny", "Deny", Refuses),
        ("a", "Go", Grants),
        ("b", "Go", Grants),
    ]))
    .unwrap();
    let many: Vec<_> = (0..=OPTIONS_MAX)
        .map(|n| (format!("o{n}"), format!("Option {n}")))
        .collect();
    let many: Vec<_> = many
        .iter()
        .map(|(id, label)| (id.as_str(), label.as_str(), Neutral))
        .collect();
    assert_eq!(check_options(&options(&many)).unwrap_err().path, "options");
}

#[test]
fn fields_that_cannot_be_answered_are_refused() {
    let twice = vec![field("a", FieldType::String), field("A", FieldType::String)];
    assert_eq!(check_fields(&twice).unwrap_err().path, "fields[1].id");
    assert_eq!(
        check_fields(&[select("s", &[])]).unwrap_err().path,
        "fields[0].choices"
    );
    let clash = select("s", &[("a", "A"), ("b", "a")]);
    assert_eq!(
        check_fields(&[clash]).unwrap_err().path,
        "fields[0].choices[1].label"
    );
    let range = Field {
        min: Some(2.0),
        max: Some(1.0),
        ..field("n", FieldType::Number)
    };
    assert_eq!(check_fields(&[range]).unwrap_err().path, "fields[0].min");
    check_fields(&[colour(), field("name", FieldType::String)]).unwrap();
}

fn polarity() -> impl Strategy<Value = Polarity> {
    prop_oneof![Just(Grants), Just(Refuses), Just(Neutral)]
}

/// The same cases in every run, so that a change is judged by itself; `PROPTEST_RNG_SEED` and `PROPTEST_CASES`
/// look further.
fn config(least: u32) -> ProptestConfig {
    let config = ProptestConfig::default();
    let seed = match config.rng_seed {
        RngSeed::Random => RngSeed::Fixed(8),
        given => given,
    };
    ProptestConfig {
        rng_seed: seed,
        cases: config.cases.max(least),
        ..config
    }
}

proptest! {
    #![proptest_config(config(512))]

    /// §2.3: on any card, a text that equals no id and no label is never a granting option.
    #[test]
    fn no_unmatched_text_ever_grants(
        spec in prop::collection::vec(("[a-z]{1,4}", "[A-Za-z ]{1,6}", polarity(), any::<bool>()), 0..6),
        text in prop_oneof!["[a-zA-Z .]{1,6}", any::<String>(), Just("yes".to_owned()), Just("ok".to_owned())],
        kind in prop_oneof![Just(Kind::Permission), Just(Kind::Review)],
        text_use in prop_oneof![Just(TextUse::None), Just(TextUse::Reason), Just(TextUse::Answer)],
    ) {
        let options: Vec<_> = spec
            .iter()
            .map(|(id, label, polarity, _)| AnswerOption { id: id.clone(), label: label.clone(), polarity: *polarity })
            .collect();
        // A card that one word could name twice is not offered (§2.6).
        if check_options(&options).is_err() {
            return Ok(());
        }
        let carries = spec.iter().filter(|(.., carries)| *carries).map(|(id, ..)| id.clone()).collect();
        let table = Table { kind, options, carries, fields: Vec::new(), text: text_use };
        if let Ok(applied) = table.text(&text) {
            let id = applied.option_id.expect("a permission is answered by an option");
            let option = table.options.iter().find(|option| option.id == id).unwrap();
            let folded = |s: &str| caseless::default_case_fold_str(s.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}'));
            let named = folded(&option.id) == folded(&text) || caseless::default_case_fold_str(&option.label) == folded(&text);
            prop_assert!(named || option.polarity == Refuses, "{text:?} applied {id:?}");
            prop_assert_eq!(applied.text.is_some(), !named);
        }
    }
}
