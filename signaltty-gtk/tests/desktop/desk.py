#!/usr/bin/python3
"""A private desktop on which a GTK program is used as a person uses it.

A virtual X screen, a window manager, a session bus with accessibility, and a notification server. Driven by
requests on standard input, one JSON object a line, answered in order on standard output:

    {"do": "click", "name": "^Deny$"}  →  {"ok": true, "result": …}  or  {"ok": false, "error": "…"}

`do` names a public method of `Desktop`; the other members are its arguments. Every wait is bounded. When standard
input ends, everything that was started here is stopped, by process id, and so is what that started.

Needs the distribution's python3 (it has gi), Xvfb, openbox, xdotool, ImageMagick, dbus-daemon, at-spi2-core.
"""

import glob
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
# Seconds that a part of the desktop gets to come up: generous, since nothing waits longer than it takes.
START = 30.0
# Seconds that a widget gets to appear, where the caller names no other bound.
PATIENCE = 15.0
# Seconds between two looks at the accessibility tree.
PAUSE = 0.05


class Failed(Exception):
    """What was asked for did not happen; the message says what was there instead."""


class Desktop:
    """One virtual screen with its own buses."""

    def __init__(self, size="1280x800", capabilities=("actions", "body", "persistence")):
        self._children = []
        self._folder = tempfile.mkdtemp(prefix="desk-")
        self._start_screen(size)
        self._start_buses()
        self._notification_log = os.path.join(self._folder, "notifications.jsonl")
        open(self._notification_log, "w", encoding="utf-8").close()
        self._spawn([sys.executable, os.path.join(HERE, "notifications.py"), self._notification_log, *capabilities])
        for name in ("org.a11y.Bus", "org.freedesktop.Notifications"):
            self._until(lambda name=name: self._has_owner(name), START, f"no {name} on the session bus")

        import gi

        gi.require_version("Atspi", "2.0")
        from gi.repository import Atspi, GLib

        self._atspi, self._glib = Atspi, GLib
        Atspi.init()

    # --- starting and stopping -------------------------------------------------------------------------
    def _spawn(self, argv, **how):
        how.setdefault("stdout", subprocess.DEVNULL)
        how.setdefault("stderr", subprocess.DEVNULL)
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, **how)
        self._children.append(child)
        return child

    def _start_screen(self, size):
        runtime = os.path.join(self._folder, "run")
        os.mkdir(runtime, 0o700)
        for name in list(os.environ):
            if name.startswith(("WAYLAND", "DBUS_", "AT_SPI")):
                del os.environ[name]
        read_end, write_end = os.pipe()
        screen = ["Xvfb", "-displayfd", str(write_end), "-screen", "0", size + "x24", "-nolisten", "tcp", "-noreset"]
        self._spawn(screen, pass_fds=[write_end])
        os.close(write_end)
        # To the newline: it comes in a write of its own, and Xvfb gives up where that fails.
        with os.fdopen(read_end, encoding="ascii") as told:
            number = told.readline().strip()
        if not number:
            raise Failed("Xvfb did not start")
        os.environ.update(
            {
                "DISPLAY": ":" + number,
                "XDG_RUNTIME_DIR": runtime,
                "GDK_BACKEND": "x11",
                # No GPU here: the renderer and the pictures must not depend on one.
                "GSK_RENDERER": "cairo",
                "LIBGL_ALWAYS_SOFTWARE": "1",
                "GTK_A11Y": "atspi",
                "NO_AT_BRIDGE": "0",
                "GSETTINGS_BACKEND": "memory",
            }
        )
        # openbox runs this once it manages windows.
        ready = os.path.join(self._folder, "openbox-ready")
        self._spawn(["openbox", "--startup", f"touch {ready}"])
        self._until(lambda: os.path.exists(ready), START, "openbox did not start")

    def _start_buses(self):
        bus = self._spawn(
            ["dbus-daemon", "--session", "--print-address=1", "--nofork", "--nopidfile"], stdout=subprocess.PIPE, text=True
        )
        address = bus.stdout.readline().strip()
        if not address:
            raise Failed("dbus-daemon did not start")
        os.environ["DBUS_SESSION_BUS_ADDRESS"] = address
        places = ("/usr/libexec/at-spi-bus-launcher", "/usr/lib/at-spi2-core/at-spi-bus-launcher")
        launcher = next((place for place in places if os.path.exists(place)), None)
        if launcher is None:
            raise Failed("at-spi2-core is not installed")
        self._spawn([launcher, "--launch-immediately"])

    def _has_owner(self, name):
        from gi.repository import Gio, GLib

        bus = Gio.bus_get_sync(Gio.BusType.SESSION)
        bus.set_exit_on_close(False)
        dbus = "org.freedesktop.DBus"
        asked = bus.call_sync(dbus, "/", dbus, "NameHasOwner", GLib.Variant("(s)", (name,)), None, 0, 5000)
        return asked.unpack()[0]

    def _close(self):
        """Ends everything that was started here, and its children, by process id."""
        pids = [child.pid for child in self._children]
        pids += [pid for child in pids for pid in descendants(child)]
        for child in reversed(self._children):
            if child.poll() is None:
                child.send_signal(signal.SIGTERM)
        for child in self._children:
            try:
                child.wait(timeout=3)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        for pid in pids[len(self._children) :]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        subprocess.run(["rm", "-rf", self._folder], check=False)

    # --- programs --------------------------------------------------------------------------------------
    def launch(self, argv, env=None, log=None):
        """Starts a program on this desktop and returns its process id. Its output goes to the file `log`."""
        out = open(log, "ab") if log else subprocess.DEVNULL
        child = self._spawn(argv, stdout=out, stderr=subprocess.STDOUT, env={**os.environ, **(env or {})})
        return child.pid

    def running(self, pid):
        """Whether a program that `launch` started still runs."""
        return any(child.pid == pid and child.poll() is None for child in self._children)

    def end(self, pid, sig="TERM"):
        """Sends a signal to a program that `launch` started and waits for its end."""
        child = next((child for child in self._children if child.pid == pid), None)
        if child is None:
            raise Failed(f"{pid} was not started here")
        child.send_signal(getattr(signal, "SIG" + sig))
        try:
            return child.wait(timeout=START)
        except subprocess.TimeoutExpired:
            raise Failed(f"{pid} did not end") from None

    # --- what a screen reader sees ---------------------------------------------------------------------
    def _until(self, look, timeout, problem):
        """The first true result of `look`, or Failed with `problem` (a text or a function) after `timeout` s."""
        end = time.monotonic() + timeout
        while True:
            found = look()
            if found:
                return found
            if time.monotonic() > end:
                raise Failed(problem() if callable(problem) else problem)
            time.sleep(PAUSE)

    def _walk(self, node=None, depth=0):
        """Yields (depth, accessible) for everything on the accessibility bus, parents first."""
        if node is None:
            # Pending accessibility events must be let in: without them the tree stays as it was first seen.
            context = self._glib.MainContext.default()
            for _ in range(500):
                if not context.iteration(False):
                    break
            node = self._atspi.get_desktop(0)
            node.clear_cache()
        yield depth, node
        try:
            count = node.get_child_count()
        except self._glib.Error:
            return
        for index in range(count):
            try:
                child = node.get_child_at_index(index)
            except self._glib.Error:
                child = None
            if child is not None:
                yield from self._walk(child, depth + 1)

    def _matches(self, name, role=None, within=None):
        """All accessibles whose name and role match, below the first that `within` (a name) matches."""
        root, found = None, []
        if within is not None:
            root = next(iter(self._matches(within)), None)
            if root is None:
                return []
        for _, node in self._walk(root):
            try:
                if re.search(name, node.get_name() or "") and (role is None or re.search(role, node.get_role_name())):
                    found.append(node)
            except self._glib.Error:
                continue  # it went away while we looked
        return found

    def _one(self, name, role=None, within=None, timeout=PATIENCE):
        wanted = f"{role or 'anything'} named /{name}/" + (f" within /{within}/" if within else "")
        return self._until(
            lambda: next(iter(self._matches(name, role, within)), None), timeout, lambda: f"no {wanted}; there is:\n{self.tree()}"
        )

    def _describe(self, node):
        states = node.get_state_set()
        names = ("FOCUSED", "SENSITIVE", "ENABLED", "CHECKED", "EXPANDED", "SELECTED", "EDITABLE", "SHOWING", "ACTIVE")
        has = [name.lower() for name in names if states.contains(getattr(self._atspi.StateType, name))]
        # `path` names the widget behind it: the same path, the same widget.
        return {"name": node.get_name(), "role": node.get_role_name(), "states": has, "path": node.path}

    def tree(self):
        """The accessibility tree as text: one line a node, its role and name."""
        lines = []
        for depth, node in self._walk():
            try:
                lines.append("  " * depth + node.get_role_name() + " " + repr(node.get_name()))
            except self._glib.Error:
                pass
        return "\n".join(lines)

    def find(self, name, role=None, within=None, timeout=PATIENCE):
        """Waits for the first match of these regular expressions and describes it."""
        return self._describe(self._one(name, role, within, timeout))

    def all(self, name, role=None, within=None):
        """Describes every match there is now."""
        found = []
        for node in self._matches(name, role, within):
            try:
                found.append(self._describe(node))
            except self._glib.Error:
                continue  # it went away while we looked
        return found

    def has(self, name, role=None, within=None):
        """Whether there is a match now."""
        return bool(self._matches(name, role, within))

    def gone(self, name, role=None, within=None, timeout=PATIENCE):
        """Waits until nothing matches."""
        self._until(
            lambda: not self._matches(name, role, within), timeout, lambda: f"/{name}/ is still there:\n{self.tree()}"
        )
        return True

    def text(self, name, role=None, within=None, timeout=PATIENCE):
        """The text that the named widget holds (an entry's, a text view's)."""
        node = self._one(name, role, within, timeout)
        length = self._atspi.Text.get_character_count(node)
        return self._atspi.Text.get_text(node, 0, length)

    def extents(self, name, role=None, within=None, timeout=PATIENCE):
        """Where the named widget is in its window: [x, y, width, height] in pixels."""
        box = self._atspi.Component.get_extents(self._one(name, role, within, timeout), self._atspi.CoordType.WINDOW)
        return [box.x, box.y, box.width, box.height]

    def focused(self):
        """Describes the widget that has the keyboard, or null."""
        for node in self._matches(""):
            try:
                if node.get_state_set().contains(self._atspi.StateType.FOCUSED):
                    return self._describe(node)
            except self._glib.Error:
                continue
        return None

    # --- hands -----------------------------------------------------------------------------------------
    def ready(self, name, role="button", within=None, timeout=PATIENCE):
        """Waits until the named control is there and acts."""

        def look():
            return any("sensitive" in found["states"] for found in self.all(name, role, within))

        self._until(look, timeout, lambda: f"no {role} /{name}/ that acts; there is:\n{self.tree()}")
        return True

    def click(self, name, role="button", within=None, timeout=PATIENCE):
        """Presses the named button through its accessible action, as a screen reader's user does."""
        self.ready(name, role, within, timeout)
        node = self._one(name, role, within, timeout)
        return bool(self._atspi.Action.do_action(node, 0))

    def pointer_click(self, name, role="button", within=None, timeout=PATIENCE, at_once=False):
        """Moves the pointer over the named widget's middle and clicks, once it acts or `at_once`."""
        if not at_once:
            self.ready(name, role, within, timeout)
        x, y, width, height = self.extents(name, role, within, timeout)
        return self.pointer_click_at(x + width // 2, y + height // 2)

    def pointer_click_at(self, x, y):
        """Clicks at this place of the active window."""
        window = self._xdotool("getactivewindow")
        self._xdotool("mousemove", "--sync", "--window", window, str(x), str(y))
        self._xdotool("click", "1")
        return [x, y]

    def focus_terminal(self, name="^Terminal$"):
        """Clicks into the terminal, low enough to miss the card over it."""
        x, y, width, height = self.extents(name)
        return self.pointer_click_at(x + width // 2, y + height - 12)

    def type(self, text):
        """Types text into whatever has the keyboard."""
        self._xdotool("type", "--clearmodifiers", "--delay", "8", "--", text)

    def key(self, keys):
        """Presses keys by their X names: `Return`, `alt+1`, `ctrl+shift+j`."""
        self._xdotool("key", "--clearmodifiers", *keys)

    def key_down(self, name):
        """Presses a key and keeps it down."""
        self._xdotool("keydown", name)

    def key_up(self, name):
        """Lets a key go."""
        self._xdotool("keyup", name)

    def _xdotool(self, *arguments):
        done = subprocess.run(["xdotool", *arguments], text=True, capture_output=True, timeout=30, check=False)
        if done.returncode:
            raise Failed(f"xdotool {arguments[0]}: {done.stderr.strip() or 'failed'}")
        return done.stdout.strip()

    # --- windows ---------------------------------------------------------------------------------------
    def window(self, pid, timeout=START):
        """Waits for a visible window of a program and gives it the keyboard. Returns its X id."""

        def look():
            seen = subprocess.run(
                ["xdotool", "search", "--onlyvisible", "--pid", str(pid)], text=True, capture_output=True, timeout=30, check=False
            )
            return seen.stdout.split()

        window = self._until(look, timeout, f"no window of {pid}")[-1]
        self._xdotool("windowactivate", "--sync", window)
        return window

    def resize(self, window, width, height):
        """Gives a window a size in pixels."""
        self._xdotool("windowsize", "--sync", str(window), str(width), str(height))

    def active_window(self):
        """The X id of the window that has the keyboard, or an empty text."""
        seen = subprocess.run(["xdotool", "getactivewindow"], text=True, capture_output=True, timeout=30, check=False)
        return seen.stdout.strip()

    def minimize(self, window):
        """Takes a window off the screen."""
        self._xdotool("windowminimize", "--sync", str(window))

    def activate(self, window):
        """Brings a window back and gives it the keyboard."""
        self._xdotool("windowactivate", "--sync", str(window))

    def shot(self, path):
        """Saves a picture of the whole screen."""
        os.makedirs(os.path.dirname(path), exist_ok=True)
        subprocess.run(["import", "-window", "root", path], timeout=60, check=True, capture_output=True)
        return path

    # --- notifications ---------------------------------------------------------------------------------
    def notifications(self):
        """Every call that the notification server got, in order."""
        with open(self._notification_log, encoding="utf-8") as log:
            return [json.loads(line) for line in log]

    def notified(self, summary="", body="", after=0, timeout=PATIENCE):
        """Waits for a Notify, later than the first `after` calls, whose summary and body match."""

        def look():
            for call in self.notifications()[after:]:
                if call["call"] == "Notify" and re.search(summary, call["summary"]) and re.search(body, call["body"]):
                    return call
            return None

        return self._until(look, timeout, lambda: f"no such notification among {self.notifications()}")

    def notification_closed(self, number, timeout=PATIENCE):
        """Waits until the program has closed the notification of that id."""
        closed = {"call": "CloseNotification", "id": number}
        self._until(lambda: closed in self.notifications(), timeout, lambda: f"{number} is open: {self.notifications()}")
        return True

    def invoke(self, number, action):
        """Plays the person who clicks an action of a notification."""
        self._person("Invoke", "(us)", (number, action))

    def dismiss(self, number):
        """Plays the person who closes a notification."""
        self._person("Dismiss", "(u)", (number,))

    def _person(self, method, signature, values):
        from gi.repository import Gio, GLib

        bus = Gio.bus_get_sync(Gio.BusType.SESSION)
        name, path = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"
        bus.call_sync(name, path, "org.signaltty.Test.Person", method, GLib.Variant(signature, values), None, 0, 5000)


def descendants(pid):
    """Process ids of everything below `pid`, by the kernel's own list."""
    found = []
    for children in glob.glob(f"/proc/{pid}/task/*/children"):
        try:
            with open(children, encoding="ascii") as listed:
                below = [int(child) for child in listed.read().split()]
        except OSError:
            continue
        for child in below:
            found += [child, *descendants(child)]
    return found


def serve(desk):
    """Carries out requests until standard input ends."""
    for line in sys.stdin:
        try:
            request = json.loads(line)
            what = request.pop("do")
            if what.startswith("_") or not callable(getattr(desk, what, None)):
                raise Failed(f"a desktop cannot {what!r}")
            reply = {"ok": True, "result": getattr(desk, what)(**request)}
        except Exception as error:  # whatever went wrong, the test is to read it
            reply = {"ok": False, "error": str(error) or repr(error)}
        print(json.dumps(reply), flush=True)


def main():
    # Ended by a signal, it still ends what it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    desk = Desktop.__new__(Desktop)
    try:
        desk.__init__(**json.loads(sys.argv[1]) if len(sys.argv) > 1 else {})
        print(json.dumps({"ok": True, "result": os.environ["DISPLAY"]}), flush=True)
        serve(desk)
    except Failed as error:
        print(json.dumps({"ok": False, "error": str(error)}), flush=True)
    finally:
        desk._close()


if __name__ == "__main__":
    main()
