//! Our own client of the desktop's notification service, over gio's D-Bus.
//!
//! Not `GNotification`: its actions are exported on the bus, where any process of the session, an agent too,
//! could invoke them. Here an action comes as a signal, and counts only from the owner of the service's name,
//! for a notification that we showed, for the decision that it carries, while that is pending (specs/030).

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::time::Duration;

use adw::prelude::*;
use gtk::gio;
use gtk::glib::{self, clone, variant::ToVariant};
use signaltty_core::answer::Answer;
use signaltty_core::limits::GUARD;
use signaltty_core::model::{DecisionId, PaneId, Polarity};

use crate::application::ID;
use crate::model::{DecisionObject, PaneObject, Stage, Via, WorkspaceObject};
use crate::rules::keyboard;
use crate::rules::notice::{self, Capabilities, Notice};
use crate::view::Window;

const NAME: &str = "org.freedesktop.Notifications";
const PATH: &str = "/org/freedesktop/Notifications";
/// Longest wait for the service, in milliseconds.
const CALL_MAX: i32 = 5_000;
/// Ended notifications that are remembered, so that a late action can be told that it is late.
const ENDED_MAX: usize = 64;

/// Shows notifications of decisions nobody looks at, and takes their answers.
#[derive(Debug)]
pub struct Notifier {
    workspace: WorkspaceObject,
    /// The window, once there is one.
    window: RefCell<Option<Window>>,
    bus: gio::DBusConnection,
    /// Unique name of the present owner of the service's name.
    owner: RefCell<Option<String>>,
    /// What the present owner can do, once it said so.
    server: Cell<Option<Capabilities>>,
    /// Notifications by the server's number.
    shown: RefCell<HashMap<u32, Shown>>,
    /// Numbers of those whose decision ended, oldest first.
    ended: RefCell<VecDeque<u32>>,
}

/// One notification.
#[derive(Debug)]
struct Shown {
    pane: PaneId,
    decision: DecisionId,
    /// What the names of its actions carry, so that none but this notification's count.
    nonce: String,
    /// When it was shown, on the monotonic clock.
    since: Duration,
    /// What lets our window come to the front, if the server gave it to us.
    token: Option<String>,
}

fn now() -> Duration {
    Duration::from_micros(u64::try_from(glib::monotonic_time()).unwrap_or(0))
}

impl Notifier {
    /// Follows a workspace on the session bus. Without such a bus there are no notifications.
    pub async fn start(workspace: WorkspaceObject) -> Option<Rc<Self>> {
        let bus = match gio::bus_get_future(gio::BusType::Session).await {
            Ok(bus) => bus,
            Err(error) => {
                tracing::info!(%error, "no session bus, so no notifications");
                return None;
            }
        };
        let notifier = Rc::new(Self {
            workspace: workspace.clone(),
            window: RefCell::default(),
            bus: bus.clone(),
            owner: RefCell::default(),
            server: Cell::default(),
            shown: RefCell::default(),
            ended: RefCell::default(),
        });
        notifier.watch_owner();
        notifier.watch_signals();
        workspace.connect_asked(clone!(
            #[weak]
            notifier,
            move |pane, decision| notifier.asked(pane, decision)
        ));
        workspace.connect_ended(clone!(
            #[weak]
            notifier,
            move |decision| notifier.decision_ended(decision)
        ));
        Some(notifier)
    }

    /// Names the window that tells whether a pane is in view.
    pub fn set_window(&self, window: Option<Window>) {
        self.window.replace(window);
    }

    /// Takes all notifications away as the program ends: there is nobody left to take their answers. Waits until
    /// that is on its way.
    pub fn close_all(&self) {
        let numbers: Vec<u32> = self
            .shown
            .borrow_mut()
            .drain()
            .map(|(number, _)| number)
            .collect();
        for number in numbers {
            self.close(number);
        }
        if let Err(error) = self.bus.flush_sync(gio::Cancellable::NONE) {
            tracing::debug!(%error, "the bus is gone");
        }
    }

    fn watch_owner(self: &Rc<Self>) {
        let appeared = clone!(
            #[weak(rename_to = notifier)]
            self,
            move |_: gio::DBusConnection, _: &str, owner: &str| notifier.owner_changed(Some(owner))
        );
        let vanished = clone!(
            #[weak(rename_to = notifier)]
            self,
            move |_: gio::DBusConnection, _: &str| notifier.owner_changed(None)
        );
        // Watched for as long as the program runs.
        let _ = gio::bus_watch_name_on_connection(
            &self.bus,
            NAME,
            gio::BusNameWatcherFlags::NONE,
            appeared,
            vanished,
        );
    }

    /// Another server, or none: it knows nothing of what the former showed.
    fn owner_changed(&self, owner: Option<&str>) {
        self.owner.replace(owner.map(str::to_owned));
        self.server.set(None);
        self.shown.borrow_mut().clear();
        self.ended.borrow_mut().clear();
    }

    fn watch_signals(self: &Rc<Self>) {
        for signal in ["ActionInvoked", "ActivationToken", "NotificationClosed"] {
            let weak = Rc::downgrade(self);
            #[expect(deprecated, reason = "the successor unsubscribes with a guard; this is for as long as the program runs")]
            let _ = self.bus.signal_subscribe(
                Some(NAME),
                Some(NAME),
                Some(signal),
                Some(PATH),
                None,
                gio::DBusSignalFlags::NONE,
                move |_, sender, _, _, signal, parameters| {
                    let Some(notifier) = weak.upgrade() else { return };
                    // A process may send a signal of that interface to us alone, under its own name.
                    if notifier.owner.borrow().as_deref() == Some(sender) {
                        notifier.signalled(signal, parameters);
                    } else {
                        tracing::warn!(%sender, %signal, "a signal that is not the notification service's");
                    }
                },
            );
        }
    }

    fn signalled(self: &Rc<Self>, signal: &str, parameters: &glib::Variant) {
        match signal {
            "ActionInvoked" => {
                if let Some((number, action)) = parameters.get::<(u32, String)>() {
                    self.invoked(number, &action);
                }
            }
            "ActivationToken" => {
                if let Some((number, token)) = parameters.get::<(u32, String)>() {
                    if let Some(shown) = self.shown.borrow_mut().get_mut(&number) {
                        shown.token = Some(token);
                    }
                }
            }
            // What an action of it says stays known: some servers close first and tell of the action then.
            _ => {
                if let Some((number, _)) = parameters.get::<(u32, u32)>() {
                    self.remember_ended(number);
                }
            }
        }
    }

    fn asked(self: &Rc<Self>, pane: &PaneObject, decision: &DecisionObject) {
        let in_view = self
            .window
            .borrow()
            .as_ref()
            .is_some_and(|window| window.sees(&pane.id()));
        let Some(data) = decision.data().filter(|_| !in_view) else {
            return;
        };
        glib::spawn_future_local(clone!(
            #[strong(rename_to = notifier)]
            self,
            #[strong]
            pane,
            #[strong]
            decision,
            async move {
                let server = notifier.capabilities().await;
                if decision.stage() == Stage::Ended {
                    return;
                }
                let nonce = glib::uuid_string_random().to_string();
                let notice = notice::of_decision(&data, &pane.title(), server, &nonce);
                let Some(number) = notifier.notify(&notice).await else {
                    return;
                };
                let shown = Shown {
                    pane: pane.id(),
                    decision: data.id.clone(),
                    nonce,
                    since: now(),
                    token: None,
                };
                notifier.shown.borrow_mut().insert(number, shown);
                // It ended while the server was being told.
                if decision.stage() == Stage::Ended
                    || !pane.decision().is_some_and(|now| now.is(&data.id))
                {
                    notifier.close(number);
                }
            }
        ));
    }

    fn decision_ended(&self, id: &DecisionId) {
        let number = self
            .shown
            .borrow()
            .iter()
            .find(|(_, shown)| &shown.decision == id)
            .map(|(number, _)| *number);
        if let Some(number) = number {
            self.close(number);
        }
    }

    /// A person chose an action of a notification.
    fn invoked(self: &Rc<Self>, number: u32, action: &str) {
        // Every program of the session hears of every notification's actions.
        let Some((pane_id, decision_id, nonce, since, token)) =
            self.shown.borrow_mut().get_mut(&number).map(|shown| {
                (
                    shown.pane.clone(),
                    shown.decision.clone(),
                    shown.nonce.clone(),
                    shown.since,
                    shown.token.take(),
                )
            })
        else {
            return;
        };
        if action == notice::OPEN {
            return self.open(&pane_id, token.as_deref());
        }
        let Some((named, option_id)) =
            notice::read_name(&nonce, action).filter(|(named, _)| *named == decision_id)
        else {
            tracing::warn!(%action, "an action that this notification does not have");
            return;
        };
        let pane = self.workspace.pane(&pane_id);
        let decision = pane
            .as_ref()
            .and_then(PaneObject::decision)
            .filter(|decision| decision.is(&named));
        let data = decision.as_ref().and_then(DecisionObject::data);
        let (Some(pane), Some(decision), Some(data)) = (pane, decision, data) else {
            return self.say("That question has ended", "Nothing was sent.");
        };
        let Some(option) = data
            .option(&option_id)
            .filter(|_| data.answerable && decision.stage() == Stage::Pending)
        else {
            return self.say(
                "That can no longer be answered from here",
                "Nothing was sent.",
            );
        };
        // It appeared where a click was on its way already: looking is all that such a click can have meant.
        if option.polarity != Polarity::Refuses && now().saturating_sub(since) < GUARD {
            return self.open(&pane_id, token.as_deref());
        }
        let Some(bridge) = self.workspace.bridge() else {
            return;
        };
        let answer = Answer {
            option_id: Some(option.id.clone()),
            ..Answer::default()
        };
        glib::spawn_future_local(clone!(
            #[strong(rename_to = notifier)]
            self,
            async move {
                if !pane
                    .answer(&bridge, &decision, answer, Via::Notification)
                    .await
                {
                    notifier.say("The answer was not applied", &decision.note());
                }
            }
        ));
    }

    fn open(&self, pane: &PaneId, token: Option<&str>) {
        let Some(window) = self.window.borrow().clone() else {
            return;
        };
        if let Some(token) = token {
            window.set_startup_id(token);
        }
        window.show_pane(pane, keyboard::Shown::Chosen);
        window.present();
    }

    /// Says something on the window if that is looked at, else in a notification of its own.
    fn say(self: &Rc<Self>, summary: &str, body: &str) {
        if let Some(window) = self
            .window
            .borrow()
            .as_ref()
            .filter(|window| window.is_active())
        {
            return window.tell(&format!("{summary}. {body}"));
        }
        let (summary, body) = (summary.to_owned(), body.to_owned());
        glib::spawn_future_local(clone!(
            #[strong(rename_to = notifier)]
            self,
            async move {
                let server = notifier.capabilities().await;
                notifier
                    .notify(&notice::plain(&summary, &body, server))
                    .await;
            }
        ));
    }

    async fn capabilities(&self) -> Capabilities {
        if let Some(known) = self.server.get() {
            return known;
        }
        let reply = self.call("GetCapabilities", None, "(as)").await;
        let words = reply
            .and_then(|reply| reply.get::<(Vec<String>,)>())
            .map(|(words,)| words);
        let server = Capabilities::read(words.iter().flatten().map(String::as_str));
        if words.is_some() {
            self.server.set(Some(server));
        }
        server
    }

    /// Shows a notification. Its number, if the service took it.
    async fn notify(&self, notice: &Notice) -> Option<u32> {
        let actions: Vec<&str> = notice
            .actions
            .iter()
            .flat_map(|(name, label)| [name.as_str(), label.as_str()])
            .collect();
        let hints = HashMap::from([
            ("desktop-entry", ID.to_variant()),
            ("urgency", 1_u8.to_variant()),
        ]);
        let parameters = (
            "SignalTTY",
            0_u32,
            ID,
            &notice.summary,
            &notice.body,
            actions,
            hints,
            SERVERS_CHOICE,
        )
            .to_variant();
        self.call("Notify", Some(&parameters), "(u)")
            .await?
            .get::<(u32,)>()
            .map(|(number,)| number)
    }

    fn close(&self, number: u32) {
        self.remember_ended(number);
        let parameters = (number,).to_variant();
        let flags = gio::DBusCallFlags::NO_AUTO_START;
        // Sent now, not when the main loop comes to it: the program may be about to end.
        self.bus.call(
            Some(NAME),
            PATH,
            NAME,
            "CloseNotification",
            Some(&parameters),
            None,
            flags,
            CALL_MAX,
            gio::Cancellable::NONE,
            |closed| {
                if let Err(error) = closed {
                    tracing::debug!(%error, "a notification could not be closed");
                }
            },
        );
    }

    fn remember_ended(&self, number: u32) {
        let mut ended = self.ended.borrow_mut();
        if !ended.contains(&number) {
            ended.push_back(number);
        }
        while ended.len() > ENDED_MAX {
            if let Some(oldest) = ended.pop_front() {
                self.shown.borrow_mut().remove(&oldest);
            }
        }
    }

    async fn call(
        &self,
        method: &str,
        parameters: Option<&glib::Variant>,
        reply: &str,
    ) -> Option<glib::Variant> {
        let reply = glib::VariantTy::new(reply).ok();
        let flags = gio::DBusCallFlags::NONE;
        match self
            .bus
            .call_future(
                Some(NAME),
                PATH,
                NAME,
                method,
                parameters,
                reply,
                flags,
                CALL_MAX,
            )
            .await
        {
            Ok(reply) => Some(reply),
            Err(error) => {
                tracing::info!(%error, %method, "the notification service did not answer");
                None
            }
        }
    }
}

/// Expiry time that leaves it to the server how long a notification stays.
const SERVERS_CHOICE: i32 = -1;
