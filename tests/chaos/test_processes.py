"""Processes that die during a request, clocks that jump, a queue that is down, and five hundred streams."""

import os
import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any, Final

import httpx
import pytest

from events.record import Event
from events.redis_log import send
from service.adapters.valkey import Valkey
from service.automation.bot_turns import advance
from service.container import Service, build
from service.match.model import GRACE_MS, Match
from service.settings import read
from tests.api.live import Server, serving
from tests.chaos.clients import Client
from tests.chaos.history import History
from tests.chaos.stores import Displaced
from tests.length import LENGTH
from tests.ports import free_port, tcp_url
from tests.waiting import in_time, until
from tests.workers.world import World

KILLS: Final = 2 * LENGTH
SENDERS: Final = 16
WAYS: Final = ("seats", "leave")
BODIES: Final[tuple[dict[str, object] | None, ...]] = ({}, None)


def environment(log_url: str, queue_url: str, folder: Path) -> dict[str, str]:
    return {
        "MOONSTONE_LOG_URL": log_url,
        "MOONSTONE_QUEUE_URL": queue_url,
        "MOONSTONE_DATA_DIR": str(folder / "data"),
        "MOONSTONE_REQUESTS_BY_TOKEN": "1000000",
        "MOONSTONE_MOVES_BY_TOKEN": "1000000",
        "MOONSTONE_REQUESTS_BY_ADDRESS": "1000000",
        "MOONSTONE_CREATIONS_BY_ADDRESS": "1000000",
    }


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Valkey]:
    with Valkey.start(tmp_path / "log", durable=True, options={"port": str(free_port())}) as server:
        yield server


def is_asked(log_url: str) -> bool:
    """Whether a request waits in the TCP socket of the stopped server."""
    waiting = Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]
    port = f":{int(log_url.rpartition(':')[2].partition('/')[0]):04X}"
    queued = [int(line.split()[4].partition(":")[2], 16) for line in waiting if line.split()[1].endswith(port)]
    return any(queued)


@pytest.mark.long
def test_row_05_a_worker_killed_in_mid_request_leaves_one_event_and_a_repeat_gets_its_answer(
    tmp_path: Path, log: Valkey, valkey_queue_url: str
) -> None:
    log_url = tcp_url(log)
    with serving(environment(log_url, valkey_queue_url, tmp_path)) as server:
        history = History()
        client = Client(server.port, "Ada", history)
        wanted = {"game": "ape_town", "seats": 2, "bots": ["random"], "manual_start": True}
        match = client.ask("POST", "/v1/matches", wanted, "create").body["id"]
        path = f"/v1/matches/{match}"
        took = []
        with ThreadPoolExecutor(1) as pool:
            for number in range(KILLS):
                server.settle()
                os.kill(log.pid, signal.SIGSTOP)
                request = pool.submit(
                    client.ask, "POST", f"{path}/{WAYS[number % 2]}", BODIES[number % 2], f"k{number}"
                )
                until(lambda: is_asked(log_url), 60, "the log is asked")
                server.kill_workers()
                os.kill(log.pid, signal.SIGCONT)
                began = time.monotonic()
                assert request.result(60).status in {200, 201}
                took.append(time.monotonic() - began)
        assert min(took) < 15, took  # a client that does not notice the end of the connection waits for 20 s
        assert history.surprises == []
        assert history.retries >= KILLS
        last = client.ask("GET", path).body
        events = client.ask("GET", f"{path}/events").body["events"]
        client.close()
    assert [event["version"] for event in events] == list(range(1, last["version"] + 1))
    people = [event["type"] for event in events if event["version"] > 2]
    assert people == [("seat_taken", "seat_left")[number % 2] for number in range(KILLS)]


class Asker:
    """Sends commands of two players to a running server, and records the answers."""

    def __init__(self, server: Server) -> None:
        # Each time a new connection: the server may close an idle one in the moment in which it is used again.
        alone = httpx.Limits(max_keepalive_connections=0)
        self._http = httpx.Client(base_url=f"http://127.0.0.1:{server.port}", timeout=60, limits=alone)
        self.tokens = [self._http.post("/v1/players", json={"name": name}).json()["token"] for name in ("Ada", "Ben")]
        self.kept: list[tuple[tuple[str, object, int, str], httpx.Response]] = []

    def get(self, path: str, player: int) -> Any:
        return self._http.get(path, headers={"Authorization": f"Bearer {self.tokens[player]}"}).json()

    def post(self, path: str, body: object, player: int, key: str) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.tokens[player]}", "Idempotency-Key": key}
        return self._http.post(path, json=body, headers=headers)

    def at_once(self, path: str, body: object, player: int) -> Any:
        """Send a command many times at once; returns the answer, which must be the same for all."""
        command = path, body, player, f"k{len(self.kept)}"
        barrier = Barrier(SENDERS)

        def send(_: int) -> httpx.Response:
            barrier.wait()
            return self.post(*command)

        with ThreadPoolExecutor(SENDERS) as pool:
            answers = list(pool.map(send, range(SENDERS)))
        assert {receipt_of(answer) for answer in answers} == {receipt_of(answers[0])}
        assert answers[0].is_success
        assert ["Idempotent-Replay" in answer.headers for answer in answers].count(False) == 1
        self.kept.append((command, answers[0]))
        return answers[0].json()

    def close(self) -> None:
        self._http.close()


def receipt_of(answer: httpx.Response) -> tuple[int, bytes, str | None]:
    return answer.status_code, answer.content, answer.headers.get("ETag")


def test_row_23_and_24_and_25_a_command_counts_once_however_often_and_late_it_comes(
    tmp_path: Path, log: Valkey, valkey_queue_url: str
) -> None:
    with serving(environment(log.url, valkey_queue_url, tmp_path)) as server, closing(Asker(server)) as asker:
        path = f"/v1/matches/{asker.at_once('/v1/matches', {'game': 'ape_town', 'seats': 2}, 0)['id']}"
        for player in range(2):
            asker.at_once(f"{path}/seats", {"client_seed": str(player)}, player)
        for _ in range(6):
            player = asker.get(path, 0)["decisions"][0]["seat"]
            legal = asker.get(f"{path}/legal-actions", player)["actions"]
            asker.at_once(f"{path}/actions", {"action": legal[0]}, player)
        asker.at_once(f"{path}/leave", {}, 0)
        events = asker.get(f"{path}/events", 1)
        assert [event["type"] for event in events["events"]] == [
            *("match_created", "seat_taken", "seat_taken", "match_started"),
            *["action"] * 6,
            "resigned",
        ]
        server.kill_workers()  # their caches are lost with them
        server.settle()
        for command, first in asker.kept:
            again = asker.post(*command)
            assert receipt_of(again) == receipt_of(first)
            assert again.headers["Idempotent-Replay"] == "true"
            _, _, player, key = command
            others: tuple[tuple[str, object], ...] = (
                ("/v1/matches", {"game": "ape_town", "seats": 3}),
                (f"{path}/seats", {"client_seed": "another"}),
                (f"{path}/actions", {"action": {"type": "another"}}),
                (f"{path}/actions", {"action": {"type": "another"}, "seat": player}),
                (f"{path}/leave", {}),
            )
            for where, body in others:
                # A key is scoped to its match, and the key of a creation to its player.
                if (where, body) != command[:2] and (where == "/v1/matches") == (command[0] == "/v1/matches"):
                    refused = asker.post(where, body, player, key)
                    assert (refused.status_code, refused.json()["code"]) == (422, "idempotency-key-reused")
        assert asker.get(f"{path}/events", 1) == events


def defaulted(world: World, match: Match) -> Event | None:
    """The first default action of a match."""
    return next((event for event in world.events(match) if event.type == "default_action"), None)


def test_row_10_deadlines_are_kept_with_no_queue_at_all(world: World) -> None:
    world.queue.kill()
    world.worker()
    until(lambda: world.service.log_client.exists("beat"), 60, "a sweeper runs")
    matches = [world.people(clock=seconds) for seconds in (5, 6, 7)]
    late = []
    for match in matches:
        event = until(partial(defaulted, world, match), 60, "the deadline is enforced")
        deadline = world.service.ports.history.at(match.id, event.version - 1).decisions()[0].deadline
        assert deadline is not None
        late.append(event.at - deadline)
    assert min(late) >= GRACE_MS
    # The median, because the machine may be busy with something else for a moment.
    assert sorted(late)[1] <= 2000, late


@pytest.mark.parametrize("hours", [-1, 2])
def test_row_20_a_jump_of_the_logs_clock_enforces_nothing_and_costs_no_player_the_turn(
    tmp_path: Path, hours: int
) -> None:
    store = Displaced(tmp_path / "displaced")
    with store.server, Valkey.start(tmp_path / "queue", durable=False) as queue, ExitStack() as stack:
        environ = environment(store.server.url, queue.url, tmp_path)
        service = build(read(environ), listen=False)
        stack.callback(service.close)
        world = World(store.server, queue, service, environ)
        stack.callback(world.end)
        world.worker()
        until(lambda: service.log_client.exists("beat"), 60, "a sweeper runs")
        match = world.people(clock=5)
        store.move(3600 * hours)
        until(lambda: is_off(service, 3600 * hours), 60, "the log's clock has jumped")
        others = [world.people(clock=60) for _ in range(3)]
        until(lambda: service.ports.now() > match.at + 7_000, 60, "the deadline is over")
        assert "default_action" not in [one.type for one in world.events(match)]
        store.move(0)
        event = until(partial(defaulted, world, match), 60, "a true deadline counts")
        deadline = service.ports.history.at(match.id, event.version - 1).decisions()[0].deadline
        assert deadline is not None
        assert deadline + GRACE_MS <= event.at
        for other in others:
            assert "default_action" not in [one.type for one in world.events(other)]
            assert world.newest(other).paused < 60_000


def is_off(service: Service, seconds: int) -> bool:
    (now,) = send(service.log_client, ("TIME",))
    return abs(int(now[0]) - service.ports.now() // 1000 - seconds) < 60


WATCHERS: Final = 60 if LENGTH == 1 else 500
A_HOLDER: Final = 8
"""The number of streams from one address."""


def watch(server: Server, match: str, number: int) -> socket.socket:
    """A stream from one of many addresses of this machine."""
    client = socket.create_connection(("127.0.0.1", server.port), 60, (f"127.0.1.{1 + number // A_HOLDER}", 0))
    client.sendall(
        f"GET /v1/matches/{match}/events HTTP/1.1\r\nHost: moon\r\nAccept: text/event-stream\r\n\r\n".encode()
    )
    return client


def read_to(client: socket.socket, version: int) -> None:
    received = b""
    while f"\nid: {version}\n".encode() not in received:
        more = client.recv(1 << 16)
        assert more, received[-300:]
        received = received[-40:] + more


@pytest.mark.long
def test_row_32_many_watchers_of_one_match_cost_its_appends_little(
    tmp_path: Path, log: Valkey, valkey_queue_url: str
) -> None:
    environ = environment(log.url, valkey_queue_url, tmp_path)
    with serving(environ) as server, ExitStack() as stack:
        service: Service = build(read(environ), listen=False)
        stack.callback(service.close)
        queue = World(log, log, service, environ)
        match = queue.bots()
        watchers = [stack.enter_context(watch(server, match.id, number)) for number in range(WATCHERS)]
        for watcher in watchers:
            read_to(watcher, match.head.version)

        def median() -> float:
            took = []
            for _ in range(30):
                began = time.monotonic()
                advance(service.ports, match.id, moves=1)
                took.append(time.monotonic() - began)
                time.sleep(0.02)
            took.sort()
            print(
                f"{WATCHERS} watchers: an append took {took[15] * 1000:.1f} ms (median), {took[-1] * 1000:.1f} at most"
            )
            return took[15]

        in_time(median, 0.1, "an append")
        newest = queue.newest(match).head.version
        for watcher in watchers:
            read_to(watcher, newest)
