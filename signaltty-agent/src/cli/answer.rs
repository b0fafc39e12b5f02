//! Answering what is being asked.

use std::io::{BufRead as _, IsTerminal as _};

use clap::Args;
use signaltty_core::answer::Applied;
use signaltty_core::client::Client;
use signaltty_core::model::{Decision, DecisionId, Pane};
use signaltty_core::protocol::method::{DecisionAnswer, DecisionGet};
use signaltty_core::protocol::params::{DecisionAnswerParams, DecisionGetParams};

use super::failure::Failure;
use super::{Output, decisions, find, host, show, values};

/// `answer`
#[derive(Debug, Args)]
pub(super) struct Answer {
    /// The pane that asks; needed where more than one does
    pane: Option<String>,
    /// The decision that is meant: nothing else is answered then
    #[arg(long, value_name = "ID")]
    decision: Option<String>,
    #[command(flatten)]
    given: Given,
}

/// What is answered.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
struct Given {
    /// An option, by its id
    #[arg(long, value_name = "ID", conflicts_with = "values")]
    option: Option<String>,
    /// Words: the name of an option, a reason, or the answer; beside --option its reason
    #[arg(long, allow_hyphen_values = true, conflicts_with = "values")]
    text: Option<String>,
    /// A value of a form; once for every field
    #[arg(long = "value", value_name = "FIELD=VALUE")]
    values: Vec<String>,
}

impl Answer {
    pub(super) async fn run(self, output: Output) -> Result<(), Failure> {
        let client = host::connect().await?;
        let pane = match &self.pane {
            Some(word) => Some(find::pane(&client, word).await?),
            None => None,
        };
        let decision = match &self.decision {
            Some(id) => meant(&client, pane.as_ref(), id).await?,
            None => only(&client, pane.as_ref()).await?,
        };
        // Said before it is answered, so that nobody answers something else than they think.
        show::aside(&format!(
            "Answering {}: {}\n",
            decision.pane_id,
            show::text(&decision.prompt)
        ));
        let values = match self.given.values.as_slice() {
            [] => None,
            pairs => Some(
                values::read(&decision, pairs.iter().map(String::as_str))
                    .map_err(Failure::usage)?,
            ),
        };
        let answered = client
            .call::<DecisionAnswer>(DecisionAnswerParams {
                pane_id: decision.pane_id.clone(),
                decision_id: decision.id.clone(),
                option_id: self.given.option,
                text: self.given.text,
                values,
                via: Some("cli".into()),
            })
            .await?;
        if output.json {
            show::json(&answered)
        } else {
            show::line(&applied(&decision, &answered.applied))
        }
    }
}

/// The decision of that id, and no other.
async fn meant(client: &Client, pane: Option<&Pane>, id: &str) -> Result<Decision, Failure> {
    let id = DecisionId::new(id).map_err(|error| Failure::missing(error.to_string()))?;
    let decision = client
        .call::<DecisionGet>(DecisionGetParams { decision_id: id })
        .await?
        .decision;
    match pane {
        Some(pane) if pane.id != decision.pane_id => Err(Failure::missing(format!(
            "decision {} is asked in pane {}",
            decision.id, decision.pane_id
        ))),
        _ => Ok(decision),
    }
}

/// The decision that is pending, where it is clear which one is meant.
async fn only(client: &Client, pane: Option<&Pane>) -> Result<Decision, Failure> {
    let mut pending = decisions::pending(client, pane.map(|pane| pane.id.clone())).await?;
    match (pending.len(), pane) {
        (0, Some(pane)) => Err(Failure::missing(format!(
            "nothing is asked in pane {}",
            pane.id
        ))),
        (0, None) => Err(Failure::missing("nothing is asked")),
        (1, _) => Ok(pending.swap_remove(0)),
        _ => choose(client, pending).await,
    }
}

/// Lets a person choose between several; a script has to say which.
async fn choose(client: &Client, mut pending: Vec<Decision>) -> Result<Decision, Failure> {
    let panes = decisions::panes(client).await?;
    let place = |decision: &Decision| {
        let title = decisions::of(&panes, &decision.pane_id)
            .map(show::title)
            .unwrap_or_default();
        format!("{} {title}: {}", decision.pane_id, show::prompt(decision))
    };
    let listed: Vec<String> = pending
        .iter()
        .enumerate()
        .map(|(index, decision)| format!("{}) {}", index + 1, place(decision)))
        .collect();
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Err(Failure::usage(format!(
            "more than one pane asks; say which:\n{}",
            listed.join("\n")
        )));
    }
    show::aside(&format!(
        "More than one pane asks:\n{}\nWhich one? ",
        listed.join("\n")
    ));
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    match line.trim().parse::<usize>() {
        Ok(number) if (1..=pending.len()).contains(&number) => Ok(pending.swap_remove(number - 1)),
        _ => Err(Failure::failed("nothing was answered")),
    }
}

/// What was applied, for people.
pub(super) fn applied(decision: &Decision, applied: &Applied) -> String {
    let mut said = match &applied.option_id {
        Some(id) => {
            let label = decision
                .option(id)
                .map_or_else(|| id.clone(), |option| show::label(&option.label));
            format!("Applied: {label}")
        }
        None => "Applied".to_owned(),
    };
    if let Some(text) = &applied.text {
        said = format!("{said}: {}", show::text(text));
    }
    if let Some(values) = &applied.values {
        let values: Vec<String> = values
            .iter()
            .map(|(id, value)| {
                format!(
                    "{id} = {}",
                    serde_json::to_string(value).unwrap_or_default()
                )
            })
            .collect();
        said = format!("{said}: {}", show::text(&values.join(", ")));
    }
    said
}
