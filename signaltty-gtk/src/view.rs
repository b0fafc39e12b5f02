//! What a person sees, one widget a file.

mod card;
mod detail;
mod flow;
mod form;
mod new_pane;
mod option_button;
mod pane_row;
mod pane_view;
mod panes;
mod shortcuts;
mod sidebar;
mod strip;
mod terminal;
mod window;

pub use new_pane::shell;
pub use pane_view::PaneView;
pub use window::Window;
