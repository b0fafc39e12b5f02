//! `signaltty-gtk`: see the library of the same name.

use tracing_subscriber::EnvFilter;

fn main() -> gtk::glib::ExitCode {
    let filter =
        EnvFilter::try_from_env("SIGNALTTY_LOG").unwrap_or_else(|_| EnvFilter::new("warn"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .init();
    signaltty_gtk::run()
}
