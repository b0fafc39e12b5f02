//! Asking a human from a script (specs/020 §2): `signaltty ask "Deploy?" && ./deploy`.
//!
//! A question of its own that waits like a hook. Whatever goes wrong, the exit code is not 0: a script that goes
//! on only after a yes never goes on by accident.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::{Args, ValueEnum};
use signaltty_core::answer::Applied;
use signaltty_core::model::{DetailKind, Kind, PaneId, Polarity, id};
use signaltty_core::paths::SocketPaths;
use signaltty_core::protocol::ErrorCode;
use signaltty_core::protocol::params::{DecisionParams, HookEventParams, OptionParams};

use super::failure::{FAILED, Failure, MISSING, NOT_ASKED, TIMED_OUT};
use super::{Output, find, host, panes, show, wait_for};
use crate::adapters::ask::AGENT;
use crate::hook::watch::{Deadline, Watch};
use crate::hook::{Held, Quit, confirm, resubmit, submit};

/// How long the host has to take the question.
const REPLY_WAIT: Duration = Duration::from_secs(10);
/// How long a question waits for a host that went away.
const HOST_BACK: Duration = Duration::from_secs(5);
/// How much later than the host we notice that the time is up.
const EXPIRY_MARGIN: Duration = Duration::from_secs(2);
/// A question that was let go after less than this is over; after more, the host only ended its own longest
/// wait, and it is asked on.
const HELD_LONG: Duration = Duration::from_secs(60);

/// `ask`
#[derive(Debug, Args)]
pub(super) struct Ask {
    /// The question
    prompt: String,
    /// A choice, in the order in which they are shown; by default yes and no
    #[arg(long = "option", value_name = "ID=LABEL[:grants|refuses]", value_parser = option)]
    options: Vec<OptionParams>,
    /// What is asked for
    #[arg(long, value_enum, default_value_t = AskKind::Permission)]
    kind: AskKind,
    /// The pane to ask in; by default the one that this runs in, or none
    #[arg(long)]
    pane: Option<String>,
    /// Give up after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = panes::seconds)]
    timeout: Option<Duration>,
}

/// What a script can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AskKind {
    /// Leave to do something
    Permission,
    /// Words, or one of several choices
    Input,
    /// Approval of something to be read
    Review,
}

impl From<AskKind> for Kind {
    fn from(kind: AskKind) -> Self {
        match kind {
            AskKind::Permission => Self::Permission,
            AskKind::Input => Self::Input,
            AskKind::Review => Self::Review,
        }
    }
}

impl Ask {
    pub(super) fn run(mut self, output: Output) -> Result<(), Failure> {
        // The very options that are sent are those that the exit code goes by.
        if self.options.is_empty() && self.kind != AskKind::Input {
            self.options = yes_and_no();
        }
        let pane_id = wait_for_pane(self.pane.as_deref())?;
        let socket = host::socket().map_err(not_asked)?;
        let watch = Watch::new().ok_or_else(|| Failure::new(NOT_ASKED, "cannot wait"))?;
        let deadline = self.timeout.map_or(Deadline::NEVER, |wait| {
            Deadline::after(wait + EXPIRY_MARGIN)
        });
        let mut params = self.event(pane_id);
        let mut held =
            submit(&socket, &params, &watch, Deadline::after(REPLY_WAIT)).map_err(refused)?;
        let answer = self.wait(&socket, &mut params, &mut held, &watch, deadline)?;
        self.finish(&answer, output)
    }

    fn event(&self, pane_id: Option<PaneId>) -> HookEventParams {
        let decision = DecisionParams {
            id: None,
            kind: self.kind.into(),
            prompt: self.prompt.clone(),
            detail: None,
            detail_kind: DetailKind::default(),
            subject: None,
            options: self.options.clone(),
            fields: Vec::new(),
            text: None,
            expires_at: self.timeout.and_then(expires_at),
        };
        HookEventParams {
            agent: AGENT.into(),
            event: None,
            payload: None,
            pane_id,
            session_id: None,
            decision: Some(decision),
            respond_via: None,
            lifecycle: None,
            message: None,
            hold: true,
            resumes: None,
        }
    }

    /// Waits for what was applied, across hosts that come back.
    fn wait(
        &self,
        socket: &Path,
        params: &mut HookEventParams,
        held: &mut Held,
        watch: &Watch,
        deadline: Deadline,
    ) -> Result<Applied, Failure> {
        let late = || Failure::new(TIMED_OUT, "nobody answered in time");
        let keeper = SocketPaths::of_host_socket(socket, false)
            .map_err(|error| Failure::new(NOT_ASKED, error.to_string()))?
            .keeper;
        loop {
            let long = Deadline::after(HELD_LONG);
            match held.verdict(watch, deadline) {
                Ok(verdict) if verdict.stdout.is_empty() => {
                    if self.timeout.is_some_and(|_| deadline.within(EXPIRY_MARGIN)) {
                        return Err(late());
                    }
                    if !long.passed() {
                        return Err(Failure::new(
                            NOT_ASKED,
                            "the question ended without an answer",
                        ));
                    }
                }
                // A program in a pane could put a socket of its own there and say yes.
                Ok(_) if !held.link.is_host_s(&keeper) => {
                    let message = "what answers at the host's socket runs inside a pane";
                    return Err(Failure::new(NOT_ASKED, message));
                }
                Ok(verdict) => {
                    let applied = serde_json::from_str(&verdict.stdout).map_err(|error| {
                        Failure::new(NOT_ASKED, format!("the answer cannot be read: {error}"))
                    })?;
                    // The answer holds whether or not the host hears of it.
                    let _ = confirm(&mut held.link, &verdict.decision_id);
                    return Ok(applied);
                }
                Err(Quit::NoHost) => {}
                Err(_) if deadline.passed() => return Err(late()),
                Err(quit) => return Err(refused(quit)),
            }
            params.resumes = Some(held.decision.clone());
            *held = resubmit(socket, params, watch, HOST_BACK).map_err(refused)?;
        }
    }

    /// Prints the answer, and says by the exit code what it was.
    fn finish(&self, applied: &Applied, output: Output) -> Result<(), Failure> {
        if output.json {
            show::json(applied)?;
        } else {
            // Words of a human and ids of the caller's own: printed as they are, for the script to read.
            for part in [&applied.option_id, &applied.text].into_iter().flatten() {
                show::line(part)?;
            }
        }
        self.outcome(applied)
    }

    /// What the exit code says of an answer.
    fn outcome(&self, applied: &Applied) -> Result<(), Failure> {
        match applied
            .option_id
            .as_deref()
            .and_then(|id| self.options.iter().find(|option| option.id == id))
        {
            Some(option) if option.polarity == Some(Polarity::Refuses) => {
                Err(Failure::silent(FAILED))
            }
            Some(_) => Ok(()),
            None if applied.option_id.is_none() && applied.text.is_some() => Ok(()),
            None => Err(Failure::new(NOT_ASKED, "the answer is none of the options")),
        }
    }
}

/// Starts the host where none runs, and finds the pane that is meant.
fn wait_for_pane(word: Option<&str>) -> Result<Option<PaneId>, Failure> {
    let mut found = None;
    wait_for(async {
        let client = host::connect().await.map_err(not_asked)?;
        if let Some(word) = word {
            found = Some(find::pane(&client, word).await?.id);
        }
        Ok(())
    })?;
    Ok(found)
}

fn yes_and_no() -> Vec<OptionParams> {
    let option = |id: &str, label: &str, polarity| OptionParams {
        id: id.into(),
        label: Some(label.into()),
        polarity: Some(polarity),
    };
    vec![
        option("yes", "Yes", Polarity::Grants),
        option("no", "No", Polarity::Refuses),
    ]
}

fn option(text: &str) -> Result<OptionParams, String> {
    let (option_id, rest) = text.split_once('=').unwrap_or((text, text));
    id::check(option_id).map_err(|invalid| invalid.to_string())?;
    let (label, polarity) = match rest.rsplit_once(':') {
        Some((label, "grants")) => (label, Polarity::Grants),
        Some((label, "refuses")) => (label, Polarity::Refuses),
        _ => (rest, default_polarity(option_id)),
    };
    if label.trim().is_empty() {
        return Err(format!("option {option_id:?} has an empty label"));
    }
    Ok(OptionParams {
        id: option_id.into(),
        label: Some(label.into()),
        polarity: Some(polarity),
    })
}

/// Ids that refuse where nobody said what an option does (specs/010 §2.8).
fn default_polarity(option_id: &str) -> Polarity {
    match option_id.to_ascii_lowercase().as_str() {
        "deny" | "reject" | "no" | "cancel" => Polarity::Refuses,
        _ => Polarity::Neutral,
    }
}

/// Milliseconds since the Unix epoch, that long from now.
fn expires_at(wait: Duration) -> Option<i64> {
    let at = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .ok()?
        .checked_add(wait)?;
    i64::try_from(at.as_millis()).ok()
}

fn not_asked(failure: Failure) -> Failure {
    Failure {
        code: NOT_ASKED,
        ..failure
    }
}

fn refused(quit: Quit) -> Failure {
    let (code, message) = match quit {
        Quit::Refused(error) if error.code == ErrorCode::NoSuchPane => (MISSING, error.message),
        Quit::Refused(error) => (NOT_ASKED, error.message),
        Quit::NoHost => (NOT_ASKED, "the host is gone".into()),
        Quit::NotHeld => (NOT_ASKED, "the host takes no more questions there".into()),
        Quit::NoPayload => (NOT_ASKED, "the question is too long".into()),
        Quit::Stopped | Quit::NoOutput => (NOT_ASKED, "stopped".into()),
    };
    Failure::new(code, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_has_an_id_a_label_and_perhaps_what_it_does() {
        let read = |text: &str| {
            let option = option(text).expect("an option");
            (
                option.id,
                option.label.expect("a label"),
                option.polarity.expect("a polarity"),
            )
        };
        assert_eq!(
            read("a=Go: now:grants"),
            ("a".into(), "Go: now".into(), Polarity::Grants)
        );
        assert_eq!(
            read("b=Stay:refuses"),
            ("b".into(), "Stay".into(), Polarity::Refuses)
        );
        assert_eq!(
            read("c=Maybe: later"),
            ("c".into(), "Maybe: later".into(), Polarity::Neutral)
        );
        assert_eq!(
            read("cancel"),
            ("cancel".into(), "cancel".into(), Polarity::Refuses)
        );
        for wrong in ["", "=x", "a b=x", "a=", "a=:grants"] {
            assert!(option(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn only_a_choice_that_does_not_refuse_is_success() {
        let ask = |options: &[&str]| Ask {
            prompt: "?".into(),
            options: options
                .iter()
                .map(|text| option(text).expect("an option"))
                .collect(),
            kind: AskKind::Permission,
            pane: None,
            timeout: None,
        };
        let chosen = |id: &str| Applied {
            option_id: Some(id.into()),
            ..Applied::default()
        };
        let code =
            |ask: &Ask, applied: &Applied| ask.outcome(applied).err().map(|failure| failure.code);
        let ask = ask(&["go=Go:grants", "no=No", "hm=Hm"]);
        assert_eq!(code(&ask, &chosen("go")), None);
        assert_eq!(code(&ask, &chosen("hm")), None);
        assert_eq!(code(&ask, &chosen("no")), Some(FAILED));
        assert_eq!(code(&ask, &chosen("other")), Some(NOT_ASKED));
        assert_eq!(code(&ask, &Applied::default()), Some(NOT_ASKED));
    }
}
