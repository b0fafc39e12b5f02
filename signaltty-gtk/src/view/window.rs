//! The window: sidebar, header, panes, and what a person can do with them.
//!
//! Its actions are widget actions, which nobody outside the process can invoke; a `GAction` of an application
//! window would be exported on the bus, to every agent as well (specs/030).

mod opening;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashSet;

use adw::prelude::*;
use adw::subclass::prelude::*;
use gtk::glib::{self, clone};
use gtk::{CompositeTemplate, TemplateChild};
use signaltty_core::client::ClientError;
use signaltty_core::limits::RECONNECT;
use signaltty_core::model::{Attention, PaneId, SplitDirection};
use signaltty_core::protocol::method::PaneMarkSeen;
use signaltty_core::protocol::params::PaneParams;

use super::pane_view::PaneView;
use super::panes::Panes;
use super::sidebar::Sidebar;
use crate::model::{Connection, PaneObject, WorkspaceObject};
use crate::rules::keyboard::Shown;
use crate::text;

mod imp {
    use super::*;

    #[derive(Debug, Default, CompositeTemplate)]
    #[template(file = "window.ui")]
    pub struct Window {
        #[template_child]
        pub toasts: TemplateChild<adw::ToastOverlay>,
        #[template_child]
        pub flap: TemplateChild<adw::Flap>,
        #[template_child]
        pub sidebar: TemplateChild<Sidebar>,
        #[template_child]
        pub title: TemplateChild<adw::WindowTitle>,
        #[template_child]
        pub jump: TemplateChild<gtk::Button>,
        #[template_child]
        pub jump_count: TemplateChild<gtk::Label>,
        #[template_child]
        pub banner: TemplateChild<gtk::Revealer>,
        #[template_child]
        pub banner_label: TemplateChild<gtk::Label>,
        #[template_child]
        pub banner_close: TemplateChild<gtk::Button>,
        #[template_child]
        pub tab_place: TemplateChild<gtk::Box>,
        #[template_child]
        pub stack: TemplateChild<gtk::Stack>,
        #[template_child]
        pub panes: TemplateChild<Panes>,
        pub workspace: OnceCell<WorkspaceObject>,
        /// The message that a person hid: it comes again only when it is a different one.
        pub hidden_message: RefCell<Option<String>>,
        /// Panes that the host is being told of as seen.
        pub marking: RefCell<HashSet<PaneId>>,
        /// A pane to be shown as soon as it is there.
        pub awaited: RefCell<Option<(PaneId, Shown)>>,
        /// The host has been away for longer than it takes to replace it.
        pub lost_for_long: Cell<bool>,
        /// The pane whose title stands in the header.
        pub titled: RefCell<Option<(PaneObject, Vec<glib::SignalHandlerId>)>>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for Window {
        const NAME: &'static str = "SignalttyWindow";
        type Type = super::Window;
        type ParentType = adw::ApplicationWindow;

        fn class_init(class: &mut Self::Class) {
            Sidebar::ensure_type();
            Panes::ensure_type();
            class.bind_template();
            super::install_actions(class);
        }

        fn instance_init(object: &glib::subclass::InitializingObject<Self>) {
            object.init_template();
        }
    }

    impl ObjectImpl for Window {}
    impl WidgetImpl for Window {}
    impl WindowImpl for Window {}
    impl ApplicationWindowImpl for Window {}
    impl AdwApplicationWindowImpl for Window {}
}

glib::wrapper! {
    /// The window.
    pub struct Window(ObjectSubclass<imp::Window>)
        @extends adw::ApplicationWindow, gtk::ApplicationWindow, gtk::Window, gtk::Widget,
        @implements gtk::gio::ActionGroup, gtk::gio::ActionMap, gtk::Accessible, gtk::Buildable,
            gtk::ConstraintTarget, gtk::Native, gtk::Root, gtk::ShortcutManager;
}

/// Every action with its keys and its words in the list of shortcuts.
pub const SHORTCUTS: &[(&str, &str, &str)] = &[
    ("window.new-pane", "<Control><Shift>t", "New pane"),
    ("window.split-right", "<Control><Shift>e", "Split right"),
    ("window.split-down", "<Control><Shift>o", "Split down"),
    ("window.close-pane", "<Control><Shift>w", "Close pane"),
    (
        "window.jump",
        "<Control><Shift>j",
        "To the pane that has waited longest",
    ),
    ("window.reply", "<Control><Shift>r", "Write a reply"),
    ("window.next-tab", "<Control>Page_Down", "Next tab"),
    ("window.previous-tab", "<Control>Page_Up", "Previous tab"),
    ("window.copy", "<Control><Shift>c", "Copy"),
    ("window.paste", "<Control><Shift>v", "Paste"),
    ("window.sidebar", "F9", "Sidebar"),
    (
        "window.shortcuts",
        "<Control>question",
        "Keyboard shortcuts",
    ),
];

fn install_actions(class: &mut <imp::Window as ObjectSubclass>::Class) {
    class.install_action("window.new-pane", None, |window, _, _| {
        window.ask_for_pane(None)
    });
    class.install_action("window.split-right", None, |window, _, _| {
        window.ask_for_pane(Some(SplitDirection::Right));
    });
    class.install_action("window.split-down", None, |window, _, _| {
        window.ask_for_pane(Some(SplitDirection::Down))
    });
    class.install_action("window.close-pane", None, |window, _, _| {
        if let Some(pane) = window.imp().panes.current().and_then(|view| view.pane()) {
            window.ask_to_close(&pane);
        }
    });
    class.install_action("window.jump", None, |window, _, _| window.jump());
    class.install_action("window.reply", None, |window, _, _| {
        window.with_current(PaneView::focus_reply)
    });
    class.install_action("window.next-tab", None, |window, _, _| {
        window.imp().panes.turn(1)
    });
    class.install_action("window.previous-tab", None, |window, _, _| {
        window.imp().panes.turn(-1)
    });
    class.install_action("window.copy", None, |window, _, _| {
        window.with_current(PaneView::copy)
    });
    class.install_action("window.paste", None, |window, _, _| {
        window.with_current(PaneView::paste)
    });
    class.install_action("window.sidebar", None, |window, _, _| {
        let flap = &window.imp().flap;
        flap.set_reveal_flap(!flap.reveals_flap());
    });
    class.install_action("window.shortcuts", None, |window, _, _| {
        super::shortcuts::show(window)
    });
    class.install_action("window.about", None, |window, _, _| window.show_about());
}

impl Window {
    /// The window over a workspace.
    pub fn new(application: &adw::Application, workspace: &WorkspaceObject) -> Self {
        let window: Self = glib::Object::builder()
            .property("application", application)
            .build();
        // A fresh cell takes its first value.
        let _ = window.imp().workspace.set(workspace.clone());
        window.build(workspace);
        window
    }

    /// Shows a pane, now or as soon as it is there.
    pub fn show_pane(&self, id: &PaneId, why: Shown) {
        let there = self
            .workspace()
            .is_some_and(|workspace| workspace.pane(id).is_some());
        if there {
            self.imp().awaited.take();
            self.imp().panes.show_pane(id, why);
        } else {
            self.imp().awaited.replace(Some((id.clone(), why)));
        }
    }

    /// Whether a person can be taken to see that pane now.
    pub fn sees(&self, id: &PaneId) -> bool {
        self.is_active() && self.is_visible() && self.imp().panes.is_in_sight(id)
    }

    /// Tells something in passing.
    pub fn tell(&self, message: &str) {
        let toast = adw::Toast::new(&glib::markup_escape_text(message));
        toast.set_timeout(TOAST_SECONDS);
        self.imp().toasts.add_toast(toast);
    }

    fn workspace(&self) -> Option<WorkspaceObject> {
        self.imp().workspace.get().cloned()
    }

    fn build(&self, workspace: &WorkspaceObject) {
        let imp = self.imp();
        imp.tab_place.append(imp.panes.bar());
        imp.panes.follow(workspace);
        imp.sidebar.follow(workspace);
        self.add_controller(shortcuts());
        self.add_controller(self.chords());
        imp.sidebar.connect_chosen(clone!(
            #[weak(rename_to = window)]
            self,
            move |pane| {
                window.show_pane(&pane.id(), Shown::Chosen);
                if window.imp().flap.is_folded() {
                    window.imp().flap.set_reveal_flap(false);
                }
            }
        ));
        imp.sidebar.connect_browsed(clone!(
            #[weak(rename_to = window)]
            self,
            move |pane| window.show_pane(&pane.id(), Shown::Browsed)
        ));
        imp.panes.connect_current_changed(clone!(
            #[weak(rename_to = window)]
            self,
            move || window.current_changed()
        ));
        imp.panes.connect_close_asked(clone!(
            #[weak(rename_to = window)]
            self,
            move |pane| window.ask_to_close(pane)
        ));
        workspace.panes().connect_items_changed(clone!(
            #[weak(rename_to = window)]
            self,
            move |_, _, _, _| window.panes_changed()
        ));
        let banner = || {
            clone!(
                #[weak(rename_to = window)]
                self,
                move |_: &WorkspaceObject| window.show_banner()
            )
        };
        workspace.connect_connection_notify(banner());
        workspace.connect_trouble_notify(banner());
        workspace.connect_inside_notify(banner());
        workspace.connect_asking_notify(clone!(
            #[weak(rename_to = window)]
            self,
            move |_| window.show_count()
        ));
        workspace.connect_local(
            "needs-changed",
            false,
            clone!(
                #[weak(rename_to = window)]
                self,
                #[upgrade_or]
                None,
                move |_| {
                    window.mark_seen();
                    None
                }
            ),
        );
        workspace.connect_told(clone!(
            #[weak(rename_to = window)]
            self,
            move |message| window.tell(message)
        ));
        self.connect_is_active_notify(|window| {
            if !window.is_active() {
                window.imp().panes.lost_keyboard();
            }
            window.mark_seen();
        });
        // Folded it lies over the panes: it comes when it is called.
        imp.banner_close.connect_clicked(clone!(
            #[weak(rename_to = window)]
            self,
            move |_| {
                let imp = window.imp();
                imp.hidden_message
                    .replace(Some(imp.banner_label.text().into()));
                window.reveal_banner(false);
            }
        ));
        imp.flap
            .connect_folded_notify(|flap| flap.set_reveal_flap(!flap.is_folded()));
        self.panes_changed();
        self.show_banner();
        self.show_count();
    }

    /// The keys that answer are watched from the window: where they were pressed matters as much as when.
    fn chords(&self) -> gtk::EventControllerKey {
        let keys = gtk::EventControllerKey::new();
        keys.set_propagation_phase(gtk::PropagationPhase::Capture);
        keys.connect_key_pressed(clone!(
            #[weak(rename_to = window)]
            self,
            #[upgrade_or]
            glib::Propagation::Proceed,
            move |_, key, code, state| window.imp().panes.key_pressed(key, code, state).into()
        ));
        keys.connect_key_released(clone!(
            #[weak(rename_to = window)]
            self,
            move |_, _, code, _| window.imp().panes.key_released(code)
        ));
        keys
    }

    fn with_current(&self, call: impl FnOnce(&PaneView)) {
        if let Some(view) = self.imp().panes.current() {
            call(&view);
        }
    }

    fn panes_changed(&self) {
        let imp = self.imp();
        let any = self
            .workspace()
            .is_some_and(|workspace| workspace.panes().n_items() > 0);
        imp.stack
            .set_visible_child_name(if any { "panes" } else { "empty" });
        imp.tab_place.set_visible(any);
        for action in [
            "window.close-pane",
            "window.split-right",
            "window.split-down",
            "window.copy",
            "window.paste",
        ] {
            self.action_set_enabled(action, any);
        }
        let awaited = imp.awaited.borrow().clone();
        if let Some((id, why)) = awaited {
            self.show_pane(&id, why);
        }
    }

    fn current_changed(&self) {
        let imp = self.imp();
        if let Some((pane, handlers)) = imp.titled.take() {
            for handler in handlers {
                pane.disconnect(handler);
            }
        }
        let pane = imp.panes.current().and_then(|view| view.pane());
        imp.sidebar
            .select(pane.as_ref().map(PaneObject::id).as_ref());
        if let Some(pane) = pane {
            let titled = || {
                clone!(
                    #[weak(rename_to = window)]
                    self,
                    move |_: &PaneObject| window.show_title()
                )
            };
            let handlers = vec![
                pane.connect_title_notify(titled()),
                pane.connect_place_notify(titled()),
            ];
            imp.titled.replace(Some((pane, handlers)));
        }
        self.show_title();
        self.mark_seen();
    }

    fn show_title(&self) {
        let imp = self.imp();
        let titled = imp.titled.borrow();
        let (title, place) = titled.as_ref().map_or_else(
            || ("SignalTTY".into(), String::new()),
            |(pane, _)| (pane.title(), pane.place()),
        );
        imp.title.set_title(&title);
        imp.title.set_subtitle(&place);
        self.set_title(Some(&format!("{title} · SignalTTY")));
    }

    fn show_count(&self) {
        let asking = self.workspace().map_or(0, |workspace| workspace.asking());
        let jump = &self.imp().jump;
        jump.set_visible(asking > 0);
        self.imp().jump_count.set_text(&asking.to_string());
        let name = if asking == 1 {
            "1 pane asks".to_owned()
        } else {
            format!("{asking} panes ask")
        };
        jump.update_property(&[gtk::accessible::Property::Label(&name)]);
    }

    fn show_banner(&self) {
        let imp = self.imp();
        let Some(workspace) = self.workspace() else {
            return;
        };
        let trouble = workspace.trouble();
        let message = match workspace.connection() {
            Connection::Connected if workspace.inside() => Some(
                "This window was started inside a pane, so it cannot answer. Start it from outside to answer.".into(),
            ),
            Connection::Connected => None,
            Connection::Connecting | Connection::Lost if !trouble.is_empty() => {
                Some(format!("No connection to the host: {}. Trying again.", text::line(&trouble)))
            }
            Connection::Connecting => None,
            // A host that is replaced is back before anybody needs to know.
            Connection::Lost if !imp.lost_for_long.get() => {
                self.wait_for_host();
                return;
            }
            Connection::Lost => Some("The connection to the host was lost. Connecting again…".into()),
        };
        if message.is_none() {
            imp.hidden_message.take();
        }
        let message =
            message.filter(|message| imp.hidden_message.borrow().as_ref() != Some(message));
        if let Some(message) = &message {
            imp.banner_label.set_text(message);
        }
        self.reveal_banner(message.is_some());
        imp.lost_for_long.set(false);
        for view in imp.panes.all() {
            view.set_connected(workspace.connection() == Connection::Connected);
        }
    }

    /// Says that the host is lost if it stays so.
    fn wait_for_host(&self) {
        glib::timeout_add_local_once(
            RECONNECT,
            clone!(
                #[weak(rename_to = window)]
                self,
                move || {
                    let lost = window
                        .workspace()
                        .is_some_and(|workspace| workspace.connection() == Connection::Lost);
                    window.imp().lost_for_long.set(lost);
                    if lost {
                        window.show_banner();
                    }
                }
            ),
        );
    }

    /// While it is hidden it takes no clicks from what lies under it.
    fn reveal_banner(&self, reveal: bool) {
        let banner = &self.imp().banner;
        // From its button the keyboard must not fall into a terminal.
        let has_keyboard = RootExt::focus(self).is_some_and(|focus| focus.is_ancestor(&**banner));
        if !reveal && has_keyboard {
            self.with_current(PaneView::rest);
        }
        banner.set_can_target(reveal);
        banner.set_reveal_child(reveal);
    }

    fn jump(&self) {
        let Some(workspace) = self.workspace() else {
            return;
        };
        let current = self.imp().panes.current().and_then(|view| view.pane_id());
        match workspace.next_waiting(current.as_ref()) {
            Some(pane) => self.show_pane(&pane.id(), Shown::Chosen),
            None => self.error_bell(),
        }
    }

    /// A pane that a person looks at has nothing unread; that is all that looking changes.
    fn mark_seen(&self) {
        // From inside a pane it may not.
        let Some(workspace) = self.workspace().filter(|workspace| !workspace.inside()) else {
            return;
        };
        let Some(bridge) = workspace.bridge() else {
            return;
        };
        for view in self.imp().panes.all() {
            let Some(pane) = view.pane() else { continue };
            if !pane.data().attention.contains(&Attention::Unread) || !self.sees(&pane.id()) {
                continue;
            }
            // Every event comes by here; one call says it all.
            if !self.imp().marking.borrow_mut().insert(pane.id()) {
                continue;
            }
            let bridge = bridge.clone();
            glib::spawn_future_local(clone!(
                #[weak(rename_to = window)]
                self,
                async move {
                    let pane_id = pane.id();
                    let params = PaneParams {
                        pane_id: pane_id.clone(),
                    };
                    if let Err(error) = bridge.call::<PaneMarkSeen>(params).await {
                        tracing::debug!(%error, "a pane could not be marked as seen");
                    }
                    window.imp().marking.borrow_mut().remove(&pane_id);
                }
            ));
        }
    }

    fn tell_failure(&self, what: &str, error: Option<ClientError>) {
        if let Some(error) = error {
            self.tell(&format!("{what}: {}", text::line(&error.to_string())));
        }
    }

    fn show_about(&self) {
        let about = adw::AboutWindow::builder()
            .application_name("SignalTTY")
            .application_icon(crate::application::ID)
            .version(env!("CARGO_PKG_VERSION"))
            .comments(env!("CARGO_PKG_DESCRIPTION"))
            .license_type(gtk::License::MitX11)
            .transient_for(self)
            .modal(true)
            .build();
        about.present();
    }
}

/// How long something told in passing stays, in seconds.
const TOAST_SECONDS: u32 = 6;

/// The keys of the window, ahead of the terminal, which would take most of them.
fn shortcuts() -> gtk::ShortcutController {
    let controller = gtk::ShortcutController::new();
    controller.set_propagation_phase(gtk::PropagationPhase::Capture);
    for (action, keys, _) in SHORTCUTS {
        controller.add_shortcut(gtk::Shortcut::new(
            gtk::ShortcutTrigger::parse_string(keys),
            Some(gtk::NamedAction::new(action)),
        ));
    }
    controller
}
