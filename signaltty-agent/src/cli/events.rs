//! Printing what happens, as it happens.

use signaltty_core::protocol::params::{Role, SubscribeParams};
use signaltty_core::protocol::{DecisionCleared, DecisionCreated, Event};

use super::failure::Failure;
use super::{Output, host, panes, show};

/// `events`
pub(super) async fn run(output: Output) -> Result<(), Failure> {
    let (client, mut events) = host::connect_as(Role::Observer).await?;
    client.subscribe(SubscribeParams::default()).await?;
    while let Some(frame) = events.recv().await {
        if output.json {
            show::json(&frame)?
        } else {
            show::line(&in_words(&frame.event))?
        }
    }
    Err(Failure::failed("the host is gone"))
}

/// One event on one line.
fn in_words(event: &Event) -> String {
    match event {
        Event::PaneCreated { pane } => format!("{}  opened  {}", pane.id, show::title(pane)),
        Event::PaneUpdated { pane } => {
            format!(
                "{}  {}  {}",
                pane.id,
                panes::word(pane.lifecycle),
                show::title(pane)
            )
        }
        Event::PaneExited { pane_id, exit } => match (exit.code, exit.signal) {
            (Some(code), _) => format!("{pane_id}  exited with {code}"),
            (None, Some(signal)) => format!("{pane_id}  ended by signal {signal}"),
            (None, None) => format!("{pane_id}  exited"),
        },
        Event::PaneClosed { pane_id } => format!("{pane_id}  closed"),
        Event::DecisionCreated(DecisionCreated { decision, .. }) => {
            format!(
                "{}  asks  {}  [{}]",
                decision.pane_id,
                show::prompt(decision),
                decision.id
            )
        }
        Event::DecisionUpdated { decision } => {
            let how = if decision.answerable {
                "can be answered"
            } else {
                "can only be answered in its terminal"
            };
            format!("{}  {how}  [{}]", decision.pane_id, decision.id)
        }
        Event::DecisionCleared(DecisionCleared {
            pane_id,
            decision_id,
            reason,
            by,
            ..
        }) => {
            let by = by
                .as_ref()
                .map(|by| format!(" by {}", show::one_line(by, 64)))
                .unwrap_or_default();
            format!("{pane_id}  {}{by}  [{decision_id}]", reason.as_str())
        }
        Event::LayoutChanged { .. } => "layout changed".into(),
        Event::AgentNotification {
            pane_id,
            title,
            body,
        } => {
            let title = title
                .as_ref()
                .map(|title| format!("{}: ", show::one_line(title, 64)))
                .unwrap_or_default();
            format!("{pane_id}  says  {title}{}", show::one_line(body, 200))
        }
        Event::ConfigChanged { .. } => "settings changed".into(),
        Event::HostWarning { message } => format!("warning: {}", show::one_line(message, 400)),
        Event::Resync(_) => "resync: too much happened at once; the state was sent again".into(),
    }
}
