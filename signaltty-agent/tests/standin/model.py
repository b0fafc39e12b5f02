#!/usr/bin/env python3
"""A stand-in for the vendors' model servers: scripted, on loopback only, standard library only.

It speaks the two streaming APIs that the agents under test use:

    POST …/responses   OpenAI Responses
    POST …/messages    Anthropic Messages

What the "model" does is written into the user's prompt. Each directive is one step; when the k-th has its
tool result, the next one runs; when all are used up the model answers in words that begin with "ALL-DONE" and
repeat the last tool result.

    [[sh CMD]]           call the agent's shell tool with CMD
    [[par A ;; B]]       two (or more) shell calls in one turn
    [[write PATH TEXT]]  call the agent's tool that writes a file
    [[call NAME JSON]]   call any tool with these arguments

Every request is appended to --log, one JSON object a line, so that a test sees what the model was told:
{"kind": "responses"|"messages"|"other", "path": …, "tools": [NAME…], "body": …}.

usage: model.py --log FILE --port-file FILE [--seconds N]

It picks a free port and writes it to --port-file. It ends by itself after --seconds, or when the process
that started it is gone.
"""

import argparse
import gzip
import json
import os
import re
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DIRECTIVE = re.compile(r"\[\[(sh|par|write|call) (.*?)\]\]", re.DOTALL)
SHELL_TOOLS = ("exec_command", "shell_command", "shell", "Bash")
WRITE_TOOLS = ("Write", "write_file")


# --- the script ----------------------------------------------------------------------------------------
def next_step(turns, tools):
    """What the model does now: (calls as [(tool, arguments)], words).

    `turns` is the conversation as [(who, text)] with who one of "user", "tool", "other"; `tools` is the
    tools that the agent offers, {name: JSON schema of its input}.
    """
    start, steps = None, []
    for index in range(len(turns) - 1, -1, -1):
        who, text = turns[index]
        if who == "user" and (steps := DIRECTIVE.findall(text)):
            start = index
            break
    if start is None:
        return [], "HELLO"
    results = [text for who, text in turns[start + 1 :] if who == "tool"]
    used = 0
    for word, argument in steps:
        calls = [part.strip() for part in argument.split(";;")] if word == "par" else [argument.strip()]
        if used + len(calls) > len(results):
            return tool_calls(word, calls, tools)
        used += len(calls)
    return [], "ALL-DONE last tool result: " + (results[-1][:600] if results else "none")


def tool_calls(word, calls, tools):
    """The calls of one step, and the words that go with them."""
    if word in ("sh", "par"):
        tool = next((name for name in SHELL_TOOLS if name in tools), None)
        if tool is None:
            return [], "SCRIPT-ERROR: no shell tool among " + ", ".join(tools)
        return [(tool, shell_input(command, tools[tool])) for command in calls], "I will run it."
    if word == "write":
        tool = next((name for name in WRITE_TOOLS if name in tools), None)
        if tool is None:
            return [], "SCRIPT-ERROR: no tool that writes files among " + ", ".join(tools)
        path, _, text = calls[0].partition(" ")
        return [(tool, {"file_path": path, "content": text + "\n"})], "I will write it."
    name, _, arguments = calls[0].partition(" ")
    try:
        return [(name, json.loads(arguments or "{}"))], "Calling."
    except ValueError as error:
        return [], f"SCRIPT-ERROR: the arguments of {name} are not JSON: {error}"


def shell_input(command, schema):
    """The input that asks the agent's shell tool for `command`, as that tool's schema wants it."""
    properties = (schema or {}).get("properties", {})
    if "cmd" in properties:
        given = {"cmd": command}
        if "sandbox_permissions" in properties:
            # Only a run outside the sandbox makes this agent ask its human.
            given["sandbox_permissions"] = "require_escalated"
            given["justification"] = "May I run this?"
        return given
    given = {"command": command}
    for name in (schema or {}).get("required", []):
        given.setdefault(name, "Run a command")
    return given


def flat(content):
    """The text of a content value, whatever its nesting."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(flat(item) for item in content)
    if isinstance(content, dict):
        for member in ("text", "content", "output"):
            if member in content:
                return flat(content[member])
        return json.dumps(content)
    return "" if content is None else str(content)


def new_id(prefix):
    return f"{prefix}_{uuid.uuid4().hex[:16]}"


# --- OpenAI Responses ----------------------------------------------------------------------------------
def responses(body):
    """The events that answer one request, and the names of the tools it offered."""
    tools = {tool.get("name") or tool.get("type"): tool.get("parameters") for tool in body.get("tools") or []}
    turns = []
    for item in body.get("input") or []:
        kind = item.get("type") or ("message" if "role" in item else "")
        if kind == "message":
            turns.append(("user" if item.get("role") == "user" else "other", flat(item.get("content"))))
        elif kind.endswith("_output"):
            turns.append(("tool", flat(item.get("output"))))
    calls, words = next_step(turns, tools)

    output = [
        {
            "type": "message",
            "id": new_id("msg"),
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": words, "annotations": []}],
        }
    ]
    for name, arguments in calls:
        output.append(
            {
                "type": "function_call",
                "id": new_id("fc"),
                "call_id": new_id("call"),
                "name": name,
                "arguments": json.dumps(arguments),
                "status": "completed",
            }
        )
    response = {"id": new_id("resp"), "object": "response", "status": "completed", "output": output}
    response["usage"] = {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 15,
    }
    events = [{"type": "response.created", "response": {"id": response["id"]}}]
    for index, item in enumerate(output):
        begun = dict(item, content=[], status="in_progress") if item["type"] == "message" else item
        events.append({"type": "response.output_item.added", "output_index": index, "item": begun})
        if item["type"] == "message":
            events.append(
                {
                    "type": "response.output_text.delta",
                    "item_id": item["id"],
                    "output_index": index,
                    "content_index": 0,
                    "delta": words,
                }
            )
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    events.append({"type": "response.completed", "response": response})
    return events, tools


# --- Anthropic Messages --------------------------------------------------------------------------------
def messages(body):
    """The whole message that answers one request, and the names of the tools it offered."""
    tools = {tool.get("name"): tool.get("input_schema") for tool in body.get("tools") or []}
    turns = []
    for message in body.get("messages") or []:
        content = message.get("content")
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content or []:
            if block.get("type") == "tool_result":
                turns.append(("tool", flat(block.get("content"))))
            elif block.get("type") == "text":
                turns.append(("user" if message.get("role") == "user" else "other", block.get("text", "")))
    # A request without tools is one of the agent's own small ones: a title for the session.
    calls, words = next_step(turns, tools) if tools else ([], '{"title": "A session"}')

    blocks = [{"type": "text", "text": words}]
    for name, arguments in calls:
        blocks.append({"type": "tool_use", "id": new_id("toolu"), "name": name, "input": arguments})
    message = {
        "id": new_id("msg"),
        "type": "message",
        "role": "assistant",
        "model": body.get("model"),
        "content": blocks,
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 10,
            "output_tokens": 5,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        },
    }
    return message, tools


def message_events(message):
    """A message as the events of its stream."""
    events = [{"type": "message_start", "message": dict(message, content=[], stop_reason=None)}]
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            begun, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            begun = dict(block, input={})
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        events.append({"type": "content_block_start", "index": index, "content_block": begun})
        events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    events.append({"type": "message_delta", "delta": ending, "usage": {"output_tokens": 5}})
    events.append({"type": "message_stop"})
    return events


# --- HTTP ----------------------------------------------------------------------------------------------
class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    log_path = None
    log_lock = threading.Lock()

    def log_message(self, *_):
        pass

    def record(self, kind, body, tools=()):
        line = json.dumps({"kind": kind, "path": self.path, "tools": list(tools), "body": body})
        with self.log_lock, open(self.log_path, "a", encoding="utf-8") as log:
            log.write(line + "\n")

    def read_body(self):
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            raw = b""
            while size := int(self.rfile.readline().split(b";")[0].strip() or b"0", 16):
                raw += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding", "") == "gzip":
            raw = gzip.decompress(raw)
        return json.loads(raw or b"{}")

    def send_json(self, value, status=200):
        raw = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def send_events(self, events):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for event in events:
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
            self.wfile.flush()

    def do_HEAD(self):
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def do_GET(self):
        self.record("other", None)
        if self.path.split("?")[0].endswith("/models"):
            model = {"id": "stand-in", "object": "model", "created": 1, "owned_by": "stand-in"}
            return self.send_json({"object": "list", "data": [model], "models": []})
        self.send_json({})

    def do_POST(self):
        try:
            body = self.read_body()
            path = self.path.split("?")[0]
            if path.endswith("/responses"):
                events, tools = responses(body)
                self.record("responses", body, tools)
                self.send_events(events)
            elif path.endswith("/messages"):
                message, tools = messages(body)
                self.record("messages", body, tools)
                if body.get("stream"):
                    self.send_events(message_events(message))
                else:
                    self.send_json(message)
            elif path.endswith("/count_tokens"):
                self.send_json({"input_tokens": 100})
            else:
                self.record("other", body)
                self.send_json({})
        except (BrokenPipeError, ConnectionResetError):
            pass  # the agent broke the turn off
        except ValueError as error:
            self.send_json({"error": {"type": "invalid_request_error", "message": str(error)}}, 400)


def main():
    arguments = argparse.ArgumentParser(description="a stand-in model server")
    arguments.add_argument("--log", required=True)
    arguments.add_argument("--port-file", required=True)
    arguments.add_argument("--seconds", type=float, default=1800)
    given = arguments.parse_args()

    Handler.log_path = given.log
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    # Renamed into place: whoever waits for the file never reads half a number.
    with open(given.port_file + ".new", "w", encoding="ascii") as port_file:
        port_file.write(str(server.server_port))
    os.replace(given.port_file + ".new", given.port_file)

    parent, end = os.getppid(), time.monotonic() + given.seconds
    while time.monotonic() < end and os.getppid() == parent:
        time.sleep(0.5)


if __name__ == "__main__":
    main()
