//! The window: panes of agents, and what they ask.
//!
//! Three layers, one direction. [`bridge`] speaks to the host on a runtime of its own and hands what it hears to
//! the main loop; [`model`] turns that into one GObject a concept; [`view`](mod@view) shows those and never asks
//! the host for anything but what a person told it to do. What must hold whatever the window looks like is plain
//! data in [`rules`], tested without a display.
//!
//! # The widget tree
//!
//! ```text
//! Application                      one instance, its command line            application.rs
//! ├─ Notifier                      decisions nobody looks at                 notifications.rs
//! └─ Window                        header, banner, keys                      view/window.rs
//!    ├─ Sidebar                    all panes, those that need you first      view/sidebar.rs
//!    │  └─ PaneRow                                                           view/pane_row.rs
//!    ├─ NewPane                    command and folder                        view/new_pane.rs
//!    └─ Panes                      tabs and splits, as the host's layout has them
//!       └─ PaneView                one pane; where answers leave             view/pane_view.rs
//!          ├─ Strip                two rows: who, what, two main options     view/strip.rs
//!          │  └─ OptionButton      one option of one decision                view/option_button.rs
//!          └─ GtkOverlay
//!             ├─ TerminalView      VTE, fed by the pane's byte stream        view/terminal.rs
//!             └─ Card              the whole request                         view/card.rs
//!                ├─ Detail         command, diff or text                     view/detail.rs
//!                ├─ Form           fields of a form                          view/form.rs
//!                └─ Flow           the options, in rows                      view/flow.rs
//!                   └─ OptionButton
//! ```
//!
//! # An answer's way
//!
//! A click, a chord or the reply entry comes to [`PaneView`](view::PaneView), which asks the
//! [guard](rules::guard), the [chords](rules::chord) and the [reply](rules::reply) whether it may and for which
//! decision, and gives it to that decision's [`DecisionObject`](model::DecisionObject), which sends it once. A
//! notification's action comes to the [`Notifier`](notifications::Notifier) and goes the same way from there.
//! No `GAction` is exported that could do any of this: the window's actions are widget actions.
//!
//! # Names that a screen reader says
//!
//! They are what tests find widgets by, so they change only together with those:
//!
//! | role | name | what |
//! |---|---|---|
//! | frame | `TITLE · SignalTTY` | the window, by its current pane |
//! | button | `New pane`, `Main menu`, `Sidebar`, `Split right`, `Split down` | header |
//! | button | `1 pane asks`, `N panes ask` | header: to the pane that has waited longest |
//! | list item | `TITLE, STATE` and `, waits SPAN` | a pane in the sidebar |
//! | (filler) | `Terminal` | a pane's terminal |
//! | label | the words of [`words`]: `AGENT asks for permission`, `Working`, `Done`, … | the strip's state |
//! | label | the prompt; `Sending…`; how it ended | the strip's second row |
//! | button | an option's label | in the strip (the two main ones) and in the card (all) |
//! | button | `Show request`, `Fold request` | the strip's; the card has a `Fold request` too |
//! | button | `Copy request` | in the card: only while it is open |
//! | text | `Reply` | the reply entry |
//! | button | `Send reply`, `Use this text here` | beside it |
//! | label | `N lines · M bytes`; `K hidden characters: …` | of a detail |
//! | label, button | `Answer in the terminal`, `Go to terminal` | where it cannot be answered here |
//! | button | `Send answers` | of a form |

pub mod application;
pub mod bridge;
pub mod host_program;
mod keys;
pub mod model;
pub mod notifications;
mod palette;
pub mod rules;
mod text;
pub mod view;
pub mod words;

use gtk::glib;
use gtk::prelude::*;

/// Runs the program until its last window is closed.
pub fn run() -> glib::ExitCode {
    if let Err(error) = gtk::gio::resources_register_include!("signaltty.gresource") {
        tracing::error!(%error, "the program's own resources cannot be read");
        return glib::ExitCode::FAILURE;
    }
    application::Application::default().run()
}
