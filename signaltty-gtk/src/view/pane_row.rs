//! A pane in the sidebar: its state by shape and in words, and how long it has waited.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use gtk::glib::{self, clone, subclass::prelude::*};
use gtk::prelude::*;
use gtk::subclass::prelude::*;
use gtk::{CompositeTemplate, TemplateChild};

use crate::model::PaneObject;
use crate::rules::order::Place;
use crate::words;

mod imp {
    use super::*;

    #[derive(Debug, Default, CompositeTemplate)]
    #[template(file = "pane_row.ui")]
    pub struct PaneRow {
        #[template_child]
        pub icon: TemplateChild<gtk::Image>,
        #[template_child]
        pub title: TemplateChild<gtk::Label>,
        #[template_child]
        pub waiting: TemplateChild<gtk::Label>,
        #[template_child]
        pub state: TemplateChild<gtk::Label>,
        #[template_child]
        pub place: TemplateChild<gtk::Label>,
        pub pane: RefCell<Option<PaneObject>>,
        pub handlers: RefCell<Vec<glib::SignalHandlerId>>,
        pub need_class: Cell<&'static str>,
        pub clock: RefCell<Option<glib::SourceId>>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for PaneRow {
        const NAME: &'static str = "SignalttyPaneRow";
        type Type = super::PaneRow;
        type ParentType = gtk::ListBoxRow;

        fn class_init(class: &mut Self::Class) {
            class.bind_template();
        }

        fn instance_init(object: &glib::subclass::InitializingObject<Self>) {
            object.init_template();
        }
    }

    impl ObjectImpl for PaneRow {
        fn dispose(&self) {
            if let Some(clock) = self.clock.take() {
                clock.remove();
            }
            if let Some(pane) = self.pane.take() {
                for handler in self.handlers.take() {
                    pane.disconnect(handler);
                }
            }
        }
    }

    impl WidgetImpl for PaneRow {}
    impl ListBoxRowImpl for PaneRow {}
}

glib::wrapper! {
    /// A row of the sidebar.
    pub struct PaneRow(ObjectSubclass<imp::PaneRow>)
        @extends gtk::ListBoxRow, gtk::Widget,
        @implements gtk::Accessible, gtk::Actionable, gtk::Buildable, gtk::ConstraintTarget;
}

impl PaneRow {
    /// The row of a pane; lives as long as the pane does.
    pub fn new(pane: &PaneObject) -> Self {
        let row: Self = glib::Object::new();
        row.imp().pane.replace(Some(pane.clone()));
        let refresh = || {
            clone!(
                #[weak]
                row,
                move |_: &PaneObject| row.refresh()
            )
        };
        row.imp().handlers.replace(vec![
            pane.connect_state_notify(refresh()),
            pane.connect_title_notify(refresh()),
            pane.connect_place_notify(refresh()),
        ]);
        row.refresh();
        row
    }

    /// The pane.
    pub fn pane(&self) -> Option<PaneObject> {
        self.imp().pane.borrow().clone()
    }

    /// Where the pane stands among the others.
    pub fn place(&self) -> Option<Place> {
        self.pane().map(|pane| pane.place_among())
    }

    fn refresh(&self) {
        let imp = self.imp();
        let Some(pane) = self.pane() else { return };
        let need = pane.need();
        imp.icon.set_icon_name(Some(&pane.icon()));
        imp.title.set_text(&pane.title());
        imp.state.set_text(&pane.state());
        imp.place.set_text(&pane.place());
        imp.place.set_visible(!pane.place().is_empty());
        let class = words::class(need);
        let before = imp.need_class.replace(class);
        if before != class {
            if !before.is_empty() {
                self.remove_css_class(before);
            }
            self.add_css_class(class);
        }
        self.tick();
    }

    /// Shows how long the pane has waited, and comes back when that reads differently.
    fn tick(&self) {
        let imp = self.imp();
        if let Some(clock) = imp.clock.take() {
            clock.remove();
        }
        let Some(pane) = self.pane() else { return };
        let place = pane.place_among();
        let waits = place.need.waits();
        imp.waiting.set_visible(waits);
        let mut name = format!("{}, {}", pane.title(), pane.state());
        if waits {
            let waited = (glib::real_time() / 1_000).saturating_sub(place.since);
            let waited = Duration::from_millis(u64::try_from(waited).unwrap_or(0));
            let told = words::span(waited);
            imp.waiting.set_text(&told);
            imp.waiting
                .set_tooltip_text(Some(&format!("Waits since {told}")));
            name = format!("{name}, waits {told}");
            // A little later than exactly then, so that it surely reads differently.
            let again = words::span_changes_in(waited) + Duration::from_millis(20);
            let clock = glib::timeout_add_local_once(
                again,
                clone!(
                    #[weak(rename_to = row)]
                    self,
                    move || {
                        row.imp().clock.take();
                        row.tick();
                    }
                ),
            );
            imp.clock.replace(Some(clock));
        }
        self.update_property(&[gtk::accessible::Property::Label(&name)]);
    }
}
