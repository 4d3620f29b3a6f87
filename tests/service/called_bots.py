"""Bots that are called, on loopback: an honest one, whose parts can be replaced by wrong ones."""

import base64
import hmac
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, TypeAlias

from standardwebhooks import Webhook

from service.adapters.clock import wall_clock
from service.repository.signing import new_secret

SECRET: Final = "whsec_" + base64.b64encode(bytes(range(32))).decode()
Task: TypeAlias = Mapping[str, Any]
Answer: TypeAlias = tuple[int, bytes]
HANG_UP: Final[Answer] = (0, b"")


def refuses(*_: object) -> Answer:
    return 401, b""


def first_action(task: Task) -> Any:
    """The first legal action, with as few items as its patterns allow."""
    return {
        name: value["any_of"][: value["min"]] if isinstance(value, dict) and "any_of" in value else value
        for name, value in task["legal_actions"][0].items()
    }


def action(chosen: object) -> Answer:
    return 200, json.dumps({"action": chosen}).encode()


class Honest:
    """Verifies with the library of Standard Webhooks, and takes the first legal action. Wrong bots replace its methods."""

    limit_ms = 1_000

    def __init__(self) -> None:
        self.seen: list[str] = []
        """The ids of the calls."""

    def respond(self, headers: Mapping[str, str], body: bytes) -> Answer:
        try:
            self.verify(headers, body)
        except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
            pass  # the library has verified the signature, and then parses the body
        except Exception:  # noqa: BLE001  (the library raises many)
            return self.unsigned()
        task = self.parse(body)
        if task is None:
            return 400, b""
        self.seen.append(headers.get("webhook-id", ""))
        return self.play(task)

    def verify(self, headers: Mapping[str, str], body: bytes) -> None:
        Webhook(SECRET).verify(body, dict(headers))

    def unsigned(self) -> Answer:
        return 401, b""

    def parse(self, body: bytes) -> Task | None:
        try:
            task = json.loads(body)
            return task if isinstance(task["legal_actions"], list) else None
        except (ValueError, TypeError, KeyError, RecursionError):
            return None

    def play(self, task: Task) -> Answer:
        return action(first_action(task))


class NoSignature(Honest):
    def verify(self, headers: Mapping[str, str], body: bytes) -> None:
        """Believes everyone."""


class OtherSecret(Honest):
    def verify(self, headers: Mapping[str, str], body: bytes) -> None:
        Webhook(new_secret()).verify(body, dict(headers))


class Elsewhere(Honest):
    """A server that takes no POST requests at this path, and so does not look at signatures."""

    def verify(self, headers: Mapping[str, str], body: bytes) -> None:
        pass

    def play(self, _: Task) -> Answer:
        return 405, b""


class NoAge(Honest):
    def verify(self, headers: Mapping[str, str], body: bytes) -> None:
        key = base64.b64decode(SECRET.removeprefix("whsec_"))
        content = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        right = "v1," + base64.b64encode(hmac.digest(key, content, "sha256")).decode()
        assert right in headers["webhook-signature"].split(" ")


class NoBody(NoAge):
    """Signs only the id and the time, and takes the body as it is."""

    def verify(self, headers: Mapping[str, str], body: bytes) -> None:
        super().verify(headers, body.rstrip())
        assert abs(wall_clock() / 1000 - int(headers["webhook-timestamp"])) < 300


class OneSignature(Honest):
    def verify(self, headers: Mapping[str, str], body: bytes) -> None:
        assert " " not in headers["webhook-signature"]
        super().verify(headers, body)


class HangsUpOnStrangers(Honest):
    def unsigned(self) -> Answer:
        return HANG_UP


class CrashesOnStrangers(Honest):
    def unsigned(self) -> Answer:
        return 500, b""


class Illegal(Honest):
    def play(self, _: Task) -> Answer:
        return action({"type": "take_tile", "segment": 39})


class Unresolved(Honest):
    def play(self, task: Task) -> Answer:
        has_pattern = [one for one in task["legal_actions"] if any(isinstance(value, dict) for value in one.values())]
        return action((has_pattern or [first_action(task)])[0])


class More(Honest):
    def play(self, task: Task) -> Answer:
        return 200, json.dumps({"action": first_action(task), "seat": task["seat"]}).encode()


class Created(Honest):
    def play(self, task: Task) -> Answer:
        return 201, super().play(task)[1]


class Redirects(Honest):
    def play(self, _: Task) -> Answer:
        return 302, b""


class OneStep(Honest):
    def play(self, task: Task) -> Answer:
        return super().play(task) if task["decision"]["step"] == "take_tile" else (500, b"")


class Strict(Honest):
    def parse(self, body: bytes) -> Task | None:
        task = super().parse(body)
        return None if task is None or "x_later" in task else task


class StrictInside(Honest):
    def parse(self, body: bytes) -> Task | None:
        task = super().parse(body)
        return None if task is None or "x_later" in task["observation"] else task


class CrashesWithoutTask(Honest):
    def respond(self, headers: Mapping[str, str], body: bytes) -> Answer:
        found = super().respond(headers, body)
        return (500, b"") if found[0] == 400 else found


class AcceptsAnything(Honest):
    def parse(self, body: bytes) -> Task | None:
        return super().parse(body) or {"legal_actions": [{"type": "pass"}]}


class StopsAfterNonsense(Honest):
    is_broken = False

    def parse(self, body: bytes) -> Task | None:
        self.is_broken = self.is_broken or super().parse(body) is None
        return super().parse(body)

    def play(self, task: Task) -> Answer:
        return (500, b"") if self.is_broken else super().play(task)


class Once(Honest):
    def play(self, task: Task) -> Answer:
        same = [one for one in self.seen if one == task["task"]]
        return (409, b"") if len(same) > 1 else super().play(task)


class Mixes(Honest):
    """Keeps the newest task for all threads."""

    newest: Task
    running = 0

    def play(self, task: Task) -> Answer:
        self.newest = task
        self.running += 1
        time.sleep(0.05 if self.running > 1 else 0.0)
        chosen = first_action(self.newest)
        self.running -= 1
        return action(chosen)


class Hangs(Honest):
    def play(self, task: Task) -> Answer:
        time.sleep(1.1)
        return super().play(task)


class HangsOnce(Honest):
    def play(self, task: Task) -> Answer:
        if len(self.seen) == 3:
            time.sleep(1.1)
        return super().play(task)


class ForgetsTheTime(Honest):
    """Thinks until shortly after the deadline, if it is near."""

    limit_ms = 10_000

    def play(self, task: Task) -> Answer:
        left_s = task["decision"]["deadline"] / 1000 - wall_clock() / 1000
        if 0 < left_s < 1.5:
            time.sleep(left_s + 0.2)
        return super().play(task)


class NeedsTime(Honest):
    def play(self, task: Task) -> Answer:
        return (500, b"") if task["decision"]["deadline"] < wall_clock() else super().play(task)


class OffendedByLateness(Honest):
    def play(self, task: Task) -> Answer:
        is_late = task["last"] is not None and task["last"]["outcome"] == "bot-late"
        return (500, b"") if is_late else super().play(task)


class Declines(Honest):
    def play(self, _: Task) -> Answer:
        return 204, b""


class _Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Callers may hang up."""


@contextmanager
def serving(bot: Honest) -> Iterator[str]:
    """The URL of a bot."""
    with _Server(("127.0.0.1", 0), _handler(bot.respond)) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


def _handler(respond: Callable[[Mapping[str, str], bytes], Answer]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status, answer = respond({name.lower(): value for name, value in self.headers.items()}, body)
            if not status:
                self.close_connection = True
                return
            self.send_response(status)
            if status != 204:
                self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """The test's output stays empty."""

    return Handler
