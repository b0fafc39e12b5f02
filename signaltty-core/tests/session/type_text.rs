//! Answers that are typed into the menu on screen (`specs/010 §3`, `TypeText`).

use std::time::Duration;

use signaltty_core::adapter::{Ask, Signal};
use signaltty_core::answer::{Answer, InvalidAnswer};
use signaltty_core::limits::ANNOUNCE;
use signaltty_core::model::{HookId, Key, Origin};
use signaltty_core::protocol::ClearReason;
use signaltty_core::session::{Command, Fate, SessionError, Typist};

use super::harness::*;

/// What happens between an answer and its typing, and its name.
type Meanwhile = (&'static str, fn(&mut World));

/// §3 `TypeText`: the 1-based number and Enter, but not before the announcement has passed.
#[test]
fn a_typed_answer_waits_for_the_announcement_to_pass() {
    let mut world = World::new();
    let asked = world.hint(plain("Proceed?"));
    world.pass(Duration::from_millis(100));
    let outcome = world.answer(&asked, by_option("always"));
    assert_eq!(outcome.effects, [], "consumed, but not typed yet");
    assert_eq!(
        fate(world.try_answer(&asked, by_option("no")).unwrap_err()),
        Fate::Answering {
            by: "someone".into()
        }
    );
    assert!(world.pass(ANNOUNCE - Duration::from_millis(101)).is_empty());
    let outcomes = world.pass(Duration::from_millis(1));
    assert_eq!(
        deliveries(&outcomes[0]),
        [(asked.clone(), chose("always"), Some(1))]
    );
    world.run(Command::Delivered {
        decision_id: asked.clone(),
    });
    assert_eq!(world.reason(&asked), ClearReason::Answered);
}

#[test]
fn a_typed_answer_after_the_announcement_goes_at_once() {
    let mut world = World::new();
    let asked = world.hint(plain("Proceed?"));
    world.pass(ANNOUNCE);
    let outcome = world.answer(&asked, by_text("NO"));
    assert_eq!(deliveries(&outcome), [(asked, chose("no"), Some(2))]);
}

/// §3 `TypeText`: the checks are made again before the bytes go.
#[test]
fn a_typed_answer_is_not_typed_when_something_happened_meanwhile() {
    let meanwhile: [Meanwhile; 4] = [
        ("a human typed", |world| drop(world.type_keys(&[Key::Down]))),
        ("a draft was typed", |world| {
            drop(world.type_keys(&[Key::Char('x')]))
        }),
        ("another permission came", |world| {
            drop(world.hint(card("other")))
        }),
        ("the turn ended", |world| {
            drop(world.hear(Signal::TurnEnded { background: false }))
        }),
    ];
    for (what, happens) in meanwhile {
        let mut world = World::new();
        let asked = world.hint(plain("Proceed?"));
        world.answer(&asked, by_option("yes"));
        happens(&mut world);
        let outcomes = world.pass(ANNOUNCE);
        let outcome = outcomes.last().unwrap();
        assert!(deliveries(outcome).is_empty(), "{what}");
        assert!(
            matches!(
                &answered(outcome)[..],
                [Err(SessionError::DeliveryFailed(_))]
            ),
            "{what}"
        );
        assert_eq!(world.reason(&asked), ClearReason::Undeliverable, "{what}");
    }
}

/// §3 `TypeText`: words cannot be typed into a menu.
#[test]
fn a_menu_takes_no_words() {
    let mut world = World::new();
    let asked = world.hint(plain("Proceed?"));
    for answer in [
        by_text("use staging"),
        Answer {
            text: Some("because".into()),
            ..by_option("no")
        },
    ] {
        let error = world.try_answer(&asked, answer).unwrap_err();
        assert!(matches!(
            error,
            SessionError::Invalid(
                InvalidAnswer::UnmatchedText { .. } | InvalidAnswer::TextNotCarried { .. }
            )
        ));
    }
    assert_eq!(world.pending_id(), Some(asked));
}

/// §3 `TypeText`: not while another permission of that pane is outstanding.
#[test]
fn a_menu_is_not_typed_into_beside_another_question() {
    // It came second.
    let mut world = World::new();
    world.held(card("first"), 1);
    let second = world.hint(plain("Proceed?"));
    world.run(Command::HookGone { hook: HookId(1) });
    assert_eq!(world.pending_id(), Some(second));
    assert!(!world.pending().unwrap().answerable);

    // It came first: it is lowered.
    let mut world = World::new();
    world.hint(plain("Proceed?"));
    assert!(world.pending().unwrap().answerable);
    let other = Ask {
        origin: Origin::Hook,
        ..card("other")
    };
    let outcome = world.report(
        "p1",
        signaltty_core::adapter::Reading {
            session_id: Some("s2".into()),
            ..asks(other)
        },
    );
    assert_eq!(updated(&outcome).len(), 1);
    assert!(!world.pending().unwrap().answerable);
}

/// §3 `TypeText`: not if printable text was typed there since the session's last submitted prompt.
#[test]
fn a_menu_is_not_typed_into_over_a_draft() {
    let after = |keys: &[Key], submitted: bool, then: &[Key]| {
        let mut world = World::new();
        world.type_keys(keys);
        if submitted {
            world.hear(Signal::PromptSubmitted);
        }
        world.type_keys(then);
        world.hint(plain("Proceed?"));
        world.pending().unwrap().answerable
    };
    use Key::{Backspace, Char, Down, Enter, Escape, Paste};
    assert!(after(&[], false, &[]));
    assert!(
        after(&[Down, Escape, Enter], false, &[]),
        "nothing printable"
    );
    assert!(!after(&[Char('a')], false, &[]), "a draft");
    assert!(!after(&[Paste(true)], false, &[]), "a pasted one");
    assert!(
        !after(&[Char('a'), Backspace], false, &[]),
        "what Backspace left is not known"
    );
    assert!(
        !after(&[Char('a'), Enter], false, &[]),
        "no prompt was reported: it may still stand there"
    );
    assert!(after(&[Char('a'), Enter], true, &[]), "submitted");
    assert!(
        !after(&[Char('a')], true, &[]),
        "what was submitted was something else"
    );
    assert!(
        !after(&[Char('a'), Enter, Char('b')], true, &[]),
        "typed after the Enter"
    );
    assert!(
        !after(&[Char('a'), Enter], true, &[Char('b')]),
        "typed after the prompt"
    );
}

/// §3 `TypeText`: what was typed before this host began is not known.
#[test]
fn a_pane_of_an_earlier_host_may_hold_a_draft() {
    let mut world = World::empty();
    world.run(Command::OpenPane(signaltty_core::session::NewPane {
        created_at: Some(WALL - 1),
        ..new_pane("p1")
    }));
    world.hint(plain("Proceed?"));
    assert!(!world.pending().unwrap().answerable);
    world.hear(Signal::PromptSubmitted);
    world.hint(plain("Proceed now?"));
    assert!(world.pending().unwrap().answerable);
}

/// §3 `TypeText`: not after somebody typed there.
#[test]
fn typing_into_a_menu_makes_it_a_hint() {
    for (key, by) in [
        (Key::Down, Typist::Human),
        (Key::Char('1'), Typist::Human),
        (Key::Char('1'), Typist::Inside),
    ] {
        let mut world = World::new();
        let asked = world.hint(plain("Proceed?"));
        let outcome = world.run(Command::Typed {
            pane_id: pane("p1"),
            keys: vec![key],
            by,
        });
        assert_eq!(story(&outcome), [format!("updated {asked}")]);
        assert_eq!(
            world.try_answer(&asked, by_option("yes")),
            Err(SessionError::NotAnswerable(asked.clone()))
        );
        // Lowered once, told once.
        let outcome = world.type_keys(&[Key::Up]);
        assert_eq!(story(&outcome), [""; 0]);
    }
}
