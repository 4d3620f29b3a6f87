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
from tests.chaos.stores import LogWithWrongClock
from tests.length import LENGTH, LONG
from tests.ports import free_port, tcp_url
from tests.waiting import in_time, until
from tests.workers.world import World

KILLS: Final = 2 * LENGTH
PROCESSES: Final = 2 if LONG else 1
"""Processes of the API that are killed, each of which takes half a second of processor time to start."""
SENDERS: Final = 16 if LONG else 8
ACTIONS: Final = 6 if LONG else 3
COMMANDS: Final = ("seats", "leave")
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


def has_waiting_request(log_url: str) -> bool:
    """Whether a request waits in the TCP socket of the stopped server."""
    waiting = Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]
    port = f":{int(log_url.rpartition(':')[2].partition('/')[0]):04X}"
    queued = [int(line.split()[4].partition(":")[2], 16) for line in waiting if line.split()[1].endswith(port)]
    return any(queued)


@pytest.mark.long
def test_row_05_a_repeat_of_a_request_whose_worker_was_killed_gets_its_answer_and_there_is_one_event(
    tmp_path: Path, log: Valkey, valkey_queue_url: str
) -> None:
    log_url = tcp_url(log)
    with serving(environment(log_url, valkey_queue_url, tmp_path), PROCESSES) as server:
        history = History()
        client = Client(server.port, "Ada", history)
        wanted = {"game": "ape_town", "seats": 2, "bots": ["random"], "manual_start": True}
        match = client.ask("POST", "/v1/matches", wanted, "create").body["id"]
        path = f"/v1/matches/{match}"
        took = []
        with ThreadPoolExecutor(1) as pool:
            for number in range(KILLS):
                server.settle(PROCESSES)
                os.kill(log.pid, signal.SIGSTOP)
                request = pool.submit(
                    client.ask, "POST", f"{path}/{COMMANDS[number % 2]}", BODIES[number % 2], f"k{number}"
                )
                until(lambda: has_waiting_request(log_url), 60, "a request reaches the log")
                server.kill_workers()
                os.kill(log.pid, signal.SIGCONT)
                began = time.monotonic()
                assert request.result(60).status in {200, 201}
                took.append(time.monotonic() - began)
        assert min(took) < 15, took  # a client that does not notice the end of the connection waits for 20 s
        assert history.violations == []
        assert history.retries >= KILLS
        last = client.ask("GET", path).body
        events = client.ask("GET", f"{path}/events").body["events"]
        client.close()
    assert [event["version"] for event in events] == list(range(1, last["version"] + 1))
    people = [event["type"] for event in events if event["version"] > 2]
    assert people == [("seat_taken", "seat_left")[number % 2] for number in range(KILLS)]


class Sender:
    """Sends commands of two players, each many times simultaneously, and records the answers."""

    def __init__(self, server: Server) -> None:
        # A new connection for each request: the server may close an idle one just when it is used again.
        no_reuse = httpx.Limits(max_keepalive_connections=0)
        self._http = httpx.Client(base_url=f"http://127.0.0.1:{server.port}", timeout=60, limits=no_reuse)
        self.tokens = [self._http.post("/v1/players", json={"name": name}).json()["token"] for name in ("Ada", "Ben")]
        self.sent: list[tuple[tuple[str, object, int, str], httpx.Response]] = []

    def get(self, path: str, player: int) -> Any:
        return self._http.get(path, headers={"Authorization": f"Bearer {self.tokens[player]}"}).json()

    def post(self, path: str, body: object, player: int, key: str) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.tokens[player]}", "Idempotency-Key": key}
        return self._http.post(path, json=body, headers=headers)

    def send_simultaneously(self, path: str, body: object, player: int) -> Any:
        """Send a command many times simultaneously; return the answer, which must be the same for all."""
        command = path, body, player, f"k{len(self.sent)}"
        barrier = Barrier(SENDERS)

        def send(_: int) -> httpx.Response:
            barrier.wait()
            return self.post(*command)

        with ThreadPoolExecutor(SENDERS) as pool:
            answers = list(pool.map(send, range(SENDERS)))
        assert {receipt_of(answer) for answer in answers} == {receipt_of(answers[0])}
        assert answers[0].is_success
        assert ["Idempotent-Replay" in answer.headers for answer in answers].count(False) == 1
        self.sent.append((command, answers[0]))
        return answers[0].json()

    def close(self) -> None:
        self._http.close()


def receipt_of(answer: httpx.Response) -> tuple[int, bytes, str | None]:
    return answer.status_code, answer.content, answer.headers.get("ETag")


@pytest.mark.long
def test_row_23_and_24_and_25_a_command_is_applied_once_however_often_and_late_it_is_sent(
    tmp_path: Path, log: Valkey, valkey_queue_url: str
) -> None:
    with serving(environment(log.url, valkey_queue_url, tmp_path)) as server, closing(Sender(server)) as sender:
        path = f"/v1/matches/{sender.send_simultaneously('/v1/matches', {'game': 'ape_town', 'seats': 2}, 0)['id']}"
        for player in range(2):
            sender.send_simultaneously(f"{path}/seats", {"client_seed": str(player)}, player)
        for _ in range(ACTIONS):
            player = sender.get(path, 0)["decisions"][0]["seat"]
            legal = sender.get(f"{path}/legal-actions", player)["actions"]
            sender.send_simultaneously(f"{path}/actions", {"action": legal[0]}, player)
        sender.send_simultaneously(f"{path}/leave", {}, 0)
        events = sender.get(f"{path}/events", 1)
        assert [event["type"] for event in events["events"]] == [
            *("match_created", "seat_taken", "seat_taken", "match_started"),
            *["action"] * ACTIONS,
            "resigned",
        ]
        server.kill_workers()  # their caches are lost with them
        server.settle()
        for command, first in sender.sent:
            again = sender.post(*command)
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
            for other_path, body in others:
                # A key is scoped to its match, and the key of a creation to its player.
                if (other_path, body) != command[:2] and (other_path == "/v1/matches") == (command[0] == "/v1/matches"):
                    refused = sender.post(other_path, body, player, key)
                    assert (refused.status_code, refused.json()["code"]) == (422, "idempotency-key-reused")
        assert sender.get(f"{path}/events", 1) == events


def default_action(world: World, match: Match) -> Event | None:
    """The first default action of a match."""
    return next((event for event in world.events(match) if event.type == "default_action"), None)


def test_row_10_deadlines_are_enforced_without_a_queue(world: World) -> None:
    world.queue.kill()
    world.worker()
    until(lambda: world.service.log_client.exists("beat"), 60, "a sweeper runs")
    matches = [world.people(clock=seconds) for seconds in (5, 6, 7)]
    late = []
    for match in matches:
        event = until(partial(default_action, world, match), 60, "the deadline is enforced")
        deadline = world.service.ports.history.at(match.id, event.version - 1).decisions()[0].deadline
        assert deadline is not None
        late.append(event.at - deadline)
    assert min(late) >= GRACE_MS
    # The median, because the machine may be busy with something else for a moment.
    assert sorted(late)[1] <= 2000, late


@pytest.mark.parametrize("hours", [-1, 2])
def test_row_20_a_jump_of_the_logs_clock_enforces_nothing_and_costs_no_player_a_turn(
    tmp_path: Path, hours: int
) -> None:
    store = LogWithWrongClock(tmp_path / "displaced")
    with store.server, Valkey.start(tmp_path / "queue", durable=False) as queue, ExitStack() as stack:
        environ = environment(store.server.url, queue.url, tmp_path)
        service = build(read(environ), listen=False)
        stack.callback(service.close)
        world = World(store.server, queue, service, environ)
        stack.callback(world.end)
        world.worker()
        until(lambda: service.log_client.exists("beat"), 60, "a sweeper runs")
        match = world.people(clock=5)
        store.set_offset(3600 * hours)
        until(lambda: is_displaced(service, 3600 * hours), 60, "the log's clock has jumped")
        others = [world.people(clock=60) for _ in range(3)]
        until(lambda: service.ports.now() > match.at + 7_000, 60, "the deadline is over")
        assert "default_action" not in [one.type for one in world.events(match)]
        store.set_offset(0)
        event = until(partial(default_action, world, match), 60, "a real deadline is enforced")
        deadline = service.ports.history.at(match.id, event.version - 1).decisions()[0].deadline
        assert deadline is not None
        assert deadline + GRACE_MS <= event.at
        for other in others:
            assert "default_action" not in [one.type for one in world.events(other)]
            assert world.newest(other).paused < 60_000


def is_displaced(service: Service, seconds: int) -> bool:
    (now,) = send(service.log_client, ("TIME",))
    return abs(int(now[0]) - service.ports.now() // 1000 - seconds) < 60


WATCHERS: Final = 500 if LONG else 60
STREAMS_PER_ADDRESS: Final = 8
"""The number of streams from one address."""


def watch(server: Server, match: str, number: int) -> socket.socket:
    """A stream from one of many addresses of this machine."""
    client = socket.create_connection(
        ("127.0.0.1", server.port), 60, (f"127.0.1.{1 + number // STREAMS_PER_ADDRESS}", 0)
    )
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
def test_row_32_many_streams_of_one_match_slow_its_appends_only_a_little(
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
