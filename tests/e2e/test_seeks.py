"""The streams of players of the running service: seeks, and what happens to players beside their matches."""

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx

from tests.e2e.client import Json, Player
from tests.serving import SMALL, Served, serving

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


def test_the_streams_of_players_with_equal_seeks_report_their_match(tmp_path: Path) -> None:
    body = {"game": "monkeys_on_the_moon", "seats": 2, "clock": {"turn_seconds": 3600}}
    with serving(tmp_path, **SMALL) as served, ExitStack() as stack:
        players = [Player(served.url, name) for name in ("Ada", "Grace")]
        streams = []
        for player in players:
            stack.callback(player.close)
            streams.append(following(stack, served.url, player))
        served.kill("workers")
        began = time.monotonic()
        seeks = [player.send("POST", "/v1/seeks", body)["id"] for player in players]
        found = {started(received) for received in streams}
        assert time.monotonic() - began < TIMEOUT_S
        (match,) = found
        assert [
            player.send("GET", f"/v1/seeks/{one}")["match"] for player, one in zip(players, seeks, strict=True)
        ] == [
            match,
            match,
        ]
        assert sorted(player.look(match)["viewer"] for player in players) == [0, 1]


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
