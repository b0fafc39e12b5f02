//! The strip above a pane's terminal: who, what, and while a decision is pending its question and main options.
//!
//! Always exactly two text rows of the current font high, whatever is in it, so that nothing in it can ever
//! change the terminal's size (specs/030). Where it is too narrow for the options they go, and the button that
//! opens the card stays.

use std::cell::{Cell, RefCell};
use std::sync::OnceLock;

use gtk::glib::{self, clone, subclass::Signal, subclass::prelude::*};
use gtk::prelude::*;
use gtk::subclass::prelude::*;
use gtk::{CompositeTemplate, TemplateChild};
use signaltty_core::model::{DecisionId, Polarity};

use super::card::show_tone;
use super::option_button::{OptionButton, Place};
use crate::model::{DecisionObject, PaneObject, Stage};
use crate::rules::options;
use crate::text;
use crate::words::{self, Tone};

/// Space above and below the two rows, and beside them, in pixels.
const PAD: i32 = 5;
const SIDE: i32 = 12;
const GAP: i32 = 10;
/// Room that the words need beside the options, in average characters.
const WORDS_CHARS: i32 = 12;

mod imp {
    use super::*;

    #[derive(Debug, Default, CompositeTemplate)]
    #[template(file = "strip.ui")]
    pub struct Strip {
        #[template_child]
        pub icon: TemplateChild<gtk::Image>,
        #[template_child]
        pub rows: TemplateChild<gtk::Box>,
        #[template_child]
        pub title: TemplateChild<gtk::Label>,
        #[template_child]
        pub state: TemplateChild<gtk::Label>,
        #[template_child]
        pub line: TemplateChild<gtk::Label>,
        #[template_child]
        pub options: TemplateChild<gtk::Box>,
        #[template_child]
        pub toggle: TemplateChild<gtk::Button>,
        #[template_child]
        pub arrow: TemplateChild<gtk::Image>,
        pub shown: RefCell<Option<DecisionId>>,
        pub buttons: RefCell<Vec<OptionButton>>,
        pub need_class: Cell<&'static str>,
        /// There is no room for the options.
        pub narrow: Cell<bool>,
        /// There is no room for the whole question beside the options.
        pub cut: Cell<bool>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for Strip {
        const NAME: &'static str = "SignalttyStrip";
        type Type = super::Strip;
        type ParentType = gtk::Widget;

        fn class_init(class: &mut Self::Class) {
            class.bind_template();
            class.set_css_name("strip");
            class.set_accessible_role(gtk::AccessibleRole::Group);
        }

        fn instance_init(object: &glib::subclass::InitializingObject<Self>) {
            object.init_template();
        }
    }

    impl ObjectImpl for Strip {
        fn signals() -> &'static [Signal] {
            static SIGNALS: OnceLock<Vec<Signal>> = OnceLock::new();
            SIGNALS.get_or_init(|| {
                vec![
                    Signal::builder("chosen")
                        .param_types([OptionButton::static_type()])
                        .build(),
                    Signal::builder("toggled").build(),
                    // What it has room for changed: the options, or the whole question.
                    Signal::builder("room-changed").build(),
                ]
            })
        }

        fn constructed(&self) {
            self.parent_constructed();
            let strip = self.obj();
            strip.set_overflow(gtk::Overflow::Hidden);
            self.toggle.connect_clicked(clone!(
                #[weak]
                strip,
                move |_| strip.emit_by_name::<()>("toggled", &[])
            ));
        }

        fn dispose(&self) {
            while let Some(child) = self.obj().first_child() {
                child.unparent();
            }
        }
    }

    impl WidgetImpl for Strip {
        fn request_mode(&self) -> gtk::SizeRequestMode {
            gtk::SizeRequestMode::ConstantSize
        }

        fn measure(&self, orientation: gtk::Orientation, _for_size: i32) -> (i32, i32, i32, i32) {
            if orientation == gtk::Orientation::Vertical {
                let height = 2 * self.obj().row_height() + 2 * PAD;
                return (height, height, -1, -1);
            }
            let least = 2 * SIDE + natural(&*self.icon) + GAP + natural(&*self.toggle);
            let (_, words, ..) = self.rows.measure(orientation, -1);
            let wanted = least + words + self.obj().options_width() + 2 * GAP;
            (least, wanted, -1, -1)
        }

        fn size_allocate(&self, width: i32, height: i32, _baseline: i32) {
            let rtl = self.obj().direction() == gtk::TextDirection::Rtl;
            let put = |child: &gtk::Widget, x: i32, child_width: i32| {
                let (least, ..) = child.measure(gtk::Orientation::Horizontal, -1);
                let child_width = child_width.max(least);
                let (least, ..) = child.measure(gtk::Orientation::Vertical, child_width);
                let x = if rtl { width - x - child_width } else { x };
                // A child that needs more height than there is hangs over evenly and is clipped.
                let child_height = height.max(least);
                let y = (height - child_height) / 2;
                #[expect(
                    clippy::cast_precision_loss,
                    reason = "sizes of widgets are far below 2^24"
                )]
                let at = gtk::gsk::Transform::new()
                    .translate(&gtk::graphene::Point::new(x as f32, y as f32));
                child.allocate(child_width, child_height, -1, Some(at));
            };
            let icon = natural(&*self.icon);
            put(self.icon.upcast_ref(), SIDE, icon);
            let words_at = SIDE + icon + GAP;
            let mut end = width - SIDE;
            let options = self.obj().options_width();
            // Without the button that opens the card: were it counted, what it is shown for could keep it there.
            let beside = if options > 0 { options + GAP } else { 0 };
            let cut = natural(&*self.line) > end - words_at - beside;
            if self.toggle.is_visible() {
                let toggle = natural(&*self.toggle);
                end -= toggle;
                put(self.toggle.upcast_ref(), end, toggle);
                end -= GAP;
            }
            let mut narrow = self.narrow.get();
            if options > 0 {
                let fits = end - words_at - GAP - options >= WORDS_CHARS * self.obj().char_width();
                self.options.set_child_visible(fits);
                narrow = !fits;
                if fits && self.options.is_visible() {
                    end -= options;
                    put(self.options.upcast_ref(), end, options);
                    end -= GAP;
                }
            }
            put(self.rows.upcast_ref(), words_at, (end - words_at).max(0));
            self.obj().set_room(narrow, cut);
        }
    }

    fn natural(child: &impl IsA<gtk::Widget>) -> i32 {
        if child.is_visible() {
            child.measure(gtk::Orientation::Horizontal, -1).1
        } else {
            0
        }
    }
}

glib::wrapper! {
    /// The strip of a pane.
    pub struct Strip(ObjectSubclass<imp::Strip>)
        @extends gtk::Widget,
        @implements gtk::Accessible, gtk::Buildable, gtk::ConstraintTarget;
}

impl Strip {
    /// Connects to an option being chosen.
    pub fn connect_chosen(&self, call: impl Fn(&OptionButton) + 'static) {
        self.connect_local("chosen", false, move |values| {
            call(&values.get(1)?.get::<OptionButton>().ok()?);
            None
        });
    }

    /// Connects to the button that opens and folds the card.
    pub fn connect_toggled(&self, call: impl Fn() + 'static) {
        self.connect_local("toggled", false, move |_| {
            call();
            None
        });
    }

    /// Connects to a change of what it has room for.
    pub fn connect_room_changed(&self, call: impl Fn() + 'static) {
        self.connect_local("room-changed", false, move |_| {
            call();
            None
        });
    }

    /// Whether there is no room for the options, or not for the whole question beside them.
    pub fn is_narrow(&self) -> bool {
        self.imp().narrow.get() || self.imp().cut.get()
    }

    fn set_room(&self, narrow: bool, cut: bool) {
        let same_narrow = self.imp().narrow.replace(narrow) == narrow;
        if self.imp().cut.replace(cut) == cut && same_narrow {
            return;
        }
        // Not while sizes are being handed out: it shows or hides the options for a screen reader too, and the card.
        glib::idle_add_local_once(clone!(
            #[weak(rename_to = strip)]
            self,
            move || {
                strip.show_options_box();
                strip.emit_by_name::<()>("room-changed", &[]);
            }
        ));
    }

    /// Room that the options need, whether they are shown or not.
    fn options_width(&self) -> i32 {
        let buttons = self.imp().buttons.borrow();
        let gaps = self.imp().options.spacing()
            * i32::try_from(buttons.len().saturating_sub(1)).unwrap_or(0);
        gaps + buttons
            .iter()
            .map(|button| button.measure(gtk::Orientation::Horizontal, -1).1)
            .sum::<i32>()
    }

    fn show_options_box(&self) {
        let imp = self.imp();
        imp.options
            .set_visible(!imp.buttons.borrow().is_empty() && !imp.narrow.get());
    }

    /// Whether the keyboard is on one of its controls.
    pub fn has_keyboard(&self) -> bool {
        self.focus_child().is_some()
    }

    /// The button that a chord's digit stands for, where the strip can be seen to hold the whole request.
    pub fn button_of(&self, digit: u8) -> Option<OptionButton> {
        let at = usize::from(digit.checked_sub(1)?);
        self.imp()
            .buttons
            .borrow()
            .get(at)
            .filter(|button| button.is_mapped())
            .cloned()
    }

    /// Shows the pane as it is now. Same decision, same buttons.
    pub fn show_pane(&self, pane: &PaneObject) {
        let imp = self.imp();
        let need = pane.need();
        imp.icon.set_icon_name(Some(words::icon(need)));
        imp.title.set_text(&pane.title());
        imp.title.set_tooltip_text(Some(&pane.place()));
        let class = words::class(need);
        let before = imp.need_class.replace(class);
        if before != class {
            if !before.is_empty() {
                self.remove_css_class(before);
            }
            self.add_css_class(class);
        }
        let decision = pane.decision();
        self.show_state(pane, decision.as_ref());
        self.show_line(pane, decision.as_ref());
        let name = text::name(&[&pane.title(), &imp.state.text(), &imp.line.text()]);
        self.update_property(&[gtk::accessible::Property::Label(&name)]);
        self.show_options(decision.as_ref());
    }

    /// Marks the granting options inert or not, and all of them while an answer is on its way.
    pub fn set_inert(&self, guarded: bool, sending: bool) {
        for button in self.imp().buttons.borrow().iter() {
            button.set_inert(guarded, sending);
        }
    }

    /// Shows whether the card can be opened, and whether it is open.
    pub fn set_card(&self, there: bool, open: bool) {
        let imp = self.imp();
        imp.toggle.set_visible(there);
        imp.arrow.set_icon_name(Some(if open {
            "pan-up-symbolic"
        } else {
            "pan-down-symbolic"
        }));
        let name = if open { "Fold request" } else { "Show request" };
        imp.toggle
            .set_tooltip_text(Some(&format!("{name} (Alt+0)")));
        imp.toggle
            .update_property(&[gtk::accessible::Property::Label(name)]);
    }

    /// What the pane does; while another question stands in the second row, first how the last one ended.
    fn show_state(&self, pane: &PaneObject, decision: Option<&DecisionObject>) {
        let imp = self.imp();
        let state = words::strip_state(&pane.data());
        let former = pane
            .outcome()
            .filter(|_| decision.is_some_and(|decision| decision.note().is_empty()));
        match former {
            Some(former) => {
                imp.state
                    .set_text(&format!("{} · {state}", words::former(&former)));
                show_tone(&imp.state, former.tone);
            }
            None => {
                imp.state.set_text(&state);
                show_tone(&imp.state, Tone::Plain);
            }
        }
    }

    fn show_line(&self, pane: &PaneObject, decision: Option<&DecisionObject>) {
        let imp = self.imp();
        let data = decision.and_then(DecisionObject::data);
        let (line, tone) = match (decision, &data) {
            (Some(decision), _) if !decision.note().is_empty() => (
                decision.note(),
                decision
                    .outcome()
                    .map_or(Tone::Plain, |outcome| outcome.tone),
            ),
            (_, Some(data)) => (text::line(&data.prompt), Tone::Plain),
            _ => match pane.outcome() {
                Some(outcome) => (outcome.text, outcome.tone),
                None => (pane.place(), Tone::Plain),
            },
        };
        imp.line.set_text(&line);
        imp.line.set_tooltip_text(Some(&line));
        show_tone(&imp.line, tone);
        if data.is_none() && pane.outcome().is_none() {
            imp.line.add_css_class("dim-label");
        } else {
            imp.line.remove_css_class("dim-label");
        }
    }

    fn show_options(&self, decision: Option<&DecisionObject>) {
        let imp = self.imp();
        let data = decision
            .and_then(DecisionObject::data)
            .filter(|data| data.answerable);
        let id = data.as_ref().map(|data| data.id.clone());
        if *imp.shown.borrow() == id {
            return;
        }
        imp.shown.replace(id);
        for button in imp.buttons.take() {
            imp.options.remove(&button);
        }
        if let Some(data) = data {
            let mut first = true;
            // Where it holds the whole request it is the card, with the card's chords.
            let alone = options::strip_holds_all(&data);
            let place = if alone {
                Place::StripAlone
            } else {
                Place::Strip
            };
            for (digit, option) in (1..).zip(options::main_two(&data.options)) {
                let digit = Some(digit).filter(|_| alone);
                // The card suggests; the strip only where there is no card.
                let button = OptionButton::new(&data, option, first && alone, place, digit);
                first &= option.polarity != Polarity::Grants;
                button.connect_clicked(clone!(
                    #[weak(rename_to = strip)]
                    self,
                    move |button| strip.emit_by_name::<()>("chosen", &[button])
                ));
                imp.options.append(&button);
                imp.buttons.borrow_mut().push(button);
            }
        }
        self.show_options_box();
        let sending = decision.is_some_and(|decision| decision.stage() != Stage::Pending);
        self.set_inert(true, sending);
    }

    /// Height of one row of text in the current font.
    fn row_height(&self) -> i32 {
        let metrics = self.imp().title.pango_context().metrics(None, None);
        units_to_pixels(metrics.height())
    }

    fn char_width(&self) -> i32 {
        let metrics = self.imp().title.pango_context().metrics(None, None);
        units_to_pixels(metrics.approximate_char_width())
    }
}

fn units_to_pixels(units: i32) -> i32 {
    (units + gtk::pango::SCALE - 1) / gtk::pango::SCALE
}
