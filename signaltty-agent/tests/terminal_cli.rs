//! The commands that take over a person's terminal: `watch` and `attach` (specs/020 §2).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops where it stands"
)]

#[path = "support/harness.rs"]
mod harness;

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};

use harness::{World, until};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Termios, Winsize, tcgetattr, tcsetwinsize};
use serde_json::json;

/// A terminal with a program in it, as a person has it.
struct Terminal {
    child: Child,
    /// The person's side.
    hands: File,
    /// The program's side, to look at its modes.
    tty: File,
    shown: Arc<Mutex<String>>,
    before: Termios,
}

impl Terminal {
    fn run(mut command: Command) -> Self {
        let hands = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&hands).unwrap();
        unlockpt(&hands).unwrap();
        let name = ptsname(&hands, Vec::new()).unwrap();
        let tty = File::options()
            .read(true)
            .write(true)
            .open(name.to_str().unwrap())
            .unwrap();
        tcsetwinsize(
            &tty,
            Winsize {
                ws_col: 90,
                ws_row: 25,
                ws_xpixel: 0,
                ws_ypixel: 0,
            },
        )
        .unwrap();
        let before = tcgetattr(&tty).unwrap();
        let child = command
            .stdin(tty.try_clone().unwrap())
            .stdout(tty.try_clone().unwrap())
            .stderr(tty.try_clone().unwrap())
            .spawn()
            .unwrap();
        let hands = File::from(hands);
        let shown = Arc::new(Mutex::new(String::new()));
        let (mut eyes, seen) = (hands.try_clone().unwrap(), shown.clone());
        std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(count @ 1..) = eyes.read(&mut chunk) {
                seen.lock()
                    .unwrap()
                    .push_str(&String::from_utf8_lossy(&chunk[..count]));
            }
        });
        Self {
            child,
            hands,
            tty,
            shown,
            before,
        }
    }

    fn types(&mut self, text: &str) {
        self.hands.write_all(text.as_bytes()).unwrap();
    }

    fn shown(&self) -> String {
        self.shown.lock().unwrap().clone()
    }

    #[track_caller]
    fn await_shown(&self, wanted: &str) {
        until(&format!("the terminal shows {wanted:?}"), || {
            self.shown().contains(wanted).then_some(())
        });
    }

    fn modes(
        &self,
    ) -> (
        LocalModes,
        rustix::termios::InputModes,
        rustix::termios::OutputModes,
    ) {
        let modes = tcgetattr(self.tty.as_fd()).unwrap();
        (modes.local_modes, modes.input_modes, modes.output_modes)
    }

    /// Waits for the end, and checks that the terminal is as it was.
    #[track_caller]
    fn ended(&mut self) -> i32 {
        let status = until("it ends", || self.child.try_wait().unwrap());
        let before = (
            self.before.local_modes,
            self.before.input_modes,
            self.before.output_modes,
        );
        assert_eq!(self.modes(), before, "the terminal was not given back");
        status.code().unwrap_or(-1)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn watch(world: &World) -> Terminal {
    let mut command = world.command("signaltty");
    command.arg("watch");
    let watch = Terminal::run(command);
    watch.await_shown("Watching");
    watch
}

fn ask(world: &World, question: &str) -> Child {
    let mut command = world.command("signaltty");
    command
        .args(["ask", question])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.spawn().unwrap()
}

#[track_caller]
fn answered(child: Child) -> (Option<i32>, String) {
    let done: Output = child.wait_with_output().unwrap();
    (done.status.code(), harness::world::text(&done))
}

fn pending(world: &World) -> Vec<serde_json::Value> {
    world.client().must("decision.list", json!({}))["decisions"]
        .as_array()
        .unwrap()
        .clone()
}

#[test]
fn what_is_asked_is_shown_and_answered_by_typing() {
    let world = World::with_host();
    let mut watch = watch(&world);
    let mut asking = ask(&world, "Deploy?");
    watch.await_shown("1) Yes  [yes]");
    // Typed as often as the guard wants it.
    until("it is answered", || {
        watch.types("1\r");
        asking.try_wait().unwrap()
    });
    assert_eq!(answered(asking).0, Some(0));
    watch.await_shown("Applied: Yes");

    let asking = ask(&world, "Again?");
    watch.await_shown("Again?");
    until("it is answered", || {
        watch.types("not on a Friday\r");
        pending(&world).is_empty().then_some(())
    });
    let (code, said) = answered(asking);
    assert_eq!(code, Some(1));
    assert!(said.contains("not on a Friday"), "{said}");
    watch.types("/quit\r");
    assert_eq!(watch.ended(), 0);
}

#[test]
fn what_is_typed_for_a_question_never_answers_the_next() {
    let world = World::with_host();
    let mut watch = watch(&world);
    let first = ask(&world, "Deploy the first?");
    watch.await_shown("Deploy the first?");
    watch.types("ye");
    watch.await_shown("> ye");
    let mut second = ask(&world, "Deploy the second?");
    watch.await_shown("Asked too");
    let id = pending(&world)
        .iter()
        .find(|d| d["prompt"] == "Deploy the first?")
        .unwrap()["id"]
        .clone();
    assert!(
        world
            .cli([
                "answer",
                "--decision",
                id.as_str().unwrap(),
                "--option",
                "no"
            ])
            .status
            .success()
    );
    assert_eq!(answered(first).0, Some(1));
    watch.await_shown("Deploy the second?");
    // The rest of the word, and Enter: meant for the first.
    watch.types("s\r");
    watch.await_shown("went nowhere");
    assert!(second.try_wait().unwrap().is_none());
    assert_eq!(pending(&world).len(), 1);
    until("a new line answers it", || {
        watch.types("yes\r");
        second.try_wait().unwrap()
    });
    assert_eq!(answered(second).0, Some(0));
}

#[test]
fn a_watch_that_is_interrupted_gives_the_terminal_back() {
    let world = World::with_host();
    let mut watch = watch(&world);
    let pid = rustix::process::Pid::from_child(&watch.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    watch.ended();
}

#[test]
fn a_script_can_watch_and_answer_line_by_line() {
    let world = World::with_host();
    let mut command = world.command("signaltty");
    command
        .arg("watch")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut watch = command.spawn().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(watch.stdout.take().unwrap()));
    lines
        .find(|line| line.as_ref().unwrap().contains("Watching"))
        .unwrap()
        .unwrap();
    let asking = ask(&world, "Deploy?");
    lines
        .find(|line| line.as_ref().unwrap().contains("Deploy?"))
        .unwrap()
        .unwrap();
    watch.stdin.as_mut().unwrap().write_all(b"no\n").unwrap();
    assert_eq!(answered(asking).0, Some(1));
    watch.kill().unwrap();
    watch.wait().unwrap();
}

#[test]
fn watch_goes_on_with_the_next_host() {
    let mut world = World::with_host();
    let mut watch = watch(&world);
    world.kill_host();
    watch.await_shown("host is gone");
    until("it has found or started another", || {
        (watch.shown().matches("Watching").count() >= 2).then_some(())
    });
    let mut asking = ask(&world, "Deploy?");
    watch.await_shown("1) Yes  [yes]");
    until("it is answered", || {
        watch.types("yes\r");
        asking.try_wait().unwrap()
    });
    assert!(world.cli(["daemon", "--stop", "--close"]).status.success());
}

fn attach(world: &World, pane: &str) -> Terminal {
    let mut command = world.command("signaltty");
    command.args(["attach", pane]);
    Terminal::run(command)
}

#[test]
fn attach_types_sizes_and_detaches() {
    let world = World::with_host();
    let pane = world.spawn(
        &[
            "sh",
            "-c",
            "echo ready; while read line; do echo heard $line; done",
        ],
        &[],
    );
    pane.await_screen("ready");
    let mut attached = attach(&world, &pane.id);
    attached.await_shown("ready");
    assert_eq!(
        pane.tty_size(),
        (90, 25),
        "the pane has the size of the terminal that shows it"
    );
    attached.types("words\r");
    attached.await_shown("heard words");
    attached.types("\x1c");
    assert_eq!(attached.ended(), 0);
    attached.await_shown("[detached]");
    pane.type_text("more\n");
    pane.await_screen("heard more");
}

#[test]
fn attach_comes_back_with_the_next_host() {
    let mut world = World::with_host();
    let pane = world.spawn(
        &[
            "sh",
            "-c",
            "echo ready; while read line; do echo heard $line; done",
        ],
        &[],
    );
    let mut attached = attach(&world, &pane.id);
    attached.await_shown("ready");
    world.kill_host();
    world.start_host();
    until("typing arrives again", || {
        attached.types("after\r");
        attached.shown().contains("heard after").then_some(())
    });
    pane.type_text("\u{4}");
    assert_eq!(attached.ended(), 0);
    attached.await_shown("[exited with 0]");
}

#[test]
fn a_host_is_replaced_without_losing_a_pane() {
    let world = World::with_host();
    let pane = world.spawn(&["cat"], &[]);
    let (pid, host) = (pane.pid(), world.host_pid());
    let mut command = world.command("signaltty");
    let mut next = command
        .args(["daemon", "--replace"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until("the next host answers", || {
        let info = harness::Client::try_connect(&world.socket())?
            .call("host.info", json!({}))
            .ok()?;
        (info["pid"].as_i64() != Some(i64::from(host))).then_some(())
    });
    assert_eq!(pane.pid(), pid);
    pane.type_text("still here\n");
    pane.await_screen("still here\nstill here");
    assert!(world.cli(["daemon", "--stop", "--close"]).status.success());
    assert!(next.wait().unwrap().success());
}
