//! The whole of what a decision is about: a command, a diff or a text, in monospace, wrapped and selectable.
//!
//! Long texts are laid out a chunk a turn of the main loop, so that a detail of the greatest size never holds
//! up the window.

use std::cell::RefCell;

use gtk::glib::{self, clone, subclass::prelude::*};
use gtk::prelude::*;
use gtk::subclass::prelude::*;
use gtk::{gdk, pango};
use signaltty_core::model::DetailKind;

use crate::text::{Shown, chunks};

mod imp {
    use super::*;

    #[derive(Debug, Default)]
    pub struct Detail {
        pub pending: RefCell<Option<glib::SourceId>>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for Detail {
        const NAME: &'static str = "SignalttyDetail";
        type Type = super::Detail;
        type ParentType = gtk::Box;

        fn class_init(class: &mut Self::Class) {
            class.set_css_name("detail");
        }
    }

    impl ObjectImpl for Detail {
        fn constructed(&self) {
            self.parent_constructed();
            self.obj().set_orientation(gtk::Orientation::Vertical);
        }

        fn dispose(&self) {
            if let Some(pending) = self.pending.take() {
                pending.remove();
            }
        }
    }

    impl WidgetImpl for Detail {}
    impl BoxImpl for Detail {}
}

glib::wrapper! {
    /// A decision's detail.
    pub struct Detail(ObjectSubclass<imp::Detail>)
        @extends gtk::Box, gtk::Widget,
        @implements gtk::Accessible, gtk::Buildable, gtk::ConstraintTarget, gtk::Orientable;
}

impl Detail {
    /// Shows a detail, or nothing.
    pub fn show_text(&self, shown: Option<&Shown>, kind: DetailKind) {
        if let Some(pending) = self.imp().pending.take() {
            pending.remove();
        }
        while let Some(child) = self.first_child() {
            self.remove(&child);
        }
        self.set_visible(shown.is_some());
        let Some(shown) = shown else { return };
        let mut chunks = chunks(&shown.text).into_iter().map(str::to_owned).collect::<Vec<_>>().into_iter();
        if let Some(first) = chunks.next() {
            self.add(&first, kind);
        }
        if chunks.len() == 0 {
            return;
        }
        let pending = glib::idle_add_local(clone!(
            #[weak(rename_to = detail)]
            self,
            #[upgrade_or]
            glib::ControlFlow::Break,
            move || {
                if let Some(chunk) = chunks.next() {
                    detail.add(&chunk, kind);
                    return glib::ControlFlow::Continue;
                }
                detail.imp().pending.take();
                glib::ControlFlow::Break
            }
        ));
        self.imp().pending.replace(Some(pending));
    }

    fn add(&self, chunk: &str, kind: DetailKind) {
        let label = gtk::Label::new(Some(chunk));
        label.set_xalign(0.0);
        label.set_wrap(true);
        label.set_wrap_mode(pango::WrapMode::WordChar);
        label.set_selectable(true);
        if kind == DetailKind::Diff {
            label.set_attributes(Some(&self.diff_colours(chunk)));
        }
        self.append(&label);
    }

    /// Added and removed lines in the theme's colours. The signs at their beginnings say the same by shape.
    fn diff_colours(&self, chunk: &str) -> pango::AttrList {
        let list = pango::AttrList::new();
        let named = |name: &str| self.style_context().lookup_color(name);
        let mut start = 0_u32;
        for line in chunk.split_inclusive('\n') {
            let end = start + u32::try_from(line.len()).unwrap_or(u32::MAX - start);
            let colour = match line.as_bytes() {
                [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] | [b'@', b'@', ..] => named("accent_color"),
                [b'+', ..] => named("success_color"),
                [b'-', ..] => named("error_color"),
                _ => None,
            };
            if let Some(colour) = colour {
                let mut attribute = foreground(&colour);
                attribute.set_start_index(start);
                attribute.set_end_index(end);
                list.insert(attribute);
            }
            start = end;
        }
        list
    }
}

fn foreground(colour: &gdk::RGBA) -> pango::AttrColor {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to what a u16 holds")]
    let part = |value: f32| (value.clamp(0.0, 1.0) * f32::from(u16::MAX)) as u16;
    pango::AttrColor::new_foreground(part(colour.red()), part(colour.green()), part(colour.blue()))
}
