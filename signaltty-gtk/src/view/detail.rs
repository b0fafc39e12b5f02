//! The whole of what a decision is about: a command, a diff or a text, in monospace, wrapped and selectable.
//!
//! Long texts are laid out a chunk a turn of the main loop, so that a detail of the greatest size never holds
//! up the window.

use std::cell::RefCell;
use std::ops::Range;

use gtk::glib::{self, clone, subclass::prelude::*};
use gtk::prelude::*;
use gtk::subclass::prelude::*;
use gtk::{gdk, pango};
use signaltty_core::model::DetailKind;
use signaltty_core::sanitise::Shown;

use crate::text;

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
    pub fn show_text(&self, shown: Option<Shown>, kind: DetailKind) {
        if let Some(pending) = self.imp().pending.take() {
            pending.remove();
        }
        while let Some(child) = self.first_child() {
            self.remove(&child);
        }
        self.set_visible(shown.is_some());
        let Some(shown) = shown else { return };
        let mut chunks = text::chunks(&shown.text).into_iter();
        if let Some(first) = chunks.next() {
            self.add(&shown, &first, kind);
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
                    detail.add(&shown, &chunk, kind);
                    return glib::ControlFlow::Continue;
                }
                detail.imp().pending.take();
                glib::ControlFlow::Break
            }
        ));
        self.imp().pending.replace(Some(pending));
    }

    fn add(&self, shown: &Shown, chunk: &Range<usize>, kind: DetailKind) {
        let Some(part) = shown.text.get(chunk.clone()) else {
            return;
        };
        let label = gtk::Label::new(Some(part));
        label.set_xalign(0.0);
        label.set_wrap(true);
        label.set_wrap_mode(pango::WrapMode::WordChar);
        label.set_selectable(true);
        self.append(&label);
        let attributes = marked(&label, &text::marks_within(shown, chunk));
        if kind == DetailKind::Diff {
            colour_diff(&label, part, &attributes);
        }
        label.set_attributes(Some(&attributes));
    }
}

/// Added and removed lines in the theme's colours. The signs at their beginnings say the same by shape.
fn colour_diff(label: &gtk::Label, diff: &str, list: &pango::AttrList) {
    let mut start = 0_u32;
    for line in diff.split_inclusive('\n') {
        let end = start.saturating_add(u32::try_from(line.len()).unwrap_or(u32::MAX));
        let colour = match line.as_bytes() {
            [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] | [b'@', b'@', ..] => {
                named(label, "accent_color")
            }
            [b'+', ..] => named(label, "success_color"),
            [b'-', ..] => named(label, "error_color"),
            _ => None,
        };
        if let Some(colour) = colour {
            insert(list, foreground(&colour), start, end);
        }
        start = end;
    }
}

/// What had to be written out, in bold and in the colour of warnings.
pub fn marked(widget: &impl IsA<gtk::Widget>, marks: &[Range<usize>]) -> pango::AttrList {
    let list = pango::AttrList::new();
    let colour = named(widget, "warning_color");
    for mark in marks {
        let (Ok(start), Ok(end)) = (u32::try_from(mark.start), u32::try_from(mark.end)) else {
            break;
        };
        insert(
            &list,
            pango::AttrInt::new_weight(pango::Weight::Bold),
            start,
            end,
        );
        if let Some(colour) = &colour {
            insert(&list, foreground(colour), start, end);
        }
    }
    list
}

fn named(widget: &impl IsA<gtk::Widget>, name: &str) -> Option<gdk::RGBA> {
    widget.style_context().lookup_color(name)
}

fn insert(list: &pango::AttrList, attribute: impl Into<pango::Attribute>, start: u32, end: u32) {
    let mut attribute = attribute.into();
    attribute.set_start_index(start);
    attribute.set_end_index(end);
    list.insert(attribute);
}

fn foreground(colour: &gdk::RGBA) -> pango::AttrColor {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to what a u16 holds"
    )]
    let part = |value: f32| (value.clamp(0.0, 1.0) * f32::from(u16::MAX)) as u16;
    pango::AttrColor::new_foreground(
        part(colour.red()),
        part(colour.green()),
        part(colour.blue()),
    )
}
