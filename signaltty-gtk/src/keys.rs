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

/// The digit on a key, whichever level of the layout it is on: on a French keyboard the digits need Shift.
pub fn digit(display: &gdk::Display, code: u32) -> Option<u8> {
    let mapped = display.map_keycode(code)?;
    mapped.iter().find_map(|(_, key)| {
        let character = key.to_unicode()?;
        let digit = character.to_digit(10)?;
        u8::try_from(digit).ok()
    })
}
