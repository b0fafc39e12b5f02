//! Who is at the other end of a connection, resolved once, when it connects (specs/001 §5).

use std::time::Duration;

use tokio::net::UnixStream;
use tokio::time::{Instant, sleep};

use super::ancestry::{self, Ancestry, PaneProcess, Process};
use super::peer;
use super::state::Host;
use crate::model::PaneId;
use crate::session::{Caller, ReportedBy};

/// A peer.
#[derive(Debug, Clone)]
pub struct Peer {
    /// Its process.
    pub pid: i32,
    /// Its user.
    pub uid: u32,
    /// Whether it is inside a pane, and in which. One whose ancestry cannot be read counts as inside.
    pub caller: Caller,
    /// Command lines of the processes between it and its pane.
    ancestors: Vec<Vec<String>>,
}

impl Peer {
    /// Resolves the peer of a connection. `None` where the system does not even say who it is.
    pub async fn resolve(host: &Host, stream: &UnixStream) -> Option<Self> {
        let peer = peer::Peer::of(stream).ok()?;
        let (caller, ancestors) = match ancestry::of_peer(&peer, host.keeper.pid()) {
            Ancestry::Outside => (Caller::Outside, Vec::new()),
            Ancestry::Unknown => (Caller::Inside(None), Vec::new()),
            Ancestry::Inside { chain } => {
                let pane_id = pane_of(host, &chain).await;
                (
                    Caller::Inside(pane_id),
                    chain.into_iter().map(|process| process.cmdline).collect(),
                )
            }
        };
        Some(Self {
            pid: peer.pid.unwrap_or_default(),
            uid: peer.uid,
            caller,
            ancestors,
        })
    }

    /// The pane whose agent a hook of this peer reports for. Below a server that a vendor shares between
    /// sessions the process tree says nothing.
    pub fn reported_by(&self, host: &Host, agent: &str) -> ReportedBy {
        let shared = host.adapters.get(agent).is_some_and(|adapter| {
            self.ancestors
                .iter()
                .any(|cmdline| adapter.is_shared_server(cmdline))
        });
        match &self.caller {
            Caller::Outside => ReportedBy::Outside,
            Caller::Inside(_) if shared => ReportedBy::Elsewhere,
            Caller::Inside(Some(pane_id)) => ReportedBy::Pane(pane_id.clone()),
            Caller::Inside(None) => ReportedBy::Unknown,
        }
    }
}

/// How long a peer waits for its own pane to open, and how often that is looked at.
const OPENING_MAX: Duration = Duration::from_secs(2);
const OPENING_LOOK: Duration = Duration::from_millis(5);

/// The pane that a line of descent belongs to. A program may connect before the host has heard from the keeper
/// that it runs; its pane is then about to open.
async fn pane_of(host: &Host, chain: &[Process]) -> Option<PaneId> {
    let deadline = Instant::now() + OPENING_MAX;
    loop {
        let (panes, opening) = {
            let core = host.core();
            let panes: Vec<PaneProcess> = core
                .session
                .panes()
                .into_iter()
                .filter(|pane| pane.exit.is_none())
                .filter_map(|pane| {
                    Some(PaneProcess {
                        pid: pane.pid?,
                        pane_id: pane.id,
                    })
                })
                .collect();
            (panes, !core.spawning.is_empty())
        };
        let found = ancestry::pane_of(chain, &panes).cloned();
        if found.is_some() || !opening || Instant::now() > deadline {
            return found;
        }
        sleep(OPENING_LOOK).await;
    }
}
