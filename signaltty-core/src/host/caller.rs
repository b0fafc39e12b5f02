//! Who is at the other end of a connection, resolved once, when it connects (specs/001 §5).

use tokio::net::UnixStream;

use super::ancestry::{self, Ancestry, PaneProcess};
use super::peer;
use super::state::Host;
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
    pub fn resolve(host: &Host, stream: &UnixStream) -> Option<Self> {
        let peer = peer::Peer::of(stream).ok()?;
        let (caller, ancestors) = match ancestry::of_peer(&peer, host.keeper.pid()) {
            Ancestry::Outside => (Caller::Outside, Vec::new()),
            Ancestry::Unknown => (Caller::Inside(None), Vec::new()),
            Ancestry::Inside { chain } => {
                let panes: Vec<PaneProcess> = host
                    .core()
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
                let pane_id = ancestry::pane_of(&chain, &panes).cloned();
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
            Caller::Inside(Some(pane_id)) if !shared => ReportedBy::Pane(pane_id.clone()),
            _ => ReportedBy::Elsewhere,
        }
    }
}
