"""Every write on a match obeys If-Match: it is applied to the version that the client saw, or refused."""

from collections.abc import Mapping
from typing import Any, Final

import pytest

from tests.api.checked import Client
from tests.api.conftest import problem

WRITES: Final[Mapping[str, tuple[str, dict[str, Any]]]] = {
    "seats": ("ben", {}),
    "bots": ("anna", {"bot": "random"}),
    "start": ("anna", {}),
    "leave": ("carl", {}),
    "free": ("anna", {"seat": 0}),
}
"""By route: the player who may write in the open match, and the body."""


class Table:
    """An open match of three seats, started by hand: anna created it, carl has a seat, and so has a bot."""

    def __init__(self, *, full: bool = False) -> None:
        self.client = Client()
        self.tokens = {name: self.client.sign_up(name) for name in ("anna", "ben", "carl", "dora")}
        wanted = {"game": "monkeys_on_the_moon", "seats": 3, "bots": ["random"], "manual_start": True}
        self.match = self.client.do("/v1/matches", wanted, self.tokens["anna"])["id"]
        self.path = f"/v1/matches/{self.match}"
        for name in ("carl", *(["dora"] if full else [])):
            self.client.do(f"{self.path}/seats", {}, self.tokens[name])

    @property
    def etag(self) -> str:
        return self.client.get(self.path).headers["ETag"]

    def write(self, route: str, if_match: str) -> Any:
        player, body = WRITES[route]
        return self.client.post(f"{self.path}/{route}", body, self.tokens[player], if_match=if_match)


@pytest.mark.parametrize("route", WRITES)
def test_a_write_is_applied_only_to_the_version_that_was_seen(route: str) -> None:
    table = Table(full=route == "start")
    newest = table.etag
    old = table.client.get(f"{table.path}?version=1").headers["ETag"]
    before = table.client.log(table.match)
    assert problem(table.write(route, old))[:2] == (412, "stale-version")
    assert problem(table.write(route, '"none-of-ours"'))[:2] == (412, "stale-version")
    assert problem(table.write(route, f'"{len(before)}-0123456789abcdef"'))[:2] == (409, "history-diverged")
    assert problem(table.write(route, '"1-0123456789abcdef"'))[:2] == (409, "history-diverged")
    assert problem(table.write(route, "4"))[:2] == (400, "invalid-parameter")
    assert table.client.log(table.match) == before
    assert table.write(route, f"{old}, W/{newest}").status_code in {200, 201}
