//! A button that chooses one option of one decision.
//!
//! It is made for that decision and dies with it, so a click can never reach another. It answers to the pointer
//! and to a screen reader's action; Enter and Space on it answer nothing, since keys that answer are chords
//! (specs/030).

use std::cell::{OnceCell, RefCell};

use gtk::glib::{self, clone, subclass::prelude::*};
use gtk::prelude::*;
use gtk::subclass::prelude::*;
use gtk::{gdk, pango};
use signaltty_core::model::{AnswerOption, Decision, DecisionId, Polarity};

use crate::rules::options::STRIP_CHARS;
use crate::text;

mod imp {
    use super::*;

    #[derive(Debug, Default)]
    pub struct OptionButton {
        pub decision: OnceCell<DecisionId>,
        pub option: RefCell<Option<AnswerOption>>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for OptionButton {
        const NAME: &'static str = "SignalttyOptionButton";
        type Type = super::OptionButton;
        type ParentType = gtk::Button;
    }

    impl ObjectImpl for OptionButton {}
    impl WidgetImpl for OptionButton {}
    impl ButtonImpl for OptionButton {}
}

glib::wrapper! {
    /// A button for one option.
    pub struct OptionButton(ObjectSubclass<imp::OptionButton>)
        @extends gtk::Button, gtk::Widget,
        @implements gtk::Accessible, gtk::Actionable, gtk::Buildable, gtk::ConstraintTarget;
}

/// Where a button stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In the strip, beside a card that shows it whole: one line, shortened if need be.
    Strip,
    /// In a strip that holds the whole request: one line, never shortened.
    StripAlone,
    /// In the card: the whole label, wrapped.
    Card,
}

impl OptionButton {
    /// The button of an option of that decision. `first`: it is the first that grants, the one suggested.
    /// `digit`: that of its chord, where it has one here.
    pub fn new(
        decision: &Decision,
        option: &AnswerOption,
        first: bool,
        place: Place,
        digit: Option<u8>,
    ) -> Self {
        let button: Self = glib::Object::new();
        let shown = text::label(decision.detail_kind, &option.label);
        // A fresh cell takes its first value.
        let _ = button.imp().decision.set(decision.id.clone());
        button.imp().option.replace(Some(option.clone()));
        let label = gtk::Label::new(Some(&shown));
        let content = gtk::Box::new(gtk::Orientation::Horizontal, 8);
        content.set_halign(gtk::Align::Center);
        content.append(&label);
        match place {
            Place::Strip | Place::StripAlone => {
                if place == Place::Strip {
                    label.set_ellipsize(pango::EllipsizeMode::End);
                    label.set_max_width_chars(i32::try_from(STRIP_CHARS).unwrap_or(i32::MAX));
                }
                label.set_single_line_mode(true);
                button.add_css_class("in-strip");
                button.set_valign(gtk::Align::Center);
            }
            Place::Card => {
                label.set_wrap(true);
                label.set_wrap_mode(pango::WrapMode::WordChar);
                label.set_natural_wrap_mode(gtk::NaturalWrapMode::None);
                label.set_xalign(0.0);
            }
        }
        if let Some(digit) = digit {
            content.append(&chord_hint(digit));
        }
        button.set_child(Some(&content));
        // A click does not take the keyboard away from where a person types.
        button.set_focus_on_click(false);
        button.set_tooltip_text(Some(&shown));
        button.update_property(&[gtk::accessible::Property::Label(&shown)]);
        if first && option.polarity == Polarity::Grants {
            button.add_css_class("suggested-action");
        }
        keep_keys_out(button.upcast_ref());
        button
    }

    /// The decision that it was made for.
    pub fn decision(&self) -> Option<&DecisionId> {
        self.imp().decision.get()
    }

    /// The option that it chooses.
    pub fn option(&self) -> Option<AnswerOption> {
        self.imp().option.borrow().clone()
    }

    /// Shows whether it acts. `guarded`: not yet, for it grants and its question has only just come.
    pub fn set_inert(&self, guarded: bool, sending: bool) {
        let refuses = self
            .imp()
            .option
            .borrow()
            .as_ref()
            .is_some_and(|option| option.polarity == Polarity::Refuses);
        let guarded = guarded && !refuses;
        self.set_sensitive(!guarded && !sending);
        if guarded {
            self.add_css_class("guarded");
        } else {
            self.remove_css_class("guarded");
        }
    }
}

/// What names a button's chord on it.
pub fn chord_hint(digit: u8) -> gtk::Label {
    let hint = gtk::Label::new(Some(&format!("Alt+{digit}")));
    hint.add_css_class("key-hint");
    hint
}

/// Makes Enter and Space do nothing on a button that answers.
pub fn keep_keys_out(button: &gtk::Button) {
    let keys = gtk::EventControllerKey::new();
    keys.set_propagation_phase(gtk::PropagationPhase::Capture);
    keys.connect_key_pressed(clone!(
        #[weak]
        button,
        #[upgrade_or]
        glib::Propagation::Proceed,
        move |_, key, _, _| {
            let activates = matches!(
                key,
                gdk::Key::Return
                    | gdk::Key::KP_Enter
                    | gdk::Key::ISO_Enter
                    | gdk::Key::space
                    | gdk::Key::KP_Space
            );
            if activates {
                button.error_bell();
                glib::Propagation::Stop
            } else {
                glib::Propagation::Proceed
            }
        }
    ));
    button.add_controller(keys);
}
