"""Seeks against the running service: the streams of two players report the match that they are put into."""

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx

from tests.e2e.client import Json, Player
from tests.e2e.conftest import UNHURRIED
from tests.serving import serving

TIMEOUT_S = 30.0


def frames(response: httpx.Response) -> Iterator[Json]:
    for line in response.iter_lines():
        if line:
            yield json.loads(line)


def started(received: Iterator[Json]) -> str:
    """The match of the next `started`."""
    return next(str(frame["match"]) for frame in received if frame["type"] == "started")


def test_the_streams_of_players_with_equal_seeks_report_their_match(tmp_path: Path) -> None:
    body = {"game": "monkeys_on_the_moon", "seats": 2, "clock": {"turn_seconds": 3600}}
    with serving(tmp_path, **UNHURRIED) as served, ExitStack() as stack:
        players = [Player(served.url, name) for name in ("Ada", "Grace")]
        streams = []
        for player in players:
            stack.callback(player.close)
            headers = {"Accept": "application/x-ndjson", "Authorization": f"Bearer {player.token}"}
            opened = httpx.stream("GET", f"{served.url}/v1/me/stream", headers=headers, timeout=TIMEOUT_S)
            streams.append(frames(stack.enter_context(opened)))
            assert next(streams[-1])["type"] == "hello"
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
