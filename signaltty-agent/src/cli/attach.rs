//! A pane's terminal in this one.

use std::borrow::Cow;
use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use clap::Args;
use signaltty_core::client::{self, Client, ClientError};
use signaltty_core::host::terminal::snapshot::CLEAR;
use signaltty_core::model::{Exit, PaneId};
use signaltty_core::protocol::ErrorCode;
use signaltty_core::protocol::method::{PaneGet, PaneResize};
use signaltty_core::protocol::params::{PaneAttachParams, PaneParams, PaneResizeParams, Role};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use super::failure::{Failure, MISSING};
use super::terminal::{self, Ending, Modes};
use super::{find, host, show};

/// Ctrl+\, alone: detaches.
const DETACH: u8 = 0x1c;
/// Bytes shown at once.
const CHUNK: usize = 64 * 1024;
/// How long to look for a host that went away.
const HOST_BACK: Duration = Duration::from_secs(30);
/// Pause between two looks.
const HOST_PAUSE: Duration = Duration::from_millis(200);
/// What a program may have switched on in our terminal, switched off: mouse and focus reports, bracketed paste,
/// application keys, colours, a hidden cursor.
const RESET: &[u8] =
    b"\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[?1l\x1b>\x1b[0m\x1b[?25h";
/// Clears the screen and what styles it, and leaves the lines above it: they are the person's own.
const CLEAR_GENTLY: &[u8] = b"\x1b[!p\x1b[H\x1b[2J";
/// Leaves the alternate screen.
const LEAVE_ALTERNATE: &[u8] = b"\x1b[?1049l";

/// `attach`
#[derive(Debug, Args)]
pub(super) struct Attach {
    /// The pane
    pane: String,
    /// Only look: nothing that is typed here reaches the pane
    #[arg(long)]
    read_only: bool,
}

/// Why showing a pane ended.
enum End {
    /// The person detached, or we were told to end.
    Detached,
    /// The stream ended: the program did, or the host.
    Stream,
}

impl Attach {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let client = host::connect().await?;
        let pane = find::pane(&client, &self.pane).await?;
        let interactive = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        let mut session = Session::new(pane.id, !self.read_only, interactive)?;
        let ended = session.run(client).await;
        drop(session);
        match ended? {
            Some(exit) => show_exit(exit),
            None => show::line("[detached]"),
        }
    }
}

/// One person looking at one pane, across hosts.
struct Session {
    pane_id: PaneId,
    /// Whether what is typed reaches the pane.
    types: bool,
    /// Whether the pane was shown at all.
    seen: bool,
    input: mpsc::Receiver<Vec<u8>>,
    ending: Ending,
    alternate: Alternate,
    /// Whether standard input and output are a terminal, whose size then counts.
    interactive: bool,
    /// Last, so that the terminal gets its modes back after all else.
    _modes: Option<Modes>,
}

impl Session {
    fn new(pane_id: PaneId, types: bool, interactive: bool) -> Result<Self, Failure> {
        let ending = Ending::new()?;
        let modes = if interactive {
            Some(Modes::raw()?)
        } else {
            None
        };
        let input = terminal::input();
        Ok(Self {
            pane_id,
            types,
            seen: false,
            input,
            ending,
            alternate: Alternate::default(),
            interactive,
            _modes: modes,
        })
    }

    /// Shows the pane until its program ends, or until the person detaches (`None`).
    async fn run(&mut self, mut client: Client) -> Result<Option<Exit>, Failure> {
        loop {
            match self.look(&client).await {
                Ok(Some(end)) => return Ok(end),
                Ok(None) => {}
                Err(failure) if failure.host_gone => {}
                // Closed while we were away.
                Err(failure) if failure.code == MISSING && self.seen => {
                    return Ok(Some(Exit::default()));
                }
                Err(failure) => return Err(failure),
            }
            client = match self.host_again().await? {
                Some(client) => client,
                None => return Ok(None),
            };
        }
    }

    /// Shows the pane for as long as this connection lasts. `None`: there is more to see over another.
    async fn look(&mut self, client: &Client) -> Result<Option<Option<Exit>>, Failure> {
        let (stream, exited) = self.attach().await?;
        self.seen = true;
        match self.show(stream, client).await? {
            End::Detached => return Ok(Some(None)),
            End::Stream if exited.is_some() => return Ok(Some(exited)),
            End::Stream => {}
        }
        let pane = client
            .call::<PaneGet>(PaneParams {
                pane_id: self.pane_id.clone(),
            })
            .await?
            .pane;
        Ok(pane.exit.map(Some))
    }

    /// Attaches; only to look, where typing is not ours to do.
    async fn attach(&mut self) -> Result<(UnixStream, Option<Exit>), Failure> {
        let size = terminal::size().filter(|_| self.interactive && self.types);
        let params = PaneAttachParams {
            pane_id: self.pane_id.clone(),
            size,
            colors: None,
            input: self.types,
        };
        let socket = host::socket()?;
        match client::attach(&socket, host::hello(Role::Observer), params.clone()).await {
            Ok((attached, stream)) => Ok((stream, attached.exited)),
            Err(error) if error.code() == Some(ErrorCode::Forbidden) && self.types => {
                self.types = false;
                self.write(
                    format!("[only to look: {}]\r\n", show::text(&error.to_string())).as_bytes(),
                )?;
                let params = PaneAttachParams {
                    size: None,
                    input: false,
                    ..params
                };
                let (attached, stream) =
                    client::attach(&socket, host::hello(Role::Observer), params).await?;
                Ok((stream, attached.exited))
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn show(&mut self, mut stream: UnixStream, client: &Client) -> Result<End, Failure> {
        let mut resized = signal(SignalKind::window_change())?;
        let mut chunk = vec![0; CHUNK];
        let mut beginning = Beginning::default();
        let mut listening = true;
        let (mut from, mut to) = stream.split();
        loop {
            tokio::select! {
                read = from.read(&mut chunk) => match read {
                    Ok(0) | Err(_) => return Ok(End::Stream),
                    Ok(count) => {
                        let shown = beginning.soften(&chunk[..count]);
                        self.write(&shown)?;
                    }
                },
                typed = self.input.recv(), if listening => match typed {
                    Some(bytes) if self.interactive && bytes.last() == Some(&DETACH) => return Ok(End::Detached),
                    Some(bytes) => {
                        if self.types && to.write_all(&bytes).await.is_err() {
                            return Ok(End::Stream);
                        }
                    }
                    // Standard input ended; what the pane says is still worth seeing.
                    None => listening = false,
                },
                _ = resized.recv(), if self.interactive && self.types => {
                    if let Some(size) = terminal::size() {
                        let params =
                            PaneResizeParams { pane_id: self.pane_id.clone(), cols: size.cols, rows: size.rows };
                        // A pane that has just ended has no size.
                        let _ = client.call::<PaneResize>(params).await;
                    }
                }
                () = self.ending.comes() => return Ok(End::Detached),
            }
        }
    }

    /// Looks for the host that went away; `None` where the person no longer wants to wait.
    async fn host_again(&mut self) -> Result<Option<Client>, Failure> {
        let deadline = Instant::now() + HOST_BACK;
        loop {
            let looked = tokio::select! {
                looked = host::connect_if_running(Role::Observer) => looked?,
                () = self.ending.comes() => return Ok(None),
            };
            if let Some(client) = looked {
                return Ok(Some(client));
            }
            if Instant::now() > deadline {
                return Err(ClientError::Lost.into());
            }
            tokio::select! {
                () = sleep(HOST_PAUSE) => {}
                typed = self.input.recv() => if typed.is_none_or(|bytes| bytes.last() == Some(&DETACH)) {
                    return Ok(None);
                },
                () = self.ending.comes() => return Ok(None),
            }
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.alternate.see(bytes);
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(bytes)?;
        stdout.flush()?;
        Ok(())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.interactive {
            let mut stdout = std::io::stdout().lock();
            let leave = if self.alternate.on {
                LEAVE_ALTERNATE
            } else {
                b""
            };
            let _ = stdout
                .write_all(&[leave, RESET, b"\r\n"].concat())
                .and_then(|()| stdout.flush());
        }
    }
}

/// The beginning of a stream, which makes any terminal a blank one. A window's is only that pane's; a person's own
/// terminal has lines above that are not ours to wipe.
#[derive(Debug, Default)]
struct Beginning {
    held: Vec<u8>,
    over: bool,
}

impl Beginning {
    /// The bytes to show. A part of the beginning is held back until it is whole.
    fn soften<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        if self.over {
            return Cow::Borrowed(bytes);
        }
        self.held.extend_from_slice(bytes);
        if self.held.len() < CLEAR.len() && CLEAR.starts_with(&self.held) {
            return Cow::Borrowed(&[]);
        }
        self.over = true;
        let held = std::mem::take(&mut self.held);
        Cow::Owned(match held.strip_prefix(CLEAR) {
            Some(rest) => [CLEAR_GENTLY, rest].concat(),
            None => held,
        })
    }
}

/// Whether the pane's program has our terminal on its alternate screen.
#[derive(Debug, Default)]
struct Alternate {
    on: bool,
    /// The end of what was seen last: a sequence may be cut in two.
    tail: Vec<u8>,
}

impl Alternate {
    const SEQUENCE: &[u8] = b"\x1b[?1049";

    fn see(&mut self, bytes: &[u8]) {
        self.tail.extend_from_slice(bytes);
        let mut at = 0;
        while let Some(found) = self.tail[at..]
            .windows(Self::SEQUENCE.len())
            .position(|w| w == Self::SEQUENCE)
        {
            let end = at + found + Self::SEQUENCE.len();
            match self.tail.get(end) {
                Some(b'h') => self.on = true,
                Some(b'l') => self.on = false,
                _ => {}
            }
            at = end;
        }
        let keep = self.tail.len().saturating_sub(Self::SEQUENCE.len());
        self.tail.drain(..keep);
    }
}

fn show_exit(exit: Exit) -> Result<(), Failure> {
    match (exit.code, exit.signal) {
        (Some(code), _) => show::line(&format!("[exited with {code}]")),
        (None, Some(signal)) => show::line(&format!("[ended by signal {signal}]")),
        (None, None) => show::line("[closed]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attaching_leaves_the_lines_above_a_persons_screen_wherever_the_stream_is_cut() {
        let stream = [CLEAR, b"hello \x1b[3J"].concat();
        for cut in 0..=stream.len() {
            let mut beginning = Beginning::default();
            let (first, second) = stream.split_at(cut);
            let mut shown = beginning.soften(first).into_owned();
            shown.extend_from_slice(&beginning.soften(second));
            // What the program itself wipes it wipes.
            assert_eq!(shown, [CLEAR_GENTLY, b"hello \x1b[3J"].concat(), "{cut}");
        }
        assert_eq!(&*Beginning::default().soften(b"plain"), b"plain");
    }

    #[test]
    fn the_alternate_screen_is_known_even_when_its_sequence_comes_in_parts() {
        let mut screen = Alternate::default();
        for (bytes, on) in [
            (&b"plain"[..], false),
            (b"\x1b[?10", false),
            (b"49", false),
            (b"h text", true),
            (b"\x1b[?1049l\x1b[?1049h", true),
            (b"x\x1b[?1049l", false),
            (b"1049h", false),
        ] {
            screen.see(bytes);
            assert_eq!(screen.on, on, "{bytes:?}");
        }
        assert!(screen.tail.len() <= Alternate::SEQUENCE.len());
    }
}
