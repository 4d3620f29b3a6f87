import pytest

from service.subscriptions import streams
from tests.api.table import Table, set_table
from tests.service.subscriptions.players import SLOW_HEARTBEAT_S, Players
from tests.service.subscriptions.stream_server import HEARTBEAT_S, StreamServer


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> StreamServer:
    monkeypatch.setattr(streams, "HEARTBEAT_S", HEARTBEAT_S)
    monkeypatch.setattr(streams, "_SHARED_READ_S", 0.0)
    return StreamServer()


@pytest.fixture
def table(server: StreamServer) -> Table:
    return set_table(server.ports)


@pytest.fixture
def players(monkeypatch: pytest.MonkeyPatch) -> Players:
    """Players whose streams send no heartbeats during a test."""
    monkeypatch.setattr(streams, "HEARTBEAT_S", 60.0)
    monkeypatch.setattr(streams, "HANG_UP_CHECK_S", 0.01)
    return Players()


@pytest.fixture
def with_heartbeats(players: Players, monkeypatch: pytest.MonkeyPatch) -> Players:
    monkeypatch.setattr(streams, "HEARTBEAT_S", SLOW_HEARTBEAT_S)
    return players
