//! Showing what is being asked.

use clap::Args;
use signaltty_core::client::Client;
use signaltty_core::model::{Decision, Pane, PaneId};
use signaltty_core::protocol::method::{DecisionList, Nothing, PaneList};
use signaltty_core::protocol::params::DecisionListParams;

use super::failure::Failure;
use super::{Output, host, show};

/// `decisions`
#[derive(Debug, Args)]
pub(super) struct List {
    /// Those that stand in line behind another too
    #[arg(long)]
    queued: bool,
}

impl List {
    pub(super) async fn run(self, output: Output) -> Result<(), Failure> {
        let client = host::connect().await?;
        let listed = client
            .call::<DecisionList>(DecisionListParams {
                pane_id: None,
                queued: self.queued,
            })
            .await?;
        if output.json {
            return show::json(&listed);
        }
        let panes = panes(&client).await?;
        for (index, decision) in listed.decisions.iter().enumerate() {
            if index > 0 {
                show::line("")?;
            }
            show::line(&show::card(decision, of(&panes, &decision.pane_id)))?;
        }
        Ok(())
    }
}

/// Pending decisions, of one pane or of all.
pub(super) async fn pending(
    client: &Client,
    pane_id: Option<PaneId>,
) -> Result<Vec<Decision>, Failure> {
    Ok(client
        .call::<DecisionList>(DecisionListParams {
            pane_id,
            queued: false,
        })
        .await?
        .decisions)
}

/// All panes, to name the places where something is asked.
pub(super) async fn panes(client: &Client) -> Result<Vec<Pane>, Failure> {
    Ok(client.call::<PaneList>(Nothing {}).await?.panes)
}

/// The pane of that id.
pub(super) fn of<'a>(panes: &'a [Pane], id: &PaneId) -> Option<&'a Pane> {
    panes.iter().find(|pane| &pane.id == id)
}
