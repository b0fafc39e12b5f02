//! Lays children out in a row, and in further rows where they do not fit: the buttons of a card.
//!
//! A child that alone is wider than a row gets the whole row and wraps its own text.

use gtk::glib::{self, subclass::prelude::*};
use gtk::prelude::*;
use gtk::subclass::prelude::*;

/// Space between children, in pixels.
const GAP: i32 = 6;

mod imp {
    use super::*;

    #[derive(Debug, Default)]
    pub struct Flow;

    #[glib::object_subclass]
    impl ObjectSubclass for Flow {
        const NAME: &'static str = "SignalttyFlow";
        type Type = super::Flow;
        type ParentType = gtk::Widget;
        type Interfaces = (gtk::Buildable,);

        fn class_init(class: &mut Self::Class) {
            class.set_css_name("flow");
        }
    }

    impl ObjectImpl for Flow {
        fn dispose(&self) {
            self.obj().clear();
        }
    }

    impl BuildableImpl for Flow {
        fn add_child(&self, _builder: &gtk::Builder, child: &glib::Object, _type: Option<&str>) {
            if let Some(child) = child.downcast_ref::<gtk::Widget>() {
                child.set_parent(&*self.obj());
            }
        }
    }

    impl WidgetImpl for Flow {
        fn request_mode(&self) -> gtk::SizeRequestMode {
            gtk::SizeRequestMode::HeightForWidth
        }

        fn measure(&self, orientation: gtk::Orientation, for_size: i32) -> (i32, i32, i32, i32) {
            let children = self.obj().children();
            if orientation == gtk::Orientation::Horizontal {
                let sizes: Vec<_> = children
                    .iter()
                    .map(|child| child.measure(orientation, -1))
                    .collect();
                let least = sizes.iter().map(|size| size.0).max().unwrap_or(0);
                let gaps = GAP * i32::try_from(sizes.len().saturating_sub(1)).unwrap_or(0);
                let wanted: i32 = sizes.iter().map(|size| size.1).sum::<i32>() + gaps;
                return (least, wanted.max(least), -1, -1);
            }
            let width = if for_size < 0 { i32::MAX } else { for_size };
            let rows = rows(&children, width);
            let gaps = GAP * i32::try_from(rows.len().saturating_sub(1)).unwrap_or(0);
            let height: i32 = rows.iter().map(|row| row.height).sum::<i32>() + gaps;
            (height, height, -1, -1)
        }

        fn size_allocate(&self, width: i32, _height: i32, _baseline: i32) {
            let rtl = self.obj().direction() == gtk::TextDirection::Rtl;
            let mut y = 0;
            for row in rows(&self.obj().children(), width) {
                let mut x = 0;
                for (child, child_width) in &row.children {
                    let at = if rtl { width - x - child_width } else { x };
                    #[expect(
                        clippy::cast_precision_loss,
                        reason = "sizes of widgets are far below 2^24"
                    )]
                    let at = gtk::gsk::Transform::new()
                        .translate(&gtk::graphene::Point::new(at as f32, y as f32));
                    child.allocate(*child_width, row.height, -1, Some(at));
                    x += child_width + GAP;
                }
                y += row.height + GAP;
            }
        }
    }

    struct Row {
        children: Vec<(gtk::Widget, i32)>,
        height: i32,
    }

    fn rows(children: &[gtk::Widget], width: i32) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        let mut left = 0;
        for child in children {
            let (least, natural, ..) = child.measure(gtk::Orientation::Horizontal, -1);
            let own = natural.min(width).max(least);
            let (_, height, ..) = child.measure(gtk::Orientation::Vertical, own);
            match rows.last_mut() {
                Some(row) if own + GAP <= left => {
                    row.children.push((child.clone(), own));
                    row.height = row.height.max(height);
                    left -= own + GAP;
                }
                _ => {
                    rows.push(Row {
                        children: vec![(child.clone(), own)],
                        height,
                    });
                    left = width.saturating_sub(own);
                }
            }
        }
        rows
    }
}

glib::wrapper! {
    /// A row that wraps.
    pub struct Flow(ObjectSubclass<imp::Flow>)
        @extends gtk::Widget,
        @implements gtk::Accessible, gtk::Buildable, gtk::ConstraintTarget;
}

impl Flow {
    /// Puts a child at the end.
    pub fn append(&self, child: &impl IsA<gtk::Widget>) {
        child.set_parent(self);
    }

    /// Takes all children away.
    pub fn clear(&self) {
        while let Some(child) = self.first_child() {
            child.unparent();
        }
    }

    fn children(&self) -> Vec<gtk::Widget> {
        let mut children = Vec::new();
        let mut next = self.first_child();
        while let Some(child) = next {
            next = child.next_sibling();
            if child.should_layout() {
                children.push(child);
            }
        }
        children
    }
}
