//! All panes, their arrangement, and the connection to the host that owns them.
//!
//! The one place where the host's events become properties and signals. Holds no state of its own that
//! matters: after a reconnect the host's snapshot says how it is.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::OnceLock;

use gtk::gio::{self, prelude::*};
use gtk::glib::{self, Properties, subclass::Signal, subclass::prelude::*};
use signaltty_core::model::{Decision, DecisionId, Layout, Pane, PaneId};
use signaltty_core::protocol::method::LayoutSet;
use signaltty_core::protocol::params::LayoutReply;
use signaltty_core::protocol::{ClearReason, DecisionCleared, DecisionCreated, Event, Snapshot};

use super::{DecisionObject, PaneObject, Stage};
use crate::bridge::{Bridge, Update};
use crate::rules::missing::{self, Missing};
use crate::rules::order;
use crate::words::{self, Outcome, Tone};

/// How the connection to the host stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, glib::Enum)]
#[enum_type(name = "SignalttyConnection")]
pub enum Connection {
    /// The first attempt is under way.
    #[default]
    Connecting,
    /// The host answers.
    Connected,
    /// It was lost, and is tried again.
    Lost,
}

mod imp {
    use super::*;

    #[derive(Debug, Properties)]
    #[properties(wrapper_type = super::WorkspaceObject)]
    pub struct WorkspaceObject {
        /// How the connection stands.
        #[property(get, builder(Connection::default()))]
        pub connection: Cell<Connection>,
        /// Why there is no connection, for people; empty while nothing is wrong.
        #[property(get)]
        pub trouble: RefCell<String>,
        /// Whether this window runs inside a pane: then the host takes no answer from it.
        #[property(get)]
        pub inside: Cell<bool>,
        /// How many panes ask.
        #[property(get)]
        pub asking: Cell<u32>,
        /// All panes, as they were opened.
        #[property(get)]
        pub panes: gio::ListStore,
        pub by_id: RefCell<HashMap<PaneId, super::PaneObject>>,
        pub layout: RefCell<Layout>,
        pub bridge: OnceCell<Rc<Bridge>>,
        /// The run of the host that the state is of; empty before the first.
        pub epoch: RefCell<String>,
        /// Decisions that a host which was started anew does not have yet, and when they are given up.
        pub awaited: RefCell<HashMap<DecisionId, glib::SourceId>>,
    }

    impl Default for WorkspaceObject {
        fn default() -> Self {
            Self {
                connection: Cell::default(),
                trouble: RefCell::default(),
                inside: Cell::default(),
                asking: Cell::default(),
                panes: gio::ListStore::new::<super::PaneObject>(),
                by_id: RefCell::default(),
                layout: RefCell::default(),
                bridge: OnceCell::new(),
                epoch: RefCell::default(),
                awaited: RefCell::default(),
            }
        }
    }

    #[glib::object_subclass]
    impl ObjectSubclass for WorkspaceObject {
        const NAME: &'static str = "SignalttyWorkspace";
        type Type = super::WorkspaceObject;
    }

    #[glib::derived_properties]
    impl ObjectImpl for WorkspaceObject {
        fn dispose(&self) {
            for (_, timer) in self.awaited.take() {
                timer.remove();
            }
        }

        fn signals() -> &'static [Signal] {
            static SIGNALS: OnceLock<Vec<Signal>> = OnceLock::new();
            SIGNALS.get_or_init(|| {
                vec![
                    // A decision became pending: its pane, the decision.
                    Signal::builder("asked")
                        .param_types([
                            super::PaneObject::static_type(),
                            DecisionObject::static_type(),
                        ])
                        .build(),
                    // A decision is no longer pending: its id.
                    Signal::builder("ended")
                        .param_types([String::static_type()])
                        .build(),
                    // The order of the panes or their needs may be different.
                    Signal::builder("needs-changed").build(),
                    // The arrangement is different.
                    Signal::builder("layout-changed").build(),
                    // Something to tell a person in passing.
                    Signal::builder("told")
                        .param_types([String::static_type()])
                        .build(),
                ]
            })
        }
    }
}

glib::wrapper! {
    /// The workspace.
    pub struct WorkspaceObject(ObjectSubclass<imp::WorkspaceObject>);
}

impl WorkspaceObject {
    /// A workspace over a bridge, fed by its updates.
    pub fn new(bridge: Bridge, updates: async_channel::Receiver<Update>) -> Self {
        let workspace: Self = glib::Object::new();
        // A fresh cell takes its first value.
        let _ = workspace.imp().bridge.set(Rc::new(bridge));
        let weak = workspace.downgrade();
        glib::spawn_future_local(async move {
            while let Ok(update) = updates.recv().await {
                let Some(workspace) = weak.upgrade() else {
                    break;
                };
                workspace.apply(update);
            }
        });
        workspace
    }

    /// The way to the host.
    pub fn bridge(&self) -> Option<Rc<Bridge>> {
        self.imp().bridge.get().cloned()
    }

    /// The pane of that id.
    pub fn pane(&self, id: &PaneId) -> Option<PaneObject> {
        self.imp().by_id.borrow().get(id).cloned()
    }

    /// All panes, as they were opened.
    pub fn all(&self) -> Vec<PaneObject> {
        self.imp()
            .panes
            .iter::<PaneObject>()
            .filter_map(Result::ok)
            .collect()
    }

    /// The host's arrangement.
    pub fn layout(&self) -> Layout {
        self.imp().layout.borrow().clone()
    }

    /// Arranges the panes; the host says so to everybody, this window too.
    pub fn set_layout(&self, layout: Layout) {
        let Some(bridge) = self.bridge() else { return };
        let weak = self.downgrade();
        glib::spawn_future_local(async move {
            let set = bridge.call::<LayoutSet>(LayoutReply { layout }).await;
            if let (Err(error), Some(workspace)) = (set, weak.upgrade()) {
                workspace.tell(&format!(
                    "The arrangement was not kept: {}",
                    crate::text::line(&error.to_string())
                ));
                // What is on screen is not what the host has.
                workspace.emit_by_name::<()>("layout-changed", &[]);
            }
        });
    }

    /// The pane that has waited longest, or the next after `current`.
    pub fn next_waiting(&self, current: Option<&PaneId>) -> Option<PaneObject> {
        let places: Vec<_> = self.all().iter().map(PaneObject::place_among).collect();
        order::next_waiting(&places, current).and_then(|id| self.pane(&id))
    }

    /// Connects to "asked".
    pub fn connect_asked(&self, call: impl Fn(&PaneObject, &DecisionObject) + 'static) {
        self.connect_local("asked", false, move |values| {
            let pane = values.get(1)?.get::<PaneObject>().ok()?;
            let decision = values.get(2)?.get::<DecisionObject>().ok()?;
            call(&pane, &decision);
            None
        });
    }

    /// Connects to "ended".
    pub fn connect_ended(&self, call: impl Fn(&DecisionId) + 'static) {
        self.connect_local("ended", false, move |values| {
            let id = values.get(1)?.get::<String>().ok()?;
            call(&DecisionId::from_trusted(id));
            None
        });
    }

    /// Connects to "told".
    pub fn connect_told(&self, call: impl Fn(&str) + 'static) {
        self.connect_local("told", false, move |values| {
            let message = values.get(1)?.get::<String>().ok()?;
            call(&message);
            None
        });
    }

    /// Tells a person something in passing.
    pub fn tell(&self, message: &str) {
        self.emit_by_name::<()>("told", &[&message]);
    }

    fn apply(&self, update: Update) {
        match update {
            Update::Connected(hello, snapshot) => {
                self.set_inside(hello.inside);
                if let Some(snapshot) = snapshot {
                    self.replace(snapshot);
                }
                self.set_connection(Connection::Connected, String::new());
            }
            Update::Lost => self.set_connection(Connection::Lost, String::new()),
            Update::Unreachable(why) => self.set_connection(Connection::Lost, why),
            Update::Event(event) => self.happened(*event),
        }
        self.count();
    }

    fn happened(&self, event: Event) {
        match event {
            Event::PaneCreated { pane } => self.put(pane, false),
            Event::PaneUpdated { pane } => match self.pane(&pane.id) {
                // Decisions have events of their own, which say how one ended; these say the rest.
                Some(object) => object.update_but_decision(pane),
                None => self.put(pane, false),
            },
            Event::PaneExited { pane_id, exit } => {
                if let Some(pane) = self.pane(&pane_id) {
                    pane.exited(exit);
                }
            }
            Event::PaneClosed { pane_id } => self.remove(&pane_id),
            Event::DecisionCreated(created) => self.asked(created),
            Event::DecisionUpdated { decision } => {
                if let Some(pane) = self.pane(&decision.pane_id) {
                    pane.ask(decision);
                }
            }
            Event::DecisionCleared(cleared) => self.cleared(&cleared),
            Event::LayoutChanged { layout } => {
                self.imp().layout.replace(layout);
                self.emit_by_name::<()>("layout-changed", &[]);
            }
            Event::HostWarning { message } => self.tell(&crate::text::line(&message)),
            Event::Resync(snapshot) => self.replace(snapshot),
            Event::AgentNotification { .. } | Event::ConfigChanged { .. } => {}
        }
    }

    /// The whole state: what is not in it is gone.
    fn replace(&self, snapshot: Snapshot) {
        let gone: Vec<PaneId> = {
            let by_id = self.imp().by_id.borrow();
            by_id
                .keys()
                .filter(|id| !snapshot.panes.iter().any(|pane| &pane.id == *id))
                .cloned()
                .collect()
        };
        for id in gone {
            self.remove(&id);
        }
        self.imp().layout.replace(snapshot.layout);
        let known = self.imp().epoch.replace(snapshot.epoch.clone());
        let other_run = missing::is_other_run(&known, &snapshot.epoch);
        for pane in snapshot.panes {
            self.put(pane, other_run);
        }
        self.emit_by_name::<()>("layout-changed", &[]);
    }

    /// A pane as it is now. `other_run`: as another run of the host has it than before.
    fn put(&self, pane: Pane, other_run: bool) {
        let Some(object) = self.pane(&pane.id) else {
            let id = pane.id.clone();
            let object = PaneObject::new(pane);
            self.imp().by_id.borrow_mut().insert(id, object.clone());
            self.imp().panes.append(&object);
            if let Some(decision) = object.decision() {
                self.emit_by_name::<()>("asked", &[&object, &decision]);
            }
            return;
        };
        let before = object.decision();
        if let Some((decision, data)) = before
            .as_ref()
            .and_then(|before| Some((before, before.data()?)))
        {
            let now = pane.decision.as_ref().map(|decision| &decision.id);
            if now != Some(&data.id) {
                let awaited = decision.stage() == Stage::Away;
                let over = now.is_some() || pane.exit.is_some();
                match missing::of(other_run, awaited, over) {
                    Missing::Awaited => {
                        object.update_while_away(pane);
                        if other_run {
                            self.await_back(&data);
                        }
                        return;
                    }
                    // Its end was missed with the connection.
                    Missing::Ended => self.end(&data, ended_meanwhile()),
                }
            }
        }
        object.update(pane);
        self.announce(&object, before.as_ref());
    }

    /// Waits for the hook of a decision to come back to a host that was started anew.
    fn await_back(&self, decision: &Decision) {
        let weak = self.downgrade();
        let (pane_id, id) = (decision.pane_id.clone(), decision.id.clone());
        let timer = glib::timeout_add_local_once(missing::BACK_WITHIN, move || {
            let Some(workspace) = weak.upgrade() else {
                return;
            };
            workspace.imp().awaited.borrow_mut().remove(&id);
            let decision = workspace
                .pane(&pane_id)
                .and_then(|pane| pane.decision())
                .filter(|decision| decision.is(&id) && decision.stage() == Stage::Away);
            if let Some(data) = decision.as_ref().and_then(DecisionObject::data) {
                workspace.end(&data, ended_meanwhile());
                workspace.count();
            }
        });
        let before = self
            .imp()
            .awaited
            .borrow_mut()
            .insert(decision.id.clone(), timer);
        if let Some(before) = before {
            before.remove();
        }
    }

    fn remove(&self, id: &PaneId) {
        let Some(pane) = self.imp().by_id.borrow_mut().remove(id) else {
            return;
        };
        if let Some(data) = pane.decision().as_ref().and_then(DecisionObject::data) {
            self.end_of(&pane, &data, words::of_reason(ClearReason::PaneExited));
        }
        if let Some(at) = self.imp().panes.find(&pane) {
            self.imp().panes.remove(at);
        }
    }

    fn asked(&self, created: DecisionCreated) {
        let Some(pane) = self.pane(&created.decision.pane_id) else {
            return;
        };
        let before = pane.decision();
        if let Some(data) = before.as_ref().and_then(DecisionObject::data) {
            if data.id != created.decision.id {
                let outcome = created
                    .prev_reason
                    .map_or_else(words::superseded, words::of_reason);
                self.end(&data, outcome);
            }
        }
        pane.ask(created.decision);
        self.announce(&pane, before.as_ref());
    }

    fn cleared(&self, cleared: &DecisionCleared) {
        let Some(pane) = self.pane(&cleared.pane_id) else {
            return;
        };
        let Some(decision) = pane
            .decision()
            .filter(|decision| decision.is(&cleared.decision_id))
        else {
            return;
        };
        let Some(data) = decision.data() else { return };
        let ours = decision.sent_by(cleared.via.as_deref());
        self.end(&data, words::ended(cleared, ours));
    }

    fn end(&self, decision: &Decision, outcome: Outcome) {
        if let Some(pane) = self.pane(&decision.pane_id) {
            self.end_of(&pane, decision, outcome);
        }
    }

    fn end_of(&self, pane: &PaneObject, decision: &Decision, outcome: Outcome) {
        pane.end(&decision.id, outcome);
        self.emit_by_name::<()>("ended", &[&decision.id.as_str()]);
    }

    /// Says so once if the pane's pending decision is a different one than before.
    fn announce(&self, pane: &PaneObject, before: Option<&DecisionObject>) {
        if let Some(decision) = pane.decision() {
            if before != Some(&decision) {
                self.emit_by_name::<()>("asked", &[pane, &decision]);
            }
        }
    }

    fn count(&self) {
        let asking = self
            .all()
            .iter()
            .filter(|pane| pane.decision().is_some())
            .count();
        let asking = u32::try_from(asking).unwrap_or(u32::MAX);
        if self.imp().asking.replace(asking) != asking {
            self.notify_asking();
        }
        self.emit_by_name::<()>("needs-changed", &[]);
    }

    fn set_inside(&self, inside: bool) {
        if self.imp().inside.replace(inside) != inside {
            self.notify_inside();
        }
    }

    fn set_connection(&self, connection: Connection, trouble: String) {
        if self.imp().trouble.replace(trouble.clone()) != trouble {
            self.notify_trouble();
        }
        if self.imp().connection.replace(connection) != connection {
            self.notify_connection();
        }
    }
}

/// That a decision ended while there was no connection that could have said how.
fn ended_meanwhile() -> Outcome {
    Outcome {
        tone: Tone::Plain,
        text: "It ended meanwhile".into(),
    }
}
