//! What ends a decision, and what does not (`specs/010 §1.7`).

use std::time::Duration;

use signaltty_core::adapter::{Ask, Reading, Signal};
use signaltty_core::model::{Exit, Lifecycle, Origin};
use signaltty_core::protocol::{ClearReason, Event};
use signaltty_core::session::{Command, SessionError};

use super::harness::*;

fn in_turn(turn: &str, reading: Reading) -> Reading {
    Reading {
        turn_id: Some(turn.into()),
        ..reading
    }
}

fn started(call_id: &str, input: &str) -> Signal {
    Signal::ToolStarted(call(Some(call_id), input))
}

fn finished(call_id: Option<&str>, input: &str) -> Signal {
    Signal::ToolFinished(call(call_id, input))
}

#[test]
fn its_own_call_having_run_ends_it() {
    let mut world = World::new();
    let asked = world.held(card("make"), 1);
    let outcome = world.hear(finished(None, "make"));
    assert_eq!(
        story(&outcome),
        [format!("cleared {asked} attention_cleared")]
    );
    assert_eq!(released(&outcome), [(1, asked)]);
    assert_eq!(world.lifecycle(), Lifecycle::Working);
}

#[test]
fn a_report_about_another_call_never_ends_it() {
    let other_session = Reading {
        session_id: Some("s2".into()),
        ..says(finished(None, "make"))
    };
    let other_subagent = Reading {
        subagent: Some("helper".into()),
        ..says(finished(None, "make"))
    };
    let other_turn = in_turn("t2", says(finished(None, "make")));
    let other_tool = signaltty_core::adapter::CallRef {
        tool: "edit".into(),
        ..call(None, "make")
    };
    for report in [
        says(finished(None, "test")),
        says(Signal::ToolFinished(other_tool)),
        says(Signal::Resolved(call(None, "test"))),
        other_session,
        other_subagent,
        other_turn,
        says(started("c2", "test")),
        says(Signal::Working),
        says(Signal::SessionStarted),
    ] {
        let mut world = World::new();
        world.report("p1", in_turn("t1", asks(card("make"))));
        let asked = world.asked();
        let outcome = world.report("p1", report.clone());
        assert_eq!(story(&outcome), [""; 0], "{report:?}");
        assert_eq!(world.pending_id(), Some(asked));
    }
}

/// Matching: the call id first. It decides alone where both have one.
#[test]
fn a_call_id_decides_alone() {
    let mut world = World::new();
    let asked = world.held(
        Ask {
            call: Some(call(Some("c1"), "make")),
            ..card("make")
        },
        1,
    );
    world.hear(finished(Some("c2"), "make"));
    assert_eq!(world.pending_id(), Some(asked.clone()));
    world.hear(finished(Some("c1"), "spelt otherwise"));
    assert_eq!(world.reason(&asked), ClearReason::AttentionCleared);
}

/// A question without a call id is paired with the started call that it is about.
#[test]
fn two_identical_calls_stay_two() {
    let mut world = World::new();
    world.hear(started("c1", "make"));
    world.hear(started("c2", "make"));
    let first = world.held(card("make"), 1);
    let second = world.held(card("make"), 2);
    world.settle(&first, by_option("allow"));
    // The first one's end does not end the second.
    let outcome = world.hear(finished(Some("c1"), "make"));
    assert_eq!(story(&outcome), [""; 0]);
    assert_eq!(world.pending_id(), Some(second.clone()));
    world.settle(&second, by_option("allow"));
    assert_eq!(world.reason(&second), ClearReason::Answered);
}

/// The same, if the vendor ran them the other way round: which of two that look the same was paired with which
/// id is a guess, and a guess must not end the one that nobody answered.
#[test]
fn of_two_identical_calls_the_answered_one_is_the_one_that_ended() {
    let mut world = World::new();
    world.hear(started("c1", "make"));
    world.hear(started("c2", "make"));
    let first = world.held(card("make"), 1);
    let second = world.held(card("make"), 2);
    world.settle(&first, by_option("allow"));
    let outcome = world.hear(finished(Some("c2"), "make"));
    assert_eq!(story(&outcome), [""; 0]);
    assert_eq!(world.pending_id(), Some(second.clone()));
    // Now the second is known to be the other one, and its end ends it.
    world.hear(finished(Some("c1"), "make"));
    assert_eq!(world.reason(&second), ClearReason::AttentionCleared);
}

/// The same without any id: the answered one is remembered.
#[test]
fn without_ids_the_answered_call_is_the_one_that_ended() {
    let mut world = World::new();
    let first = world.held(card("make"), 1);
    let second = world.held(card("make"), 2);
    world.settle(&first, by_option("allow"));
    world.hear(finished(None, "make"));
    assert_eq!(world.pending_id(), Some(second.clone()));
    world.hear(finished(None, "make"));
    assert_eq!(world.reason(&second), ClearReason::AttentionCleared);
}

/// A refused call does not run, so its answer hides no other call's end.
#[test]
fn a_refused_call_is_not_waited_for() {
    let mut world = World::new();
    let first = world.held(card("make"), 1);
    let second = world.held(card("make"), 2);
    world.settle(&first, by_option("deny"));
    world.hear(finished(None, "make"));
    assert_eq!(world.reason(&second), ClearReason::AttentionCleared);
}

/// A call that the agent ran without asking takes nothing from the one that it asks about later.
#[test]
fn a_call_that_ended_is_not_paired() {
    let mut world = World::new();
    world.hear(started("c1", "make"));
    world.hear(finished(Some("c1"), "make"));
    world.hear(started("c2", "make"));
    let asked = world.held(card("make"), 1);
    world.hear(finished(Some("c1"), "make"));
    assert_eq!(world.pending_id(), Some(asked.clone()));
    world.hear(finished(Some("c2"), "make"));
    assert_eq!(world.reason(&asked), ClearReason::AttentionCleared);
}

#[test]
fn a_call_in_line_that_ended_leaves_the_pending_one() {
    let mut world = World::new();
    let first = world.held(card("make"), 1);
    let second = world.held(card("test"), 2);
    let outcome = world.hear(finished(None, "test"));
    assert_eq!(story(&outcome), [""; 0]);
    assert_eq!(released(&outcome), [(2, second.clone())]);
    assert_eq!((world.pending_id(), world.queued()), (Some(first), 0));
    assert_eq!(world.reason(&second), ClearReason::AttentionCleared);
}

#[test]
fn the_vendors_own_resolved_event_ends_it() {
    let mut world = World::new();
    let asked = world.held(
        Ask {
            call: Some(call(Some("r1"), "make")),
            ..card("make")
        },
        1,
    );
    let outcome = world.hear(Signal::Resolved(call(Some("r1"), "")));
    assert_eq!(
        story(&outcome),
        [format!("cleared {asked} attention_cleared")]
    );
}

/// Its turn or session ended, of that agent and turn.
#[test]
fn the_end_of_its_turn_or_session_ends_it() {
    for (what, report, ends) in [
        (
            "stop",
            in_turn("t1", says(Signal::TurnEnded { background: false })),
            true,
        ),
        (
            "stop, tasks run on",
            in_turn("t1", says(Signal::TurnEnded { background: true })),
            true,
        ),
        (
            "stop without a turn",
            says(Signal::TurnEnded { background: false }),
            true,
        ),
        ("failure", in_turn("t1", says(Signal::TurnFailed)), true),
        ("interrupt", in_turn("t1", says(Signal::Interrupted)), true),
        (
            "the next prompt",
            in_turn("t2", says(Signal::PromptSubmitted)),
            true,
        ),
        (
            "a prompt without a turn",
            says(Signal::PromptSubmitted),
            true,
        ),
        ("the session's end", says(Signal::SessionEnded), true),
        ("waiting for a prompt", says(Signal::Idle), true),
        (
            "this turn's own prompt, late",
            in_turn("t1", says(Signal::PromptSubmitted)),
            false,
        ),
        (
            "another turn's stop",
            in_turn("t0", says(Signal::TurnEnded { background: false })),
            false,
        ),
        (
            "another turn's interrupt",
            in_turn("t0", says(Signal::Interrupted)),
            false,
        ),
        (
            "another session's end",
            Reading {
                session_id: Some("s2".into()),
                ..says(Signal::SessionEnded)
            },
            false,
        ),
        (
            "a subagent's end",
            Reading {
                subagent: Some("helper".into()),
                ..says(Signal::TurnEnded { background: false })
            },
            false,
        ),
    ] {
        let mut world = World::new();
        world.report("p1", in_turn("t1", asks(card("make"))));
        let asked = world.asked();
        let outcome = world.report("p1", report);
        if ends {
            assert_eq!(
                story(&outcome),
                [format!("cleared {asked} moved_on")],
                "{what}"
            );
        } else {
            assert_eq!(story(&outcome), [""; 0], "{what}");
            assert_eq!(world.pending_id(), Some(asked), "{what}");
        }
    }
}

#[test]
fn another_agents_stop_does_not_end_it() {
    let mut world = World::new();
    let asked = world.held(card("make"), 1);
    let mut report = from_pane("p1", says(Signal::TurnEnded { background: false }), None);
    report.agent = "other".into();
    let outcome = world.run(Command::Report(Box::new(report)));
    assert_eq!(story(&outcome), [""; 0]);
    assert_eq!(world.pending_id(), Some(asked));
}

/// A held hook tells by itself what becomes of it; "I wait for a prompt" may have been overtaken.
#[test]
fn waiting_for_a_prompt_does_not_end_a_held_one() {
    let mut world = World::new();
    let asked = world.held(card("make"), 1);
    world.hear(Signal::Idle);
    assert_eq!(world.pending_id(), Some(asked));
}

/// A late event of an ended turn is ignored.
#[test]
fn a_late_stop_of_an_ended_turn_ends_nothing() {
    let mut world = World::new();
    world.report("p1", in_turn("t1", says(Signal::PromptSubmitted)));
    world.report("p1", in_turn("t2", says(Signal::PromptSubmitted)));
    // This vendor's question does not say its turn.
    let asked = world.held(card("make"), 1);
    world.report(
        "p1",
        in_turn("t1", says(Signal::TurnEnded { background: false })),
    );
    world.report("p1", in_turn("t1", says(Signal::Interrupted)));
    assert_eq!(world.pending_id(), Some(asked));
}

/// What a subagent asks in the background outlives the main turn; its own end ends it.
#[test]
fn a_subagents_question_outlives_the_prompt_of_another_turn() {
    let mut world = World::new();
    world.report(
        "p1",
        Reading {
            subagent: Some("helper".into()),
            ..in_turn("t1", asks(card("make")))
        },
    );
    let asked = world.asked();
    world.report(
        "p1",
        in_turn("t1", says(Signal::TurnEnded { background: true })),
    );
    world.report("p1", in_turn("t2", says(Signal::PromptSubmitted)));
    assert_eq!(world.pending_id(), Some(asked.clone()));
    world.report(
        "p1",
        Reading {
            subagent: Some("helper".into()),
            ..says(Signal::TurnEnded { background: false })
        },
    );
    assert_eq!(world.reason(&asked), ClearReason::MovedOn);
}

/// ADR-0008 §5: a caller that spells its decisions out says that it moved on by leaving `blocked`.
#[test]
fn a_plain_lifecycle_that_leaves_blocked_ends_what_was_spelt_out() {
    use Lifecycle::{Blocked, Done, Failed, Idle, Interrupted, Unknown, Working};
    for (lifecycle, ends) in [
        (Working, true),
        (Done, true),
        (Idle, true),
        (Interrupted, true),
        (Failed, true),
        (Blocked, false),
        (Unknown, false),
    ] {
        let mut world = World::new();
        world.report(
            "p1",
            Reading {
                lifecycle: Some(Blocked),
                ..asks(plain("Proceed?"))
            },
        );
        assert!(
            world.pending().is_some(),
            "its own lifecycle does not end it"
        );
        world.report(
            "p1",
            Reading {
                lifecycle: Some(lifecycle),
                ..reading()
            },
        );
        assert_eq!(world.pending().is_none(), ends, "{lifecycle:?}");
        if ends {
            assert_eq!(world.lifecycle(), lifecycle);
        }
    }
    // What an adapter read is not ended by a word about working.
    let mut world = World::new();
    world.hint(card("make"));
    world.report(
        "p1",
        Reading {
            lifecycle: Some(Working),
            ..reading()
        },
    );
    assert!(world.pending().is_some());
}

#[test]
fn the_exit_of_its_program_ends_it_and_all_in_line() {
    let mut world = World::new();
    let first = world.held(card("a"), 1);
    let second = world.held(card("b"), 2);
    let outcome = world.run(Command::PaneExited {
        pane_id: pane("p1"),
        exit: Exit {
            code: Some(1),
            signal: None,
        },
    });
    assert_eq!(story(&outcome), [format!("cleared {first} pane_exited")]);
    assert_eq!(released(&outcome).len(), 2);
    assert_eq!(world.reason(&second), ClearReason::PaneExited);
    assert_eq!(world.lifecycle(), Lifecycle::Exited);
    assert!(matches!(outcome.events[1], Event::PaneExited { .. }));
    // Nothing can be asked there any more.
    let late = world.try_report("p1", asks(card("c")), Some(3)).unwrap();
    assert_eq!(late.reported.unwrap().decision_id, None);
    let error = world.try_report("p1", asks(plain("d")), None).unwrap_err();
    assert_eq!(error, SessionError::PaneExited(pane("p1")));
}

/// The asker's own deadline, on the clock that also runs while the machine sleeps.
#[test]
fn its_deadline_ends_it() {
    let mut world = World::new();
    let expiring = Ask {
        expires_at: Some(WALL + 5_000),
        ..card("make")
    };
    let asked = world.held(expiring, 1);
    world.now.wall_ms += 3_600_000; // the wall clock is set; the deadline does not move
    assert!(world.pass(Duration::from_millis(4_999)).is_empty());
    let outcomes = world.pass(Duration::from_millis(1));
    assert_eq!(story(&outcomes[0]), [format!("cleared {asked} expired")]);
    assert_eq!(released(&outcomes[0]), [(1, asked)]);
    assert_eq!(world.session.next_deadline(), None);
}

/// Its time is over at its deadline, even if the tick comes through later.
#[test]
fn an_expired_decision_is_not_answered_before_its_tick() {
    let mut world = World::new();
    let asked = world.held(
        Ask {
            expires_at: Some(WALL + 5_000),
            ..card("make")
        },
        1,
    );
    world.now.boot_ms += 5_000;
    let error = world.try_answer(&asked, by_option("allow")).unwrap_err();
    assert!(matches!(error, SessionError::NoSuchDecision { .. }));
    let outcome = world.run(Command::Tick);
    assert_eq!(story(&outcome), [format!("cleared {asked} expired")]);
}

#[test]
fn a_deadline_in_the_past_makes_no_decision() {
    let mut world = World::new();
    let late = |ask| Ask {
        expires_at: Some(WALL),
        ..ask
    };
    let error = world
        .try_report("p1", asks(late(plain("a"))), None)
        .unwrap_err();
    assert!(
        matches!(error, SessionError::BadDecision { path, .. } if path == "decision.expires_at")
    );
    let outcome = world
        .try_report("p1", asks(late(card("a"))), Some(1))
        .unwrap();
    assert!(!outcome.reported.unwrap().held);
    assert_eq!(world.pending(), None);
}

/// Seeing, resizing, naming, attaching: none of it ends anything.
#[test]
fn looking_ends_nothing() {
    let mut world = World::new();
    let asked = world.held(card("make"), 1);
    let pane_id = pane("p1");
    for command in [
        Command::MarkSeen {
            pane_id: pane_id.clone(),
        },
        Command::ResizePane {
            pane_id: pane_id.clone(),
            size: signaltty_core::model::Size { cols: 90, rows: 20 },
        },
        Command::RenamePane {
            pane_id,
            title: "mine".into(),
        },
        Command::Operators { connected: true },
        Command::Tick,
    ] {
        let outcome = world.run(command);
        assert_eq!(story(&outcome), [""; 0]);
        assert_eq!(outcome.effects, []);
    }
    assert_eq!(world.pending_id(), Some(asked));
}

/// Another session in the pane of one that crashed: what that one asked stands nowhere any more.
#[test]
fn a_new_session_takes_the_place_of_one_that_never_ended() {
    let mut world = World::new();
    let asked = world.hint(card("make"));
    world.report(
        "p1",
        Reading {
            session_id: Some("s2".into()),
            signal: Some(Signal::SessionStarted),
            ..Reading::default()
        },
    );
    assert_eq!(world.reason(&asked), ClearReason::MovedOn);
    assert_eq!(world.pane("p1").session_id.as_deref(), Some("s2"));
    assert_eq!(world.lifecycle(), Lifecycle::Idle);
}

/// A script's question is ended by nothing that the agent of its pane does.
#[test]
fn a_scripts_question_outlives_the_agents_turn() {
    let mut world = World::new();
    let mut report = from_pane(
        "p1",
        Reading {
            ask: Some(Ask {
                origin: Origin::Ask,
                ..card("Deploy?")
            }),
            ..Reading::default()
        },
        Some(1),
    );
    report.agent = "ask".into();
    world.run(Command::Report(Box::new(report)));
    let asked = world.asked();
    for signal in [
        Signal::PromptSubmitted,
        Signal::TurnEnded { background: false },
        Signal::SessionEnded,
    ] {
        world.hear(signal);
    }
    assert_eq!(world.pending_id(), Some(asked));
    assert_eq!(
        world.pane("p1").agent.as_deref(),
        Some(AGENT),
        "a script is no agent"
    );
}

/// A line whose deadlines are the same is not announced one after the other.
#[test]
fn a_line_that_expires_as_a_whole_announces_none_of_it() {
    let mut world = World::new();
    let expiring = |prompt| Ask {
        expires_at: Some(WALL + 5_000),
        ..card(prompt)
    };
    let first = world.held(expiring("a"), 1);
    world.held(expiring("b"), 2);
    world.held(expiring("c"), 3);
    let outcomes = world.pass(Duration::from_secs(5));
    assert_eq!(story(&outcomes[0]), [format!("cleared {first} expired")]);
    assert_eq!(released(&outcomes[0]).len(), 3);
}
