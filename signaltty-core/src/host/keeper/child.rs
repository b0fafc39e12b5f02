//! Starting a pane's program: everything is prepared before the fork, and between fork and exec only
//! async-signal-safe calls are made, so that nothing there can wait for a lock that nobody will release.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::pipe::PipeFlags;
use rustix::process::{Resource, Rlimit};
use rustix::pty::OpenptFlags;
use rustix::termios::Winsize;

use super::wire::{SpawnRequest, Stage};

/// A program that was forked, and whose exec is not yet known to have worked.
#[derive(Debug)]
pub(super) struct Forked {
    /// Its process.
    pub(super) pid: i32,
    /// The terminal's master.
    pub(super) master: OwnedFd,
    /// Closes without a byte once the program runs; else brings a [`Failure`].
    pub(super) report: OwnedFd,
}

/// Where and why a program did not start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) stage: Stage,
    pub(super) errno: i32,
}

impl Failure {
    pub(super) const LEN: usize = 8;

    fn bytes(self) -> [u8; Self::LEN] {
        let stage: i32 = match self.stage {
            Stage::Cwd => 1,
            Stage::Exec => 2,
            Stage::Setup | Stage::Request => 0,
        };
        let mut bytes = [0; Self::LEN];
        bytes[..4].copy_from_slice(&stage.to_ne_bytes());
        bytes[4..].copy_from_slice(&self.errno.to_ne_bytes());
        bytes
    }

    pub(super) fn read(bytes: [u8; Self::LEN]) -> Self {
        let [a, b, c, d, e, f, g, h] = bytes;
        let stage = match i32::from_ne_bytes([a, b, c, d]) {
            1 => Stage::Cwd,
            2 => Stage::Exec,
            _ => Stage::Setup,
        };
        Self {
            stage,
            errno: i32::from_ne_bytes([e, f, g, h]),
        }
    }
}

impl From<Errno> for Failure {
    fn from(error: Errno) -> Self {
        Self {
            stage: Stage::Setup,
            errno: error.raw_os_error(),
        }
    }
}

/// What the child needs, made before the fork.
struct Prepared {
    cwd: CString,
    /// The paths at which the program may lie, in the order of the environment's `PATH`.
    candidates: Vec<CString>,
    argv: Vec<*const libc::c_char>,
    envp: Vec<*const libc::c_char>,
    /// `/bin/sh`, the path, the arguments: for a script without an interpreter line, as `execvp` does.
    shell: Vec<*const libc::c_char>,
    files: Rlimit,
    slave: RawFd,
    report: RawFd,
    // What the pointers point into.
    _strings: Vec<CString>,
}

const SHELL: &std::ffi::CStr = c"/bin/sh";
/// Where programs are looked for if the environment has no `PATH`, as in `execvp` of glibc.
const DEFAULT_PATH: &[u8] = b"/bin:/usr/bin";

/// Makes a terminal of the right size and forks a child that becomes the program in it. `files` is the
/// limit of open files that the program is to have.
///
/// The caller must have no other thread: the child of a process with threads could wait for ever for a lock
/// that another thread held. (What is called there takes none, but `fork` itself runs the libc's handlers.)
pub(super) fn fork(request: &SpawnRequest, files: Rlimit) -> Result<Forked, Failure> {
    let master =
        rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    rustix::pty::grantpt(&master)?;
    rustix::pty::unlockpt(&master)?;
    let (cols, rows) = request.size;
    let size = Winsize {
        ws_row: rows,
        ws_col: cols,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    rustix::termios::tcsetwinsize(&master, size)?;
    // By way of the master, so that no name of another mount namespace's /dev/pts is involved.
    let slave = rustix::pty::ioctl_tiocgptpeer(
        &master,
        OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC,
    )?;
    let slave = above_standard(slave)?;
    let (report, child_end) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    let child_end = above_standard(child_end)?;
    rustix::fs::fcntl_setfl(&report, OFlags::NONBLOCK)?;
    let mut prepared = Prepared::new(request, files, slave.as_raw_fd(), child_end.as_raw_fd())?;

    // SAFETY: the keeper has one thread; the child calls only async-signal-safe functions and never returns.
    match unsafe { libc::fork() } {
        -1 => Err(last_errno().into()),
        0 => {
            // SAFETY: this is the child of a fork, and `prepared` was made for it.
            unsafe { become_program(&mut prepared) }
        }
        pid => Ok(Forked {
            pid,
            master,
            report,
        }),
    }
}

/// The standard descriptors are replaced in the child, so nothing that it needs may be one of them.
fn above_standard(fd: OwnedFd) -> Result<OwnedFd, Errno> {
    if fd.as_raw_fd() > 2 {
        Ok(fd)
    } else {
        rustix::io::fcntl_dupfd_cloexec(&fd, 3)
    }
}

fn last_errno() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)
}

impl Prepared {
    fn new(
        request: &SpawnRequest,
        files: Rlimit,
        slave: RawFd,
        report: RawFd,
    ) -> Result<Self, Failure> {
        let invalid = Failure {
            stage: Stage::Request,
            errno: libc::EINVAL,
        };
        let text = |bytes: &[u8]| CString::new(bytes).map_err(|_| invalid);
        let program = request
            .argv
            .first()
            .filter(|program| !program.is_empty())
            .ok_or(invalid)?;
        let cwd = text(&request.cwd)?;
        let path = request
            .env
            .iter()
            .find_map(|pair| pair.strip_prefix(b"PATH="))
            .unwrap_or(DEFAULT_PATH);
        let candidates = candidates(program, path)
            .iter()
            .map(|path| text(path))
            .collect::<Result<_, _>>()?;
        let args = request
            .argv
            .iter()
            .map(|arg| text(arg))
            .collect::<Result<Vec<_>, _>>()?;
        let env = request
            .env
            .iter()
            .map(|pair| text(pair))
            .collect::<Result<Vec<_>, _>>()?;

        let pointers = |strings: &[CString]| -> Vec<*const libc::c_char> {
            strings
                .iter()
                .map(|string| string.as_ptr())
                .chain([std::ptr::null()])
                .collect()
        };
        let argv = pointers(&args);
        let envp = pointers(&env);
        // The second place is filled with the path that was found.
        let mut shell = vec![SHELL.as_ptr(), std::ptr::null()];
        shell.extend(&argv[1..]);
        let strings = args.into_iter().chain(env).collect();
        Ok(Self {
            cwd,
            candidates,
            argv,
            envp,
            shell,
            files,
            slave,
            report,
            _strings: strings,
        })
    }
}

fn candidates(program: &[u8], path: &[u8]) -> Vec<Vec<u8>> {
    if program.contains(&b'/') {
        return vec![program.to_vec()];
    }
    path.split(|&byte| byte == b':')
        .map(|folder| {
            // An empty part means the current folder, says POSIX.
            let folder = if folder.is_empty() { &b"."[..] } else { folder };
            [folder, b"/", program].concat()
        })
        .collect()
}

/// The child's way from fork to exec.
///
/// # Safety
/// Only in the child of a fork. Calls nothing but async-signal-safe functions; allocates nothing.
unsafe fn become_program(p: &mut Prepared) -> ! {
    // SAFETY: all pointers are to memory that `p` keeps; the calls are plain system calls.
    unsafe {
        // A handler of ours must not run in the child, and what we ignore (SIGHUP, SIGPIPE) would stay
        // ignored in the program. The mask is emptied only after that. 64 is the last signal of Linux.
        let mut default: libc::sigaction = std::mem::zeroed();
        default.sa_sigaction = libc::SIG_DFL;
        for signal in 1..=64 {
            libc::sigaction(signal, &default, std::ptr::null_mut());
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());

        if libc::setsid() < 0
            || libc::ioctl(p.slave, libc::TIOCSCTTY, 0) < 0
            || (0..=2).any(|fd| libc::dup2(p.slave, fd) < 0)
        {
            fail(p, Stage::Setup);
        }
        // Everything of ours is close-on-exec by itself; this is for what a library might have opened. Fails
        // only on kernels before 5.11, where the former has to do.
        libc::syscall(
            libc::SYS_close_range,
            3,
            libc::c_uint::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        );
        let files = libc::rlimit {
            rlim_cur: p.files.current.unwrap_or(libc::RLIM_INFINITY),
            rlim_max: p.files.maximum.unwrap_or(libc::RLIM_INFINITY),
        };
        libc::setrlimit(libc::RLIMIT_NOFILE, &files);

        if libc::chdir(p.cwd.as_ptr()) < 0 {
            fail(p, Stage::Cwd);
        }
        // As execvp: a candidate that may not be run is remembered, one that is not there is passed over.
        let mut error = libc::ENOENT;
        for candidate in &p.candidates {
            libc::execve(candidate.as_ptr(), p.argv.as_ptr(), p.envp.as_ptr());
            match *libc::__errno_location() {
                libc::ENOEXEC => {
                    if let Some(place) = p.shell.get_mut(1) {
                        *place = candidate.as_ptr();
                    }
                    libc::execve(SHELL.as_ptr(), p.shell.as_ptr(), p.envp.as_ptr());
                    fail(p, Stage::Exec);
                }
                libc::EACCES => error = libc::EACCES,
                libc::ENOENT | libc::ENOTDIR => {}
                _ => fail(p, Stage::Exec),
            }
        }
        *libc::__errno_location() = error;
        fail(p, Stage::Exec)
    }
}

/// Reports the last error and ends the child.
///
/// # Safety
/// As [`become_program`].
unsafe fn fail(p: &Prepared, stage: Stage) -> ! {
    // SAFETY: plain system calls on memory of this frame.
    unsafe {
        let bytes = Failure {
            stage,
            errno: *libc::__errno_location(),
        }
        .bytes();
        libc::write(p.report, bytes.as_ptr().cast(), bytes.len());
        libc::_exit(127)
    }
}

/// The limit of open files that this process began with, after it was raised to what it may have: a keeper
/// holds two descriptors a pane, and its children are to start with the usual limit.
pub(super) fn raise_file_limit() -> Rlimit {
    let before = rustix::process::getrlimit(Resource::Nofile);
    // Refused only if there is nothing to raise.
    let _ = rustix::process::setrlimit(
        Resource::Nofile,
        Rlimit {
            current: before.maximum,
            ..before
        },
    );
    before
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_looked_for_in_path_and_a_path_is_not() {
        let found = |program: &str, path: &str| -> Vec<String> {
            let found = candidates(program.as_bytes(), path.as_bytes());
            found
                .into_iter()
                .map(|path| String::from_utf8(path).unwrap())
                .collect()
        };
        assert_eq!(found("ls", "/a:/b"), ["/a/ls", "/b/ls"]);
        assert_eq!(found("ls", ":/b:"), ["./ls", "/b/ls", "./ls"]);
        assert_eq!(found("./ls", "/a"), ["./ls"]);
    }

    #[test]
    fn a_failure_survives_the_pipe() {
        for stage in [Stage::Setup, Stage::Cwd, Stage::Exec] {
            let failure = Failure { stage, errno: 13 };
            assert_eq!(Failure::read(failure.bytes()), failure);
        }
    }
}
