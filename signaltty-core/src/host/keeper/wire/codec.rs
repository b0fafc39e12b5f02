//! How messages become bytes, and what bytes are no message.

use std::os::fd::OwnedFd;

use super::*;
use crate::limits::ID_MAX;
use crate::model::Size;

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
