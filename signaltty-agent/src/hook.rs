//! `signaltty hook AGENT [EVENT]`: an agent's hook. Payload on standard input, verdict on standard output.
//!
//! The hot path: it runs at every step of an agent, so it starts no runtime and parses no options. And it never
//! makes an agent worse (specs/010 §3): no host, a lost host that does not come back, a payload that is none,
//! SIGTERM, an agent that is gone, our wait over: nothing on standard output, exit 0. No failure grants or
//! refuses. It never starts a host and never shows the payload or its environment, which holds secrets.

pub(crate) mod link;
pub(crate) mod watch;

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use serde_json::Value as Json;
use signaltty_core::limits::{HOLD_MAX, HOOK_MARGIN, LINE_MAX, RECONNECT};
use signaltty_core::model::DecisionId;
use signaltty_core::paths::SocketPaths;
use signaltty_core::protocol::method::{HookAck, HookEvent, Method};
use signaltty_core::protocol::params::{HookAckParams, HookEventParams, HookEventReply};
use signaltty_core::protocol::{Incoming, VerdictFrame, WireError};

use link::Link;
use watch::{Deadline, Watch};

/// Largest payload, in bytes: with the rest of its line it stays below [`LINE_MAX`].
pub const PAYLOAD_MAX: usize = LINE_MAX - 4 * 1024;
/// How long the agent has to hand its payload over.
const PAYLOAD_WAIT: Duration = Duration::from_secs(5);
/// How long the host has to take a report.
const REPLY_WAIT: Duration = Duration::from_secs(2);
/// How long a host that came back has to take the report, beyond [`RECONNECT`].
const REJOIN_WAIT: Duration = Duration::from_millis(400);
/// Pause between two attempts to reach a host that went away.
const REJOIN_PAUSE: Duration = Duration::from_millis(20);
/// How long we wait for a verdict. The host gives up first (`HOLD_MAX`) and says so; the vendor's timeout comes
/// last (`HOLD_MAX` + `HOOK_MARGIN`).
const VERDICT_WAIT: Duration = Duration::from_secs(HOLD_MAX.as_secs() + HOOK_MARGIN.as_secs() / 2);

/// For which agent, and for which event where the payload does not say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// The agent.
    pub agent: String,
    /// The vendor's name of the event.
    pub event: Option<String>,
}

impl Invocation {
    /// Reads `AGENT [EVENT]`. Anything else is for the command line's own reading, which explains itself.
    pub fn from_arguments(arguments: impl Iterator<Item = OsString>) -> Option<Self> {
        let words: Option<Vec<String>> = arguments
            .take(3)
            .map(|word| word.into_string().ok())
            .collect();
        let plain = |word: &String| !word.is_empty() && !word.starts_with('-');
        match words?.as_slice() {
            [agent] if plain(agent) => Some(Self {
                agent: agent.clone(),
                event: None,
            }),
            [agent, event] if plain(agent) && plain(event) => Some(Self {
                agent: agent.clone(),
                event: Some(event.clone()),
            }),
            _ => None,
        }
    }
}

/// Why a hook ends without a verdict. Nobody is told: the agent goes on as if there were no hook.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Quit {
    /// There is no host, or none any more.
    NoHost,
    /// The payload is none, or too large.
    NoPayload,
    /// The host had nothing to wait for.
    NotHeld,
    /// The host refused.
    Refused(WireError),
    /// SIGTERM, the agent is gone, or the wait is over.
    Stopped,
    /// Standard output takes nothing.
    NoOutput,
}

/// Reports, and carries the verdict where there is one.
pub fn run(invocation: &Invocation) {
    let _ = report(invocation);
}

fn report(invocation: &Invocation) -> Result<(), Quit> {
    let mut watch = Watch::new().ok_or(Quit::Stopped)?;
    // The payload is taken before anything else: an agent whose pipe breaks may call its hook failed.
    let payload = payload(&watch)?;
    let paths = SocketPaths::from_env().map_err(|_| Quit::NoHost)?;
    // A socket that somebody else may have put there could grant.
    paths.check_folder().map_err(|_| Quit::NoHost)?;
    let mut params = HookEventParams {
        agent: invocation.agent.clone(),
        event: invocation.event.clone(),
        payload: Some(payload),
        pane_id: None,
        session_id: None,
        decision: None,
        respond_via: None,
        lifecycle: None,
        message: None,
        hold: true,
        resumes: None,
    };
    // Before the host knows of us: from then on no end of the agent goes unseen.
    watch.ancestors();
    let mut held = submit(&paths.host, &params, &watch, Deadline::after(REPLY_WAIT))?;
    let deadline = Deadline::after(VERDICT_WAIT);
    loop {
        match held.verdict(&watch, deadline) {
            Ok(verdict) => {
                if !verdict.stdout.is_empty() && !held.link.is_host_s(&paths.keeper) {
                    return Err(Quit::NoHost);
                }
                return deliver(&mut held.link, &verdict);
            }
            Err(Quit::NoHost) => {
                params.resumes = Some(held.decision);
                held = resubmit(&paths.host, &params, &watch, RECONNECT)?;
            }
            Err(quit) => return Err(quit),
        }
    }
}

/// Reads the payload, in full and within its bound.
fn payload(watch: &Watch) -> Result<Json, Quit> {
    let bytes = watch
        .read_input(PAYLOAD_MAX, Deadline::after(PAYLOAD_WAIT))
        .ok_or(Quit::NoPayload)?;
    serde_json::from_slice(&bytes).map_err(|_| Quit::NoPayload)
}

/// A report that the host holds until there is a verdict.
#[derive(Debug)]
pub(crate) struct Held {
    /// The connection that waits.
    pub(crate) link: Link,
    /// What is waited for.
    pub(crate) decision: DecisionId,
}

impl Held {
    /// Waits for the verdict of this decision; every other line is somebody else's.
    pub(crate) fn verdict(
        &mut self,
        watch: &Watch,
        deadline: Deadline,
    ) -> Result<VerdictFrame, Quit> {
        loop {
            if let Ok(Incoming::Verdict(verdict)) =
                Incoming::parse(&self.link.line(watch, deadline)?)
            {
                if verdict.decision_id == self.decision {
                    return Ok(verdict);
                }
            }
        }
    }
}

/// Hands a report over; comes back where the host holds it.
pub(crate) fn submit(
    socket: &Path,
    params: &HookEventParams,
    watch: &Watch,
    deadline: Deadline,
) -> Result<Held, Quit> {
    let mut link = Link::connect(socket, watch, deadline)?;
    link.request(1, HookEvent::NAME, params)?;
    let line = link.line(watch, deadline)?;
    let Ok(Incoming::Response(response)) = Incoming::parse(&line) else {
        return Err(Quit::NotHeld);
    };
    if let Some(error) = response.error {
        return Err(Quit::Refused(error));
    }
    let reply: Option<HookEventReply> = response
        .result
        .and_then(|result| serde_json::from_value(result).ok());
    match reply {
        Some(HookEventReply {
            held: true,
            decision_id: Some(decision),
            ..
        }) => Ok(Held { link, decision }),
        _ => Err(Quit::NotHeld),
    }
}

/// Hands the same report to the host that comes back within `wait`, under the decision it had.
pub(crate) fn resubmit(
    socket: &Path,
    params: &HookEventParams,
    watch: &Watch,
    wait: Duration,
) -> Result<Held, Quit> {
    let back = Deadline::after(wait);
    loop {
        match submit(socket, params, watch, back.later(REJOIN_WAIT)) {
            Err(Quit::NoHost) if !back.passed() => watch.pause(REJOIN_PAUSE)?,
            other => return other,
        }
    }
}

/// Confirms that a verdict is out of our hands.
pub(crate) fn confirm(link: &mut Link, decision: &DecisionId) -> Result<(), Quit> {
    link.request(
        2,
        HookAck::NAME,
        &HookAckParams {
            decision_id: decision.clone(),
        },
    )
}

/// Writes the verdict, and says so only when it is out of our hands (specs/010 §1.6).
fn deliver(link: &mut Link, verdict: &VerdictFrame) -> Result<(), Quit> {
    let mut stdout = std::io::stdout().lock();
    stdout
        .write_all(verdict.stdout.as_bytes())
        .and_then(|()| stdout.flush())
        .map_err(|_| Quit::NoOutput)?;
    confirm(link, &verdict.decision_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invocation(words: &[&str]) -> Option<Invocation> {
        Invocation::from_arguments(words.iter().map(OsString::from))
    }

    #[test]
    fn an_agent_and_perhaps_an_event_are_taken() {
        assert_eq!(
            invocation(&["claude"]),
            Some(Invocation {
                agent: "claude".into(),
                event: None
            })
        );
        let event = Invocation {
            agent: "codex".into(),
            event: Some("Stop".into()),
        };
        assert_eq!(invocation(&["codex", "Stop"]), Some(event));
        for other in [
            &[][..],
            &["--help"],
            &["claude", "--help"],
            &["a", "b", "c"],
            &[""],
        ] {
            assert_eq!(invocation(other), None, "{other:?}");
        }
    }

    #[test]
    fn the_host_gives_up_before_the_hook_and_the_hook_before_the_vendor() {
        assert!(HOLD_MAX < VERDICT_WAIT);
        assert!(VERDICT_WAIT < signaltty_core::adapter::INSTALLED_TIMEOUT);
    }
}
