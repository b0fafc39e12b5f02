//! What the tests have in common: a keeper in a folder of its own, and a host that is this process or another.

use std::collections::HashMap;
use std::future::Future;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, Signal};
use signaltty_core::host::keeper::{
    HeldPane, Keeper, KeeperError, KeeperEvent, SpawnError, SpawnSpec, Spawned,
};
use signaltty_core::host::lock::HostLock;
use signaltty_core::host::paths::{HostPaths, prepare_folder};
use signaltty_core::model::{Exit, PaneId, Size};
use tokio::sync::mpsc;

/// What anything may take on a loaded machine. Reached only where something is broken.
pub const LONG: Duration = Duration::from_secs(30);

/// A named test.
pub fn trial(name: &str, test: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, move || {
        test();
        Ok(())
    })
}

/// Runs a test's async part, within bounds.
pub fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        tokio::time::timeout(4 * LONG, test)
            .await
            .expect("the test took too long")
    })
}

pub fn program() -> PathBuf {
    std::env::current_exe().unwrap()
}

/// Folder and paths of one keeper. Ends that keeper with the test, also with one that fails.
pub struct Bench {
    pub paths: HostPaths,
    keepers: std::cell::RefCell<Vec<i32>>,
    _dir: tempfile::TempDir,
}

impl Bench {
    pub fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("sk").tempdir().unwrap();
        let paths = HostPaths::of_host_socket(&dir.path().join("s/host.sock"), false).unwrap();
        prepare_folder(&paths).unwrap();
        Self {
            paths,
            keepers: Default::default(),
            _dir: dir,
        }
    }

    pub fn dir(&self) -> &Path {
        self._dir.path()
    }

    /// Becomes the host.
    pub async fn host(&self) -> Host {
        self.try_host().await.unwrap()
    }

    pub async fn try_host(&self) -> Result<Host, KeeperError> {
        let lock = HostLock::take(&self.paths.lock, Some(LONG)).unwrap();
        let (keeper, held, events) =
            Keeper::connect_or_start(&self.paths, &lock, &program()).await?;
        self.note(keeper.pid());
        Ok(Host {
            keeper,
            held,
            events,
            exits: HashMap::new(),
            lock,
        })
    }

    /// The keeper is to end with the test.
    pub fn note(&self, pid: i32) {
        self.keepers.borrow_mut().push(pid);
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        for pid in self
            .keepers
            .borrow()
            .iter()
            .filter_map(|&pid| Pid::from_raw(pid))
        {
            // Only what is still a keeper: its pid may be another's by now.
            let cmdline = signaltty_core::host::ancestry::read_cmdline(pid.as_raw_nonzero().get());
            if cmdline.get(1).is_some_and(|arg| arg == "keeper") {
                let _ = rustix::process::kill_process(pid, Signal::KILL);
            }
        }
    }
}

/// This process as host.
pub struct Host {
    pub keeper: Keeper,
    pub held: Vec<HeldPane>,
    pub events: mpsc::Receiver<KeeperEvent>,
    exits: HashMap<PaneId, Exit>,
    pub lock: HostLock,
}

impl Host {
    pub async fn spawn(&self, id: &str, argv: &[&str]) -> Spawned {
        self.keeper.spawn(spec(id, argv)).await.unwrap()
    }

    pub async fn spawn_error(&self, spec: SpawnSpec) -> SpawnError {
        self.keeper.spawn(spec).await.expect_err("it started")
    }

    /// Waits for the exit of a pane's program.
    pub async fn exit(&mut self, id: &str) -> Exit {
        let id = pane(id);
        loop {
            if let Some(exit) = self.exits.remove(&id) {
                return exit;
            }
            match tokio::time::timeout(LONG, self.events.recv())
                .await
                .expect("no exit came")
            {
                Some(KeeperEvent::Exited { pane_id, exit }) => {
                    assert!(self.exits.insert(pane_id, exit).is_none(), "told twice");
                }
                other => panic!("{other:?} instead of an exit"),
            }
        }
    }
}

pub fn pane(id: &str) -> PaneId {
    PaneId::new(id).unwrap()
}

pub fn spec(id: &str, argv: &[&str]) -> SpawnSpec {
    SpawnSpec {
        pane_id: pane(id),
        argv: argv.iter().map(Into::into).collect(),
        cwd: "/".into(),
        env: vec![("PATH".into(), search_path().into())],
        size: Size {
            cols: 200,
            rows: 50,
        },
        meta: format!("record of {id}").into_bytes(),
    }
}

/// Of the places where this process looks for programs, those that it may look into: a name that is found
/// nowhere is "not found" only if no place was closed.
fn search_path() -> String {
    let path = std::env::var("PATH").unwrap_or("/usr/bin:/bin".to_owned());
    let open: Vec<_> = path
        .split(':')
        .filter(|place| std::fs::read_dir(place).is_ok())
        .collect();
    open.join(":")
}

pub fn code(code: i32) -> Exit {
    Exit {
        code: Some(code),
        signal: None,
    }
}

pub fn signal(signal: i32) -> Exit {
    Exit {
        code: None,
        signal: Some(signal),
    }
}

/// Reads a terminal until `done` finds in it what it looks for, and returns that.
pub fn read_until<T>(master: impl AsFd, mut done: impl FnMut(&str) -> Option<T>) -> T {
    let until = Instant::now() + LONG;
    let mut seen = Vec::new();
    let mut chunk = [0; 4_096];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let read = if is_ready_within(&master, left) {
            rustix::io::read(&master, &mut chunk).unwrap_or(0)
        } else {
            0
        };
        seen.extend(&chunk[..read]);
        let text = String::from_utf8_lossy(&seen);
        if let Some(found) = done(&text) {
            return found;
        }
        assert!(read > 0, "the terminal ended or fell silent after {text:?}");
    }
}

/// Reads a terminal until a line has come whole that begins with `mark`, and returns the rest of that line.
pub fn line_after(master: impl AsFd, mark: &str) -> String {
    read_until(master, |text| {
        let (_, after) = text.split_once(mark)?;
        after
            .split_once('\n')
            .map(|(line, _)| line.trim_end().to_owned())
    })
}

/// Waits until something can be read, or its other end is closed.
pub fn is_ready_within(fd: impl AsFd, wait: Duration) -> bool {
    let mut fds = [PollFd::new(&fd, PollFlags::IN)];
    rustix::event::poll(&mut fds, Some(&Timespec::try_from(wait).unwrap())).unwrap();
    !fds[0].revents().is_empty()
}

/// Waits until something is so.
pub fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + LONG;
    while !is_so() {
        assert!(
            Instant::now() < until,
            "it did not come to pass that {what}"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub fn is_running(pid: i32) -> bool {
    // A zombie has no arguments.
    !signaltty_core::host::ancestry::read_cmdline(pid).is_empty()
}

/// Another process as host. It obeys lines on its input, so that a test can kill it where it likes.
pub struct OtherHost {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
}

impl OtherHost {
    pub fn start(bench: &Bench) -> Self {
        Self::start_by(bench, "exec \"$@\"")
    }

    /// The same, started by a line of shell that ends in `exec "$@"`.
    pub fn start_by(bench: &Bench, line: &str) -> Self {
        let mut child = Command::new("sh")
            .args(["-c", line, "sh"])
            .arg(program())
            .args(["host", bench.paths.host.to_str().unwrap()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let mut host = Self { child, lines };
        let keeper = host.line();
        bench.note(keeper.strip_prefix("keeper ").unwrap().parse().unwrap());
        host
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Gives it a command and returns its answer.
    pub fn ask(&mut self, command: &str) -> String {
        writeln!(self.child.stdin.as_mut().unwrap(), "{command}").unwrap();
        self.line()
    }

    /// Gives it a command without waiting.
    pub fn tell(&mut self, command: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{command}").unwrap();
    }

    /// Kills it, and tells whether its output was then closed: whether nobody else has it.
    pub fn kill_and_see_output_closed(mut self) -> bool {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        is_ready_within(self.lines.get_ref(), LONG) && self.line().is_empty()
    }

    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for OtherHost {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The `host` role: `spawn ID COMMAND` starts a shell command, `append ID TEXT` and `snapshot ID TEXT` write to
/// a pane's memory, `flood ID` appends for ever.
pub fn run_host() -> ExitCode {
    let paths =
        HostPaths::of_host_socket(Path::new(&std::env::args().nth(2).unwrap()), false).unwrap();
    let lock = HostLock::take(&paths.lock, Some(LONG)).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let (keeper, _held, _events) = Keeper::connect_or_start(&paths, &lock, &program())
            .await
            .unwrap();
        println!("keeper {}", keeper.pid());
        let mut panes: HashMap<String, (Spawned, OwnedFd)> = HashMap::new();
        let mut line = String::new();
        while std::io::stdin().read_line(&mut line).unwrap() > 0 {
            let mut words = line.trim_end().splitn(3, ' ');
            let (verb, id, rest) = (
                words.next().unwrap(),
                words.next().unwrap_or_default(),
                words.next().unwrap_or_default(),
            );
            let memory = panes.get_mut(id).map(|(spawned, _)| &mut spawned.memory);
            match (verb, memory) {
                ("spawn", None) => {
                    let spawned = keeper.spawn(spec(id, &["sh", "-c", rest])).await.unwrap();
                    println!("{}", spawned.pid);
                    let copy = spawned.master.try_clone().unwrap();
                    panes.insert(id.to_owned(), (spawned, copy));
                }
                ("append", Some(memory)) => {
                    memory.append(rest.as_bytes()).unwrap();
                    println!("ok");
                }
                ("snapshot", Some(memory)) => {
                    memory.write_snapshot(rest.as_bytes()).unwrap();
                    println!("ok");
                }
                ("flood", Some(memory)) => {
                    for number in 0_u64.. {
                        memory
                            .append(format!("line {number}\n").as_bytes())
                            .unwrap();
                        if number % 1_000 == 999 {
                            memory
                                .write_snapshot(format!("snapshot to {number}").as_bytes())
                                .unwrap();
                        }
                    }
                }
                other => panic!("{other:?}"),
            }
            line.clear();
        }
    });
    ExitCode::SUCCESS
}
