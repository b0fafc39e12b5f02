#!/usr/bin/python3
"""A notification server that records what it is sent and can be told what the person clicked.

usage: notifications.py LOG [CAPABILITY…]

Owns org.freedesktop.Notifications on the session bus. Every call is one JSON line in LOG:
{"call": "Notify", "id": 1, "summary": …, "body": …, "actions": [key, label, …], "hints": {…}, "replaces": 0} and
{"call": "CloseNotification", "id": 1}. An interface of its own on the same object plays the person:
org.signaltty.Test.Person.Invoke(id, action) emits ActivationToken and ActionInvoked, and closes the notification;
Dismiss(id) closes it alone.
"""

import json
import sys

from gi.repository import Gio, GLib

PATH = "/org/freedesktop/Notifications"
SERVER = "org.freedesktop.Notifications"
INTERFACES = """
<node>
  <interface name="org.freedesktop.Notifications">
    <method name="GetCapabilities"><arg direction="out" type="as"/></method>
    <method name="GetServerInformation">
      <arg direction="out" type="s"/><arg direction="out" type="s"/>
      <arg direction="out" type="s"/><arg direction="out" type="s"/>
    </method>
    <method name="Notify">
      <arg direction="in" type="s"/><arg direction="in" type="u"/><arg direction="in" type="s"/>
      <arg direction="in" type="s"/><arg direction="in" type="s"/><arg direction="in" type="as"/>
      <arg direction="in" type="a{sv}"/><arg direction="in" type="i"/><arg direction="out" type="u"/>
    </method>
    <method name="CloseNotification"><arg direction="in" type="u"/></method>
    <signal name="NotificationClosed"><arg type="u"/><arg type="u"/></signal>
    <signal name="ActionInvoked"><arg type="u"/><arg type="s"/></signal>
    <signal name="ActivationToken"><arg type="u"/><arg type="s"/></signal>
  </interface>
  <interface name="org.signaltty.Test.Person">
    <method name="Invoke"><arg direction="in" type="u"/><arg direction="in" type="s"/></method>
    <method name="Dismiss"><arg direction="in" type="u"/></method>
  </interface>
</node>
"""
# Reasons of NotificationClosed.
DISMISSED, CLOSED_BY_CALL = 2, 3


class Server:
    def __init__(self, log, capabilities):
        self.log = open(log, "a", encoding="utf-8", buffering=1)
        self.capabilities = capabilities
        self.last = 0
        self.open = set()

    def record(self, **line):
        self.log.write(json.dumps(line) + "\n")

    def on_bus(self, bus, _name):
        self.bus = bus
        for interface in Gio.DBusNodeInfo.new_for_xml(INTERFACES).interfaces:
            bus.register_object(PATH, interface, self.on_call, None, None)

    def emit(self, signal, *values):
        self.bus.emit_signal(None, PATH, SERVER, signal, GLib.Variant("(us)" if signal != "NotificationClosed" else "(uu)", values))

    def close(self, number, reason):
        if number in self.open:
            self.open.discard(number)
            self.emit("NotificationClosed", number, reason)

    def on_call(self, _bus, _sender, _path, _interface, method, parameters, invocation):
        given = parameters.unpack()
        reply = None
        if method == "GetCapabilities":
            reply = GLib.Variant("(as)", (self.capabilities,))
        elif method == "GetServerInformation":
            reply = GLib.Variant("(ssss)", ("test", "signaltty", "1", "1.2"))
        elif method == "Notify":
            app, replaces, icon, summary, body, actions, hints, _timeout = given
            if replaces:
                number = replaces
            else:
                self.last += 1
                number = self.last
            self.open.add(number)
            self.record(call="Notify", id=number, app=app, icon=icon, summary=summary, body=body, actions=actions, hints={k: str(v) for k, v in hints.items()}, replaces=replaces)
            reply = GLib.Variant("(u)", (number,))
        elif method == "CloseNotification":
            self.record(call="CloseNotification", id=given[0])
            self.close(given[0], CLOSED_BY_CALL)
        elif method == "Invoke":
            self.emit("ActivationToken", given[0], "a-token-of-the-test")
            self.emit("ActionInvoked", *given)
            self.close(given[0], DISMISSED)
        elif method == "Dismiss":
            self.close(given[0], DISMISSED)
        invocation.return_value(reply)


def main():
    server = Server(sys.argv[1], sys.argv[2:] or ["actions", "body", "persistence"])
    loop = GLib.MainLoop()
    Gio.bus_own_name(Gio.BusType.SESSION, SERVER, Gio.BusNameOwnerFlags.NONE, server.on_bus, None, lambda *_: loop.quit())
    loop.run()


if __name__ == "__main__":
    main()
