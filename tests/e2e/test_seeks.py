"""The streams of players of the running service: seeks, and what happens to players beside their matches."""

import json
from collections.abc import Iterator
from contextlib import ExitStack

import httpx

from tests.e2e.client import Json, Player
from tests.serving import Served

TIMEOUT_S = 30.0


def frames(response: httpx.Response) -> Iterator[Json]:
    for line in response.iter_lines():
        if line:
            yield json.loads(line)


def started(received: Iterator[Json]) -> str:
    """The match of the next `started`."""
    return next(str(frame["match"]) for frame in received if frame["type"] == "started")


def following(stack: ExitStack, url: str, player: Player) -> Iterator[Json]:
    """The frames of a player's stream after the first."""
    headers = {"Accept": "application/x-ndjson", "Authorization": f"Bearer {player.token}"}
    opened = httpx.stream("GET", f"{url}/v1/me/stream", headers=headers, timeout=TIMEOUT_S)
    received = frames(stack.enter_context(opened))
    assert next(received)["type"] == "hello"
    return received


def test_a_stream_reports_a_freed_seat_a_rematch_and_a_seek_that_ended(served: Served) -> None:
    game = {"game": "monkeys_on_the_moon", "seats": 2}
    with ExitStack() as stack:
        ada, grace = (Player(served.url, name) for name in ("Ada", "Grace"))
        for player in (ada, grace):
            stack.callback(player.close)
        received = following(stack, served.url, grace)
        table = ada.send("POST", "/v1/matches", game)["id"]
        grace.send("POST", f"/v1/matches/{table}/seats", {})
        ada.send("POST", f"/v1/matches/{table}/free", {"seat": 0})
        freed = next(received)
        assert (freed["type"], freed["match"], freed["notice"]) == ("seat_freed", table, f"{table}-3-seat_freed")

        for player in (ada, grace):
            player.send("POST", f"/v1/matches/{table}/seats", {})
        for player in (ada, grace):
            player.send("POST", f"/v1/matches/{table}/leave", {})
        assert next(frame for frame in received if frame["type"] == "finished")["match"] == table
        rematch = ada.send("POST", f"/v1/matches/{table}/rematch", {})["id"]
        asked = next(received)
        assert (asked["type"], asked["match"], asked["rematch_of"]) == ("rematch", rematch, table)
        grace.send("POST", f"/v1/matches/{table}/rematch", {})
        assert next(received)["type"] == "started"

        seek = grace.send("POST", "/v1/seeks", {**game, "expires_in": 10})["id"]
        ended = next(frame for frame in received if frame["type"] == "seek_ended")
        assert (ended["seek"], ended["reason"], ended["notice"]) == (seek, "expired", f"{seek}-ended")
