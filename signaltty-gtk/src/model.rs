//! What the window shows, one GObject a concept. Widgets bind to these and never ask the host themselves.

mod decision;
mod pane;
mod workspace;

pub use decision::{DecisionObject, Stage, Via};
pub use pane::PaneObject;
pub use workspace::{Connection, WorkspaceObject};
