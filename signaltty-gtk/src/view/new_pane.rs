//! The dialog that opens a pane: which command, in which folder.

use std::path::Path;
use std::sync::OnceLock;

use adw::prelude::*;
use adw::subclass::prelude::*;
use gtk::glib::{self, clone, subclass::Signal};
use gtk::{CompositeTemplate, TemplateChild, gio};
use signaltty_core::model::SplitDirection;

use super::window::Window;

mod imp {
    use super::*;

    #[derive(Debug, Default, CompositeTemplate)]
    #[template(file = "new_pane.ui")]
    pub struct NewPane {
        #[template_child]
        pub command: TemplateChild<adw::EntryRow>,
        #[template_child]
        pub folder: TemplateChild<adw::EntryRow>,
        #[template_child]
        pub choose: TemplateChild<gtk::Button>,
        #[template_child]
        pub problem: TemplateChild<gtk::Label>,
        #[template_child]
        pub open: TemplateChild<gtk::Button>,
        #[template_child]
        pub cancel: TemplateChild<gtk::Button>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for NewPane {
        const NAME: &'static str = "SignalttyNewPane";
        type Type = super::NewPane;
        type ParentType = adw::Window;

        fn class_init(class: &mut Self::Class) {
            class.bind_template();
        }

        fn instance_init(object: &glib::subclass::InitializingObject<Self>) {
            object.init_template();
        }
    }

    impl ObjectImpl for NewPane {
        fn signals() -> &'static [Signal] {
            static SIGNALS: OnceLock<Vec<Signal>> = OnceLock::new();
            SIGNALS.get_or_init(|| {
                vec![
                    Signal::builder("chosen")
                        .param_types([Vec::<String>::static_type(), String::static_type()])
                        .build(),
                ]
            })
        }
    }

    impl WidgetImpl for NewPane {}
    impl WindowImpl for NewPane {}
    impl AdwWindowImpl for NewPane {}
}

glib::wrapper! {
    /// The dialog.
    pub struct NewPane(ObjectSubclass<imp::NewPane>)
        @extends adw::Window, gtk::Window, gtk::Widget,
        @implements gtk::Accessible, gtk::Buildable, gtk::ConstraintTarget, gtk::Native, gtk::Root,
            gtk::ShortcutManager;
}

impl NewPane {
    /// The dialog over a window, with a folder to begin with.
    pub fn new(parent: &Window, folder: Option<&str>, direction: Option<SplitDirection>) -> Self {
        let dialog: Self = glib::Object::builder()
            .property("transient-for", parent)
            .build();
        let imp = dialog.imp();
        dialog.set_title(Some(match direction {
            None => "New pane",
            Some(SplitDirection::Right) => "New pane on the right",
            Some(SplitDirection::Down) => "New pane below",
        }));
        let home = glib::home_dir();
        imp.folder.set_text(
            folder
                .filter(|folder| !folder.is_empty())
                .unwrap_or(&home.to_string_lossy()),
        );
        imp.open.connect_clicked(clone!(
            #[weak]
            dialog,
            move |_| dialog.open()
        ));
        imp.cancel.connect_clicked(clone!(
            #[weak]
            dialog,
            move |_| dialog.close()
        ));
        for row in [&imp.command, &imp.folder] {
            row.connect_entry_activated(clone!(
                #[weak]
                dialog,
                move |_| dialog.open()
            ));
            row.connect_changed(clone!(
                #[weak]
                dialog,
                move |_| dialog.say("")
            ));
        }
        imp.choose.connect_clicked(clone!(
            #[weak]
            dialog,
            move |_| dialog.choose_folder()
        ));
        let keys = gtk::ShortcutController::new();
        keys.add_shortcut(gtk::Shortcut::new(
            gtk::ShortcutTrigger::parse_string("Escape"),
            Some(gtk::NamedAction::new("window.close")),
        ));
        dialog.add_controller(keys);
        imp.command.grab_focus();
        dialog
    }

    /// Connects to a command and a folder being chosen.
    pub fn connect_chosen(&self, call: impl Fn(Vec<String>, String) + 'static) {
        self.connect_local("chosen", false, move |values| {
            call(
                values.get(1)?.get::<Vec<String>>().ok()?,
                values.get(2)?.get::<String>().ok()?,
            );
            None
        });
    }

    fn open(&self) {
        let imp = self.imp();
        let folder = imp.folder.text().to_string();
        let folder = expand(folder.trim());
        if !Path::new(&folder).is_dir() {
            imp.folder.add_css_class("error");
            return self.say("There is no such folder.");
        }
        let argv = match command(&imp.command.text()) {
            Ok(argv) => argv,
            Err(problem) => {
                imp.command.add_css_class("error");
                return self.say(&problem);
            }
        };
        self.emit_by_name::<()>("chosen", &[&argv, &folder]);
        self.close();
    }

    fn say(&self, problem: &str) {
        let imp = self.imp();
        imp.problem.set_text(problem);
        imp.problem.set_visible(!problem.is_empty());
        if problem.is_empty() {
            imp.folder.remove_css_class("error");
            imp.command.remove_css_class("error");
        }
    }

    fn choose_folder(&self) {
        let chooser = gtk::FileChooserNative::new(
            Some("Folder of the pane"),
            Some(self),
            gtk::FileChooserAction::SelectFolder,
            None,
            None,
        );
        let present = expand(&self.imp().folder.text());
        // A folder that is not there is no place to begin; the chooser then begins where it likes.
        let _ = chooser.set_current_folder(Some(&gio::File::for_path(present)));
        glib::spawn_future_local(clone!(
            #[weak(rename_to = dialog)]
            self,
            async move {
                if chooser.run_future().await == gtk::ResponseType::Accept {
                    if let Some(path) = chooser.file().and_then(|file| file.path()) {
                        dialog.imp().folder.set_text(&path.to_string_lossy());
                    }
                }
            }
        ));
    }
}

/// The user's shell, for a pane without a command.
pub fn shell() -> Vec<String> {
    let shell = std::env::var("SHELL")
        .ok()
        .filter(|shell| !shell.is_empty());
    vec![shell.unwrap_or_else(|| "/bin/sh".into())]
}

/// A command line as a shell would split it; nothing: the user's shell.
fn command(line: &str) -> Result<Vec<String>, String> {
    if line.trim().is_empty() {
        return Ok(shell());
    }
    let words = glib::shell_parse_argv(line).map_err(|error| error.message().to_owned())?;
    words
        .into_iter()
        .map(|word| {
            word.into_string()
                .map_err(|_| "The command is no text.".to_owned())
        })
        .collect()
}

/// A path whose leading `~` is the home folder.
fn expand(path: &str) -> String {
    let home = glib::home_dir();
    match path.strip_prefix('~') {
        Some("") => home.to_string_lossy().into_owned(),
        Some(rest) if rest.starts_with('/') => format!("{}{rest}", home.to_string_lossy()),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_split_as_a_shell_splits_it() {
        assert_eq!(
            command("agent --model 'a b'"),
            Ok(vec!["agent".into(), "--model".into(), "a b".into()])
        );
        assert!(command("agent 'open").is_err());
    }

    #[test]
    fn no_command_is_the_shell() {
        assert_eq!(command("  "), Ok(shell()));
    }

    #[test]
    fn only_a_leading_tilde_is_home() {
        assert_eq!(expand("/a/~b"), "/a/~b");
        assert!(expand("~/x").ends_with("/x"));
        assert_eq!(expand("~other"), "~other");
    }
}
