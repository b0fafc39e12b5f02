//! Chords that answer: Alt and a digit, once, with keys that were let go since the card appeared.
//!
//! A held key repeats, and a key that was down before the card came was not meant for it. So a digit acts only
//! on its first press after a release that was seen, a press that comes too early counts as held, and Alt has to
//! go down in this window: a chord held down in another one repeats into ours when it gets the keyboard, and
//! looks like a fresh press (specs/030). Keys are named by their hardware code, so letting go of Alt first
//! changes nothing.

use std::collections::HashSet;

/// What a press does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Press {
    /// It answers.
    Acts,
    /// It was down already, or came too early. It is swallowed: it must not reach the terminal either.
    Held,
}

/// Which of the answering keys are down in the window, and which of those may not act until they were let go.
#[derive(Debug, Default)]
pub struct Chords {
    down: HashSet<u32>,
    blocked: HashSet<u32>,
    /// Alt went down since the window got the keyboard.
    alt: bool,
}

impl Chords {
    /// A card with a different decision appeared, or was unfolded, or came into sight again.
    pub fn card_appeared(&mut self) {
        self.blocked.extend(self.down.iter().copied());
    }

    /// Alt went down.
    pub fn alt_pressed(&mut self) {
        self.alt = true;
    }

    /// A digit went down, or repeats. `open`: with Alt alone, on a visible card, after its guard. Every press is
    /// to be told, also one that cannot be meant for a card: it may still be down when a card comes.
    pub fn press(&mut self, key: u32, open: bool) -> Press {
        let first = self.down.insert(key);
        if !open || !self.alt {
            self.blocked.insert(key);
        }
        if first && !self.blocked.contains(&key) {
            Press::Acts
        } else {
            Press::Held
        }
    }

    /// The key came up.
    pub fn release(&mut self, key: u32) {
        self.down.remove(&key);
        self.blocked.remove(&key);
    }

    /// The window lost the keyboard: releases will not be seen. Whatever was down stays barred until one is.
    pub fn lost_keyboard(&mut self) {
        self.blocked.extend(self.down.iter().copied());
        self.alt = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: u32 = 10;
    const TWO: u32 = 11;

    fn with_alt() -> Chords {
        let mut chords = Chords::default();
        chords.alt_pressed();
        chords
    }

    #[test]
    fn a_fresh_press_after_the_guard_acts_once() {
        let mut chords = with_alt();
        chords.card_appeared();
        assert_eq!(chords.press(ONE, true), Press::Acts);
        assert_eq!(
            chords.press(ONE, true),
            Press::Held,
            "a repeat must not act"
        );
    }

    #[test]
    fn a_key_held_since_before_the_card_acts_only_after_its_release() {
        let mut chords = with_alt();
        chords.press(ONE, true);
        chords.card_appeared();
        assert_eq!(chords.press(ONE, true), Press::Held);
        chords.release(ONE);
        assert_eq!(chords.press(ONE, true), Press::Acts);
    }

    #[test]
    fn a_key_that_repeats_through_the_guard_stays_held_when_the_guard_opens() {
        let mut chords = with_alt();
        chords.card_appeared();
        assert_eq!(chords.press(ONE, false), Press::Held);
        assert_eq!(chords.press(ONE, true), Press::Held);
        chords.release(ONE);
        assert_eq!(chords.press(ONE, true), Press::Acts);
    }

    #[test]
    fn one_key_held_does_not_bar_another() {
        let mut chords = with_alt();
        chords.press(ONE, true);
        chords.card_appeared();
        assert_eq!(chords.press(TWO, true), Press::Acts);
    }

    #[test]
    fn a_key_let_go_in_another_window_must_be_let_go_here() {
        let mut chords = with_alt();
        chords.press(ONE, true);
        chords.lost_keyboard();
        chords.alt_pressed();
        assert_eq!(chords.press(ONE, true), Press::Held);
        chords.release(ONE);
        assert_eq!(chords.press(ONE, true), Press::Acts);
    }

    #[test]
    fn a_key_that_went_down_where_there_was_no_card_is_held_when_one_comes() {
        let mut chords = with_alt();
        assert_eq!(chords.press(ONE, false), Press::Held);
        chords.card_appeared();
        assert_eq!(
            chords.press(ONE, true),
            Press::Held,
            "its first repeat may come after the guard"
        );
    }

    #[test]
    fn a_chord_held_since_another_window_had_the_keyboard_does_not_act() {
        let mut chords = with_alt();
        chords.lost_keyboard();
        assert_eq!(
            chords.press(ONE, true),
            Press::Held,
            "Alt did not go down here"
        );
        chords.release(ONE);
        chords.alt_pressed();
        assert_eq!(chords.press(ONE, true), Press::Acts);
    }
}
