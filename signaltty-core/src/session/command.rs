//! What can happen to a session.

use crate::adapter::Reading;
use crate::answer::Answer;
use crate::model::{DecisionId, Exit, HookId, Key, Layout, PaneId, Size};

/// Who speaks, as the host resolved it when the peer connected (DESIGN §5).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Caller {
    /// A process outside all panes: an operator may be behind it.
    #[default]
    Outside,
    /// A descendant of the keeper, in the pane that it descends from if that is known.
    Inside(Option<PaneId>),
}

/// A pane that the host is about to have.
#[derive(Debug, Clone, PartialEq)]
pub struct NewPane {
    /// Its id, minted by the host.
    pub id: PaneId,
    /// The program and its arguments; empty for a session without terminal.
    pub argv: Vec<String>,
    /// Its folder.
    pub cwd: String,
    /// Its process id.
    pub pid: Option<i32>,
    /// The agent that its program is known to be.
    pub agent: Option<String>,
    /// The agent's session id, where a pane comes back from an earlier host.
    pub session_id: Option<String>,
    /// A title that a person gave.
    pub title: Option<String>,
    /// Size of its terminal.
    pub size: Size,
    /// False for a session without terminal.
    pub terminal: bool,
    /// The pane whose program opened it.
    pub opened_by: Option<PaneId>,
    /// Milliseconds since the Unix epoch, where a pane comes back from an earlier host.
    pub created_at: Option<i64>,
}

/// Where a report comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReportedBy {
    /// A process that descends from this pane's program.
    Pane(PaneId),
    /// A process below a server that a vendor shares between sessions.
    Elsewhere,
    /// A process outside all panes.
    Outside,
    /// A process inside some pane, and nobody knows which: it speaks for none.
    Unknown,
}

/// An adapter's reading of one hook event, or a plain one.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The agent that it speaks for.
    pub agent: String,
    /// Where it comes from.
    pub by: ReportedBy,
    /// A pane that the caller named. Counts where the caller may name one (an outside caller).
    pub pane_id: Option<PaneId>,
    /// What was read.
    pub reading: Reading,
    /// The connection that would wait for a verdict, if it offered to.
    pub hook: Option<HookId>,
    /// The id under which an earlier host held this very hook: the decision comes back under it.
    pub resumes: Option<DecisionId>,
    /// Where no pane is found, a pane without terminal is made for the question and goes with its answer;
    /// this is its id.
    pub own_pane: Option<PaneId>,
}

/// An answer on its way in. Its result comes as [`crate::session::Effect::Answered`] with the ticket.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerCommand {
    /// Names this answer in the effect that settles it.
    pub ticket: u64,
    /// The pane it is meant for.
    pub pane_id: PaneId,
    /// The decision it is meant for.
    pub decision_id: DecisionId,
    /// What was sent.
    pub answer: Answer,
    /// By which way: `window`, `notification`, `cli`, `watch`, `aep`, …
    pub via: String,
    /// Who, for showing.
    pub by: String,
    /// Who, for authority.
    pub caller: Caller,
}

/// Who put bytes on a pane's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Typist {
    /// A human at a viewer, or an outside caller.
    Human,
    /// A process inside a pane: typing, but never a human's answer.
    Inside,
}

/// What the byte stream of a pane says by itself (DESIGN §3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamSignal {
    /// BEL outside a sequence.
    Bell,
    /// OSC 0 or 2.
    Title(String),
    /// OSC 9, 99, 777.
    Notification {
        /// Its title, where it has one.
        title: Option<String>,
        /// Its text.
        body: String,
    },
    /// OSC 133: A prompt shown, C command started, D command ended with this status.
    PromptMark {
        /// `A`, `B`, `C` or `D`.
        mark: char,
        /// Exit status of a `D`.
        status: Option<i32>,
    },
    /// OSC 9;4: `None` removes it; else (state 1 normal, 2 error, 3 indeterminate, 4 paused; percent).
    Progress(Option<(u8, u8)>),
}

/// When hooks are held, as the user's setting says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HoldingSetting {
    /// As the adapter says.
    #[default]
    Adapter,
    /// Always where the adapter can.
    Always,
    /// Never.
    Never,
}

/// What can happen.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// A pane opens, or comes back from an earlier host.
    OpenPane(NewPane),
    /// Its program ended.
    PaneExited {
        /// Which.
        pane_id: PaneId,
        /// How.
        exit: Exit,
    },
    /// It goes away.
    ClosePane {
        /// Which.
        pane_id: PaneId,
    },
    /// Its terminal has another size.
    ResizePane {
        /// Which.
        pane_id: PaneId,
        /// The new size.
        size: Size,
    },
    /// A person names it; an empty title gives it back to the program.
    RenamePane {
        /// Which.
        pane_id: PaneId,
        /// The name.
        title: String,
    },
    /// A person looked at it. Takes away `unread`, and nothing else.
    MarkSeen {
        /// Which.
        pane_id: PaneId,
    },
    /// The arrangement of panes changes.
    SetLayout {
        /// The new one.
        layout: Layout,
    },
    /// An agent reports.
    Report(Box<Report>),
    /// Somebody answers.
    Answer(AnswerCommand),
    /// The channel confirmed: the hook flushed its output, the PTY took all bytes, the vendor said yes.
    Delivered {
        /// Which decision.
        decision_id: DecisionId,
    },
    /// It did not.
    NotDelivered {
        /// Which decision.
        decision_id: DecisionId,
        /// Whether the agent still waits for a human.
        still_waiting: bool,
    },
    /// A held connection went away.
    HookGone {
        /// Which.
        hook: HookId,
    },
    /// Somebody typed into a pane. Not the bytes that a delivery of ours writes.
    Typed {
        /// Where.
        pane_id: PaneId,
        /// What, in order.
        keys: Vec<Key>,
        /// Who.
        by: Typist,
    },
    /// The byte stream of a pane said something.
    Stream {
        /// Which pane.
        pane_id: PaneId,
        /// What.
        signal: StreamSignal,
    },
    /// The first operator came, or the last one left.
    Operators {
        /// Whether one is connected now.
        connected: bool,
    },
    /// The user's setting changed.
    SetHolding(HoldingSetting),
    /// Time passed: deadlines are looked at. Due at [`crate::session::Session::next_deadline`].
    Tick,
}
