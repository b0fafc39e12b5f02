//! A question on its way in: bounded, named without doubt, ready to stand on a pane (`specs/010 §2.6`).
//!
//! What a caller spells out itself is refused where it is wrong. What an adapter read is never dropped for
//! its form: ids that cannot stand are minted, and texts that are too long are cut visibly.

use super::calls::{Call, Scope};
use super::error::SessionError;
use super::state::Entry;
use crate::adapter::{AnswerChannel, Ask, AskOption, CallRef};
use crate::answer::{Applied, BadOffer, check_fields, check_options};
use crate::limits::{
    DETAIL_MAX, FIELDS_MAX, ID_MAX, LABEL_MAX, OPTIONS_MAX, PROMPT_MAX, TITLE_MAX,
};
use crate::model::{
    AnswerOption, Choice, Decision, DecisionId, Field, FieldType, Kind, Moment, Origin, PaneId,
    Polarity, Source, TextUse, Value, id,
};
use crate::sanitise::cut;

/// Ids as the adapter has them, where ours had to be others. Empty where they are the same.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Minted {
    /// Of the options, in order.
    options: Vec<String>,
    /// Of the fields, each with those of its choices, in order.
    fields: Vec<(String, Vec<String>)>,
}

impl Minted {
    /// What is applied, in the adapter's own ids.
    pub(super) fn back(&self, decision: &Decision, applied: &Applied) -> Applied {
        let mut own = applied.clone();
        if let Some(chosen) = &applied.option_id {
            let index = decision
                .options
                .iter()
                .position(|option| option.id == *chosen);
            if let Some(id) = index.and_then(|index| self.options.get(index)) {
                own.option_id = Some(id.clone());
            }
        }
        if let (Some(values), false) = (&applied.values, self.fields.is_empty()) {
            own.values = Some(
                values
                    .iter()
                    .map(|(id, value)| self.field_back(decision, id, value))
                    .collect(),
            );
        }
        own
    }

    fn field_back(&self, decision: &Decision, id: &str, value: &Value) -> (String, Value) {
        let index = decision.fields.iter().position(|field| field.id == id);
        let known =
            index.and_then(|index| Some((decision.fields.get(index)?, self.fields.get(index)?)));
        let Some((field, (own_id, own_choices))) = known else {
            return (id.to_owned(), value.clone());
        };
        let back = |id: &String| {
            let index = field.choices.iter().position(|choice| choice.id == *id);
            index
                .and_then(|index| own_choices.get(index))
                .unwrap_or(id)
                .clone()
        };
        let own = match value {
            Value::String(id) => Value::String(back(id)),
            Value::Many(ids) => Value::Many(ids.iter().map(back).collect()),
            other => other.clone(),
        };
        (own_id.clone(), own)
    }
}

/// What a report says of the one that asks.
pub(super) struct Asker {
    /// The agent.
    pub agent: String,
    /// In what it asks.
    pub scope: Scope,
}

/// Makes a decision of a question. Its id is the one that it brought, or empty until one is minted.
///
/// # Errors
/// [`SessionError::BadDecision`], only where the caller spelt the decision out itself.
pub(super) fn entry(
    asker: &Asker,
    pane_id: PaneId,
    ask: Ask,
    now: Moment,
) -> Result<Entry, SessionError> {
    let spelt_out = matches!(ask.origin, Origin::Plain | Origin::Ask);
    if spelt_out {
        check_texts(&ask, now)?;
    }
    let expires = ask.expires_at.map(|at| {
        now.boot_ms
            .saturating_add_signed(at.saturating_sub(now.wall_ms).max(0))
    });
    let mut minted = Minted::default();
    let (options, carries_text) = options(ask.options, ask.origin, &mut minted)?;
    let fields = fields(ask.fields, ask.kind, spelt_out, &mut minted)?;
    let kind = if ask.kind == Kind::Form && fields.is_empty() {
        Kind::Input
    } else {
        ask.kind
    };
    let carries_text = if ask.channel == AnswerChannel::TypeText {
        Vec::new()
    } else {
        carries_text
    };
    let text = text_use(kind, ask.text, ask.channel, !carries_text.is_empty());
    let scope = asker.scope.clone();
    let prompt = match ask.prompt.trim() {
        "" => ask
            .subject
            .clone()
            .unwrap_or_else(|| "The agent asks.".into()),
        _ => ask.prompt,
    };
    let decision = Decision {
        id: ask.id.unwrap_or_else(|| DecisionId::from_trusted("")),
        pane_id,
        kind,
        prompt: cut(&prompt, PROMPT_MAX).into_owned(),
        detail: ask
            .detail
            .map(|detail| cut(&detail, DETAIL_MAX).into_owned()),
        detail_kind: ask.detail_kind,
        subject: ask
            .subject
            .map(|subject| cut(&subject, LABEL_MAX).into_owned()),
        options,
        fields,
        text,
        respond_via: ask.respond_via.clone(),
        answerable: false,
        channel: ask.channel.name().map(str::to_owned),
        asked_at: now.wall_ms,
        expires_at: ask.expires_at,
        agent: asker.agent.clone(),
        source: Source {
            origin: ask.origin,
            session_id: scope.session_id.clone(),
            subagent: scope.subagent.clone(),
        },
    };
    Ok(Entry {
        decision,
        carries_text,
        minted,
        declared_via: ask.respond_via,
        channel: ask.channel,
        holding: ask.holding,
        hook_loss: ask.hook_loss,
        hook: None,
        turn_id: scope.turn_id.clone(),
        call: ask.call.map(|call| Call::new(scope, bounded_call(call))),
        keys: ask.keys,
        text_open: false,
        carry: ask.carry,
        announced: now.boot_ms,
        hold_until: None,
        expires,
        loss_until: None,
        delivery: None,
    })
}

/// A call whose names are bounded. Its input is kept as a digest anyway.
pub(super) fn bounded_call(call: CallRef) -> CallRef {
    CallRef {
        call_id: call.call_id.map(|id| cut(&id, TITLE_MAX).into_owned()),
        tool: cut(&call.tool, TITLE_MAX).into_owned(),
        input: call.input,
    }
}

fn bad(path: &str, problem: impl Into<String>) -> SessionError {
    SessionError::BadDecision {
        path: format!("decision.{path}"),
        problem: problem.into(),
    }
}

impl From<BadOffer> for SessionError {
    fn from(offer: BadOffer) -> Self {
        bad(&offer.path, offer.problem)
    }
}

fn check_texts(ask: &Ask, now: Moment) -> Result<(), SessionError> {
    if let Some(id) = &ask.id {
        id::check(id.as_str()).map_err(|invalid| bad("id", invalid.to_string()))?;
    }
    if ask.prompt.trim().is_empty() {
        return Err(bad("prompt", "it is blank; say what is asked for"));
    }
    let subject = ask.subject.as_deref().unwrap_or_default();
    let detail = ask.detail.as_deref().unwrap_or_default();
    for (path, text, most) in [
        ("prompt", ask.prompt.as_str(), PROMPT_MAX),
        ("detail", detail, DETAIL_MAX),
        ("subject", subject, LABEL_MAX),
    ] {
        if text.len() > most {
            return Err(bad(
                path,
                format!("{} bytes are too many; at most {most}", text.len()),
            ));
        }
    }
    if ask.expires_at.is_some_and(|at| at <= now.wall_ms) {
        return Err(bad("expires_at", "it has passed already"));
    }
    match (ask.kind, ask.fields.is_empty()) {
        (Kind::Form, true) => Err(bad("fields", "a form needs at least one field")),
        (Kind::Form, false) | (_, true) => Ok(()),
        (_, false) => Err(bad(
            "fields",
            "only a form has fields; kind is \"form\" for one",
        )),
    }
}

/// The options, and the ids of those that the channel carries a text with.
fn options(
    asked: Vec<AskOption>,
    origin: Origin,
    minted: &mut Minted,
) -> Result<(Vec<AnswerOption>, Vec<String>), SessionError> {
    let spelt_out = matches!(origin, Origin::Plain | Origin::Ask);
    let unpolar = spelt_out
        && asked
            .iter()
            .all(|option| option.polarity == Polarity::Neutral);
    let mut asked = asked;
    if !spelt_out {
        asked.truncate(OPTIONS_MAX);
    }
    let (mut options, carries): (Vec<_>, Vec<_>) = asked
        .into_iter()
        .map(|option| {
            let label = label(&option.label, &option.id, spelt_out);
            let polarity = if unpolar {
                polarity_of(&option.id)
            } else {
                option.polarity
            };
            (
                AnswerOption {
                    id: option.id,
                    label,
                    polarity,
                },
                option.carries_text,
            )
        })
        .unzip();
    if let Err(offer) = check_options(&options) {
        if spelt_out {
            return Err(offer.into());
        }
        minted.options = mint(options.iter_mut().map(|option| &mut option.id), "o");
        disambiguate(options.iter_mut().map(|option| &mut option.label), "o");
    }
    let carries = options.iter().zip(carries).filter(|(_, carries)| *carries);
    let carries_text = carries.map(|(option, _)| option.id.clone()).collect();
    Ok((options, carries_text))
}

/// A label as it is kept: trimmed, so that what is read is what an answer names it by.
fn label(label: &str, id: &str, spelt_out: bool) -> String {
    let label = crate::answer::trimmed(label);
    match (label.is_empty(), spelt_out) {
        (true, false) => cut(id, LABEL_MAX).into_owned(),
        (_, true) => label.to_owned(),
        (false, false) => cut(label, LABEL_MAX).into_owned(),
    }
}

/// What an option does where its minter did not say (`specs/010 §2.8`): these refuse, nothing grants.
fn polarity_of(id: &str) -> Polarity {
    let refuses = ["deny", "reject", "no", "cancel"]
        .iter()
        .any(|word| crate::answer::equal_folded(id, word));
    if refuses {
        Polarity::Refuses
    } else {
        Polarity::Neutral
    }
}

/// Gives every one an id of ours and gives back the ids that they had.
fn mint<'a>(ids: impl Iterator<Item = &'a mut String>, letter: &str) -> Vec<String> {
    ids.enumerate()
        .map(|(index, id)| std::mem::replace(id, format!("{letter}{}", index + 1)))
        .collect()
}

/// Changes labels that say the same as a minted id, which would name another option.
fn disambiguate<'a>(labels: impl Iterator<Item = &'a mut String>, letter: &str) {
    for label in labels {
        let rest = label
            .strip_prefix(letter)
            .or_else(|| label.strip_prefix(&letter.to_uppercase()));
        if rest.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit())) {
            *label = format!("“{label}”");
        }
        if crate::answer::trimmed(label).is_empty() {
            "(no label)".clone_into(label);
        }
    }
}

fn fields(
    asked: Vec<Field>,
    kind: Kind,
    spelt_out: bool,
    minted: &mut Minted,
) -> Result<Vec<Field>, SessionError> {
    if spelt_out {
        check_fields(&asked)?;
        return Ok(asked);
    }
    if kind != Kind::Form {
        return Ok(Vec::new());
    }
    let mut fields: Vec<Field> = asked
        .into_iter()
        .take(FIELDS_MAX)
        .map(bounded_field)
        .collect();
    if check_fields(&fields).is_err() {
        for field in &mut fields {
            let choices = mint(field.choices.iter_mut().map(|choice| &mut choice.id), "c");
            disambiguate(
                field.choices.iter_mut().map(|choice| &mut choice.label),
                "c",
            );
            minted.fields.push((field.id.clone(), choices));
        }
        mint(fields.iter_mut().map(|field| &mut field.id), "f");
    }
    Ok(fields)
}

fn bounded_field(field: Field) -> Field {
    let field_type = match field.field_type {
        // Nothing to choose from: words are all that can answer it.
        FieldType::Select if field.choices.is_empty() => FieldType::String,
        other => other,
    };
    let choices = field
        .choices
        .into_iter()
        .take(FIELDS_MAX)
        .map(|choice| Choice {
            label: label(&choice.label, &choice.id, false),
            description: choice
                .description
                .map(|text| cut(&text, LABEL_MAX).into_owned()),
            id: choice.id,
        });
    Field {
        label: label(&field.label, &field.id, false),
        field_type,
        choices: choices.collect(),
        ..field
    }
}

/// What typed text can do, as far as the channel and the kind allow it.
fn text_use(kind: Kind, asked: TextUse, channel: AnswerChannel, carries: bool) -> TextUse {
    match (kind, asked) {
        // Typed into a menu, words would be keys.
        _ if channel == AnswerChannel::TypeText => TextUse::None,
        (_, TextUse::None) => TextUse::None,
        // Words never grant, so the most that they can be is a reason.
        (Kind::Permission | Kind::Review, _) if carries => TextUse::Reason,
        (Kind::Permission | Kind::Review, _) => TextUse::None,
        (Kind::Input | Kind::Form, TextUse::Reason) if !carries => TextUse::None,
        (Kind::Input | Kind::Form, asked) => asked,
    }
}

/// A name of the vendor's (a session, a turn, a subagent), bounded.
pub(super) fn name(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
        .map(|text| cut(&text, TITLE_MAX).into_owned())
}

/// The agent's name, bounded.
pub(super) fn agent(text: &str) -> String {
    cut(text, ID_MAX).into_owned()
}
