//! `ExitPlanMode`: a plan to be read and approved.
//!
//! A plain allow leaves its dialog open; an allow that repeats the input approves, and edits are then asked for
//! one by one. Nothing but the option approves (specs/010 §2.3).

use serde_json::{Value as Json, json};
use signaltty_core::adapter::{AdapterError, AnswerChannel, Ask, AskOption, Holding, HookLoss};
use signaltty_core::answer::Applied;
use signaltty_core::model::{DetailKind, Kind, Polarity, RespondVia, TextUse};

use super::super::card::{DENY, deny};
use super::{cannot, refusal};
use crate::reading::Members;

/// How the carry names this card.
pub(super) const CARD: &str = "plan";
/// Id of the granting option.
const APPROVE: &str = "approve";

/// The review.
pub(super) fn ask(value: &Json, input: Members<'_>) -> Ask {
    let plan = input.text("plan");
    let prompt = match plan {
        Some(_) => "Approve this plan?",
        None => "Approve the plan? Its text is not in the request: read it in the terminal.",
    };
    let approve = AskOption {
        id: APPROVE.into(),
        label: "Approve the plan, ask before each edit".into(),
        polarity: Polarity::Grants,
        carries_text: false,
    };
    Ask {
        kind: Kind::Review,
        prompt: prompt.into(),
        detail: plan.map(str::to_owned),
        detail_kind: DetailKind::Text,
        options: vec![approve, deny("Deny")],
        text: TextUse::Reason,
        respond_via: Some(vec![RespondVia::Control, RespondVia::Oob]),
        channel: AnswerChannel::HookVerdict,
        holding: Holding::Always,
        hook_loss: HookLoss::MovedOn,
        carry: json!({ "card": CARD, "input": value }),
        ..Ask::default()
    }
}

/// The `decision` of the hook's output.
pub(super) fn verdict(carry: &Json, applied: &Applied) -> Result<Json, AdapterError> {
    match applied.option_id.as_deref() {
        Some(APPROVE) => {
            let input = carry
                .get("input")
                .ok_or_else(|| cannot("the plan is lost"))?;
            Ok(json!({ "behavior": "allow", "updatedInput": input }))
        }
        Some(DENY) => Ok(refusal(applied.text.as_deref())),
        _ => Err(cannot("only an option answers a plan")),
    }
}
