//! A decision as the window knows it: the host's data, and how far our own answer to it has come.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use gtk::glib::{self, Properties, prelude::*, subclass::prelude::*};
use signaltty_core::answer::Answer;
use signaltty_core::model::{Decision, DecisionId};
use signaltty_core::protocol::method::DecisionAnswer;
use signaltty_core::protocol::params::DecisionAnswerParams;

use crate::bridge::Bridge;
use crate::words::{self, Outcome};

/// How far an answer of ours has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, glib::Enum)]
#[enum_type(name = "SignalttyStage")]
pub enum Stage {
    /// It waits for an answer.
    #[default]
    Pending,
    /// An answer of ours is on its way.
    Sending,
    /// The host was started anew and does not have it: its hook may be on the way back.
    Away,
    /// It ended, or our answer found it ended. Nothing can be sent any more.
    Ended,
}

/// By which way an answer of ours came, as the host records it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Via {
    /// A click, a chord or the reply entry.
    Window,
    /// An action of a notification.
    Notification,
}

impl Via {
    fn as_str(self) -> &'static str {
        match self {
            Self::Window => "window",
            Self::Notification => "notification",
        }
    }
}

mod imp {
    use super::*;

    #[derive(Debug, Default, Properties)]
    #[properties(wrapper_type = super::DecisionObject)]
    pub struct DecisionObject {
        /// How far our answer has come.
        #[property(get, builder(Stage::default()))]
        pub stage: Cell<Stage>,
        /// Whether it can be answered here; may be lowered while it is pending.
        #[property(get)]
        pub answerable: Cell<bool>,
        /// What a person should know of our answer: that it is on its way, or what went wrong.
        #[property(get)]
        pub note: RefCell<String>,
        pub outcome: RefCell<Option<Outcome>>,
        pub data: RefCell<Option<Rc<Decision>>>,
        /// By which way this window sent its answer.
        pub sent: Cell<Option<Via>>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for DecisionObject {
        const NAME: &'static str = "SignalttyDecision";
        type Type = super::DecisionObject;
    }

    #[glib::derived_properties]
    impl ObjectImpl for DecisionObject {}
}

glib::wrapper! {
    /// One decision. Lives from its `decision.created` until nothing shows it any more.
    pub struct DecisionObject(ObjectSubclass<imp::DecisionObject>);
}

impl DecisionObject {
    /// The object of a decision.
    pub fn new(decision: Decision) -> Self {
        let object: Self = glib::Object::new();
        object.imp().answerable.set(decision.answerable);
        object.imp().data.replace(Some(Rc::new(decision)));
        object
    }

    /// The host's data. `None` never happens outside the constructor.
    pub fn data(&self) -> Option<Rc<Decision>> {
        self.imp().data.borrow().clone()
    }

    /// Whether it is that decision.
    pub fn is(&self, id: &DecisionId) -> bool {
        self.imp()
            .data
            .borrow()
            .as_ref()
            .is_some_and(|data| &data.id == id)
    }

    /// The host changed it: same id.
    pub fn update(&self, decision: Decision) {
        let answerable = decision.answerable;
        self.imp().data.replace(Some(Rc::new(decision)));
        if self.imp().answerable.replace(answerable) != answerable {
            self.notify_answerable();
        }
    }

    /// How our answer, or the decision, came out.
    pub fn outcome(&self) -> Option<Outcome> {
        self.imp().outcome.borrow().clone()
    }

    /// Whether an answer that the host says came by `via` can be the one that this window sent.
    pub fn sent_by(&self, via: Option<&str>) -> bool {
        self.imp()
            .sent
            .get()
            .is_some_and(|sent| via == Some(sent.as_str()))
    }

    /// A host that was started anew does not have it yet.
    pub fn away(&self) {
        if self.stage() != Stage::Ended {
            self.set(Stage::Away, self.outcome());
        }
    }

    /// The host has it again.
    pub fn back(&self) {
        if self.stage() == Stage::Away {
            self.set(Stage::Pending, self.outcome());
        }
    }

    /// It ended; nothing can be sent any more.
    pub fn end(&self, outcome: Outcome) {
        self.set(Stage::Ended, Some(outcome));
    }

    /// Sends an answer to this very decision, at most one at a time. True: the host took it.
    pub async fn answer(&self, bridge: &Bridge, answer: Answer, via: Via) -> bool {
        let Some(data) = self.data() else {
            return false;
        };
        if self.stage() != Stage::Pending {
            return false;
        }
        self.imp().sent.set(Some(via));
        self.set(Stage::Sending, None);
        let params = DecisionAnswerParams {
            pane_id: data.pane_id.clone(),
            decision_id: data.id.clone(),
            option_id: answer.option_id,
            text: answer.text,
            values: answer.values,
            via: Some(via.as_str().into()),
        };
        match bridge.call::<DecisionAnswer>(params).await {
            Ok(answered) => {
                // The event that ends it says the same, and who; it comes on the same connection.
                if self.stage() == Stage::Sending {
                    let label = answered
                        .applied
                        .option_id
                        .as_deref()
                        .and_then(|id| data.option(id));
                    let what = words::applied(
                        &answered.applied,
                        label.map(|option| option.label.as_str()),
                    );
                    let said = Outcome {
                        tone: words::Tone::Good,
                        text: format!("{what} · answered by you, here"),
                    };
                    self.set(Stage::Ended, Some(said));
                }
                true
            }
            Err(error) => {
                self.imp().sent.set(None);
                tracing::info!(decision = %data.id, %error, "an answer was not applied");
                let (outcome, still_pending) = words::refused(&error);
                // Where its end was told meanwhile, the end stands; why ours failed is said with it.
                let stage = match self.stage() {
                    Stage::Sending if still_pending => Stage::Pending,
                    Stage::Away if still_pending => Stage::Away,
                    _ => Stage::Ended,
                };
                self.set(stage, Some(outcome));
                false
            }
        }
    }

    fn set(&self, stage: Stage, outcome: Option<Outcome>) {
        let note = match (&outcome, stage) {
            (_, Stage::Away) => {
                "The host was started anew: waiting for the question to come back".into()
            }
            (Some(outcome), _) => outcome.text.clone(),
            (None, Stage::Sending) => "Sending…".into(),
            (None, _) => String::new(),
        };
        self.imp().outcome.replace(outcome);
        self.imp().note.replace(note);
        self.imp().stage.set(stage);
        self.notify_note();
        self.notify_stage();
    }
}
