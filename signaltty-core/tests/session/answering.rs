//! Answering, delivery and what is said of a late answer (`specs/010 §1.5`, `§1.6`).

use std::time::Duration;

use signaltty_core::adapter::{AnswerChannel, Ask, HookLoss, Signal};
use signaltty_core::answer::{Answer, Applied};
use signaltty_core::limits::DELIVERY_MAX;
use signaltty_core::model::{Exit, HookId, Polarity, Value, Values};
use signaltty_core::protocol::ClearReason;
use signaltty_core::session::{Caller, Command, Effect, Fate, SessionError};

use super::harness::*;

/// §1.5: the id is consumed before anything is delivered, and the answer is told when the channel took it.
#[test]
fn an_answer_is_consumed_delivered_and_then_told() {
    let mut world = World::new();
    let asked = world.held(
        Ask {
            carry: serde_json::json!({ "tool": 1 }),
            ..card("make")
        },
        7,
    );
    world.pass(Duration::from_millis(2_500));
    let outcome = world.answer(&asked, by_option("allow"));
    assert_eq!(
        story(&outcome),
        [""; 0],
        "nothing is told before it is delivered"
    );
    assert_eq!(answered(&outcome), []);
    let [
        Effect::Deliver {
            channel,
            hook,
            applied,
            carry,
            agent,
            ..
        },
    ] = &outcome.effects[..]
    else {
        panic!("{:?}", outcome.effects)
    };
    assert_eq!(
        (*channel, *hook, agent.as_str()),
        (AnswerChannel::HookVerdict, Some(HookId(7)), AGENT)
    );
    assert_eq!(
        (applied, carry),
        (&chose("allow"), &serde_json::json!({ "tool": 1 }))
    );

    let outcome = world.run(Command::Delivered {
        decision_id: asked.clone(),
    });
    assert_eq!(answered(&outcome), [Ok(chose("allow"))]);
    let ended = cleared(&outcome)[0];
    assert_eq!(
        (&ended.decision_id, ended.reason),
        (&asked, ClearReason::Answered)
    );
    assert_eq!(ended.applied, Some(chose("allow")));
    assert_eq!(ended.applied_label.as_deref(), Some("Allow once"));
    assert_eq!(
        (ended.by.as_deref(), ended.via.as_deref()),
        (Some("someone"), Some("window"))
    );
    assert_eq!(ended.latency_ms, Some(2_500));
    assert!(released(&outcome).is_empty(), "the hook has its verdict");
}

/// §1.5: an invalid answer leaves it pending, and nothing is lost.
#[test]
fn an_invalid_answer_leaves_the_decision_pending() {
    let mut world = World::new();
    let asked = world.held(card("make"), 1);
    let before = world.session.panes();
    for answer in [
        Answer::default(),
        by_option("maybe"),
        by_text(" "),
        Answer {
            values: Some(Values::from([("a".into(), Value::Boolean(true))])),
            ..Answer::default()
        },
    ] {
        assert!(matches!(
            world.try_answer(&asked, answer),
            Err(SessionError::Invalid(_))
        ));
    }
    assert_eq!(world.session.panes(), before);
    world.settle(&asked, by_option("allow"));
}

/// §2.3 through the session: words refuse with their reason, and never grant.
#[test]
fn words_that_name_nothing_refuse_with_a_reason() {
    let mut world = World::new();
    for words in ["yes", "ok", "use the staging registry instead"] {
        let asked = world.held(card(words), 1);
        let outcome = world.answer(&asked, by_text(words));
        let refused = Applied {
            option_id: Some("deny".into()),
            text: Some(words.into()),
            values: None,
        };
        assert_eq!(deliveries(&outcome)[0].1, refused);
        world.run(Command::Delivered {
            decision_id: asked.clone(),
        });
        assert!(
            matches!(world.session.fate(&asked), Fate::Ended { applied: Some(applied), .. } if applied == refused)
        );
    }
}

/// §1.5: two at once: one delivery; the other is told who won.
#[test]
fn of_two_answers_at_once_one_is_delivered_and_the_other_learns_who_won() {
    let mut world = World::new();
    let asked = world.held(card("make"), 1);
    let outcome = world.answer(&asked, by_option("deny"));
    assert_eq!(deliveries(&outcome).len(), 1);
    let second = world.try_answer(&asked, by_option("allow")).unwrap_err();
    assert_eq!(
        fate(second),
        Fate::Answering {
            by: "someone".into()
        }
    );
    world.run(Command::Delivered {
        decision_id: asked.clone(),
    });
    let third = world.try_answer(&asked, by_option("allow")).unwrap_err();
    let Fate::Ended {
        reason,
        applied,
        by,
        via,
    } = fate(third)
    else {
        panic!()
    };
    assert_eq!(
        (reason, applied),
        (ClearReason::Answered, Some(chose("deny")))
    );
    assert_eq!(
        (by.as_deref(), via.as_deref()),
        (Some("someone"), Some("window"))
    );
}

/// §1.5: a late answer learns how the decision ended, even if its pane is gone with it.
#[test]
fn a_late_answer_learns_how_it_ended() {
    let mut world = World::new();
    let asked = world.held(card("make"), 1);
    world.hear(Signal::TurnEnded { background: false });
    let late = world.try_answer(&asked, by_option("allow")).unwrap_err();
    assert!(matches!(
        fate(late),
        Fate::Ended {
            reason: ClearReason::MovedOn,
            applied: None,
            ..
        }
    ));
    world.run(Command::ClosePane {
        pane_id: pane("p1"),
    });
    let late = world.try_answer(&asked, by_option("allow")).unwrap_err();
    assert!(matches!(
        fate(late),
        Fate::Ended {
            reason: ClearReason::MovedOn,
            ..
        }
    ));
    let nowhere = world
        .try_answer(&id("never"), by_option("allow"))
        .unwrap_err();
    assert_eq!(nowhere, SessionError::NoSuchPane(pane("p1")));
}

/// §1.5: an answer is for one pane and one id; both have to fit.
#[test]
fn an_answer_for_another_pane_reaches_nothing() {
    let mut world = World::new();
    world.open("p2");
    let asked = world.held(card("make"), 1);
    let error = world
        .try_answer_on("p2", &asked, by_option("allow"))
        .unwrap_err();
    assert_eq!(fate(error), Fate::Unknown);
    assert_eq!(world.pending_id(), Some(asked));
}

/// §1.6: not delivered, and the agent still waits: a hint under a new id takes its place in the same event.
#[test]
fn an_undelivered_answer_leaves_a_hint_where_the_agent_still_waits() {
    let mut world = World::new();
    let asked = world.held(card("make"), 1);
    world.answer(&asked, by_option("allow"));
    let outcome = world.run(Command::NotDelivered {
        decision_id: asked.clone(),
        still_waiting: true,
    });
    assert!(matches!(
        &answered(&outcome)[..],
        [Err(SessionError::DeliveryFailed(_))]
    ));
    let hint = world.pending().unwrap();
    assert_eq!(
        story(&outcome),
        [format!("created {} for {asked}", hint.id)]
    );
    assert_eq!(
        created(&outcome)[0].prev_reason,
        Some(ClearReason::Undeliverable)
    );
    assert!(!hint.answerable);
    assert_eq!((hint.prompt.as_str(), hint.options.len()), ("make", 2));
    assert_eq!(world.reason(&asked), ClearReason::Undeliverable);
    // It ends as the first would have: by its own call.
    let outcome = world.hear(Signal::ToolFinished(call(None, "make")));
    assert_eq!(
        story(&outcome),
        [format!("cleared {} attention_cleared", hint.id)]
    );
}

/// §1.6: not delivered, and nobody waits any more.
#[test]
fn an_undelivered_answer_ends_the_decision_where_nobody_waits() {
    let mut world = World::new();
    let asked = world.held(card("make"), 1);
    world.answer(&asked, by_option("allow"));
    let outcome = world.run(Command::NotDelivered {
        decision_id: asked.clone(),
        still_waiting: false,
    });
    assert_eq!(story(&outcome), [format!("cleared {asked} undeliverable")]);
    assert_eq!(cleared(&outcome)[0].applied, None, "nothing was applied");
    assert!(matches!(
        &answered(&outcome)[..],
        [Err(SessionError::DeliveryFailed(_))]
    ));
}

/// §1.6: whatever ends the question meanwhile waits for the delivery, and the delivery decides.
#[test]
fn events_during_a_delivery_wait_for_its_outcome() {
    for delivered in [true, false] {
        let mut world = World::new();
        let asked = world.held(card("make"), 1);
        world.answer(&asked, by_option("allow"));
        for signal in [
            Signal::ToolFinished(call(None, "make")),
            Signal::TurnEnded { background: false },
            Signal::SessionEnded,
        ] {
            let outcome = world.hear(signal);
            assert_eq!(story(&outcome), [""; 0]);
            assert_eq!(outcome.effects, []);
        }
        let outcome = if delivered {
            world.run(Command::Delivered {
                decision_id: asked.clone(),
            })
        } else {
            // It is over: no hint takes its place even if the channel thinks that the agent waits.
            world.run(Command::NotDelivered {
                decision_id: asked.clone(),
                still_waiting: true,
            })
        };
        let reason = if delivered {
            "answered"
        } else {
            "undeliverable"
        };
        assert_eq!(story(&outcome), [format!("cleared {asked} {reason}")]);
    }
}

/// §1.6: the hook goes away while its verdict is on the way, and no acknowledgement came.
#[test]
fn a_hook_that_goes_away_during_delivery_was_not_reached() {
    for (loss, hint) in [(HookLoss::MovedOn, false), (HookLoss::AwaitReport, true)] {
        let mut world = World::new();
        let asked = world.held(
            Ask {
                hook_loss: loss,
                ..card("make")
            },
            1,
        );
        world.answer(&asked, by_option("allow"));
        let outcome = world.run(Command::HookGone { hook: HookId(1) });
        assert!(matches!(
            &answered(&outcome)[..],
            [Err(SessionError::DeliveryFailed(_))]
        ));
        assert!(released(&outcome).is_empty(), "there is nobody to let go");
        assert_eq!(world.pending().is_some(), hint, "{loss:?}");
        assert_eq!(world.reason(&asked), ClearReason::Undeliverable);
    }
}

/// §1.6: nothing is waited for without a bound.
#[test]
fn a_delivery_of_which_nothing_is_heard_has_failed() {
    let mut world = World::new();
    let asked = world.held(card("make"), 1);
    world.answer(&asked, by_option("allow"));
    assert_eq!(world.pass(DELIVERY_MAX - Duration::from_millis(1)).len(), 0);
    let outcomes = world.pass(Duration::from_millis(1));
    assert!(matches!(
        &answered(&outcomes[0])[..],
        [Err(SessionError::DeliveryFailed(_))]
    ));
    assert_eq!(released(&outcomes[0]), [(1, asked.clone())]);
    // The channel's late word changes nothing.
    let late = world.run(Command::Delivered {
        decision_id: asked.clone(),
    });
    assert_eq!((late.events.len(), late.effects.len()), (0, 0));
    assert!(!world.pending().unwrap().answerable);
}

/// §1.7: the pane is closed while an answer is on the way.
#[test]
fn closing_a_pane_settles_the_answer_on_its_way() {
    let mut world = World::new();
    let asked = world.held(card("make"), 1);
    world.answer(&asked, by_option("allow"));
    let outcome = world.run(Command::ClosePane {
        pane_id: pane("p1"),
    });
    assert!(matches!(
        &answered(&outcome)[..],
        [Err(SessionError::DeliveryFailed(_))]
    ));
    assert_eq!(story(&outcome), [format!("cleared {asked} undeliverable")]);
}

/// §1.6: the program ends while an answer is on the way: the delivery decides, no hint follows.
#[test]
fn an_exit_during_delivery_leaves_no_hint() {
    let mut world = World::new();
    let asked = world.held(card("make"), 1);
    world.answer(&asked, by_option("allow"));
    world.run(Command::PaneExited {
        pane_id: pane("p1"),
        exit: Exit {
            code: Some(0),
            signal: None,
        },
    });
    let outcome = world.run(Command::NotDelivered {
        decision_id: asked.clone(),
        still_waiting: true,
    });
    assert_eq!(story(&outcome), [format!("cleared {asked} undeliverable")]);
}

/// DESIGN §5 through the session itself, whoever called.
#[test]
fn an_answer_from_inside_a_pane_is_forbidden() {
    let mut world = World::new();
    let asked = world.held(card("make"), 1);
    for caller in [Caller::Inside(None), Caller::Inside(Some(pane("p1")))] {
        let error = world
            .apply(Command::Answer(signaltty_core::session::AnswerCommand {
                ticket: 1,
                pane_id: pane("p1"),
                decision_id: asked.clone(),
                answer: by_option("allow"),
                via: "cli".into(),
                by: "someone".into(),
                caller,
            }))
            .unwrap_err();
        assert!(matches!(error, SessionError::Forbidden(_)));
    }
    assert_eq!(world.pending_id(), Some(asked));
}

/// §2.6: ids that could not stand are minted, and the adapter gets its own back.
#[test]
fn an_adapter_gets_its_own_ids_back() {
    let mut world = World::new();
    let options = vec![
        option("Yes!", "Yes, once", Polarity::Grants, false),
        option("yes!", "Yes, always", Polarity::Grants, false),
        option("o1", "No", Polarity::Refuses, true),
    ];
    let asked = world.held(
        Ask {
            options,
            ..card("make")
        },
        1,
    );
    let ids: Vec<_> = world
        .pending()
        .unwrap()
        .options
        .into_iter()
        .map(|option| option.id)
        .collect();
    assert_eq!(ids, ["o1", "o2", "o3"]);
    let outcome = world.answer(&asked, by_text("not now"));
    let (_, applied, index) = deliveries(&outcome).remove(0);
    assert_eq!(
        (applied.option_id.as_deref(), applied.text.as_deref(), index),
        (Some("o1"), Some("not now"), Some(2))
    );
    let outcome = world.run(Command::Delivered { decision_id: asked });
    let told = cleared(&outcome)[0].applied.clone().unwrap();
    assert_eq!(
        told.option_id.as_deref(),
        Some("o3"),
        "clients see the ids that they were shown"
    );
    assert_eq!(cleared(&outcome)[0].applied_label.as_deref(), Some("No"));
}
