//! Becoming a keeper: a process that was started with a listening socket as its standard input leaves its
//! starter behind.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::path::PathBuf;
use std::process::ExitCode;

use rustix::pipe::PipeFlags;
use rustix::process::DumpableBehavior;

use super::child;
use super::process::{self, Setup};
use crate::host::paths::BACKLOG;
use crate::paths::SocketPaths;

/// `signaltty keeper`. Returns in the process that was started as soon as the keeper, its child, is ready or
/// has failed; and in the keeper when it has nothing left to keep. Call it first of all in `main`, before
/// anything starts a thread or opens a file: it closes every descriptor that it does not know.
///
/// The host starts it with the bound and listening keeper socket as standard input. That leaves no moment in
/// which a keeper runs and cannot be reached, and nobody becomes one by hand and by accident.
pub fn run() -> ExitCode {
    match prepare() {
        Ok(None) => ExitCode::SUCCESS,
        Ok(Some(setup)) => match process::keep(setup) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        },
        Err(error) => {
            // The starter reads this.
            let _ = writeln!(io::stderr(), "the keeper cannot start: {error}");
            ExitCode::FAILURE
        }
    }
}

fn prepare() -> Result<Option<Setup>, String> {
    let io = |doing: &'static str| move |error: io::Error| format!("cannot {doing}: {error}");
    if std::fs::read_dir("/proc/self/task")
        .map_err(io("count its threads"))?
        .count()
        != 1
    {
        return Err("it has to begin with one thread".to_owned());
    }
    let (listener, socket) = take_listener()?;
    let lock = SocketPaths::lock_of_keeper(&socket)
        .ok_or_else(|| format!("{} is no keeper's socket", socket.display()))?;

    let (mut ready, tell) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)
        .map(|(ready, tell)| (File::from(ready), File::from(tell)))
        .map_err(|error| io("make a pipe")(error.into()))?;
    // SAFETY: there is one thread, so the child finds no lock held.
    match unsafe { libc::fork() } {
        -1 => return Err(io("fork")(io::Error::last_os_error())),
        0 => drop(ready),
        _ => {
            drop(tell);
            // One byte: ready. None: it has failed and said why.
            let mut byte = [0];
            return match ready.read_exact(&mut byte) {
                Ok(()) => Ok(None),
                Err(_) => Err("it ended before it was ready".to_owned()),
            };
        }
    }

    // From here on: the keeper. Its parent is gone soon, so it belongs to init, or to the session's manager.
    rustix::process::setsid().map_err(|error| io("begin a session")(error.into()))?;
    rustix::process::chdir("/").map_err(|error| io("leave the folder")(error.into()))?;
    let me = rustix::process::getpid();
    rustix::process::set_child_subreaper(Some(me))
        .map_err(|error| io("become a subreaper")(error.into()))?;
    // No process of the same user may trace it, read its memory or take its descriptors, and it leaves no
    // core file. /proc/PID/stat stays readable for all; that is what tells its descendants.
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(|error| io("become non-dumpable")(error.into()))?;
    let signals = take_signals().map_err(io("take its signals"))?;
    let files = child::raise_file_limit();
    rustix::io::ioctl_fionbio(&listener, true)
        .map_err(|error| io("set up its socket")(error.into()))?;
    // Once more, by this process: whoever connects is told by the kernel who listens, and that is to be us
    // and not the host that made the socket.
    rustix::net::listen(&listener, BACKLOG).map_err(|error| io("listen")(error.into()))?;

    let null = File::options()
        .read(true)
        .write(true)
        .open("/dev/null")
        .map_err(io("open /dev/null"))?;
    let mut tell = tell;
    rustix::stdio::dup2_stdin(&null).map_err(|error| io("let go of its input")(error.into()))?;
    rustix::stdio::dup2_stdout(&null).map_err(|error| io("let go of its output")(error.into()))?;
    tell.write_all(&[1]).map_err(io("report"))?;
    drop(tell);
    rustix::stdio::dup2_stderr(&null).map_err(|error| io("let go of its errors")(error.into()))?;
    Ok(Some(Setup {
        listener,
        socket,
        lock,
        signals,
        files,
    }))
}

/// Takes the socket from standard input and closes everything that came along beyond the standard three.
fn take_listener() -> Result<(OwnedFd, PathBuf), String> {
    let not = "it is started by the host, with its socket as standard input; it is nothing to run by hand";
    let stdin = io::stdin();
    if !rustix::net::sockopt::socket_acceptconn(&stdin).unwrap_or(false) {
        return Err(not.to_owned());
    }
    let address = rustix::net::getsockname(&stdin).map_err(|_| not.to_owned())?;
    let address = rustix::net::SocketAddrUnix::try_from(address).map_err(|_| not.to_owned())?;
    let path = address.path().ok_or(not)?;
    let path = PathBuf::from(std::ffi::OsStr::new(&*path.to_string_lossy()));
    // SAFETY: the caller of `run` has opened nothing, so 3 is nobody's; what was inherited there is dropped.
    let listener = unsafe {
        if libc::dup3(stdin.as_fd().as_raw_fd(), 3, libc::O_CLOEXEC) != 3 {
            return Err(format!(
                "cannot take its socket: {}",
                io::Error::last_os_error()
            ));
        }
        OwnedFd::from_raw_fd(3)
    };
    close_from_4();
    Ok((listener, path))
}

fn close_from_4() {
    // SAFETY: as in `take_listener`: nothing in this process owns one of these.
    unsafe {
        if libc::syscall(libc::SYS_close_range, 4, libc::c_uint::MAX, 0) == 0 {
            return;
        }
    }
    // Before Linux 5.9. The listing's own descriptor is among them, and closed once more to no effect.
    let Ok(open) = std::fs::read_dir("/proc/self/fd") else {
        return;
    };
    let open: Vec<i32> = open
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    for fd in open.into_iter().filter(|&fd| fd > 3) {
        // SAFETY: as above.
        unsafe { libc::close(fd) };
    }
}

/// Ignores what would end it without a reason of its own, and reads what matters from a descriptor.
fn take_signals() -> io::Result<OwnedFd> {
    // SAFETY: plain system calls on a set that lives here. The dispositions are this process' own.
    unsafe {
        for signal in [libc::SIGHUP, libc::SIGPIPE, libc::SIGINT, libc::SIGQUIT] {
            libc::signal(signal, libc::SIG_IGN);
        }
        // If the starter ignored it, children would be reaped by the kernel, and their exits lost.
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGCHLD);
        libc::sigaddset(&mut set, libc::SIGTERM);
        if libc::sigprocmask(libc::SIG_SETMASK, &set, std::ptr::null_mut()) != 0 {
            return Err(io::Error::last_os_error());
        }
        match libc::signalfd(-1, &set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) {
            -1 => Err(io::Error::last_os_error()),
            fd => Ok(OwnedFd::from_raw_fd(fd)),
        }
    }
}
