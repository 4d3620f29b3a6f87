"""Answers the calls of a service: each is a POST with a task, and the answer is an action. Ctrl-C stops it."""

import argparse
import json
import sys
import traceback
from collections import OrderedDict
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock

from signature import Unsigned, check, key_of
from strategy import choose

WRONG_ARGUMENTS, STOPPED = 2, 130
"""Exit codes."""

MAX_BODY_BYTES = 256 * 1024
"""No call has a longer body."""
SILENCE_S = 60
"""A connection on which nothing was sent for so long is closed."""
KEPT_ANSWERS = 1000
"""The same call may come again; the answers to so many of the newest calls are remembered."""


class BadTask(Exception):
    """The body of a call is no task; the message says why."""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen at; 0.0.0.0 for all of this machine")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--secret-file", type=Path, default=Path("secret"), help="has the secret that signs the calls")
    given = parser.parse_args()
    try:
        key = key_of(given.secret_file.read_text(encoding="ascii").strip())
    except (OSError, ValueError):  # the secret itself is not printed
        exit_with(WRONG_ARGUMENTS, f"{given.secret_file} has no secret; name another file with --secret-file.")
    try:
        bot = Bot((given.host, given.port), key)
    except (OSError, OverflowError) as error:
        exit_with(WRONG_ARGUMENTS, f"It cannot listen at {given.host}, port {given.port}: {error}.")
    with bot:
        print(f"The bot waits for calls at http://{given.host}:{bot.server_port}/", flush=True)
        try:
            bot.serve_forever()
        except KeyboardInterrupt:
            exit_with(STOPPED, "Stopped.")


def exit_with(code, sentence):
    print(sentence, file=sys.stderr)
    raise SystemExit(code)


class Bot(ThreadingHTTPServer):
    """A server that answers calls signed with `key`. Each connection has a thread, so calls are answered at once."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address, key):
        super().__init__(address, Handler)
        self.key = key
        self._answers = OrderedDict()
        self._lock = Lock()

    def answer(self, body):
        """The answer to a call: an action, or None. The same call gets the same answer. Raises BadTask."""
        task, call = task_of(body), sha256(body).digest()
        if call not in self._answers:
            action = choose(task["legal_actions"], lambda: task["observation"], task["seat"], task["match"])
            with self._lock:
                self._answers.setdefault(call, action)
                while len(self._answers) > KEPT_ANSWERS:
                    self._answers.popitem(last=False)
        with self._lock:
            return self._answers.get(call)

    def handle_error(self, request, client_address):
        """A caller that hung up is no fault of the bot."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


def task_of(body):
    """The task in the body of a call. It may have members that this bot does not know. Raises BadTask."""
    try:
        task = json.loads(body)
    except (ValueError, RecursionError):
        raise BadTask("the body is no JSON") from None
    if not isinstance(task, dict) or task.get("type") != "task":
        raise BadTask("the body is no task")
    known = {"match": str, "seat": int, "observation": dict, "legal_actions": list}
    for name, kind in known.items():
        if not isinstance(task.get(name), kind):
            raise BadTask(f"the task has no {name}")
    return task


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # connections are kept
    disable_nagle_algorithm = True
    wbufsize = -1  # the head and the body of an answer are sent together
    timeout = SILENCE_S

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MAX_BODY_BYTES:
            self.close_connection = True
            return self.say(413, {"error": f"a call has Content-Length, and at most {MAX_BODY_BYTES} bytes"})
        body = self.rfile.read(int(length))
        try:
            check(self.server.key, self.headers, body)
            action = self.server.answer(body)
        except Unsigned as error:
            return self.say(401, {"error": str(error)})
        except BadTask as error:
            return self.say(400, {"error": str(error)})
        except Exception:  # the strategy may raise anything; the service calls once more, and then plays a default
            traceback.print_exc()
            return self.say(500, {"error": "the strategy failed"})
        return self.say(204) if action is None else self.say(200, {"action": action})

    def say(self, status, content=None):
        body = b"" if content is None else json.dumps(content).encode()
        self.send_response(status)
        if content is not None:
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Calls are not printed."""


if __name__ == "__main__":
    main()
