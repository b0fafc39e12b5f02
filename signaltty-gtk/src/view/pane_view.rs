//! One pane: its strip, its terminal, and the card over the terminal.
//!
//! Here the rules of specs/030 about accidental answers meet: the guard, the chords and the reply are plain
//! data in [`crate::rules`]; this widget tells them what happens and does what they say. Every answer leaves
//! through [`PaneView::send`], which names the decision that it was meant for.

mod answering;
mod showing;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use gtk::glib::{self, clone, subclass::prelude::*};
use gtk::prelude::*;
use gtk::subclass::prelude::*;
use gtk::{CompositeTemplate, TemplateChild, gdk};
use signaltty_core::model::{DecisionId, PaneId};

use super::card::Card;
use super::option_button::OptionButton;
use super::strip::Strip;
use super::terminal::TerminalView;
use crate::keys;
use crate::model::{DecisionObject, PaneObject, WorkspaceObject};
use crate::rules::chord::Chords;
use crate::rules::guard::Guard;
use crate::rules::reply::Reply;

/// Share of the terminal's height that the card takes at most.
const CARD_SHARE: f64 = 0.6;
/// Widest card, and its least distance from the terminal's sides, in pixels.
const CARD_WIDTH: i32 = 840;
const CARD_SIDE: i32 = 12;

mod imp {
    use super::*;

    #[derive(Debug, Default, CompositeTemplate)]
    #[template(file = "pane_view.ui")]
    pub struct PaneView {
        #[template_child]
        pub strip: TemplateChild<Strip>,
        #[template_child]
        pub overlay: TemplateChild<gtk::Overlay>,
        #[template_child]
        pub card: TemplateChild<Card>,
        pub terminal: RefCell<Option<TerminalView>>,
        pub pane: RefCell<Option<PaneObject>>,
        pub workspace: glib::WeakRef<WorkspaceObject>,
        pub guard: RefCell<Guard>,
        pub guard_timer: RefCell<Option<glib::SourceId>>,
        /// The window's keys, shared by all panes.
        pub chords: RefCell<Rc<RefCell<Chords>>>,
        pub reply: RefCell<Reply>,
        /// Whether the person folded the card of the decision shown.
        pub folded: Cell<bool>,
        /// The decision that the reply entry's text is on its way to.
        pub replying: RefCell<Option<DecisionId>>,
        /// When a decision last ended here.
        pub ended_at: Cell<Option<Duration>>,
        /// The decision whose changes are watched.
        pub watched: RefCell<Option<(DecisionObject, Vec<glib::SignalHandlerId>)>>,
        pub handlers: RefCell<Vec<(glib::Object, glib::SignalHandlerId)>>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for PaneView {
        const NAME: &'static str = "SignalttyPaneView";
        type Type = super::PaneView;
        type ParentType = gtk::Box;

        fn class_init(class: &mut Self::Class) {
            Strip::ensure_type();
            Card::ensure_type();
            class.bind_template();
            class.set_css_name("pane");
        }

        fn instance_init(object: &glib::subclass::InitializingObject<Self>) {
            object.init_template();
        }
    }

    impl ObjectImpl for PaneView {
        fn constructed(&self) {
            self.parent_constructed();
            self.obj().build();
        }

        fn dispose(&self) {
            if let Some(timer) = self.guard_timer.take() {
                timer.remove();
            }
            for (object, handler) in self.handlers.take() {
                object.disconnect(handler);
            }
            self.obj().watch(None);
        }
    }

    impl WidgetImpl for PaneView {
        fn map(&self) {
            self.parent_map();
            self.obj().came_into_sight();
        }
    }

    impl BoxImpl for PaneView {}
}

glib::wrapper! {
    /// The view of a pane. The same widget from the pane's opening to its closing, wherever it is put.
    pub struct PaneView(ObjectSubclass<imp::PaneView>)
        @extends gtk::Box, gtk::Widget,
        @implements gtk::Accessible, gtk::Buildable, gtk::ConstraintTarget, gtk::Orientable;
}

/// A reading of the monotonic clock that the rules count on.
fn now() -> Duration {
    Duration::from_micros(u64::try_from(glib::monotonic_time()).unwrap_or(0))
}

impl PaneView {
    /// The view of that pane. `chords` are the keys of the window that it is in.
    pub fn new(
        workspace: &WorkspaceObject,
        pane: &PaneObject,
        chords: Rc<RefCell<Chords>>,
    ) -> Self {
        let view: Self = glib::Object::new();
        let imp = view.imp();
        imp.chords.replace(chords);
        imp.workspace.set(Some(workspace));
        imp.pane.replace(Some(pane.clone()));
        let terminal = TerminalView::new(workspace, pane);
        if pane.data().terminal {
            imp.overlay.set_child(Some(&terminal));
        } else {
            imp.overlay.set_child(Some(&no_terminal()));
        }
        imp.terminal.replace(Some(terminal));
        let refresh = |pane: &PaneObject| {
            let weak = view.downgrade();
            let call = move || {
                if let Some(view) = weak.upgrade() {
                    view.refresh();
                }
            };
            let state = call.clone();
            let title = call.clone();
            let outcome = call.clone();
            vec![
                pane.connect_decision_notify(move |_| call()),
                pane.connect_state_notify(move |_| state()),
                pane.connect_title_notify(move |_| title()),
                pane.connect_outcome_text_notify(move |_| outcome()),
            ]
        };
        for handler in refresh(pane) {
            imp.handlers
                .borrow_mut()
                .push((pane.clone().upcast(), handler));
        }
        view.refresh();
        view
    }

    /// The pane shown.
    pub fn pane(&self) -> Option<PaneObject> {
        self.imp().pane.borrow().clone()
    }

    /// Its id.
    pub fn pane_id(&self) -> Option<PaneId> {
        self.pane().map(|pane| pane.id())
    }

    /// Its terminal.
    pub fn terminal(&self) -> Option<TerminalView> {
        self.imp().terminal.borrow().clone()
    }

    /// Puts the keyboard into the terminal; to the strip where the pane has none, so that it is in this pane.
    pub fn focus_terminal(&self) {
        let there = self.pane().is_some_and(|pane| pane.data().terminal);
        match self.terminal().filter(|_| there) {
            Some(terminal) => {
                terminal.grab_focus();
            }
            None => self.rest(),
        }
    }

    /// Copies what is selected in the terminal.
    pub fn copy(&self) {
        if let Some(terminal) = self.terminal() {
            terminal.copy();
        }
    }

    /// Pastes into the terminal, if the keyboard is there: never past a reply that a person is writing.
    pub fn paste(&self) {
        let focus = self.root().and_then(|root| root.focus());
        match (focus.and_downcast::<gtk::Text>(), self.terminal()) {
            (Some(entry), _) => {
                // Its own action, so that a selection is replaced as in any entry.
                let _ = entry.activate_action("clipboard.paste", None);
            }
            (None, Some(terminal)) if terminal.terminal().has_focus() => terminal.paste(),
            (None, _) => self.error_bell(),
        }
    }

    /// Shows whether what the terminal shows is live.
    pub fn set_connected(&self, connected: bool) {
        if connected {
            self.remove_css_class("stale");
        } else {
            self.add_css_class("stale");
        }
    }

    /// Puts the keyboard into the reply entry, where there is one; unfolds the card for it.
    pub fn focus_reply(&self) {
        let imp = self.imp();
        if imp.card.takes_reply() {
            self.set_folded(false);
            // To ask for the entry while one is in it says that its words are for what is shown now.
            if imp.card.reply_has_keyboard() {
                imp.reply.borrow_mut().rearm();
                self.show_reply();
            }
            imp.card.focus_reply();
        } else {
            self.error_bell();
        }
    }

    fn build(&self) {
        let imp = self.imp();
        imp.overlay.connect_get_child_position(|overlay, child| {
            let width = (overlay.width() - 2 * CARD_SIDE).clamp(0, CARD_WIDTH);
            let (least, ..) = child.measure(gtk::Orientation::Horizontal, -1);
            let width = width.max(least);
            let wanted = match child.downcast_ref::<Card>() {
                Some(card) => card.wanted_height(width),
                None => child.measure(gtk::Orientation::Vertical, width).1,
            };
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a share of a widget's height"
            )]
            let most = (f64::from(overlay.height()) * CARD_SHARE) as i32;
            Some(gdk::Rectangle::new(
                (overlay.width() - width) / 2,
                0,
                width,
                wanted.min(most),
            ))
        });
        let choose = clone!(
            #[weak(rename_to = view)]
            self,
            move |button: &OptionButton| view.choose(button)
        );
        imp.strip.connect_chosen(choose.clone());
        imp.card.connect_chosen(choose);
        let toggle = clone!(
            #[weak(rename_to = view)]
            self,
            move || view.toggle_card()
        );
        imp.strip.connect_toggled(toggle.clone());
        imp.strip.connect_room_changed(clone!(
            #[weak(rename_to = view)]
            self,
            move || view.show_card()
        ));
        imp.card.connect_plain("folded", toggle);
        imp.card.connect_plain(
            "to-terminal",
            clone!(
                #[weak(rename_to = view)]
                self,
                move || view.focus_terminal()
            ),
        );
        imp.card.connect_plain(
            "replied",
            clone!(
                #[weak(rename_to = view)]
                self,
                move || view.send_reply()
            ),
        );
        imp.card.connect_plain(
            "reply-edited",
            clone!(
                #[weak(rename_to = view)]
                self,
                move || {
                    let text = view.imp().card.reply_text();
                    view.imp().reply.borrow_mut().edited(&text, now());
                    view.show_reply();
                }
            ),
        );
        imp.card.connect_plain(
            "rearmed",
            clone!(
                #[weak(rename_to = view)]
                self,
                move || {
                    view.imp().reply.borrow_mut().rearm();
                    view.show_reply();
                }
            ),
        );
        imp.card.connect_submitted(clone!(
            #[weak(rename_to = view)]
            self,
            move |id| view.send_form(id)
        ));
        imp.card.connect_reply_focused(clone!(
            #[weak(rename_to = view)]
            self,
            move |focused| view.reply_focused(focused)
        ));
        let resting = gtk::EventControllerFocus::new();
        resting.connect_leave(clone!(
            #[weak(rename_to = view)]
            self,
            move |_| view.imp().strip.set_focusable(false)
        ));
        imp.strip.add_controller(resting);
        let keys = gtk::EventControllerKey::new();
        keys.set_propagation_phase(gtk::PropagationPhase::Capture);
        keys.connect_key_pressed(clone!(
            #[weak(rename_to = view)]
            self,
            #[upgrade_or]
            glib::Propagation::Proceed,
            move |_, key, _, state| view.key_pressed(key, state)
        ));
        self.add_controller(keys);
    }

    fn key_pressed(&self, key: gdk::Key, state: gdk::ModifierType) -> glib::Propagation {
        let imp = self.imp();
        // Out of the bar and back to the terminal; in the terminal Esc is the program's.
        let in_bar = imp.card.has_keyboard() || imp.strip.has_focus() || imp.strip.has_keyboard();
        if key == gdk::Key::Escape && keys::modifiers(state).is_empty() && in_bar {
            self.focus_terminal();
            return glib::Propagation::Stop;
        }
        glib::Propagation::Proceed
    }
}

/// What stands in the place of a terminal where a pane has none.
fn no_terminal() -> adw::StatusPage {
    let page = adw::StatusPage::new();
    page.set_icon_name(Some("signaltty-quiet-symbolic"));
    page.set_title("No terminal here");
    page.set_description(Some("This question was asked from outside the window."));
    page.add_css_class("compact");
    page
}
