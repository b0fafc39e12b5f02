//! The window.

pub mod application;
pub mod bridge;
pub mod host_program;
mod keys;
pub mod model;
pub mod notifications;
mod palette;
pub mod rules;
mod text;
mod view;
mod words;

use gtk::glib;
use gtk::prelude::*;

/// Runs the program until its last window is closed.
pub fn run() -> glib::ExitCode {
    if let Err(error) = gtk::gio::resources_register_include!("signaltty.gresource") {
        tracing::error!(%error, "the program's own resources cannot be read");
        return glib::ExitCode::FAILURE;
    }
    application::Application::default().run()
}
