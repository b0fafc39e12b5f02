//! `signaltty ask`: a script's own question (specs/020 §2). No vendor: the question is spelt out in its
//! `hook-event`, and the verdict is what was applied, as JSON, for the program that waits.

use serde_json::{Value as Json, json};
use signaltty_core::adapter::{AdapterError, AgentAdapter, AnswerChannel, Reading};
use signaltty_core::answer::Applied;

/// Its name on the wire.
pub const AGENT: &str = "ask";

/// The adapter.
#[derive(Debug, Clone, Copy, Default)]
pub struct Script;

impl AgentAdapter for Script {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn display_name(&self) -> &'static str {
        "Script"
    }

    fn programs(&self) -> &'static [&'static str] {
        &[]
    }

    fn answer_channel(&self) -> AnswerChannel {
        AnswerChannel::HookVerdict
    }

    fn interpret(&self, _event: Option<&str>, _payload: &Json) -> Result<Reading, AdapterError> {
        Err(AdapterError::Payload {
            agent: AGENT,
            problem: "a script spells its question out: send a decision".into(),
        })
    }

    fn verdict(&self, _carry: &Json, applied: &Applied) -> Result<String, AdapterError> {
        Ok(json!(applied).to_string())
    }
}
