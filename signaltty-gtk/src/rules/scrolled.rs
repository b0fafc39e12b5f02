//! Where a person had scrolled to, across a terminal that is painted anew.
//!
//! The widget goes to its bottom when it is reset, which happens when a stream begins and, in the middle of one,
//! when the host lets a slow viewer begin again: [`CLEAR`] and a snapshot. The lines above the screen come back a
//! portion at a time, so the place is taken up only when there are enough of them (specs/030).

use std::time::Duration;

/// What the host sends before a snapshot in the middle of a stream: it aborts any sequence, resets, and takes the
/// scrollback away.
pub const CLEAR: &[u8] = b"\x18\x1bc\x1b[3J";
/// How long the lines above the screen are waited for.
pub const LINES_MAX: Duration = Duration::from_secs(2);
/// A stream that is still for this long has brought them all.
pub const LINES_SETTLE: Duration = Duration::from_millis(200);
/// Scrolled back by less than this many rows is not scrolled back.
const LEAST: f64 = 1.0;

/// Notices [`CLEAR`] in a stream, wherever it is cut.
#[derive(Debug, Default)]
pub struct Clears {
    matched: usize,
    /// How far back the view was before the bytes that the present match began in.
    before: f64,
}

impl Clears {
    /// Moves on over bytes that are about to be fed. `back`: how many rows above the bottom the view is now. Gives
    /// where it was before the widget is cleared, if these bytes do that.
    pub fn pass(&mut self, bytes: &[u8], back: f64) -> Option<f64> {
        let mut found = None;
        for byte in bytes {
            if CLEAR.get(self.matched) != Some(byte) {
                self.matched = 0;
            }
            if CLEAR.get(self.matched) == Some(byte) {
                if self.matched == 0 {
                    self.before = back;
                }
                self.matched += 1;
            }
            if self.matched == CLEAR.len() {
                self.matched = 0;
                found.get_or_insert(self.before);
            }
        }
        found
    }
}

/// A place to be taken up again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wish(f64);

/// What becomes of a wish.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcome {
    /// More lines are still to come.
    Wait,
    /// To so many rows above the bottom.
    To(f64),
    /// A person scrolled meanwhile, and is where they want to be.
    Drop,
}

impl Wish {
    /// The wish to be so many rows above the bottom; none where the view was at the bottom.
    pub fn new(rows: f64) -> Option<Self> {
        (rows >= LEAST).then_some(Self(rows))
    }

    /// What becomes of it with so many lines above the screen and the view so many rows `back`. `still`: nothing
    /// came for [`LINES_SETTLE`]; `waited`: how long ago the first bytes came.
    pub fn settle(self, lines: f64, back: f64, still: bool, waited: Duration) -> Outcome {
        if back >= LEAST {
            Outcome::Drop
        } else if lines >= self.0 {
            Outcome::To(self.0)
        } else if still || waited >= LINES_MAX {
            Outcome::To(lines)
        } else {
            Outcome::Wait
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_millis(10);

    #[test]
    fn a_clear_is_noticed_wherever_the_stream_is_cut() {
        for cut in 0..=CLEAR.len() {
            let mut clears = Clears::default();
            let (one, other) = CLEAR.split_at(cut);
            let first = clears.pass(&[b"text", one].concat(), 12.0);
            // The reset may have been fed with the first part: the view is at the bottom by then.
            let second = clears.pass(&[other, b"more"].concat(), 0.0);
            let before = if cut == 0 { 0.0 } else { 12.0 };
            assert_eq!(first.or(second), Some(before), "cut at {cut}");
        }
    }

    #[test]
    fn a_program_that_resets_its_terminal_is_no_resync() {
        let mut clears = Clears::default();
        assert_eq!(clears.pass(b"\x1bc\x1b[3J\x18\x1bc\x1b[2J", 12.0), None);
    }

    #[test]
    fn an_abort_before_a_clear_does_not_hide_it() {
        let mut clears = Clears::default();
        assert_eq!(clears.pass(&[b"\x18\x1b", CLEAR].concat(), 3.0), Some(3.0));
    }

    #[test]
    fn of_two_clears_at_once_the_place_before_the_first_counts() {
        let mut clears = Clears::default();
        clears.pass(b"\x18", 7.0);
        assert_eq!(clears.pass(&[&CLEAR[1..], CLEAR].concat(), 0.0), Some(7.0));
    }

    #[test]
    fn the_place_is_taken_up_when_there_are_lines_enough() {
        let wish = Wish::new(40.0).unwrap();
        assert_eq!(wish.settle(0.0, 0.0, false, SOON), Outcome::Wait);
        assert_eq!(wish.settle(39.0, 0.0, false, SOON), Outcome::Wait);
        assert_eq!(wish.settle(500.0, 0.0, false, SOON), Outcome::To(40.0));
    }

    #[test]
    fn where_there_are_too_few_it_goes_as_far_as_it_can() {
        let wish = Wish::new(40.0).unwrap();
        assert_eq!(wish.settle(12.0, 0.0, true, SOON), Outcome::To(12.0));
        assert_eq!(wish.settle(12.0, 0.0, false, LINES_MAX), Outcome::To(12.0));
    }

    #[test]
    fn a_person_who_scrolls_meanwhile_is_left_alone() {
        let wish = Wish::new(40.0).unwrap();
        assert_eq!(wish.settle(500.0, 3.0, true, SOON), Outcome::Drop);
    }

    #[test]
    fn at_the_bottom_there_is_nothing_to_wish_for() {
        assert_eq!(Wish::new(0.0), None);
    }
}
