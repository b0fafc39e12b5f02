//! One pane: its strip, its terminal, and the card over the terminal.
//!
//! Here the rules of specs/030 about accidental answers meet: the guard, the chords and the reply are plain
//! data in [`crate::rules`]; this widget tells them what happens and does what they say. Every answer leaves
//! through [`PaneView::send`], which names the decision that it was meant for.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use gtk::glib::{self, clone, subclass::prelude::*};
use gtk::prelude::*;
use gtk::subclass::prelude::*;
use gtk::{CompositeTemplate, TemplateChild, gdk};
use signaltty_core::answer::Answer;
use signaltty_core::limits::GUARD;
use signaltty_core::model::{DecisionId, PaneId, Polarity, TextUse};

use super::card::Card;
use super::option_button::OptionButton;
use super::strip::Strip;
use super::terminal::TerminalView;
use crate::keys;
use crate::model::{DecisionObject, PaneObject, Stage, Via, WorkspaceObject};
use crate::rules::chord::{Chords, Press};
use crate::rules::guard::Guard;
use crate::rules::options;
use crate::rules::reply::{Enter, Reply};

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

    /// Puts the keyboard into the terminal.
    pub fn focus_terminal(&self) {
        if let Some(terminal) = self.terminal() {
            terminal.grab_focus();
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
            (None, Some(terminal)) => terminal.paste(),
            (None, None) => {}
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

    /// Whether a chord may answer now: something is asked, can be seen, and its guard is over.
    pub fn chords_open(&self) -> bool {
        let imp = self.imp();
        let asks = self.pane().is_some_and(|pane| pane.decision().is_some());
        asks && self.is_mapped() && imp.guard.borrow().left(now()).is_zero()
    }

    /// Alt and a digit were pressed while the keyboard was in this pane. True: it is no key for the program.
    pub fn chord(&self, digit: u8, press: Press) -> bool {
        let imp = self.imp();
        if self.pane().is_none_or(|pane| pane.decision().is_none()) {
            // A chord that came a moment too late must not reach the program as Esc and a digit.
            return digit != 0
                && imp
                    .ended_at
                    .get()
                    .is_some_and(|ended| now().saturating_sub(ended) < GUARD);
        }
        if press == Press::Held {
            return true;
        }
        if digit == 0 {
            if self.has_card() {
                self.toggle_card();
            }
            return true;
        }
        let button = if self.has_card() {
            imp.card.button_of(digit).filter(|_| imp.card.is_mapped())
        } else {
            // The strip holds the whole request: it is the card.
            imp.strip.button_of(digit)
        };
        match button {
            Some(button) if button.is_sensitive() => self.choose(&button),
            // While something is asked, no Alt and digit goes to the program: it may take the digit for an answer.
            _ => self.error_bell(),
        }
        true
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
        imp.strip.connect_narrow_changed(clone!(
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
        imp.card.connect_plain(
            "submitted",
            clone!(
                #[weak(rename_to = view)]
                self,
                move || view.send_form()
            ),
        );
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

    /// Brings everything in line with the pane as it is now.
    fn refresh(&self) {
        let imp = self.imp();
        let Some(pane) = self.pane() else { return };
        let decision = pane.decision();
        let id = decision
            .as_ref()
            .and_then(DecisionObject::data)
            .map(|data| data.id.clone());
        let different =
            imp.watched.borrow().as_ref().map(|(watched, _)| watched) != decision.as_ref();
        if different {
            self.rest_keyboard();
            self.watch(decision.as_ref());
        }
        match (&decision, id) {
            (Some(decision), Some(id)) => self.show_pending(decision, &id),
            _ => self.show_none(different),
        }
        imp.strip.show_pane(&pane);
        self.show_inert();
        self.show_card();
    }

    fn show_pending(&self, decision: &DecisionObject, id: &DecisionId) {
        let imp = self.imp();
        let Some(data) = decision.data() else { return };
        if imp.guard.borrow_mut().show(id, now()) {
            imp.chords.borrow().borrow_mut().card_appeared();
            imp.folded.set(false);
            self.start_guard_timer();
        }
        let takes_text = data.answerable && data.text != TextUse::None && data.fields.is_empty();
        let focused = imp.card.reply_has_keyboard();
        imp.reply.borrow_mut().show(
            takes_text.then_some(id),
            &imp.card.reply_text(),
            focused,
            now(),
        );
        imp.card.show_decision(decision);
        self.show_reply();
    }

    fn show_none(&self, just_ended: bool) {
        let imp = self.imp();
        imp.guard.borrow_mut().clear();
        imp.reply.borrow_mut().show(
            None,
            &imp.card.reply_text(),
            imp.card.reply_has_keyboard(),
            now(),
        );
        if just_ended {
            imp.ended_at.set(Some(now()));
            let how = self
                .pane()
                .and_then(|pane| pane.outcome())
                .map(|outcome| outcome.text)
                .unwrap_or_default();
            if imp.card.reply_has_keyboard() && imp.replying.borrow().is_none() {
                imp.card.show_ended(&how);
            }
        }
    }

    /// Whether there is more to show than the strip holds.
    fn has_card(&self) -> bool {
        match self
            .pane()
            .and_then(|pane| pane.decision())
            .and_then(|decision| decision.data())
        {
            Some(data) => {
                !options::strip_holds_all(&data)
                    || self.imp().strip.is_narrow()
                    || self.imp().card.reply_has_keyboard()
            }
            None => self.imp().card.reply_has_keyboard(),
        }
    }

    fn show_card(&self) {
        let imp = self.imp();
        let there = self.has_card();
        let open = there && !imp.folded.get();
        imp.card.set_visible(open);
        imp.strip.set_card(there, open);
    }

    fn show_inert(&self) {
        let imp = self.imp();
        let guarded = !imp.guard.borrow().left(now()).is_zero();
        let sending = self
            .pane()
            .and_then(|pane| pane.decision())
            .is_some_and(|decision| decision.stage() != Stage::Pending);
        if sending {
            // A button that stops acting lets go of the keyboard.
            self.rest_keyboard();
        }
        imp.strip.set_inert(guarded, sending);
        imp.card.set_inert(guarded, sending);
    }

    /// Says whether the text in the entry would go to the question shown.
    fn show_reply(&self) {
        let imp = self.imp();
        let enter = imp.reply.borrow().enter(&imp.card.reply_text());
        match enter {
            Enter::Unarmed => imp.card.show_reply(&enter),
            _ => {
                if let Some(decision) = self.pane().and_then(|pane| pane.decision()) {
                    imp.card.show_note(&decision);
                }
            }
        }
    }

    fn start_guard_timer(&self) {
        let imp = self.imp();
        if let Some(timer) = imp.guard_timer.take() {
            timer.remove();
        }
        let timer = glib::timeout_add_local_once(
            GUARD,
            clone!(
                #[weak(rename_to = view)]
                self,
                move || {
                    view.imp().guard_timer.take();
                    view.show_inert();
                }
            ),
        );
        imp.guard_timer.replace(Some(timer));
    }

    /// A hidden pane is shown: what it asks is new to whoever looks.
    fn came_into_sight(&self) {
        let imp = self.imp();
        imp.guard.borrow_mut().show_again(now());
        imp.chords.borrow().borrow_mut().card_appeared();
        self.start_guard_timer();
        self.show_inert();
    }

    fn toggle_card(&self) {
        self.set_folded(!self.imp().folded.get());
    }

    fn set_folded(&self, folded: bool) {
        let imp = self.imp();
        if folded && imp.card.has_keyboard() {
            self.rest();
        }
        if imp.folded.replace(folded) && !folded {
            imp.chords.borrow().borrow_mut().card_appeared();
        }
        self.show_card();
    }

    /// Before the widgets of a decision go: the keyboard must not fall from one of them into the terminal.
    /// It stays in the reply entry; from a button it goes to the strip, where keys do nothing.
    fn rest_keyboard(&self) {
        let imp = self.imp();
        let on_button = (imp.strip.has_keyboard() && !imp.strip.has_focus())
            || (imp.card.has_keyboard() && !imp.card.reply_has_keyboard());
        if on_button {
            self.rest();
        }
    }

    fn rest(&self) {
        self.imp().strip.set_focusable(true);
        self.imp().strip.grab_focus();
    }

    fn reply_focused(&self, focused: bool) {
        let imp = self.imp();
        if focused {
            imp.reply.borrow_mut().entered(&imp.card.reply_text());
            self.show_reply();
            return;
        }
        // Left for good, not with the whole window: a card whose question ended goes.
        glib::idle_add_local_once(clone!(
            #[weak(rename_to = view)]
            self,
            move || view.show_card()
        ));
    }

    /// A button was clicked, or its chord pressed.
    fn choose(&self, button: &OptionButton) {
        let imp = self.imp();
        let (Some(id), Some(option)) = (button.decision(), button.option()) else {
            return;
        };
        if !imp.guard.borrow().allows(id, option.polarity, now()) {
            self.error_bell();
            return;
        }
        let Some(decision) = self
            .pane()
            .and_then(|pane| pane.decision())
            .filter(|decision| decision.is(id))
        else {
            return;
        };
        // Only a refusal takes the entry's words along: a grant with words in it would be neither.
        let takes_reason = decision
            .data()
            .is_some_and(|data| data.text != TextUse::None);
        let reason = if option.polarity == Polarity::Refuses && takes_reason {
            imp.reply.borrow().reason(id, &imp.card.reply_text())
        } else {
            None
        };
        self.send(
            decision,
            Answer {
                option_id: Some(option.id),
                text: reason,
                values: None,
            },
        );
    }

    fn send_reply(&self) {
        let imp = self.imp();
        let text = imp.card.reply_text();
        let enter = imp.reply.borrow().enter(&text);
        let Enter::Send(id) = &enter else {
            imp.card.show_reply(&enter);
            self.error_bell();
            return;
        };
        if let Some(decision) = self
            .pane()
            .and_then(|pane| pane.decision())
            .filter(|decision| decision.is(id))
        {
            self.send(
                decision,
                Answer {
                    option_id: None,
                    text: Some(text),
                    values: None,
                },
            );
        }
    }

    fn send_form(&self) {
        let imp = self.imp();
        let Some(decision) = self.pane().and_then(|pane| pane.decision()) else {
            return;
        };
        let Some(id) = decision.data().map(|data| data.id.clone()) else {
            return;
        };
        if !imp.guard.borrow().allows(&id, Polarity::Grants, now()) {
            self.error_bell();
            return;
        }
        match imp.card.form().values() {
            Ok(values) => self.send(
                decision,
                Answer {
                    option_id: None,
                    text: None,
                    values: Some(values),
                },
            ),
            Err(problem) => imp.card.form().say(&problem),
        }
    }

    /// The one way out for answers of this pane.
    fn send(&self, decision: DecisionObject, answer: Answer) {
        let imp = self.imp();
        let Some(pane) = self.pane() else { return };
        let Some(bridge) = imp
            .workspace
            .upgrade()
            .and_then(|workspace| workspace.bridge())
        else {
            return;
        };
        let sent_text = answer.text.clone();
        if sent_text.is_some() {
            imp.replying
                .replace(decision.data().map(|data| data.id.clone()));
        }
        glib::spawn_future_local(clone!(
            #[weak(rename_to = view)]
            self,
            async move {
                let taken = pane.answer(&bridge, &decision, answer, Via::Window).await;
                view.imp().replying.take();
                view.answered(taken, sent_text.as_deref());
            }
        ));
    }

    /// The host said what became of our answer.
    fn answered(&self, taken: bool, sent_text: Option<&str>) {
        let imp = self.imp();
        let ended = self.pane().is_some_and(|pane| pane.decision().is_none());
        let in_reply = imp.card.reply_has_keyboard();
        if taken && sent_text == Some(imp.card.reply_text().as_str()) {
            // Sent: the entry is done with, and what is typed on must not go into the terminal.
            if in_reply {
                self.rest();
            }
            imp.card.clear_reply();
        } else if ended && in_reply {
            let how = self
                .pane()
                .and_then(|pane| pane.outcome())
                .map(|outcome| outcome.text)
                .unwrap_or_default();
            imp.card.show_ended(&how);
        }
        self.show_card();
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

    fn watch(&self, decision: Option<&DecisionObject>) {
        let imp = self.imp();
        if let Some((watched, handlers)) = imp.watched.take() {
            for handler in handlers {
                watched.disconnect(handler);
            }
        }
        let Some(decision) = decision else { return };
        let weak = self.downgrade();
        let refresh = move || {
            if let Some(view) = weak.upgrade() {
                view.refresh();
            }
        };
        let stage = refresh.clone();
        let handlers = vec![
            decision.connect_answerable_notify(move |_| refresh()),
            decision.connect_stage_notify(move |_| stage()),
        ];
        imp.watched.replace(Some((decision.clone(), handlers)));
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
