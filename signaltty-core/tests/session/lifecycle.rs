//! Where an agent stands, and what wants attention (`specs/001 §3`).

use signaltty_core::adapter::{Ask, Reading, Signal};
use signaltty_core::model::{Attention, Exit, Kind, Lifecycle};
use signaltty_core::protocol::Event;
use signaltty_core::session::{Command, Outcome, StreamSignal};

use super::harness::*;

#[test]
fn a_turn_goes_from_prompt_to_done_to_idle() {
    let mut world = World::new();
    let stands = |world: &World, lifecycle, attention: &[Attention]| {
        let pane = world.pane("p1");
        assert_eq!(pane.lifecycle, lifecycle);
        assert_eq!(pane.attention.into_iter().collect::<Vec<_>>(), attention);
    };
    stands(&world, Lifecycle::Unknown, &[]);
    world.hear(Signal::SessionStarted);
    stands(&world, Lifecycle::Idle, &[]);
    world.hear(Signal::PromptSubmitted);
    stands(&world, Lifecycle::Working, &[]);
    let asked = world.held(card("make"), 1);
    stands(&world, Lifecycle::Blocked, &[Attention::PermissionRequired]);
    world.settle(&asked, by_option("allow"));
    stands(&world, Lifecycle::Working, &[]);
    let asked = world.held(question("Which one?"), 1);
    stands(&world, Lifecycle::Blocked, &[Attention::InputRequired]);
    world.settle(&asked, by_text("the first"));
    world.hear(Signal::TurnEnded { background: false });
    stands(&world, Lifecycle::Done, &[Attention::Unread]);
    world.run(Command::MarkSeen {
        pane_id: pane("p1"),
    });
    stands(&world, Lifecycle::Idle, &[]);
    world.hear(Signal::PromptSubmitted);
    world.hear(Signal::TurnFailed);
    stands(
        &world,
        Lifecycle::Failed,
        &[Attention::Unread, Attention::Error],
    );
    world.run(Command::MarkSeen {
        pane_id: pane("p1"),
    });
    stands(&world, Lifecycle::Failed, &[Attention::Error]);
    world.hear(Signal::PromptSubmitted);
    stands(&world, Lifecycle::Working, &[]);
    world.hear(Signal::Interrupted);
    stands(&world, Lifecycle::Interrupted, &[]);
    world.hear(Signal::SessionEnded);
    stands(&world, Lifecycle::Interrupted, &[]);
}

/// Seeing a pane takes away `unread` and no other attention.
#[test]
fn seeing_takes_unread_away_and_nothing_else() {
    let mut world = World::new();
    world.held(card("make"), 1);
    world.report(
        "p1",
        Reading {
            message: Some("look".into()),
            ..reading()
        },
    );
    world.run(Command::Stream {
        pane_id: pane("p1"),
        signal: StreamSignal::Progress(Some((2, 50))),
    });
    world.run(Command::MarkSeen {
        pane_id: pane("p1"),
    });
    let attention: Vec<_> = world.pane("p1").attention.into_iter().collect();
    assert_eq!(attention, [Attention::PermissionRequired, Attention::Error]);
    assert_eq!(world.lifecycle(), Lifecycle::Blocked);
}

/// A turn that ended while tasks run on is not done: it comes back by itself.
#[test]
fn a_turn_with_tasks_in_the_background_is_not_done() {
    let mut world = World::new();
    let turn = |signal| Reading {
        turn_id: Some("t1".into()),
        ..says(signal)
    };
    world.report("p1", turn(Signal::PromptSubmitted));
    world.report("p1", turn(Signal::TurnEnded { background: true }));
    assert_eq!(world.lifecycle(), Lifecycle::Working);
    world.report("p1", turn(Signal::ToolStarted(call(Some("c1"), "a"))));
    assert_eq!(world.lifecycle(), Lifecycle::Working);
    world.report("p1", turn(Signal::TurnEnded { background: false }));
    assert_eq!(world.lifecycle(), Lifecycle::Done);
}

/// Late events of an ended turn are ignored; a tool that starts in one that ended by itself continues it.
#[test]
fn late_events_of_an_ended_turn_change_nothing() {
    let late = [
        Signal::ToolFinished(call(Some("c1"), "a")),
        Signal::Working,
        Signal::TurnEnded { background: false },
    ];
    for (end, stands, continues) in [
        (
            Signal::TurnEnded { background: false },
            Lifecycle::Done,
            true,
        ),
        (Signal::Interrupted, Lifecycle::Interrupted, false),
        (Signal::TurnFailed, Lifecycle::Failed, false),
    ] {
        for turn in [Some("t1".to_owned()), None] {
            let mut world = World::new();
            let said = |signal| Reading {
                turn_id: turn.clone(),
                ..says(signal)
            };
            world.report("p1", said(Signal::PromptSubmitted));
            world.report("p1", said(end.clone()));
            for signal in &late {
                if turn.is_some()
                    || *signal != Signal::Working
                        && !(continues && matches!(signal, Signal::TurnEnded { .. }))
                {
                    world.report("p1", said(signal.clone()));
                    assert_eq!(
                        world.lifecycle(),
                        stands,
                        "{signal:?} after {end:?}, turn {turn:?}"
                    );
                }
            }
            if turn.is_some() {
                world.report("p1", said(Signal::ToolStarted(call(Some("c2"), "b"))));
                assert_eq!(
                    world.lifecycle() == Lifecycle::Working,
                    continues,
                    "{end:?}"
                );
            }
        }
    }
}

/// A stop of an earlier turn that comes after the next prompt does not end that.
#[test]
fn the_stop_of_an_earlier_turn_does_not_end_the_next() {
    let mut world = World::new();
    let said = |turn: &str, signal| Reading {
        turn_id: Some(turn.into()),
        ..says(signal)
    };
    world.report("p1", said("t2", Signal::PromptSubmitted));
    world.report("p1", said("t1", Signal::TurnEnded { background: false }));
    assert_eq!(world.lifecycle(), Lifecycle::Working);
    world.report("p1", said("t2", Signal::TurnEnded { background: false }));
    assert_eq!(world.lifecycle(), Lifecycle::Done);
}

#[test]
fn an_agent_that_waits_for_a_prompt_is_done() {
    let mut world = World::new();
    world.hear(Signal::Idle);
    assert_eq!(world.lifecycle(), Lifecycle::Idle);
    world.hear(Signal::PromptSubmitted);
    world.hear(Signal::Idle);
    assert_eq!(world.lifecycle(), Lifecycle::Done, "nobody has seen it yet");
    world.run(Command::MarkSeen {
        pane_id: pane("p1"),
    });
    world.hear(Signal::Idle);
    assert_eq!(world.lifecycle(), Lifecycle::Idle);
}

/// A subagent's end is not the turn's.
#[test]
fn a_subagent_that_ends_leaves_the_turn_running() {
    let mut world = World::new();
    world.hear(Signal::PromptSubmitted);
    world.report(
        "p1",
        Reading {
            subagent: Some("helper".into()),
            ..says(Signal::TurnEnded { background: false })
        },
    );
    assert_eq!(world.lifecycle(), Lifecycle::Working);
}

/// An agent that the pane's agent runs as a tool may ask, but does not speak for the pane.
#[test]
fn an_agent_within_an_agent_does_not_speak_for_the_pane() {
    for (agent, session) in [("other", "x1"), (AGENT, "nested")] {
        let mut world = World::new();
        world.hear(Signal::PromptSubmitted);
        world.hear(Signal::ToolStarted(call(Some("c1"), "run the other one")));
        let report = |signal, ask| {
            let reading = Reading {
                session_id: Some(session.into()),
                signal,
                ask,
                ..Reading::default()
            };
            let mut report = from_pane("p1", reading, Some(1));
            report.agent = agent.into();
            Command::Report(Box::new(report))
        };
        world.run(report(Some(Signal::PromptSubmitted), None));
        world.run(report(None, Some(card("make"))));
        let asked = world.asked();
        assert_eq!(world.lifecycle(), Lifecycle::Blocked);
        world.settle(&asked, by_option("allow"));
        world.run(report(Some(Signal::TurnEnded { background: false }), None));
        world.run(report(Some(Signal::SessionEnded), None));
        let pane = world.pane("p1");
        assert_eq!(pane.lifecycle, Lifecycle::Working);
        assert_eq!(
            (pane.agent.as_deref(), pane.session_id.as_deref()),
            (Some(AGENT), Some(SESSION))
        );
    }
}

/// A shell in which one agent ended and another begins.
#[test]
fn another_agent_takes_over_a_pane_that_is_not_at_work() {
    let mut world = World::new();
    world.hear(Signal::PromptSubmitted);
    world.hear(Signal::SessionEnded);
    let mut report = from_pane(
        "p1",
        Reading {
            session_id: Some("x1".into()),
            signal: Some(Signal::SessionStarted),
            ..Reading::default()
        },
        None,
    );
    report.agent = "other".into();
    world.run(Command::Report(Box::new(report)));
    let pane = world.pane("p1");
    assert_eq!(
        (pane.agent.as_deref(), pane.session_id.as_deref()),
        (Some("other"), Some("x1"))
    );
}

#[test]
fn an_explicit_block_without_a_question_wants_input() {
    let mut world = World::new();
    world.report(
        "p1",
        Reading {
            lifecycle: Some(Lifecycle::Blocked),
            ..reading()
        },
    );
    assert_eq!(world.lifecycle(), Lifecycle::Blocked);
    assert!(
        world
            .pane("p1")
            .attention
            .contains(&Attention::InputRequired)
    );
    world.report(
        "p1",
        Reading {
            lifecycle: Some(Lifecycle::Working),
            ..reading()
        },
    );
    assert_eq!(world.lifecycle(), Lifecycle::Working);
    assert!(world.pane("p1").attention.is_empty());
}

#[test]
fn a_shells_own_marks_say_where_it_stands() {
    let mut world = shell();
    world.run(mark('A', None));
    assert_eq!(world.lifecycle(), Lifecycle::Idle);
    for (status, stands) in [
        (Some(0), Lifecycle::Done),
        (None, Lifecycle::Done),
        (Some(2), Lifecycle::Failed),
        (Some(130), Lifecycle::Interrupted),
    ] {
        world.run(mark('B', None));
        world.run(mark('C', None));
        assert_eq!(world.lifecycle(), Lifecycle::Working);
        world.run(mark('D', status));
        assert_eq!(world.lifecycle(), stands);
        world.run(mark('A', None));
        assert_eq!(world.lifecycle(), stands, "a prompt alone changes nothing");
    }
    // An agent's own reports say more.
    world.hear(Signal::PromptSubmitted);
    world.run(mark('D', Some(0)));
    assert_eq!(world.lifecycle(), Lifecycle::Working);
    world.hear(Signal::SessionEnded);
    world.run(mark('C', None));
    assert_eq!(world.lifecycle(), Lifecycle::Working);
}

#[test]
fn the_byte_stream_gives_titles_notifications_and_attention() {
    let mut world = World::new();
    let stream = |world: &mut World, signal| -> Outcome {
        world.run(Command::Stream {
            pane_id: pane("p1"),
            signal,
        })
    };
    assert_eq!(world.pane("p1").title, "robot");
    stream(&mut world, StreamSignal::Title("fixing it".into()));
    assert_eq!(world.pane("p1").title, "fixing it");
    world.run(Command::RenamePane {
        pane_id: pane("p1"),
        title: " mine ".into(),
    });
    let outcome = stream(&mut world, StreamSignal::Title("still fixing it".into()));
    assert_eq!(world.pane("p1").title, "mine", "a person's name wins");
    assert_eq!(outcome.events, []);
    world.run(Command::RenamePane {
        pane_id: pane("p1"),
        title: String::new(),
    });
    assert_eq!(world.pane("p1").title, "still fixing it");
    stream(&mut world, StreamSignal::Title(String::new()));
    assert_eq!(world.pane("p1").title, "robot");

    let outcome = stream(
        &mut world,
        StreamSignal::Notification {
            title: Some("t".into()),
            body: "x".repeat(100_000),
        },
    );
    let Event::AgentNotification { body, .. } = &outcome.events[0] else {
        panic!("{outcome:?}")
    };
    assert!(body.len() <= signaltty_core::limits::MESSAGE_MAX);
    world.run(Command::MarkSeen {
        pane_id: pane("p1"),
    });
    stream(&mut world, StreamSignal::Bell);
    assert!(world.pane("p1").attention.contains(&Attention::Unread));
    stream(&mut world, StreamSignal::Progress(Some((4, 10))));
    assert!(world.pane("p1").attention.contains(&Attention::Warning));
    stream(&mut world, StreamSignal::Progress(Some((1, 20))));
    assert!(!world.pane("p1").attention.contains(&Attention::Warning));
}

#[test]
fn progress_says_where_a_pane_without_an_agent_stands() {
    let mut world = shell();
    let progress = |progress| Command::Stream {
        pane_id: pane("p1"),
        signal: StreamSignal::Progress(progress),
    };
    world.run(progress(Some((3, 0))));
    assert_eq!(world.lifecycle(), Lifecycle::Working);
    world.run(progress(None));
    assert_eq!(world.lifecycle(), Lifecycle::Done);
}

#[test]
fn a_pane_that_ended_says_how() {
    let mut world = World::new();
    world.hear(Signal::PromptSubmitted);
    let exit = Exit {
        code: None,
        signal: Some(9),
    };
    let outcome = world.run(Command::PaneExited {
        pane_id: pane("p1"),
        exit,
    });
    let pane = world.pane("p1");
    assert_eq!(
        (pane.lifecycle, pane.exit, pane.pid),
        (Lifecycle::Exited, Some(exit), None)
    );
    assert!(pane.attention.contains(&Attention::Error));
    assert_eq!(outcome.events.len(), 2);
    // Once.
    let again = world.run(Command::PaneExited {
        pane_id: super::harness::pane("p1"),
        exit,
    });
    assert_eq!(again.events, []);
}

#[test]
fn a_form_wants_input() {
    let mut world = World::new();
    let field =
        serde_json::from_value(serde_json::json!({ "id": "n", "type": "string", "label": "Name" }))
            .unwrap();
    let asked = world.held(
        Ask {
            kind: Kind::Form,
            fields: vec![field],
            options: Vec::new(),
            ..card("Fill in")
        },
        1,
    );
    assert!(
        world
            .pane("p1")
            .attention
            .contains(&Attention::InputRequired)
    );
    world.settle(&asked, by_text("Ada"));
    assert!(world.pane("p1").attention.is_empty());
}
