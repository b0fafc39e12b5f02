//! A blocking client of the host's socket, written against the wire alone: what it reads, any program would.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use super::wait::PATIENCE;

/// An error of the host.
#[derive(Debug, Clone, PartialEq)]
pub struct WireFailure {
    /// `NO_SUCH_DECISION`, …
    pub code: String,
    /// For people.
    pub message: String,
    /// For programs.
    pub data: Json,
}

/// See the module.
pub struct Client {
    stream: UnixStream,
    lines: Receiver<Json>,
    /// Events and verdicts that came while a reply was waited for.
    unread: VecDeque<Json>,
    last_id: u64,
}

impl Client {
    /// Connects, or says that nobody listens.
    pub fn try_connect(socket: &Path) -> Option<Self> {
        let stream = UnixStream::connect(socket).ok()?;
        let reader = BufReader::new(stream.try_clone().ok()?);
        let (sender, lines) = channel();
        // Ends with the connection.
        std::thread::spawn(move || {
            for line in reader.lines() {
                let Ok(line) = line else { return };
                let value =
                    serde_json::from_str(&line).unwrap_or_else(|_| json!({ "unparsable": line }));
                if sender.send(value).is_err() {
                    return;
                }
            }
        });
        Some(Self {
            stream,
            lines,
            unread: VecDeque::new(),
            last_id: 0,
        })
    }

    /// Connects to a host that must be there.
    #[track_caller]
    pub fn connect(socket: &Path) -> Self {
        super::until("the host takes a connection", || Self::try_connect(socket))
    }

    /// Says hello in a role, as the newest protocol.
    #[track_caller]
    pub fn hello(&mut self, role: &str) -> Json {
        self.must(
            "hello",
            json!({"protocol": 1, "client": format!("test-{role}"), "role": role}),
        )
    }

    /// Sends bytes as they are.
    #[track_caller]
    pub fn send_raw(&mut self, bytes: &[u8]) {
        // A host that has closed the connection is seen when its reply is waited for.
        let _ = self.stream.write_all(bytes);
    }

    /// Sends a request and returns its id without waiting for the reply.
    #[track_caller]
    pub fn send(&mut self, method: &str, params: Json) -> u64 {
        self.last_id += 1;
        let line =
            json!({"id": self.last_id, "method": method, "params": params}).to_string() + "\n";
        self.send_raw(line.as_bytes());
        self.last_id
    }

    /// Waits for the reply to a request.
    ///
    /// # Errors
    /// The host's; `LOST` where none came.
    #[track_caller]
    pub fn reply(&mut self, id: u64) -> Result<Json, WireFailure> {
        let reply = self.find(|line| line.get("event").is_none() && line["id"] == id);
        let mut line = reply.map_err(|why| WireFailure {
            code: "LOST".into(),
            message: format!("{why} before the reply to request {id}"),
            data: Json::Null,
        })?;
        match line.get_mut("error") {
            Some(error) => Err(WireFailure {
                code: error["code"].as_str().unwrap_or_default().to_owned(),
                message: error["message"].as_str().unwrap_or_default().to_owned(),
                data: error["data"].take(),
            }),
            None => Ok(line["result"].take()),
        }
    }

    /// Sends a request and waits for its reply.
    ///
    /// # Errors
    /// The host's.
    #[track_caller]
    pub fn call(&mut self, method: &str, params: Json) -> Result<Json, WireFailure> {
        let id = self.send(method, params);
        self.reply(id)
    }

    /// A request that must succeed.
    #[track_caller]
    pub fn must(&mut self, method: &str, params: Json) -> Json {
        self.call(method, params.clone())
            .unwrap_or_else(|error| panic!("{method} {params}: {error:?}"))
    }

    /// A request that must fail.
    #[track_caller]
    pub fn must_fail(&mut self, method: &str, params: Json) -> WireFailure {
        match self.call(method, params.clone()) {
            Err(error) => error,
            Ok(result) => panic!("{method} {params} succeeded: {result}"),
        }
    }

    /// Subscribes and returns the whole state.
    #[track_caller]
    pub fn subscribe(&mut self) -> Json {
        self.must("subscribe", json!({}))
    }

    /// Waits for an event of that name whose data is as wanted; returns the data. Others are kept in order.
    #[track_caller]
    pub fn event(&mut self, name: &str, is: impl Fn(&Json) -> bool) -> Json {
        self.wait_for(&format!("event {name}"), |line| {
            line["event"] == name && is(&line["data"])
        })["data"]
            .take()
    }

    /// The next event of a decision's end: `decision.cleared` of it.
    #[track_caller]
    pub fn cleared(&mut self, decision: &str) -> Json {
        self.event("decision.cleared", |data| data["decision_id"] == decision)
    }

    /// All lines that came and were not waited for, after everything under way has arrived.
    pub fn drain(&mut self) -> Vec<Json> {
        self.unread.extend(self.lines.try_iter());
        self.unread.drain(..).collect()
    }

    /// The next line of any kind.
    #[track_caller]
    pub fn line(&mut self) -> Json {
        self.wait_for("a line", |_| true)
    }

    /// Waits until the host closed the connection.
    #[track_caller]
    pub fn closed(&mut self) {
        let end = Instant::now() + PATIENCE;
        loop {
            match self
                .lines
                .recv_timeout(end.saturating_duration_since(Instant::now()))
            {
                Ok(line) => self.unread.push_back(line),
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => panic!("the host kept the connection open"),
            }
        }
    }

    #[track_caller]
    fn wait_for(&mut self, what: &str, is: impl Fn(&Json) -> bool) -> Json {
        self.find(is)
            .unwrap_or_else(|why| panic!("{why} before {what}; unread:{}", self.unread_in_short()))
    }

    /// The unread lines, each cut to what a failed test's reader wants of it.
    fn unread_in_short(&self) -> String {
        let cut = |line: &Json| line.to_string().chars().take(300).collect::<String>();
        self.unread
            .iter()
            .filter(|line| line["event"] != "pane.updated")
            .map(|line| format!("\n  {}", cut(line)))
            .collect()
    }

    /// The first line, read or not, that is as wanted; or why none came.
    fn find(&mut self, is: impl Fn(&Json) -> bool) -> Result<Json, &'static str> {
        if let Some(at) = self.unread.iter().position(&is) {
            return self.unread.remove(at).ok_or("it was lost");
        }
        let end = Instant::now() + PATIENCE;
        loop {
            match self
                .lines
                .recv_timeout(end.saturating_duration_since(Instant::now()))
            {
                Ok(line) if is(&line) => return Ok(line),
                Ok(line) => self.unread.push_back(line),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err("the host closed the connection");
                }
                Err(RecvTimeoutError::Timeout) => return Err("the wait was over"),
            }
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // The reading thread has the same socket; without this it would keep the connection.
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
    }
}

/// Whether no line comes for a time.
pub fn silent(client: &mut Client, time: Duration) -> bool {
    client.unread.is_empty()
        && matches!(
            client.lines.recv_timeout(time),
            Err(RecvTimeoutError::Timeout)
        )
}

/// A viewer of a pane: after the reply, the terminal's bytes both ways.
pub struct Viewer {
    stream: UnixStream,
    /// The reply to `pane.attach`.
    pub attached: Json,
    seen: Vec<u8>,
}

impl Viewer {
    /// Attaches with these parameters.
    #[track_caller]
    pub fn attach(socket: &Path, params: Json) -> Self {
        let mut stream = UnixStream::connect(socket).expect("a host");
        stream
            .set_read_timeout(Some(PATIENCE))
            .expect("a bound for reading");
        let request = json!({"id": 1, "method": "pane.attach", "params": params}).to_string();
        stream
            .write_all(format!("{request}\n").as_bytes())
            .expect("the host reads");
        // Byte by byte: what follows the newline is the terminal's already.
        let mut line = Vec::new();
        let mut byte = [0];
        while byte[0] != b'\n' {
            stream.read_exact(&mut byte).expect("the reply");
            line.push(byte[0]);
        }
        let mut reply: Json = serde_json::from_slice(&line).expect("a reply in JSON");
        assert!(reply.get("error").is_none(), "pane.attach: {reply}");
        Self {
            stream,
            attached: reply["result"].take(),
            seen: Vec::new(),
        }
    }

    /// Types.
    #[track_caller]
    pub fn type_bytes(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("the host reads");
    }

    /// Reads until a text was shown.
    #[track_caller]
    pub fn await_bytes(&mut self, wanted: &str) {
        let end = Instant::now() + PATIENCE;
        while !String::from_utf8_lossy(&self.seen).contains(wanted) {
            let mut chunk = [0; 4096];
            let read = self.stream.read(&mut chunk).unwrap_or(0);
            let shown = String::from_utf8_lossy(&self.seen).into_owned();
            assert!(
                read > 0 && Instant::now() < end,
                "{wanted:?} was not shown to the viewer: {shown:?}"
            );
            self.seen.extend_from_slice(&chunk[..read]);
        }
    }

    /// Everything up to the end that the host sets.
    #[track_caller]
    pub fn until_the_end(&mut self) -> String {
        self.stream
            .read_to_end(&mut self.seen)
            .expect("the host closes its side");
        String::from_utf8_lossy(&self.seen).into_owned()
    }
}
