//! How answers leave a pane: a click, a chord, the reply entry or a form becomes one answer to one decision.

use gtk::glib::{self, clone, subclass::prelude::*};
use gtk::prelude::*;
use signaltty_core::answer::Answer;
use signaltty_core::limits::GUARD;
use signaltty_core::model::{DecisionId, Polarity, TextUse};

use super::{PaneView, now};
use crate::model::{DecisionObject, Via};
use crate::rules::chord::Press;
use crate::rules::options;
use crate::rules::reply::Enter;
use crate::view::option_button::OptionButton;

impl PaneView {
    /// Whether a chord may answer now: something is asked, can be seen, and its guard is over.
    pub fn chords_open(&self) -> bool {
        let imp = self.imp();
        let asks = self.pane().is_some_and(|pane| pane.decision().is_some());
        asks && self.is_mapped() && imp.guard.borrow().left(now()).is_zero()
    }

    /// Alt and a digit were pressed while the keyboard was in this pane. True: it is no key for the program.
    pub fn chord(&self, digit: u8, press: Press) -> bool {
        let imp = self.imp();
        if self.pane().is_none_or(|pane| pane.decision().is_none()) {
            // A chord that came a moment too late must not reach the program as Esc and a digit.
            return digit != 0
                && imp
                    .ended_at
                    .get()
                    .is_some_and(|ended| now().saturating_sub(ended) < GUARD);
        }
        if press == Press::Held {
            return true;
        }
        if digit == 0 {
            if self.has_card() {
                self.toggle_card();
            }
            return true;
        }
        if let Some(id) = self.form_of(digit) {
            self.send_form(&id);
            return true;
        }
        let button = if self.has_card() {
            imp.card.button_of(digit).filter(|_| imp.card.is_mapped())
        } else {
            // The strip holds the whole request: it is the card.
            imp.strip.button_of(digit)
        };
        match button {
            Some(button) if button.is_sensitive() => self.choose(&button),
            // While something is asked, no Alt and digit goes to the program: it may take the digit for an answer.
            _ => self.error_bell(),
        }
        true
    }

    /// The decision whose form a chord's digit sends, where that can be seen and acts.
    fn form_of(&self, digit: u8) -> Option<DecisionId> {
        let imp = self.imp();
        let data = self.pane()?.decision()?.data()?;
        let send = imp.card.form().send_button()?;
        let acts = data.answerable && send.is_mapped() && send.is_sensitive();
        (options::digit_of_form(&data) == Some(digit) && acts)
            .then(|| imp.card.form().decision())
            .flatten()
    }

    /// A button was clicked, or its chord pressed.
    pub(super) fn choose(&self, button: &OptionButton) {
        let imp = self.imp();
        let (Some(id), Some(option)) = (button.decision(), button.option()) else {
            return;
        };
        if !imp.guard.borrow().allows(id, option.polarity, now()) {
            self.error_bell();
            return;
        }
        let Some(decision) = self
            .pane()
            .and_then(|pane| pane.decision())
            .filter(|decision| decision.is(id))
        else {
            return;
        };
        // Only a refusal takes the entry's words along: a grant with words in it would be neither.
        let takes_reason = decision
            .data()
            .is_some_and(|data| data.text != TextUse::None);
        let reason = if option.polarity == Polarity::Refuses && takes_reason {
            imp.reply.borrow().reason(id, &imp.card.reply_text())
        } else {
            None
        };
        self.send(
            decision,
            Answer {
                option_id: Some(option.id),
                text: reason,
                values: None,
            },
        );
    }

    pub(super) fn send_reply(&self) {
        let imp = self.imp();
        let text = imp.card.reply_text();
        let enter = imp.reply.borrow().enter(&text);
        let Enter::Send(id) = &enter else {
            imp.card.show_reply(&enter);
            self.error_bell();
            return;
        };
        if let Some(decision) = self
            .pane()
            .and_then(|pane| pane.decision())
            .filter(|decision| decision.is(id))
        {
            self.send(
                decision,
                Answer {
                    option_id: None,
                    text: Some(text),
                    values: None,
                },
            );
        }
    }

    /// The values given for that decision are to go to it.
    pub(super) fn send_form(&self, id: &DecisionId) {
        let imp = self.imp();
        let Some(decision) = self
            .pane()
            .and_then(|pane| pane.decision())
            .filter(|decision| decision.is(id))
        else {
            return;
        };
        if !imp.guard.borrow().allows(id, Polarity::Grants, now()) {
            self.error_bell();
            return;
        }
        match imp.card.form().values() {
            Ok(values) => self.send(
                decision,
                Answer {
                    option_id: None,
                    text: None,
                    values: Some(values),
                },
            ),
            Err(problem) => imp.card.form().say(&problem),
        }
    }

    /// The one way out for answers of this pane.
    pub(super) fn send(&self, decision: DecisionObject, answer: Answer) {
        let imp = self.imp();
        let Some(pane) = self.pane() else { return };
        let Some(bridge) = imp
            .workspace
            .upgrade()
            .and_then(|workspace| workspace.bridge())
        else {
            return;
        };
        let sent_text = answer.text.clone();
        if sent_text.is_some() {
            imp.replying
                .replace(decision.data().map(|data| data.id.clone()));
        }
        glib::spawn_future_local(clone!(
            #[weak(rename_to = view)]
            self,
            async move {
                let taken = pane.answer(&bridge, &decision, answer, Via::Window).await;
                view.imp().replying.take();
                view.answered(taken, sent_text.as_deref());
            }
        ));
    }

    /// The host said what became of our answer.
    pub(super) fn answered(&self, taken: bool, sent_text: Option<&str>) {
        let imp = self.imp();
        let ended = self.pane().is_some_and(|pane| pane.decision().is_none());
        let in_reply = imp.card.reply_has_keyboard();
        if taken && sent_text == Some(imp.card.reply_text().as_str()) {
            // Sent: the entry is done with, and what is typed on must not go into the terminal.
            if in_reply {
                self.rest();
            }
            imp.card.clear_reply();
        } else if ended && in_reply {
            let how = self
                .pane()
                .and_then(|pane| pane.outcome())
                .map(|outcome| outcome.text)
                .unwrap_or_default();
            imp.card.show_ended(&how);
        }
        self.show_card();
    }
}
