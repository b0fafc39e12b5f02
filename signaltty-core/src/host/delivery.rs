//! Carrying an answer to its agent by the one channel that its decision names (specs/010 §1.6, §3).

use tokio::time::sleep;

use super::state::{Core, Host};
use crate::adapter::AnswerChannel;
use crate::limits::ACK;
use crate::model::{DecisionId, HookId};
use crate::session::{Command, Effect};

/// A verdict that was sent and not confirmed yet.
#[derive(Debug, Clone, Copy)]
pub struct Delivery {
    /// The hook that waits for it.
    pub hook: HookId,
    /// The connection that has to confirm it.
    pub connection: u64,
}

/// Starts one delivery. Gives the command that settles it where its outcome is known at once.
pub fn begin(host: &Host, core: &mut Core, effect: Effect) -> Option<Command> {
    let Effect::Deliver {
        decision_id,
        pane_id,
        agent,
        channel,
        hook,
        option_index,
        applied,
        carry,
    } = effect
    else {
        return None;
    };
    let failed = |decision_id: DecisionId| {
        Some(Command::NotDelivered {
            decision_id,
            still_waiting: true,
        })
    };
    let Some(adapter) = host.adapters.get(&agent) else {
        return failed(decision_id);
    };
    match channel {
        AnswerChannel::HookVerdict => {
            let Some(hook) = hook else {
                return failed(decision_id);
            };
            let stdout = match adapter.verdict(&carry, &applied) {
                Ok(stdout) => stdout,
                Err(error) => {
                    tracing::warn!(%error, "an adapter could not spell an answer");
                    // The hook is let go without an opinion: its agent asks in its own way.
                    if let Some(peer) = core.hooks.remove(&hook) {
                        peer.verdict(&decision_id, "");
                    }
                    return failed(decision_id);
                }
            };
            let Some(peer) = core.hooks.get(&hook) else {
                return failed(decision_id);
            };
            if !peer.verdict(&decision_id, &stdout) {
                return failed(decision_id);
            }
            core.deliveries.insert(
                decision_id.clone(),
                Delivery {
                    hook,
                    connection: peer.connection,
                },
            );
            if let Some(handle) = host.handle() {
                host.runtime.spawn(async move {
                    sleep(ACK).await;
                    settle(&handle, &decision_id, Outcome::Unconfirmed);
                });
            }
            None
        }
        AnswerChannel::TypeText => {
            let Some(index) = option_index else {
                return failed(decision_id);
            };
            let bytes = adapter.typed_choice(index);
            // Under the lock: no key that is typed after this can reach the program before it.
            if core
                .panes
                .get(&pane_id)
                .is_some_and(|pane| pane.type_answer(&bytes))
            {
                Some(Command::Delivered { decision_id })
            } else {
                failed(decision_id)
            }
        }
        // No adapter of this build names it; a decision that does is never answerable.
        AnswerChannel::Reply | AnswerChannel::None => failed(decision_id),
    }
}

/// How a verdict that was sent turned out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// This connection says that it wrote and flushed it. Only the one that got the verdict can.
    Confirmed {
        /// The connection's number.
        connection: u64,
    },
    /// Nobody confirmed it in time.
    Unconfirmed,
}

/// Settles a verdict. False where none of that id is outstanding, or not for that connection.
pub fn settle(host: &Host, decision_id: &DecisionId, outcome: Outcome) -> bool {
    let mut core = host.core();
    let Some(delivery) = core.deliveries.get(decision_id).copied() else {
        return false;
    };
    let command = match outcome {
        Outcome::Confirmed { connection } if connection != delivery.connection => return false,
        Outcome::Confirmed { .. } => Command::Delivered {
            decision_id: decision_id.clone(),
        },
        Outcome::Unconfirmed => Command::NotDelivered {
            decision_id: decision_id.clone(),
            still_waiting: true,
        },
    };
    core.deliveries.remove(decision_id);
    core.hooks.remove(&delivery.hook);
    if let Err(error) = host.drive_locked(&mut core, command) {
        tracing::warn!(%error, "a delivery could not be settled");
    }
    true
}
