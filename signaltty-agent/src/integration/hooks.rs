//! A vendor's file of hooks: `{"hooks": {EVENT: [{"matcher"?, "hooks": [{"type", "command", "timeout"}]}]}}`.
//! Claude Code and Codex share this shape.

use std::path::{Path, PathBuf};

use serde_json::json;
use signaltty_core::adapter::{
    Integration, IntegrationEnv, IntegrationError, IntegrationReport, IntegrationState,
};

use super::edit::{self, Layout, Removed};
use super::json::{self, Member, Node};
use super::{file, shim};

/// Mode of a file that was not there: such files may hold keys.
const NEW_FILE_MODE: u32 = 0o600;

/// One event that our hook is run for.
#[derive(Debug, Clone, Copy)]
pub struct HookLine {
    /// The vendor's name of it.
    pub event: &'static str,
    /// Which tools, for events that are about one.
    pub matcher: Option<&'static str>,
    /// How long the vendor lets it run, in seconds.
    pub seconds: u64,
}

/// A vendor's file of hooks.
#[derive(Debug, Clone, Copy)]
pub struct HookFile {
    /// The agent.
    pub agent: &'static str,
    /// Its name for people.
    pub display_name: &'static str,
    /// File name of its program.
    pub program: &'static str,
    /// Variable that names its configuration folder.
    pub folder_variable: &'static str,
    /// That folder in the home, where the variable is not set.
    pub folder: &'static str,
    /// The file in it.
    pub file: &'static str,
    /// Our hooks.
    pub events: &'static [HookLine],
    /// A member of the file that switches all hooks off.
    pub switched_off_by: Option<&'static str>,
    /// What a person has to do or know once the hooks are in.
    pub after_install: &'static [&'static str],
}

impl Integration for HookFile {
    fn status(&self, env: &IntegrationEnv) -> Result<IntegrationReport, IntegrationError> {
        let path = self.path(env);
        let command = shim::command(env, self.agent)?;
        let text = file::read(&path)?;
        let state = match &text {
            Some(text) if !blank(text) => self.state(&self.parse(&path, text)?, &command),
            _ => IntegrationState::Absent,
        };
        let mut report = self.report(env, &path, state, false);
        if state != IntegrationState::Absent && !shim::is_current(env)? {
            report.state = IntegrationState::Partial;
            report.notes.push(format!(
                "{} is missing or runs another program; install again.",
                shim::path(env).display()
            ));
        }
        if let Some(note) = text.as_deref().and_then(|text| self.switched_off(text)) {
            report.notes.push(note);
        }
        Ok(report)
    }

    fn install(&self, env: &IntegrationEnv) -> Result<IntegrationReport, IntegrationError> {
        let path = self.path(env);
        let command = shim::command(env, self.agent)?;
        let was = file::read(&path)?;
        let text = self.installed(&path, was.as_deref(), &command)?;
        // The shim first: a line must never name what is not there.
        let mut changed = shim::write(env)?;
        if was.as_deref() != Some(&text) {
            file::replace(&path, was.as_deref(), &text, NEW_FILE_MODE)?;
            changed = true;
        }
        let mut report = self.report(env, &path, IntegrationState::Installed, changed);
        report
            .notes
            .extend(self.after_install.iter().map(|note| (*note).to_owned()));
        report.notes.extend(self.switched_off(&text));
        Ok(report)
    }

    /// The shim stays: sessions that run now still call it, and without a host it does nothing.
    fn uninstall(&self, env: &IntegrationEnv) -> Result<IntegrationReport, IntegrationError> {
        let path = self.path(env);
        let command = shim::command(env, self.agent)?;
        let was = file::read(&path)?;
        let changed = match &was {
            Some(text) if *text == self.own_file(&command) && !path.is_symlink() => {
                file::delete(&path)?;
                true
            }
            Some(text) if !blank(text) => {
                let left = self.without_ours(&path, text.clone())?;
                if left != *text {
                    file::replace(&path, Some(text), &left, NEW_FILE_MODE)?;
                }
                left != *text
            }
            _ => false,
        };
        let mut report = self.report(env, &path, IntegrationState::Absent, changed);
        if changed {
            report.notes.push(format!(
                "Sessions of {} that are running still report until they are started again.",
                self.display_name
            ));
        }
        Ok(report)
    }
}

impl HookFile {
    fn path(&self, env: &IntegrationEnv) -> PathBuf {
        let folder = env
            .vars
            .get(self.folder_variable)
            .filter(|folder| !folder.is_empty());
        folder
            .map_or_else(|| env.home.join(self.folder), PathBuf::from)
            .join(self.file)
    }

    fn report(
        &self,
        env: &IntegrationEnv,
        path: &Path,
        state: IntegrationState,
        changed: bool,
    ) -> IntegrationReport {
        IntegrationReport {
            agent: self.agent.into(),
            display_name: self.display_name.into(),
            found: on_search_path(env, self.program),
            state,
            files: vec![
                path.display().to_string(),
                shim::path(env).display().to_string(),
            ],
            changed,
            notes: Vec::new(),
        }
    }

    fn switched_off(&self, text: &str) -> Option<String> {
        let member = self.switched_off_by?;
        let root = json::parse(text).ok()?;
        let value = root.get(member)?;
        (&text[value.span.clone()] == "true")
            .then(|| format!("\"{member}\" is set in that file: no hook runs at all."))
    }

    /// The file as it is where there was none.
    fn own_file(&self, command: &str) -> String {
        let layout = Layout::own();
        format!(
            "{}\n",
            layout.object(&[self.hooks_member(command, &layout)], 0)
        )
    }

    fn hooks_member(&self, command: &str, layout: &Layout) -> String {
        let events: Vec<String> = self
            .events
            .iter()
            .map(|line| line.member(command))
            .collect();
        format!("\"hooks\": {}", layout.object(&events, 1))
    }

    /// The text with our hooks in it, whole and current.
    fn installed(
        &self,
        path: &Path,
        text: Option<&str>,
        command: &str,
    ) -> Result<String, IntegrationError> {
        let text = match text {
            Some(text) if !blank(text) => text,
            _ => return Ok(self.own_file(command)),
        };
        if self.state(&self.parse(path, text)?, command) == IntegrationState::Installed {
            return Ok(text.to_owned());
        }
        let mut text = self.without_ours(path, text.to_owned())?;
        let layout = Layout::of(&text, &self.parse(path, &text)?);
        if self.parse(path, &text)?.get("hooks").is_none() {
            let member = self.hooks_member(command, &layout);
            return Ok(edit::insert(
                &text,
                &self.parse(path, &text)?,
                &member,
                0,
                &layout,
            ));
        }
        for line in self.events {
            let root = self.parse(path, &text)?;
            let Some(hooks) = root.get("hooks") else {
                break;
            };
            text = match hooks.get(line.event) {
                Some(groups) => edit::insert(&text, groups, &line.group(command), 2, &layout),
                None => edit::insert(&text, hooks, &line.member(command), 1, &layout),
            };
        }
        Ok(text)
    }

    /// The text without any hook of ours.
    fn without_ours(&self, path: &Path, mut text: String) -> Result<String, IntegrationError> {
        loop {
            let root = self.parse(path, &text)?;
            let Some(found) = self
                .handlers(&root)
                .into_iter()
                .find(|handler| handler.ours)
            else {
                return Ok(text);
            };
            text = take_out(&text, &root, &found);
        }
    }

    fn state(&self, root: &Node, command: &str) -> IntegrationState {
        let ours: Vec<Handler<'_>> = self
            .handlers(root)
            .into_iter()
            .filter(|handler| handler.ours)
            .collect();
        if ours.is_empty() {
            return IntegrationState::Absent;
        }
        let current = |line: &HookLine| {
            let own: Vec<_> = ours
                .iter()
                .filter(|handler| handler.event.name == line.event)
                .collect();
            own.len() == 1 && own.iter().all(|handler| handler.is(line, command))
        };
        if self.events.iter().all(current) && ours.len() == self.events.len() {
            IntegrationState::Installed
        } else {
            IntegrationState::Partial
        }
    }

    /// Every command of the file, with where it stands.
    fn handlers<'a>(&self, root: &'a Node) -> Vec<Handler<'a>> {
        let mut found = Vec::new();
        let Some(hooks) = root.get("hooks") else {
            return found;
        };
        for (event_at, event) in hooks.members().unwrap_or_default().iter().enumerate() {
            for (group_at, group) in event.value.items().unwrap_or_default().iter().enumerate() {
                let Some(handlers) = group.get("hooks") else {
                    continue;
                };
                for (handler_at, handler) in handlers.items().unwrap_or_default().iter().enumerate()
                {
                    let command = handler
                        .get("command")
                        .and_then(Node::text)
                        .unwrap_or_default();
                    let ours = shim::is_ours(command, self.agent);
                    found.push(Handler {
                        event_at,
                        event,
                        group_at,
                        group,
                        handlers,
                        handler_at,
                        handler,
                        ours,
                    });
                }
            }
        }
        found
    }

    /// Reads the file, and makes sure that what we touch has the shape that the vendor reads.
    fn parse(&self, path: &Path, text: &str) -> Result<Node, IntegrationError> {
        let malformed = |line: usize, problem: String| IntegrationError::Malformed {
            file: path.display().to_string(),
            line,
            problem,
        };
        let root = json::parse(text).map_err(|wrong| malformed(wrong.line(text), wrong.problem))?;
        let shaped = |node: &Node, ok: bool, what: &str| {
            if ok {
                Ok(())
            } else {
                Err(malformed(
                    json::line_of(text, node.span.start),
                    format!("expected {what}"),
                ))
            }
        };
        shaped(&root, root.members().is_some(), "an object")?;
        if let Some(hooks) = root.get("hooks") {
            shaped(
                hooks,
                hooks.members().is_some(),
                "an object of events under \"hooks\"",
            )?;
            for event in hooks.members().unwrap_or_default() {
                let groups = event.value.items();
                shaped(
                    &event.value,
                    groups.is_some(),
                    "a list of hooks for the event",
                )?;
                for group in groups.unwrap_or_default() {
                    shaped(group, group.members().is_some(), "an object with \"hooks\"")?;
                }
            }
        }
        Ok(root)
    }
}

impl HookLine {
    fn member(&self, command: &str) -> String {
        format!("{}: [{}]", json!(self.event), self.group(command))
    }

    fn group(&self, command: &str) -> String {
        let matcher = self
            .matcher
            .map(|matcher| format!("\"matcher\": {}, ", json!(matcher)))
            .unwrap_or_default();
        let command = json!(command);
        let seconds = self.seconds;
        format!(
            "{{{matcher}\"hooks\": [{{\"type\": \"command\", \"command\": {command}, \"timeout\": {seconds}}}]}}"
        )
    }
}

/// One command of a file of hooks.
#[derive(Debug)]
struct Handler<'a> {
    event_at: usize,
    event: &'a Member,
    group_at: usize,
    group: &'a Node,
    handlers: &'a Node,
    handler_at: usize,
    handler: &'a Node,
    ours: bool,
}

impl Handler<'_> {
    /// Whether it is exactly what we would install.
    fn is(&self, line: &HookLine, command: &str) -> bool {
        let matcher = self.group.get("matcher").and_then(Node::text);
        let seconds = self.seconds();
        self.handler.get("command").and_then(Node::text) == Some(command)
            && self.handler.get("type").and_then(Node::text) == Some("command")
            && matcher == line.matcher
            && seconds == Some(line.seconds)
    }

    fn seconds(&self) -> Option<u64> {
        self.handler.get("timeout").and_then(Node::number)
    }
}

/// Takes one command out, and with it whatever we had made only to hold it.
fn take_out(text: &str, root: &Node, found: &Handler<'_>) -> String {
    let alone = found
        .handlers
        .items()
        .is_some_and(|handlers| handlers.len() == 1);
    let removed = if alone {
        edit::remove(text, &found.event.value, found.group_at)
    } else {
        edit::remove(text, found.handlers, found.handler_at)
    };
    let Removed::Container = removed else {
        return left(removed, text);
    };
    let Some((hooks_at, hooks)) = root.members().and_then(|members| {
        members
            .iter()
            .enumerate()
            .rev()
            .find(|(_, member)| member.name == "hooks")
    }) else {
        return text.to_owned();
    };
    match edit::remove(text, &hooks.value, found.event_at) {
        Removed::Container => match edit::remove(text, root, hooks_at) {
            // The document itself stays, empty.
            Removed::Container => {
                format!("{}{{}}{}", &text[..root.span.start], &text[root.span.end..])
            }
            removed => left(removed, text),
        },
        removed => left(removed, text),
    }
}

fn left(removed: Removed, text: &str) -> String {
    match removed {
        Removed::Text(edited) => edited,
        Removed::Container => text.to_owned(),
    }
}

fn blank(text: &str) -> bool {
    text.trim_matches(['\u{feff}', ' ', '\t', '\r', '\n'])
        .is_empty()
}

fn on_search_path(env: &IntegrationEnv, program: &str) -> bool {
    let path = env
        .vars
        .get("PATH")
        .map(std::ffi::OsString::from)
        .or_else(|| std::env::var_os("PATH"));
    path.is_some_and(|path| {
        std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
    })
}
