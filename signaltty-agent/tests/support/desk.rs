//! The private desktop of `signaltty-gtk/tests/desktop/desk.py`, as a test holds it.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value as Json, json};

use super::world::World;

/// Longer than any wait inside the desktop.
const REPLY: Duration = Duration::from_secs(90);

/// See the module.
pub struct Desk {
    process: Child,
    requests: Option<ChildStdin>,
    replies: Receiver<Json>,
    name: String,
}

impl Desk {
    /// Starts a desktop in a world. `name` names the pictures that a failing test leaves.
    #[track_caller]
    pub fn start(world: &World, name: &str) -> Self {
        Self::start_with(world, name, json!({}))
    }

    /// The same with arguments of `Desktop`: `size`, `capabilities`.
    #[track_caller]
    pub fn start_with(world: &World, name: &str, arguments: Json) -> Self {
        let script = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../signaltty-gtk/tests/desktop/desk.py"
        );
        // The distribution's python3: it is the one that has gi.
        let mut process = Command::new("/usr/bin/python3")
            .args(["-B", script, &arguments.to_string()])
            .env_clear()
            .envs(&world.env)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(world.path("desk.log")).expect("the desktop's log"))
            .spawn()
            .expect("python3 starts the desktop");
        let lines = BufReader::new(process.stdout.take().expect("its output")).lines();
        let (sender, replies) = channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let Ok(reply) = serde_json::from_str(&line) else {
                    continue;
                };
                if sender.send(reply).is_err() {
                    return;
                }
            }
        });
        let requests = process.stdin.take();
        let mut desk = Self {
            process,
            requests,
            replies,
            name: name.to_owned(),
        };
        if let Err(problem) = desk.answer() {
            panic!(
                "no desktop: {problem}; {}",
                std::fs::read_to_string(world.path("desk.log")).unwrap_or_default()
            );
        }
        desk
    }

    /// Carries out one request. `arguments` are the method's.
    ///
    /// # Errors
    /// What the desktop says did not happen.
    pub fn try_do(&mut self, what: &str, arguments: Json) -> Result<Json, String> {
        let mut request = arguments;
        request["do"] = json!(what);
        let requests = self.requests.as_mut().ok_or("the desktop was closed")?;
        requests
            .write_all((request.to_string() + "\n").as_bytes())
            .map_err(|error| error.to_string())?;
        self.answer()
    }

    /// Carries out one request that must succeed.
    #[track_caller]
    pub fn must(&mut self, what: &str, arguments: Json) -> Json {
        match self.try_do(what, arguments.clone()) {
            Ok(result) => result,
            Err(problem) => {
                let picture = self.picture("failed");
                panic!("{what} {arguments}: {problem}\n(the screen: {picture})")
            }
        }
    }

    fn answer(&mut self) -> Result<Json, String> {
        let mut reply = self
            .replies
            .recv_timeout(REPLY)
            .map_err(|_| "the desktop does not answer".to_owned())?;
        if reply["ok"] == true {
            Ok(reply["result"].take())
        } else {
            Err(reply["error"].as_str().unwrap_or("it failed").to_owned())
        }
    }

    /// Saves a picture of the screen below target/ and returns its path.
    pub fn picture(&mut self, what: &str) -> String {
        let top = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .expect("the workspace");
        let path = top.join(format!("target/pictures/{}-{what}.png", self.name));
        let path = path.to_str().expect("a path in UTF-8").to_owned();
        match self.try_do("shot", json!({ "path": path })) {
            Ok(_) => path,
            Err(problem) => problem,
        }
    }

    /// Starts our window in a world and waits until it is there. Returns its process id.
    #[track_caller]
    pub fn open_window(&mut self, world: &World) -> i64 {
        let mut env = world.env.clone();
        // The desktop's own, or the window would not find its bus and its screen.
        env.remove("XDG_RUNTIME_DIR");
        let pid = self.must(
            "launch",
            json!({"argv": [super::world::program("signaltty-gtk")], "env": env, "log": world.path("window.log")}),
        );
        self.must("window", json!({ "pid": pid }));
        pid.as_i64().expect("a process id")
    }

    /// Waits for a widget by regular expressions for its name and role.
    #[track_caller]
    pub fn find(&mut self, name: &str, role: &str) -> Json {
        self.must("find", json!({"name": name, "role": role}))
    }

    /// Whether a widget is there now.
    #[track_caller]
    pub fn has(&mut self, name: &str, role: &str) -> bool {
        self.must("has", json!({"name": name, "role": role})) == true
    }

    /// Waits until a widget is not there.
    #[track_caller]
    pub fn gone(&mut self, name: &str, role: &str) {
        self.must("gone", json!({"name": name, "role": role}));
    }

    /// Moves the pointer over a button and clicks it.
    #[track_caller]
    pub fn click(&mut self, name: &str) {
        self.must("pointer_click", json!({ "name": name }));
    }

    /// Types text into whatever has the keyboard.
    #[track_caller]
    pub fn type_text(&mut self, text: &str) {
        self.must("type", json!({ "text": text }));
    }

    /// Presses keys by their X names.
    #[track_caller]
    pub fn keys<const N: usize>(&mut self, keys: [&str; N]) {
        self.must("key", json!({ "keys": keys.as_slice() }));
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- the screen: {}", self.picture("failed"));
            let tree = self.try_do("tree", json!({}));
            eprintln!(
                "--- the desktop\n{}",
                tree.as_ref()
                    .ok()
                    .and_then(Json::as_str)
                    .unwrap_or("does not answer")
            );
        }
        // End of its input: it stops what it started.
        drop(self.requests.take());
        if super::wait::within(Duration::from_secs(15), || {
            self.process.try_wait().ok().flatten()
        })
        .is_none()
        {
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
    }
}
