//! `signaltty ask`: a script's own question (specs/020 §2). No vendor: the payload is ours, and the verdict is
//! what was applied, as JSON, for the program that waits.

use serde_json::{Value as Json, json};
use signaltty_core::adapter::{
    AdapterError, AgentAdapter, AnswerChannel, Ask, AskOption, Holding, HookLoss, Reading,
};
use signaltty_core::answer::Applied;
use signaltty_core::model::{DecisionId, Kind, Origin, Polarity, RespondVia, TextUse};
use signaltty_core::protocol::params::DecisionParams;

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

    /// The payload has the members of a `hook-event`'s `decision`.
    fn interpret(&self, _event: Option<&str>, payload: &Json) -> Result<Reading, AdapterError> {
        let asked: DecisionParams =
            serde_json::from_value(payload.clone()).map_err(|error| AdapterError::Payload {
                agent: AGENT,
                problem: error.to_string(),
            })?;
        Ok(Reading {
            ask: Some(ask(asked)?),
            ..Reading::default()
        })
    }

    fn verdict(&self, _carry: &Json, applied: &Applied) -> Result<String, AdapterError> {
        Ok(json!(applied).to_string())
    }
}

fn ask(asked: DecisionParams) -> Result<Ask, AdapterError> {
    let id = asked
        .id
        .map(DecisionId::new)
        .transpose()
        .map_err(|invalid| AdapterError::Payload {
            agent: AGENT,
            problem: invalid.to_string(),
        })?;
    // A script that offers nothing asks yes or no (specs/020 §2). An exact "yes" then names "Yes", and that is
    // right: the options are the caller's own (specs/010 §2.7).
    let options =
        if asked.options.is_empty() && matches!(asked.kind, Kind::Permission | Kind::Review) {
            vec![
                option("yes", "Yes", Polarity::Grants),
                option("no", "No", Polarity::Refuses),
            ]
        } else {
            let own = |given: signaltty_core::protocol::params::OptionParams| {
                let polarity = given
                    .polarity
                    .unwrap_or_else(|| default_polarity(&given.id));
                option(
                    &given.id,
                    given.label.as_deref().unwrap_or(&given.id),
                    polarity,
                )
            };
            asked.options.into_iter().map(own).collect()
        };
    let text = asked.text.unwrap_or(match asked.kind {
        Kind::Input => TextUse::Answer,
        Kind::Form if asked.fields.len() == 1 => TextUse::Answer,
        Kind::Form => TextUse::None,
        Kind::Permission | Kind::Review => {
            let refusable = options
                .iter()
                .any(|option| option.polarity == Polarity::Refuses);
            if refusable {
                TextUse::Reason
            } else {
                TextUse::None
            }
        }
    });
    Ok(Ask {
        id,
        kind: asked.kind,
        prompt: asked.prompt,
        detail: asked.detail,
        detail_kind: asked.detail_kind,
        subject: asked.subject,
        options,
        fields: asked.fields,
        text,
        respond_via: Some(vec![RespondVia::Control]),
        expires_at: asked.expires_at,
        channel: AnswerChannel::HookVerdict,
        holding: Holding::Always,
        hook_loss: HookLoss::MovedOn,
        origin: Origin::Ask,
        ..Ask::default()
    })
}

fn option(id: &str, label: &str, polarity: Polarity) -> AskOption {
    let carries_text = polarity != Polarity::Grants;
    AskOption {
        id: id.to_owned(),
        label: label.to_owned(),
        polarity,
        carries_text,
    }
}

/// Ids that refuse where nobody said what an option does (specs/010 §2.8).
fn default_polarity(id: &str) -> Polarity {
    match id.to_ascii_lowercase().as_str() {
        "deny" | "reject" | "no" | "cancel" => Polarity::Refuses,
        _ => Polarity::Neutral,
    }
}
