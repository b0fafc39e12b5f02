//! To which decision the text in the reply entry may go.
//!
//! Text belongs to the decision that it was typed for. When that one ends the text stays, and goes to another
//! only after it was edited or re-armed (specs/030). Somebody in the middle of a sentence goes on typing without
//! having seen that the question changed, so going on is no edit: one is a change of what stood there already,
//! after a pause of [`GUARD`] since the question changed and since the last keystroke.

use std::time::Duration;

use signaltty_core::limits::GUARD;
use signaltty_core::model::DecisionId;

/// What Enter in the entry does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Enter {
    /// The text goes, as it is, to this decision.
    Send(DecisionId),
    /// Nothing but white space: nothing to send.
    Blank,
    /// No question is open that takes text.
    Ended,
    /// The text was typed for another question.
    Unarmed,
}

/// The reply entry of one pane.
#[derive(Debug, Default)]
pub struct Reply {
    /// The decision shown, if text can do something there.
    current: Option<DecisionId>,
    /// The decision that the text may go to.
    armed: Option<DecisionId>,
    /// What stood in the entry when the question changed under it.
    carried: String,
    /// When the question last changed under the entry, or a key was typed into it while it was not armed.
    quiet_since: Duration,
}

impl Reply {
    /// The pane shows this decision; `None` where there is none, or where text can do nothing.
    ///
    /// `text` and `focused` are the entry's. An empty entry that nobody types in belongs to the new question.
    pub fn show(
        &mut self,
        decision: Option<&DecisionId>,
        text: &str,
        focused: bool,
        now: Duration,
    ) {
        if self.current.as_ref() == decision {
            return;
        }
        self.current = decision.cloned();
        self.quiet_since = now;
        self.carried = text.to_owned();
        // Of the question that it was typed for the text stays, also where that one cannot be answered for a while.
        let waits = self.current.is_none() || self.armed == self.current;
        if !(waits && self.armed.is_some()) {
            self.armed = self.current.clone().filter(|_| is_blank(text) && !focused);
        }
    }

    /// The person went into the entry: with nothing in it, what is typed now is meant for what is shown now.
    pub fn entered(&mut self, text: &str) {
        if is_blank(text) {
            self.armed.clone_from(&self.current);
        }
    }

    /// The person changed the text to this.
    pub fn edited(&mut self, text: &str, now: Duration) {
        if self.is_armed() {
            return;
        }
        // Whose text it is cannot change while there is no question that takes any.
        if self.current.is_none() {
            self.quiet_since = now;
            return;
        }
        let goes_on = !is_blank(&self.carried) && text.starts_with(&self.carried);
        let paused = now.saturating_sub(self.quiet_since) >= GUARD;
        if paused && !goes_on {
            self.armed.clone_from(&self.current);
        }
        self.quiet_since = now;
    }

    /// The person said that the text is for the question shown.
    pub fn rearm(&mut self) {
        self.armed.clone_from(&self.current);
    }

    /// Whether the text would go to the question shown.
    pub fn is_armed(&self) -> bool {
        self.current.is_some() && self.armed == self.current
    }

    /// What Enter does with this text.
    pub fn enter(&self, text: &str) -> Enter {
        match &self.current {
            None => Enter::Ended,
            Some(_) if is_blank(text) => Enter::Blank,
            Some(current) if self.is_armed() => Enter::Send(current.clone()),
            Some(_) => Enter::Unarmed,
        }
    }

    /// What has to be said beside the entry before anybody presses Enter: that the text is for another question, or,
    /// to somebody who is `focused` on it, that the question shown takes none.
    pub fn warning(&self, text: &str, focused: bool) -> Option<Enter> {
        match self.enter(text) {
            Enter::Ended if !focused => None,
            enter @ (Enter::Unarmed | Enter::Ended) => Some(enter),
            Enter::Send(_) | Enter::Blank => None,
        }
    }

    /// The text as the reason of a refusal of that decision: none where it is blank or meant for another.
    pub fn reason(&self, decision: &DecisionId, text: &str) -> Option<String> {
        let ours = self.is_armed() && self.current.as_ref() == Some(decision);
        (ours && !is_blank(text)).then(|| text.to_owned())
    }
}

/// Blank as the rules of answers have it: white space and U+FEFF alone (specs/010 §2.2).
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c == '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> DecisionId {
        DecisionId::from_trusted(text)
    }

    const START: Duration = Duration::from_secs(100);
    const BRIEF: Duration = Duration::from_millis(100);

    fn typing_for(decision: &str) -> Reply {
        let mut reply = Reply::default();
        reply.show(Some(&id(decision)), "", false, START);
        reply.entered("");
        reply.edited("u", START + BRIEF);
        reply
    }

    #[test]
    fn text_typed_for_the_question_shown_goes_to_it() {
        assert_eq!(typing_for("a").enter("no, staging"), Enter::Send(id("a")));
    }

    #[test]
    fn white_space_is_never_sent() {
        assert_eq!(typing_for("a").enter(" \u{feff}\t"), Enter::Blank);
        assert_eq!(typing_for("a").reason(&id("a"), "  "), None);
    }

    #[test]
    fn when_the_question_ends_enter_does_nothing() {
        let mut reply = typing_for("a");
        reply.show(None, "use the stag", true, START + BRIEF * 2);
        assert_eq!(reply.enter("use the stag"), Enter::Ended);
        reply.edited("other words", START + GUARD * 9);
        assert_eq!(reply.enter("other words"), Enter::Ended);
    }

    #[test]
    fn the_rest_of_a_sentence_typed_on_into_the_next_question_is_not_sent_to_it() {
        let mut reply = typing_for("a");
        reply.show(Some(&id("b")), "use the stag", true, START + GUARD);
        // However slowly it is typed.
        for (pauses, text) in (2..).zip(["use the stagi", "use the stagin", "use the staging"]) {
            reply.edited(text, START + GUARD * 3 * pauses);
        }
        assert_eq!(reply.enter("use the staging"), Enter::Unarmed);
        assert_eq!(reply.reason(&id("b"), "use the staging"), None);
    }

    #[test]
    fn it_is_not_sent_either_where_the_question_was_gone_for_a_while_in_between() {
        let mut reply = typing_for("a");
        reply.show(None, "use the stag", true, START + GUARD);
        reply.show(Some(&id("b")), "use the stag", true, START + GUARD * 2);
        reply.edited("use the staging", START + GUARD * 4);
        assert_eq!(reply.enter("use the staging"), Enter::Unarmed);
    }

    #[test]
    fn words_changed_after_a_pause_are_for_the_question_shown() {
        let mut reply = typing_for("a");
        reply.show(Some(&id("b")), "use staging", true, START + GUARD);
        reply.edited("use stagin", START + GUARD * 2);
        assert_eq!(reply.enter("use production"), Enter::Send(id("b")));
    }

    #[test]
    fn a_slip_mended_in_the_flow_of_typing_is_no_edit() {
        let mut reply = typing_for("a");
        reply.show(Some(&id("b")), "use stagn", true, START + GUARD);
        reply.edited("use stag", START + GUARD + BRIEF);
        reply.edited("use stagi", START + GUARD + BRIEF * 2);
        assert_eq!(reply.enter("use stagi"), Enter::Unarmed);
    }

    #[test]
    fn the_button_arms_it_at_once() {
        let mut reply = typing_for("a");
        reply.show(Some(&id("b")), "words", true, START + GUARD);
        assert!(!reply.is_armed());
        reply.rearm();
        assert_eq!(reply.reason(&id("b"), "words"), Some("words".into()));
    }

    #[test]
    fn an_empty_entry_with_the_keyboard_in_it_does_not_take_the_next_keystrokes_for_a_new_question()
    {
        let mut reply = typing_for("a");
        reply.show(Some(&id("b")), "", true, START + GUARD);
        reply.edited("n", START + GUARD + BRIEF);
        assert_eq!(reply.enter("n"), Enter::Unarmed);
        reply.entered("");
        assert_eq!(
            reply.enter("n"),
            Enter::Send(id("b")),
            "gone into once more, it is"
        );
    }

    #[test]
    fn the_same_question_shown_again_keeps_the_text_armed() {
        let mut reply = typing_for("a");
        reply.show(Some(&id("a")), "words", true, START + GUARD);
        assert!(reply.is_armed());
    }

    #[test]
    fn a_question_that_cannot_be_answered_for_a_while_has_its_text_again_afterwards() {
        let mut reply = typing_for("a");
        reply.show(None, "use the stag", true, START + GUARD);
        reply.edited("use the staging", START + GUARD * 4);
        assert_eq!(reply.enter("use the staging"), Enter::Ended);
        reply.show(Some(&id("a")), "use the staging", true, START + GUARD * 5);
        assert_eq!(reply.enter("use the staging"), Enter::Send(id("a")));
    }

    #[test]
    fn somebody_who_types_on_under_a_question_that_takes_no_text_is_told() {
        let mut reply = typing_for("a");
        assert_eq!(reply.warning("use the stag", true), None);
        reply.show(None, "use the stag", true, START + GUARD);
        assert_eq!(reply.warning("use the stag", true), Some(Enter::Ended));
        assert_eq!(
            reply.warning("use the stag", false),
            None,
            "nobody is there"
        );
        reply.show(Some(&id("b")), "use the stag", false, START + GUARD * 2);
        assert_eq!(reply.warning("use the stag", false), Some(Enter::Unarmed));
    }

    #[test]
    fn a_reason_is_only_for_the_decision_it_was_typed_for() {
        let reply = typing_for("a");
        assert_eq!(reply.reason(&id("a"), "because"), Some("because".into()));
        assert_eq!(reply.reason(&id("b"), "because"), None);
    }
}
