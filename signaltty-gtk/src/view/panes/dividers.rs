//! The dividers between split panes: they keep their share of the room, and the host keeps where a person puts them.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use gtk::glib::{self, clone, subclass::prelude::*};
use gtk::prelude::*;
use signaltty_core::model::LayoutNode;

use super::{Panes, shown_layout};
use crate::rules::arrange::{self, Divider};

impl Panes {
    /// Keeps a divider at its share of the room, and tells the host where a person has moved it.
    pub(super) fn divide(&self, paned: &gtk::Paned, share: f64, divider: Divider) {
        let share = Rc::new(Cell::new(share));
        self.imp()
            .dividers
            .borrow_mut()
            .insert(divider.clone(), (paned.downgrade(), share.clone()));
        // The room that the divider was last placed for: a change of place within the same room is a person's.
        let room = Rc::new(Cell::new(0));
        paned.connect_max_position_notify(clone!(
            #[strong]
            share,
            #[strong]
            room,
            move |paned| {
                room.set(paned.max_position());
                paned.set_position(place(paned, share.get()));
            }
        ));
        let telling = Rc::new(Cell::new(false));
        paned.connect_position_notify(clone!(
            #[weak(rename_to = panes)]
            self,
            move |paned| {
                let most = paned.max_position();
                let moved = (paned.position() - place(paned, share.get())).abs() > 1;
                if most <= 0 || most != room.get() || !moved {
                    return;
                }
                share.set(f64::from(paned.position()) / f64::from(most));
                if !telling.replace(true) {
                    panes.tell_divider(divider.clone(), share.clone(), telling.clone());
                }
            }
        ));
    }

    /// Tells the host where a divider is, once it stands still.
    pub(super) fn tell_divider(
        &self,
        (one, other): Divider,
        share: Rc<Cell<f64>>,
        telling: Rc<Cell<bool>>,
    ) {
        let tell = clone!(
            #[weak(rename_to = panes)]
            self,
            move || {
                telling.set(false);
                if let Some(workspace) = panes.imp().workspace.upgrade() {
                    let layout = shown_layout(&workspace);
                    workspace.set_layout(arrange::resized(&layout, &one, &other, share.get()));
                }
            }
        );
        glib::timeout_add_local_once(DRAG_SETTLES, tell);
    }

    /// Puts the dividers of a tab where its layout says.
    pub(super) fn move_dividers(&self, root: &LayoutNode) {
        let known = self.imp().dividers.borrow().clone();
        for (divider, share) in arrange::dividers(root) {
            let Some((paned, own)) = known.get(&divider) else {
                continue;
            };
            own.set(share);
            if let Some(paned) = paned.upgrade().filter(|paned| paned.max_position() > 0) {
                paned.set_position(place(&paned, share));
            }
        }
    }
}

/// How long a divider has to stand still before the host is told.
const DRAG_SETTLES: Duration = Duration::from_millis(300);

/// Where a divider is at that share of the room.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a share of a widget's size"
)]
fn place(paned: &gtk::Paned, share: f64) -> i32 {
    (f64::from(paned.max_position()) * share).round() as i32
}
