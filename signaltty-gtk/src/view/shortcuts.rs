//! The window that lists all keys.

use gtk::glib;
use gtk::prelude::*;

use super::window::{SHORTCUTS, Window};

/// Keys that belong to the card of the focused pane and are no actions of the window.
const CARD: &[(&str, &str)] = &[
    ("<Alt>0", "Show or fold the request"),
    (
        "<Alt>1",
        "Choose the first option, and so on to Alt+9; the digit after the options sends a form",
    ),
    ("Escape", "From the request back to the terminal"),
];

/// Shows it. Groups can only be put into it by a builder on GTK 4.8.
pub fn show(parent: &Window) {
    let general = SHORTCUTS.iter().map(|(_, keys, title)| (*keys, *title));
    let groups = group("Window", general) + &group("A pane that asks", CARD.iter().copied());
    let description = format!(
        "<interface><object class='GtkShortcutsWindow' id='window'><property name='modal'>1</property><child>\
         <object class='GtkShortcutsSection'><property name='section-name'>all</property>{groups}</object>\
         </child></object></interface>"
    );
    let builder = gtk::Builder::from_string(&description);
    if let Some(window) = builder.object::<gtk::ShortcutsWindow>("window") {
        window.set_transient_for(Some(parent));
        window.present();
    }
}

fn group(title: &str, keys: impl Iterator<Item = (&'static str, &'static str)>) -> String {
    let shortcuts: String = keys
        .map(|(accelerator, title)| {
            format!(
                "<child><object class='GtkShortcutsShortcut'><property name='accelerator'>{}</property>\
                 <property name='title'>{}</property></object></child>",
                glib::markup_escape_text(accelerator),
                glib::markup_escape_text(title),
            )
        })
        .collect();
    format!(
        "<child><object class='GtkShortcutsGroup'><property name='title'>{}</property>{shortcuts}</object></child>",
        glib::markup_escape_text(title),
    )
}
