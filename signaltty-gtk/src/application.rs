//! The application: one instance, its command line, its window.

use std::cell::{OnceCell, RefCell};
use std::ffi::OsString;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::rc::Rc;

use adw::prelude::*;
use adw::subclass::prelude::*;
use gtk::gio;
use gtk::glib::{self, clone};
use signaltty_core::model::PaneId;

use crate::bridge::Bridge;
use crate::host_program;
use crate::model::WorkspaceObject;
use crate::notifications::Notifier;
use crate::rules::keyboard::Shown;
use crate::view::{self, Window};

/// The application's id: its name on the bus, of its desktop entry and of its icon.
pub const ID: &str = "org.signaltty.SignalTTY";

mod imp {
    use super::*;

    #[derive(Debug, Default)]
    pub struct Application {
        pub workspace: OnceCell<WorkspaceObject>,
        pub window: RefCell<Option<Window>>,
        pub notifier: RefCell<Option<Rc<Notifier>>>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for Application {
        const NAME: &'static str = "SignalttyApplication";
        type Type = super::Application;
        type ParentType = adw::Application;
    }

    impl ObjectImpl for Application {
        fn constructed(&self) {
            self.parent_constructed();
            let application = self.obj();
            application.add_main_option(
                "pane",
                b'p'.into(),
                glib::OptionFlags::NONE,
                glib::OptionArg::String,
                "Show the pane of that id",
                Some("ID"),
            );
            application.add_main_option(
                "version",
                b'v'.into(),
                glib::OptionFlags::NONE,
                glib::OptionArg::None,
                "Show the version",
                None,
            );
            application.add_main_option(
                REST,
                0.into(),
                glib::OptionFlags::NONE,
                glib::OptionArg::FilenameArray,
                "",
                Some("[FOLDER]"),
            );
            application.set_option_context_summary(Some(
                "Panes of agents, and what they ask. With a folder, opens a shell in it.",
            ));
        }
    }

    impl ApplicationImpl for Application {
        fn startup(&self) {
            self.parent_startup();
            gtk::Window::set_default_icon_name(ID);
            self.obj().connect_host();
        }

        fn shutdown(&self) {
            if let Some(notifier) = self.notifier.take() {
                notifier.set_window(None);
                notifier.close_all();
            }
            self.window.take();
            self.parent_shutdown();
        }

        fn activate(&self) {
            self.obj().show();
        }

        /// Runs in the process that was started, also where another instance then does what it says.
        fn handle_local_options(&self, options: &glib::VariantDict) -> ControlFlow<glib::ExitCode> {
            if options.contains("version") {
                println!("signaltty-gtk {}", env!("CARGO_PKG_VERSION"));
                return ControlFlow::Break(glib::ExitCode::SUCCESS);
            }
            // Relative to where this process was started.
            let checked = Asked::read(options).and_then(|asked| match asked.folder {
                Some(folder) if !folder.is_dir() => {
                    Err(format!("{} is no folder", folder.display()))
                }
                _ => Ok(()),
            });
            match checked {
                Ok(()) => ControlFlow::Continue(()),
                Err(problem) => {
                    eprintln!("signaltty-gtk: {problem}");
                    ControlFlow::Break(USAGE)
                }
            }
        }

        fn command_line(&self, line: &gio::ApplicationCommandLine) -> glib::ExitCode {
            self.obj().obey(line)
        }
    }

    impl GtkApplicationImpl for Application {}
    impl AdwApplicationImpl for Application {}
}

glib::wrapper! {
    /// The application.
    pub struct Application(ObjectSubclass<imp::Application>)
        @extends adw::Application, gtk::Application, gio::Application,
        @implements gio::ActionGroup, gio::ActionMap;
}

impl Default for Application {
    fn default() -> Self {
        glib::Object::builder()
            .property("application-id", ID)
            .property("flags", gio::ApplicationFlags::HANDLES_COMMAND_LINE)
            .property("resource-base-path", "/org/signaltty/SignalTTY")
            .build()
    }
}

impl Application {
    fn connect_host(&self) {
        let start = match host_program::start_host() {
            Ok(start) => start,
            Err(error) => {
                eprintln!("signaltty-gtk: {error}");
                return self.quit();
            }
        };
        match Bridge::start(
            start,
            !host_program::inside(std::env::var_os(host_program::PANE_ENV)),
        ) {
            Ok((bridge, updates)) => {
                let workspace = WorkspaceObject::new(bridge, updates);
                // Startup happens once.
                let _ = self.imp().workspace.set(workspace.clone());
                glib::spawn_future_local(clone!(
                    #[weak(rename_to = application)]
                    self,
                    async move {
                        let notifier = Notifier::start(workspace).await;
                        if let Some(notifier) = &notifier {
                            notifier.set_window(application.imp().window.borrow().clone());
                        }
                        application.imp().notifier.replace(notifier);
                    }
                ));
            }
            Err(error) => {
                tracing::error!(%error, "no thread for the connection to the host");
                self.quit();
            }
        }
    }

    /// The window, made where there is none.
    fn show(&self) -> Option<Window> {
        let workspace = self.imp().workspace.get()?;
        let window = self.imp().window.borrow().clone();
        let window = window.unwrap_or_else(|| Window::new(self.upcast_ref(), workspace));
        self.imp().window.replace(Some(window.clone()));
        if let Some(notifier) = &*self.imp().notifier.borrow() {
            notifier.set_window(Some(window.clone()));
        }
        window.present();
        Some(window)
    }

    fn obey(&self, line: &gio::ApplicationCommandLine) -> glib::ExitCode {
        let asked = match Asked::read(&line.options_dict()) {
            Ok(asked) => asked,
            // The process that was started has said so already.
            Err(_) => return USAGE,
        };
        let Some(window) = self.show() else {
            return glib::ExitCode::FAILURE;
        };
        // A call from another process may be an agent's: it puts no keyboard into a terminal.
        let why = if line.is_remote() {
            Shown::Called
        } else {
            Shown::Chosen
        };
        if let Some(pane) = asked.pane {
            window.show_pane(&pane, why);
        }
        if let Some(folder) = asked.folder {
            let folder = line.cwd().map_or(folder.clone(), |cwd| cwd.join(&folder));
            let folder = folder.to_string_lossy().into_owned();
            window.open_pane(view::shell(), folder, None, why);
        }
        glib::ExitCode::SUCCESS
    }
}

/// What a command line asks for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Asked {
    /// A pane to show.
    pane: Option<PaneId>,
    /// A folder to open a shell in.
    folder: Option<PathBuf>,
}

impl Asked {
    fn read(options: &glib::VariantDict) -> Result<Self, String> {
        let pane = options.lookup::<String>("pane").ok().flatten();
        let pane = pane
            .map(PaneId::new)
            .transpose()
            .map_err(|error| format!("--pane: {error}"))?;
        let rest = options
            .lookup_value(REST, None)
            .and_then(|rest| rest.get::<Vec<Vec<u8>>>())
            .unwrap_or_default();
        let mut rest = rest.into_iter().map(|mut path| {
            // A byte string of GLib ends in NUL.
            if path.last() == Some(&0) {
                path.pop();
            }
            PathBuf::from(OsString::from_vec(path))
        });
        let folder = rest.next();
        if rest.next().is_some() {
            return Err("one folder at most".into());
        }
        Ok(Self { pane, folder })
    }
}

/// GLib's name of what stands after the options.
const REST: &str = "";
/// Exit status for a command line that makes no sense.
const USAGE: glib::ExitCode = glib::ExitCode::new(2);
