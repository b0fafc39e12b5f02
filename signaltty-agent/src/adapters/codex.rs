//! Codex, as its hooks speak (observed with 0.171.0).
//!
//! Its own prompt comes only after the `PermissionRequest` hook has returned, so the hook is held only while an
//! operator is connected. Esc kills the hook (SIGKILL) and fires `Interrupt`; a hook that goes away is therefore
//! waited for with its report. A permission request has no call id, and two can be open at once: they are told
//! apart by their input.

mod launch;
mod patch;
mod question;

use serde_json::{Value as Json, json};
use signaltty_core::adapter::{
    AdapterError, AgentAdapter, AnswerChannel, Ask, Holding, HookLoss, Integration, Reading, Signal,
};
use signaltty_core::answer::Applied;
use signaltty_core::model::{DetailKind, Kind, RespondVia, TextUse};

use super::card::{ALLOW, DENY, View, allow_once, bounded, deny, name};
use crate::integration;
use crate::reading::{Members, call, canonical_without};

/// Its name on the wire.
pub const AGENT: &str = "codex";

/// Tool that asks the human a question. Only observed: no hook can answer it.
const QUESTION: &str = "request_user_input";

/// The adapter.
#[derive(Debug, Default)]
pub struct Codex;

impl AgentAdapter for Codex {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn display_name(&self) -> &'static str {
        "Codex"
    }

    fn programs(&self) -> &'static [&'static str] {
        &["codex"]
    }

    /// A plain `hook-event` lists the rows of the menu on screen, whole and in order: the row's number and Enter
    /// choose one (ADR-0008 §3).
    fn answer_channel(&self) -> AnswerChannel {
        AnswerChannel::TypeText
    }

    fn interpret(&self, event: Option<&str>, payload: &Json) -> Result<Reading, AdapterError> {
        let members = Members::of_payload(AGENT, payload)?;
        let event = members
            .text("hook_event_name")
            .or(event)
            .unwrap_or_default();
        let mut reading = Reading {
            session_id: members.owned("session_id"),
            turn_id: members.owned("turn_id"),
            subagent: members.owned("agent_id"),
            cwd: members.owned("cwd"),
            ..Reading::default()
        };
        if event == "PermissionRequest" {
            reading.ask = Some(ask(members)?);
            return Ok(reading);
        }
        reading.signal = signal(event, members);
        if event == "PreToolUse" && members.text("tool_name") == Some(QUESTION) {
            reading.ask = question::ask(members);
        }
        Ok(reading)
    }

    /// It takes "allow" and "deny" and nothing else: an answer with any other member counts as a failed hook.
    fn verdict(&self, _carry: &Json, applied: &Applied) -> Result<String, AdapterError> {
        let decision = match (applied.option_id.as_deref(), applied.text.as_deref()) {
            (Some(ALLOW), _) => json!({ "behavior": "allow" }),
            (Some(DENY), None) => json!({ "behavior": "deny" }),
            (Some(DENY), Some(reason)) => json!({ "behavior": "deny", "message": reason }),
            _ => {
                return Err(AdapterError::Verdict {
                    agent: AGENT,
                    problem: "only an option answers it".into(),
                });
            }
        };
        let output = json!({ "hookSpecificOutput": { "hookEventName": "PermissionRequest", "decision": decision } });
        Ok(output.to_string())
    }

    fn probe(&self) -> Option<&'static [&'static str]> {
        Some(launch::PROBE)
    }

    fn launch(&self, help: &str, argv: Vec<String>) -> Vec<String> {
        launch::own_process(help, argv)
    }

    fn is_shared_server(&self, cmdline: &[String]) -> bool {
        launch::is_app_server(cmdline)
    }

    fn resume(&self, session_id: &str) -> Option<Vec<String>> {
        super::plain_session_id(session_id)
            .then(|| vec!["codex".into(), "resume".into(), session_id.into()])
    }

    fn integration(&self) -> Option<&dyn Integration> {
        Some(&integration::CODEX)
    }
}

/// The card of a `PermissionRequest`.
fn ask(members: Members<'_>) -> Result<Ask, AdapterError> {
    let tool = members.required(AGENT, "tool_name")?;
    let (value, input) = members.required_object(AGENT, "tool_input")?;
    let view = view(tool, value, input);
    Ok(bounded(Ask {
        kind: Kind::Permission,
        prompt: view.prompt,
        detail: Some(view.detail),
        detail_kind: view.kind,
        subject: Some(name(tool)),
        options: vec![allow_once(), deny("Deny")],
        text: TextUse::Reason,
        respond_via: Some(vec![RespondVia::Control]),
        channel: AnswerChannel::HookVerdict,
        holding: Holding::WhileOperator,
        hook_loss: HookLoss::AwaitReport,
        call: call(members, comparable),
        ..Ask::default()
    }))
}

/// What of a tool's input is the same in the request and in the report that it ran: the request alone has the
/// model's justification.
fn comparable(_tool: &str, input: &Json) -> String {
    canonical_without(input, &["description"])
}

fn view(tool: &str, value: &Json, input: Members<'_>) -> View {
    let Some(command) = input.text("command") else {
        return View::generic(tool, value);
    };
    let why = input
        .text("description")
        .map(|why| format!(" {why}"))
        .unwrap_or_default();
    let view = match tool {
        "Bash" => View {
            prompt: format!("Run this command?{why}"),
            detail: command.into(),
            kind: DetailKind::Command,
        },
        "apply_patch" => match patch::read(command) {
            Some(patch) => View {
                prompt: format!("{}{why}", patch.question()),
                detail: patch.diff,
                kind: DetailKind::Diff,
            },
            None => View {
                prompt: format!("Apply this patch?{why}"),
                detail: command.into(),
                kind: DetailKind::Text,
            },
        },
        _ => return View::generic(tool, value),
    };
    view.with_others(input, &["command", "description"])
}

fn signal(event: &str, members: Members<'_>) -> Option<Signal> {
    Some(match event {
        "SessionStart" => Signal::SessionStarted,
        "UserPromptSubmit" => Signal::PromptSubmitted,
        "PreToolUse" => Signal::ToolStarted(call(members, comparable)?),
        "PostToolUse" => Signal::ToolFinished(call(members, comparable)?),
        "Stop" => Signal::TurnEnded { background: false },
        "Interrupt" => Signal::Interrupted,
        "SubagentStart" | "SubagentStop" | "PreCompact" | "PostCompact" => Signal::Working,
        "SessionEnd" => Signal::SessionEnded,
        _ => return None,
    })
}
