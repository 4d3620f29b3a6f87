"""Seeks against the running service: two players with open streams are told of the match that they are put into."""

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx

from tests.e2e.client import Json, Player
from tests.e2e.conftest import UNHURRIED
from tests.serving import serving

WITHIN_S = 30.0


def frames(response: httpx.Response) -> Iterator[Json]:
    for line in response.iter_lines():
        if line:
            yield json.loads(line)


def started(received: Iterator[Json]) -> str:
    """The match of the next `started`."""
    return next(str(frame["match"]) for frame in received if frame["type"] == "started")


def test_players_who_seek_the_same_are_told_of_their_match_by_their_streams(tmp_path: Path) -> None:
    wanted = {"game": "monkeys_on_the_moon", "seats": 2, "clock": {"turn_seconds": 3600}}
    with serving(tmp_path, **UNHURRIED) as served, ExitStack() as stack:
        players = [Player(served.url, name) for name in ("Ada", "Grace")]
        streams = []
        for player in players:
            stack.callback(player.close)
            headers = {"Accept": "application/x-ndjson", "Authorization": f"Bearer {player.token}"}
            opened = httpx.stream("GET", f"{served.url}/v1/me/stream", headers=headers, timeout=WITHIN_S)
            streams.append(frames(stack.enter_context(opened)))
            assert next(streams[-1])["type"] == "hello"
        served.kill("workers")
        began = time.monotonic()
        sought = [player.send("POST", "/v1/seeks", wanted)["id"] for player in players]
        found = {started(received) for received in streams}
        assert time.monotonic() - began < WITHIN_S
        (match,) = found
        assert [
            player.send("GET", f"/v1/seeks/{one}")["match"] for player, one in zip(players, sought, strict=True)
        ] == [
            match,
            match,
        ]
        assert sorted(player.look(match)["viewer"] for player in players) == [0, 1]
