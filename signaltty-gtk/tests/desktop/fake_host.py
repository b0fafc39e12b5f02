"""A host for tests of the window alone: it speaks the protocol and does what the test scripts.

Its panes have no programs: `FakeHost.output` writes to a pane's viewers, and what they type is collected.
It runs in a thread of the test's own process; every method may be called from the test.
"""
import asyncio
import json
import os
import threading
import time

PROTOCOL = 1


class FakeHost:
    """One scripted host. `calls` is every request in order, as (method, params)."""

    def __init__(self, socket, inside=False):
        self.socket = socket
        self.inside = inside
        self.epoch = f"fake-{time.monotonic_ns()}"
        self.seq = 0
        self.panes = {}
        self.layout = {"tabs": []}
        self.calls = []
        self.typed = {}
        self.history = {}
        self.subscribers = set()
        self.viewers = {}
        self.hold_answers = False
        self.answer_error = None
        self.silent = False
        self._held = []
        self._counter = 0
        self._connections = set()
        self._ready = threading.Event()
        self._loop = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._ready.wait(10), "the fake host did not start"

    # --- what a test does ------------------------------------------------------------------
    def pane(self, title, **members):
        """Opens a pane and returns its id."""
        return self._do(self._open_pane, title, members)

    def ask(self, pane_id, decision_id, prompt, options=None, prev=None, **members):
        """Makes a decision pending. Options are (id, label, polarity)."""
        options = options if options is not None else [("allow", "Allow once", "grants"), ("deny", "Deny", "refuses")]
        decision = {
            "id": decision_id, "pane_id": pane_id, "kind": "permission", "prompt": prompt,
            "options": [{"id": i, "label": label, "polarity": polarity} for i, label, polarity in options],
            "fields": [], "text": "reason", "answerable": True, "asked_at": int(time.time() * 1000),
            "agent": "claude", "source": {"origin": "hook"}, "detail_kind": "command", **members}
        self._do(self._ask, pane_id, decision, prev)

    def clear(self, pane_id, reason="moved_on", **members):
        """Ends the pane's pending decision."""
        self._do(self._clear, pane_id, reason, members)

    def update_decision(self, pane_id, **members):
        """Changes the pending decision of a pane."""
        self._do(self._update_decision, pane_id, members)

    def update(self, pane_id, **members):
        """Changes a pane."""
        self._do(self._update, pane_id, members)

    def arrange(self, *roots):
        """Arranges the panes in tabs; each root is a node of a layout."""
        self._do(self._arrange, {"tabs": [{"root": root} for root in roots]})

    def output(self, pane_id, data):
        """Writes to a pane's viewers, and keeps it for those that attach later."""
        self._do(self._output, pane_id, data if isinstance(data, bytes) else data.encode())

    def release(self):
        """Answers the `decision.answer` requests that `hold_answers` kept waiting."""
        self._do(self._release)

    def answers(self):
        """Parameters of every `decision.answer` so far."""
        return [params for method, params in list(self.calls) if method == "decision.answer"]

    def resizes(self):
        """Parameters of every `pane.resize` so far."""
        return [params for method, params in list(self.calls) if method == "pane.resize"]

    def close(self, pane_id):
        """Closes a pane, as another client or the end of its only question does."""
        self._do(self._close_pane, pane_id)

    def restart(self):
        """Becomes another run of the host: it knows its panes, and no decision until that comes back."""
        self._do(self._restart)

    def fall_silent(self):
        """Ends every connection, takes new ones, and says nothing."""
        self.silent = True
        self.drop_all()

    def drop_all(self):
        """Ends every connection, as a host that is killed does."""
        self._do(self._drop_all)

    def stop(self):
        """Ends the host."""
        self.drop_all()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        if os.path.exists(self.socket):
            os.unlink(self.socket)

    # --- inside ----------------------------------------------------------------------------
    def _do(self, function, *arguments):
        async def call():
            return function(*arguments)
        return asyncio.run_coroutine_threadsafe(call(), self._loop).result(10)

    def _run(self):
        self._loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self._loop)
        os.makedirs(os.path.dirname(self.socket), mode=0o700, exist_ok=True)
        self._server = self._loop.run_until_complete(
            asyncio.start_unix_server(self._serve, self.socket, limit=2 ** 24))
        self._ready.set()
        self._loop.run_forever()

    def _open_pane(self, title, members):
        self._counter += 1
        pane_id = members.pop("id", f"pane-{self._counter}")
        now = int(time.time() * 1000)
        self.panes[pane_id] = {
            "id": pane_id, "title": title, "argv": ["bash"], "cwd": os.path.expanduser("~/project"),
            "size": {"cols": 100, "rows": 30}, "terminal": True, "lifecycle": "working", "since": now,
            "attention": [], "queued": 0, "created_at": now + self._counter, **members}
        self.history[pane_id] = b""
        self.typed[pane_id] = b""
        self.viewers[pane_id] = set()
        self._event("pane.created", {"pane": self.panes[pane_id]})
        return pane_id

    def _ask(self, pane_id, decision, prev):
        self.panes[pane_id].update(decision=decision, lifecycle="blocked", attention=["permission_required"])
        data = {"decision": decision}
        if prev:
            data["prev"] = prev
        self._event("decision.created", data)
        self._event("pane.updated", {"pane": self.panes[pane_id]})

    def _clear(self, pane_id, reason, members):
        decision = self.panes[pane_id].pop("decision", None)
        self.panes[pane_id].update(lifecycle="working", attention=[])
        if decision:
            self._event("decision.cleared",
                        {"pane_id": pane_id, "decision_id": decision["id"], "reason": reason, **members})
        self._event("pane.updated", {"pane": self.panes[pane_id]})

    def _update_decision(self, pane_id, members):
        self.panes[pane_id]["decision"].update(members)
        self._event("decision.updated", {"decision": self.panes[pane_id]["decision"]})

    def _update(self, pane_id, members):
        self.panes[pane_id].update(members)
        self._event("pane.updated", {"pane": self.panes[pane_id]})

    def _output(self, pane_id, data):
        self.history[pane_id] += data
        for writer in self.viewers[pane_id]:
            writer.write(data)

    def _arrange(self, layout):
        self.layout = layout
        self._event("layout.changed", {"layout": self.layout})

    def _close_pane(self, pane_id):
        self.panes.pop(pane_id, None)
        self._event("pane.closed", {"pane_id": pane_id})

    def _restart(self):
        self.epoch = f"fake-{time.monotonic_ns()}"
        self.seq = 0
        for pane in self.panes.values():
            pane.pop("decision", None)
            pane.update(lifecycle="working", attention=[])
        self._drop_all()

    def _drop_all(self):
        for writer in list(self._connections):
            writer.transport.abort()

    def _event(self, name, data):
        self.seq += 1
        line = json.dumps({"event": name, "seq": self.seq, "data": data}).encode() + b"\n"
        for writer in self.subscribers:
            writer.write(line)

    async def _serve(self, reader, writer):
        self._connections.add(writer)
        try:
            while line := await reader.readline():
                if self.silent:
                    continue
                request = json.loads(line)
                method, params = request["method"], request.get("params") or {}
                self.calls.append((method, params))
                if method == "pane.attach":
                    await self._attach(request, reader, writer)
                    return
                self._answer(request, method, params, writer)
                await writer.drain()
        except (ConnectionError, OSError):
            pass
        finally:
            self._connections.discard(writer)
            self.subscribers.discard(writer)
            writer.close()

    async def _attach(self, request, reader, writer):
        pane_id = request["params"]["pane_id"]
        if request["params"].get("size"):
            self.panes[pane_id]["size"] = request["params"]["size"]
        self._reply(writer, request, {"size": self.panes[pane_id]["size"]})
        writer.write(self.history[pane_id])
        self.viewers[pane_id].add(writer)
        try:
            while data := await reader.read(65536):
                self.typed[pane_id] += data
        finally:
            self.viewers.get(pane_id, set()).discard(writer)

    def _answer(self, request, method, params, writer):
        if method == "hello":
            self._reply(writer, request, {
                "protocol": PROTOCOL, "host": "fake", "epoch": self.epoch, "inside": self.inside})
        elif method == "subscribe":
            self.subscribers.add(writer)
            if params.get("epoch") == self.epoch and params.get("from") is not None:
                self._reply(writer, request, {"epoch": self.epoch, "seq": self.seq})
            else:
                self._reply(writer, request, {
                    "panes": list(self.panes.values()), "layout": self.layout, "epoch": self.epoch, "seq": self.seq})
        elif method == "pane.spawn":
            pane_id = self._open_pane(params.get("title") or os.path.basename(params["argv"][0]),
                                      {"argv": params["argv"], "cwd": params["cwd"], "lifecycle": "unknown"})
            self._reply(writer, request, {"pane_id": pane_id})
        elif method == "pane.close":
            self._close_pane(params["pane_id"])
            self._reply(writer, request, {})
        elif method == "pane.mark_seen":
            pane = self.panes[params["pane_id"]]
            pane["attention"] = [reason for reason in pane["attention"] if reason != "unread"]
            self._event("pane.updated", {"pane": pane})
            self._reply(writer, request, {})
        elif method == "pane.resize":
            self.panes[params["pane_id"]]["size"] = {"cols": params["cols"], "rows": params["rows"]}
            self._reply(writer, request, {})
        elif method == "layout.set":
            self._arrange(params["layout"])
            self._reply(writer, request, {})
        elif method == "decision.answer":
            if self.hold_answers:
                self._held.append((request, params, writer))
            else:
                self._decide(request, params, writer)
        else:
            self._fail(writer, request, "UNKNOWN_METHOD", f"no method {method}")

    def _release(self):
        held, self._held = self._held, []
        for request, params, writer in held:
            self._decide(request, params, writer)

    def _decide(self, request, params, writer):
        if self.answer_error:
            self._fail(writer, request, **self.answer_error)
            return
        decision = self.panes[params["pane_id"]].get("decision")
        if not decision or decision["id"] != params["decision_id"]:
            self._fail(writer, request, "NO_SUCH_DECISION", "it ended", {"state": "moved_on"})
            return
        applied = {key: params[key] for key in ("option_id", "text", "values") if params.get(key) is not None}
        if "text" in applied and "option_id" not in applied and decision["text"] == "reason":
            applied["option_id"] = "deny"
        label = next((o["label"] for o in decision["options"] if o["id"] == applied.get("option_id")), None)
        self._clear(params["pane_id"], "answered", {
            "applied": applied, **({"applied_label": label} if label else {}), "by": "signaltty-gtk 0.1.0",
            "via": params.get("via")})
        self._reply(writer, request, {"applied": applied})

    @staticmethod
    def _reply(writer, request, result):
        writer.write(json.dumps({"id": request["id"], "result": result}).encode() + b"\n")

    @staticmethod
    def _fail(writer, request, code, message, data=None):
        error = {"code": code, "message": message, **({"data": data} if data else {})}
        writer.write(json.dumps({"id": request["id"], "error": error}).encode() + b"\n")
