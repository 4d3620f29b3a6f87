import pytest

from service.subscriptions import streams
from tests.api.table import Table, set_table
from tests.service.subscriptions.house import HEARTBEAT, House


@pytest.fixture
def house(monkeypatch: pytest.MonkeyPatch) -> House:
    monkeypatch.setattr(streams, "HEARTBEAT", HEARTBEAT)
    monkeypatch.setattr(streams, "_SHARED", 0.0)
    return House()


@pytest.fixture
def table(house: House) -> Table:
    return set_table(house.ports)
