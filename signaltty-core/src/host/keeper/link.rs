//! One end of the connection between host and keeper: frames and descriptors over a non-blocking stream
//! socket, the same at both ends.

use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};

use super::wire::{FDS_MAX, Frame, HEADER_LEN, Header, Malformed};

/// Bytes read in one call.
const READ: usize = 64 * 1024;
/// Descriptors that may have arrived ahead of the frame that they belong to.
const FDS_AHEAD_MAX: usize = 4 * FDS_MAX;

/// What a read brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Filled {
    /// Bytes.
    Some,
    /// Nothing for now.
    Nothing,
    /// The other end is gone.
    Closed,
}

/// A connection.
#[derive(Debug)]
pub(super) struct Link {
    socket: OwnedFd,
    input: Vec<u8>,
    /// Descriptors in the order in which they came; a frame takes as many as its header says.
    fds: VecDeque<OwnedFd>,
    output: VecDeque<Outgoing>,
}

#[derive(Debug)]
struct Outgoing {
    bytes: Vec<u8>,
    sent: usize,
    fds: Vec<OwnedFd>,
}

impl Link {
    /// Takes a connected socket and makes it non-blocking.
    pub(super) fn new(socket: OwnedFd) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&socket, true)?;
        Ok(Self {
            socket,
            input: Vec::new(),
            fds: VecDeque::new(),
            output: VecDeque::new(),
        })
    }

    /// Reads once.
    pub(super) fn fill(&mut self) -> io::Result<Filled> {
        let held = self.input.len();
        self.input.resize(held + READ, 0);
        let result = self.receive(held);
        let got = *result.as_ref().unwrap_or(&0);
        self.input.truncate(held + got);
        match result {
            Ok(0) => Ok(Filled::Closed),
            Ok(_) => Ok(Filled::Some),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) =>
            {
                Ok(Filled::Nothing)
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(Filled::Closed),
            Err(error) => Err(error),
        }
    }

    fn receive(&mut self, at: usize) -> io::Result<usize> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FDS_MAX))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut parts = [IoSliceMut::new(&mut self.input[at..])];
        let received = rustix::net::recvmsg(
            &self.socket,
            &mut parts,
            &mut control,
            RecvFlags::CMSG_CLOEXEC,
        )?;
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(fds) = message {
                self.fds.extend(fds);
            }
        }
        // More descriptors than any message has: not one of ours, whoever it is.
        if received.flags.contains(ReturnFlags::CTRUNC) || self.fds.len() > FDS_AHEAD_MAX {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(received.bytes)
    }

    /// The next whole frame that was read.
    pub(super) fn next_frame(&mut self, body_max: usize) -> Result<Option<Frame>, Malformed> {
        let Some(header) = Header::read(&self.input, body_max)? else {
            return Ok(None);
        };
        let end = HEADER_LEN + header.len;
        if self.input.len() < end {
            return Ok(None);
        }
        if self.fds.len() < header.fds {
            return Err(Malformed::Fds(self.fds.len()));
        }
        let body = self.input[HEADER_LEN..end].to_vec();
        self.input.drain(..end);
        let fds = self.fds.drain(..header.fds).collect();
        Ok(Some(Frame {
            kind: header.kind,
            id: header.id,
            body,
            fds,
        }))
    }

    /// Puts a frame in line.
    pub(super) fn queue(&mut self, frame: Frame) {
        self.output.push_back(Outgoing {
            bytes: frame.bytes(),
            sent: 0,
            fds: frame.fds,
        });
    }

    /// Whether something is still to be written.
    pub(super) fn has_output(&self) -> bool {
        !self.output.is_empty()
    }

    /// Writes what can be written now.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        while let Some(first) = self.output.front_mut() {
            match first.send(self.socket.as_fd()) {
                Ok(()) if first.sent == first.bytes.len() => {
                    self.output.pop_front();
                }
                Ok(()) => {}
                Err(rustix::io::Errno::WOULDBLOCK) => break,
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

impl Outgoing {
    fn send(&mut self, socket: BorrowedFd<'_>) -> rustix::io::Result<()> {
        let fds: Vec<BorrowedFd<'_>> = self.fds.iter().map(AsFd::as_fd).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FDS_MAX))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !fds.is_empty() && !control.push(SendAncillaryMessage::ScmRights(&fds)) {
            return Err(rustix::io::Errno::INVAL);
        }
        let parts = [IoSlice::new(&self.bytes[self.sent..])];
        self.sent += rustix::net::sendmsg(socket, &parts, &mut control, SendFlags::NOSIGNAL)?;
        // They travel with the first byte.
        self.fds.clear();
        Ok(())
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl AsRawFd for Link {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    fn pipe() -> (File, OwnedFd) {
        let (reader, writer) = rustix::pipe::pipe().unwrap();
        (reader.into(), writer)
    }

    fn pair() -> (Link, Link) {
        let (a, b) = UnixStream::pair().unwrap();
        (Link::new(a.into()).unwrap(), Link::new(b.into()).unwrap())
    }

    #[test]
    fn frames_larger_than_the_sockets_buffer_arrive_whole_and_each_with_its_own_descriptors() {
        let (mut a, mut b) = pair();
        let mut readers = Vec::new();
        for id in 1..=3_u32 {
            let (reader, writer) = pipe();
            readers.push(reader);
            a.queue(Frame {
                kind: 9,
                id,
                body: vec![id as u8; 700_000],
                fds: vec![writer],
            });
        }
        let mut got = Vec::new();
        while got.len() < 3 {
            a.flush().unwrap();
            b.fill().unwrap();
            while let Some(frame) = b.next_frame(1_000_000).unwrap() {
                got.push(frame);
            }
        }
        for (frame, mut reader) in got.into_iter().zip(readers) {
            assert_eq!(frame.body, vec![frame.id as u8; 700_000]);
            let [fd] = <[OwnedFd; 1]>::try_from(frame.fds).unwrap();
            std::fs::File::from(fd)
                .write_all(&[frame.id as u8])
                .unwrap();
            let mut bytes = Vec::new();
            reader.read_to_end(&mut bytes).unwrap();
            assert_eq!(bytes, [frame.id as u8]);
        }
    }

    #[test]
    fn a_frame_that_is_too_long_or_lacks_its_descriptors_is_malformed() {
        let (mut a, mut b) = pair();
        a.queue(Frame {
            kind: 1,
            id: 1,
            body: vec![0; 65],
            fds: vec![],
        });
        a.flush().unwrap();
        b.fill().unwrap();
        assert_eq!(b.next_frame(64).unwrap_err(), Malformed::Bounds("a length"));

        let (a, mut b) = pair();
        let mut bytes = Frame {
            kind: 1,
            id: 1,
            body: vec![],
            fds: vec![],
        }
        .bytes();
        bytes[6] = 1;
        rustix::io::write(&a, &bytes).unwrap();
        b.fill().unwrap();
        assert_eq!(b.next_frame(64).unwrap_err(), Malformed::Fds(0));
    }

    #[test]
    fn far_more_descriptors_than_a_message_has_are_refused_and_closed() {
        let (mut a, mut b) = pair();
        let (mut reader, writer) = pipe();
        let fds: Vec<OwnedFd> = (0..12).map(|_| writer.try_clone().unwrap()).collect();
        drop(writer);
        let borrowed: Vec<_> = fds.iter().map(AsFd::as_fd).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(12))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        assert!(control.push(SendAncillaryMessage::ScmRights(&borrowed)));
        rustix::net::sendmsg(&a, &[IoSlice::new(b"x")], &mut control, SendFlags::empty()).unwrap();
        drop(borrowed);
        drop(fds);
        assert_eq!(b.fill().unwrap_err().kind(), io::ErrorKind::InvalidData);
        drop(b);
        assert_eq!(reader.read(&mut [0]).unwrap(), 0, "a descriptor leaked");
        assert!(a.fill().is_ok_and(|filled| filled == Filled::Closed));
    }
}
