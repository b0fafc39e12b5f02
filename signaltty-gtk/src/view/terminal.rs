//! The terminal of a pane: a VTE widget fed by the pane's byte stream.
//!
//! The widget has no PTY. Output comes from an [`Attachment`] in portions that are never larger than the widget
//! has worked off ([`crate::rules::feed`]); typing goes back through `commit`. The widget is made once and lives
//! as long as the pane is shown: a reconnect resets it and paints the host's snapshot.

mod feeding;

use std::cell::{Cell, RefCell};
use std::time::Duration;

use gtk::glib::{self, clone, subclass::prelude::*};
use gtk::prelude::*;
use gtk::subclass::prelude::*;
use gtk::{gdk, pango};
use signaltty_core::model::{PaneId, Size};
use signaltty_core::protocol::method::PaneResize;
use signaltty_core::protocol::params::{PaneAttachParams, PaneResizeParams};
use vte::prelude::*;

use crate::bridge::Attachment;
use crate::model::{Connection, PaneObject, WorkspaceObject};
use crate::palette;
use crate::rules::feed::{self, Commit};
use crate::rules::scrolled::{self, Wish};

/// Lines kept above the screen.
const SCROLLBACK: i64 = 10_000;
/// How long the size has to stand still before the program is told. A drag of the window's edge changes it often.
const RESIZE_SETTLES: Duration = Duration::from_millis(40);
/// How long to wait before attaching again where the host is there and the stream ended all the same.
const ATTACH_AGAIN: Duration = Duration::from_millis(500);

mod imp {
    use super::*;

    #[derive(Debug, Default)]
    pub struct TerminalView {
        pub scroller: gtk::ScrolledWindow,
        pub terminal: vte::Terminal,
        pub pane: RefCell<Option<PaneObject>>,
        pub workspace: glib::WeakRef<WorkspaceObject>,
        /// Typing of the present stream.
        pub input: RefCell<Option<async_channel::Sender<Vec<u8>>>>,
        /// The task that feeds the present stream.
        pub feeding: RefCell<Option<glib::JoinHandle<()>>>,
        /// Where the feeding task waits for the sentinel's reply.
        pub processed: RefCell<Option<async_channel::Sender<()>>>,
        /// Whether the present stream can only be looked at.
        pub watches: Cell<bool>,
        /// The size that the program was told.
        pub told: Cell<Option<Size>>,
        pub resize_timer: RefCell<Option<glib::SourceId>>,
        pub attach_timer: RefCell<Option<glib::SourceId>>,
        /// The key being pressed comes out of the widget as what a reply looks like.
        pub looks_like_reply: Cell<bool>,
        /// Where a person had scrolled to before the widget was cleared, and since when there are bytes again.
        pub wish: Cell<Option<Wish>>,
        pub wished_since: Cell<Option<Duration>>,
        pub handlers: RefCell<Vec<(glib::Object, glib::SignalHandlerId)>>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for TerminalView {
        const NAME: &'static str = "SignalttyTerminalView";
        type Type = super::TerminalView;
        type ParentType = gtk::Widget;

        fn class_init(class: &mut Self::Class) {
            class.set_css_name("terminal");
        }
    }

    impl ObjectImpl for TerminalView {
        fn constructed(&self) {
            self.parent_constructed();
            self.obj().build();
        }

        fn dispose(&self) {
            self.obj().detach();
            for (object, handler) in self.handlers.take() {
                object.disconnect(handler);
            }
            for timer in [self.resize_timer.take(), self.attach_timer.take()]
                .into_iter()
                .flatten()
            {
                timer.remove();
            }
            self.scroller.unparent();
        }
    }

    impl WidgetImpl for TerminalView {
        fn request_mode(&self) -> gtk::SizeRequestMode {
            gtk::SizeRequestMode::ConstantSize
        }

        fn measure(&self, orientation: gtk::Orientation, _for_size: i32) -> (i32, i32, i32, i32) {
            let (_, natural, ..) = self.scroller.measure(orientation, -1);
            (0, natural, -1, -1)
        }

        fn size_allocate(&self, width: i32, height: i32, baseline: i32) {
            // Not below what the scroller can bear: what is too much is clipped.
            let (least_width, ..) = self.scroller.measure(gtk::Orientation::Horizontal, -1);
            let (least_height, ..) = self.scroller.measure(gtk::Orientation::Vertical, -1);
            self.scroller.allocate(
                width.max(least_width),
                height.max(least_height),
                baseline,
                None,
            );
            self.obj().size_changed();
        }

        fn map(&self) {
            self.parent_map();
            self.obj().attach();
        }

        fn grab_focus(&self) -> bool {
            self.terminal.grab_focus()
        }
    }
}

glib::wrapper! {
    /// The terminal of a pane.
    pub struct TerminalView(ObjectSubclass<imp::TerminalView>)
        @extends gtk::Widget,
        @implements gtk::Accessible, gtk::Buildable, gtk::ConstraintTarget;
}

impl TerminalView {
    /// The terminal of that pane. Attaches when it is shown for the first time.
    pub fn new(workspace: &WorkspaceObject, pane: &PaneObject) -> Self {
        let view: Self = glib::Object::new();
        let imp = view.imp();
        imp.workspace.set(Some(workspace));
        imp.pane.replace(Some(pane.clone()));
        let handler = workspace.connect_connection_notify(clone!(
            #[weak]
            view,
            move |workspace| if workspace.connection() == Connection::Connected {
                view.attach();
            }
        ));
        imp.handlers
            .borrow_mut()
            .push((workspace.clone().upcast(), handler));
        view
    }

    /// The widget itself: the same for as long as this view lives.
    pub fn terminal(&self) -> &vte::Terminal {
        &self.imp().terminal
    }

    /// Copies what is selected.
    pub fn copy(&self) {
        if self.imp().terminal.has_selection() {
            self.imp().terminal.copy_clipboard_format(vte::Format::Text);
        }
    }

    /// Pastes the clipboard; bracketed where the program asked for that.
    pub fn paste(&self) {
        self.imp().terminal.paste_clipboard();
    }

    fn build(&self) {
        let imp = self.imp();
        let terminal = &imp.terminal;
        terminal.set_scrollback_lines(SCROLLBACK);
        terminal.set_scroll_on_output(false);
        terminal.set_scroll_on_keystroke(true);
        terminal.set_audible_bell(false);
        terminal.set_allow_hyperlink(true);
        terminal.set_mouse_autohide(true);
        terminal.set_font(Some(&pango::FontDescription::from_string("Monospace 11")));
        terminal.update_property(&[gtk::accessible::Property::Label("Terminal")]);
        imp.scroller.set_child(Some(terminal));
        imp.scroller.set_hscrollbar_policy(gtk::PolicyType::Never);
        imp.scroller.set_parent(self);
        self.set_overflow(gtk::Overflow::Hidden);
        self.set_hexpand(true);
        self.set_vexpand(true);

        let style = adw::StyleManager::default();
        let handler = style.connect_dark_notify(clone!(
            #[weak(rename_to = view)]
            self,
            move |_| view.paint()
        ));
        imp.handlers.borrow_mut().push((style.upcast(), handler));
        self.paint();

        terminal.connect_commit(clone!(
            #[weak(rename_to = view)]
            self,
            move |_, text, size| view.committed(text, size)
        ));
        terminal.connect_char_size_changed(clone!(
            #[weak(rename_to = view)]
            self,
            move |_, _, _| view.queue_allocate()
        ));
        let keys = gtk::EventControllerKey::new();
        keys.set_propagation_phase(gtk::PropagationPhase::Capture);
        keys.connect_key_pressed(clone!(
            #[weak(rename_to = view)]
            self,
            #[upgrade_or]
            glib::Propagation::Proceed,
            move |_, key, _, _| {
                // F3 with a modifier comes out as CSI 1;2R and the like: a cursor report to the letter.
                view.imp().looks_like_reply.set(key == gdk::Key::F3);
                glib::Propagation::Proceed
            }
        ));
        terminal.add_controller(keys);
    }

    fn paint(&self) {
        let (foreground, background, colours) =
            palette::rgba(adw::StyleManager::default().is_dark());
        let colours: Vec<&gdk::RGBA> = colours.iter().collect();
        self.imp()
            .terminal
            .set_colors(Some(&foreground), Some(&background), &colours);
    }

    fn size(&self) -> Option<Size> {
        let terminal = &self.imp().terminal;
        let cols = u16::try_from(terminal.column_count()).ok()?;
        let rows = u16::try_from(terminal.row_count()).ok()?;
        Some(Size { cols, rows }.clamped())
    }

    fn pane_id(&self) -> Option<PaneId> {
        self.imp().pane.borrow().as_ref().map(PaneObject::id)
    }

    /// Opens the stream if it is not open and there is something to see.
    fn attach(&self) {
        let imp = self.imp();
        let (Some(workspace), Some(pane)) = (imp.workspace.upgrade(), imp.pane.borrow().clone())
        else {
            return;
        };
        // A pane that nobody has looked at is not attached; one that was stays so, hidden or not.
        let wanted = self.is_mapped() || imp.told.get().is_some();
        if imp.feeding.borrow().is_some()
            || !wanted
            || !pane.data().terminal
            || workspace.connection() != Connection::Connected
        {
            return;
        }
        let Some(bridge) = workspace.bridge() else {
            return;
        };
        // Shown, but not laid out yet: that comes at once, and with it a size to give to the program.
        if self.is_mapped() && self.width() == 0 {
            return;
        }
        // Inside a pane a viewer may look, but neither type nor size.
        let inside = workspace.inside();
        imp.watches.set(inside);
        let size = self.size().filter(|_| self.is_mapped() && !inside);
        imp.told.set(size.or(imp.told.get()));
        let Attachment { output, input } = bridge.attach(PaneAttachParams {
            pane_id: pane.id(),
            size,
            colors: Some(palette::wire(adw::StyleManager::default().is_dark())),
            input: !inside,
        });
        imp.input.replace(Some(input));
        let (processed, reply) = async_channel::bounded(1);
        imp.processed.replace(Some(processed));
        let weak = self.downgrade();
        let feeding = glib::spawn_future_local(async move {
            let ended = feeding::feed_all(&weak, &output, &reply).await;
            if let Some(view) = weak.upgrade() {
                view.ended(ended);
            }
        });
        imp.feeding.replace(Some(feeding));
    }

    fn detach(&self) {
        let imp = self.imp();
        imp.input.take();
        imp.processed.take();
        if let Some(feeding) = imp.feeding.take() {
            feeding.abort();
        }
    }

    /// The stream is over.
    fn ended(&self, refused: bool) {
        let imp = self.imp();
        imp.feeding.take();
        imp.input.take();
        imp.processed.take();
        let running = imp
            .pane
            .borrow()
            .as_ref()
            .is_some_and(PaneObject::is_running);
        if refused || !running || imp.attach_timer.borrow().is_some() {
            return;
        }
        let timer = glib::timeout_add_local_once(
            ATTACH_AGAIN,
            clone!(
                #[weak(rename_to = view)]
                self,
                move || {
                    view.imp().attach_timer.take();
                    view.attach();
                }
            ),
        );
        imp.attach_timer.replace(Some(timer));
    }

    fn committed(&self, text: &str, size: u32) {
        let imp = self.imp();
        let mut bytes = text.as_bytes().to_vec();
        // The text comes as a C string: a NUL typed at its end (Ctrl+Space) is only in its length.
        if u32::try_from(bytes.len() + 1) == Ok(size) {
            bytes.push(0);
        }
        match feed::commit(&bytes, imp.looks_like_reply.take()) {
            Commit::Processed => {
                if let Some(processed) = &*imp.processed.borrow() {
                    // Full: a reply to a sentinel that is no longer waited for.
                    let _ = processed.try_send(());
                }
            }
            Commit::Reply => {}
            Commit::Typed => self.typed(bytes),
        }
    }

    fn typed(&self, bytes: Vec<u8>) {
        // Whoever types wants to see the bottom.
        self.imp().wish.set(None);
        let input = self.imp().input.borrow().clone();
        let input = input.filter(|_| !self.imp().watches.get());
        let full = input.is_none_or(|input| input.try_send(bytes).is_err());
        if full {
            self.error_bell();
        }
    }

    /// The widget may have another number of columns or rows.
    fn size_changed(&self) {
        let imp = self.imp();
        let Some(size) = self.size() else { return };
        if imp.told.get() == Some(size)
            || imp.watches.get()
            || imp.input.borrow().is_none()
            || imp.resize_timer.borrow().is_some()
        {
            if imp.input.borrow().is_none() && self.is_mapped() {
                self.attach();
            }
            return;
        }
        let timer = glib::timeout_add_local_once(
            RESIZE_SETTLES,
            clone!(
                #[weak(rename_to = view)]
                self,
                move || {
                    view.imp().resize_timer.take();
                    view.tell_size();
                }
            ),
        );
        imp.resize_timer.replace(Some(timer));
    }

    fn tell_size(&self) {
        let imp = self.imp();
        let (Some(size), Some(pane_id)) = (self.size(), self.pane_id()) else {
            return;
        };
        let Some(bridge) = imp
            .workspace
            .upgrade()
            .and_then(|workspace| workspace.bridge())
        else {
            return;
        };
        if imp.told.replace(Some(size)) == Some(size) {
            return;
        }
        glib::spawn_future_local(async move {
            let params = PaneResizeParams {
                pane_id,
                cols: size.cols,
                rows: size.rows,
            };
            if let Err(error) = bridge.call::<PaneResize>(params).await {
                tracing::debug!(%error, "the size was not told");
            }
        });
    }

    /// Begins a stream: what is on the widget is another one's.
    fn begin(&self) {
        self.wish(self.scrolled().0);
        self.imp().terminal.reset(true, true);
    }

    /// How many rows above the bottom the view is, and how many lines there are above the screen.
    fn scrolled(&self) -> (f64, f64) {
        self.imp().terminal.vadjustment().map_or((0.0, 0.0), |at| {
            let bottom = at.upper() - at.page_size();
            (bottom - at.value(), bottom - at.lower())
        })
    }

    /// Puts the view to so many rows above the bottom.
    fn scroll_back(&self, rows: f64) {
        if let Some(at) = self.imp().terminal.vadjustment() {
            at.set_value((at.upper() - at.page_size() - rows).max(at.lower()));
        }
    }

    /// The widget is about to be cleared: it was so many rows above the bottom. An older wish, that could not be
    /// followed yet, stands.
    fn wish(&self, back: f64) {
        let imp = self.imp();
        imp.wish.set(imp.wish.get().or_else(|| Wish::new(back)));
        imp.wished_since.set(None);
    }

    /// Whether bytes came since the widget was cleared, and there are still too few lines for its old place.
    fn waits_for_lines(&self) -> bool {
        self.imp().wish.get().is_some() && self.imp().wished_since.get().is_some()
    }

    /// Takes up the place that a person had scrolled to, if there is enough to scroll. `still`: nothing came for a
    /// while.
    fn settle(&self, still: bool) {
        let imp = self.imp();
        let Some(wish) = imp.wish.get() else { return };
        let now = now();
        let since = imp.wished_since.get().unwrap_or(now);
        imp.wished_since.set(Some(since));
        let (back, lines) = self.scrolled();
        match wish.settle(lines, back, still, now.saturating_sub(since)) {
            scrolled::Outcome::Wait => return,
            scrolled::Outcome::To(rows) => self.scroll_back(rows),
            scrolled::Outcome::Drop => {}
        }
        imp.wish.set(None);
    }
}

fn now() -> Duration {
    Duration::from_micros(u64::try_from(glib::monotonic_time()).unwrap_or(0))
}
