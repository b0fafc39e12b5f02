//! The card over a pane's terminal: the whole request, all options, the reply entry.
//!
//! It only shows and reports: what may be sent is the [`super::PaneView`]'s to say. Its text scrolls and its
//! buttons do not; where not even the buttons have room, the outer scroller moves the whole.

use std::cell::{Cell, RefCell};
use std::sync::OnceLock;
use std::time::Duration;

use adw::subclass::prelude::*;
use gtk::glib::{self, clone, subclass::Signal};
use gtk::prelude::*;
use gtk::{CompositeTemplate, TemplateChild, gdk};
use signaltty_core::model::{Decision, DecisionId, Kind, Polarity, TextUse};

use super::detail::{self, Detail};
use super::flow::Flow;
use super::form::Form;
use super::option_button::{OptionButton, Place};
use crate::model::DecisionObject;
use crate::rules::reply::Enter;
use crate::rules::{hint, options};
use crate::text;
use crate::words::{self, Outcome, Tone};

/// Width of the card's border, in pixels.
const BORDER: i32 = 1;
/// How often the time left is shown anew while there is a deadline.
const DEADLINE_TICK: Duration = Duration::from_secs(1);

mod imp {
    use super::*;

    #[derive(Debug, Default, CompositeTemplate)]
    #[template(file = "card.ui")]
    pub struct Card {
        #[template_child]
        pub outer: TemplateChild<gtk::ScrolledWindow>,
        #[template_child]
        pub content: TemplateChild<gtk::Box>,
        #[template_child]
        pub heading: TemplateChild<gtk::Label>,
        #[template_child]
        pub deadline: TemplateChild<gtk::Label>,
        #[template_child]
        pub copy: TemplateChild<gtk::Button>,
        #[template_child]
        pub fold: TemplateChild<gtk::Button>,
        #[template_child]
        pub scroller: TemplateChild<gtk::ScrolledWindow>,
        #[template_child]
        pub words: TemplateChild<gtk::Box>,
        #[template_child]
        pub prompt: TemplateChild<gtk::Label>,
        #[template_child]
        pub detail: TemplateChild<Detail>,
        #[template_child]
        pub flag_row: TemplateChild<gtk::Box>,
        #[template_child]
        pub flag: TemplateChild<gtk::Label>,
        #[template_child]
        pub facts: TemplateChild<gtk::Label>,
        #[template_child]
        pub form: TemplateChild<Form>,
        #[template_child]
        pub options: TemplateChild<Flow>,
        #[template_child]
        pub hint_row: TemplateChild<gtk::Box>,
        #[template_child]
        pub choices: TemplateChild<gtk::Label>,
        #[template_child]
        pub hint: TemplateChild<gtk::Label>,
        #[template_child]
        pub to_terminal: TemplateChild<gtk::Button>,
        #[template_child]
        pub reply_row: TemplateChild<gtk::Box>,
        #[template_child]
        pub reply: TemplateChild<gtk::Entry>,
        #[template_child]
        pub send: TemplateChild<gtk::Button>,
        #[template_child]
        pub note_row: TemplateChild<Flow>,
        #[template_child]
        pub note: TemplateChild<gtk::Label>,
        #[template_child]
        pub rearm: TemplateChild<gtk::Button>,
        pub shown: RefCell<Option<DecisionId>>,
        /// Whether the buttons of what is shown are those of something answerable.
        pub answerable: Cell<bool>,
        pub buttons: RefCell<Vec<OptionButton>>,
        pub deadline_timer: RefCell<Option<glib::SourceId>>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for Card {
        const NAME: &'static str = "SignalttyCard";
        type Type = super::Card;
        type ParentType = adw::Bin;

        fn class_init(class: &mut Self::Class) {
            Detail::ensure_type();
            Flow::ensure_type();
            Form::ensure_type();
            class.bind_template();
            class.set_css_name("decision");
            class.set_accessible_role(gtk::AccessibleRole::Group);
        }

        fn instance_init(object: &glib::subclass::InitializingObject<Self>) {
            object.init_template();
        }
    }

    impl ObjectImpl for Card {
        fn signals() -> &'static [Signal] {
            static SIGNALS: OnceLock<Vec<Signal>> = OnceLock::new();
            SIGNALS.get_or_init(|| {
                vec![
                    Signal::builder("chosen")
                        .param_types([OptionButton::static_type()])
                        .build(),
                    Signal::builder("folded").build(),
                    Signal::builder("to-terminal").build(),
                    // Enter in the reply entry, or its button.
                    Signal::builder("replied").build(),
                    Signal::builder("reply-edited").build(),
                    Signal::builder("reply-focused")
                        .param_types([bool::static_type()])
                        .build(),
                    Signal::builder("rearmed").build(),
                    // The id of the decision that the form's button was made for.
                    Signal::builder("submitted")
                        .param_types([String::static_type()])
                        .build(),
                ]
            })
        }

        fn constructed(&self) {
            self.parent_constructed();
            self.obj().build();
        }

        fn dispose(&self) {
            if let Some(timer) = self.deadline_timer.take() {
                timer.remove();
            }
        }
    }

    impl WidgetImpl for Card {}
    impl BinImpl for Card {}
}

glib::wrapper! {
    /// The card of a pane.
    pub struct Card(ObjectSubclass<imp::Card>)
        @extends adw::Bin, gtk::Widget,
        @implements gtk::Accessible, gtk::Buildable, gtk::ConstraintTarget;
}

impl Card {
    /// Connects to one of the signals that carry nothing: `folded`, `to-terminal`, `replied`, `reply-edited`,
    /// `rearmed`.
    pub fn connect_plain(&self, signal: &'static str, call: impl Fn() + 'static) {
        self.connect_local(signal, false, move |_| {
            call();
            None
        });
    }

    /// Connects to an option being chosen.
    pub fn connect_chosen(&self, call: impl Fn(&OptionButton) + 'static) {
        self.connect_local("chosen", false, move |values| {
            call(&values.get(1)?.get::<OptionButton>().ok()?);
            None
        });
    }

    /// Connects to a form's values being sent; told the decision that they were given for.
    pub fn connect_submitted(&self, call: impl Fn(&DecisionId) + 'static) {
        self.connect_local("submitted", false, move |values| {
            let id = values.get(1)?.get::<String>().ok()?;
            call(&DecisionId::from_trusted(id));
            None
        });
    }

    /// Connects to the reply entry getting (true) or losing the keyboard.
    pub fn connect_reply_focused(&self, call: impl Fn(bool) + 'static) {
        self.connect_local("reply-focused", false, move |values| {
            call(values.get(1)?.get::<bool>().ok()?);
            None
        });
    }

    /// The form's values.
    pub fn form(&self) -> &Form {
        &self.imp().form
    }

    /// What is typed in the reply entry.
    pub fn reply_text(&self) -> String {
        self.imp().reply.text().to_string()
    }

    /// Empties the reply entry: what was in it was sent.
    pub fn clear_reply(&self) {
        self.imp().reply.set_text("");
    }

    /// Whether text can be sent from here.
    pub fn takes_reply(&self) -> bool {
        self.imp().shown.borrow().is_some()
            && self.imp().reply_row.get_visible()
            && self.imp().send.get_sensitive()
    }

    /// Puts the keyboard into the reply entry.
    pub fn focus_reply(&self) {
        // To take the keyboard once more would select what is typed, and the next key would replace it.
        if !self.reply_has_keyboard() {
            self.imp().reply.grab_focus_without_selecting();
            self.imp().reply.set_position(-1);
        }
    }

    /// Whether the keyboard is in the reply entry.
    pub fn reply_has_keyboard(&self) -> bool {
        let focus = self.root().and_then(|root| root.focus());
        focus.is_some_and(|focus| focus.is_ancestor(&*self.imp().reply))
    }

    /// Whether the keyboard is on any of its controls.
    pub fn has_keyboard(&self) -> bool {
        let focus = self.root().and_then(|root| root.focus());
        focus.is_some_and(|focus| focus.is_ancestor(self))
    }

    /// The height that shows all of it at that width. A scroller does not tell: it asks its child for a height at
    /// any width.
    pub fn wanted_height(&self, width: i32) -> i32 {
        let imp = self.imp();
        let vertical = gtk::Orientation::Vertical;
        let width = width - 2 * BORDER;
        let (_, content, ..) = imp.content.measure(vertical, width);
        let (least, scroller, ..) = imp.scroller.measure(vertical, width);
        let (_, words, ..) = imp.words.measure(vertical, width);
        content - scroller + words.max(least) + 2 * BORDER
    }

    /// The button that a chord's digit stands for, 1 to 9.
    pub fn button_of(&self, digit: u8) -> Option<OptionButton> {
        let at = usize::from(digit.checked_sub(1)?);
        self.imp().buttons.borrow().get(at).cloned()
    }

    /// Shows a decision. Same id, same widgets; a lowered `answerable` changes buttons into information.
    pub fn show_decision(&self, object: &DecisionObject) {
        let imp = self.imp();
        let Some(decision) = object.data() else {
            return;
        };
        let different = imp.shown.borrow().as_ref() != Some(&decision.id);
        if different {
            imp.shown.replace(Some(decision.id.clone()));
            self.show_request(&decision);
        }
        if decision.answerable {
            imp.form.show_fields(Some(&decision));
        } else if different {
            // Of the same one that was lowered the controls stay with what is in them: it may be raised again.
            imp.form.show_fields(None);
        }
        if different || imp.answerable.get() != decision.answerable {
            imp.answerable.set(decision.answerable);
            self.show_options(&decision);
        }
        let takes_text =
            decision.answerable && decision.text != TextUse::None && decision.fields.is_empty();
        imp.send.set_sensitive(takes_text);
        self.show_reply_row();
        imp.reply.set_placeholder_text(Some(placeholder(&decision)));
        imp.form
            .set_visible(decision.answerable && !decision.fields.is_empty());
        imp.hint_row.set_visible(!decision.answerable);
    }

    /// Shows the reply entry where text can do something, and to whoever is in it: it never goes away under the
    /// fingers.
    pub fn show_reply_row(&self) {
        let imp = self.imp();
        imp.reply_row
            .set_visible(imp.send.get_sensitive() || self.reply_has_keyboard());
    }

    /// Names it for a screen reader: whose request it is, and what is asked.
    pub fn show_name(&self, title: &str) {
        let imp = self.imp();
        let heading = imp.heading.text();
        let prompt = text::line(&imp.prompt.text());
        let name = text::name(&[title, &heading, &prompt]);
        self.update_property(&[gtk::accessible::Property::Label(&name)]);
    }

    /// The question ended while a person is in the reply entry: nothing of it can be sent any more.
    pub fn show_ended(&self, how: &str) {
        let imp = self.imp();
        imp.shown.replace(None);
        imp.heading.set_text("This question ended");
        imp.prompt.set_text(how);
        imp.detail.show_text(None, Default::default());
        imp.facts.set_text("");
        imp.flag_row.set_visible(false);
        imp.hint_row.set_visible(false);
        imp.form.show_fields(None);
        imp.choices.set_visible(false);
        self.clear_buttons();
        self.show_deadline(None);
        imp.reply_row.set_visible(true);
        imp.send.set_sensitive(false);
        self.say(
            "Your text is kept and was not sent. Enter does nothing now.",
            Tone::Warning,
            false,
        );
    }

    /// Marks the granting options inert or not, and all of them while an answer is on its way.
    pub fn set_inert(&self, guarded: bool, sending: bool) {
        for button in self.imp().buttons.borrow().iter() {
            button.set_inert(guarded, sending);
        }
        self.imp().form.set_inert(guarded || sending);
    }

    /// Says what Enter did not do, or that the text in the entry is for another question.
    pub fn show_reply(&self, enter: &Enter) {
        match enter {
            Enter::Unarmed => self.say(
                "This text was typed for another question. Edit it, or:",
                Tone::Warning,
                true,
            ),
            Enter::Ended => self.say(
                "The question shown takes no text. What is typed here is kept and not sent.",
                Tone::Warning,
                false,
            ),
            Enter::Send(_) | Enter::Blank => self.say("", Tone::Plain, false),
        }
    }

    /// Shows how our answer stands; until there is one, how the question before this one ended.
    pub fn show_note(&self, object: &DecisionObject, former: Option<&Outcome>) {
        let note = object.note();
        match former.filter(|_| note.is_empty()) {
            Some(former) => self.say(&words::former(former), former.tone, false),
            None => {
                let tone = object.outcome().map_or(Tone::Plain, |outcome| outcome.tone);
                self.say(&note, tone, false);
            }
        }
    }

    fn say(&self, note: &str, tone: Tone, can_rearm: bool) {
        let imp = self.imp();
        imp.note.set_text(note);
        show_tone(&imp.note, tone);
        imp.rearm.set_visible(can_rearm);
        imp.note_row.set_visible(!note.is_empty());
    }

    fn show_request(&self, decision: &Decision) {
        let imp = self.imp();
        imp.heading.set_text(&words::heading(decision));
        let prompt = text::prose(&decision.prompt);
        imp.prompt.set_text(&prompt.shown.text);
        imp.prompt
            .set_attributes(Some(&detail::marked(&*imp.prompt, &prompt.shown.marks)));
        let kind = decision.detail_kind;
        let detail = decision
            .detail
            .as_deref()
            .filter(|detail| !detail.is_empty());
        let detail = detail.map(|detail| text::detail(kind, detail));
        imp.facts
            .set_text(&detail.as_ref().map(words::facts).unwrap_or_default());
        let mut found = prompt.found().clone();
        if let Some(detail) = &detail {
            found = found.and(detail.found());
        }
        for label in hint::labels(decision) {
            found = found.and(&text::found_in_label(kind, label));
        }
        imp.flag.set_text(&words::escaped(&found));
        imp.flag_row.set_visible(found.any());
        imp.detail
            .show_text(detail.map(|detail| detail.shown), kind);
        imp.scroller.vadjustment().set_value(0.0);
        self.show_deadline(decision.expires_at);
    }

    fn show_options(&self, decision: &Decision) {
        let imp = self.imp();
        self.clear_buttons();
        imp.choices.set_visible(false);
        if !decision.answerable {
            let choices = hint::lines(decision);
            imp.choices.set_text(&choices.join("\n"));
            imp.choices.set_visible(!choices.is_empty());
            return;
        }
        let mut first = true;
        for (at, option) in decision.options.iter().enumerate() {
            let digit = options::digit_of_option(decision, at);
            let button = OptionButton::new(decision, option, first, Place::Card, digit);
            first &= option.polarity != Polarity::Grants;
            button.connect_clicked(clone!(
                #[weak(rename_to = card)]
                self,
                move |button| card.emit_by_name::<()>("chosen", &[button])
            ));
            imp.options.append(&button);
            imp.buttons.borrow_mut().push(button);
        }
        if let Some(send) = imp.form.send_button() {
            imp.options.append(&send);
        }
        imp.options.set_visible(imp.options.first_child().is_some());
    }

    fn clear_buttons(&self) {
        self.imp().buttons.take();
        self.imp().options.clear();
        self.imp().options.set_visible(false);
    }

    fn show_deadline(&self, expires_at: Option<i64>) {
        let imp = self.imp();
        if let Some(timer) = imp.deadline_timer.take() {
            timer.remove();
        }
        imp.deadline.set_visible(expires_at.is_some());
        let Some(expires_at) = expires_at else { return };
        let show = clone!(
            #[weak(rename_to = card)]
            self,
            #[upgrade_or]
            glib::ControlFlow::Break,
            move || {
                let left = expires_at.saturating_sub(glib::real_time() / 1_000);
                let left = Duration::from_millis(u64::try_from(left).unwrap_or(0));
                card.imp().deadline.set_text(&words::time_left(left));
                glib::ControlFlow::Continue
            }
        );
        show();
        imp.deadline_timer
            .replace(Some(glib::timeout_add_local(DEADLINE_TICK, show)));
    }

    fn build(&self) {
        let imp = self.imp();
        let tell = |signal: &'static str| {
            clone!(
                #[weak(rename_to = card)]
                self,
                move |_: &gtk::Button| card.emit_by_name::<()>(signal, &[])
            )
        };
        imp.fold.connect_clicked(tell("folded"));
        imp.to_terminal.connect_clicked(tell("to-terminal"));
        imp.send.connect_clicked(tell("replied"));
        imp.rearm.connect_clicked(tell("rearmed"));
        imp.copy.connect_clicked(clone!(
            #[weak(rename_to = card)]
            self,
            move |_| card.copy_request()
        ));
        imp.reply.connect_activate(clone!(
            #[weak(rename_to = card)]
            self,
            move |_| card.emit_by_name::<()>("replied", &[])
        ));
        imp.reply.connect_changed(clone!(
            #[weak(rename_to = card)]
            self,
            move |_| card.emit_by_name::<()>("reply-edited", &[])
        ));
        imp.form.connect_submitted(clone!(
            #[weak(rename_to = card)]
            self,
            move |id| card.emit_by_name::<()>("submitted", &[&id.as_str()])
        ));
        let focus = gtk::EventControllerFocus::new();
        focus.connect_enter(clone!(
            #[weak(rename_to = card)]
            self,
            move |_| card.emit_by_name::<()>("reply-focused", &[&true])
        ));
        focus.connect_leave(clone!(
            #[weak(rename_to = card)]
            self,
            move |_| card.emit_by_name::<()>("reply-focused", &[&false])
        ));
        imp.reply.add_controller(focus);
        // A click into the entry says the same as going into it.
        let click = gtk::GestureClick::new();
        click.set_propagation_phase(gtk::PropagationPhase::Capture);
        click.connect_pressed(clone!(
            #[weak(rename_to = card)]
            self,
            move |_, _, _, _| card.emit_by_name::<()>("reply-focused", &[&true])
        ));
        imp.reply.add_controller(click);
    }

    fn copy_request(&self) {
        let imp = self.imp();
        let mut request = imp.prompt.text().to_string();
        let mut next = imp.detail.first_child();
        while let Some(child) = next {
            next = child.next_sibling();
            if let Ok(label) = child.downcast::<gtk::Label>() {
                request.push('\n');
                request.push_str(&label.text());
            }
        }
        if let Some(display) = gdk::Display::default() {
            display.clipboard().set_text(&request);
        }
    }
}

/// Shows in a label's colour how something went.
pub fn show_tone(label: &gtk::Label, tone: Tone) {
    for (class, its) in [
        ("success", Tone::Good),
        ("warning", Tone::Warning),
        ("error", Tone::Bad),
    ] {
        if tone == its {
            label.add_css_class(class);
        } else {
            label.remove_css_class(class);
        }
    }
}

fn placeholder(decision: &Decision) -> &'static str {
    match (decision.text, decision.kind) {
        (TextUse::Reason, Kind::Review) => "What to change instead",
        (TextUse::Reason, _) => "Refuse with a reason",
        (TextUse::Answer, _) => "Your answer",
        (TextUse::None, _) => "",
    }
}
