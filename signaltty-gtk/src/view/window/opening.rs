//! Opening and closing panes.

use adw::prelude::*;
use gtk::glib::{self, clone, subclass::prelude::*};
use signaltty_core::model::{PaneId, SplitDirection};
use signaltty_core::protocol::method::{PaneClose, PaneSpawn};
use signaltty_core::protocol::params::{PaneParams, PaneSpawnParams};

use super::Window;
use crate::model::PaneObject;
use crate::rules::keyboard::Shown;
use crate::view::new_pane::NewPane;

impl Window {
    /// Starts a program in a new pane, beside the current one where a direction is given. `why` it is shown then.
    pub fn open_pane(
        &self,
        argv: Vec<String>,
        cwd: String,
        beside: Option<(PaneId, SplitDirection)>,
        why: Shown,
    ) {
        let Some(workspace) = self.workspace() else {
            return;
        };
        let Some(bridge) = workspace.bridge() else {
            return;
        };
        // Variables that are no text are none that a program of today reads.
        let env = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        let params = PaneSpawnParams {
            argv,
            cwd,
            env: env.collect(),
            size: None,
            title: None,
        };
        glib::spawn_future_local(clone!(
            #[weak(rename_to = window)]
            self,
            async move {
                match bridge.call::<PaneSpawn>(params).await {
                    Ok(spawned) => {
                        if let Some((at, direction)) = beside {
                            let layout = window.imp().panes.layout_with_split(
                                &at,
                                direction,
                                &spawned.pane_id,
                            );
                            if let Some(layout) = layout {
                                workspace.set_layout(layout);
                            }
                        }
                        window.show_pane(&spawned.pane_id, why);
                    }
                    Err(error) => window.tell_failure("The pane was not opened", Some(error)),
                }
            }
        ));
    }

    pub(super) fn ask_for_pane(&self, direction: Option<SplitDirection>) {
        let current = self.imp().panes.current().and_then(|view| view.pane());
        let folder = current.as_ref().map(|pane| pane.data().cwd.clone());
        let beside = current.map(|pane| pane.id()).zip(direction);
        let dialog = NewPane::new(self, folder.as_deref(), direction);
        dialog.connect_chosen(clone!(
            #[weak(rename_to = window)]
            self,
            move |argv, folder| window.open_pane(argv, folder, beside.clone(), Shown::Chosen)
        ));
        dialog.present();
    }

    /// Closes a pane; asks first where something runs in it.
    pub(super) fn ask_to_close(&self, pane: &PaneObject) {
        if !pane.is_running() {
            return self.close_pane(&pane.id());
        }
        let heading = format!("Close “{}”?", pane.title());
        let dialog = adw::MessageDialog::new(
            Some(self),
            Some(&heading),
            Some("A program still runs there. Closing the pane ends it."),
        );
        dialog.add_responses(&[("cancel", "_Cancel"), ("close", "C_lose pane")]);
        dialog.set_response_appearance("close", adw::ResponseAppearance::Destructive);
        dialog.set_default_response(Some("cancel"));
        dialog.set_close_response("cancel");
        let id = pane.id();
        dialog.connect_response(
            Some("close"),
            clone!(
                #[weak(rename_to = window)]
                self,
                move |_, _| window.close_pane(&id)
            ),
        );
        dialog.present();
    }

    pub(super) fn close_pane(&self, id: &PaneId) {
        let Some(bridge) = self.workspace().and_then(|workspace| workspace.bridge()) else {
            return;
        };
        let params = PaneParams {
            pane_id: id.clone(),
        };
        self.imp().panes.closing(id);
        glib::spawn_future_local(clone!(
            #[weak(rename_to = window)]
            self,
            async move {
                let closed = bridge.call::<PaneClose>(params).await;
                window.tell_failure("The pane was not closed", closed.err());
            }
        ));
    }
}
