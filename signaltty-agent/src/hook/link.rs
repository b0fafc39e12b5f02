//! The hook's connection to the host: whole lines, bounded, and never longer than a deadline.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use serde::Serialize;
use signaltty_core::host::ancestry::may_be_below_keeper_of;
use signaltty_core::host::peer::Peer;
use signaltty_core::limits::LINE_MAX;

use super::Quit;
use super::watch::{Deadline, Watch};

/// Pause before a host whose queue of connections is full is tried again.
const FULL_PAUSE: Duration = Duration::from_millis(5);
/// How long one write may block.
const WRITE_WAIT: Duration = Duration::from_secs(2);
/// Bytes read at once.
const CHUNK: usize = 16 * 1024;

/// One connection.
#[derive(Debug)]
pub(crate) struct Link {
    stream: UnixStream,
    buffered: Vec<u8>,
}

/// A request as it goes on the line.
#[derive(Serialize)]
struct Request<'a, P> {
    id: u64,
    method: &'a str,
    params: &'a P,
}

impl Link {
    /// Connects without ever blocking on a host that accepts nothing.
    pub(crate) fn connect(socket: &Path, watch: &Watch, deadline: Deadline) -> Result<Self, Quit> {
        let address = SocketAddrUnix::new(socket).map_err(|_| Quit::NoHost)?;
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let fd = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
            .map_err(|_| Quit::NoHost)?;
        loop {
            match connect(&fd, &address) {
                Ok(()) => break,
                Err(Errno::AGAIN) if !deadline.passed() => watch.pause(FULL_PAUSE)?,
                Err(Errno::INTR) => {}
                Err(_) => return Err(Quit::NoHost),
            }
        }
        let stream = UnixStream::from(fd);
        stream
            .set_nonblocking(false)
            .and_then(|()| stream.set_write_timeout(Some(WRITE_WAIT)))
            .map_err(|_| Quit::NoHost)?;
        Ok(Self {
            stream,
            buffered: Vec::new(),
        })
    }

    /// Whether the other end may be believed: it does not run below the keeper of this socket. A program in a pane
    /// could put a socket of its own in the place of the host's and grant what it asks for (specs/001 §5).
    pub(crate) fn is_host_s(&self, keeper: &Path) -> bool {
        Peer::of(&self.stream).is_ok_and(|peer| !may_be_below_keeper_of(&peer, keeper))
    }

    /// Sends one request. A line that would be too long is not sent.
    pub(crate) fn request<P: Serialize>(
        &mut self,
        id: u64,
        method: &str,
        params: &P,
    ) -> Result<(), Quit> {
        let mut line =
            serde_json::to_vec(&Request { id, method, params }).map_err(|_| Quit::NoPayload)?;
        line.push(b'\n');
        if line.len() > LINE_MAX {
            return Err(Quit::NoPayload);
        }
        self.stream.write_all(&line).map_err(|_| Quit::NoHost)
    }

    /// The next line, without its newline.
    pub(crate) fn line(&mut self, watch: &Watch, deadline: Deadline) -> Result<String, Quit> {
        let mut searched = 0;
        loop {
            if let Some(at) = self
                .buffered
                .iter()
                .skip(searched)
                .position(|byte| *byte == b'\n')
            {
                let rest = self.buffered.split_off(searched + at + 1);
                let mut line = std::mem::replace(&mut self.buffered, rest);
                line.pop();
                return String::from_utf8(line).map_err(|_| Quit::NoHost);
            }
            searched = self.buffered.len();
            if searched > LINE_MAX {
                return Err(Quit::NoHost);
            }
            watch.readable(&self.stream, deadline)?;
            let mut chunk = [0; CHUNK];
            match self.stream.read(&mut chunk) {
                Ok(0) => return Err(Quit::NoHost),
                Ok(count) => self.buffered.extend_from_slice(&chunk[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(Quit::NoHost),
            }
        }
    }
}
