"""4 Monkeys under load, on the whole service: eight players who act as fast as they can, and the bells of many matches
at once.
"""

import hashlib
import json
import socket
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import quantiles
from typing import Any, Final

import httpx
import msgspec

from service.match.randomness import Draws
from tests.benchmarks.load import request
from tests.benchmarks.table import LOG
from tests.serving import serving

GAME: Final = "four_monkeys"
NO_RATE_LIMITS: Final = {
    "MOONSTONE_REQUESTS_BY_TOKEN": "1000000",
    "MOONSTONE_MOVES_BY_TOKEN": "1000000",
    "MOONSTONE_SIGN_UPS_BY_ADDRESS": "1000000",
}
SEATS: Final = 8
DURATION_S: Final = 6.0
MAX_ACCEPTED: Final = 400
"""Accepted actions after which the load ends. A match has few more before all stops are used up."""
ROUND_MS: Final = 30_000
PACE_MS: Final = 4_000
"""With the default of 2,500 ms, bots own ten combos before the bell, and stop the round."""
BELL_TIMEOUT_S: Final = 12.0
"""Maximum time to wait for the next bell."""

Json = dict[str, Any]


class ConcurrentActions(msgspec.Struct, frozen=True):
    """Accepted and answered actions per second, and the 99th percentile of the latency (ms).

    Only `accepted` compares two versions. A rejected action takes a sixth of the time of an accepted one, and the share of
    rejected ones differs from run to run between a third and two thirds.
    """

    accepted: float
    answered: float
    p99: float


class Bells(msgspec.Struct, frozen=True):
    """The number of bells, and the largest delay after a deadline (ms)."""

    count: int
    latest: int
    bot_actions: float
    """Actions of bots per second, in all matches together."""


class Client(threading.Thread):
    """A player that chooses its actions mostly from the answers to its last ones, with few further reads."""

    def __init__(self, url: str, path: str, token: str, seat: int) -> None:
        super().__init__(daemon=True)
        host, port = url.removeprefix("http://").split(":")
        self._socket = socket.create_connection((host, int(port)))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._path = path
        self._headers = {"Authorization": f"Bearer {token}"}
        self._seat = seat
        key = hashlib.sha256(str(seat).encode()).digest()
        self._chance = Draws(lambda: key, {})
        self._grabs: dict[int, str] = {}
        self._hand: list[str] = []
        self._others: list[Json] = []
        self.until = 0.0
        self.others: list[Client] = []
        self.latencies: list[float] = []
        self.accepted = 0

    def warm_up(self) -> None:
        """Run every kind of request once, so that the server's process has loaded everything."""
        for _ in range(10):
            self._ask("POST", "/actions?dry_run=true", b'{"action":{"type":"stop"}}')

    def run(self) -> None:
        self._read_legal()
        while time.perf_counter() < self.until and sum(client.accepted for client in self.others) < MAX_ACCEPTED:
            began = time.perf_counter()
            status, answer = self._ask("POST", "/actions", json.dumps({"action": self._choose()}).encode())
            self.latencies.append(time.perf_counter() - began)
            if status == httpx.codes.CREATED:
                self.accepted += 1
                for effect in answer["event"]["data"]["effects"]:
                    self._apply(effect)
            elif "legal" in answer:
                self._take_list(answer["legal"])
            else:
                self._read_legal()
        self._socket.close()

    def _ask(self, method: str, path: str, body: bytes = b"") -> tuple[int, Json]:
        self._socket.sendall(request(method, self._path + path, self._headers, body))
        data = b""
        while b"\r\n\r\n" not in data:
            data += self._socket.recv(65536)
        head, _, rest = data.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        while len(rest) < length:
            rest += self._socket.recv(65536)
        return int(head[9:12]), msgspec.json.decode(rest)

    def _read_legal(self) -> None:
        self._take_list(self._ask("GET", "/legal-actions")[1]["actions"])

    def _take_list(self, legal: list[Json]) -> None:
        grabs = [action for action in legal if action["type"] == "grab"]
        self._grabs = {action["stack"]: action["combo"] for action in grabs}
        self._hand = list(grabs[0]["cards"]["any_of"]) if grabs else []
        self._others = [action for action in legal if action["type"] not in {"grab", "stop"}]

    def _choose(self) -> Mapping[str, Any]:
        """A random action, mostly a grab. If nothing else is left, a false stop, which restarts the round."""
        actions = [*self._others]
        if self._hand:
            actions += [{"type": "grab", "stack": stack, "combo": top} for stack, top in self._grabs.items()]
        if not actions:
            return {"type": "stop"}
        action = self._chance.pick("action", actions)
        return {**action, "cards": self._hand[:1]} if action["type"] == "grab" else action

    def _apply(self, effect: Json) -> None:
        kind = effect["type"]
        if kind == "round_opened":
            self._read_legal()
        elif effect.get("seat") != self._seat:
            return
        elif kind == "tile_grabbed":
            self._grabs[effect["stack"]] = effect["uncovered"]
            if effect["uncovered"] is None:
                del self._grabs[effect["stack"]]
            self._hand = [card for card in self._hand if card not in effect["cards"]]
            self._others.append({"type": "burn", "combo": effect["combo"]})
        elif kind == "cards_drawn":
            self._hand += [card for card in effect["cards"] if card not in self._hand]
        elif kind in {"tile_burned", "replenish_used"}:
            done = {"type": "burn", "combo": effect["combo"]} if kind == "tile_burned" else None
            self._others = [
                one for one in self._others if one != done and (done is not None or one["type"] != "replenish")
            ]
        elif kind == "hand_discarded":
            self._hand = []


def concurrent_actions(folder: Path) -> ConcurrentActions:
    """Eight clients in one match. Each sends its next action as soon as the last one is answered."""
    with (
        (folder / LOG).open("ab") as log,
        serving(folder, log, **NO_RATE_LIMITS) as served,
        httpx.Client(base_url=served.url) as http,
    ):
        tokens = [http.post("/v1/players", json={"name": f"P{seat}"}).json()["token"] for seat in range(SEATS)]
        headers_of_players = [{"Authorization": f"Bearer {token}"} for token in tokens]
        wanted = {"game": GAME, "seats": SEATS, "options": {"countdown_seconds": 0}}
        path = f"/v1/matches/{http.post('/v1/matches', json=wanted, headers=headers_of_players[0]).json()['id']}"
        for headers in headers_of_players:
            http.post(f"{path}/seats", json={}, headers=headers).raise_for_status()
        clients = [Client(served.url, path, token, seat) for seat, token in enumerate(tokens)]
        for client in clients:
            client.warm_up()
        began = time.perf_counter()
        for client in clients:
            client.until, client.others = began + DURATION_S, clients
            client.start()
        for client in clients:
            client.join(DURATION_S + 10)
        seconds = time.perf_counter() - began
    latencies = [one for client in clients for one in client.latencies]
    return ConcurrentActions(
        accepted=sum(client.accepted for client in clients) / seconds,
        answered=len(latencies) / seconds,
        p99=1000 * quantiles(latencies, n=100)[98],
    )


def bells(folder: Path, matches: int) -> Bells:
    """Run this many matches of seven greedy bots and an idle person, until the first bell of each."""
    with (
        (folder / LOG).open("ab") as log,
        serving(folder, log, **NO_RATE_LIMITS) as served,
        httpx.Client(base_url=served.url, timeout=20) as http,
    ):
        http.headers["Authorization"] = f"Bearer {http.post('/v1/players', json={'name': 'Ada'}).json()['token']}"
        wanted = {
            "game": GAME,
            "seats": SEATS,
            "bots": ["greedy"] * (SEATS - 1),
            "clock": {"bot_pace_ms": PACE_MS},
            "options": {"round_seconds": ROUND_MS // 1000, "countdown_seconds": 0},
        }
        paths = []
        for _ in range(matches):
            paths.append(f"/v1/matches/{http.post('/v1/matches', json=wanted).json()['id']}")
            http.post(f"{paths[-1]}/seats", json={}).raise_for_status()
        time.sleep(ROUND_MS / 1000)
        until = time.monotonic() + BELL_TIMEOUT_S
        late: list[int] = []
        actions = 0
        while paths and time.monotonic() < until:
            events = http.get(f"{paths[0]}/events?limit=500").json()["events"]
            rung = [event for event in events if event["type"] == "timer" and event["data"]["label"] == "round"]
            if not rung:
                time.sleep(0.2)
            else:
                paths.pop(0)
                late.append(_lateness(events, rung[0]))
                actions += sum(event["by"] == "bot:greedy" and event["at"] < rung[0]["at"] for event in events)
                until = time.monotonic() + BELL_TIMEOUT_S
    if paths:
        raise TimeoutError(f"{len(paths)} bells did not ring")
    return Bells(len(late), max(late), 1000 * actions / ROUND_MS)


def _lateness(events: list[Json], bell: Json) -> int:
    """Milliseconds from the deadline of the round to its bell."""
    before = [event for event in events if event["version"] < bell["version"]]
    effects = [effect for event in before for effect in event["data"].get("effects", ())]
    opened = [effect for effect in effects if effect["type"] == "round_opened"][-1]
    lost = sum(event["data"]["ms"] for event in before if event["type"] == "clock_extended")
    return int(bell["at"] - opened["starts_at"] - ROUND_MS - lost)
