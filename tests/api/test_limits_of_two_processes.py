"""Two API processes share each limit. Requests go to both of them."""

import http.client
import os
import signal
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from typing import Any, Final, NamedTuple

import msgspec
import pytest
from redis import Redis

from service import settings
from service.adapters.valkey import Valkey
from service.container import Service, build
from service.subscriptions.streams import MAX_STREAMS_PER_HOLDER
from service.usecases import accounts
from tests.api.live import Server, get, serving
from tests.waiting import until

SIGN_UPS: Final = 30
MOVES: Final = 100
FREE_AGAIN_S: Final = 10


class Answer(NamedTuple):
    status: int
    body: Any


class Pair(NamedTuple):
    """Two servers with one API process each, the process of their queue, and a player's token."""

    servers: Sequence[Server]
    queue_pid: int
    token: str

    def send(self, number: int, path: str, body: object = None, token: str | None = None) -> Answer:
        """Send a request to the server of an even or an odd number."""
        with closing(http.client.HTTPConnection("127.0.0.1", self.servers[number % 2].port, timeout=60)) as connection:
            headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
            data = None if body is None else msgspec.json.encode(body)
            connection.request("GET" if body is None else "POST", path, data, headers)
            response = connection.getresponse()
            return Answer(response.status, msgspec.json.decode(response.read()))


@pytest.fixture(scope="module")
def running(valkey_log_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Pair, Service]]:
    """Servers for all tests, which take seconds to start. A process that a test kills is replaced."""
    folder = tmp_path_factory.mktemp("servers")
    with ExitStack() as stack:
        queue = stack.enter_context(Valkey.start(folder / "queue", durable=False))
        stack.enter_context(Redis.from_url(valkey_log_url)).flushall()
        environ = {
            "MOONSTONE_LOG_URL": valkey_log_url,
            "MOONSTONE_QUEUE_URL": queue.url,
            "MOONSTONE_DATA_DIR": str(folder),
            "MOONSTONE_REQUESTS_BY_ADDRESS": "100000",
            "MOONSTONE_REQUESTS_BY_TOKEN": "100000",
        }
        service = stack.enter_context(closing(build(settings.read(environ), listen=False)))
        servers = [stack.enter_context(serving(environ, workers=1)) for _ in range(2)]
        yield Pair(servers, queue.pid, ""), service


@pytest.fixture
def pair(running: tuple[Pair, Service]) -> Pair:
    """The servers, and a new player."""
    pair, service = running
    for server in pair.servers:
        server.settle(1)
    return pair._replace(token=accounts.sign_up(service.ports, "Ada")[1])


def test_two_processes_share_the_limits_of_sign_ups_creations_and_moves(pair: Pair) -> None:
    with ThreadPoolExecutor(8) as pool:
        signed_up = list(
            pool.map(lambda n: pair.send(n, "/v1/players", {"name": f"P{n}"}).status, range(SIGN_UPS + 10))
        )
        assert sorted(signed_up) == [201] * SIGN_UPS + [429] * 10

        made = list(
            pool.map(
                lambda n: pair.send(
                    n, "/v1/matches", {"game": "ape_town", "seats": 2, "bots": ["random"] * 2}, pair.token
                ),
                range(8),
            )
        )
        assert {answer.status for answer in made} == {201}

        began = time.monotonic()
        sent = list(
            pool.map(lambda n: pair.send(n, "/v1/matches/none/actions", {"action": {}}, pair.token).status, range(200))
        )
        restored = (time.monotonic() - began) * MOVES / 10
        assert 0.9 * MOVES <= len(sent) - sent.count(429) <= 1.1 * MOVES + restored


def opened(stack: ExitStack, servers: Sequence[Server], token: str, number: int) -> Sequence[int]:
    """Open `number` streams simultaneously, on the servers in turn. Returns the ports of those that were accepted."""

    def open_one(which: int) -> int | None:
        port = servers[which % len(servers)].port
        response = stack.enter_context(get(port, "/v1/me/stream", {"Authorization": f"Bearer {token}"}))
        if response.status == 200:
            assert response.readline()
            return port
        assert response.status == 429
        assert msgspec.json.decode(response.read())["code"] == "too-many-streams"
        return None

    with ThreadPoolExecutor(number) as pool:
        return [port for port in pool.map(open_one, range(number)) if port is not None]


def test_of_twenty_simultaneous_streams_the_limit_is_accepted_and_those_of_a_killed_process_are_free_after_ten_seconds(
    pair: Pair,
) -> None:
    with ExitStack() as stack:
        ports = opened(stack, pair.servers, pair.token, 20)
        assert len(ports) == MAX_STREAMS_PER_HOLDER
        assert not opened(stack, pair.servers, pair.token, 4)
        other, victim = sorted(pair.servers, key=lambda server: ports.count(server.port))
        lost = ports.count(victim.port)
        killed = time.monotonic()
        victim.kill_workers()
        free: list[int] = []

        def are_free() -> bool:
            free.extend(opened(stack, [other], pair.token, 1))
            return len(free) == lost

        until(are_free, 2 * FREE_AGAIN_S, "the streams are free again")
        assert time.monotonic() - killed <= FREE_AGAIN_S + 1
        assert not opened(stack, [other], pair.token, 4)


def test_without_the_queue_each_process_has_its_share_and_no_request_fails(pair: Pair) -> None:
    os.kill(pair.queue_pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        found = [pair.send(n, "/v1/matches/none/actions", {"action": {}}, pair.token).status for n in range(140)]
        restored = (time.monotonic() - began) * MOVES / 10
    finally:
        os.kill(pair.queue_pid, signal.SIGCONT)
    assert set(found) == {404, 429}
    assert 0.9 * MOVES <= found.count(404) <= 1.1 * MOVES + restored
