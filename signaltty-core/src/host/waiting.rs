//! `pane.wait`: until a pane is in a lifecycle, for as long as the peer is there.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value as Json;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::timeout;

use super::dispatch::{pane, value};
use super::state::Host;
use crate::model::{Lifecycle, Pane};
use crate::protocol::method::PaneReply;
use crate::protocol::params::PaneWaitParams;
use crate::protocol::{ErrorCode, WireError};

/// Longest time that `pane.wait` waits.
const WAIT_MAX: Duration = Duration::from_secs(24 * 3_600);

/// Waits.
///
/// # Errors
/// `TIMEOUT`, `PANE_EXITED` where it will never be, `NO_SUCH_PANE`.
pub async fn wait(host: &Arc<Host>, params: PaneWaitParams) -> Result<Json, WireError> {
    let limit = match params.timeout_s {
        None => WAIT_MAX,
        Some(seconds) => Duration::try_from_secs_f64(seconds)
            .map_err(|_| WireError::bad_params("timeout_s", "seconds, 0 or more"))?
            .min(WAIT_MAX),
    };
    // Every lifecycle that a pane passes through comes by, also one that is over before this task runs.
    let mut passed = host.lifecycles.subscribe();
    let arrived = timeout(limit, async {
        loop {
            let pane = pane(host, &params.pane_id)?;
            if pane.lifecycle == params.until {
                return Ok(pane);
            }
            if pane.lifecycle == Lifecycle::Exited {
                let message = format!(
                    "pane {} has ended and will never be {:?}",
                    pane.id, params.until
                );
                return Err(WireError::new(ErrorCode::PaneExited, message));
            }
            loop {
                match passed.recv().await {
                    Ok((pane_id, lifecycle)) if pane_id == params.pane_id => {
                        if lifecycle == params.until {
                            return Ok(Pane { lifecycle, ..pane });
                        }
                        break;
                    }
                    Ok(_) => {}
                    Err(RecvError::Lagged(_)) => break,
                    Err(RecvError::Closed) => {
                        return Err(WireError::new(ErrorCode::Internal, "the host ends"));
                    }
                }
            }
        }
    });
    match arrived.await {
        Ok(result) => value(PaneReply { pane: result? }),
        Err(_) => Err(WireError::new(
            ErrorCode::Timeout,
            "the wait was over before it happened",
        )),
    }
}
