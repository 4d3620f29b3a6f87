"""Ratings against the running service: a stream reports the change, and the same rating is on every page."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx

from service.match.rating import first_line, follow_entry
from tests.e2e.client import Json, Player
from tests.serving import SMALL, serving

TIMEOUT_S = 30.0
GAME = "ape_town"


def frames(response: httpx.Response) -> Iterator[Json]:
    for line in response.iter_lines():
        if line:
            yield json.loads(line)


def test_a_rated_match_is_rated_soon_after_its_end_also_by_workers_that_were_killed(tmp_path: Path) -> None:
    body = {"game": GAME, "seats": 2, "rated": True}
    with serving(tmp_path, **SMALL) as served, ExitStack() as stack:
        ada, grace = players = [Player(served.url, name) for name in ("Ada", "Grace")]
        for player in players:
            stack.callback(player.close)
        match = ada.send("POST", "/v1/matches", body)["id"]
        for player in players:
            player.send("POST", f"/v1/matches/{match}/seats", {})
        headers = {"Accept": "application/x-ndjson", "Authorization": f"Bearer {ada.token}"}
        opened = httpx.stream("GET", f"{served.url}/v1/me/stream", headers=headers, timeout=TIMEOUT_S)
        received = frames(stack.enter_context(opened))
        assert next(received)["type"] == "hello"
        served.kill("workers")
        for player in (grace, ada):
            player.send("POST", f"/v1/matches/{match}/leave", {})
        notice = next(frame for frame in received if frame["type"] == "finished")
        assert (notice["rating"]["rank"], notice["rating"]["counted"]) == (1, True)
        player_id = ada.send("GET", "/v1/me")["id"]
        (rating,) = ada.send("GET", f"/v1/players/{player_id}")["ratings"]
        assert {name: rating[name] for name in ("rating", "mu", "sigma")} == notice["rating"]["after"]
        (past,) = ada.send("GET", f"/v1/players/{player_id}/ratings")["matches"]
        assert (past["match"], past["after"]) == (match, notice["rating"]["after"])
        first, line = httpx.get(f"{served.url}/v1/games/{GAME}/ratings", timeout=TIMEOUT_S).content.splitlines()
        assert first == first_line(GAME)[0]
        assert follow_entry(first_line(GAME)[1], line).rated.match == match
