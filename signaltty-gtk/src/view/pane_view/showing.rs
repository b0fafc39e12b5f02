//! What a pane shows of its decision: reconciled by the decision's id, so that the same one keeps its widgets.

use gtk::glib::{self, clone, subclass::prelude::*};
use gtk::prelude::*;
use signaltty_core::limits::GUARD;
use signaltty_core::model::{DecisionId, TextUse};

use super::{PaneView, now};
use crate::model::{DecisionObject, Stage};
use crate::rules::options;

impl PaneView {
    /// Brings everything in line with the pane as it is now.
    pub(super) fn refresh(&self) {
        let imp = self.imp();
        let Some(pane) = self.pane() else { return };
        let decision = pane.decision();
        let id = decision
            .as_ref()
            .and_then(DecisionObject::data)
            .map(|data| data.id.clone());
        let different =
            imp.watched.borrow().as_ref().map(|(watched, _)| watched) != decision.as_ref();
        if different {
            self.rest_keyboard();
            self.watch(decision.as_ref());
        }
        match (&decision, id) {
            (Some(decision), Some(id)) => self.show_pending(decision, &id),
            _ => self.show_none(different),
        }
        imp.strip.show_pane(&pane);
        imp.card.show_name(&pane.title());
        self.show_inert();
        self.show_card();
    }

    pub(super) fn watch(&self, decision: Option<&DecisionObject>) {
        let imp = self.imp();
        if let Some((watched, handlers)) = imp.watched.take() {
            for handler in handlers {
                watched.disconnect(handler);
            }
        }
        let Some(decision) = decision else { return };
        let weak = self.downgrade();
        let refresh = move || {
            if let Some(view) = weak.upgrade() {
                view.refresh();
            }
        };
        let stage = refresh.clone();
        let handlers = vec![
            decision.connect_answerable_notify(move |_| refresh()),
            decision.connect_stage_notify(move |_| stage()),
        ];
        imp.watched.replace(Some((decision.clone(), handlers)));
    }

    pub(super) fn show_pending(&self, decision: &DecisionObject, id: &DecisionId) {
        let imp = self.imp();
        let Some(data) = decision.data() else { return };
        if imp.guard.borrow().is_answerable() != data.answerable {
            // Its buttons come or go: the keyboard must not fall from one of them into the terminal.
            self.rest_keyboard();
        }
        if imp.guard.borrow_mut().show(id, data.answerable, now()) {
            imp.chords.borrow().borrow_mut().card_appeared();
            imp.folded.set(false);
            self.start_guard_timer();
        }
        let takes_text = data.answerable && data.text != TextUse::None && data.fields.is_empty();
        let focused = imp.card.reply_has_keyboard();
        imp.reply.borrow_mut().show(
            takes_text.then_some(id),
            &imp.card.reply_text(),
            focused,
            now(),
        );
        imp.card.show_decision(decision);
        self.show_reply();
    }

    pub(super) fn show_none(&self, just_ended: bool) {
        let imp = self.imp();
        imp.guard.borrow_mut().clear();
        imp.reply.borrow_mut().show(
            None,
            &imp.card.reply_text(),
            imp.card.reply_has_keyboard(),
            now(),
        );
        if just_ended {
            imp.ended_at.set(Some(now()));
            let how = self
                .pane()
                .and_then(|pane| pane.outcome())
                .map(|outcome| outcome.text)
                .unwrap_or_default();
            if imp.card.reply_has_keyboard() && imp.replying.borrow().is_none() {
                imp.card.show_ended(&how);
            }
        }
    }

    /// Whether there is more to show than the strip holds.
    pub(super) fn has_card(&self) -> bool {
        let imp = self.imp();
        if imp.card.reply_has_keyboard() {
            return true;
        }
        let decision = self.pane().and_then(|pane| pane.decision());
        let Some((decision, data)) =
            decision.and_then(|decision| Some((decision.clone(), decision.data()?)))
        else {
            return false;
        };
        // What went wrong takes the place of the question in the strip; whoever tries again has to see both.
        let told = decision.stage() == Stage::Pending && !decision.note().is_empty();
        !options::strip_holds_all(&data) || imp.strip.is_narrow() || told
    }

    pub(super) fn show_card(&self) {
        let imp = self.imp();
        let there = self.has_card();
        let open = there && !imp.folded.get();
        // One that opens of itself may do so under the pointer, and under keys that are down.
        if open && !imp.card.get_visible() {
            self.appears_anew();
        }
        imp.card.set_visible(open);
        imp.strip.set_card(there, open);
    }

    pub(super) fn show_inert(&self) {
        let imp = self.imp();
        let guarded = !imp.guard.borrow().left(now()).is_zero();
        let sending = self
            .pane()
            .and_then(|pane| pane.decision())
            .is_some_and(|decision| decision.stage() != Stage::Pending);
        if sending {
            // A button that stops acting lets go of the keyboard.
            self.rest_keyboard();
        }
        imp.strip.set_inert(guarded, sending);
        imp.card.set_inert(guarded, sending);
    }

    /// Says whether the text in the entry would go to the question shown, or else how an answer of ours stands.
    pub(super) fn show_reply(&self) {
        let imp = self.imp();
        let Some(pane) = self.pane() else { return };
        let Some(decision) = pane.decision() else {
            return;
        };
        let focused = imp.card.reply_has_keyboard();
        let warning = imp.reply.borrow().warning(&imp.card.reply_text(), focused);
        match warning {
            Some(warning) => imp.card.show_reply(&warning),
            None => imp.card.show_note(&decision, pane.outcome().as_ref()),
        }
    }

    pub(super) fn start_guard_timer(&self) {
        let imp = self.imp();
        if let Some(timer) = imp.guard_timer.take() {
            timer.remove();
        }
        let timer = glib::timeout_add_local_once(
            GUARD,
            clone!(
                #[weak(rename_to = view)]
                self,
                move || {
                    view.imp().guard_timer.take();
                    view.show_inert();
                }
            ),
        );
        imp.guard_timer.replace(Some(timer));
    }

    /// A hidden pane is shown: what it asks is new to whoever looks.
    pub(super) fn came_into_sight(&self) {
        self.appears_anew();
    }

    /// What can be pressed has come where something else was: the guard and the chords begin anew.
    pub(super) fn appears_anew(&self) {
        let imp = self.imp();
        imp.guard.borrow_mut().show_again(now());
        imp.chords.borrow().borrow_mut().card_appeared();
        self.start_guard_timer();
        self.show_inert();
    }

    pub(super) fn toggle_card(&self) {
        self.set_folded(!self.imp().folded.get());
    }

    pub(super) fn set_folded(&self, folded: bool) {
        let imp = self.imp();
        if folded && imp.card.has_keyboard() {
            self.rest();
        }
        if imp.folded.replace(folded) && !folded {
            imp.chords.borrow().borrow_mut().card_appeared();
            // Called for by the person: it may be answered at once.
            imp.card.set_visible(self.has_card());
        }
        self.show_card();
    }

    /// Before the widgets of a decision go: the keyboard must not fall from one of them into the terminal.
    /// It stays in the reply entry; from a button it goes to the strip, where keys do nothing.
    pub(super) fn rest_keyboard(&self) {
        let imp = self.imp();
        let on_button = (imp.strip.has_keyboard() && !imp.strip.has_focus())
            || (imp.card.has_keyboard() && !imp.card.reply_has_keyboard());
        if on_button {
            self.rest();
        }
    }

    /// Puts the keyboard to the strip, where keys do nothing.
    pub fn rest(&self) {
        self.imp().strip.set_focusable(true);
        self.imp().strip.grab_focus();
    }

    pub(super) fn reply_focused(&self, focused: bool) {
        let imp = self.imp();
        if focused {
            imp.reply.borrow_mut().entered(&imp.card.reply_text());
            self.show_reply();
            return;
        }
        // Left for good, not with the whole window: a card whose question ended goes.
        glib::idle_add_local_once(clone!(
            #[weak(rename_to = view)]
            self,
            move || {
                view.imp().card.show_reply_row();
                view.show_reply();
                view.show_card();
            }
        ));
    }
}
