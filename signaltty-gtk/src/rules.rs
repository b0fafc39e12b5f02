//! What the window must hold to whatever it looks like, on plain data: tested without a display.

pub mod arrange;
pub mod chord;
pub mod feed;
pub mod guard;
pub mod hint;
pub mod keyboard;
pub mod missing;
pub mod notice;
pub mod options;
pub mod order;
pub mod reply;
pub mod scrolled;
