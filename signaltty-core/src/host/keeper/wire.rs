//! What host and keeper say to each other: versioned binary messages over a stream socket.
//!
//! A frame is a header of twelve bytes (length of the body, kind, number of descriptors, request id) and
//! its body. Integers are little endian, byte strings carry their length before them. A body may be longer
//! than its reader expects: later versions append. The keeper outlives many hosts, so a host has to speak
//! every version from 1 on; a keeper never meets an older host than the one that started it.

use std::os::fd::OwnedFd;

use crate::limits::{ID_MAX, PANES_MAX};
use crate::model::{Exit, Size};

/// The version that this code speaks, and the oldest that it still understands.
pub const VERSION: u16 = 1;
/// See [`VERSION`].
pub const VERSION_OLDEST: u16 = 1;
/// Largest body of a frame in bytes: arguments and environment of a program are the largest thing in one.
pub const BODY_MAX: usize = 2 * 1024 * 1024;
/// Largest body before the host has shown that it is the host.
pub const HELLO_MAX: usize = 64;
/// Largest record that a host keeps with a pane, in bytes.
pub const META_MAX: usize = 64 * 1024;
/// Arguments, and variables, that one program may be started with.
pub const STRINGS_MAX: usize = 16 * 1024;
/// Descriptors that one frame may carry.
pub const FDS_MAX: usize = 2;
/// Length of a frame's header in bytes.
pub const HEADER_LEN: usize = 12;

/// Why bytes are no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The body ends too early.
    #[error("the message ends too early")]
    Short,
    /// A length or a number is out of its bounds.
    #[error("the message holds {0} that is out of bounds")]
    Bounds(&'static str),
    /// The descriptors are not those that the message needs.
    #[error("the message carries {0} descriptors")]
    Fds(usize),
    /// A kind that this version does not know.
    #[error("messages of kind {0} are not known here")]
    Kind(u16),
}

/// Which processes of a pane get a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The group of the program that the pane was started with.
    Program,
    /// The group that is in the foreground of its terminal.
    Foreground,
}

/// Where starting a program failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The keeper itself: no terminal, no memory, no process to be had.
    Setup,
    /// The folder cannot be entered.
    Cwd,
    /// The program cannot be run.
    Exec,
    /// The request was no good; the errno says how (`E2BIG`, `EEXIST`, `EINVAL`, `ENFILE`).
    Request,
}

/// A program to start.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SpawnRequest {
    /// The pane.
    pub pane_id: String,
    /// Columns and rows.
    pub size: (u16, u16),
    /// The folder.
    pub cwd: Vec<u8>,
    /// The program and its arguments.
    pub argv: Vec<Vec<u8>>,
    /// `NAME=value`.
    pub env: Vec<Vec<u8>>,
    /// The host's own record of the pane.
    pub meta: Vec<u8>,
}

/// What a host says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// First of all, with the locked lock file as descriptor: I am the host, and speak these versions.
    Hello {
        /// Oldest version.
        oldest: u16,
        /// Newest version.
        newest: u16,
    },
    /// Start a program. Answered by [`Reply::Spawned`] or [`Reply::SpawnFailed`].
    Spawn(SpawnRequest),
    /// Replace the record of a pane.
    SetMeta {
        /// The pane.
        pane_id: String,
        /// The record.
        meta: Vec<u8>,
    },
    /// Let go of a pane: its terminal is closed, which hangs up whatever still runs there.
    Forget {
        /// The pane.
        pane_id: String,
    },
    /// Send a signal.
    Signal {
        /// The pane.
        pane_id: String,
        /// To which of its processes.
        target: Target,
        /// Its number.
        signal: i32,
    },
    /// End a pane's program: hang up, and kill what is left after the grace.
    End {
        /// The pane.
        pane_id: String,
        /// Milliseconds.
        grace_ms: u32,
    },
    /// End all panes in that way, then the keeper itself.
    Shutdown {
        /// Milliseconds.
        grace_ms: u32,
    },
    /// Are you there?
    Ping,
}

/// What the keeper says. All but [`Reply::Exited`] and [`Reply::Pane`] answer the request of their id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// You are the host; the panes follow, then [`Reply::HandedOver`].
    Welcome {
        /// The version that is spoken from here on.
        version: u16,
        /// The keeper's process.
        pid: i32,
    },
    /// You are not the host. The connection ends.
    Refused {
        /// Why.
        reason: Refusal,
    },
    /// A pane that the keeper holds, with its terminal and its memory as descriptors.
    Pane {
        /// The pane.
        pane_id: String,
        /// Its program.
        pid: i32,
        /// How that ended, if it did.
        exit: Option<Exit>,
        /// The host's own record.
        meta: Vec<u8>,
    },
    /// Those were all panes.
    HandedOver,
    /// Started, with terminal and memory as descriptors.
    Spawned {
        /// Its program.
        pid: i32,
    },
    /// Not started.
    SpawnFailed {
        /// Where.
        stage: Stage,
        /// Why.
        errno: i32,
    },
    /// Done.
    Done,
    /// Not done: no such pane (`ENOENT`), ended (`ESRCH`), too large (`E2BIG`), no such signal (`EINVAL`).
    Failed {
        /// Why.
        errno: i32,
    },
    /// A pane's program ended. Told once a host, also if it happened before that host came.
    Exited {
        /// The pane.
        pane_id: String,
        /// How.
        exit: Exit,
    },
    /// The request is of a kind that this keeper does not know: it is older than the host.
    NotKnown,
}

/// Why a peer is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It does not hold the host lock.
    NoLock,
    /// No common version.
    Version,
    /// It descends from the keeper, or that cannot be ruled out.
    Inside,
    /// Another user's process.
    User,
    /// What it sent is no message.
    Malformed,
}

/// One frame as it travels.
#[derive(Debug)]
pub struct Frame {
    /// What kind of message.
    pub kind: u16,
    /// The request that it is, or answers; 0 for what answers none.
    pub id: u32,
    /// The message.
    pub body: Vec<u8>,
    /// What comes with it.
    pub fds: Vec<OwnedFd>,
}

impl Frame {
    /// Header and body.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER_LEN + self.body.len());
        bytes.extend((self.body.len() as u32).to_le_bytes());
        bytes.extend(self.kind.to_le_bytes());
        bytes.extend((self.fds.len() as u16).to_le_bytes());
        bytes.extend(self.id.to_le_bytes());
        bytes.extend(&self.body);
        bytes
    }
}

/// A frame's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Length of the body.
    pub len: usize,
    /// What kind of message.
    pub kind: u16,
    /// Descriptors that come with it.
    pub fds: usize,
    /// See [`Frame::id`].
    pub id: u32,
}

impl Header {
    /// Reads the first [`HEADER_LEN`] bytes; none if there are not as many yet.
    ///
    /// # Errors
    /// [`Malformed::Bounds`] if the body would be longer than `body_max`, or bring too many descriptors.
    pub fn read(bytes: &[u8], body_max: usize) -> Result<Option<Self>, Malformed> {
        let Some(bytes) = bytes.get(..HEADER_LEN) else {
            return Ok(None);
        };
        let mut reader = Reader(bytes);
        let header = Self {
            len: reader.u32()? as usize,
            kind: reader.u16()?,
            fds: usize::from(reader.u16()?),
            id: reader.u32()?,
        };
        if header.len > body_max {
            return Err(Malformed::Bounds("a length"));
        }
        if header.fds > FDS_MAX {
            return Err(Malformed::Fds(header.fds));
        }
        Ok(Some(header))
    }
}

impl Request {
    /// Puts it into a frame.
    pub fn encode(&self, id: u32) -> Frame {
        let mut out = Writer::default();
        let kind = match self {
            Self::Hello { oldest, newest } => {
                out.u16(*oldest).u16(*newest);
                1
            }
            Self::Spawn(spawn) => {
                out.text(&spawn.pane_id)
                    .u16(spawn.size.0)
                    .u16(spawn.size.1)
                    .bytes(&spawn.cwd);
                out.strings(&spawn.argv)
                    .strings(&spawn.env)
                    .bytes(&spawn.meta);
                2
            }
            Self::SetMeta { pane_id, meta } => {
                out.text(pane_id).bytes(meta);
                3
            }
            Self::Forget { pane_id } => {
                out.text(pane_id);
                4
            }
            Self::Signal {
                pane_id,
                target,
                signal,
            } => {
                out.text(pane_id).u16(match target {
                    Target::Program => 0,
                    Target::Foreground => 1,
                });
                out.i32(*signal);
                5
            }
            Self::End { pane_id, grace_ms } => {
                out.text(pane_id).u32(*grace_ms);
                6
            }
            Self::Shutdown { grace_ms } => {
                out.u32(*grace_ms);
                7
            }
            Self::Ping => 8,
        };
        Frame {
            kind,
            id,
            body: out.0,
            fds: Vec::new(),
        }
    }

    /// Reads a body.
    ///
    /// # Errors
    /// Why it is no request.
    pub fn decode(kind: u16, body: &[u8]) -> Result<Self, Malformed> {
        let mut r = Reader(body);
        Ok(match kind {
            1 => Self::Hello {
                oldest: r.u16()?,
                newest: r.u16()?,
            },
            2 => Self::Spawn(SpawnRequest {
                pane_id: r.id()?,
                size: (r.cells()?, r.cells()?),
                cwd: r.bytes(BODY_MAX)?,
                argv: r.strings()?,
                env: r.strings()?,
                meta: r.bytes(META_MAX)?,
            }),
            3 => Self::SetMeta {
                pane_id: r.id()?,
                meta: r.bytes(META_MAX)?,
            },
            4 => Self::Forget { pane_id: r.id()? },
            5 => Self::Signal {
                pane_id: r.id()?,
                target: match r.u16()? {
                    0 => Target::Program,
                    1 => Target::Foreground,
                    _ => return Err(Malformed::Bounds("a target")),
                },
                signal: r.i32()?,
            },
            6 => Self::End {
                pane_id: r.id()?,
                grace_ms: r.u32()?,
            },
            7 => Self::Shutdown { grace_ms: r.u32()? },
            8 => Self::Ping,
            kind => return Err(Malformed::Kind(kind)),
        })
    }
}

impl Reply {
    /// Puts it into a frame.
    pub fn encode(&self, id: u32, fds: Vec<OwnedFd>) -> Frame {
        let mut out = Writer::default();
        let kind = match self {
            Self::Welcome { version, pid } => {
                out.u16(*version).i32(*pid);
                1
            }
            Self::Refused { reason } => {
                out.u16(match reason {
                    Refusal::NoLock => 0,
                    Refusal::Version => 1,
                    Refusal::Inside => 2,
                    Refusal::User => 3,
                    Refusal::Malformed => 4,
                });
                2
            }
            Self::Pane {
                pane_id,
                pid,
                exit,
                meta,
            } => {
                out.text(pane_id).i32(*pid).exit(exit.as_ref()).bytes(meta);
                3
            }
            Self::HandedOver => 4,
            Self::Spawned { pid } => {
                out.i32(*pid);
                5
            }
            Self::SpawnFailed { stage, errno } => {
                out.u16(match stage {
                    Stage::Setup => 0,
                    Stage::Cwd => 1,
                    Stage::Exec => 2,
                    Stage::Request => 3,
                });
                out.i32(*errno);
                6
            }
            Self::Done => 7,
            Self::Failed { errno } => {
                out.i32(*errno);
                8
            }
            Self::Exited { pane_id, exit } => {
                out.text(pane_id).exit(Some(exit));
                9
            }
            Self::NotKnown => 10,
        };
        Frame {
            kind,
            id,
            body: out.0,
            fds,
        }
    }

    /// Reads a body.
    ///
    /// # Errors
    /// Why it is no reply.
    pub fn decode(kind: u16, body: &[u8]) -> Result<Self, Malformed> {
        let mut r = Reader(body);
        Ok(match kind {
            1 => Self::Welcome {
                version: r.u16()?,
                pid: r.i32()?,
            },
            2 => Self::Refused {
                reason: match r.u16()? {
                    0 => Refusal::NoLock,
                    1 => Refusal::Version,
                    2 => Refusal::Inside,
                    3 => Refusal::User,
                    4 => Refusal::Malformed,
                    _ => return Err(Malformed::Bounds("a reason")),
                },
            },
            3 => Self::Pane {
                pane_id: r.id()?,
                pid: r.i32()?,
                exit: r.exit()?,
                meta: r.bytes(META_MAX)?,
            },
            4 => Self::HandedOver,
            5 => Self::Spawned { pid: r.i32()? },
            6 => Self::SpawnFailed {
                stage: match r.u16()? {
                    0 => Stage::Setup,
                    1 => Stage::Cwd,
                    2 => Stage::Exec,
                    3 => Stage::Request,
                    _ => return Err(Malformed::Bounds("a stage")),
                },
                errno: r.i32()?,
            },
            7 => Self::Done,
            8 => Self::Failed { errno: r.i32()? },
            9 => Self::Exited {
                pane_id: r.id()?,
                exit: r.exit()?.ok_or(Malformed::Bounds("an exit"))?,
            },
            10 => Self::NotKnown,
            kind => return Err(Malformed::Kind(kind)),
        })
    }
}

#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn u16(&mut self, value: u16) -> &mut Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    fn u32(&mut self, value: u32) -> &mut Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    fn i32(&mut self, value: i32) -> &mut Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    /// What is over `u32::MAX` is cut; the reader's bounds are far below.
    fn bytes(&mut self, value: &[u8]) -> &mut Self {
        let len = u32::try_from(value.len()).unwrap_or(u32::MAX);
        self.u32(len).0.extend(&value[..len as usize]);
        self
    }

    fn text(&mut self, value: &str) -> &mut Self {
        self.bytes(value.as_bytes())
    }

    fn strings(&mut self, values: &[Vec<u8>]) -> &mut Self {
        self.u32(u32::try_from(values.len()).unwrap_or(u32::MAX));
        for value in values {
            self.bytes(value);
        }
        self
    }

    /// 0 none, 1 by itself, 2 by a signal, 3 ended in a way that nobody saw; then the number.
    fn exit(&mut self, exit: Option<&Exit>) -> &mut Self {
        let (how, number) = match exit {
            None => (0, 0),
            Some(Exit {
                code: Some(code), ..
            }) => (1, *code),
            Some(Exit {
                signal: Some(signal),
                ..
            }) => (2, *signal),
            Some(Exit { .. }) => (3, 0),
        };
        self.u16(how).i32(number)
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or(Malformed::Short)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.take(N)?.try_into().map_err(|_| Malformed::Short)
    }

    fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_le_bytes)
    }

    fn i32(&mut self) -> Result<i32, Malformed> {
        self.array().map(i32::from_le_bytes)
    }

    fn cells(&mut self) -> Result<u16, Malformed> {
        let cells = self.u16()?;
        if (1..=Size::MAX).contains(&cells) {
            Ok(cells)
        } else {
            Err(Malformed::Bounds("a size"))
        }
    }

    fn bytes(&mut self, max: usize) -> Result<Vec<u8>, Malformed> {
        let len = self.u32()? as usize;
        if len > max {
            return Err(Malformed::Bounds("a length"));
        }
        self.take(len).map(<[u8]>::to_vec)
    }

    fn id(&mut self) -> Result<String, Malformed> {
        let id = String::from_utf8(self.bytes(ID_MAX)?).map_err(|_| Malformed::Bounds("an id"))?;
        crate::model::id::check(&id).map_err(|_| Malformed::Bounds("an id"))?;
        Ok(id)
    }

    fn strings(&mut self) -> Result<Vec<Vec<u8>>, Malformed> {
        let count = self.u32()? as usize;
        if count > STRINGS_MAX {
            return Err(Malformed::Bounds("a number of strings"));
        }
        (0..count).map(|_| self.bytes(BODY_MAX)).collect()
    }

    fn exit(&mut self) -> Result<Option<Exit>, Malformed> {
        let (how, number) = (self.u16()?, self.i32()?);
        Ok(match how {
            0 => None,
            1 => Some(Exit {
                code: Some(number),
                signal: None,
            }),
            2 => Some(Exit {
                code: None,
                signal: Some(number),
            }),
            3 => Some(Exit::default()),
            _ => return Err(Malformed::Bounds("an exit")),
        })
    }
}

/// Panes that a keeper holds at once, ended ones included. A host has fewer: this is the keeper's own bound.
pub const HELD_MAX: usize = 2 * PANES_MAX;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn id() -> impl Strategy<Value = String> {
        "[A-Za-z0-9._:-]{1,128}"
    }

    fn strings() -> impl Strategy<Value = Vec<Vec<u8>>> {
        proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..50), 0..10)
    }

    fn meta() -> impl Strategy<Value = Vec<u8>> {
        proptest::collection::vec(any::<u8>(), 0..200)
    }

    fn exit() -> impl Strategy<Value = Option<Exit>> {
        prop_oneof![
            Just(None),
            Just(Some(Exit::default())),
            (0..256).prop_map(|code| Some(Exit {
                code: Some(code),
                signal: None
            })),
            (1..65).prop_map(|signal| Some(Exit {
                code: None,
                signal: Some(signal)
            })),
        ]
    }

    fn request() -> impl Strategy<Value = Request> {
        let target = prop_oneof![Just(Target::Program), Just(Target::Foreground)];
        let spawn = (
            id(),
            (1_u16..=4_096, 1_u16..=4_096),
            meta(),
            strings(),
            strings(),
            meta(),
        )
            .prop_map(|(pane_id, size, cwd, argv, env, meta)| {
                Request::Spawn(SpawnRequest {
                    pane_id,
                    size,
                    cwd,
                    argv,
                    env,
                    meta,
                })
            });
        prop_oneof![
            (any::<u16>(), any::<u16>())
                .prop_map(|(oldest, newest)| Request::Hello { oldest, newest }),
            spawn,
            (id(), meta()).prop_map(|(pane_id, meta)| Request::SetMeta { pane_id, meta }),
            id().prop_map(|pane_id| Request::Forget { pane_id }),
            (id(), target, any::<i32>()).prop_map(|(pane_id, target, signal)| Request::Signal {
                pane_id,
                target,
                signal
            }),
            (id(), any::<u32>()).prop_map(|(pane_id, grace_ms)| Request::End { pane_id, grace_ms }),
            any::<u32>().prop_map(|grace_ms| Request::Shutdown { grace_ms }),
            Just(Request::Ping),
        ]
    }

    fn reply() -> impl Strategy<Value = Reply> {
        let reason = prop_oneof![
            Just(Refusal::NoLock),
            Just(Refusal::Version),
            Just(Refusal::Inside),
            Just(Refusal::User),
            Just(Refusal::Malformed)
        ];
        let stage = prop_oneof![
            Just(Stage::Setup),
            Just(Stage::Cwd),
            Just(Stage::Exec),
            Just(Stage::Request)
        ];
        prop_oneof![
            (any::<u16>(), any::<i32>()).prop_map(|(version, pid)| Reply::Welcome { version, pid }),
            reason.prop_map(|reason| Reply::Refused { reason }),
            (id(), any::<i32>(), exit(), meta()).prop_map(|(pane_id, pid, exit, meta)| {
                Reply::Pane {
                    pane_id,
                    pid,
                    exit,
                    meta,
                }
            }),
            Just(Reply::HandedOver),
            any::<i32>().prop_map(|pid| Reply::Spawned { pid }),
            (stage, any::<i32>()).prop_map(|(stage, errno)| Reply::SpawnFailed { stage, errno }),
            Just(Reply::Done),
            any::<i32>().prop_map(|errno| Reply::Failed { errno }),
            (id(), exit()).prop_map(|(pane_id, exit)| Reply::Exited {
                pane_id,
                exit: exit.unwrap_or_default()
            }),
            Just(Reply::NotKnown),
        ]
    }

    proptest! {
        #[test]
        fn a_request_is_read_as_it_was_written_also_with_more_behind_it(request in request(), more in meta()) {
            let mut frame = request.encode(7);
            frame.body.extend(more);
            prop_assert_eq!(Request::decode(frame.kind, &frame.body), Ok(request));
        }

        #[test]
        fn a_reply_is_read_as_it_was_written_also_with_more_behind_it(reply in reply(), more in meta()) {
            let mut frame = reply.encode(7, Vec::new());
            frame.body.extend(more);
            prop_assert_eq!(Reply::decode(frame.kind, &frame.body), Ok(reply));
        }

        #[test]
        fn a_request_that_is_cut_short_is_short(request in request(), cut in any::<proptest::sample::Index>()) {
            let frame = request.encode(7);
            prop_assume!(!frame.body.is_empty());
            let len = cut.index(frame.body.len());
            prop_assert_eq!(Request::decode(frame.kind, &frame.body[..len]), Err(Malformed::Short));
        }

        #[test]
        fn no_bytes_make_it_panic(kind in 0_u16..14, body in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = Request::decode(kind, &body);
            let _ = Reply::decode(kind, &body);
            let _ = Header::read(&body, HELLO_MAX);
        }
    }

    #[test]
    fn bounds_are_held() {
        let long = Request::Forget {
            pane_id: "p".repeat(ID_MAX + 1),
        }
        .encode(1);
        assert_eq!(
            Request::decode(long.kind, &long.body),
            Err(Malformed::Bounds("a length"))
        );
        let odd = Request::Forget {
            pane_id: "a b".to_owned(),
        }
        .encode(1);
        assert_eq!(
            Request::decode(odd.kind, &odd.body),
            Err(Malformed::Bounds("an id"))
        );
        let flat = Request::Spawn(SpawnRequest {
            pane_id: "p".into(),
            ..SpawnRequest::default()
        })
        .encode(1);
        assert_eq!(
            Request::decode(flat.kind, &flat.body),
            Err(Malformed::Bounds("a size"))
        );
        let mut many = Request::Spawn(SpawnRequest {
            pane_id: "p".into(),
            size: (1, 1),
            ..SpawnRequest::default()
        });
        if let Request::Spawn(spawn) = &mut many {
            spawn.argv = vec![Vec::new(); STRINGS_MAX + 1];
        }
        let many = many.encode(1);
        assert_eq!(
            Request::decode(many.kind, &many.body),
            Err(Malformed::Bounds("a number of strings"))
        );
        assert_eq!(Request::decode(999, &[]), Err(Malformed::Kind(999)));
    }
}
