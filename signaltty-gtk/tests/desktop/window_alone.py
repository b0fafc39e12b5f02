#!/usr/bin/python3
"""The window against a scripted host: what no real agent can be made to do at the right moment.

    window_alone.py PROGRAM SCENARIO [PICTURE]

Each scenario is a function below, named after what it holds. A failure raises, with what was there instead.
"""

import os
import re
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from desk import Desktop, Failed  # noqa: E402
from fake_host import FakeHost  # noqa: E402

# Seconds that something gets to happen: generous, since nothing waits longer than it takes.
PATIENCE = 15.0
# Seconds in which something that must not happen would have happened.
NEVER = 1.0
ENTRY = "text|entry"
ALLOW, DENY = "^Allow once$", "^Deny$"


class Scene:
    """A desktop, a scripted host with one pane, and the window."""

    def __init__(self, desk, program, inside=False):
        self.desk = desk
        self.program = program
        self.host = FakeHost(os.path.join(os.environ["XDG_RUNTIME_DIR"], "signaltty", "host.sock"), inside)
        self.pane = self.host.pane("fix the parser", agent="agent")
        self.log = os.path.join(os.environ["XDG_RUNTIME_DIR"], "window.log")
        self.process = desk.launch([program], log=self.log, env={"SIGNALTTY_LOG": "debug"})
        self.window = desk.window(self.process)
        desk.find("^Terminal$")
        # Laid out for good: nobody has to tell a change of size of ours from this one.
        self.until(lambda: self.host.viewers[self.pane], "the terminal is attached")
        self.settled()

    def until(self, look, what, timeout=PATIENCE):
        end = time.monotonic() + timeout
        while not (found := look()):
            assert time.monotonic() < end, f"not: {what}\n{self.desk.tree()}"
            time.sleep(0.02)
        return found

    def never(self, look, what):
        end = time.monotonic() + NEVER
        while time.monotonic() < end:
            assert not look(), what
            time.sleep(0.02)

    def settled(self):
        """Waits until the window has sent no size for a while."""
        count = -1
        while count != len(self.host.resizes()):
            count = len(self.host.resizes())
            time.sleep(0.5)

    def typed(self):
        return self.host.typed[self.pane].decode()

    def focus_terminal(self):
        self.desk.focus_terminal()
        self.until(lambda: (self.desk.focused() or {}).get("name") == "Terminal", "the terminal has the keyboard")

    def into_reply(self):
        self.desk.pointer_click("^Reply$", ENTRY)
        self.until(lambda: "text" in (self.desk.focused() or {}).get("role", ""), "the entry has the keyboard")

    def reply_text(self):
        return self.desk.text("^Reply$", ENTRY)

    def answers(self, count):
        self.until(lambda: len(self.host.answers()) >= count, f"{count} answers; there are {self.host.answers()}")
        return self.host.answers()


def showing_and_hiding_a_question_never_resizes_nor_rebuilds_the_terminal(scene):
    host, desk, pane = scene.host, scene.desk, scene.pane
    terminal = desk.find("^Terminal$")["path"]
    before = len(host.resizes())
    host.ask(pane, "d1", "Run this?", detail="\n".join(f"echo step {n}" for n in range(200)))
    desk.find(ALLOW, "button")
    host.ask(pane, "d2", "And " + "a very long question, " * 60, prev="d1", text="none")
    desk.find("^And a very long", "label")
    desk.click("^Fold request$", within=None)
    desk.gone("^Copy request$", "button")
    desk.click("^Show request$")
    desk.find("^Copy request$", "button")
    host.clear(pane)
    desk.gone(ALLOW, "button")
    scene.settled()
    assert host.resizes()[before:] == [], host.resizes()[before:]
    assert desk.find("^Terminal$")["path"] == terminal


def the_bar_never_takes_the_keyboard(scene):
    host, desk, pane = scene.host, scene.desk, scene.pane
    scene.focus_terminal()
    host.ask(pane, "d1", "Run this?", detail="make")
    desk.ready(ALLOW)
    desk.type("ls")
    desk.key(["Return"])
    scene.until(lambda: scene.typed() == "ls\r", f"what was typed reached the terminal: {scene.typed()!r}")
    desk.pointer_click(DENY)
    assert scene.answers(1)[0]["option_id"] == "deny"
    desk.gone(DENY, "button")
    desk.type("more")
    scene.until(lambda: scene.typed() == "ls\rmore", f"a click left the keyboard where it was: {scene.typed()!r}")


def a_click_meant_for_one_question_answers_no_other(scene):
    host, desk, pane = scene.host, scene.desk, scene.pane
    host.ask(pane, "d1", "First?", detail="true")
    desk.ready(ALLOW)
    x, y, width, height = desk.extents(ALLOW, "button")
    for number in range(2, 6):
        host.ask(pane, f"d{number}", f"Question {number}?", detail="rm -r /", prev=f"d{number - 1}")
        desk.pointer_click_at(x + width // 2, y + height // 2)
        for answer in host.answers():
            # A slow machine may be past the guard; then it is the answer to what is shown, never to another.
            assert answer["decision_id"] == f"d{number}", answer
        if host.answers():
            return
    desk.click(ALLOW)
    assert scene.answers(1)[0]["decision_id"] == "d5"


def a_key_held_since_before_the_card_answers_nothing_until_it_was_let_go(scene):
    host, desk, pane = scene.host, scene.desk, scene.pane
    scene.focus_terminal()
    desk.key_down("alt")
    desk.key_down("1")
    host.ask(pane, "d1", "Run this?", detail="make")
    desk.ready(ALLOW)
    # The key repeats all the while, past the guard too.
    scene.never(host.answers, "a held key answered")
    desk.key_up("1")
    desk.key_down("1")
    desk.key_up("1")
    desk.key_up("alt")
    assert scene.answers(1) == [{"pane_id": pane, "decision_id": "d1", "option_id": "allow", "via": "window"}]


def only_a_chord_on_the_visible_card_answers(scene):
    host, desk, pane = scene.host, scene.desk, scene.pane
    scene.focus_terminal()
    host.ask(pane, "d1", "Run this?", detail="make")
    desk.ready(ALLOW)
    desk.key(["alt+0"])
    desk.gone("^Copy request$", "button")
    desk.key(["alt+1"])
    scene.never(host.answers, "a chord answered what was folded away")
    assert "1" not in scene.typed(), "the chord reached the program"
    desk.key(["alt+0"])
    desk.find("^Copy request$", "button")
    desk.key(["alt+2"])
    assert scene.answers(1)[0]["option_id"] == "deny"


def enter_and_space_on_an_option_answer_nothing(scene):
    host, desk, pane = scene.host, scene.desk, scene.pane
    host.ask(pane, "d1", "Run this?", detail="make")
    desk.ready(ALLOW)
    scene.into_reply()
    desk.key(["shift+Tab"])
    scene.until(lambda: (desk.focused() or {}).get("name") == "Deny", "an option has the keyboard")
    desk.key(["Return"])
    desk.key(["space"])
    scene.never(host.answers, "a bare key answered")
    # Its question ends: what is typed next must not fall into the terminal.
    host.clear(pane)
    desk.gone(ALLOW, "button")
    desk.type("y")
    desk.key(["Return"])
    scene.never(lambda: scene.typed(), f"keys fell into the terminal: {scene.typed()!r}")
    desk.key(["Escape"])
    desk.type("now")
    scene.until(lambda: scene.typed() == "now", f"Esc leads back to the terminal: {scene.typed()!r}")


def a_reply_stays_with_its_question(scene):
    host, desk, pane = scene.host, scene.desk, scene.pane
    host.ask(pane, "d1", "Deploy?", detail="make deploy")
    scene.into_reply()
    desk.type("use the stag")
    host.clear(pane)
    desk.find("This question ended", "label")
    host.ask(pane, "d2", "And now?", detail="make now")
    desk.find("^And now", "label")
    desk.type("ing registry")
    desk.key(["Return"])
    scene.never(host.answers, "the first one's words answered the second")
    assert scene.reply_text() == "use the staging registry"
    # A refusal by a click does not take them along either.
    desk.click(DENY)
    assert "text" not in scene.answers(1)[0], host.answers()
    host.ask(pane, "d3", "And then?", detail="make then")
    desk.click("^Use this text here$")
    desk.click("^Send reply$")
    sent = scene.answers(2)[1]
    assert sent["decision_id"] == "d3" and sent["text"] == "use the staging registry", sent
    assert scene.typed() == "", scene.typed()


def a_grant_never_takes_the_words_along_and_a_refusal_does(scene):
    host, desk, pane = scene.host, scene.desk, scene.pane
    for number, (button, expected) in enumerate([(ALLOW, None), (DENY, "not today")]):
        host.ask(pane, f"d{number}", f"Question {number}?", detail="make")
        desk.find(f"^Question {number}", "label")
        if number:
            desk.pointer_click("^Reply$", ENTRY)
            desk.key(["ctrl+a"])
            desk.key(["Delete"])
        scene.into_reply()
        desk.type("not today")
        desk.click(button)
        assert scene.answers(number + 1)[number].get("text") == expected, host.answers()
        desk.gone(ALLOW, "button")


def a_typed_reply_goes_as_it_is(scene):
    host, desk, pane = scene.host, scene.desk, scene.pane
    host.ask(pane, "d1", "Deploy?", detail="make deploy")
    scene.into_reply()
    desk.type(" DENY ")
    desk.key(["Return"])
    sent = scene.answers(1)[0]
    assert sent == {"pane_id": pane, "decision_id": "d1", "text": " DENY ", "via": "window"}, sent
    desk.gone(ALLOW, "button")
    # It was sent: nothing is left to hold the card open, and the keyboard is not in the terminal.
    desk.gone("^Reply$", ENTRY)
    desk.type("y")
    scene.never(lambda: scene.typed(), "a key fell into the terminal")


def what_is_lowered_to_a_hint_loses_its_buttons(scene):
    host, desk, pane = scene.host, scene.desk, scene.pane
    host.ask(pane, "d1", "Run this?", detail="make")
    desk.ready(ALLOW)
    host.update_decision(pane, answerable=False, text="none")
    desk.gone(ALLOW, "button")
    desk.gone("^(Reply|Send reply)$")
    desk.find("Allow once", "label")
    desk.click("^Go to terminal$")
    desk.type("1")
    scene.until(lambda: scene.typed() == "1", "the button leads to the terminal")
    assert host.answers() == []


def a_form_raised_to_answerable_has_its_fields_and_goes_by_its_chord_alone(scene):
    host, desk, pane = scene.host, scene.desk, scene.pane
    fields = [{"id": "why", "type": "string", "label": "Why now?"}]
    host.ask(pane, "d1", "Set it up", kind="form", text="none", answerable=False, fields=fields, options=[])
    desk.find("Why now", "label")
    host.update_decision(pane, answerable=True)
    desk.ready("^Send answers$")
    desk.pointer_click("^Why now", ENTRY)
    desk.type("because")
    desk.key(["Tab"])
    scene.until(lambda: (desk.focused() or {}).get("name") == "Send answers", "the button has the keyboard")
    desk.key(["Return"])
    desk.key(["space"])
    scene.never(host.answers, "a bare key sent a form")
    desk.key(["alt+1"])
    sent = scene.answers(1)[0]
    assert sent == {"pane_id": pane, "decision_id": "d1", "values": {"why": "because"}, "via": "window"}, sent


def a_question_that_the_strip_would_cut_has_a_card(scene):
    host, desk, pane = scene.host, scene.desk, scene.pane
    other = host.pane("notes")
    host.ask(pane, "d1", "Deploy to production now?", text="none")
    desk.ready(ALLOW)
    assert not desk.has("^Copy request$", "button"), "the strip holds it all"
    half = {"type": "pane", "pane_id": other}
    third = host.pane("more")
    host.arrange({"type": "split", "direction": "right", "share": 0.5,
                  "first": {"type": "split", "direction": "right", "share": 0.5,
                            "first": {"type": "pane", "pane_id": pane}, "second": half},
                  "second": {"type": "pane", "pane_id": third}})
    desk.find("^Copy request$", "button")
    desk.click("^Deny$")
    assert scene.answers(1)[0]["option_id"] == "deny"


def words_typed_on_under_a_question_that_takes_none_are_kept_and_told(scene):
    host, desk, pane = scene.host, scene.desk, scene.pane
    host.ask(pane, "d1", "Deploy?", detail="make deploy")
    scene.into_reply()
    desk.type("use the stag")
    host.clear(pane, "expired")
    host.ask(pane, "d2", "May I?", text="none", answerable=False)
    desk.find("takes no text", "label")
    desk.find("Before this: Expired before an answer", "label")
    desk.type("ing")
    desk.key(["Return"])
    scene.never(host.answers, "words went to a question that takes none")
    assert scene.reply_text() == "use the staging" and scene.typed() == "", scene.typed()
    scene.focus_terminal()
    desk.gone("^Reply$", ENTRY)


def every_outcome_is_told(scene):
    host, desk, pane = scene.host, scene.desk, scene.pane
    host.ask(pane, "d1", "One?", detail="make")
    desk.ready(ALLOW)
    host.hold_answers = True
    desk.click(ALLOW)
    desk.find("^Sending", "label")
    host.hold_answers = False
    host.release()
    desk.find("Allow once · answered by you, here", "label")

    host.ask(pane, "d2", "Two?", detail="make")
    desk.ready(ALLOW)
    host.clear(pane, "answered", applied={"option_id": "deny"}, applied_label="Deny", by="signaltty 0.1.0", via="cli")
    desk.find(r"Deny · answered by signaltty 0\.1\.0 \(cli\)", "label")

    host.ask(pane, "d3", "Three?", detail="make")
    desk.ready(ALLOW)
    host.clear(pane, "expired")
    desk.find("Expired before an answer", "label")

    host.ask(pane, "d4", "Four?", detail="make")
    desk.ready(ALLOW)
    host.answer_error = {"code": "DELIVERY_FAILED", "message": "the hook is gone"}
    desk.click(ALLOW)
    desk.find("Could not be delivered: the hook is gone", "label")
    host.answer_error = None

    host.ask(pane, "d5", "Five?", detail="make", prev="d4")
    desk.ready(ALLOW)
    host.answer_error = {"code": "NO_SUCH_DECISION", "message": "late", "data": {
        "state": "answered", "applied": {"option_id": "deny"}, "by": "signaltty 0.1.0", "via": "cli"}}
    desk.click(ALLOW)
    desk.find("Not sent: answered by signaltty", "label")


def a_lost_host_is_told_and_found_again(scene):
    host, desk, pane = scene.host, scene.desk, scene.pane
    terminal = desk.find("^Terminal$")["path"]
    host.ask(pane, "d1", "Run this?", detail="make")
    desk.ready(ALLOW)
    host.drop_all()
    scene.until(lambda: len([call for call in host.calls if call[0] == "subscribe"]) >= 2, "it subscribed again")
    scene.until(lambda: len([call for call in host.calls if call[0] == "pane.attach"]) >= 2, "it attached again")
    assert desk.find("^Terminal$")["path"] == terminal
    desk.click(ALLOW)
    assert scene.answers(1)[0]["decision_id"] == "d1"
    scene.focus_terminal()
    desk.type("on")
    scene.until(lambda: scene.typed() == "on", "the terminal is live again")


def a_question_out_of_sight_is_notified_and_answered_from_there(scene):
    host, desk, pane = scene.host, scene.desk, scene.pane
    desk.minimize(scene.window)
    host.ask(pane, "d1", "Run <this> & that?", detail="make deploy")
    told = desk.notified(body="make deploy")
    assert "Run <this> & that?" in told["body"], "escaped for a server that takes no markup"
    actions = dict(zip(told["actions"][1::2], told["actions"][::2]))
    assert list(actions) == ["Open", "Allow once", "Deny"], actions
    # Anybody on the bus can send this signal; it is not the notification service's.
    forge(told["id"], actions["Allow once"])
    scene.never(host.answers, "a forged action answered")
    desk.invoke(told["id"], actions["Allow once"])
    assert scene.answers(1) == [{"pane_id": pane, "decision_id": "d1", "option_id": "allow", "via": "notification"}]
    desk.notification_closed(told["id"])

    # Pressed once more when another question stands there: it answers nothing and says so.
    before = len(desk.notifications())
    host.ask(pane, "d2", "Another?", detail="make again")
    desk.notified(body="make again", after=before)
    desk.invoke(told["id"], actions["Allow once"])
    desk.notified(summary="has ended", after=before)
    assert len(host.answers()) == 1, host.answers()


def a_question_in_sight_is_not_notified(scene):
    host, desk, pane = scene.host, scene.desk, scene.pane
    other = host.pane("release notes")
    host.ask(pane, "d1", "In sight?", detail="make")
    desk.ready(ALLOW)
    host.ask(other, "d2", "Out of sight?", detail="make")
    told = desk.notified(body="Out of sight")
    assert not [call for call in desk.notifications() if "In sight" in call.get("body", "")]
    # The notification itself leads to its pane.
    desk.invoke(told["id"], "default")
    desk.find("^release notes · SignalTTY$", "frame")
    desk.find("^Out of sight", "label")
    assert host.answers() == []


def a_window_inside_a_pane_says_that_it_cannot_answer(scene):
    scene.desk.find("started inside a pane, so it cannot answer", "label")


def the_jump_goes_to_the_longest_waiting_pane(scene):
    host, desk = scene.host, scene.desk
    late, early = host.pane("late"), host.pane("early")
    now = int(time.time() * 1000)
    host.ask(late, "d1", "Late?", asked_at=now - 1_000)
    host.ask(early, "d2", "Early?", asked_at=now - 60_000)
    desk.find("^2 panes ask$", "button")
    for title in ("early", "late", "early"):
        desk.key(["ctrl+shift+j"])
        desk.find(f"^{title} · SignalTTY$", "frame")


def splitting_moves_terminals_and_makes_none_anew(scene):
    host, desk, pane = scene.host, scene.desk, scene.pane
    other = host.pane("notes")
    desk.find("^notes, ", "list item")
    scene.focus_terminal()
    host.arrange({"type": "split", "direction": "right", "share": 0.5,
                  "first": {"type": "pane", "pane_id": pane}, "second": {"type": "pane", "pane_id": other}})
    # Beside each other both are in sight, so both are attached and the first has become narrower.
    scene.until(lambda: host.viewers[other], "the second pane is attached")
    scene.until(lambda: host.panes[pane]["size"]["cols"] < 70, "the first is told its new size")
    # A terminal that was made anew would attach anew.
    attached = [params["pane_id"] for method, params in list(host.calls) if method == "pane.attach"]
    assert attached == [pane, other], attached
    desk.type("still here")
    scene.until(lambda: scene.typed() == "still here", "the keyboard stays where it was")
    # And a split that the person asks for is kept by the host.
    desk.key(["ctrl+shift+o"])
    desk.find("^Command", ENTRY)
    desk.type("cat")
    desk.key(["Return"])
    layout = scene.until(
        lambda: next((params for method, params in list(host.calls) if method == "layout.set"), None),
        "the host is told of the split")
    first = layout["layout"]["tabs"][0]["root"]["first"]
    assert first["direction"] == "down" and first["first"]["pane_id"] == pane, layout


def a_flood_of_output_leaves_the_window_responsive(scene):
    host, desk, pane = scene.host, scene.desk, scene.pane
    line = "0123456789" * 9 + "\r\n"
    host.output(pane, line * 200_000)
    host.ask(pane, "d1", "Run this?", detail="make")
    desk.click(ALLOW)
    assert scene.answers(1)[0]["option_id"] == "allow"
    with open(scene.log, encoding="utf-8") as log:
        assert "did not say that it was done" not in log.read()


def the_rest_of_a_sentence_reaches_no_terminal_when_its_pane_goes(scene):
    host, desk = scene.host, scene.desk
    other = host.pane("from a script", terminal=False)
    host.ask(other, "d1", "Which one?", detail="make")
    desk.find("^1 pane asks$", "button")
    desk.key(["ctrl+shift+j"])
    desk.find("^from a script · SignalTTY$", "frame")
    scene.into_reply()
    desk.type("use the sta")
    host.close(other)
    desk.find("^fix the parser · SignalTTY$", "frame")
    desk.type("ging")
    desk.key(["Return"])
    scene.never(lambda: scene.typed(), "the rest of the sentence reached a terminal")
    desk.key(["Escape"])
    desk.type("on")
    scene.until(lambda: scene.typed() == "on", f"Esc leads on into the terminal: {scene.typed()!r}")


def looking_along_the_sidebar_leaves_the_keyboard_in_it(scene):
    host, desk, pane = scene.host, scene.desk, scene.pane
    other = host.pane("from a script", terminal=False)
    host.ask(other, "d1", "Which one?", detail="make")
    desk.find("^1 pane asks$", "button")
    desk.key(["ctrl+shift+j"])
    desk.find("^from a script · SignalTTY$", "frame")
    for _ in range(30):
        if "list item" in (desk.focused() or {}).get("role", ""):
            break
        desk.key(["shift+Tab"])
    assert "list item" in desk.focused()["role"], desk.focused()
    # The one that asks is the first.
    desk.key(["Down"])
    desk.find("^fix the parser · SignalTTY$", "frame")
    desk.type("x")
    scene.never(lambda: scene.typed(), "a letter typed in the list reached a terminal")
    desk.key(["Return"])
    desk.type("y")
    scene.until(lambda: scene.typed() == "y", f"Enter leads into the terminal: {scene.typed()!r}")


def a_process_that_calls_for_a_pane_gets_no_keyboard_into_its_terminal(scene):
    host, desk, pane = scene.host, scene.desk, scene.pane
    other = host.pane("notes")
    desk.find("^notes, ", "list item")
    scene.focus_terminal()
    desk.launch([scene.program, "--pane", other])
    desk.find("^notes · SignalTTY$", "frame")
    desk.type("y")
    desk.key(["Return"])
    scene.never(lambda: host.typed[pane] + host.typed[other], "the keyboard was moved into a terminal")


def neither_a_question_from_outside_nor_a_lost_host_takes_rows_from_a_terminal(scene):
    host, desk, pane = scene.host, scene.desk, scene.pane
    before, sizes = desk.extents("^Terminal$"), len(host.resizes())
    other = host.pane("from a script", terminal=False)
    host.ask(other, "d1", "Which one?")
    desk.find("^from a script, ", "list item")
    scene.settled()
    assert desk.extents("^Terminal$") == before
    host.close(other)
    desk.gone("^from a script, ", "list item")
    host.fall_silent()
    desk.find("^The connection to the host was lost", "label")
    scene.settled()
    assert desk.extents("^Terminal$") == before
    assert host.resizes()[sizes:] == [], host.resizes()[sizes:]
    desk.click("^Hide this message$")


def a_question_outlives_a_restart_of_its_host(scene):
    host, desk, pane = scene.host, scene.desk, scene.pane
    host.ask(pane, "d1", "Run this?", detail="make")
    desk.ready(ALLOW)
    scene.into_reply()
    desk.type("use staging")
    host.restart()
    desk.find("waiting for the question to come back", "label")
    desk.key(["Return"])
    host.ask(pane, "d1", "Run this?", detail="make")
    desk.ready(ALLOW)
    assert scene.reply_text() == "use staging"
    assert host.answers() == [], "it answered nothing while it was away"
    desk.key(["Return"])
    assert scene.answers(1)[0]["text"] == "use staging"
    # One that does not come back is given up.
    host.ask(pane, "d2", "And this?", detail="make")
    desk.ready(ALLOW)
    host.restart()
    desk.gone(ALLOW, "button")
    desk.find("It ended meanwhile", "label")


def forge(number, action):
    """Sends ActionInvoked to everybody from a connection that does not own the service's name."""
    from gi.repository import Gio, GLib

    address = os.environ["DBUS_SESSION_BUS_ADDRESS"]
    flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
    bus = Gio.DBusConnection.new_for_address_sync(address, flags, None, None)
    for listener in bus.call_sync(
        "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "ListNames", None, None, 0, 5000
    ).unpack()[0]:
        if listener.startswith(":"):
            bus.emit_signal(
                listener, "/org/freedesktop/Notifications", "org.freedesktop.Notifications", "ActionInvoked",
                GLib.Variant("(us)", (number, action)))
    bus.flush_sync(None)
    bus.close_sync(None)


def main():
    program, name = sys.argv[1:3]
    desk = Desktop.__new__(Desktop)
    scene = None
    try:
        desk.__init__()
        scene = Scene(desk, program, inside=name == "a_window_inside_a_pane_says_that_it_cannot_answer")
        globals()[name](scene)
    except Exception:
        if len(sys.argv) > 3:
            desk.shot(sys.argv[3])
        if scene:
            with open(scene.log, encoding="utf-8") as log:
                print("the window said:\n" + re.sub(r"\x1b\[[0-9;]*m", "", log.read())[-4000:], file=sys.stderr)
        raise
    finally:
        desk._close()


if __name__ == "__main__":
    main()
