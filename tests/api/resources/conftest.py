"""A client, and two matches to read: one that is running and one that is over."""

import pytest

from tests.api.checked import Client
from tests.api.table import Table, set_table


@pytest.fixture(scope="module")
def client() -> Client:
    return Client()


@pytest.fixture(scope="module")
def going(client: Client) -> Table:
    table = set_table(client.container.ports)
    table.play(client.container.ports, 20)
    return table


@pytest.fixture(scope="module")
def over(client: Client) -> Table:
    table = set_table(client.container.ports)
    table.finish(client.container.ports)
    return table
