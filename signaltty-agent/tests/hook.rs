//! The hook as an agent runs it: the real program and the real shim, against a host that the test plays.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops where it stands"
)]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value as Json, json};
use signaltty_agent::hook::PAYLOAD_MAX;
use signaltty_agent::integration::CLAUDE;
use signaltty_core::adapter::{Integration as _, IntegrationEnv};

/// Longest wait of any step. Only a broken hook takes that long.
const PATIENCE: Duration = Duration::from_secs(30);

const PAYLOAD: &str =
    "{\n \"hook_event_name\": \"PermissionRequest\",\n \"tool_name\": \"Bash\"\n}";
const VERDICT: &str = r#"{"hookSpecificOutput":{"decision":{"behavior":"allow"}}}"#;

/// A host that the test plays, line by line.
struct Host {
    folder: tempfile::TempDir,
    listener: Option<UnixListener>,
}

/// One connection of a hook.
struct Peer(BufReader<UnixStream>);

impl Host {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("folder");
        let mut host = Self {
            folder,
            listener: None,
        };
        host.listen();
        host
    }

    fn none() -> Self {
        Self {
            folder: tempfile::tempdir().expect("folder"),
            listener: None,
        }
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("host.sock")
    }

    fn listen(&mut self) {
        self.listener = Some(UnixListener::bind(self.socket()).expect("socket"));
    }

    fn stop_listening(&mut self) {
        self.listener = None;
        fs::remove_file(self.socket()).expect("socket");
    }

    fn accept(&self) -> Peer {
        let listener = self.listener.as_ref().expect("listening");
        let bound = Timespec {
            tv_sec: i64::try_from(PATIENCE.as_secs()).expect("seconds"),
            tv_nsec: 0,
        };
        let ready =
            poll(&mut [PollFd::new(listener, PollFlags::IN)], Some(&bound)).expect("polled");
        assert_eq!(ready, 1, "the hook did not connect");
        let (stream, _) = listener.accept().expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("bound");
        Peer(BufReader::new(stream))
    }

    fn hook(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_signaltty"));
        command.arg("hook").args(words);
        self.around(command)
    }

    /// The shim that an installation writes, around the program at `program`.
    fn shim(&self, program: &Path) -> Command {
        let env = IntegrationEnv {
            home: self.folder.path().to_owned(),
            data_dir: self.folder.path().join("it's data/signaltty"),
            vars: Default::default(),
            program: program.to_owned(),
        };
        CLAUDE.install(&env).expect("installed");
        let settings =
            fs::read_to_string(self.folder.path().join(".claude/settings.json")).expect("settings");
        let settings: Json = serde_json::from_str(&settings).expect("JSON");
        let line = settings["hooks"]["Stop"][0]["hooks"][0]["command"]
            .as_str()
            .expect("a line")
            .to_owned();
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(line);
        self.around(command)
    }

    fn around(&self, mut command: Command) -> Command {
        command
            .env("SIGNALTTY_SOCKET", self.socket())
            .env("SECRET_TOKEN", "do-not-show")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

impl Peer {
    fn line(&mut self) -> Json {
        let mut line = String::new();
        assert!(
            self.0.read_line(&mut line).expect("a line") > 0,
            "the hook closed"
        );
        serde_json::from_str(&line).expect("JSON")
    }

    fn say(&mut self, line: &Json) {
        self.0
            .get_mut()
            .write_all(format!("{line}\n").as_bytes())
            .expect("said");
    }

    fn hold(&mut self, decision: &str) {
        self.say(&json!({ "id": 1, "result": { "pane_id": "p", "decision_id": decision, "held": true } }));
    }

    fn verdict(&mut self, decision: &str, stdout: &str) {
        self.say(
            &json!({ "event": "verdict", "data": { "decision_id": decision, "stdout": stdout } }),
        );
    }

    fn closes(&mut self) {
        let mut rest = Vec::new();
        match self.0.read_to_end(&mut rest) {
            // Closed before it had read all that we said.
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => {}
            read => {
                read.expect("closed within the bound");
            }
        }
        assert!(rest.is_empty(), "{}", String::from_utf8_lossy(&rest));
    }
}

fn start(mut command: Command, payload: &[u8]) -> Child {
    let mut child = command.spawn().expect("started");
    // A hook may end before it has read everything.
    let _ = child.stdin.take().expect("stdin").write_all(payload);
    child
}

/// Waits for the end, with a bound.
fn end(child: Child) -> Output {
    let pid = child.id();
    let (sent, ended) = mpsc::channel();
    std::thread::spawn(move || sent.send(child.wait_with_output()));
    match ended.recv_timeout(PATIENCE) {
        Ok(output) => output.expect("an end"),
        Err(_) => {
            let _ = kill_process(raw(pid), Signal::KILL);
            panic!("the hook did not end");
        }
    }
}

fn raw(pid: u32) -> Pid {
    Pid::from_raw(i32::try_from(pid).expect("a pid")).expect("a pid")
}

fn silent(output: &Output) {
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        ),
        ("".into(), "".into())
    );
}

#[test]
fn a_report_is_one_line_and_no_wait() {
    let host = Host::new();
    let child = start(host.hook(&["claude", "Stop"]), PAYLOAD.as_bytes());
    let mut peer = host.accept();
    assert_eq!(
        peer.line(),
        json!({ "id": 1, "method": "hook-event", "params": {
            "agent": "claude", "event": "Stop", "hold": true,
            "payload": { "hook_event_name": "PermissionRequest", "tool_name": "Bash" } } })
    );
    peer.say(&json!({ "id": 1, "result": { "pane_id": null, "held": false } }));
    silent(&end(child));
}

#[test]
fn a_verdict_is_written_whole_and_then_confirmed() {
    let host = Host::new();
    let child = start(host.hook(&["claude"]), PAYLOAD.as_bytes());
    let mut peer = host.accept();
    peer.line();
    peer.hold("d1");
    peer.verdict("another", "not for this hook");
    peer.verdict("d1", VERDICT);
    assert_eq!(
        peer.line(),
        json!({ "id": 2, "method": "hook.ack", "params": { "decision_id": "d1" } })
    );
    let output = end(child);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stdout), VERDICT);
    assert!(output.stderr.is_empty());
}

#[test]
fn a_reply_and_its_verdict_in_one_write_are_both_read() {
    let host = Host::new();
    let child = start(host.hook(&["claude"]), PAYLOAD.as_bytes());
    let mut peer = host.accept();
    peer.line();
    let reply = json!({ "id": 1, "result": { "pane_id": "p", "decision_id": "d1", "held": true } });
    let verdict = json!({ "event": "verdict", "data": { "decision_id": "d1", "stdout": VERDICT } });
    peer.0
        .get_mut()
        .write_all(format!("{reply}\n{verdict}\n").as_bytes())
        .expect("said");
    assert_eq!(peer.line()["method"], "hook.ack");
    assert_eq!(String::from_utf8_lossy(&end(child).stdout), VERDICT);
}

#[test]
fn a_release_is_no_opinion() {
    let host = Host::new();
    let child = start(host.hook(&["codex"]), PAYLOAD.as_bytes());
    let mut peer = host.accept();
    peer.line();
    peer.hold("d1");
    peer.verdict("d1", "");
    silent(&end(child));
}

#[test]
fn a_verdict_that_nobody_takes_is_not_confirmed() {
    let host = Host::new();
    let mut child = start(host.hook(&["claude"]), PAYLOAD.as_bytes());
    let mut peer = host.accept();
    peer.line();
    peer.hold("d1");
    drop(child.stdout.take());
    peer.verdict("d1", VERDICT);
    peer.closes();
    assert_eq!(end(child).status.code(), Some(0));
}

#[test]
fn without_a_host_nothing_happens() {
    silent(&end(start(
        Host::none().hook(&["claude"]),
        PAYLOAD.as_bytes(),
    )));
    let mut host = Host::new();
    host.listener = None;
    silent(&end(start(host.hook(&["claude"]), PAYLOAD.as_bytes())));
    let mut command = host.hook(&["claude"]);
    command
        .env_remove("SIGNALTTY_SOCKET")
        .env_remove("XDG_RUNTIME_DIR");
    silent(&end(start(command, PAYLOAD.as_bytes())));
}

#[test]
fn a_refusal_of_the_host_is_no_opinion() {
    let host = Host::new();
    let child = start(host.hook(&["claude"]), PAYLOAD.as_bytes());
    let mut peer = host.accept();
    peer.line();
    peer.say(&json!({ "id": 1, "error": { "code": "BAD_PARAMS", "message": "no" } }));
    silent(&end(child));
}

#[test]
fn lines_that_are_none_are_no_opinion() {
    let host = Host::new();
    let child = start(host.hook(&["claude"]), PAYLOAD.as_bytes());
    let mut peer = host.accept();
    peer.line();
    peer.0.get_mut().write_all(b"allow\n").expect("said");
    silent(&end(child));
}

#[test]
fn a_payload_that_is_no_json_is_not_sent() {
    let host = Host::new();
    for payload in [&b""[..], b"allow", b"{\"a\":", b"\xff\xfe", b"{} {}"] {
        silent(&end(start(host.hook(&["claude"]), payload)));
    }
    host.listener
        .as_ref()
        .expect("listening")
        .set_nonblocking(true)
        .expect("set");
    assert!(
        host.listener.as_ref().expect("listening").accept().is_err(),
        "nothing was sent"
    );
}

#[test]
fn a_payload_that_is_too_large_is_taken_and_not_sent() {
    let host = Host::none();
    let mut command = host.hook(&["claude"]);
    let mut child = command.spawn().expect("started");
    let mut stdin = child.stdin.take().expect("stdin");
    let large = format!("{{\"a\":\"{}\"}}", "x".repeat(PAYLOAD_MAX * 2));
    stdin.write_all(large.as_bytes()).expect("the pipe holds");
    drop(stdin);
    silent(&end(child));
}

#[test]
fn the_largest_payload_still_fits_in_a_line() {
    let host = Host::new();
    let payload = format!("{{\"a\":\"{}\"}}", "x".repeat(PAYLOAD_MAX - 8));
    assert_eq!(payload.len(), PAYLOAD_MAX);
    let mut command = host.hook(&["claude"]);
    let mut child = command.spawn().expect("started");
    let mut stdin = child.stdin.take().expect("stdin");
    std::thread::spawn(move || stdin.write_all(payload.as_bytes()));
    let mut peer = host.accept();
    assert_eq!(
        peer.line()["params"]["payload"]["a"].as_str().map(str::len),
        Some(PAYLOAD_MAX - 8)
    );
    peer.say(&json!({ "id": 1, "result": { "pane_id": null, "held": false } }));
    silent(&end(child));
}

#[test]
fn a_host_that_comes_back_gets_the_same_question_again() {
    let mut host = Host::new();
    let child = start(host.hook(&["claude"]), PAYLOAD.as_bytes());
    let mut peer = host.accept();
    let first = peer.line();
    peer.hold("d1");
    host.stop_listening();
    host.listen();
    drop(peer);
    let mut peer = host.accept();
    let mut again = peer.line();
    assert_eq!(again["params"]["resumes"], "d1");
    again["params"]
        .as_object_mut()
        .expect("params")
        .remove("resumes");
    assert_eq!(again, first);
    peer.hold("d1");
    peer.verdict("d1", VERDICT);
    assert_eq!(peer.line()["method"], "hook.ack");
    assert_eq!(String::from_utf8_lossy(&end(child).stdout), VERDICT);
}

#[test]
fn a_host_that_does_not_come_back_is_no_opinion() {
    let mut host = Host::new();
    let child = start(host.hook(&["codex"]), PAYLOAD.as_bytes());
    let mut peer = host.accept();
    peer.line();
    peer.hold("d1");
    host.stop_listening();
    drop(peer);
    silent(&end(child));
}

#[test]
fn a_host_that_comes_back_and_does_not_want_it_is_no_opinion() {
    let host = Host::new();
    let child = start(host.hook(&["codex"]), PAYLOAD.as_bytes());
    let mut peer = host.accept();
    peer.line();
    peer.hold("d1");
    drop(peer);
    let mut peer = host.accept();
    peer.line();
    peer.say(&json!({ "id": 1, "result": { "pane_id": "p", "held": false } }));
    silent(&end(child));
}

#[test]
fn sigterm_ends_a_held_hook_without_a_word() {
    let host = Host::new();
    let child = start(host.hook(&["claude"]), PAYLOAD.as_bytes());
    let mut peer = host.accept();
    peer.line();
    peer.hold("d1");
    kill_process(raw(child.id()), Signal::TERM).expect("signalled");
    silent(&end(child));
    peer.closes();
}

#[test]
fn through_the_shim_everything_passes() {
    let host = Host::new();
    let child = start(
        host.shim(Path::new(env!("CARGO_BIN_EXE_signaltty"))),
        PAYLOAD.as_bytes(),
    );
    let mut peer = host.accept();
    let line = peer.line();
    assert_eq!(
        (
            &line["params"]["agent"],
            &line["params"]["payload"]["tool_name"]
        ),
        (&json!("claude"), &json!("Bash"))
    );
    peer.hold("d1");
    peer.verdict("d1", VERDICT);
    assert_eq!(peer.line()["method"], "hook.ack");
    let output = end(child);
    assert_eq!(
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stdout)
        ),
        (Some(0), VERDICT.into())
    );
}

#[test]
fn the_shim_hands_sigterm_on_and_exits_0() {
    let host = Host::new();
    let mut command = host.shim(Path::new(env!("CARGO_BIN_EXE_signaltty")));
    command.arg0_is_shim();
    let child = start(command, PAYLOAD.as_bytes());
    let mut peer = host.accept();
    peer.line();
    peer.hold("d1");
    kill_process(raw(child.id()), Signal::TERM).expect("signalled");
    silent(&end(child));
    peer.closes();
}

#[test]
fn a_shim_that_is_killed_takes_the_hook_with_it() {
    let host = Host::new();
    let mut command = host.shim(Path::new(env!("CARGO_BIN_EXE_signaltty")));
    command.arg0_is_shim();
    let mut child = start(command, PAYLOAD.as_bytes());
    let mut peer = host.accept();
    peer.line();
    peer.hold("d1");
    child.kill().expect("killed");
    peer.closes();
    child.wait().expect("an end");
}

#[test]
fn an_agent_that_dies_takes_its_hook_with_it() {
    let host = Host::new();
    // The agent: a process of another session, which runs the hook's shell in a session of its own.
    let mut hook = host.shim(Path::new(env!("CARGO_BIN_EXE_signaltty")));
    let line = hook
        .get_args()
        .last()
        .expect("a line")
        .to_string_lossy()
        .into_owned();
    let payload = host.folder.path().join("payload.json");
    fs::write(&payload, PAYLOAD).expect("written");
    hook = Command::new("/bin/sh");
    hook.arg("-c").arg(format!(
        "setsid sh -c '{}; :' < {} & wait",
        line.replace('\'', r"'\''"),
        payload.display()
    ));
    let mut agent = host.around(hook).spawn().expect("started");
    let mut peer = host.accept();
    peer.line();
    peer.hold("d1");
    agent.kill().expect("killed");
    peer.closes();
    agent.wait().expect("an end");
}

#[test]
fn a_program_that_is_gone_or_fails_leaves_the_shim_at_0() {
    let host = Host::none();
    let place = host.folder.path().join("signaltty");
    silent(&end(start(host.shim(&place), PAYLOAD.as_bytes())));
    for script in [
        "#!/bin/sh\nexit 7\n",
        "#!/bin/sh\nkill -KILL $$\n",
        "#!/nonexistent/sh\n",
        "not a program",
    ] {
        fs::write(&place, script).expect("written");
        fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).expect("mode");
        let output = end(start(host.shim(&place), PAYLOAD.as_bytes()));
        assert_eq!(
            (output.status.code(), output.stdout.len()),
            (Some(0), 0),
            "{script:?}"
        );
    }
}

#[test]
fn a_host_that_takes_no_connections_does_not_hold_the_agent_up() {
    let host = Host::new();
    // Fill the queue of connections that nobody accepts.
    let mut waiting = Vec::new();
    let filler = host.socket();
    let (sent, full) = mpsc::channel();
    std::thread::spawn(move || {
        for _ in 0..10_000 {
            match UnixStream::connect(&filler) {
                Ok(stream) => {
                    if sent.send(Some(stream)).is_err() {
                        return;
                    }
                }
                Err(_) => break,
            }
        }
        let _ = sent.send(None);
    });
    while let Ok(Some(stream)) = full.recv_timeout(Duration::from_millis(500)) {
        waiting.push(stream);
    }
    let began = Instant::now();
    silent(&end(start(host.hook(&["claude"]), PAYLOAD.as_bytes())));
    assert!(began.elapsed() < PATIENCE);
    drop(host.listener);
}

/// `/bin/sh -c LINE` may stay between us and the shim; `exec` makes the child the shim itself.
trait Shim {
    fn arg0_is_shim(&mut self);
}

impl Shim for Command {
    fn arg0_is_shim(&mut self) {
        let line = self
            .get_args()
            .last()
            .expect("a line")
            .to_string_lossy()
            .into_owned();
        let socket = self
            .get_envs()
            .find(|(name, _)| *name == "SIGNALTTY_SOCKET")
            .and_then(|(_, value)| value)
            .expect("a socket")
            .to_owned();
        let mut command = Command::new("/bin/sh");
        command
            .arg("-c")
            .arg(format!("exec {line}"))
            .env("SIGNALTTY_SOCKET", socket);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        *self = command;
    }
}
