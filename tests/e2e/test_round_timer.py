"""The timer of a round rings in time without any clients, and after any worker was killed."""

import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from tests.e2e.client import Json, Player
from tests.serving import SMALL, Serving, serving
from tests.waiting import until

WORKER: Final = "-m workers people"
ROUNDS: Final = range(30, 35)
"""Round lengths in seconds, one match for each, so that their timers ring one after the other."""
LATEST_MS: Final = 500


def kill(pids: set[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def replaced(served: Serving, before: set[int]) -> set[int]:
    """The new workers, once as many of them run as before."""

    def found() -> set[int] | None:
        now = served.pids(WORKER)
        return now if len(now) == len(before) and not now & before else None

    return until(found, 60, "the workers are started again")


class Round(NamedTuple):
    match: str
    deadline: int


def start_round(players: Sequence[Player], seconds: int) -> Round:
    options = {"round_seconds": seconds, "countdown_seconds": 0}
    body = {"game": "four_monkeys", "seats": 2, "options": options}
    match = players[0].send("POST", "/v1/matches", body)["id"]
    started = [player.send("POST", f"/v1/matches/{match}/seats", {}) for player in players][-1]
    (clock,) = [one for one in started["decisions"] if one["seat"] == "clock"]
    return Round(match, clock["deadline"])


def first_timer_event(player: Player, match: str) -> tuple[Json, int] | None:
    """The first timer event of a match, and the time that was given back before it."""
    lost = 0
    for event in player.send("GET", f"/v1/matches/{match}/events?limit=500")["events"]:
        if event["type"] == "timer":
            return event, lost
        if event["type"] == "clock_extended":
            lost += event["data"]["ms"]
    return None


def test_a_timer_rings_in_time_without_clients_and_after_every_worker_was_killed(tmp_path: Path) -> None:
    with serving(tmp_path, **SMALL) as served:
        players = [Player(served.url, name) for name in ("Ada", "Grace")]
        rounds = [start_round(players, seconds) for seconds in ROUNDS]
        first, last = (time.monotonic() + seconds for seconds in (ROUNDS[0], ROUNDS[-1]))
        token = players[0].token
        for player in players:
            player.close()
        workers = served.pids(WORKER)
        kill(workers)
        workers = replaced(served, workers)
        time.sleep(max(0.0, first - time.monotonic() - 0.3))
        kill({max(workers)})  # the other worker must end the round
        time.sleep(max(0.0, last - time.monotonic() + LATEST_MS / 1000))

        player = Player(served.url, token=token)
        late = []
        for match, deadline in rounds:
            timer, lost = until(partial(first_timer_event, player, match), 60, "the timer rings")
            assert timer["data"]["label"] == "round"
            late.append(timer["at"] - deadline - lost)
        assert min(late) >= 0
        # The median, because the machine may be busy with something else for a moment.
        assert sorted(late)[len(late) // 2] <= LATEST_MS, late
        player.close()
