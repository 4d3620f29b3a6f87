"""A client as a third party would write it: HTTP, retries with the same key, a stream that it resumes."""

import hashlib
import json
import time
from collections.abc import Iterator
from typing import Any, Protocol, TypeAlias

import httpx

from tests.service.games.monkeys_on_the_moon.follower import Follower

Json: TypeAlias = dict[str, Any]


class Following(Protocol):
    """Applies the effects that a seat receives to its `table`, the observation."""

    table: Json

    def take(self, shown: Json, /) -> None: ...


TIMEOUT_S = 60.0
"""Seconds after which a client stops retrying when the service is down."""


class Player:
    """One player at one service; signs up a new one unless there is a token."""

    def __init__(self, url: str, name: str = "", token: str | None = None) -> None:
        self._http = httpx.Client(base_url=url, timeout=10)
        self.token: str = token or self.send("POST", "/v1/players", {"name": name})["token"]
        self._http.headers["Authorization"] = f"Bearer {self.token}"

    def close(self) -> None:
        self._http.close()

    def send(self, method: str, path: str, body: Json | None = None, **headers: str) -> Json:
        """Send a request, and repeat it while the service is down or answers 503; returns the successful answer."""
        answer: Json = self.answer(method, path, body, **headers).raise_for_status().json()
        return answer

    def answer(self, method: str, path: str, body: Json | None = None, **headers: str) -> httpx.Response:
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            try:
                answer = self._http.request(method, path, json=body, headers=headers)
            except httpx.TransportError:
                if time.monotonic() > deadline:
                    raise
            else:
                if answer.status_code != httpx.codes.SERVICE_UNAVAILABLE or time.monotonic() > deadline:
                    return answer
            time.sleep(0.05)

    def look(self, match: str, version: int | None = None) -> Json:
        return self.send("GET", f"/v1/matches/{match}" + (f"?version={version}" if version else ""))

    def choose(self, match: str) -> Json | None:
        """A legal action if it is this player's turn: always the same one for the same version."""
        listed = self.send("GET", f"/v1/matches/{match}/legal-actions")
        actions: list[Json] = listed["actions"]
        if not actions:
            return None
        index = int(hashlib.sha256(str(listed["version"]).encode()).hexdigest(), 16) % len(actions)
        return actions[index]

    def frames(self, match: str, after: int) -> Iterator[tuple[str, Json]]:
        """The frames of the event stream after a version, until it ends or breaks."""
        headers = (
            {"Accept": "text/event-stream", "Last-Event-ID": str(after)} if after else {"Accept": "text/event-stream"}
        )
        kind = ""
        with self._http.stream("GET", f"/v1/matches/{match}/events", headers=headers) as stream:
            for line in stream.iter_lines():
                field, _, value = line.partition(": ")
                if field == "event":
                    kind = value
                elif field == "data":
                    yield kind, json.loads(value)


class Watcher:
    """Follows a match only by its event stream, over any number of broken streams, and keeps its view of every nth version."""

    def __init__(
        self, player: Player, match: str, seat: int, follower: Following | None = None, every: int = 1
    ) -> None:
        self._player = player
        self._match = match
        self.seat = seat
        self.follower = follower or Follower(seat)
        self.version = 0
        self._every = every
        self.views: dict[int, Json] = {}
        self.ends: list[Json] = []

    def watch(self, events: int | None = None, seconds: float = 60) -> None:
        """Follow until this many more events have arrived, then drop the stream; or until the match ends."""
        last = None if events is None else self.version + events
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                for kind, data in self._player.frames(self._match, self.version):
                    if kind == "end":
                        self.ends.append(data)
                    elif kind != "hello":
                        self._take(data)
                    if self.version == last:
                        return
            except httpx.TransportError:
                time.sleep(0.05)
            if self.ends and self.ends[-1]["reason"] in {"finished", "aborted"}:
                return
        raise TimeoutError(f"the stream reported no end up to version {self.version}")

    def _take(self, event: Json) -> None:
        assert event["version"] == self.version + 1, "a version is missing, doubled or out of order"
        assert event["match"] == self._match
        self.version = event["version"]
        for effect in event["data"].get("effects", ()):
            self.follower.take(effect)
        if self.version % self._every == 0:
            self.views[self.version] = json.loads(json.dumps(self.follower.table))
