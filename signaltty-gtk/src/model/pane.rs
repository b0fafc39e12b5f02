//! A pane as the window knows it.

use std::cell::RefCell;
use std::rc::Rc;

use gtk::glib::{self, Properties, prelude::*, subclass::prelude::*};
use signaltty_core::answer::Answer;
use signaltty_core::model::{Decision, DecisionId, Exit, Lifecycle, Pane, PaneId};

use super::{DecisionObject, Stage, Via};
use crate::bridge::Bridge;
use crate::rules::order::{Need, Place};
use crate::text;
use crate::words::{self, Outcome, Tone};

mod imp {
    use super::*;

    #[derive(Debug, Default, Properties)]
    #[properties(wrapper_type = super::PaneObject)]
    pub struct PaneObject {
        /// Its title, safe to show.
        #[property(get)]
        pub title: RefCell<String>,
        /// What it does, in a few words.
        #[property(get)]
        pub state: RefCell<String>,
        /// Name of the icon that tells its state by shape.
        #[property(get)]
        pub icon: RefCell<String>,
        /// The agent and the folder, in one line.
        #[property(get)]
        pub place: RefCell<String>,
        /// The pending decision.
        #[property(get, nullable)]
        pub decision: RefCell<Option<DecisionObject>>,
        /// What became of the last decision, until something newer is to be said; empty where there is nothing.
        #[property(get)]
        pub outcome_text: RefCell<String>,
        pub outcome: RefCell<Option<Outcome>>,
        pub outcome_timer: RefCell<Option<glib::SourceId>>,
        pub data: RefCell<Option<Rc<Pane>>>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for PaneObject {
        const NAME: &'static str = "SignalttyPane";
        type Type = super::PaneObject;
    }

    #[glib::derived_properties]
    impl ObjectImpl for PaneObject {
        fn dispose(&self) {
            if let Some(timer) = self.outcome_timer.take() {
                timer.remove();
            }
        }
    }
}

glib::wrapper! {
    /// One pane. Its object is the same from `pane.created` to `pane.closed`, across reconnects too.
    pub struct PaneObject(ObjectSubclass<imp::PaneObject>);
}

/// How long the line on how a decision ended stays.
const OUTCOME_STAYS: std::time::Duration = std::time::Duration::from_secs(60);

impl PaneObject {
    /// The object of a pane.
    pub fn new(pane: Pane) -> Self {
        let object: Self = glib::Object::new();
        object.update(pane);
        object
    }

    /// The host's data.
    pub fn data(&self) -> Rc<Pane> {
        // Set by the constructor and never taken away.
        self.imp()
            .data
            .borrow()
            .clone()
            .unwrap_or_else(|| Rc::new(nothing()))
    }

    /// Its id.
    pub fn id(&self) -> PaneId {
        self.data().id.clone()
    }

    /// How much it needs a human.
    pub fn need(&self) -> Need {
        Need::of(&self.data())
    }

    /// Where it stands among the others.
    pub fn place_among(&self) -> Place {
        Place::of(&self.data())
    }

    /// Whether its program still runs.
    pub fn is_running(&self) -> bool {
        let data = self.data();
        data.terminal && data.exit.is_none() && data.lifecycle != Lifecycle::Exited
    }

    /// What became of the last decision.
    pub fn outcome(&self) -> Option<Outcome> {
        self.imp().outcome.borrow().clone()
    }

    /// The host says that it is different.
    pub fn update(&self, pane: Pane) {
        let decision = pane.decision.clone();
        self.set_data(pane);
        match decision {
            Some(decision) => self.ask(decision),
            None => self.set_decision(None),
        }
    }

    /// The host says that it is different, and a host that was started anew does not have its decision yet: that
    /// stays, and cannot be answered until it is back.
    pub fn update_while_away(&self, mut pane: Pane) {
        pane.decision.clone_from(&self.data().decision);
        self.set_data(pane);
        if let Some(decision) = self.decision() {
            decision.away();
        }
    }

    /// The host says that something other than its decision is different.
    pub fn update_but_decision(&self, mut pane: Pane) {
        pane.decision.clone_from(&self.data().decision);
        self.set_data(pane);
    }

    /// Its program ended.
    pub fn exited(&self, exit: Exit) {
        let mut pane = (*self.data()).clone();
        pane.exit = Some(exit);
        pane.lifecycle = Lifecycle::Exited;
        pane.pid = None;
        self.set_data(pane);
    }

    /// A decision is pending: a different one, or the same with other data.
    pub fn ask(&self, decision: Decision) {
        let current = self.decision();
        let mut pane = (*self.data()).clone();
        pane.decision = Some(decision.clone());
        pane.lifecycle = Lifecycle::Blocked;
        self.set_data(pane);
        match current {
            Some(current) if current.is(&decision.id) => {
                current.update(decision);
                current.back();
            }
            // What became of the last one stays to be read beside it.
            _ => self.set_decision(Some(DecisionObject::new(decision))),
        }
    }

    /// That decision ended. Says how, and takes it away if it is the pending one.
    pub fn end(&self, id: &DecisionId, outcome: Outcome) {
        let Some(decision) = self.decision().filter(|decision| decision.is(id)) else {
            return;
        };
        // That an answer of ours came too late says more than that the question ended.
        let told = match (decision.stage(), decision.outcome()) {
            (Stage::Ended, Some(refused)) if refused.tone != Tone::Good => refused,
            _ => outcome,
        };
        decision.end(told.clone());
        let mut pane = (*self.data()).clone();
        pane.decision = None;
        self.set_data(pane);
        // Said first: whoever hears that it ended finds how.
        self.say(Some(told));
        self.set_decision(None);
    }

    /// Sends an answer to the decision that it was meant for, whatever the pane shows by then. True: the host
    /// took it.
    pub async fn answer(
        &self,
        bridge: &Bridge,
        decision: &DecisionObject,
        answer: Answer,
        via: Via,
    ) -> bool {
        let taken = decision.answer(bridge, answer, via).await;
        // The question ended while the answer was on its way: why that one did nothing is said where it was, also
        // where another stands there by now.
        let gone = self.decision().as_ref() != Some(decision);
        if !taken && decision.stage() == Stage::Ended && gone {
            self.say(decision.outcome());
        }
        taken
    }

    /// Shows a line on what happened, or takes it away.
    pub fn say(&self, outcome: Option<Outcome>) {
        let imp = self.imp();
        if let Some(timer) = imp.outcome_timer.take() {
            timer.remove();
        }
        if outcome.is_some() {
            let weak = self.downgrade();
            let timer = glib::timeout_add_local_once(OUTCOME_STAYS, move || {
                if let Some(pane) = weak.upgrade() {
                    pane.imp().outcome_timer.take();
                    pane.say(None);
                }
            });
            imp.outcome_timer.replace(Some(timer));
        }
        let text = outcome
            .as_ref()
            .map(|outcome| outcome.text.clone())
            .unwrap_or_default();
        imp.outcome.replace(outcome);
        if imp.outcome_text.replace(text.clone()) != text {
            self.notify_outcome_text();
        }
    }

    fn set_decision(&self, decision: Option<DecisionObject>) {
        if *self.imp().decision.borrow() == decision {
            return;
        }
        self.imp().decision.replace(decision);
        self.notify_decision();
    }

    fn set_data(&self, pane: Pane) {
        let imp = self.imp();
        let title = text::line(&pane.title);
        let state = words::state(&pane);
        let icon = words::icon(Need::of(&pane)).to_owned();
        let place = place(&pane);
        imp.data.replace(Some(Rc::new(pane)));
        // One order for all: whoever hears of one property finds the others new as well.
        let title = imp.title.replace(title.clone()) != title;
        let icon = imp.icon.replace(icon.clone()) != icon;
        let place = imp.place.replace(place.clone()) != place;
        imp.state.replace(state);
        if title {
            self.notify_title();
        }
        if icon {
            self.notify_icon();
        }
        if place {
            self.notify_place();
        }
        // Always: it stands for "something of the pane is different".
        self.notify_state();
    }
}

/// The agent and the folder.
fn place(pane: &Pane) -> String {
    let home = glib::home_dir();
    let folder = match std::path::Path::new(&pane.cwd).strip_prefix(&home) {
        Ok(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Ok(rest) => format!("~/{}", rest.display()),
        Err(_) => pane.cwd.clone(),
    };
    let folder = text::line(&folder);
    match pane.agent.as_deref() {
        Some(agent) if !folder.is_empty() => format!("{} · {folder}", text::line(agent)),
        Some(agent) => text::line(agent),
        None => folder,
    }
}

fn nothing() -> Pane {
    Pane {
        id: PaneId::from_trusted("-"),
        title: String::new(),
        argv: Vec::new(),
        cwd: String::new(),
        pid: None,
        agent: None,
        session_id: None,
        size: signaltty_core::model::Size::DEFAULT,
        terminal: false,
        lifecycle: Lifecycle::Unknown,
        since: 0,
        attention: Default::default(),
        decision: None,
        queued: 0,
        opened_by: None,
        exit: None,
        created_at: 0,
    }
}
