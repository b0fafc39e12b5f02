//! What typing means (`specs/010 §3` "Answered in the terminal").

use signaltty_core::adapter::{Ask, Signal, TerminalKeys};
use signaltty_core::model::{Key, Lifecycle};
use signaltty_core::protocol::ClearReason;
use signaltty_core::session::{Command, Typist};

use super::harness::*;
use Key::{BackTab, Char, Down, Enter, Escape, Left, Other, Paste, Right, Tab, Up};

/// A card beside a prompt that digits, Enter and Esc answer, and in which Tab opens a text field.
fn beside(prompt: &str) -> Ask {
    let answers = vec![Char('1'), Char('2'), Char('3'), Enter, Escape];
    Ask {
        keys: Some(TerminalKeys {
            answers,
            opens_text: vec![Tab],
        }),
        ..card(prompt)
    }
}

#[test]
fn a_key_that_answers_in_the_terminal_ends_the_decision_and_lets_the_hook_go() {
    for keys in [
        &[Char('1')][..],
        &[Escape],
        &[Down, Down, Enter],
        &[Down, Char('3')],
    ] {
        let mut world = World::new();
        let asked = world.held(beside("make"), 1);
        let outcome = world.type_keys(keys);
        assert_eq!(
            story(&outcome),
            [format!("cleared {asked} moved_on")],
            "{keys:?}"
        );
        assert_eq!(released(&outcome), [(1, asked.clone())]);
        // A late answer changes nothing.
        assert!(world.try_answer(&asked, by_option("allow")).is_err());
    }
}

#[test]
fn arrows_and_letters_alone_answer_nothing() {
    let mut world = World::new();
    let asked = world.held(beside("make"), 1);
    for key in [
        Up,
        Down,
        Left,
        Right,
        BackTab,
        Other,
        Char('y'),
        Key::Ctrl('c'),
        Key::Alt('1'),
        Paste(true),
        Paste(false),
    ] {
        let outcome = world.type_keys(std::slice::from_ref(&key));
        assert_eq!(story(&outcome), [""; 0], "{key:?}");
    }
    let outcome = world.type_keys(&[]);
    assert_eq!(outcome.events, []);
    assert_eq!(world.pending_id(), Some(asked));
}

/// After a key that opens a text field only Enter and Esc count.
#[test]
fn in_the_text_field_of_the_prompt_only_enter_and_esc_count() {
    for last in [Enter, Escape] {
        let mut world = World::new();
        let asked = world.held(beside("make"), 1);
        world.type_keys(&[Down, Down, Tab]);
        for letter in "1 2 no, use staging".chars() {
            world.type_keys(&[Char(letter)]);
        }
        assert_eq!(world.pending_id(), Some(asked.clone()));
        world.type_keys(&[last]);
        assert_eq!(world.reason(&asked), ClearReason::MovedOn);
    }
}

/// What a process inside a pane types is no human's answer.
#[test]
fn a_program_that_types_answers_nothing() {
    let mut world = World::new();
    let asked = world.held(beside("make"), 1);
    world.run(Command::Typed {
        pane_id: pane("p1"),
        keys: vec![Char('1'), Enter],
        by: Typist::Inside,
    });
    assert_eq!(world.pending_id(), Some(asked));
}

/// Where the vendor reports by itself, keys are no answer: its event is waited for.
#[test]
fn without_listed_keys_typing_ends_nothing() {
    let mut world = World::new();
    let asked = world.held(hiding_card("make"), 1);
    world.type_keys(&[Char('1'), Enter, Escape]);
    assert_eq!(world.pending_id(), Some(asked));
    assert!(world.pending().unwrap().answerable);
}

/// One batch of keys answers one prompt: the Enter after a digit is lost in the composer.
#[test]
fn the_rest_of_a_batch_does_not_answer_the_next_question() {
    let mut world = World::new();
    let first = world.held(beside("a"), 1);
    let second = world.held(beside("b"), 2);
    let outcome = world.type_keys(&[Char('1'), Enter]);
    assert_eq!(
        story(&outcome),
        [
            format!("cleared {first} moved_on"),
            format!("created {second}")
        ]
    );
    assert_eq!(world.pending_id(), Some(second));
}

/// After our wait the vendor's prompt still stands, and its keys still answer it.
#[test]
fn the_keys_answer_a_hint_too() {
    let mut world = World::new();
    let asked = world.held(beside("a"), 1);
    world.pass(signaltty_core::limits::HOLD_MAX);
    world.type_keys(&[Char('1')]);
    assert_eq!(world.reason(&asked), ClearReason::MovedOn);
}

/// An answer on its way is not overtaken by a key: the delivery decides.
#[test]
fn a_key_during_delivery_ends_nothing() {
    let mut world = World::new();
    let asked = world.held(beside("a"), 1);
    world.answer(&asked, by_option("allow"));
    let outcome = world.type_keys(&[Char('1')]);
    assert_eq!((story(&outcome), outcome.effects), (vec![], vec![]));
}

#[test]
fn esc_at_the_prompt_breaks_the_turn_off_and_another_key_does_not() {
    for (key, stands) in [
        (Escape, Lifecycle::Interrupted),
        (Char('1'), Lifecycle::Working),
    ] {
        let mut world = World::new();
        world.held(beside("a"), 1);
        world.type_keys(&[key]);
        assert_eq!(world.lifecycle(), stands);
    }
}

/// A lone Esc in a working pane: most vendors report nothing of it.
#[test]
fn a_lone_esc_interrupts_a_working_agent_until_it_says_otherwise() {
    let mut world = World::new();
    world.type_keys(&[Escape]);
    assert_eq!(world.lifecycle(), Lifecycle::Unknown, "nothing was running");
    world.hear(Signal::PromptSubmitted);
    world.run(Command::Typed {
        pane_id: pane("p1"),
        keys: vec![Escape],
        by: Typist::Inside,
    });
    assert_eq!(world.lifecycle(), Lifecycle::Working, "that was no human");
    world.type_keys(&[Escape]);
    assert_eq!(world.lifecycle(), Lifecycle::Interrupted);
    world.hear(Signal::ToolStarted(call(Some("c1"), "a")));
    assert_eq!(
        world.lifecycle(),
        Lifecycle::Working,
        "explicit beats derived"
    );
    world.type_keys(&[Escape]);
    world.hear(Signal::TurnEnded { background: false });
    assert_eq!(world.lifecycle(), Lifecycle::Done);
    world.type_keys(&[Escape]);
    assert_eq!(world.lifecycle(), Lifecycle::Done);
}

/// Esc in a program that is no agent (an editor) breaks nothing off.
#[test]
fn esc_in_a_shells_program_means_nothing() {
    let mut world = shell();
    world.run(mark('C', None));
    world.type_keys(&[Escape]);
    assert_eq!(world.lifecycle(), Lifecycle::Working);
}
