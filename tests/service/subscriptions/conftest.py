import pytest

from service.subscriptions import streams
from tests.api.table import Table, set_table
from tests.service.subscriptions.house import HEARTBEAT, House
from tests.service.subscriptions.players import BEAT, Players


@pytest.fixture
def house(monkeypatch: pytest.MonkeyPatch) -> House:
    monkeypatch.setattr(streams, "HEARTBEAT", HEARTBEAT)
    monkeypatch.setattr(streams, "_SHARED", 0.0)
    return House()


@pytest.fixture
def table(house: House) -> Table:
    return set_table(house.ports)


@pytest.fixture
def players(monkeypatch: pytest.MonkeyPatch) -> Players:
    """Without heartbeats."""
    monkeypatch.setattr(streams, "HEARTBEAT", 60.0)
    monkeypatch.setattr(streams, "GLANCE", 0.01)
    return Players()


@pytest.fixture
def beating(players: Players, monkeypatch: pytest.MonkeyPatch) -> Players:
    monkeypatch.setattr(streams, "HEARTBEAT", BEAT)
    return players
