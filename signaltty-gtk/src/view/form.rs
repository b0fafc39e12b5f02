//! The questions of a form, one control a field, and the button that sends all values at once.
//!
//! The button is made for one decision and dies with it, as [`OptionButton`](super::option_button::OptionButton)
//! does; Enter and Space on it answer nothing.

use std::cell::RefCell;
use std::sync::OnceLock;

use gtk::glib::{self, clone, subclass::Signal, subclass::prelude::*};
use gtk::pango;
use gtk::prelude::*;
use gtk::subclass::prelude::*;
use signaltty_core::limits::TEXT_MAX;
use signaltty_core::model::{Decision, DecisionId, DetailKind, Field, FieldType, Value, Values};

use super::option_button::{chord_hint, keep_keys_out};
use crate::rules::options;
use crate::rules::reply::is_blank;
use crate::text;

mod imp {
    use super::*;

    #[derive(Debug, Default)]
    pub struct Form {
        pub decision: RefCell<Option<DecisionId>>,
        pub fields: RefCell<Vec<super::Control>>,
        pub send: RefCell<Option<gtk::Button>>,
        pub problem: gtk::Label,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for Form {
        const NAME: &'static str = "SignalttyForm";
        type Type = super::Form;
        type ParentType = gtk::Box;

        fn class_init(class: &mut Self::Class) {
            class.set_css_name("form");
        }
    }

    impl ObjectImpl for Form {
        fn signals() -> &'static [Signal] {
            static SIGNALS: OnceLock<Vec<Signal>> = OnceLock::new();
            SIGNALS.get_or_init(|| {
                vec![
                    // The id of the decision that the button was made for.
                    Signal::builder("submitted")
                        .param_types([String::static_type()])
                        .build(),
                ]
            })
        }

        fn constructed(&self) {
            self.parent_constructed();
            let form = self.obj();
            form.set_orientation(gtk::Orientation::Vertical);
            form.set_spacing(12);
            self.problem.set_xalign(0.0);
            self.problem.set_wrap(true);
            self.problem.add_css_class("error");
        }
    }

    impl WidgetImpl for Form {}
    impl BoxImpl for Form {}
}

glib::wrapper! {
    /// A form.
    pub struct Form(ObjectSubclass<imp::Form>)
        @extends gtk::Box, gtk::Widget,
        @implements gtk::Accessible, gtk::Buildable, gtk::ConstraintTarget, gtk::Orientable;
}

/// What the button that sends says.
const SEND: &str = "Send answers";

/// A field and what a person sets it with.
#[derive(Debug)]
pub struct Control {
    field: Field,
    /// One a choice, or the only one of a boolean.
    checks: Vec<gtk::CheckButton>,
    /// Free text, a number, or the other text of a select.
    entry: Option<gtk::Entry>,
}

impl Form {
    /// Connects to the button that sends; told the decision that the button was made for.
    pub fn connect_submitted(&self, call: impl Fn(&DecisionId) + 'static) {
        self.connect_local("submitted", false, move |values| {
            let id = values.get(1)?.get::<String>().ok()?;
            call(&DecisionId::from_trusted(id));
            None
        });
    }

    /// The decision whose fields it shows.
    pub fn decision(&self) -> Option<DecisionId> {
        self.imp().decision.borrow().clone()
    }

    /// The button that sends: for the card to put where its buttons are, so that it never scrolls away.
    pub fn send_button(&self) -> Option<gtk::Button> {
        self.imp().send.borrow().clone()
    }

    /// Shows a decision's fields. Same decision, same controls.
    pub fn show_fields(&self, decision: Option<&Decision>) {
        let decision = decision.filter(|decision| !decision.fields.is_empty());
        let id = decision.map(|decision| decision.id.clone());
        if *self.imp().decision.borrow() == id {
            return;
        }
        self.imp().decision.replace(id);
        while let Some(child) = self.first_child() {
            self.remove(&child);
        }
        let mut controls = Vec::new();
        for field in decision
            .map(|decision| decision.fields.as_slice())
            .unwrap_or_default()
        {
            controls.push(self.add_field(field));
        }
        self.imp().fields.replace(controls);
        self.imp()
            .send
            .replace(decision.map(|decision| self.make_send(decision)));
        self.say("");
        self.append(&self.imp().problem);
        self.set_visible(decision.is_some());
    }

    /// Shows whether the values can be sent now.
    pub fn set_inert(&self, inert: bool) {
        if let Some(send) = self.send_button() {
            send.set_sensitive(!inert);
        }
    }

    /// All values, or what is missing in words.
    pub fn values(&self) -> Result<Values, String> {
        let mut values = Values::new();
        for control in self.imp().fields.borrow().iter() {
            match control.value()? {
                Some(value) => drop(values.insert(control.field.id.clone(), value)),
                None if control.field.required => {
                    return Err(format!(
                        "“{}” needs an answer",
                        text::line(&control.field.label)
                    ));
                }
                None => {}
            }
        }
        Ok(values)
    }

    /// Shows what is wrong with the values.
    pub fn say(&self, problem: &str) {
        self.imp().problem.set_text(problem);
        self.imp().problem.set_visible(!problem.is_empty());
    }

    fn make_send(&self, decision: &Decision) -> gtk::Button {
        let content = gtk::Box::new(gtk::Orientation::Horizontal, 8);
        content.append(&gtk::Label::new(Some(SEND)));
        if let Some(digit) = options::digit_of_form(decision) {
            content.append(&chord_hint(digit));
        }
        let send = gtk::Button::new();
        send.set_child(Some(&content));
        send.update_property(&[gtk::accessible::Property::Label(SEND)]);
        send.set_halign(gtk::Align::Start);
        send.set_focus_on_click(false);
        send.add_css_class("suggested-action");
        // It grants like any other: not before its guard is over.
        send.set_sensitive(false);
        keep_keys_out(&send);
        let id = decision.id.to_string();
        send.connect_clicked(clone!(
            #[weak(rename_to = form)]
            self,
            move |_| form.emit_by_name::<()>("submitted", &[&id])
        ));
        send
    }

    fn add_field(&self, field: &Field) -> Control {
        let label = shown(&field.label);
        let column = gtk::Box::new(gtk::Orientation::Vertical, 4);
        let mut control = Control {
            field: field.clone(),
            checks: Vec::new(),
            entry: None,
        };
        if field.field_type != FieldType::Boolean {
            let title = gtk::Label::new(Some(&label));
            title.set_xalign(0.0);
            title.set_wrap(true);
            title.set_wrap_mode(pango::WrapMode::WordChar);
            title.add_css_class("heading");
            column.append(&title);
        }
        match field.field_type {
            FieldType::Boolean => {
                let check = check(&label, None);
                column.append(&check);
                control.checks.push(check);
            }
            FieldType::Select => {
                for choice in &field.choices {
                    let check = check(&shown(&choice.label), choice.description.as_deref());
                    if !field.multi {
                        check.set_group(control.checks.first());
                    }
                    column.append(&check);
                    control.checks.push(check);
                }
                if field.other {
                    control.entry = Some(entry(&column, &format!("{label}: other"), "Other"));
                }
            }
            FieldType::String => control.entry = Some(entry(&column, &label, "")),
            FieldType::Number => {
                let bounds = match (field.min, field.max) {
                    (Some(min), Some(max)) => format!("{min} to {max}"),
                    (Some(min), None) => format!("{min} or more"),
                    (None, Some(max)) => format!("{max} or less"),
                    (None, None) => "A number".into(),
                };
                let entry = entry(&column, &label, &bounds);
                entry.set_input_purpose(gtk::InputPurpose::Number);
                control.entry = Some(entry);
            }
        }
        self.append(&column);
        control
    }
}

impl Control {
    fn value(&self) -> Result<Option<Value>, String> {
        let words = self
            .entry
            .as_ref()
            .map(|entry| entry.text().to_string())
            .filter(|words| !is_blank(words));
        match self.field.field_type {
            FieldType::Boolean => Ok(self
                .checks
                .first()
                .map(|check| Value::Boolean(check.is_active()))),
            FieldType::String => Ok(words.map(Value::String)),
            FieldType::Number => match words {
                Some(words) => match words.trim().parse::<f64>() {
                    Ok(number) if number.is_finite() => Ok(Some(Value::Number(number))),
                    _ => Err(format!(
                        "“{}” needs a number",
                        text::line(&self.field.label)
                    )),
                },
                None => Ok(None),
            },
            FieldType::Select => {
                let chosen = self
                    .field
                    .choices
                    .iter()
                    .zip(&self.checks)
                    .filter(|(_, check)| check.is_active());
                let mut chosen: Vec<String> = chosen.map(|(choice, _)| choice.id.clone()).collect();
                // Words of one's own take the place of the choice in a list of which only one can be had.
                if self.field.multi {
                    chosen.extend(words);
                    Ok((!chosen.is_empty()).then_some(Value::Many(chosen)))
                } else {
                    Ok(words
                        .or_else(|| chosen.into_iter().next())
                        .map(Value::String))
                }
            }
        }
    }
}

/// A question or a choice, whole.
fn shown(words: &str) -> String {
    text::label(DetailKind::Text, words)
}

fn check(label: &str, description: Option<&str>) -> gtk::CheckButton {
    let check = gtk::CheckButton::new();
    let words = gtk::Box::new(gtk::Orientation::Vertical, 0);
    let title = gtk::Label::new(Some(label));
    let described = description.map(shown);
    words.append(&title);
    if let Some(described) = &described {
        let line = gtk::Label::new(Some(described));
        line.add_css_class("dim-label");
        line.add_css_class("caption");
        words.append(&line);
    }
    let mut next = words.first_child();
    while let Some(child) = next {
        next = child.next_sibling();
        if let Ok(line) = child.downcast::<gtk::Label>() {
            line.set_xalign(0.0);
            line.set_wrap(true);
            line.set_wrap_mode(pango::WrapMode::WordChar);
        }
    }
    check.set_child(Some(&words));
    check.update_property(&[gtk::accessible::Property::Label(label)]);
    check
}

fn entry(column: &gtk::Box, label: &str, placeholder: &str) -> gtk::Entry {
    let entry = gtk::Entry::new();
    entry.set_max_length(i32::try_from(TEXT_MAX).unwrap_or(i32::MAX));
    entry.set_placeholder_text(Some(placeholder));
    entry.set_width_chars(8);
    entry.update_property(&[gtk::accessible::Property::Label(label)]);
    column.append(&entry);
    entry
}
