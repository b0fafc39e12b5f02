//! What a decision is: one pending a pane, ids, superseding, the line, `answerable` (`specs/010 §1.1` to `§1.4`).

use signaltty_core::adapter::{AnswerChannel, Reading, Signal};
use signaltty_core::limits::QUEUE_MAX;
use signaltty_core::model::{Attention, Kind, Lifecycle, Origin, RespondVia};
use signaltty_core::session::{Command, Fate, SessionError};

use super::harness::*;

fn of_session(session: &str, ask: signaltty_core::adapter::Ask) -> Reading {
    Reading {
        session_id: Some(session.into()),
        ask: Some(ask),
        ..Reading::default()
    }
}

/// §1.1
#[test]
fn a_question_becomes_the_pending_decision_of_its_pane() {
    let mut world = World::new();
    let asked = world.held(card("make"), 1);
    assert_eq!(story(&world.last), [format!("created {asked}")]);
    let decision = world.pending().unwrap();
    assert_eq!(
        (decision.id, decision.prompt.as_str(), decision.answerable),
        (asked, "make", true)
    );
    assert_eq!(decision.asked_at, WALL);
    assert_eq!(world.lifecycle(), Lifecycle::Blocked);
    assert!(
        world
            .pane("p1")
            .attention
            .contains(&Attention::PermissionRequired)
    );
}

/// §1.1: prose neither sets nor clears a decision.
#[test]
fn a_message_neither_sets_nor_clears_a_decision() {
    let mut world = World::new();
    let message = || Reading {
        message: Some("I need you: may I? (y/n)".into()),
        ..reading()
    };
    world.report("p1", message());
    assert_eq!(world.pending(), None);
    let asked = world.hint(card("make"));
    let outcome = world.report("p1", message());
    assert_eq!(story(&outcome), [""; 0]);
    assert_eq!(world.pending_id(), Some(asked));
}

/// §1.2: an id that the event brings is kept, one that it lacks is minted.
#[test]
fn ids_are_kept_or_minted() {
    let mut world = World::new();
    assert_eq!(
        world.hint(signaltty_core::adapter::Ask {
            id: Some(id("mine")),
            ..card("a")
        }),
        id("mine")
    );
    let minted = world.hint(card("b"));
    assert!(minted.as_str().starts_with("minted-"));
}

/// §1.2: the same id again with the same content changes nothing.
#[test]
fn the_same_question_again_changes_nothing() {
    let mut world = World::new();
    let ask = || signaltty_core::adapter::Ask {
        id: Some(id("mine")),
        ..card("make")
    };
    world.held(ask(), 1);
    let outcome = world.try_report("p1", asks(ask()), Some(2)).unwrap();
    assert_eq!(outcome.events, []);
    assert_eq!(outcome.effects, []);
    let reported = outcome.reported.unwrap();
    assert_eq!(
        (reported.decision_id, reported.held),
        (Some(id("mine")), false)
    );
    assert_eq!(world.queued(), 0);
}

/// §1.2: with other content, or after its end, an id is refused, and nothing changes.
#[test]
fn an_id_is_never_used_twice() {
    let mut world = World::new();
    let ask = |prompt| signaltty_core::adapter::Ask {
        id: Some(id("mine")),
        ..card(prompt)
    };
    world.held(ask("make"), 1);
    let refused = |error: SessionError| {
        assert!(
            matches!(&error, SessionError::BadDecision { path, .. } if path == "decision.id"),
            "{error:?}"
        );
    };
    let before = world.session.panes();
    refused(
        world
            .try_report("p1", asks(ask("other")), None)
            .unwrap_err(),
    );
    world.open("p2");
    refused(world.try_report("p2", asks(ask("make")), None).unwrap_err());
    assert_eq!(world.session.panes()[..1], before);
    world.settle(&id("mine"), by_option("deny"));
    refused(world.try_report("p1", asks(ask("make")), None).unwrap_err());
}

/// §1.3: an unheld pending one is replaced by a newer one of the same source, in a single event.
#[test]
fn a_newer_question_of_the_same_source_supersedes_an_unheld_one() {
    let mut world = World::new();
    let first = world.hint(card("a"));
    let second = world.hint(card("b"));
    assert_eq!(
        story(&world.last),
        [format!("created {second} for {first}")]
    );
    assert_eq!(created(&world.last)[0].prev_reason, None);
    assert_eq!(world.queued(), 0);
    assert_eq!(world.session.fate(&first), Fate::Superseded { by: second });
    let error = world.try_answer(&first, by_option("allow")).unwrap_err();
    assert!(
        matches!(error, SessionError::NoSuchDecision { fate, .. } if matches!(*fate, Fate::Superseded { .. }))
    );
}

/// §1.3: a held one is never swapped; the newer one stands in line.
#[test]
fn a_newer_question_stands_in_line_behind_a_held_one() {
    let mut world = World::new();
    let first = world.held(card("a"), 1);
    let second = world.held(card("b"), 2);
    assert_eq!(story(&world.last), [""; 0]);
    assert_eq!(
        (world.pending_id(), world.queued()),
        (Some(first.clone()), 1)
    );

    // Not pending: not listed unless asked for, and not answered.
    assert_eq!(world.session.decisions(false).len(), 1);
    assert_eq!(world.session.decisions(true).len(), 2);
    assert_eq!(world.session.decision(&second), None);
    assert_eq!(world.session.fate(&second), Fate::Queued);
    let error = world.try_answer(&second, by_option("allow")).unwrap_err();
    assert!(matches!(error, SessionError::NoSuchDecision { fate, .. } if *fate == Fate::Queued));

    // When the first ends, its end comes before the next one's announcement.
    let outcome = world.settle(&first, by_option("allow"));
    assert_eq!(
        story(&outcome),
        [
            format!("cleared {first} answered"),
            format!("created {second}")
        ]
    );
    assert_eq!(
        (world.pending_id(), world.queued()),
        (Some(second.clone()), 0)
    );
    assert_eq!(world.lifecycle(), Lifecycle::Blocked);
    world.settle(&second, by_option("deny"));
    assert_eq!(world.lifecycle(), Lifecycle::Working);
}

/// §1.3: one from another source stands in line too, even behind an unheld one.
#[test]
fn a_question_of_another_source_stands_in_line() {
    let mut world = World::new();
    let first = world.hint(card("a"));
    world.report("p1", of_session("s2", card("b")));
    assert_eq!((world.pending_id(), world.queued()), (Some(first), 1));
}

/// §1.3: first in, first out.
#[test]
fn the_line_is_first_in_first_out() {
    let mut world = World::new();
    let ids: Vec<_> = (0..5)
        .map(|n| world.held(card(&format!("c{n}")), n))
        .collect();
    for asked in &ids {
        assert_eq!(world.pending_id().as_ref(), Some(asked));
        world.settle(asked, by_option("allow"));
    }
    assert_eq!(world.pending(), None);
}

/// §1.3: beyond `QUEUE_MAX` a hook gets no opinion; a caller that spelt its decision out is told.
#[test]
fn a_full_line_takes_no_more() {
    let mut world = World::new();
    for n in 0..QUEUE_MAX as u64 {
        world.held(card(&format!("c{n}")), n);
    }
    assert_eq!(world.queued(), QUEUE_MAX - 1);
    let outcome = world
        .try_report("p1", asks(card("more")), Some(99))
        .unwrap();
    let reported = outcome.reported.unwrap();
    assert_eq!(
        (reported.pane_id, reported.decision_id, reported.held),
        (Some(pane("p1")), None, false)
    );
    assert_eq!(story(&world.last), [""; 0]);
    let error = world
        .try_report("p1", asks(plain("more")), None)
        .unwrap_err();
    assert!(matches!(
        error,
        SessionError::Limit {
            limit: QUEUE_MAX,
            ..
        }
    ));
}

/// §1.3: one in line leaves silently when its turn ends, and its hook goes.
#[test]
fn a_queued_question_leaves_silently() {
    let mut world = World::new();
    let first = world.held(card("a"), 1);
    world
        .try_report("p1", of_session("s2", card("b")), Some(2))
        .unwrap();
    let second = world.asked();
    let ended = Reading {
        session_id: Some("s2".into()),
        signal: Some(Signal::SessionEnded),
        ..Reading::default()
    };
    let outcome = world.report("p1", ended);
    assert_eq!(story(&outcome), [""; 0]);
    assert_eq!(released(&outcome), [(2, second.clone())]);
    assert_eq!((world.pending_id(), world.queued()), (Some(first), 0));
    assert!(matches!(world.session.fate(&second), Fate::Ended { .. }));
}

/// §1.3: several that end at once are not announced one after the other.
#[test]
fn a_line_that_ends_as_a_whole_announces_none_of_it() {
    let mut world = World::new();
    let first = world.held(card("a"), 1);
    world.held(card("b"), 2);
    world.held(card("c"), 3);
    let outcome = world.hear(Signal::TurnEnded { background: false });
    assert_eq!(story(&outcome), [format!("cleared {first} moved_on")]);
    assert_eq!(released(&outcome).len(), 3);
}

/// §1.4: a channel is named, its route is alive, and `respond_via` is absent or lists `control`.
#[test]
fn answerable_is_captured_at_ingest() {
    use signaltty_core::adapter::Ask;
    let via = |ways: &[&str]| {
        Some(
            ways.iter()
                .map(|way| RespondVia::from((*way).to_owned()))
                .collect::<Vec<_>>(),
        )
    };
    let ask = |channel, respond_via| Ask {
        channel,
        respond_via,
        origin: Origin::Plain,
        ..card("make")
    };
    for (channel, hook, respond_via, answerable) in [
        (AnswerChannel::HookVerdict, Some(1), None, true),
        (AnswerChannel::HookVerdict, None, None, false),
        (AnswerChannel::Reply, None, None, true),
        (AnswerChannel::TypeText, None, None, true),
        (AnswerChannel::None, None, None, false),
        (AnswerChannel::Reply, None, via(&["control"]), true),
        (AnswerChannel::Reply, None, via(&["oob", "control"]), true),
        (
            AnswerChannel::Reply,
            None,
            via(&["control", "pigeon"]),
            true,
        ),
        (AnswerChannel::Reply, None, via(&["oob"]), false),
        (AnswerChannel::Reply, None, via(&[]), false),
        (AnswerChannel::Reply, None, via(&["pigeon"]), false),
        (AnswerChannel::Reply, None, via(&["CONTROL"]), false),
        (AnswerChannel::HookVerdict, Some(1), via(&["oob"]), false),
    ] {
        let mut world = World::new();
        world
            .try_report("p1", asks(ask(channel, respond_via.clone())), hook)
            .unwrap();
        let decision = world.pending().unwrap();
        assert_eq!(
            decision.answerable, answerable,
            "{channel:?} {hook:?} {respond_via:?}"
        );
        // What a caller declared stays as it declared it.
        assert_eq!(decision.respond_via, respond_via);
        let answered = world.try_answer(&decision.id, by_option("allow"));
        match answered {
            Ok(outcome) => assert!(answerable && deliveries(&outcome).len() <= 1),
            Err(error) => {
                assert_eq!(error, SessionError::NotAnswerable(decision.id));
                assert!(!answerable);
            }
        }
    }
}

/// §3: what an adapter declares follows whether it can be answered through us.
#[test]
fn a_hint_of_ours_declares_that_it_is_answered_where_the_agent_asks() {
    let ask = || signaltty_core::adapter::Ask {
        respond_via: Some(vec![RespondVia::Control]),
        ..card("make")
    };
    let mut world = World::new();
    world.hint(ask());
    assert_eq!(
        world.pending().unwrap().respond_via,
        Some(vec![RespondVia::Oob])
    );
    world.held(ask(), 1);
    assert_eq!(
        world.pending().unwrap().respond_via,
        Some(vec![RespondVia::Control])
    );
}

/// §1.4: nothing to answer with is not answerable.
#[test]
fn a_question_that_nothing_could_answer_is_a_hint() {
    use signaltty_core::adapter::Ask;
    use signaltty_core::model::TextUse;
    for ask in [
        Ask {
            options: Vec::new(),
            ..card("make")
        },
        Ask {
            kind: Kind::Input,
            options: Vec::new(),
            text: TextUse::None,
            ..card("make")
        },
    ] {
        let mut world = World::new();
        world.try_report("p1", asks(ask), Some(1)).unwrap();
        assert!(!world.last.reported.clone().unwrap().held);
        assert!(!world.pending().unwrap().answerable);
    }
}

/// §1.4: raised only by the same hook coming back.
#[test]
fn the_same_hook_coming_back_makes_a_hint_answerable_again() {
    let ask = || signaltty_core::adapter::Ask {
        id: Some(id("mine")),
        ..card("make")
    };
    let mut world = World::new();
    world.hint(ask());
    let outcome = world.try_report("p1", asks(ask()), Some(7)).unwrap();
    assert!(outcome.reported.as_ref().unwrap().held);
    assert_eq!(story(&outcome), ["updated mine"]);
    assert!(updated(&outcome)[0].answerable);
    // Once more, without a hook: nothing is lowered.
    let outcome = world.try_report("p1", asks(ask()), None).unwrap();
    assert_eq!(outcome.events, []);
    world.settle(&id("mine"), by_option("allow"));
}

/// §1.2: a hook that an earlier host held brings its decision back under the same id.
#[test]
fn a_hook_of_an_earlier_host_brings_its_decision_back() {
    let mut world = World::empty();
    world.open("p1");
    let mut report = from_pane("p1", asks(hiding_card("make")), Some(3));
    report.resumes = Some(id("from-before"));
    let outcome = world.run(Command::Report(Box::new(report.clone())));
    let reported = outcome.reported.unwrap();
    assert_eq!(
        (reported.decision_id, reported.held),
        (Some(id("from-before")), true)
    );
    // Its operator is back in time.
    world.operators(true);
    world.pass(signaltty_core::limits::RECONNECT * 2);
    assert!(world.pending().unwrap().answerable);

    // The hook connects once more: the newer connection waits, the older one is let go.
    report.hook = Some(signaltty_core::model::HookId(4));
    let outcome = world.run(Command::Report(Box::new(report.clone())));
    assert!(outcome.reported.as_ref().unwrap().held);
    assert_eq!(released(&outcome), [(3, id("from-before"))]);

    // Once it has ended here, coming back changes nothing and is not held.
    world.settle(&id("from-before"), by_option("deny"));
    let outcome = world.run(Command::Report(Box::new(report)));
    let reported = outcome.reported.unwrap();
    assert_eq!(
        (reported.decision_id, reported.held),
        (Some(id("from-before")), false)
    );
    assert_eq!(world.pending(), None);
}
