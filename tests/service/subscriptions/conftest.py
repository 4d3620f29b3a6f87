import pytest

from service.subscriptions import streams
from tests.api.table import Table, set_table
from tests.service.subscriptions.house import HEARTBEAT_S, House
from tests.service.subscriptions.players import SLOW_HEARTBEAT_S, Players


@pytest.fixture
def house(monkeypatch: pytest.MonkeyPatch) -> House:
    monkeypatch.setattr(streams, "HEARTBEAT_S", HEARTBEAT_S)
    monkeypatch.setattr(streams, "_SHARED_READ_S", 0.0)
    return House()


@pytest.fixture
def table(house: House) -> Table:
    return set_table(house.ports)


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
