//! A real agent in a pane: its private configuration, its start, its own screens.

use std::cell::Cell;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;

use super::install::{CLAUDE, CODEX, Package};
use super::model::Model;
use super::wait::within;
use super::world::{Pane, World, text};

/// Whose program it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vendor {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
}

impl Vendor {
    /// Its name on our wire and in our commands.
    pub fn agent(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }

    fn package(self) -> Package {
        match self {
            Self::Claude => CLAUDE,
            Self::Codex => CODEX,
        }
    }

    /// What its screen shows once it takes a prompt.
    fn ready(self) -> &'static str {
        match self {
            Self::Claude => "manual mode on",
            Self::Codex => "Ask Codex",
        }
    }

    /// What its own permission prompt says.
    pub fn own_prompt(self) -> &'static str {
        match self {
            Self::Claude => "Do you want to proceed?",
            Self::Codex => "Would you like to run the following command?",
        }
    }
}

/// A real agent, configured in a world, with the model server that it talks to.
pub struct Agent {
    /// Whose.
    pub vendor: Vendor,
    /// Its model.
    pub model: Model,
    program: PathBuf,
    env: Vec<(String, String)>,
    trusted: Cell<bool>,
}

/// A pane in which a real agent runs.
pub struct RealPane {
    /// The pane.
    pub pane: Pane,
    /// The agent's own permission prompt.
    pub own_prompt: &'static str,
    work: PathBuf,
    asked: Cell<usize>,
}

/// The key that the stand-in takes: a vendor wants one that looks like one.
const KEY: &str = "dummykey-0123456789ab";

impl Agent {
    /// Installs a vendor's program if it has to be, configures it for a world and installs our hook there,
    /// through our own program. `None`, having said so, where it cannot be had.
    #[track_caller]
    pub fn prepare(world: &World, vendor: Vendor, test: &str) -> Option<Self> {
        match Self::obtain(world, vendor) {
            Ok(agent) => {
                agent.install_hook(world);
                Some(agent)
            }
            Err(why) => {
                super::skip(test, &why);
                None
            }
        }
    }

    /// The same without our hook.
    ///
    /// # Errors
    /// Why it cannot be had.
    pub fn obtain(world: &World, vendor: Vendor) -> Result<Self, String> {
        let program = vendor.package().program()?;
        let model = Model::start(world, vendor.agent());
        let env = match vendor {
            Vendor::Claude => seed_claude(world, &model),
            Vendor::Codex => seed_codex(world, &model),
        };
        Ok(Self {
            vendor,
            model,
            program,
            env,
            // Without hooks of ours there is nothing that it could ask trust for.
            trusted: Cell::new(true),
        })
    }

    /// Installs our hook in its configuration, as a person does.
    #[track_caller]
    pub fn install_hook(&self, world: &World) {
        let done = world.cli(["integration", "install", self.vendor.agent()]);
        assert!(
            done.status.success(),
            "signaltty integration install: {}\n{}",
            done.status,
            text(&done)
        );
        self.trusted.set(false);
    }

    /// Its environment beyond the world's.
    pub fn env(&self) -> Vec<(&str, &str)> {
        self.env
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect()
    }

    /// The path of its program.
    pub fn program(&self) -> &str {
        self.program.to_str().expect("a path in UTF-8")
    }

    /// Starts it in a pane and waits until it takes a prompt.
    #[track_caller]
    pub fn start(&self, world: &World) -> RealPane {
        let mut pane = world.spawn(&[self.program()], &self.env());
        for _ in 1..STARTS {
            if self.comes_up(&pane) {
                return RealPane::wrap(world, self.vendor, pane);
            }
            eprintln!("it ended at its start: {}", pane.screen());
            world
                .client()
                .must("pane.close", json!({"pane_id": pane.id}));
            pane = world.spawn(&[self.program()], &self.env());
        }
        assert!(
            self.comes_up(&pane),
            "it ended at its start: {}",
            pane.screen()
        );
        RealPane::wrap(world, self.vendor, pane)
    }

    /// Waits until it takes a prompt; false if it ends instead.
    ///
    /// The first time that Codex sees our hooks it asks for trust in them. That is granted on its own screen, as a
    /// person does: one row down, Enter.
    #[track_caller]
    fn comes_up(&self, pane: &Pane) -> bool {
        let asks_for_trust = self.vendor == Vendor::Codex && !self.trusted.get();
        super::until("it takes a prompt", || {
            if pane.get().get("exit").is_some() {
                return Some(false);
            }
            let screen = pane.screen();
            if !screen.contains(TRUST_SCREEN) {
                let up =
                    screen.contains(self.vendor.ready()) && (self.trusted.get() || !asks_for_trust);
                return up.then_some(true);
            }
            // It drops what is typed in its first moments, so each key is given the time to show.
            let marked = screen.contains("› 2. Trust all and continue");
            std::thread::sleep(SCREEN_SETTLES);
            if pane.try_type(if marked { "\r" } else { "\x1b[B" }).is_ok() && marked {
                self.trusted.set(true);
            }
            std::thread::sleep(SCREEN_SETTLES);
            None
        })
    }
}

/// Codex's own question about hooks that it has not seen before.
const TRUST_SCREEN: &str = "Hooks need review";
/// How long a screen of an agent is left alone before and after a key: about what a person takes to look.
const SCREEN_SETTLES: Duration = Duration::from_millis(700);
/// How often an agent that ends at its start is started: Codex does now and then where the machine is busy ("timed
/// out discarding buffered terminal input").
const STARTS: usize = 3;

impl RealPane {
    /// A pane in which a vendor's program was started in another way.
    pub fn wrap(world: &World, vendor: Vendor, pane: Pane) -> Self {
        Self {
            pane,
            own_prompt: vendor.own_prompt(),
            work: world.work(),
            asked: Cell::new(0),
        }
    }

    /// Submits a prompt to the agent. Enter is pressed once the composer shows the prompt's end.
    #[track_caller]
    pub fn submit(&self, prompt: &str) {
        // A composer takes a burst for a paste, and Enter with it for a new line: so text first, then Enter.
        self.pane.type_text(prompt);
        // The screen may wrap it anywhere.
        let end: String = prompt
            .chars()
            .rev()
            .take(12)
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .collect();
        let dense = |text: &str| {
            text.chars()
                .filter(|c| !c.is_whitespace())
                .collect::<String>()
        };
        self.pane.await_screen_where("the typed prompt", |screen| {
            dense(screen).contains(&dense(&end))
        });
        std::thread::sleep(Duration::from_millis(300));
        self.pane.type_text("\r");
    }

    /// Has the agent ask for leave to create a new file; the file's path.
    #[track_caller]
    pub fn ask_to_create(&self) -> PathBuf {
        let file = self.next_file();
        self.submit(&format!("please [[sh touch {}]]", file.display()));
        file
    }

    /// A path in the work folder that nothing has used yet.
    pub fn next_file(&self) -> PathBuf {
        self.asked.set(self.asked.get() + 1);
        self.work
            .join(format!("{}-{}", self.pane.id, self.asked.get()))
    }

    /// Waits for the agent's own prompt on its screen, and until it takes keys.
    #[track_caller]
    pub fn await_own_prompt(&self) -> String {
        let screen = self.pane.await_screen(self.own_prompt);
        // Claude Code drops what is typed in the first 200 ms or so of its prompt, and shows nothing that tells.
        std::thread::sleep(Duration::from_secs(1));
        screen
    }

    /// Whether its own prompt is on screen now.
    #[track_caller]
    pub fn own_prompt_open(&self) -> bool {
        self.pane.screen().contains(self.own_prompt)
    }

    /// Waits until the turn is over: the model's last words are on screen.
    #[track_caller]
    pub fn await_turn_end(&self) {
        super::until("the agent's turn ended", || {
            matches!(self.pane.get()["lifecycle"].as_str(), Some("done" | "idle")).then_some(())
        });
    }
}

/// Waits for a file that a granted command creates.
#[track_caller]
pub fn await_file(file: &std::path::Path) {
    assert!(
        within(super::PATIENCE, || file.exists().then_some(())).is_some(),
        "{} was never created",
        file.display()
    );
}

fn seed_claude(world: &World, model: &Model) -> Vec<(String, String)> {
    let work = fs::canonicalize(world.work()).expect("the work folder");
    let state = json!({
        "hasCompletedOnboarding": true,
        "theme": "dark",
        "numStartups": 5,
        "lastOnboardingVersion": CLAUDE.version,
        "customApiKeyResponses": {"approved": [&KEY[KEY.len() - 20..]], "rejected": []},
        // Else a dialog at the start offers another permission mode.
        "hasSeenAutoDefaultNudge": true,
        "migrationVersion": 15,
        "projects": {work.to_str().expect("a path in UTF-8"): {
            "hasTrustDialogAccepted": true,
            "hasCompletedProjectOnboarding": true,
            "allowedTools": [],
        }},
    });
    write(world.home().join(".claude.json"), &state.to_string());
    write(
        world.home().join(".claude/settings.json"),
        r#"{"permissions": {"allow": [], "defaultMode": "default"}}"#,
    );
    owned(&[
        ("ANTHROPIC_BASE_URL", &model.url),
        ("ANTHROPIC_API_KEY", KEY),
        ("DISABLE_AUTOUPDATER", "1"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_TELEMETRY", "1"),
    ])
}

fn seed_codex(world: &World, model: &Model) -> Vec<(String, String)> {
    let work = fs::canonicalize(world.work()).expect("the work folder");
    let config = format!(
        r#"model = "stand-in"
model_provider = "mock"
approval_policy = "on-request"
sandbox_mode = "read-only"
check_for_update_on_startup = false

[model_providers.mock]
name = "mock"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "MOCK_KEY"

[projects."{work}"]
trust_level = "trusted"

[analytics]
enabled = false
"#,
        url = model.url,
        work = work.display(),
    );
    write(world.home().join(".codex/config.toml"), &config);
    owned(&[("MOCK_KEY", "dummy")])
}

fn write(path: PathBuf, content: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder for the configuration");
    fs::write(path, content).expect("the configuration");
}

fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}
