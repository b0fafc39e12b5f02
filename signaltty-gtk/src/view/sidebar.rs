//! The list of all panes, those that need a human first.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::OnceLock;

use adw::prelude::*;
use adw::subclass::prelude::*;
use gtk::glib::{self, clone, subclass::Signal};
use signaltty_core::model::PaneId;

use super::pane_row::PaneRow;
use crate::model::{PaneObject, WorkspaceObject};
use crate::words;

mod imp {
    use super::*;

    #[derive(Debug, Default)]
    pub struct Sidebar {
        pub list: gtk::ListBox,
        pub rows: RefCell<HashMap<PaneId, PaneRow>>,
        pub workspace: glib::WeakRef<WorkspaceObject>,
        /// The selection is being set to what is shown already.
        pub following: Cell<bool>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for Sidebar {
        const NAME: &'static str = "SignalttySidebar";
        type Type = super::Sidebar;
        type ParentType = adw::Bin;
    }

    impl ObjectImpl for Sidebar {
        fn signals() -> &'static [Signal] {
            static SIGNALS: OnceLock<Vec<Signal>> = OnceLock::new();
            SIGNALS.get_or_init(|| {
                ["chosen", "browsed"]
                    .map(|name| {
                        Signal::builder(name)
                            .param_types([PaneObject::static_type()])
                            .build()
                    })
                    .into()
            })
        }

        fn constructed(&self) {
            self.parent_constructed();
            self.obj().build();
        }
    }

    impl WidgetImpl for Sidebar {}
    impl BinImpl for Sidebar {}
}

glib::wrapper! {
    /// The sidebar.
    pub struct Sidebar(ObjectSubclass<imp::Sidebar>)
        @extends adw::Bin, gtk::Widget,
        @implements gtk::Accessible, gtk::Buildable, gtk::ConstraintTarget;
}

impl Sidebar {
    /// Follows a workspace.
    pub fn follow(&self, workspace: &WorkspaceObject) {
        self.imp().workspace.set(Some(workspace));
        workspace.panes().connect_items_changed(clone!(
            #[weak(rename_to = sidebar)]
            self,
            move |_, _, _, _| sidebar.reconcile()
        ));
        workspace.connect_local(
            "needs-changed",
            false,
            clone!(
                #[weak(rename_to = sidebar)]
                self,
                #[upgrade_or]
                None,
                move |_| {
                    sidebar.sort();
                    None
                }
            ),
        );
        self.reconcile();
    }

    /// Connects to a person choosing a pane, with a click or Enter.
    pub fn connect_chosen(&self, call: impl Fn(&PaneObject) + 'static) {
        self.connect_pane("chosen", call);
    }

    /// Connects to a person moving along the list: the keyboard stays in it.
    pub fn connect_browsed(&self, call: impl Fn(&PaneObject) + 'static) {
        self.connect_pane("browsed", call);
    }

    fn connect_pane(&self, signal: &str, call: impl Fn(&PaneObject) + 'static) {
        self.connect_local(signal, false, move |values| {
            call(&values.get(1)?.get::<PaneObject>().ok()?);
            None
        });
    }

    /// Marks the pane that is shown.
    pub fn select(&self, id: Option<&PaneId>) {
        let imp = self.imp();
        imp.following.set(true);
        let row = id.and_then(|id| imp.rows.borrow().get(id).cloned());
        imp.list.select_row(row.as_ref());
        imp.following.set(false);
    }

    fn build(&self) {
        let list = &self.imp().list;
        list.add_css_class("navigation-sidebar");
        list.update_property(&[gtk::accessible::Property::Label("Panes")]);
        list.set_sort_func(|one, other| {
            let place =
                |row: &gtk::ListBoxRow| row.downcast_ref::<PaneRow>().and_then(PaneRow::place);
            place(one).cmp(&place(other)).into()
        });
        list.set_header_func(|row, before| {
            let group = |row: &gtk::ListBoxRow| {
                row.downcast_ref::<PaneRow>()
                    .and_then(PaneRow::place)
                    .map(|place| words::group(place.need))
            };
            let own = group(row);
            if own == before.and_then(group) {
                row.set_header(None::<&gtk::Widget>);
            } else if let Some(own) = own {
                let label = gtk::Label::new(Some(own));
                label.set_xalign(0.0);
                label.add_css_class("sidebar-group");
                label.add_css_class("caption-heading");
                row.set_header(Some(&label));
            }
        });
        list.connect_row_selected(clone!(
            #[weak(rename_to = sidebar)]
            self,
            move |_, row| {
                if sidebar.imp().following.get() {
                    return;
                }
                if let Some(row) = row {
                    sidebar.tell("browsed", row);
                }
            }
        ));
        list.connect_row_activated(clone!(
            #[weak(rename_to = sidebar)]
            self,
            move |_, row| sidebar.tell("chosen", row)
        ));
        let scroller = gtk::ScrolledWindow::new();
        scroller.set_hscrollbar_policy(gtk::PolicyType::Never);
        scroller.set_vexpand(true);
        scroller.set_child(Some(list));
        self.set_child(Some(&scroller));
    }

    fn tell(&self, signal: &str, row: &gtk::ListBoxRow) {
        if let Some(pane) = row.downcast_ref::<PaneRow>().and_then(PaneRow::pane) {
            self.emit_by_name::<()>(signal, &[&pane]);
        }
    }

    /// One row a pane, the same for as long as the pane is there.
    fn reconcile(&self) {
        let imp = self.imp();
        let Some(workspace) = imp.workspace.upgrade() else {
            return;
        };
        let mut rows = imp.rows.borrow_mut();
        rows.retain(|id, row| {
            let stays = workspace.pane(id).is_some();
            if !stays {
                imp.following.set(true);
                imp.list.remove(row);
                imp.following.set(false);
            }
            stays
        });
        for pane in workspace.all() {
            rows.entry(pane.id()).or_insert_with(|| {
                let row = PaneRow::new(&pane);
                imp.list.append(&row);
                row
            });
        }
    }

    fn sort(&self) {
        self.imp().list.invalidate_sort();
        self.imp().list.invalidate_headers();
    }
}
