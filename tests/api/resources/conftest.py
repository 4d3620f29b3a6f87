"""A client, and two matches to read: a running and a finished one."""

import pytest

from tests.api.checked import Client
from tests.api.table import Table, set_table


@pytest.fixture(scope="module")
def client() -> Client:
    return Client()


@pytest.fixture(scope="module")
def running(client: Client) -> Table:
    table = set_table(client.container.ports)
    table.play(client.container.ports, 20)
    return table


@pytest.fixture(scope="module")
def finished(client: Client) -> Table:
    table = set_table(client.container.ports)
    table.finish(client.container.ports)
    return table
