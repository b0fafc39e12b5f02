//! Requests whose reply takes its time: bounded a connection, and over when the connection is.

use serde_json::{Value as Json, json};
use tokio::sync::OwnedSemaphorePermit;

use super::connection::{Connection, send_line};
use super::dispatch::Then;
use crate::limits::IN_FLIGHT_MAX;
use crate::protocol::{ErrorCode, WireError};

/// Leave to have one more request in flight.
///
/// # Errors
/// `RATE_LIMITED` over [`IN_FLIGHT_MAX`].
pub fn permit(connection: &Connection) -> Result<OwnedSemaphorePermit, WireError> {
    connection
        .in_flight
        .clone()
        .try_acquire_owned()
        .map_err(|_| {
            WireError::new(
                ErrorCode::RateLimited,
                format!("at most {IN_FLIGHT_MAX} requests in flight on a connection"),
            )
        })
}

/// Does the rest of a request in a task of its own and replies from there.
pub fn later(
    connection: &Connection,
    id: u64,
    work: impl Future<Output = Result<Json, WireError>> + Send + 'static,
) -> Then {
    match permit(connection) {
        Ok(permit) => later_with(permit, connection, id, work),
        Err(error) => Then::Reply(Err(error)),
    }
}

/// The same with a permit that was taken before.
pub fn later_with(
    permit: OwnedSemaphorePermit,
    connection: &Connection,
    id: u64,
    work: impl Future<Output = Result<Json, WireError>> + Send + 'static,
) -> Then {
    let lines = connection.lines.clone();
    let mut here = connection.here.subscribe();
    tokio::spawn(async move {
        let outcome = tokio::select! {
            outcome = work => outcome,
            // The peer is gone: nothing waits on its behalf.
            _ = here.changed() => return,
        };
        let frame = match outcome {
            Ok(result) => json!({ "id": id, "result": result }),
            Err(error) => json!({ "id": id, "error": error }),
        };
        send_line(&lines, &frame).await;
        drop(permit);
    });
    Then::Later
}
