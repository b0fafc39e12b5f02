//! A private world: a home, a work folder, a socket, the host that listens there; and its end.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value as Json, json};

use super::client::Client;
use super::wait::{until, within};

/// Marks every process that a world started, so that its end finds them all and no other.
const MARK: &str = "SIGNALTTY_TEST_WORLD";
/// Variables of the test's own environment that programs in a world may see.
const PASSED: [&str; 3] = ["PATH", "LANG", "CARGO_TARGET_DIR"];

/// See the module.
pub struct World {
    folder: tempfile::TempDir,
    /// The only environment of whatever runs here.
    pub env: BTreeMap<String, String>,
    daemon: Option<Child>,
}

impl World {
    /// Folders and environment; no host yet.
    pub fn new() -> Self {
        // Short: a socket's path has at most 107 bytes.
        let folder = tempfile::Builder::new()
            .prefix("stt-")
            .tempdir()
            .expect("a temporary folder");
        let at = |name: &str| folder.path().join(name);
        for name in ["home", "work", "run", "data", "config", "state", "cache"] {
            fs::create_dir(at(name)).expect("a folder of the world");
        }
        rustix::fs::chmod(at("run"), rustix::fs::Mode::RWXU).expect("a private runtime folder");
        let mut env: BTreeMap<String, String> = PASSED
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)))
            .collect();
        for (name, value) in [
            (MARK, folder.path().to_owned()),
            ("HOME", at("home")),
            ("XDG_RUNTIME_DIR", at("run")),
            ("XDG_DATA_HOME", at("data")),
            ("XDG_CONFIG_HOME", at("config")),
            ("XDG_STATE_HOME", at("state")),
            ("XDG_CACHE_HOME", at("cache")),
            ("SIGNALTTY_SOCKET", at("run").join("host.sock")),
        ] {
            env.insert(name.into(), value.to_str().expect("a path in UTF-8").into());
        }
        for (name, value) in [
            ("TERM", "xterm-256color"),
            ("LC_ALL", "C.UTF-8"),
            ("COLORTERM", "truecolor"),
        ] {
            env.insert(name.into(), value.into());
        }
        Self {
            folder,
            env,
            daemon: None,
        }
    }

    /// A world with its host running.
    pub fn with_host() -> Self {
        let mut world = Self::new();
        world.start_host();
        world
    }

    /// The home that every program here has.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Where the panes' programs work.
    pub fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Any file of the world by its relative path.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().join(relative)
    }

    /// The host's socket.
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("run/host.sock")
    }

    /// A program of this project in this world's environment.
    pub fn command(&self, name: &str) -> Command {
        let mut command = Command::new(program(name));
        command
            .env_clear()
            .envs(&self.env)
            .current_dir(self.work())
            .stdin(Stdio::null());
        command
    }

    /// Runs `signaltty` with these arguments to its end.
    pub fn cli<const N: usize>(&self, arguments: [&str; N]) -> Output {
        self.command("signaltty")
            .args(arguments)
            .output()
            .expect("signaltty runs")
    }

    /// Runs `signaltty --json …`, which must succeed, and reads its document.
    #[track_caller]
    pub fn cli_json<const N: usize>(&self, arguments: [&str; N]) -> Json {
        let done = self
            .command("signaltty")
            .arg("--json")
            .args(arguments)
            .output()
            .expect("signaltty runs");
        assert!(
            done.status.success(),
            "signaltty {arguments:?}: {}\n{}",
            done.status,
            text(&done)
        );
        serde_json::from_slice(&done.stdout)
            .unwrap_or_else(|error| panic!("{error} in {}", text(&done)))
    }

    /// Starts `signaltty daemon` and waits until it answers.
    #[track_caller]
    pub fn start_host(&mut self) {
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.path("host.log"))
            .expect("the host's log");
        let child = self
            .command("signaltty")
            .arg("daemon")
            .stdout(log.try_clone().expect("the host's log"))
            .stderr(log)
            .spawn()
            .expect("signaltty daemon starts");
        self.daemon = Some(child);
        self.await_host();
    }

    /// Waits until whatever host there is answers.
    #[track_caller]
    pub fn await_host(&self) {
        let answers = within(super::PATIENCE, || {
            Client::try_connect(&self.socket())?
                .call("host.info", json!({}))
                .ok()
        });
        assert!(
            answers.is_some(),
            "no host answers; its log:\n{}",
            self.host_log()
        );
    }

    /// What the host wrote.
    pub fn host_log(&self) -> String {
        fs::read_to_string(self.path("host.log")).unwrap_or_default()
    }

    /// The process id of the host that answers now.
    #[track_caller]
    pub fn host_pid(&self) -> i32 {
        let info = self.client().must("host.info", json!({}));
        i32::try_from(info["pid"].as_i64().expect("a pid")).expect("a pid")
    }

    /// Kills the host as a crash would, and waits until it is gone. Whoever has a client may start another.
    #[track_caller]
    pub fn kill_host(&mut self) -> i32 {
        let pid = self.host_pid();
        kill(pid);
        if let Some(mut child) = self.daemon.take() {
            if child.id() == pid.unsigned_abs() {
                child.wait().expect("the host ends");
            } else {
                self.daemon = Some(child);
            }
        }
        until("the killed host is gone", || (!alive(pid)).then_some(()));
        pid
    }

    /// Every running process of this world: its id and its command line.
    pub fn processes(&self) -> Vec<(i32, Vec<String>)> {
        let command = |pid: i32| {
            let raw = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            raw.split(|byte| *byte == 0)
                .map(|argument| String::from_utf8_lossy(argument).into_owned())
                .collect()
        };
        inhabitants(self.folder.path())
            .into_iter()
            .map(|pid| (pid, command(pid)))
            .collect()
    }

    /// A client that only watches.
    #[track_caller]
    pub fn client(&self) -> Client {
        Client::connect(&self.socket())
    }

    /// A client with a human behind it.
    #[track_caller]
    pub fn operator(&self) -> Client {
        let mut client = self.client();
        client.hello("operator");
        client
    }

    /// Starts a program in a new pane, with this world's environment and what is added to it.
    #[track_caller]
    pub fn spawn(&self, argv: &[&str], more: &[(&str, &str)]) -> Pane {
        let mut env = self.env.clone();
        env.extend(
            more.iter()
                .map(|(name, value)| ((*name).into(), (*value).into())),
        );
        let mut client = self.client();
        let spawned = client.must(
            "pane.spawn",
            json!({"argv": argv, "cwd": self.work(), "env": env, "size": {"cols": 110, "rows": 45}}),
        );
        Pane {
            id: spawned["pane_id"].as_str().expect("a pane's id").to_owned(),
            socket: self.socket(),
        }
    }
}

impl Drop for World {
    /// Ends every process of this world, by process id: they all carry its mark. Folders go last.
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- the host's log\n{}", self.host_log());
        }
        // A keeper that cannot be inspected has no readable environment; its host names it.
        let keeper = Client::try_connect(&self.socket())
            .and_then(|mut client| client.call("host.info", json!({})).ok())
            .and_then(|info| i32::try_from(info["keeper_pid"].as_i64()?).ok());
        let emptied = within(Duration::from_secs(20), || {
            let mut left = inhabitants(self.folder.path());
            left.extend(keeper.filter(|pid| alive(*pid)));
            left.iter().copied().for_each(kill);
            if let Some(child) = &mut self.daemon {
                let _ = child.try_wait();
            }
            left.is_empty().then_some(())
        });
        if emptied.is_none() {
            eprintln!(
                "processes of {} are left: {:?}",
                self.folder.path().display(),
                inhabitants(self.folder.path())
            );
        }
    }
}

/// A pane of a world's host.
#[derive(Debug, Clone)]
pub struct Pane {
    /// Its id.
    pub id: String,
    socket: PathBuf,
}

impl Pane {
    /// What the host knows of it.
    #[track_caller]
    pub fn get(&self) -> Json {
        Client::connect(&self.socket).must("pane.get", json!({"pane_id": self.id}))["pane"].take()
    }

    /// The decision pending there, if there is one.
    #[track_caller]
    pub fn decision(&self) -> Option<Json> {
        self.get()
            .get("decision")
            .filter(|decision| !decision.is_null())
            .cloned()
    }

    /// Waits for a pending decision.
    #[track_caller]
    pub fn await_decision(&self) -> Json {
        until("a decision is pending", || self.decision())
    }

    /// Waits until none is.
    #[track_caller]
    pub fn await_no_decision(&self) {
        until("no decision is pending", || {
            self.decision().is_none().then_some(())
        });
    }

    /// The text on its screen.
    #[track_caller]
    pub fn screen(&self) -> String {
        let read = Client::connect(&self.socket)
            .must("pane.read", json!({"pane_id": self.id, "what": "screen"}));
        read["text"].as_str().expect("text").to_owned()
    }

    /// Waits until its screen holds a text.
    #[track_caller]
    pub fn await_screen(&self, wanted: &str) -> String {
        self.await_screen_where(wanted, |screen| screen.contains(wanted))
    }

    /// Waits until its screen is as wanted.
    #[track_caller]
    pub fn await_screen_where(&self, what: &str, is: impl Fn(&str) -> bool) -> String {
        within(super::PATIENCE, || {
            Some(self.screen()).filter(|screen| is(screen))
        })
        .unwrap_or_else(|| panic!("never on screen: {what}; there is:\n{}", self.screen()))
    }

    /// Types as a person at a viewer does.
    #[track_caller]
    pub fn type_text(&self, text: &str) {
        if let Err(error) = self.try_type(text) {
            panic!(
                "{text:?} cannot be typed: {error:?}; {}\n{}",
                self.get(),
                self.screen()
            );
        }
    }

    /// The same where its program may have ended.
    ///
    /// # Errors
    /// The host's.
    pub fn try_type(&self, text: &str) -> Result<Json, super::WireFailure> {
        Client::connect(&self.socket).call("pane.input", json!({"pane_id": self.id, "text": text}))
    }

    /// Process id of its program.
    #[track_caller]
    pub fn pid(&self) -> i32 {
        i32::try_from(self.get()["pid"].as_i64().expect("a running program")).expect("a pid")
    }

    /// The size that the kernel has for its terminal: (columns, rows).
    #[track_caller]
    pub fn tty_size(&self) -> (u16, u16) {
        let tty =
            fs::read_link(format!("/proc/{}/fd/0", self.pid())).expect("the program's terminal");
        let size =
            rustix::termios::tcgetwinsize(File::open(&tty).expect("a terminal")).expect("its size");
        (size.ws_col, size.ws_row)
    }
}

/// The path of one of the two programs, as this test run built it.
pub fn program(name: &str) -> PathBuf {
    let given = match name {
        "signaltty" => option_env!("CARGO_BIN_EXE_signaltty"),
        "signaltty-gtk" => option_env!("CARGO_BIN_EXE_signaltty-gtk"),
        _ => None,
    };
    given.map_or_else(|| sibling(name), PathBuf::from)
}

/// The other package's program: built beside this package's, in the same target folder.
fn sibling(name: &str) -> PathBuf {
    let here = std::env::current_exe().expect("the running test");
    // target/PROFILE/deps/TEST, target/PROFILE/examples/EXAMPLE
    let profile = here
        .parent()
        .and_then(Path::parent)
        .expect("the folder of the profile");
    let path = profile.join(name);
    assert!(
        path.exists(),
        "{} is not built; run `cargo build --workspace` first",
        path.display()
    );
    path
}

/// Sends SIGKILL to one process.
pub fn kill(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// Whether a process runs (a zombie does not).
pub fn alive(pid: i32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        !stat
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .trim_start()
            .starts_with('Z')
    })
}

/// The running processes of the world in that folder: its mark is in their environment, or its path in their name
/// (the keeper shows no environment).
fn inhabitants(folder: &Path) -> Vec<i32> {
    let mark = format!("{MARK}={}", folder.display());
    let path = folder.display().to_string();
    let holds = |pid: i32, file: &str, is: &dyn Fn(&str) -> bool| {
        let raw = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        raw.split(|byte| *byte == 0)
            .any(|entry| is(&String::from_utf8_lossy(entry)))
    };
    let Ok(all) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    all.flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| u32::try_from(*pid) != Ok(std::process::id()))
        .filter(|pid| {
            holds(*pid, "environ", &|entry| entry == mark)
                || holds(*pid, "cmdline", &|entry| {
                    entry.starts_with("signaltty-keeper:") && entry.contains(&path)
                })
        })
        .filter(|pid| alive(*pid))
        .collect()
}

/// Both outputs of a finished program, for a message.
pub fn text(done: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr)
    )
}
