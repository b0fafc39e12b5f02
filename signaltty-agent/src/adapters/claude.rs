//! Claude Code, as its hooks speak (observed with 2.1.332).
//!
//! Its own prompt stands beside a held hook and whoever answers first wins, so a `PermissionRequest` is always
//! held. A human's "no" in the terminal ends the hook (SIGTERM) and fires no event; a human's "yes" ends
//! nothing and is known by the keys typed, or by the call's `PostToolUse` once it ran.

mod permission;
mod plan;
mod question;
mod suggestion;

use serde_json::{Value as Json, json};
use signaltty_core::adapter::{
    AdapterError, AgentAdapter, Integration, Reading, Signal, canonical,
};
use signaltty_core::answer::Applied;

use crate::integration;
use crate::reading::{Members, call};

/// Its name on the wire.
pub const AGENT: &str = "claude";

/// Tool whose permission request is a set of questions.
const QUESTIONS: &str = "AskUserQuestion";
/// Tool whose permission request is a plan.
const PLAN: &str = "ExitPlanMode";

/// The adapter.
#[derive(Debug, Clone, Copy, Default)]
pub struct Claude;

impl AgentAdapter for Claude {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn display_name(&self) -> &'static str {
        "Claude Code"
    }

    fn programs(&self) -> &'static [&'static str] {
        &["claude"]
    }

    fn interpret(&self, event: Option<&str>, payload: &Json) -> Result<Reading, AdapterError> {
        let members = Members::of_payload(AGENT, payload)?;
        let event = members
            .text("hook_event_name")
            .or(event)
            .unwrap_or_default();
        let mut reading = Reading {
            session_id: members.owned("session_id"),
            turn_id: members.owned("prompt_id"),
            subagent: members.owned("agent_id"),
            cwd: members.owned("cwd"),
            ..Reading::default()
        };
        match event {
            "PermissionRequest" => reading.ask = Some(ask(members)?),
            "Notification" => notification(members, &mut reading),
            _ => reading.signal = signal(event, members),
        }
        Ok(reading)
    }

    fn verdict(&self, carry: &Json, applied: &Applied) -> Result<String, AdapterError> {
        let decision = match carry.get("card").and_then(Json::as_str) {
            Some(permission::CARD) => permission::verdict(carry, applied)?,
            Some(question::CARD) => question::verdict(carry, applied)?,
            Some(plan::CARD) => plan::verdict(carry, applied)?,
            _ => return Err(cannot("the card is not one of its own")),
        };
        let output = json!({ "hookSpecificOutput": { "hookEventName": "PermissionRequest", "decision": decision } });
        Ok(output.to_string())
    }

    fn resume(&self, session_id: &str) -> Option<Vec<String>> {
        super::plain_session_id(session_id)
            .then(|| vec!["claude".into(), "--resume".into(), session_id.into()])
    }

    fn integration(&self) -> Option<&dyn Integration> {
        Some(&integration::CLAUDE)
    }
}

/// The card of a `PermissionRequest`.
fn ask(members: Members<'_>) -> Result<signaltty_core::adapter::Ask, AdapterError> {
    let tool = members.required(AGENT, "tool_name")?;
    let (value, input) = members.required_object(AGENT, "tool_input")?;
    let mut ask = match tool {
        QUESTIONS => question::ask(value, input)?,
        PLAN => plan::ask(value, input),
        _ => permission::ask(tool, value, input, members.list("permission_suggestions")),
    };
    ask.call = call(members, comparable);
    ask.subject = Some(super::card::name(tool));
    Ok(super::card::bounded(ask))
}

/// What of a tool's input is the same in the request and in the report that it ran. The answers to questions
/// are written into the input; a plan's is empty in one and whole in the other, and there is only one at a time.
fn comparable(tool: &str, input: &Json) -> String {
    match tool {
        QUESTIONS => input.get("questions").map(canonical).unwrap_or_default(),
        PLAN => String::new(),
        _ => canonical(input),
    }
}

fn signal(event: &str, members: Members<'_>) -> Option<Signal> {
    Some(match event {
        "SessionStart" => Signal::SessionStarted,
        "UserPromptSubmit" => Signal::PromptSubmitted,
        "PreToolUse" => Signal::ToolStarted(call(members, comparable)?),
        "PostToolUse" | "PostToolUseFailure" => Signal::ToolFinished(call(members, comparable)?),
        "PermissionDenied" => Signal::Resolved(call(members, comparable)?),
        "Stop" => Signal::TurnEnded {
            background: !members.list("background_tasks").is_empty(),
        },
        "StopFailure" => Signal::TurnFailed,
        "SubagentStart" | "SubagentStop" | "PreCompact" | "PostCompact" => Signal::Working,
        "SessionEnd" => Signal::SessionEnded,
        _ => return None,
    })
}

/// A notification of its own: the one about a permission repeats the request, the one about idling is a state.
fn notification(members: Members<'_>, reading: &mut Reading) {
    match members.text("notification_type") {
        Some("permission_prompt") => {}
        Some("idle_prompt") => reading.signal = Some(Signal::Idle),
        _ => reading.message = members.owned("message"),
    }
}

fn cannot(problem: &str) -> AdapterError {
    AdapterError::Verdict {
        agent: AGENT,
        problem: problem.into(),
    }
}

/// The refusal, with the human's words where there are any: the tool's result is exactly these words then, and
/// the turn goes on.
fn refusal(reason: Option<&str>) -> Json {
    match reason {
        Some(reason) => json!({ "behavior": "deny", "message": reason }),
        None => json!({ "behavior": "deny" }),
    }
}
