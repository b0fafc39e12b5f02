//! The area of panes: a tab for each tab of the layout, split as the layout says.
//!
//! A pane's view is made once and only moved: a terminal is never built anew because its neighbours change.

mod dividers;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::OnceLock;

use adw::prelude::*;
use adw::subclass::prelude::*;
use gtk::glib::{self, clone, subclass::Signal};
use gtk::{gdk, gio};
use signaltty_core::model::{Layout, LayoutNode, PaneId, SplitDirection};

use super::pane_view::PaneView;
use crate::keys;
use crate::model::{PaneObject, WorkspaceObject};
use crate::rules::arrange::{self, Divider};
use crate::rules::chord::Chords;
use crate::rules::keyboard::{self, Keyboard, Shown};

/// A split's share, as it is now.
type Share = Rc<Cell<f64>>;

mod imp {
    use super::*;

    #[derive(Debug, Default)]
    pub struct Panes {
        pub tabs: adw::TabView,
        pub bar: adw::TabBar,
        pub views: RefCell<HashMap<PaneId, PaneView>>,
        /// What each tab shows at present.
        pub shown: RefCell<Vec<(adw::TabPage, LayoutNode)>>,
        pub workspace: glib::WeakRef<WorkspaceObject>,
        pub current: RefCell<Option<PaneId>>,
        /// The keys of the window that answer.
        pub chords: Rc<RefCell<Chords>>,
        /// The dividers of all splits, each with its share.
        pub dividers: RefCell<HashMap<Divider, (glib::WeakRef<gtk::Paned>, Share)>>,
        /// A pane that a person closes here: the keyboard may go on to the next one's terminal.
        pub closed_here: RefCell<Option<PaneId>>,
        /// Whether there ever was a current pane.
        pub begun: Cell<bool>,
        /// Tabs are being brought in line: what happens to them is no person's doing.
        pub reconciling: Cell<bool>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for Panes {
        const NAME: &'static str = "SignalttyPanes";
        type Type = super::Panes;
        type ParentType = adw::Bin;
    }

    impl ObjectImpl for Panes {
        fn signals() -> &'static [Signal] {
            static SIGNALS: OnceLock<Vec<Signal>> = OnceLock::new();
            SIGNALS.get_or_init(|| {
                vec![
                    // Another pane is the current one.
                    Signal::builder("current-changed").build(),
                    // A person wants the panes of a tab closed.
                    Signal::builder("close-asked")
                        .param_types([PaneObject::static_type()])
                        .build(),
                ]
            })
        }

        fn constructed(&self) {
            self.parent_constructed();
            self.obj().build();
        }
    }

    impl WidgetImpl for Panes {}
    impl BinImpl for Panes {}
}

glib::wrapper! {
    /// The area of panes.
    pub struct Panes(ObjectSubclass<imp::Panes>)
        @extends adw::Bin, gtk::Widget,
        @implements gtk::Accessible, gtk::Buildable, gtk::ConstraintTarget;
}

impl Panes {
    /// Follows a workspace.
    pub fn follow(&self, workspace: &WorkspaceObject) {
        self.imp().workspace.set(Some(workspace));
        workspace.panes().connect_items_changed(clone!(
            #[weak(rename_to = panes)]
            self,
            move |_, _, _, _| panes.reconcile()
        ));
        for signal in ["layout-changed", "needs-changed"] {
            workspace.connect_local(
                signal,
                false,
                clone!(
                    #[weak(rename_to = panes)]
                    self,
                    #[upgrade_or]
                    None,
                    move |_| {
                        panes.reconcile();
                        None
                    }
                ),
            );
        }
        self.reconcile();
    }

    /// The bar of tabs, for the window to put where it wants.
    pub fn bar(&self) -> &adw::TabBar {
        &self.imp().bar
    }

    /// Connects to another pane becoming the current one.
    pub fn connect_current_changed(&self, call: impl Fn() + 'static) {
        self.connect_local("current-changed", false, move |_| {
            call();
            None
        });
    }

    /// Connects to a person asking to close a pane by its tab.
    pub fn connect_close_asked(&self, call: impl Fn(&PaneObject) + 'static) {
        self.connect_local("close-asked", false, move |values| {
            call(&values.get(1)?.get::<PaneObject>().ok()?);
            None
        });
    }

    /// The pane that a person works in.
    pub fn current(&self) -> Option<PaneView> {
        let imp = self.imp();
        let id = imp.current.borrow().clone()?;
        imp.views.borrow().get(&id).cloned()
    }

    /// All views.
    pub fn all(&self) -> Vec<PaneView> {
        self.imp().views.borrow().values().cloned().collect()
    }

    /// Whether that pane can be seen now: its tab is the selected one.
    pub fn is_in_sight(&self, id: &PaneId) -> bool {
        let selected = self.imp().tabs.selected_page();
        let shown = self.imp().shown.borrow();
        shown.iter().any(|(page, root)| {
            Some(page) == selected.as_ref() && arrange::panes_of(root).contains(id)
        })
    }

    /// Shows a pane, and puts the keyboard where it goes with it.
    pub fn show_pane(&self, id: &PaneId, why: Shown) {
        let imp = self.imp();
        let page = imp
            .shown
            .borrow()
            .iter()
            .find(|(_, root)| arrange::panes_of(root).contains(id))
            .map(|(page, _)| page.clone());
        let Some(page) = page else { return };
        self.set_current(Some(id.clone()));
        imp.tabs.set_selected_page(&page);
        let adrift = self.focus().is_none();
        self.put_keyboard(keyboard::goes(why, adrift));
    }

    fn focus(&self) -> Option<gtk::Widget> {
        self.root().and_then(|root| root.focus())
    }

    fn put_keyboard(&self, place: Keyboard) {
        let Some(view) = self.current() else { return };
        match place {
            Keyboard::Terminal => view.focus_terminal(),
            Keyboard::Strip => view.rest(),
            Keyboard::Stays => {}
        }
    }

    /// A key went down in the window, wherever the keyboard was. True: it was for a card.
    pub fn key_pressed(&self, key: gdk::Key, code: u32, state: gdk::ModifierType) -> bool {
        let imp = self.imp();
        if matches!(
            key,
            gdk::Key::Alt_L | gdk::Key::Alt_R | gdk::Key::Meta_L | gdk::Key::Meta_R
        ) {
            imp.chords.borrow_mut().alt_pressed();
            return false;
        }
        let Some(digit) = keys::digit(&self.display(), key, code) else {
            return false;
        };
        let focus = self.focus();
        let view = self
            .current()
            .filter(|view| focus.is_some_and(|focus| focus.is_ancestor(view)));
        let alone = keys::modifiers(state) == gdk::ModifierType::ALT_MASK;
        // Folding grants nothing: it needs no guard.
        let open = alone
            && view
                .as_ref()
                .is_some_and(|view| digit == 0 || view.chords_open());
        let press = imp.chords.borrow_mut().press(code, open);
        view.filter(|_| alone)
            .is_some_and(|view| view.chord(digit, press))
    }

    /// A key came up in the window.
    pub fn key_released(&self, code: u32) {
        self.imp().chords.borrow_mut().release(code);
    }

    /// The window lost the keyboard.
    pub fn lost_keyboard(&self) {
        self.imp().chords.borrow_mut().lost_keyboard();
    }

    /// Turns to the tab so many places on, round at the ends.
    pub fn turn(&self, by: i32) {
        let tabs = &self.imp().tabs;
        let count = tabs.n_pages();
        let Some(page) = tabs.selected_page().filter(|_| count > 0) else {
            return;
        };
        let at = (tabs.page_position(&page) + by).rem_euclid(count);
        tabs.set_selected_page(&tabs.nth_page(at));
    }

    /// The layout with `new` beside the current pane.
    pub fn layout_with_split(
        &self,
        at: &PaneId,
        direction: SplitDirection,
        new: &PaneId,
    ) -> Option<Layout> {
        let workspace = self.imp().workspace.upgrade()?;
        Some(arrange::split(
            &shown_layout(&workspace),
            at,
            direction,
            new,
        ))
    }

    fn build(&self) {
        let imp = self.imp();
        // Alt and a digit answers; it must never change the tab instead.
        imp.tabs.set_shortcuts(adw::TabViewShortcuts::empty());
        imp.bar.set_view(Some(&imp.tabs));
        // A bar that comes and goes takes rows from every terminal, and a pane that only asks would make it come.
        imp.bar.set_autohide(false);
        self.set_child(Some(&imp.tabs));
        imp.tabs.connect_selected_page_notify(clone!(
            #[weak(rename_to = panes)]
            self,
            move |_| panes.page_selected(Shown::Chosen, false)
        ));
        imp.tabs.connect_page_reordered(clone!(
            #[weak(rename_to = panes)]
            self,
            move |_, _, _| panes.page_moved()
        ));
        imp.tabs.connect_close_page(clone!(
            #[weak(rename_to = panes)]
            self,
            #[upgrade_or]
            glib::Propagation::Proceed,
            move |tabs, page| {
                if panes.imp().reconciling.get() {
                    return glib::Propagation::Proceed;
                }
                panes.page_close_asked(page);
                // The tab goes when its panes are closed.
                tabs.close_page_finish(page, false);
                glib::Propagation::Stop
            }
        ));
    }

    /// A person moved a tab: the order is the host's to keep.
    fn page_moved(&self) {
        let imp = self.imp();
        let Some(workspace) = imp.workspace.upgrade().filter(|_| !imp.reconciling.get()) else {
            return;
        };
        let mut layout = shown_layout(&workspace);
        let order: Vec<PaneId> = (0..imp.tabs.n_pages())
            .filter_map(|at| {
                let page = imp.tabs.nth_page(at);
                let shown = imp.shown.borrow();
                let (_, root) = shown.iter().find(|(shown, _)| *shown == page)?;
                arrange::panes_of(root).into_iter().next()
            })
            .collect();
        layout.tabs.sort_by_key(|tab| {
            let first = arrange::panes_of(&tab.root).into_iter().next();
            order
                .iter()
                .position(|id| Some(id) == first.as_ref())
                .unwrap_or(usize::MAX)
        });
        workspace.set_layout(layout);
    }

    /// Another tab is the selected one: its first pane is the current one. `adrift`: see [`keyboard::goes`].
    fn page_selected(&self, why: Shown, adrift: bool) {
        let imp = self.imp();
        if imp.reconciling.get() {
            return;
        }
        let Some(selected) = imp.tabs.selected_page() else {
            return self.set_current(None);
        };
        let root = imp
            .shown
            .borrow()
            .iter()
            .find(|(page, _)| *page == selected)
            .map(|(_, root)| root.clone());
        let panes = root.as_ref().map(arrange::panes_of).unwrap_or_default();
        let stays = imp
            .current
            .borrow()
            .as_ref()
            .is_some_and(|current| panes.contains(current));
        if !stays {
            self.set_current(panes.into_iter().next());
            self.put_keyboard(keyboard::goes(why, adrift));
        }
    }

    fn page_close_asked(&self, page: &adw::TabPage) {
        let imp = self.imp();
        let root = imp
            .shown
            .borrow()
            .iter()
            .find(|(shown, _)| shown == page)
            .map(|(_, root)| root.clone());
        let workspace = imp.workspace.upgrade();
        for id in root.as_ref().map(arrange::panes_of).unwrap_or_default() {
            if let Some(pane) = workspace.as_ref().and_then(|workspace| workspace.pane(&id)) {
                self.emit_by_name::<()>("close-asked", &[&pane]);
            }
        }
    }

    fn set_current(&self, id: Option<PaneId>) {
        if *self.imp().current.borrow() == id {
            return;
        }
        if id.is_some() {
            self.imp().begun.set(true);
        }
        self.imp().current.replace(id);
        self.emit_by_name::<()>("current-changed", &[]);
    }

    /// Brings the tabs in line with the host's layout.
    fn reconcile(&self) {
        let imp = self.imp();
        let Some(workspace) = imp.workspace.upgrade() else {
            return;
        };
        if imp.reconciling.replace(true) {
            return;
        }
        // Moving a widget takes the keyboard from it.
        let focus = self.focus();
        let in_current = focus
            .as_ref()
            .zip(self.current())
            .is_some_and(|(focus, view)| focus.is_ancestor(&view));
        let layout = shown_layout(&workspace);
        let mut old = imp.shown.take();
        let mut new = Vec::new();
        for (at, tab) in (0..).zip(&layout.tabs) {
            let panes = arrange::panes_of(&tab.root);
            let same = old
                .iter()
                .position(|(_, root)| arrange::panes_of(root).iter().any(|id| panes.contains(id)));
            let (page, before) = match same.map(|same| old.remove(same)) {
                Some((page, before)) => (page, Some(before)),
                None => (imp.tabs.append(&adw::Bin::new()), None),
            };
            match before {
                Some(before) if arrange::same_shape(&before, &tab.root) => {
                    self.move_dividers(&tab.root)
                }
                _ => self.fill(&workspace, &page, &tab.root),
            }
            self.dress(&workspace, &page, tab.title.as_deref(), &panes);
            imp.tabs.reorder_page(&page, at);
            new.push((page, tab.root.clone()));
        }
        imp.shown.replace(new);
        for (page, _) in old {
            if let Some(bin) = page.child().downcast_ref::<adw::Bin>() {
                bin.set_child(None::<&gtk::Widget>);
            }
            imp.tabs.close_page(&page);
        }
        imp.views.borrow_mut().retain(|id, view| {
            let stays = workspace.pane(id).is_some();
            if !stays {
                unparent(view);
            }
            stays
        });
        imp.reconciling.set(false);
        imp.dividers
            .borrow_mut()
            .retain(|_, (paned, _)| paned.upgrade().is_some());
        let before = imp.current.borrow().clone();
        // The pane that a person works in was moved to another tab: they go along.
        if let Some(id) = before
            .as_ref()
            .filter(|id| workspace.pane(id).is_some() && !self.is_in_sight(id))
        {
            self.show_pane(id, Shown::Moved);
        }
        if before
            .as_ref()
            .is_some_and(|id| workspace.pane(id).is_some())
        {
            if let Some(focus) = focus.filter(|_| in_current) {
                self.give_back(&focus);
            }
            return;
        }
        // A pane that somebody else closed may have had the keyboard of a person in mid-sentence: the rest must
        // not go to whatever program comes next. Not even by the toolkit, which looks for a new place for a
        // keyboard that has none.
        let why = if before.is_some() && before == imp.closed_here.take() {
            Shown::ClosedHere
        } else if imp.begun.get() {
            Shown::Vanished
        } else {
            Shown::Chosen
        };
        imp.current.replace(None);
        self.page_selected(why, in_current || focus.is_none());
        if imp.current.borrow().is_none() {
            self.emit_by_name::<()>("current-changed", &[]);
            if let Some(root) = self.root().filter(|_| in_current) {
                root.set_focus(None::<&gtk::Widget>);
            }
        }
    }

    /// Gives the keyboard back to what had it before it was moved; nothing but its place has changed for the
    /// person in it. Also where it seems to have it still: the window looks for another place in its next turn, and
    /// only stops where the keyboard is put somewhere.
    fn give_back(&self, focus: &gtk::Widget) {
        let back = match focus.downcast_ref::<gtk::Text>() {
            // To grab it would select all of it, and the next letter would replace it.
            Some(text) => text.grab_focus_without_selecting(),
            None => focus.grab_focus(),
        };
        if !back {
            self.put_keyboard(keyboard::goes(Shown::Moved, true));
        }
    }

    /// A person closes that pane here.
    pub fn closing(&self, id: &PaneId) {
        self.imp().closed_here.replace(Some(id.clone()));
    }

    /// Puts the panes of a tab where its layout says.
    fn fill(&self, workspace: &WorkspaceObject, page: &adw::TabPage, root: &LayoutNode) {
        let focus = self.focus();
        let Some(bin) = page.child().downcast::<adw::Bin>().ok() else {
            return;
        };
        bin.set_child(None::<&gtk::Widget>);
        bin.set_child(Some(&self.part(workspace, root)));
        if let Some(focus) = focus.filter(|focus| focus.is_ancestor(&bin)) {
            self.give_back(&focus);
        }
    }

    fn part(&self, workspace: &WorkspaceObject, node: &LayoutNode) -> gtk::Widget {
        match node {
            LayoutNode::Pane { pane_id } => match self.view(workspace, pane_id) {
                Some(view) => {
                    unparent(&view);
                    view.upcast()
                }
                None => adw::Bin::new().upcast(),
            },
            LayoutNode::Split {
                direction,
                share,
                first,
                second,
            } => {
                let paned = gtk::Paned::new(match direction {
                    SplitDirection::Right => gtk::Orientation::Horizontal,
                    SplitDirection::Down => gtk::Orientation::Vertical,
                });
                paned.set_start_child(Some(&self.part(workspace, first)));
                paned.set_end_child(Some(&self.part(workspace, second)));
                paned.set_shrink_start_child(false);
                paned.set_shrink_end_child(false);
                if let Some(divider) = arrange::divider(first, second) {
                    self.divide(&paned, *share, divider);
                }
                paned.upcast()
            }
        }
    }

    fn view(&self, workspace: &WorkspaceObject, id: &PaneId) -> Option<PaneView> {
        if let Some(view) = self.imp().views.borrow().get(id) {
            return Some(view.clone());
        }
        let view = PaneView::new(workspace, &workspace.pane(id)?, self.imp().chords.clone());
        let focus = gtk::EventControllerFocus::new();
        let own = id.clone();
        focus.connect_enter(clone!(
            #[weak(rename_to = panes)]
            self,
            move |_| panes.set_current(Some(own.clone()))
        ));
        view.add_controller(focus);
        self.imp()
            .views
            .borrow_mut()
            .insert(id.clone(), view.clone());
        Some(view)
    }

    /// Title and sign of a tab: those of the pane in it that needs a human most.
    fn dress(
        &self,
        workspace: &WorkspaceObject,
        page: &adw::TabPage,
        title: Option<&str>,
        panes: &[PaneId],
    ) {
        let panes: Vec<PaneObject> = panes.iter().filter_map(|id| workspace.pane(id)).collect();
        let Some(first) = panes.iter().min_by_key(|pane| pane.place_among()) else {
            return;
        };
        let current = self.imp().current.borrow().clone();
        let named = panes
            .iter()
            .find(|pane| Some(pane.id()) == current)
            .unwrap_or(first);
        page.set_title(&title.map_or_else(|| named.title(), crate::text::line));
        page.set_tooltip(&gtk::glib::markup_escape_text(&first.state()));
        page.set_indicator_icon(Some(&gio::ThemedIcon::new(&first.icon())));
        page.set_indicator_activatable(false);
        page.set_needs_attention(first.decision().is_some());
    }
}

fn shown_layout(workspace: &WorkspaceObject) -> Layout {
    let panes: Vec<PaneId> = workspace.all().iter().map(PaneObject::id).collect();
    arrange::shown(&workspace.layout(), &panes)
}

/// Takes a view out of wherever it is.
fn unparent(view: &PaneView) {
    let Some(parent) = view.parent() else { return };
    if let Some(bin) = parent.downcast_ref::<adw::Bin>() {
        bin.set_child(None::<&gtk::Widget>);
    } else if let Some(paned) = parent.downcast_ref::<gtk::Paned>() {
        if paned.start_child().as_ref() == Some(view.upcast_ref()) {
            paned.set_start_child(None::<&gtk::Widget>);
        } else {
            paned.set_end_child(None::<&gtk::Widget>);
        }
    }
}
