//! Plain data: what a pane, a decision, a lifecycle and an attention are. No I/O, no clock.

pub mod attention;
pub mod decision;
pub mod form;
pub mod id;
pub mod key;
pub mod layout;
pub mod lifecycle;
pub mod moment;
pub mod pane;

pub use attention::{Attention, AttentionSet};
pub use decision::{
    AnswerOption, Decision, DetailKind, Kind, Origin, Polarity, RespondVia, Source, TextUse,
};
pub use form::{Choice, Field, FieldType, Value, Values};
pub use id::{DecisionId, HookId, InvalidId, PaneId};
pub use key::Key;
pub use layout::{Layout, LayoutNode, SplitDirection, Tab};
pub use lifecycle::Lifecycle;
pub use moment::Moment;
pub use pane::{Exit, Pane, Size};
