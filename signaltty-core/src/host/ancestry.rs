//! From inside or from outside? Which processes a peer descends from, and so what it may do (specs/001 §5).
//!
//! The keeper is a child subreaper: whatever a pane starts stays its descendant, however it forks, changes
//! its session or its environment. So "inside a pane" means "the keeper is an ancestor", read from
//! `/proc/PID/stat`, which every user may read even of a non-dumpable process. What cannot be read counts
//! as inside.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::Path;

use crate::model::PaneId;

use super::peer::Peer;

/// Longest line of ancestors that is followed. A real one has a dozen; a longer one is unknown.
pub const DEPTH_MAX: usize = 256;
/// Bytes of a command line that are read.
pub const CMDLINE_MAX: usize = 4_096;
/// How often a walk that met a change is begun anew.
const WALKS_MAX: usize = 4;
/// Longest `/proc/PID/stat`: some fifty numbers and a name of at most 64 bytes.
const STAT_MAX: u64 = 4_096;

/// What `/proc/PID/stat` says of a process, as far as descent needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// The process.
    pub pid: i32,
    /// Its parent; 0 if it has none that is visible.
    pub parent: i32,
    /// Its session: the pid of the process that began it.
    pub session: i32,
    /// When it began, in clock ticks since boot. With the pid, names it for ever.
    pub started: u64,
}

/// One process of a line of descent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its place in the line.
    pub stat: Stat,
    /// Its arguments, at most [`CMDLINE_MAX`] bytes of them. Untrusted: a process may write anything there.
    pub cmdline: Vec<String>,
}

/// Where a peer stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ancestry {
    /// The keeper is none of its ancestors.
    Outside,
    /// It descends from the keeper.
    Inside {
        /// Itself, its parent, and so on; the last is a child of the keeper.
        chain: Vec<Process>,
    },
    /// It cannot be told. Counts as inside, in no known pane.
    Unknown,
}

impl Ancestry {
    /// Whether it may do only what a pane's program may do.
    pub fn is_inside(&self) -> bool {
        !matches!(self, Self::Outside)
    }

    /// The line of descent below the keeper; empty where it is outside or unknown.
    pub fn chain(&self) -> &[Process] {
        match self {
            Self::Inside { chain } => chain,
            _ => &[],
        }
    }
}

/// The program of a pane, as [`pane_of`] looks for it. Only of panes whose program still runs: an ended
/// program's pid may already be another's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaneProcess {
    /// The pane.
    pub pane_id: PaneId,
    /// Its program's pid, which is its session's too.
    pub pid: i32,
}

/// Resolves the other end of a connected Unix socket. Do this once, when it connects: the answer holds for
/// the connection, whatever becomes of the process.
///
/// # Errors
/// What `getsockopt` says, where `socket` is no connected Unix socket.
pub fn resolve(socket: impl AsFd, keeper_pid: i32) -> io::Result<Ancestry> {
    Ok(of_peer(&Peer::of(socket)?, keeper_pid))
}

/// The same for a peer that the kernel was asked about already.
pub fn of_peer(peer: &Peer, keeper_pid: i32) -> Ancestry {
    let Some(pid) = peer.pid else {
        return Ancestry::Unknown;
    };
    let line = of_pid(pid, keeper_pid);
    // Checked after the walk: as long as it lives, its pid was its own during the whole walk.
    if peer.is_alive() {
        line
    } else {
        Ancestry::Unknown
    }
}

/// The line of descent of a process that the caller knows to be alive.
pub fn of_pid(pid: i32, keeper_pid: i32) -> Ancestry {
    for _ in 0..WALKS_MAX {
        match walk(pid, keeper_pid, read_stat) {
            Walk::Line(_) => return Ancestry::Outside,
            Walk::Inside(line) => {
                let chain = line
                    .into_iter()
                    .map(|stat| Process {
                        stat,
                        cmdline: read_cmdline(stat.pid),
                    })
                    .collect();
                return Ancestry::Inside { chain };
            }
            Walk::Unreadable => return Ancestry::Unknown,
            Walk::Changed => {}
        }
    }
    Ancestry::Unknown
}

/// Whether a peer descends from `ancestor`, is it, or cannot be told not to. What the keeper asks of its peers.
pub fn may_descend(peer: &Peer, ancestor: i32) -> bool {
    of_peer(peer, ancestor).is_inside()
}

/// Whether a peer runs below some keeper of this very socket, or may do so: what a host asks of its keeper,
/// and a client may ask of its host, who cannot know the keeper's pid from anyone that they trust yet. A pane's
/// program may put a socket of its own in the place of ours, and would then say who is inside; but it cannot
/// leave its line of descent, and the real keeper's name stands in that. (A workspace inside a pane of another
/// one has another socket.)
pub fn may_be_below_keeper_of(peer: &Peer, keeper_socket: &Path) -> bool {
    /// No process: the line is followed to its top.
    const NOBODY: i32 = -1;
    let title = keeper_title(keeper_socket);
    let Some(pid) = peer.pid else { return true };
    for _ in 0..WALKS_MAX {
        let line = match walk(pid, NOBODY, read_stat) {
            Walk::Line(line) => line,
            Walk::Changed => continue,
            Walk::Inside(_) | Walk::Unreadable => return true,
        };
        let below = line
            .iter()
            .skip(1)
            .any(|stat| read_cmdline(stat.pid).first() == Some(&title));
        return below || !peer.is_alive();
    }
    true
}

/// How a keeper is named in the list of processes, by which [`may_be_below_keeper_of`] knows it. Only a process
/// itself can change its name, and the keeper is not to be made to.
pub(crate) fn keeper_title(keeper_socket: &Path) -> String {
    format!("signaltty-keeper:{}", keeper_socket.display())
}

/// The pane that a process of this line belongs to.
///
/// Nearest first: the ancestor that is a pane's program; else the session that one of the line is still in.
/// A program that was re-parented to the keeper (`nohup … &` in a shell that ended, a double fork) keeps its
/// session, and nobody can enter another's session, so that is proof. One that also began a session of its
/// own (a daemon, a terminal multiplexer's server) is inside and in no known pane. The controlling terminal
/// would say no more, and its number can be forged by mounting another devpts.
pub fn pane_of<'a>(chain: &[Process], panes: &'a [PaneProcess]) -> Option<&'a PaneId> {
    let by_pid = |pid: i32| {
        panes
            .iter()
            .find(|pane| pane.pid == pid)
            .map(|pane| &pane.pane_id)
    };
    chain
        .iter()
        .find_map(|process| by_pid(process.stat.pid))
        .or_else(|| {
            chain
                .iter()
                .find_map(|process| by_pid(process.stat.session))
        })
}

#[derive(Debug, PartialEq, Eq)]
enum Walk {
    /// The whole line; the keeper is not in it.
    Line(Vec<Stat>),
    /// The line below the keeper.
    Inside(Vec<Stat>),
    Unreadable,
    Changed,
}

/// Follows the parents of `pid` up to the top or the keeper, then looks at the whole line once more: if no
/// link has changed, all of them stood at the same moment.
fn walk(pid: i32, keeper_pid: i32, mut read: impl FnMut(i32) -> io::Result<Stat>) -> Walk {
    let mut line: Vec<Stat> = Vec::new();
    let mut next = pid;
    let inside = loop {
        if next == keeper_pid {
            break true;
        }
        if next == 0 {
            break false;
        }
        if line.len() == DEPTH_MAX {
            return Walk::Unreadable;
        }
        let stat = match read(next) {
            Ok(stat) => stat,
            // An ancestor that ended meanwhile; the peer itself is vouched for by the caller.
            Err(error) if is_gone(&error) && !line.is_empty() => return Walk::Changed,
            Err(_) => return Walk::Unreadable,
        };
        // A parent is older than its child; a younger one has got the pid of a parent that ended.
        if line
            .last()
            .is_some_and(|child| child.started < stat.started)
        {
            return Walk::Changed;
        }
        line.push(stat);
        // Process 1 has no parent worth asking for, and may not be readable where /proc hides others'.
        next = if stat.parent == 1 && keeper_pid != 1 {
            0
        } else {
            stat.parent
        };
    };
    for seen in &line {
        match read(seen.pid) {
            Ok(stat) if stat == *seen => {}
            _ => return Walk::Changed,
        }
    }
    if inside {
        Walk::Inside(line)
    } else {
        Walk::Line(line)
    }
}

fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH)
}

/// Reads `/proc/PID/stat`.
///
/// # Errors
/// What the file system says (`NotFound` or `ESRCH`: no such process), `InvalidData` where it is no such file.
pub fn read_stat(pid: i32) -> io::Result<Stat> {
    let text = read_bounded(&format!("/proc/{pid}/stat"), STAT_MAX)?;
    parse_stat(&text)
        .filter(|stat| stat.pid == pid)
        .ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// The name comes second, in parentheses, and may hold spaces, parentheses and newlines: the last
/// parenthesis ends it.
fn parse_stat(text: &[u8]) -> Option<Stat> {
    let open = text.iter().position(|&byte| byte == b'(')?;
    let close = text.iter().rposition(|&byte| byte == b')')?;
    let pid = std::str::from_utf8(text.get(..open)?)
        .ok()?
        .trim()
        .parse()
        .ok()?;
    let rest = std::str::from_utf8(text.get(close + 1..)?).ok()?;
    // Field 3 of proc_pid_stat(5) is the first of these.
    let mut fields = rest.split_ascii_whitespace();
    let mut field = |skip: usize| fields.nth(skip);
    let parent = field(1)?.parse().ok()?; // 4
    let session = field(1)?.parse().ok()?; // 6
    let started = field(15)?.parse().ok()?; // 22
    Some(Stat {
        pid,
        parent,
        session,
        started,
    })
}

/// The arguments of a process; empty where they cannot be read.
pub fn read_cmdline(pid: i32) -> Vec<String> {
    let Ok(mut bytes) = read_bounded(&format!("/proc/{pid}/cmdline"), CMDLINE_MAX as u64) else {
        return Vec::new();
    };
    if bytes.last() == Some(&0) {
        bytes.pop();
    }
    if bytes.is_empty() {
        return Vec::new();
    }
    bytes
        .split(|&byte| byte == 0)
        .map(|part| String::from_utf8_lossy(part).into_owned())
        .collect()
}

fn read_bounded(path: &str, max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(512);
    std::fs::File::open(path)?
        .take(max)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn stat(pid: i32, parent: i32, session: i32, started: u64) -> Stat {
        Stat {
            pid,
            parent,
            session,
            started,
        }
    }

    fn process(pid: i32, session: i32) -> Process {
        Process {
            stat: stat(pid, 0, session, 0),
            cmdline: Vec::new(),
        }
    }

    #[test]
    fn a_name_with_parentheses_spaces_and_newlines_is_read() {
        let line = b"4242 (a) R 1 ) (b\n\xff) S 17 4242 4200 34816 4242 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2 3\n";
        assert_eq!(parse_stat(line), Some(stat(4242, 17, 4200, 987_654)));
    }

    #[test]
    fn a_broken_stat_is_no_stat() {
        for bad in [
            "",
            "1",
            "1 (a",
            "1 a) S 1",
            "x (a) S 1 1 1",
            "1 (a) S 1 1 1 0 0",
            ")(",
            "1 (a) S 1 1 -",
        ] {
            assert_eq!(parse_stat(bad.as_bytes()), None, "{bad:?}");
        }
    }

    #[test]
    fn this_process_descends_from_itself_and_its_parent_and_not_from_a_stranger() {
        let own = std::process::id() as i32;
        let parent = std::os::unix::process::parent_id() as i32;
        assert_eq!(of_pid(own, own), Ancestry::Inside { chain: vec![] });
        let Ancestry::Inside { chain } = of_pid(own, parent) else {
            panic!("not inside")
        };
        assert_eq!(chain.len(), 1);
        assert_eq!(chain[0].stat, read_stat(own).unwrap());
        assert_eq!(chain[0].cmdline, std::env::args().collect::<Vec<_>>());
        assert_eq!(of_pid(own, i32::MAX), Ancestry::Outside);
        assert_eq!(of_pid(i32::MAX, own), Ancestry::Unknown);
    }

    #[test]
    fn a_parent_younger_than_its_child_is_a_reused_pid_and_never_followed() {
        let table: HashMap<i32, Stat> = [
            (9, stat(9, 5, 9, 50)),
            (5, stat(5, 2, 5, 70)),
            (2, stat(2, 1, 2, 1)),
        ]
        .into_iter()
        .collect();
        let read = |pid: i32| {
            table
                .get(&pid)
                .copied()
                .ok_or_else(|| io::ErrorKind::NotFound.into())
        };
        assert_eq!(walk(9, 2, read), Walk::Changed);
    }

    #[test]
    fn a_line_that_changes_during_the_walk_is_walked_again() {
        // Between the two looks the parent ends and the peer is handed to the keeper (2).
        let mut looks = 0;
        let walked = walk(9, 2, |pid| {
            looks += 1;
            match pid {
                9 if looks < 3 => Ok(stat(9, 5, 9, 50)),
                9 => Ok(stat(9, 2, 9, 50)),
                5 => Ok(stat(5, 1, 5, 10)),
                _ => Err(io::ErrorKind::NotFound.into()),
            }
        });
        assert_eq!(walked, Walk::Changed);
    }

    #[test]
    fn an_ancestor_that_cannot_be_read_makes_it_unknown() {
        let walked = walk(9, 2, |pid| match pid {
            9 => Ok(stat(9, 5, 9, 50)),
            _ => Err(io::ErrorKind::PermissionDenied.into()),
        });
        assert_eq!(walked, Walk::Unreadable);
    }

    #[test]
    fn a_circle_and_an_endless_line_are_unknown() {
        assert_eq!(walk(9, 2, |pid| Ok(stat(pid, 9, 9, 1))), Walk::Unreadable);
        assert_eq!(
            walk(9, 2, |pid| Ok(stat(pid, pid + 1, 9, 1))),
            Walk::Unreadable
        );
    }

    #[test]
    fn the_nearest_pane_wins_then_the_session_and_a_daemon_is_in_no_pane() {
        let panes: Vec<_> = [("p1", 10), ("p2", 20)]
            .map(|(id, pid)| PaneProcess {
                pane_id: PaneId::from_trusted(id),
                pid,
            })
            .into();
        let found = |chain: &[Process]| pane_of(chain, &panes).map(PaneId::as_str);
        assert_eq!(
            found(&[process(30, 20), process(20, 20), process(10, 10)]),
            Some("p2")
        );
        assert_eq!(found(&[process(31, 31), process(20, 20)]), Some("p2"));
        // Re-parented to the keeper, still in its session.
        assert_eq!(found(&[process(32, 10)]), Some("p1"));
        // Its child in a session of its own.
        assert_eq!(found(&[process(33, 33), process(32, 10)]), Some("p1"));
        assert_eq!(found(&[process(34, 34)]), None);
        assert_eq!(found(&[]), None);
    }
}
