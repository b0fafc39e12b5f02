//! The window against a scripted host: the moments that no real agent can be made to hit (specs/030).
//!
//! The scenarios are `desktop/window_alone.py`; each runs here as a test of its own, on a desktop of its own.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops where it stands"
)]

use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// One desktop at a time: two cores carry no more without turning bounds into guesses.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

#[track_caller]
fn play(scenario: &str) {
    let _serial = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let own = env!("CARGO_MANIFEST_DIR");
    let picture = format!("{own}/../target/pictures/{scenario}-failed.png");
    // The distribution's python3: it is the one that has gi.
    let played = Command::new("/usr/bin/python3")
        .arg("-B")
        .arg(format!("{own}/tests/desktop/window_alone.py"))
        .args([env!("CARGO_BIN_EXE_signaltty-gtk"), scenario, &picture])
        .output()
        .expect("python3 plays the scenario");
    assert!(
        played.status.success(),
        "{scenario}: {}\n(the screen: {picture})",
        String::from_utf8_lossy(&played.stderr)
    );
}

macro_rules! scenarios {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                play(stringify!($name));
            }
        )*

        #[test]
        fn every_scenario_is_played() {
            let script = include_str!("desktop/window_alone.py");
            let there = script.lines().filter_map(|line| line.strip_prefix("def ")?.strip_suffix("(scene):"));
            assert_eq!(there.collect::<Vec<_>>(), [$(stringify!($name)),*]);
        }
    };
}

scenarios! {
    showing_and_hiding_a_question_never_resizes_nor_rebuilds_the_terminal
    the_bar_never_takes_the_keyboard
    a_click_meant_for_one_question_answers_no_other
    a_key_held_since_before_the_card_answers_nothing_until_it_was_let_go
    only_a_chord_on_the_visible_card_answers
    enter_and_space_on_an_option_answer_nothing
    a_reply_stays_with_its_question
    a_grant_never_takes_the_words_along_and_a_refusal_does
    a_typed_reply_goes_as_it_is
    what_is_lowered_to_a_hint_loses_its_buttons
    a_form_raised_to_answerable_has_its_fields_and_goes_by_its_chord_alone
    a_question_that_the_strip_would_cut_has_a_card
    words_typed_on_under_a_question_that_takes_none_are_kept_and_told
    every_outcome_is_told
    a_lost_host_is_told_and_found_again
    a_question_out_of_sight_is_notified_and_answered_from_there
    a_question_in_sight_is_not_notified
    a_window_inside_a_pane_says_that_it_cannot_answer
    the_jump_goes_to_the_longest_waiting_pane
    splitting_moves_terminals_and_makes_none_anew
    a_flood_of_output_leaves_the_window_responsive
    the_rest_of_a_sentence_reaches_no_terminal_when_its_pane_goes
    looking_along_the_sidebar_leaves_the_keyboard_in_it
    a_process_that_calls_for_a_pane_gets_no_keyboard_into_its_terminal
    neither_a_question_from_outside_nor_a_lost_host_takes_rows_from_a_terminal
    a_question_outlives_a_restart_of_its_host
}
