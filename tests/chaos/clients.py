"""Clients that send commands, repeat each with its key until it is answered, and record the answers."""

import http.client
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import count, cycle
from threading import Event, Thread
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from tests.chaos.history import HASH_PREFIX, Command, History, Seen

Json: TypeAlias = dict[str, Any]

TIMEOUT_S: Final = 30.0
"""Seconds within which every command is answered, in spite of faults."""
RETRY_DELAY_S: Final = 0.03


class Answer(NamedTuple):
    status: int
    body: Json
    etag: str
    replayed: bool


class Client:
    """One player over HTTP. `port` is the port of the server, or a function that returns the port for the next request."""

    def __init__(self, port: int | Callable[[], int], name: str, history: History) -> None:
        self.name = name
        self._port: Callable[[], int] = (lambda: port) if isinstance(port, int) else port
        self._history = history
        self._connections: dict[int, http.client.HTTPConnection] = {}
        self._serial = 0
        self._token = ""
        answer = self.ask("POST", "/v1/players", {"name": name})
        self._token = answer.body["token"]
        self.id: str = answer.body["player"]["id"]

    def ask(self, method: str, path: str, body: Json | None = None, key: str = "") -> Answer:
        """The first answer that is neither a 503 (with Retry-After) nor a broken connection."""
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            answer = self.once(method, path, body, key)
            if answer is not None and answer.status != 503:
                if answer.status > 499:
                    self._history.report(f"I5: {method} {path} got {answer}")
                return answer
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self.name}: {method} {path} got no final answer, but {answer}")
            self._history.retried()
            time.sleep(RETRY_DELAY_S)

    def once(self, method: str, path: str, body: Json | None = None, key: str = "") -> Answer | None:
        """One answer, possibly a 503; None if the connection broke."""
        headers = {"Content-Type": "application/json"} if body is not None else {}
        headers |= {"Authorization": f"Bearer {self._token}"} if self._token else {}
        headers |= {"Idempotency-Key": key} if key else {}
        port = self._port()
        try:
            connection = self._connections.setdefault(port, http.client.HTTPConnection("127.0.0.1", port, timeout=20))
            connection.request(method, path, None if body is None else msgspec.json.encode(body), headers)
            with connection.getresponse() as response:
                content = msgspec.json.decode(response.read())
        except (OSError, http.client.HTTPException, msgspec.DecodeError):
            self.close()
            return None
        if response.status == 503 and not (response.headers["Retry-After"] and content["code"].startswith("store-")):
            self._history.report(f"I5: a 503 without Retry-After or a code: {content}")
        replayed = response.headers["Idempotent-Replay"] == "true"
        return Answer(response.status, content, response.headers["ETag"] or "", replayed)

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()

    def command(self, match: str, path: str, body: Json | None, kind: str, by: str) -> Answer:
        """Repeat a command until it is answered, and record it. A conflict with another command ends it too."""
        self._serial += 1
        key = self.last_key
        began = time.monotonic()
        try:
            answer = self.ask("POST", f"/v1/matches/{match}/{path}", body, key)
            while answer.body.get("code") == "version-conflict":
                answer = self.ask("POST", f"/v1/matches/{match}/{path}", body, key)
        except TimeoutError:
            self._history.record_command(Command(match, kind, by, began, time.monotonic(), None, None))
            raise
        if answer.replayed:
            self._history.replayed()
        if answer.status < 300:
            receipt = answer.body["version"], answer.body["head"]
            self._history.record_command(Command(match, kind, by, began, time.monotonic(), *receipt))
        return answer

    @property
    def last_key(self) -> str:
        """The key of the command that was sent last."""
        return f"{self.name}-{self._serial}"

    def read(self, match: str, query: str = "") -> Json:
        began = time.monotonic()
        answer = self.ask("GET", f"/v1/matches/{match}{query}")
        if answer.status != 200:
            self._history.report(f"I1: match {match} is {answer.body.get('code')}")
            raise MatchGone
        self._history.record_read(
            Seen(self.name, match, began, answer.body["version"], answer.body["head"][:HASH_PREFIX])
        )
        return answer.body


class Witness:
    """A player with a match of its own that repeats its commands."""

    def __init__(self, client: Client) -> None:
        self._client = client
        wanted = {"game": "monkeys_on_the_moon", "seats": 2, "manual_start": True}
        self._path = f"/v1/matches/{client.ask('POST', '/v1/matches', wanted, 'mine').body['id']}"
        commands: tuple[tuple[str, Json | None], ...] = (("seats", {}), ("leave", None))
        self._commands = cycle(commands)
        self._acted = 0

    def act(self) -> Callable[[], bool]:
        """Send the next command. The returned function sends it again and says whether the answer is the same."""
        self._acted += 1
        route, body = next(self._commands)
        send = partial(self._client.ask, "POST", f"{self._path}/{route}", body, f"mine-{self._acted}")
        first = send()
        return lambda: first.status < 300 and send() == first._replace(replayed=True)

    def gets_503(self) -> bool:
        """Whether a read of the match immediately gets a 503."""
        self._client.close()  # the server may have closed an idle connection
        answer = self._client.once("GET", self._path)
        return answer is not None and answer.status == 503


class MatchGone(Exception):
    """A match that existed is missing."""


class ClientThread(Thread):
    """A thread that repeats one step until it is stopped."""

    def __init__(self, stopped: Event, history: History) -> None:
        super().__init__(daemon=True)
        self._stopped = stopped
        self.history = history

    def run(self) -> None:
        while not self._stopped.is_set():
            try:
                with suppress(MatchGone):
                    self.act()
            except Exception as error:  # noqa: BLE001  (the test fails on it)
                self.history.report(f"{type(self).__name__} failed: {error!r}")
                return

    def act(self) -> None:
        raise NotImplementedError


class Sitter(ClientThread):
    """Takes and leaves seats in several matches repeatedly, in a race with others."""

    def __init__(self, client: Client, matches: Sequence[str], stopped: Event, first: int) -> None:
        super().__init__(stopped, client._history)
        self._client = client
        self._matches = matches
        self._turns = count(first)
        self._seats: dict[str, int] = {}

    def act(self) -> None:
        match = self._matches[next(self._turns) % len(self._matches)]
        client, seat = self._client, self._seats.get(match)
        if seat is None:
            answer = client.command(match, "seats", {}, "seat_taken", f"player:{client.id}")
        else:
            answer = client.command(match, "leave", None, "seat_left", f"seat:{seat}")
        if answer.status > 299:
            self.history.report(f"I1: {client.name} in seat {seat} got {answer.body}")
        seats = client.read(match)["seats"] if answer.status > 299 or seat is None else ()
        self._seats.pop(match, None)
        for one in seats:
            if one["player"] == client.id:
                self._seats[match] = one["seat"]


class Pair(ClientThread):
    """Two players who play one match after another against each other."""

    def __init__(self, clients: Sequence[Client], stopped: Event) -> None:
        super().__init__(stopped, clients[0]._history)
        self._clients = clients
        self._played = 0
        self._match = ""

    def act(self) -> None:
        one = self._clients[0]
        if not self._match:
            self._played += 1
            wanted = {"game": "monkeys_on_the_moon", "seats": 2, "manual_start": True}
            self._match = one.ask("POST", "/v1/matches", wanted, f"pair-{self._played}").body["id"]
            for client in self._clients:
                client.command(self._match, "seats", {}, "seat_taken", f"player:{client.id}")
            one.command(self._match, "start", None, "match_started", "worker")
        for seat, client in enumerate(self._clients):
            legal = client.ask("GET", f"/v1/matches/{self._match}/legal-actions").body
            if legal.get("actions"):
                body = {"action": legal["actions"][legal["version"] % len(legal["actions"])]}
                answer = client.command(self._match, "actions", body, "action", f"seat:{seat}")
                if answer.status > 299:
                    self.history.report(f"I1: {client.name} got {answer.body}")
                client.read(self._match)
                return
        self._match = ""
