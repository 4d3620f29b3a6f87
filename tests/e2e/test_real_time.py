"""Six or eight clients at once over HTTP: a whole match of 4 Monkeys, which each follows only by its own event stream."""

import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

import httpx
import msgspec
import pytest

from service.audit.verify import verify
from service.games.four_monkeys.actions import AnyAction
from service.games.four_monkeys.game import GAME
from service.games.four_monkeys.view import Observation
from service.games.protocol import Task
from service.games.registry import GAMES
from service.match.randomness import Draws
from tests.e2e.client import Json, Player, Watcher
from tests.length import LONG
from tests.service.games.four_monkeys.follower import Follower
from tests.serving import Served

SEATS: Final = 8 if LONG else 6
ROUNDS: Final = 4 if LONG else 3
"""How many rounds this many players play."""
ENDED_BY_TIMER: Final = 2
"""The number of the round that no player stops."""
LATEST_MS: Final = 5000
"""For one timer while many clients play. `test_kills` requires half a second for the median of several."""
PACE_S: Final = 0.05
LONGEST_PAUSE_S: Final = 1.0
"""The longest pause of a player who has nothing to do. It doubles from a pause to the next."""
LONGEST_WAIT_S: Final = 10.0
"""How long a player waits for an event at most before looking again."""
EVERY: Final = 97
"""Every nth version is compared."""


class Actor(threading.Thread):
    """Plays the seat of a watcher like the greedy bot, but over the API; the last one begins with a false stop."""

    def __init__(self, url: str, token: str, match: str, watcher: Watcher) -> None:
        super().__init__(daemon=True)
        self._player = Player(url, token=token)
        self._match = match
        self._watcher = watcher
        self._seat = watcher.seat
        key = hashlib.sha256(str(self._seat).encode()).digest()
        self._chance = Draws(lambda: key, {})
        self.versions: list[int] = []
        self.refusals = Counter[str]()

    def run(self) -> None:
        if self._seat == SEATS - 1:
            self._send({"type": "stop"})
        path = f"/v1/matches/{self._match}?include=legal_actions"
        pause_s = PACE_S
        while (view := self._player.send("GET", path))["status"] == "running":
            action = self._choose(view) if view["legal_actions"] else None
            if action is not None:
                self._send(action)
            pause_s = PACE_S if action else min(2 * pause_s, LONGEST_PAUSE_S)
            time.sleep(pause_s)
            self._wait_for_an_event_after(view["version"])
        self._player.close()

    def _wait_for_an_event_after(self, version: int) -> None:
        deadline = time.monotonic() + LONGEST_WAIT_S
        while self._watcher.version <= version and time.monotonic() < deadline:
            time.sleep(PACE_S)

    def _choose(self, view: Json) -> Mapping[str, Any] | None:
        mine = [one for one in view["decisions"] if one["seat"] == self._seat]
        if not mine:
            return None
        table = msgspec.convert(view["observation"], Observation)
        legal = msgspec.convert(view["legal_actions"], tuple[AnyAction, ...])
        task: Task[AnyAction, Observation] = Task(self._seat, mine[0]["step"], table, legal)
        action: dict[str, Any] = msgspec.to_builtins(GAME.bots["greedy"](task, self._chance))
        return None if action["type"] == "stop" and view["observation"]["round"] == ENDED_BY_TIMER else action

    def _send(self, action: Mapping[str, Any]) -> None:
        answer = self._player.answer("POST", f"/v1/matches/{self._match}/actions", {"action": action})
        if answer.status_code == httpx.codes.CREATED:
            self.versions.append(answer.json()["version"])
        else:
            assert answer.status_code == httpx.codes.CONFLICT, answer.text
            problem = answer.json()
            self.refusals[problem.get("reason", problem["code"])] += 1


@pytest.mark.long
def test_many_play_at_once_and_each_stream_gives_the_same_views_as_the_server(served: Served) -> None:
    players = [Player(served.url, f"Player {seat}") for seat in range(SEATS)]
    options = {"round_seconds": 30, "countdown_seconds": 0, "banana_skins": True}
    body = {"game": "four_monkeys", "seats": SEATS, "options": options}
    match = players[0].send("POST", "/v1/matches", body)["id"]
    for player in players:
        player.send("POST", f"/v1/matches/{match}/seats", {})
    watchers = [Watcher(player, match, seat, Follower(seat), every=EVERY) for seat, player in enumerate(players)]
    actors = [
        Actor(served.url, player.token, match, watcher) for player, watcher in zip(players, watchers, strict=True)
    ]
    threads = [threading.Thread(target=watcher.watch, kwargs={"seconds": 180.0}, daemon=True) for watcher in watchers]
    for thread in (*threads, *actors):
        thread.start()
    for thread in (*threads, *actors):
        thread.join(185)
        assert not thread.is_alive()

    newest = players[0].look(match)
    assert newest["status"] == "finished"
    for watcher, player in zip(watchers, players, strict=True):
        assert watcher.version == newest["version"]
        assert watcher.ends[-1]["reason"] == "finished"
        assert watcher.follower.table == (player.look(match)["observation"] or {})
        for version, view in watcher.views.items():
            assert view == (player.look(match, version)["observation"] or {}), version
    lines = players[0].answer("GET", f"/v1/matches/{match}/export").content.splitlines(keepends=True)
    verify(lines, GAMES)
    events = [json.loads(line) for line in lines[1:]]
    by_people = [event["version"] for event in events if event["by"].startswith("seat:")]
    assert sorted(version for actor in actors for version in actor.versions) == by_people
    effects = [(event, effect) for event in events for effect in event["data"].get("effects", ())]
    endings = [effect["ending"] for _, effect in effects if effect["type"] == "round_ended"]
    expected = ["stop"] * ROUNDS
    expected[ENDED_BY_TIMER - 1] = "deadline"
    assert endings == expected
    charged = [effect["seat"] for _, effect in effects if effect["type"] == "false_stop_charged"]
    assert charged[:1] == [SEATS - 1]  # others may decide to stop on an outdated view
    deadlines = {effect["round"]: effect["deadline"] for _, effect in effects if effect["type"] == "round_opened"}
    (timer,) = [event for event in events if event["type"] == "timer" and event["data"]["label"] == "round"]
    before = events[: timer["version"] - 1]
    lost = sum(event["data"]["ms"] for event in before if event["type"] == "clock_extended")
    assert 0 <= timer["at"] - deadlines[ENDED_BY_TIMER] - lost <= LATEST_MS
    refusals = sum((actor.refusals for actor in actors), Counter[str]())
    assert refusals["version-conflict"] == 0, refusals
    for player in players:
        player.close()
