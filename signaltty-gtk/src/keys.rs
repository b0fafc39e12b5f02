//! Reading keys independently of the keyboard's layout.

use gtk::gdk;
use gtk::prelude::*;

/// The modifiers that a person holds deliberately, without locks and pointer buttons.
pub fn modifiers(state: gdk::ModifierType) -> gdk::ModifierType {
    state
        & (gdk::ModifierType::ALT_MASK
            | gdk::ModifierType::CONTROL_MASK
            | gdk::ModifierType::SHIFT_MASK
            | gdk::ModifierType::SUPER_MASK)
}

/// Levels of a key that its cap shows on every keyboard: plain and with Shift.
const PLAIN_LEVELS: i32 = 2;

/// A place of a key in the keyboard's map, and what stands there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mapped {
    group: i32,
    level: i32,
    key: gdk::Key,
}

/// The digit that a pressed key stands for: the one that it gave, or the one that shares its cap in the layout in
/// use, since on a French keyboard the digits need Shift.
pub fn digit(display: &gdk::Display, pressed: gdk::Key, code: u32) -> Option<u8> {
    let mapped = display.map_keycode(code).unwrap_or_default();
    let mapped: Vec<Mapped> = mapped
        .iter()
        .map(|(place, key)| Mapped {
            group: place.group(),
            level: place.level(),
            key: *key,
        })
        .collect();
    digit_among(pressed, &mapped)
}

/// The layout in use is told by what the key gave: a group counts only where that stands on one of the key's two
/// plain levels. So neither another layout's digits count, nor those of a third level, which a person who presses
/// Alt and a letter does not mean, nor those of a keypad that moves the cursor.
fn digit_among(pressed: gdk::Key, mapped: &[Mapped]) -> Option<u8> {
    if let Some(digit) = digit_of(pressed) {
        return Some(digit);
    }
    if moves_on_keypad(pressed) {
        return None;
    }
    let plain = |mapped: &&Mapped| (0..PLAIN_LEVELS).contains(&mapped.level);
    let mut found = mapped
        .iter()
        .filter(plain)
        .filter(|mapped| mapped.key == pressed)
        .map(|given| {
            mapped
                .iter()
                .filter(plain)
                .filter(|mapped| mapped.group == given.group)
                .find_map(|mapped| digit_of(mapped.key))
        });
    let first = found.next()??;
    // Two layouts that give the same here and hold different digits: it is not known which is meant.
    found.all(|other| other == Some(first)).then_some(first)
}

fn digit_of(key: gdk::Key) -> Option<u8> {
    u8::try_from(key.to_unicode()?.to_digit(10)?).ok()
}

fn moves_on_keypad(key: gdk::Key) -> bool {
    matches!(
        key,
        gdk::Key::KP_Home
            | gdk::Key::KP_Left
            | gdk::Key::KP_Up
            | gdk::Key::KP_Right
            | gdk::Key::KP_Down
            | gdk::Key::KP_Page_Up
            | gdk::Key::KP_Page_Down
            | gdk::Key::KP_End
            | gdk::Key::KP_Begin
            | gdk::Key::KP_Insert
            | gdk::Key::KP_Delete
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key of which each group is a list of levels.
    fn mapped(groups: &[&[gdk::Key]]) -> Vec<Mapped> {
        let mut all = Vec::new();
        for (group, levels) in (0..).zip(groups) {
            for (level, key) in (0..).zip(*levels) {
                all.push(Mapped {
                    group,
                    level,
                    key: *key,
                });
            }
        }
        all
    }

    #[test]
    fn a_digit_key_is_its_digit_with_and_without_a_lock() {
        let key = mapped(&[&[gdk::Key::_1, gdk::Key::exclam]]);
        assert_eq!(digit_among(gdk::Key::_1, &key), Some(1));
        let keypad = mapped(&[&[gdk::Key::KP_End, gdk::Key::KP_1]]);
        assert_eq!(digit_among(gdk::Key::KP_1, &keypad), Some(1));
    }

    #[test]
    fn where_the_digits_need_shift_the_key_is_one_without_it() {
        let key = mapped(&[&[gdk::Key::ampersand, gdk::Key::_1]]);
        assert_eq!(digit_among(gdk::Key::ampersand, &key), Some(1));
    }

    #[test]
    fn a_keypad_key_that_moves_the_cursor_is_no_digit() {
        let key = mapped(&[&[gdk::Key::KP_End, gdk::Key::KP_1]]);
        assert_eq!(digit_among(gdk::Key::KP_End, &key), None);
    }

    #[test]
    fn a_digit_on_a_third_level_is_not_meant_by_the_letter() {
        let key = mapped(&[&[gdk::Key::m, gdk::Key::M, gdk::Key::percent, gdk::Key::_1]]);
        assert_eq!(digit_among(gdk::Key::m, &key), None);
    }

    #[test]
    fn a_digit_of_a_layout_that_is_not_in_use_does_not_count() {
        let key = mapped(&[
            &[gdk::Key::plus, gdk::Key::_1],
            &[gdk::Key::ecaron, gdk::Key::_2],
            &[gdk::Key::at, gdk::Key::numbersign],
        ]);
        assert_eq!(digit_among(gdk::Key::ecaron, &key), Some(2));
        assert_eq!(digit_among(gdk::Key::at, &key), None);
    }

    #[test]
    fn where_two_layouts_give_the_same_and_differ_in_the_digit_it_is_none() {
        let key = mapped(&[
            &[gdk::Key::minus, gdk::Key::_6],
            &[gdk::Key::minus, gdk::Key::underscore],
        ]);
        assert_eq!(digit_among(gdk::Key::minus, &key), None);
    }
}
