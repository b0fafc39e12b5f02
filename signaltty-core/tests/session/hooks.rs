//! When a hook is held, let go and lost (`specs/010 §3` "Holding", `§1.8`).

use std::time::Duration;

use signaltty_core::adapter::{Ask, Holding, HookLoss, Signal};
use signaltty_core::limits::{HOLD_MAX, HOOK_LOSS_GRACE, RECONNECT};
use signaltty_core::model::{HookId, Lifecycle, Origin};
use signaltty_core::protocol::ClearReason;
use signaltty_core::session::{Command, HoldingSetting, SessionError};

use super::harness::*;

const STEP: Duration = Duration::from_millis(1);

fn held(world: &mut World, ask: Ask) -> bool {
    world.try_report("p1", asks(ask), Some(1)).unwrap();
    world.last.reported.clone().unwrap().held
}

/// Where the vendor's own prompt stands beside the hook it is always held; where holding hides that prompt, only
/// while an operator is connected; an observer's never. A setting says always or never instead.
#[test]
fn a_hook_is_held_by_the_adapters_word_the_setting_and_the_operators() {
    use HoldingSetting as Setting;
    for (holding, setting, operator, expected) in [
        (Holding::Always, Setting::Adapter, false, true),
        (Holding::Always, Setting::Adapter, true, true),
        (Holding::Always, Setting::Never, true, false),
        (Holding::WhileOperator, Setting::Adapter, false, false),
        (Holding::WhileOperator, Setting::Adapter, true, true),
        (Holding::WhileOperator, Setting::Always, false, true),
        (Holding::WhileOperator, Setting::Never, true, false),
        (Holding::Never, Setting::Adapter, true, false),
        (Holding::Never, Setting::Always, true, false),
    ] {
        let mut world = World::empty();
        world.open("p1");
        world.operators(operator);
        world.run(Command::SetHolding(setting));
        let is_held = held(
            &mut world,
            Ask {
                holding,
                ..card("make")
            },
        );
        assert_eq!(
            is_held, expected,
            "{holding:?} {setting:?} operator: {operator}"
        );
        assert_eq!(
            world.pending().unwrap().answerable,
            expected,
            "what is not held is a hint"
        );
    }
}

/// Without an operator the vendor's own prompt opens at once, and an attempt to answer is refused.
#[test]
fn without_an_operator_it_is_a_hint_that_cannot_be_answered() {
    let mut world = World::empty();
    world.open("p1");
    assert!(!held(&mut world, hiding_card("make")));
    let asked = world.pending_id().unwrap();
    assert_eq!(
        world.try_answer(&asked, by_option("allow")),
        Err(SessionError::NotAnswerable(asked))
    );
}

/// A script's question is held whatever the setting: nothing else waits for it.
#[test]
fn a_scripts_question_is_always_held() {
    let mut world = World::empty();
    world.open("p1");
    world.run(Command::SetHolding(HoldingSetting::Never));
    assert!(held(
        &mut world,
        Ask {
            origin: Origin::Ask,
            holding: Holding::Never,
            ..card("Deploy?")
        }
    ));
}

/// When the last operator leaves, the hook is released after `RECONNECT` and the card becomes a hint.
#[test]
fn operators_that_leave_let_the_agents_own_prompt_open() {
    let mut world = World::new();
    let first = world.held(hiding_card("a"), 1);
    let second = world.held(hiding_card("b"), 2);
    world.operators(false);
    assert!(world.pass(RECONNECT - STEP).is_empty());
    assert!(world.pending().unwrap().answerable);
    let outcomes = world.pass(STEP);
    let mut let_go = released(&outcomes[0]);
    let_go.sort();
    assert_eq!(let_go, [(1, first.clone()), (2, second)]);
    assert_eq!(story(&outcomes[0]), [format!("updated {first}")]);
    assert!(!world.pending().unwrap().answerable);
    assert_eq!(world.queued(), 1, "a hint stays as long as the agent asks");
}

#[test]
fn an_operator_that_comes_back_in_time_changes_nothing() {
    let mut world = World::new();
    let asked = world.held(hiding_card("a"), 1);
    world.operators(false);
    world.pass(RECONNECT - STEP);
    world.operators(true);
    let outcomes = world.pass(RECONNECT * 3);
    assert!(outcomes.iter().all(|outcome| released(outcome).is_empty()));
    assert!(world.session.decision(&asked).unwrap().answerable);
}

/// What stands beside the vendor's own prompt stays held without an operator: `signaltty answer` can come later.
#[test]
fn a_hook_beside_the_vendors_prompt_stays_held_without_an_operator() {
    let mut world = World::new();
    let asked = world.held(card("a"), 1);
    world.operators(false);
    world.pass(RECONNECT * 10);
    world.settle(&asked, by_option("allow"));
}

/// At the end of our wait the hook is released without an opinion and the decision is lowered to a hint.
#[test]
fn our_wait_ends_before_the_vendors() {
    let mut world = World::new();
    let asked = world.held(card("a"), 1);
    assert!(world.pass(HOLD_MAX - STEP).is_empty());
    let outcomes = world.pass(STEP);
    assert_eq!(released(&outcomes[0]), [(1, asked.clone())]);
    assert_eq!(story(&outcomes[0]), [format!("updated {asked}")]);
    assert_eq!(world.session.next_deadline(), None);
    // It stays as long as the agent waits in its own UI.
    world.pass(HOLD_MAX);
    assert_eq!(world.pending_id(), Some(asked.clone()));
    world.hear(Signal::ToolFinished(call(None, "a")));
    assert_eq!(world.reason(&asked), ClearReason::AttentionCleared);
}

/// A script has no prompt of its own and waits for as long as it likes: our wait does not end its question
/// (`specs/010 §1.7`); its going away does.
#[test]
fn a_scripts_question_stands_for_as_long_as_the_script_waits() {
    let mut world = World::new();
    let asked = world.held(
        Ask {
            origin: Origin::Ask,
            ..card("Deploy?")
        },
        1,
    );
    world.pass(HOLD_MAX);
    world.pass(HOLD_MAX);
    assert_eq!(world.pending_id(), Some(asked.clone()));
    assert!(world.pending().is_some_and(|decision| decision.answerable));
}

/// A hook lost earlier was ended from the vendor's side: the human said no, or the program ended.
#[test]
fn a_lost_hook_means_moved_on() {
    let mut world = World::new();
    world.hear(Signal::PromptSubmitted);
    let asked = world.held(card("a"), 1);
    let outcome = world.run(Command::HookGone { hook: HookId(1) });
    assert_eq!(story(&outcome), [format!("cleared {asked} moved_on")]);
    assert!(released(&outcome).is_empty(), "there is nobody to let go");
    // The vendor reports nothing of a no, and a no breaks the turn off; its next word is believed.
    assert_eq!(world.lifecycle(), Lifecycle::Interrupted);
    world.hear(Signal::ToolStarted(call(Some("c2"), "b")));
    assert_eq!(world.lifecycle(), Lifecycle::Working);
}

/// Where the vendor reports what happened, at most `HOOK_LOSS_GRACE` is waited for that.
#[test]
fn a_lost_hook_waits_for_a_telling_event() {
    let lost = || {
        let mut world = World::new();
        let asked = world.held(
            Ask {
                hook_loss: HookLoss::AwaitReport,
                ..card("a")
            },
            1,
        );
        let outcome = world.run(Command::HookGone { hook: HookId(1) });
        assert_eq!(story(&outcome), [format!("updated {asked}")]);
        assert!(
            !world.pending().unwrap().answerable,
            "its route is gone at once"
        );
        (world, asked)
    };
    let (mut world, asked) = lost();
    world.pass(HOOK_LOSS_GRACE - STEP);
    world.hear(Signal::ToolFinished(call(None, "a")));
    assert_eq!(world.reason(&asked), ClearReason::AttentionCleared);
    assert_eq!(world.session.next_deadline(), None);

    let (mut world, asked) = lost();
    assert!(world.pass(HOOK_LOSS_GRACE - STEP).is_empty());
    let outcomes = world.pass(STEP);
    assert_eq!(story(&outcomes[0]), [format!("cleared {asked} moved_on")]);
}

/// A hook in line that goes takes its question with it, silently.
#[test]
fn a_lost_hook_in_line_leaves_silently() {
    let mut world = World::new();
    let first = world.held(card("a"), 1);
    let second = world.held(card("b"), 2);
    let outcome = world.run(Command::HookGone { hook: HookId(2) });
    assert_eq!(story(&outcome), [""; 0]);
    assert_eq!(world.reason(&second), ClearReason::MovedOn);
    assert_eq!((world.pending_id(), world.queued()), (Some(first), 0));
}

#[test]
fn a_connection_that_was_let_go_is_no_loss() {
    let mut world = World::new();
    let asked = world.held(hiding_card("a"), 1);
    world.operators(false);
    world.pass(RECONNECT);
    let outcome = world.run(Command::HookGone { hook: HookId(1) });
    assert_eq!((outcome.events.len(), outcome.effects.len()), (0, 0));
    assert_eq!(world.pending_id(), Some(asked));
}

/// An answer on its way is not disturbed by operators that leave.
#[test]
fn an_answer_on_its_way_keeps_its_hook() {
    let mut world = World::new();
    let asked = world.held(hiding_card("a"), 1);
    world.answer(&asked, by_option("deny"));
    world.operators(false);
    let outcomes = world.pass(RECONNECT);
    assert!(outcomes.iter().all(|outcome| released(outcome).is_empty()));
    let outcome = world.run(Command::Delivered {
        decision_id: asked.clone(),
    });
    assert_eq!(story(&outcome), [format!("cleared {asked} answered")]);
}

/// A setting that is changed acts on what is held now.
#[test]
fn the_setting_acts_at_once() {
    let mut world = World::new();
    let asked = world.held(card("a"), 1);
    let outcome = world.run(Command::SetHolding(HoldingSetting::Never));
    assert_eq!(released(&outcome), [(1, asked.clone())]);
    assert_eq!(story(&outcome), [format!("updated {asked}")]);
}

/// A host that just began may follow one whose operators are on their way back, and waits for them as long.
#[test]
fn a_resumed_hook_waits_for_its_operator() {
    let resumed = |wait: Duration| {
        let mut world = World::empty();
        world.open("p1");
        world.pass(wait);
        let mut report = from_pane("p1", asks(hiding_card("make")), Some(3));
        report.resumes = Some(id("from-before"));
        world.run(Command::Report(Box::new(report)));
        world
    };
    let mut world = resumed(Duration::ZERO);
    assert!(world.last.reported.as_ref().unwrap().held);
    let outcomes = world.pass(RECONNECT);
    assert_eq!(released(&outcomes[0]), [(3, id("from-before"))]);
    assert!(
        !resumed(RECONNECT).last.reported.as_ref().unwrap().held,
        "nobody came back in time"
    );
}

/// The same for a setting that is changed: what is being answered stays as it is.
#[test]
fn the_setting_does_not_take_the_hook_from_an_answer_on_its_way() {
    let mut world = World::new();
    let asked = world.held(card("a"), 1);
    world.answer(&asked, by_option("allow"));
    let outcome = world.run(Command::SetHolding(HoldingSetting::Never));
    assert_eq!((outcome.events.len(), outcome.effects.len()), (0, 0));
    let outcome = world.run(Command::Delivered {
        decision_id: asked.clone(),
    });
    assert_eq!(story(&outcome), [format!("cleared {asked} answered")]);
}
