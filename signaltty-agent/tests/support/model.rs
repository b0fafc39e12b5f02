//! The stand-in model server, as a test holds it.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::Value as Json;

use super::wait::until;
use super::world::World;

/// Seconds after which the server ends by itself, whatever happened to the test.
const LIFETIME: &str = "900";

/// See `standin/model.py`.
pub struct Model {
    server: Child,
    log: PathBuf,
    /// Its address, without a path.
    pub url: String,
}

impl Model {
    /// Starts one in a world.
    pub fn start(world: &World, name: &str) -> Self {
        let log = world.path(&format!("{name}.requests"));
        let port_file = world.path(&format!("{name}.port"));
        let script = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../signaltty-agent/tests/standin/model.py"
        );
        let server = Command::new("python3")
            .arg(script)
            .arg("--log")
            .arg(&log)
            .arg("--port-file")
            .arg(&port_file)
            .args(["--seconds", LIFETIME])
            .env_clear()
            .envs(&world.env)
            .stdin(Stdio::null())
            .spawn()
            .expect("python3 starts the model server");
        let port = until("the model server listens", || {
            fs::read_to_string(&port_file).ok()
        });
        Self {
            server,
            log,
            url: format!("http://127.0.0.1:{port}"),
        }
    }

    /// Every request so far.
    pub fn requests(&self) -> Vec<Json> {
        fs::read_to_string(&self.log)
            .unwrap_or_default()
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }

    /// Whether a request of a turn (one that offers tools), later than the first `after`, says a text.
    pub fn was_told(&self, text: &str, after: usize) -> bool {
        let quoted = Json::from(text).to_string();
        let quoted = &quoted[1..quoted.len() - 1];
        self.requests().iter().skip(after).any(|request| {
            request["tools"]
                .as_array()
                .is_some_and(|tools| !tools.is_empty())
                && request["body"].to_string().contains(quoted)
        })
    }

    /// Waits until a request later than the first `after` says a text.
    #[track_caller]
    pub fn await_told(&self, text: &str, after: usize) {
        let told =
            super::wait::within(super::PATIENCE, || self.was_told(text, after).then_some(()));
        assert!(
            told.is_some(),
            "the model was never told {text:?}; its last request: {:#?}",
            self.requests().last()
        );
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
