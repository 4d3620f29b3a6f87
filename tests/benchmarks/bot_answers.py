"""The time from the receipt of a person's action to the bot's event in the log, measured on the whole service."""

import time
from itertools import pairwise
from pathlib import Path
from statistics import median, quantiles

import httpx

from tests.benchmarks.table import LOG
from tests.serving import serving

GAME = "monkeys_on_the_moon"
NO_RATE_LIMITS = {
    "MOONSTONE_REQUESTS_BY_TOKEN": "1000000",
    "MOONSTONE_MOVES_BY_TOKEN": "1000000",
    "MOONSTONE_REQUESTS_BY_ADDRESS": "1000000",
    "MOONSTONE_CREATIONS_BY_ADDRESS": "1000000",
}


def answers(folder: Path, matches: int) -> tuple[float, float, int]:
    """Median and p99 (ms) over whole matches of a person against a bot, and the number of answers.

    Both times are stamped by the server: `at` of the bot's event minus `at` of the person's event before it. The
    client's own time is not included.
    """
    times_ms: list[int] = []
    with (
        (folder / LOG).open("ab") as log,
        serving(folder, log, **NO_RATE_LIMITS) as served,
        httpx.Client(base_url=served.url) as http,
    ):
        http.headers["Authorization"] = f"Bearer {http.post('/v1/players', json={'name': 'Ada'}).json()['token']}"
        for _ in range(matches):
            wanted = {"game": GAME, "seats": 2, "bots": ["greedy"]}
            match = http.post("/v1/matches", json=wanted).json()["id"]
            http.post(f"/v1/matches/{match}/seats", json={})
            _play(http, match)
            events = http.get(f"/v1/matches/{match}/events?limit=500").json()["events"]
            times_ms += [
                after["at"] - before["at"]
                for before, after in pairwise(events)
                if before["by"] == "seat:1" and after["by"] == "bot:greedy"
            ]
    return median(times_ms), quantiles(times_ms, n=100)[98], len(times_ms)


def _play(http: httpx.Client, match: str) -> None:
    while True:
        view = http.get(f"/v1/matches/{match}?include=legal_actions").json()
        if view["status"] == "finished":
            return
        if view["legal_actions"]:
            action = view["legal_actions"][view["version"] % len(view["legal_actions"])]
            http.post(f"/v1/matches/{match}/actions", json={"action": action}).raise_for_status()
        else:
            time.sleep(0.002)
