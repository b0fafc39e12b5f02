//! Which pane a report belongs to, who may do what (`specs/001 §5`), and the arrangement of panes.

use signaltty_core::adapter::{Ask, Reading, Signal};
use signaltty_core::limits::PANES_MAX;
use signaltty_core::model::{Exit, Layout, LayoutNode, Origin, PaneId, SplitDirection, Tab};
use signaltty_core::protocol::Event;
use signaltty_core::session::{Action, Caller, Command, NewPane, Report, ReportedBy, SessionError};

use super::harness::*;

fn elsewhere(reading: Reading) -> Report {
    Report {
        by: ReportedBy::Elsewhere,
        ..from_pane("p1", reading, None)
    }
}

fn attributed(world: &mut World, report: Report) -> Option<PaneId> {
    world
        .run(Command::Report(Box::new(report)))
        .reported
        .unwrap()
        .pane_id
}

/// The pane that the reporting process descends from wins over everything that the report says.
#[test]
fn a_report_belongs_to_the_pane_that_its_process_descends_from() {
    let mut world = World::new();
    world.open("p2");
    world.report("p2", says(Signal::SessionStarted));
    let mut report = from_pane("p1", asks(card("make")), None);
    report.pane_id = Some(pane("p2"));
    report.reading.cwd = Some("/home/me/p2".into());
    assert_eq!(attributed(&mut world, report), Some(pane("p1")));
}

#[test]
fn a_report_from_a_shared_server_belongs_to_the_pane_with_that_session() {
    let mut world = World::new();
    world.open("p2");
    world.report("p2", says(Signal::SessionStarted));
    let report = elsewhere(Reading {
        cwd: Some("/home/me/p1".into()),
        ..asks(card("make"))
    });
    assert_eq!(attributed(&mut world, report), Some(pane("p2")));
    let mut other_agent = elsewhere(says(Signal::Working));
    other_agent.agent = "other".into();
    assert_eq!(
        attributed(&mut world, other_agent),
        None,
        "session ids are the agent's own"
    );
}

#[test]
fn else_to_the_only_pane_with_that_agent_and_folder() {
    let mut world = World::new();
    world.open("p2");
    let from = |cwd: &str| {
        elsewhere(Reading {
            cwd: Some(cwd.into()),
            ..asks(card("make"))
        })
    };
    assert_eq!(
        attributed(&mut world, from("/home/me/p2/")),
        Some(pane("p2"))
    );
    assert_eq!(attributed(&mut World::new(), from("/home/me")), None);

    // Two such panes: neither.
    let mut world = World::new();
    world.run(Command::OpenPane(NewPane {
        cwd: "/home/me/p1".into(),
        ..new_pane("p2")
    }));
    assert_eq!(attributed(&mut world, from("/home/me/p1")), None);
    // One of them ended: the other.
    world.run(Command::PaneExited {
        pane_id: pane("p2"),
        exit: Exit::default(),
    });
    assert_eq!(
        attributed(&mut world, from("/home/me/p1")),
        Some(pane("p1"))
    );
}

/// The user's own terminal may run the same agent in the same folder: that is another session.
#[test]
fn an_agent_outside_takes_over_no_pane_whose_agent_reported_another_session() {
    let mut world = World::new();
    let outside = |session: &str| {
        let mut report = elsewhere(asks(card("make")));
        report.by = ReportedBy::Outside;
        report.reading.cwd = Some("/home/me/p1".into());
        report.reading.session_id = Some(session.into());
        report
    };
    world.report("p1", says(Signal::SessionStarted));
    let own = world.session.pane(&pane("p1")).unwrap().session_id;
    assert!(own.is_some());
    assert_eq!(attributed(&mut world, outside("another")), None);
    let mut fresh = World::new();
    assert_eq!(
        attributed(&mut fresh, outside("another")),
        Some(pane("p1")),
        "a pane that has reported none yet is meant"
    );
}

/// A process inside some pane, re-parented so that nobody knows which, cannot choose whom it speaks for.
#[test]
fn a_process_of_an_unknown_pane_speaks_for_none() {
    let mut world = World::new();
    world.report("p1", says(Signal::SessionStarted));
    let mut report = elsewhere(asks(card("make")));
    report.by = ReportedBy::Unknown;
    report.reading.session_id = world.session.pane(&pane("p1")).unwrap().session_id;
    report.reading.cwd = Some("/home/me/p1".into());
    assert_eq!(attributed(&mut world, report), None);
    assert_eq!(world.pending_id(), None);
}

#[test]
fn else_to_the_pane_that_an_outside_caller_named() {
    let mut world = World::new();
    let named = |name: &str| Report {
        pane_id: Some(pane(name)),
        ..elsewhere(asks(plain("Proceed?")))
    };
    assert_eq!(attributed(&mut world, named("p1")), Some(pane("p1")));
    let error = world
        .apply(Command::Report(Box::new(named("p9"))))
        .unwrap_err();
    assert_eq!(error, SessionError::NoSuchPane(pane("p9")));
}

/// No pane: no decision, no opinion.
#[test]
fn a_report_from_nowhere_makes_nothing() {
    let mut world = World::new();
    let mut report = elsewhere(asks(card("make")));
    report.hook = Some(signaltty_core::model::HookId(1));
    let outcome = world.run(Command::Report(Box::new(report)));
    assert_eq!(
        outcome.reported,
        Some(signaltty_core::session::Reported::default())
    );
    assert_eq!((outcome.events.len(), outcome.effects.len()), (0, 0));
    // A pane that is gone is none.
    let outcome = world.try_report("p9", asks(card("make")), Some(1)).unwrap();
    assert_eq!(outcome.reported.unwrap().pane_id, None);
}

fn ask_outside(own: &str, hook: u64) -> Report {
    let ask = Ask {
        origin: Origin::Ask,
        ..card("Deploy?")
    };
    Report {
        agent: "ask".into(),
        own_pane: Some(pane(own)),
        hook: Some(signaltty_core::model::HookId(hook)),
        ..elsewhere(Reading {
            ask: Some(ask),
            cwd: Some("/srv".into()),
            ..Reading::default()
        })
    }
}

/// `ask` outside, without `--pane`: a pane without terminal that goes with its answer.
#[test]
fn a_question_without_a_pane_gets_one_that_goes_with_its_answer() {
    let mut world = World::new();
    let outcome = world.run(Command::Report(Box::new(ask_outside("own-1", 1))));
    assert!(
        matches!(&outcome.events[0], Event::PaneCreated { pane } if pane.id.as_str() == "own-1" && !pane.terminal)
    );
    let asked = world.asked();
    // Another one in the same folder has a pane of its own.
    world.run(Command::Report(Box::new(ask_outside("own-2", 2))));
    assert_eq!(world.session.panes().len(), 3);

    world
        .try_answer_on("own-1", &asked, by_option("allow"))
        .unwrap();
    let outcome = world.run(Command::Delivered {
        decision_id: asked.clone(),
    });
    assert_eq!(story(&outcome), [format!("cleared {asked} answered")]);
    assert!(
        matches!(outcome.events.last(), Some(Event::PaneClosed { pane_id }) if pane_id.as_str() == "own-1")
    );
    assert_eq!(world.session.pane(&pane("own-1")), None);
    // Whoever comes too late still learns who won.
    let late = world
        .try_answer_on("own-1", &asked, by_option("deny"))
        .unwrap_err();
    assert!(matches!(late, SessionError::NoSuchDecision { .. }));
}

/// A question that cannot be one makes no pane either.
#[test]
fn a_refused_question_makes_no_pane() {
    let mut world = World::new();
    let mut report = ask_outside("own-1", 1);
    report.reading.ask.as_mut().unwrap().prompt = " ".into();
    assert!(world.apply(Command::Report(Box::new(report))).is_err());
    let mut report = ask_outside("own-1", 1);
    report.reading.ask = None;
    assert_eq!(attributed(&mut world, report), None);
    assert_eq!(world.session.panes().len(), 1);
}

#[test]
fn there_is_room_for_so_many_panes() {
    let mut world = World::empty();
    for n in 0..PANES_MAX {
        world.open(&format!("p{n}"));
    }
    let error = world
        .apply(Command::OpenPane(new_pane("more")))
        .unwrap_err();
    assert!(matches!(
        error,
        SessionError::Limit {
            limit: PANES_MAX,
            ..
        }
    ));
    let error = world
        .apply(Command::Report(Box::new(ask_outside("own-1", 1))))
        .unwrap_err();
    assert!(matches!(error, SessionError::Limit { .. }));
    let mut world = World::new();
    assert!(
        world.apply(Command::OpenPane(new_pane("p1"))).is_err(),
        "an id is one pane's"
    );
}

const FREE: [Action; 7] = [
    Action::Report,
    Action::Ask,
    Action::List,
    Action::Read,
    Action::Open,
    Action::Wait,
    Action::Attach { input: false },
];
const OUTSIDE: [Action; 7] = [
    Action::Answer,
    Action::Shutdown,
    Action::Replace,
    Action::Layout,
    Action::Settings,
    Action::Integration,
    Action::AepAccess,
];
const OPENED: [Action; 7] = [
    Action::Input,
    Action::Attach { input: true },
    Action::Resize,
    Action::Signal,
    Action::Close,
    Action::Rename,
    Action::MarkSeen,
];

/// `p1` opened `child`, which opened `grandchild`; `p2` is somebody else's.
fn family() -> World {
    let mut world = World::new();
    world.open("p2");
    for (name, opener) in [("child", "p1"), ("grandchild", "child")] {
        world.run(Command::OpenPane(NewPane {
            opened_by: Some(pane(opener)),
            ..new_pane(name)
        }));
    }
    world
}

/// An agent cannot approve itself.
#[test]
fn from_inside_a_pane_nothing_that_could_approve_is_allowed() {
    let world = family();
    let inside = [Caller::Inside(None), Caller::Inside(Some(pane("p1")))];
    for caller in &inside {
        for action in OUTSIDE {
            let error = world
                .session
                .may(caller, action, Some(&pane("grandchild")))
                .unwrap_err();
            let SessionError::Forbidden(message) = error else {
                panic!("{error:?}")
            };
            assert!(
                message.contains("from the window"),
                "it says what to do instead: {message}"
            );
        }
        for action in FREE {
            for target in ["p1", "p2", "child"] {
                assert_eq!(
                    world.session.may(caller, action, Some(&pane(target))),
                    Ok(())
                );
            }
        }
    }
    for action in OUTSIDE.into_iter().chain(FREE).chain(OPENED) {
        assert_eq!(
            world
                .session
                .may(&Caller::Outside, action, Some(&pane("p1"))),
            Ok(())
        );
    }
}

/// Only on panes that the caller's own pane opened, however indirectly.
#[test]
fn from_inside_a_pane_only_panes_that_it_opened_can_be_changed() {
    let mut world = family();
    for action in OPENED {
        let may = |caller: &str, target: &str, world: &World| {
            world
                .session
                .may(
                    &Caller::Inside(Some(pane(caller))),
                    action,
                    Some(&pane(target)),
                )
                .is_ok()
        };
        assert!(
            may("p1", "child", &world)
                && may("p1", "grandchild", &world)
                && may("child", "grandchild", &world)
        );
        for (caller, target) in [
            ("p1", "p1"),
            ("p1", "p2"),
            ("child", "p1"),
            ("grandchild", "child"),
            ("p2", "child"),
            ("p1", "p9"),
        ] {
            assert!(!may(caller, target, &world), "{caller} {action:?} {target}");
        }
        assert!(
            world
                .session
                .may(&Caller::Inside(None), action, Some(&pane("child")))
                .is_err()
        );
        assert!(
            world
                .session
                .may(&Caller::Inside(Some(pane("p1"))), action, None)
                .is_err()
        );
    }
    // The pane between them is closed; it was still opened from there.
    world.run(Command::ClosePane {
        pane_id: pane("child"),
    });
    assert!(
        world
            .session
            .may(
                &Caller::Inside(Some(pane("p1"))),
                Action::Input,
                Some(&pane("grandchild"))
            )
            .is_ok()
    );
}

/// And never on one with a pending decision.
#[test]
fn from_inside_a_pane_none_that_asks_can_be_changed() {
    let mut world = family();
    world.report("child", asks(card("make")));
    for action in OPENED {
        let error = world
            .session
            .may(
                &Caller::Inside(Some(pane("p1"))),
                action,
                Some(&pane("child")),
            )
            .unwrap_err();
        assert!(matches!(error, SessionError::Forbidden(_)));
    }
}

/// A pane of an earlier host may name any opener, even itself.
#[test]
fn panes_that_opened_each_other_are_no_endless_loop() {
    let mut world = World::empty();
    for (name, opener) in [("a", "b"), ("b", "a")] {
        world.run(Command::OpenPane(NewPane {
            opened_by: Some(pane(opener)),
            ..new_pane(name)
        }));
    }
    assert!(
        world
            .session
            .may(
                &Caller::Inside(Some(pane("c"))),
                Action::Input,
                Some(&pane("a"))
            )
            .is_err()
    );
    world.run(Command::ClosePane { pane_id: pane("a") });
}

fn leaf(name: &str) -> LayoutNode {
    LayoutNode::Pane {
        pane_id: pane(name),
    }
}

fn split(share: f64, first: LayoutNode, second: LayoutNode) -> LayoutNode {
    LayoutNode::Split {
        direction: SplitDirection::Right,
        share,
        first: Box::new(first),
        second: Box::new(second),
    }
}

fn tab(root: LayoutNode) -> Tab {
    Tab { title: None, root }
}

#[test]
fn the_layout_is_checked_told_and_pruned() {
    let mut world = family();
    let layout = Layout {
        tabs: vec![
            tab(split(
                7.0,
                leaf("p1"),
                split(0.5, leaf("child"), leaf("p2")),
            )),
            tab(leaf("grandchild")),
        ],
    };
    let outcome = world.run(Command::SetLayout {
        layout: layout.clone(),
    });
    assert_eq!(
        outcome.events,
        [Event::LayoutChanged {
            layout: world.session.layout().clone()
        }]
    );
    assert!(matches!(
        world.session.layout().tabs[0].root,
        LayoutNode::Split { share: 0.95, .. }
    ));
    assert_eq!(
        world.run(Command::SetLayout { layout }).events,
        [],
        "the same again"
    );

    world.run(Command::ClosePane {
        pane_id: pane("child"),
    });
    let outcome = world.run(Command::ClosePane {
        pane_id: pane("grandchild"),
    });
    assert!(matches!(
        outcome.events[..],
        [Event::PaneClosed { .. }, Event::LayoutChanged { .. }]
    ));
    assert_eq!(
        world.session.layout().tabs,
        [tab(split(0.95, leaf("p1"), leaf("p2")))]
    );

    let refused = |world: &mut World, root| {
        let before = world.session.layout().clone();
        assert!(
            world
                .apply(Command::SetLayout {
                    layout: Layout {
                        tabs: vec![tab(root)]
                    }
                })
                .is_err()
        );
        assert_eq!(*world.session.layout(), before);
    };
    refused(&mut world, leaf("p9"));
    refused(&mut world, split(0.5, leaf("p1"), leaf("p1")));
    let deep = (0..100).fold(leaf("p1"), |node, _| split(0.5, node, leaf("p2")));
    refused(&mut world, deep);
}
