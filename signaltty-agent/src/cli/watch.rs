//! Decisions as they come, answered by typing.
//!
//! What is typed belongs to the question that stood there when its first letter was typed, and to no other
//! (specs/030 "No accidental answer"): if that question ends meanwhile, the words go nowhere and this says so.

mod board;
mod draft;

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use signaltty_core::client::{Client, ClientError, Events};
use signaltty_core::limits::GUARD;
use signaltty_core::model::{Decision, FieldType, PaneId};
use signaltty_core::protocol::Event;
use signaltty_core::protocol::method::{DecisionAnswer, Subscribed};
use signaltty_core::protocol::params::{DecisionAnswerParams, Role, SubscribeParams};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use super::failure::Failure;
use super::terminal::{self, Ending, Modes};
use super::{Output, answer, host, show, values};
use board::{Board, News};
use draft::{Draft, Typed};

/// Pause before a host that went away is looked for again.
const HOST_PAUSE: Duration = Duration::from_millis(300);
/// Leaves this question for later.
const NEXT: &str = "/next";
/// Ends.
const QUIT: &str = "/quit";

/// `watch`
pub(super) async fn run(output: Output) -> Result<(), Failure> {
    let mut watch = Watch::new(output)?;
    loop {
        let connected = tokio::select! {
            connected = host::connect_as(Role::Operator) => connected,
            () = watch.ending.comes() => return Ok(()),
        };
        let followed = match connected {
            Ok((client, events)) => watch.follow(&client, events).await,
            Err(failure) => Err(failure),
        };
        match followed {
            Ok(End::Quit) => return Ok(()),
            Ok(End::HostGone) => {}
            // A host that is just ending, or one that cannot be started from inside a pane.
            Err(failure) if failure.host_gone && watch.followed => {}
            Err(failure) => return Err(failure),
        }
        if !std::mem::replace(&mut watch.looking, true) {
            watch.board = Board::default();
            watch.say("The host is gone; looking for it.")?;
        }
        tokio::select! {
            () = sleep(HOST_PAUSE) => {}
            () = watch.ending.comes() => return Ok(()),
        }
    }
}

enum End {
    Quit,
    HostGone,
}

struct Watch {
    output: Output,
    board: Board,
    draft: Draft,
    /// Since when the question in front stands there, for the guard.
    shown_at: Instant,
    input: mpsc::Receiver<Vec<u8>>,
    ending: Ending,
    /// Whether a person types here: only then is there a line to edit.
    interactive: bool,
    /// Whether a host was followed at all.
    followed: bool,
    /// Whether it was said that the host is gone.
    looking: bool,
    /// Last, so that the terminal gets its modes back after all else.
    _modes: Option<Modes>,
}

impl Watch {
    fn new(output: Output) -> Result<Self, Failure> {
        let interactive =
            !output.json && std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        let ending = Ending::new()?;
        let modes = if interactive {
            Some(Modes::keys()?)
        } else {
            None
        };
        Ok(Self {
            output,
            board: Board::default(),
            draft: Draft::default(),
            shown_at: Instant::now(),
            input: terminal::input(),
            ending,
            interactive,
            followed: false,
            looking: false,
            _modes: modes,
        })
    }

    /// Shows and answers until the person ends it or the host goes.
    async fn follow(&mut self, client: &Client, mut events: Events) -> Result<End, Failure> {
        if let Subscribed::Whole(snapshot) = client.subscribe(SubscribeParams::default()).await? {
            (self.followed, self.looking) = (true, false);
            self.say(&format!("Watching. A number, an option or words answer; {NEXT} leaves a question for later; {QUIT} ends."))?;
            if client.hello().inside {
                self.say("This runs inside a pane: it shows what is asked, and cannot answer.")?;
            }
            let news = self.board.reset(snapshot.panes);
            self.tell(news)?;
        }
        let mut listening = true;
        loop {
            tokio::select! {
                frame = events.recv() => match frame {
                    Some(frame) => {
                        if self.output.json && is_decision(&frame.event) {
                            show::json(&frame)?;
                        }
                        let news = self.board.take(frame.event);
                        self.tell(news)?;
                    }
                    None => return Ok(End::HostGone),
                },
                typed = self.input.recv(), if listening => match typed {
                    Some(bytes) => {
                        if self.typed(client, &bytes).await? {
                            return Ok(End::Quit);
                        }
                    }
                    None if self.interactive => return Ok(End::Quit),
                    // A script has said all it has to say; what is asked is still shown.
                    None => listening = false,
                },
                () = self.ending.comes() => return Ok(End::Quit),
            }
        }
    }

    /// Says what is new, and puts the question in front again.
    fn tell(&mut self, news: Vec<News>) -> Result<(), Failure> {
        for piece in news {
            if matches!(piece, News::InFront(_)) {
                self.shown_at = Instant::now();
            }
            self.say(&piece.in_words(&self.board))?;
        }
        Ok(())
    }

    /// Takes what was typed. True if the person wants to end.
    async fn typed(&mut self, client: &Client, bytes: &[u8]) -> Result<bool, Failure> {
        let front = self.board.front().map(|decision| decision.id.clone());
        for typed in self
            .draft
            .take(bytes, front.as_ref(), self.shown_at.elapsed())
        {
            match typed {
                Typed::End => return Ok(true),
                Typed::Line { text, .. } if text.trim() == QUIT => return Ok(true),
                Typed::Line { text, .. } if text.trim() == NEXT => {
                    let news = self.board.next();
                    self.tell(news)?;
                }
                Typed::Line { text, .. } if text.trim().is_empty() => {}
                Typed::Line { text, meant, age } => {
                    let decision = match (&meant, self.board.front()) {
                        (Some(meant), Some(front)) if *meant == front.id => front.clone(),
                        (None, None) => {
                            self.say("Nothing is asked that can be answered here.")?;
                            continue;
                        }
                        _ => {
                            self.say("The question that you were answering has ended. What you typed went nowhere.")?;
                            continue;
                        }
                    };
                    if self.interactive && age < GUARD {
                        self.say("That question had only just appeared. What you typed went nowhere; look at it, and type it again.")?;
                        continue;
                    }
                    self.answer(client, &decision, text.trim()).await?;
                }
            }
        }
        self.redraw()?;
        Ok(false)
    }

    async fn answer(
        &mut self,
        client: &Client,
        decision: &Decision,
        line: &str,
    ) -> Result<(), Failure> {
        let params = match meaning(decision, line) {
            Ok(params) => params,
            Err(problem) => return self.say(&problem),
        };
        match client.call::<DecisionAnswer>(params).await {
            Ok(answered) => self.say(&answer::applied(decision, &answered.applied)),
            // Not answered: the host said why, and the question stands as it did, or its end is told.
            Err(error) if error.code().is_some() => {
                self.say(&format!("Not answered: {}", show::text(&error.to_string())))
            }
            // Watching goes on with the host that comes back.
            Err(ClientError::Lost) => {
                self.say("The host went away; what became of this answer is not known.")
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Prints above the line that is being typed.
    fn say(&mut self, text: &str) -> Result<(), Failure> {
        if self.output.json {
            return Ok(());
        }
        if self.interactive {
            print_raw("\r\x1b[K")?;
        }
        show::line(text)?;
        self.redraw()
    }

    /// Puts the line that is being typed on screen again.
    fn redraw(&self) -> Result<(), Failure> {
        if !self.interactive {
            return Ok(());
        }
        let place = self
            .board
            .front()
            .map(|decision| place(&self.board, &decision.pane_id))
            .unwrap_or_default();
        print_raw(&format!("\r\x1b[K{place}> {}", self.draft.shown()))
    }
}

/// What a line means for a decision: an option's number, values for a form, else the words themselves, which the
/// host matches with the options (specs/010 §2).
fn meaning(decision: &Decision, line: &str) -> Result<DecisionAnswerParams, String> {
    let mut params = DecisionAnswerParams {
        pane_id: decision.pane_id.clone(),
        decision_id: decision.id.clone(),
        option_id: None,
        text: None,
        values: None,
        via: Some("watch".into()),
    };
    let exact = decision.option(line);
    let numbered = line
        .parse::<usize>()
        .ok()
        .and_then(|number| decision.options.get(number.checked_sub(1)?))
        .filter(|_| decision.fields.is_empty());
    if let Some(option) = exact.or(numbered) {
        params.option_id = Some(option.id.clone());
        return Ok(params);
    }
    match decision.fields.as_slice() {
        [] => params.text = Some(line.to_owned()),
        // One question needs no name in front of its answer.
        [only] if !names_field(line, &only.id) => {
            let words = line.to_owned();
            if only.field_type == FieldType::String {
                params.text = Some(words);
            } else {
                params.values = Some([(only.id.clone(), values::value(only, &words)?)].into());
            }
        }
        _ => {
            params.values = Some(values::read(
                decision,
                line.split(';')
                    .map(str::trim)
                    .filter(|pair| !pair.is_empty()),
            )?)
        }
    }
    Ok(params)
}

fn names_field(line: &str, field: &str) -> bool {
    line.split_once('=')
        .is_some_and(|(name, _)| name.trim() == field)
}

fn place(board: &Board, pane_id: &PaneId) -> String {
    board
        .pane(pane_id)
        .map_or_else(|| show::one_line(pane_id.as_str(), 26), show::title)
}

fn is_decision(event: &Event) -> bool {
    matches!(
        event,
        Event::DecisionCreated(_) | Event::DecisionUpdated { .. } | Event::DecisionCleared(_)
    )
}

fn print_raw(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use signaltty_core::model::Value;

    fn decision(more: serde_json::Value) -> Decision {
        let mut decision = json!({ "id": "d", "pane_id": "p", "kind": "permission", "prompt": "?", "text": "reason",
            "answerable": true, "asked_at": 0, "agent": "a" });
        for (name, value) in more.as_object().expect("members") {
            decision[name] = value.clone();
        }
        serde_json::from_value(decision).expect("a decision")
    }

    fn verdict() -> Decision {
        decision(
            json!({ "options": [{ "id": "allow", "label": "Allow once" }, { "id": "deny", "label": "Deny" }] }),
        )
    }

    #[test]
    fn a_number_names_an_option_and_words_go_to_the_host() {
        let option = |line: &str| meaning(&verdict(), line).expect("an answer").option_id;
        assert_eq!(option("1").as_deref(), Some("allow"));
        assert_eq!(option("2").as_deref(), Some("deny"));
        assert_eq!(option("deny").as_deref(), Some("deny"));
        for words in ["0", "3", "1 please", "yes", "use staging", "-1"] {
            let answer = meaning(&verdict(), words).expect("an answer");
            assert_eq!(
                (answer.option_id, answer.text.as_deref()),
                (None, Some(words))
            );
        }
    }

    #[test]
    fn an_id_goes_before_a_number() {
        let odd = decision(
            json!({ "options": [{ "id": "2", "label": "A" }, { "id": "1", "label": "B" }] }),
        );
        assert_eq!(
            meaning(&odd, "1").expect("an answer").option_id.as_deref(),
            Some("1")
        );
    }

    #[test]
    fn a_form_is_answered_by_its_fields() {
        let field = |id: &str| {
            json!({ "id": id, "type": "select", "label": id, "other": true,
            "choices": [{ "id": "1", "label": "8080" }, { "id": "2", "label": "9090" }] })
        };
        let one = decision(json!({ "kind": "form", "fields": [field("port")],
            "options": [{ "id": "deny", "label": "Decline" }] }));
        for line in ["2", "9090", "port=2"] {
            let values = meaning(&one, line)
                .expect("an answer")
                .values
                .expect("values");
            assert_eq!(values["port"], Value::String("2".into()), "{line}");
        }
        assert_eq!(
            meaning(&one, "deny")
                .expect("an answer")
                .option_id
                .as_deref(),
            Some("deny")
        );
        let two = decision(json!({ "kind": "form", "fields": [field("a"), field("b")] }));
        let values = meaning(&two, "a=1; b = own words")
            .expect("an answer")
            .values
            .expect("values");
        assert_eq!(
            (&values["a"], &values["b"]),
            (
                &Value::String("1".into()),
                &Value::String("own words".into())
            )
        );
        assert!(meaning(&two, "just words").is_err());
    }
}
