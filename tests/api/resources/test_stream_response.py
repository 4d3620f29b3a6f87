"""Live streams on a real gunicorn with two workers and a real log: disconnections, kills, stops."""

import http
import re
import signal
import socket
import struct
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from redis import Redis

from api.resources import stream_response
from api.server.gunicorn import LIMITS
from service import settings
from service.container import Service, build
from service.games.visibility import Viewer
from service.subscriptions.streams import MAX_STREAMS_PER_PROCESS
from service.usecases import accounts
from tests.api.live import Follower, Frame, Server, frames, serving
from tests.api.table import Table, set_table
from tests.length import LONG
from tests.waiting import until

SSE: Final = {"Accept": "text/event-stream"}
KILLS: Final = {10, 50} if LONG else {10}
RELOADS: Final = {30, 70} if LONG else {30}
"""The turns of a match at which the workers are killed, and the server is reloaded. Each starts both workers anew."""


@pytest.fixture(scope="module")
def environ(valkey_log_url: str, valkey_queue_url: str, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    Redis.from_url(valkey_log_url).flushall()
    Redis.from_url(valkey_queue_url).flushall()  # tests before may have killed processes whose streams still count
    return {
        "MOONSTONE_LOG_URL": valkey_log_url,
        "MOONSTONE_QUEUE_URL": valkey_queue_url,
        "MOONSTONE_DATA_DIR": str(tmp_path_factory.mktemp("store")),
        "MOONSTONE_REQUESTS_BY_ADDRESS": "1000000",
        "MOONSTONE_CREATIONS_BY_ADDRESS": "1000000",
        "MOONSTONE_REQUESTS_BY_TOKEN": "1000000",
        "MOONSTONE_MOVES_BY_TOKEN": "1000000",
    }


@pytest.fixture(scope="module")
def service(environ: Mapping[str, str]) -> Iterator[Service]:
    service = build(settings.read(environ), listen=False)
    yield service
    service.close()


@pytest.fixture(scope="module")
def server(environ: Mapping[str, str]) -> Iterator[Server]:
    with serving(environ) as running:
        yield running


@pytest.fixture
def table(service: Service) -> Table:
    return set_table(service.ports)


def expected(service: Service, table: Table, viewer: Viewer) -> list[Any]:
    match, _ = service.ports.history.newest(table.match_id)
    events = service.ports.history.events(match, viewer, 0, 10_000)
    return [msgspec.json.decode(msgspec.json.encode(event)) for event in events]


@pytest.mark.long
def test_two_clients_with_different_views_follow_a_match_despite_disconnections_and_kills(
    server: Server, service: Service, table: Table
) -> None:
    """Every event arrives once and in order, despite disconnections, kill -9 of workers and reloads of the server."""
    # A spectator of its own, because streams of killed workers count for a while.
    _, spectator_token = accounts.sign_up(service.ports, "Wanda")
    watchers = [Follower(server, table.match_id, token) for token in (spectator_token, table.ben_token)]
    watchers[0].cut_after = 7
    for watcher in watchers:
        watcher.start()
    turns = 0
    while table.play(service.ports).server_seed is None:
        turns += 1
        if turns in KILLS | RELOADS:
            for watcher in watchers:
                follows(watcher, turns)
            if turns in RELOADS:
                old = set(server.workers)
                reload(server, watchers[1])
            else:
                server.kill_workers()
        time.sleep(0.02)
    for watcher in watchers:
        watcher.join(60)
        assert not watcher.is_alive()
    spectator, ben = [watcher.events for watcher in watchers]
    assert spectator == expected(service, table, None)
    assert ben == expected(service, table, 1)
    assert spectator != ben
    assert [event["hash"] for event in spectator] == [event["hash"] for event in ben]
    assert watchers[0].ids == watchers[1].ids == [str(version + 1) for version in range(len(ben))]
    assert all(watcher.ends[-1] == "finished" for watcher in watchers)
    assert {reason for watcher in watchers for reason in watcher.ends[:-1]} == {"restart"}
    assert watchers[0].connections >= len(spectator) // 8
    assert watchers[1].connections >= len(KILLS | RELOADS)
    until(
        lambda: old.isdisjoint(server.workers), 60, "the old workers end"
    )  # otherwise they would accept connections of the next test


def follows(watcher: Follower, turns: int) -> None:
    until(lambda: len(watcher.events) >= turns, 60, f"{turns} events arrive")


def reload(server: Server, watcher: Follower) -> None:
    """Reload the server, and wait until a stream of an old worker has ended, because the match might end first."""
    ends = len(watcher.ends)
    server.process.send_signal(signal.SIGHUP)
    until(lambda: len(watcher.ends) > ends, 60, "a reload ends streams")


def test_a_worker_accepts_more_connections_than_streams(server: Server) -> None:
    assert LIMITS["worker_connections"] > MAX_STREAMS_PER_PROCESS
    limits = Path(f"/proc/{server.workers[0]}/limits").read_text("ascii")
    ((soft, hard),) = re.findall(r"Max open files +(\w+) +(\w+)", limits)
    assert soft == hard


def test_a_stream_begins_with_hello_and_sends_heartbeats_while_nothing_happens(server: Server, table: Table) -> None:
    with server.get(f"/v1/matches/{table.match_id}/events", SSE) as response:
        stream = frames(response)
        hello = next(stream)
        assert (hello.event, hello.data["status"], hello.data["heartbeat_ms"]) == ("hello", "running", 5000)
        assert all(next(stream).id is not None for _ in range(hello.data["version"]))
        # A heartbeat comes after five seconds, the first after three; on a busy machine some come early or late.
        assert any(1 < silence(stream) < 10 for _ in range(3))


def silence(stream: Iterator[Frame]) -> float:
    """Seconds until the next heartbeat."""
    began = time.monotonic()
    assert not next(stream).event
    return time.monotonic() - began


def test_a_stream_of_lines_is_live_and_ends_with_an_end_line(server: Server, service: Service, table: Table) -> None:
    # A spectator of its own: the closed stream of the test before may still count for the address.
    headers = {
        "Accept": "application/x-ndjson",
        "Authorization": f"Bearer {accounts.sign_up(service.ports, 'Wanda')[1]}",
    }
    with server.get(f"/v1/matches/{table.match_id}/events", headers) as response:
        assert response.status == http.HTTPStatus.OK, response.read()
        assert response.getheader("Content-Type") == "application/x-ndjson"
        hello = msgspec.json.decode(response.readline())
        assert (hello["type"], hello["match"], hello["status"]) == ("hello", table.match_id, "running")
        table.finish(service.ports)
        *events, end = [msgspec.json.decode(line) for line in response if line != b"\n"]
    assert events == expected(service, table, None)
    assert end == {"type": "end", "reason": "finished", "version": events[-1]["version"], "head": events[-1]["hash"]}


def test_closed_streams_are_no_longer_counted(server: Server, service: Service, table: Table) -> None:
    match, _ = service.ports.history.newest(table.match_id)
    tokens = [accounts.sign_up(service.ports, "Watcher")[1] for _ in range(25)]
    counts: dict[int, int] = {}

    def open_now() -> int:
        with server.get("/open-streams") as response:
            found = msgspec.json.decode(response.read())
        counts[found["worker"]] = found["open"]
        return sum(counts.values()) if len(counts) == 2 else -1

    def opens(token: str, clients: ExitStack) -> bool:
        client = clients.enter_context(socket.create_connection(("127.0.0.1", server.port), 60))
        client.sendall(
            f"GET /v1/matches/{match.id}/events?after={match.head.version} HTTP/1.1\r\nHost: moon\r\n"
            f"Accept: text/event-stream\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
        )
        return client.recv(12) == b"HTTP/1.1 200"

    with ExitStack() as clients:
        for token in tokens * 8:
            # Until both processes have reported their streams, each has its share of the limit.
            until(partial(opens, token, clients), 60, "it is open")
        until(lambda: open_now() == len(tokens) * 8, 60, "all are open")
    until(lambda: open_now() == 0, 60, "all are closed")


def test_one_call_finds_the_clients_that_hung_up() -> None:
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        clients, accepted = {}, {}
        for name in ("open", "sends", "closed", "half-closed", "reset"):
            clients[name] = stack.enter_context(socket.create_connection(listener.getsockname()))
            accepted[name] = stack.enter_context(listener.accept()[0])
        clients["sends"].sendall(b"GET / HTTP/1.1")
        clients["closed"].close()
        clients["half-closed"].shutdown(socket.SHUT_WR)
        clients["reset"].setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        clients["reset"].close()
        checks = {name: stream_response._Check(one) for name, one in accepted.items()}
        local, peer = socket.socketpair()
        peer.close()
        checks |= {
            "no connection": stream_response._Check(None),
            "not TCP": stream_response._Check(stack.enter_context(local)),
        }
        found = dict(zip(checks, stream_response._have_hung_up([*checks.values()]), strict=True))
        assert {name for name, has_hung_up in found.items() if has_hung_up} == {"closed", "half-closed", "reset"}
        assert found == {name: check() for name, check in checks.items()}


def test_a_server_that_stops_sends_an_end_frame_to_every_stream(environ: Mapping[str, str], service: Service) -> None:
    table = set_table(service.ports)
    # One stream each: until all processes have reported, each has only its share of a player's streams.
    tokens = [accounts.sign_up(service.ports, "Watcher")[1] for _ in range(104)]
    with serving(environ) as server, ExitStack() as clients:
        streams = [
            frames(
                clients.enter_context(
                    server.get(f"/v1/matches/{table.match_id}/events", SSE | {"Authorization": f"Bearer {token}"})
                )
            )
            for token in tokens
        ]
        assert {next(stream).event for stream in streams} == {"hello"}
        match, _ = service.ports.history.newest(table.match_id)
        for stream in streams:
            while next(stream).id != str(match.head.version):
                pass
        server.process.send_signal(signal.SIGTERM)
        # A stream that had to be cut would have no `end` frame.
        ends = [[frame for frame in stream if frame.event == "end"] for stream in streams]
        clients.close()
        assert server.process.wait() == 0
        assert all(end.data["reason"] == "restart" for (end,) in ends)
        assert all(end.data["version"] == match.head.version for (end,) in ends)
