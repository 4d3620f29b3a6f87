"""The running service while its processes are killed or its store is backed up: matches, ratings, seeks, erasures and timers go on."""

import os
import signal
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import httpx
import pytest

from service.match.rating import first_line, follow_entry
from service.ops import connection
from service.settings import read
from tests import command_line
from tests.e2e.client import Json, Player
from tests.e2e.test_seeks import following, started
from tests.e2e.test_whole_match import exported, play_on, table
from tests.length import LONG
from tests.serving import SMALL, Serving, serving
from tests.waiting import until

TIMEOUT_S: Final = 30.0
WORKERS: Final = "-m workers people"
ROUNDS: Final = range(30, 35)
"""Round lengths in seconds, one match for each, so that their timers ring one after the other."""
LATEST_MS: Final = 500
RATED: Final = "ape_town"
MAX_ACTIONS_DURING_BACKUP: Final = 40
"""The most actions while the backup is taken; a match has twice as many."""


PARTS: Final = (("valkey-server", "log"), ("-m api", ""), ("-m workers people", ""), ("valkey-server", "queue"))
VICTIMS: Final = dict(zip(range(8, 57, 8), PARTS * 2 if LONG else PARTS, strict=False))
"""The processes that are killed during a match, by the number of actions before."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("killed")


@pytest.fixture(scope="module")
def service(folder: Path) -> Iterator[tuple[Serving, int]]:
    """The service whose processes the tests here kill, and the number of its processes."""
    with serving(folder, **SMALL) as running:
        until(lambda: running.pids("-m workers.calls"), 60, "the last process is started")
        yield running, len(running.processes())


@pytest.fixture
def running(service: tuple[Serving, int]) -> Serving:
    """The service once the processes that the test before killed run again."""
    found, count = service
    until(lambda: len(found.processes()) == count, 60, "all processes run")
    return found


def kill(pids: set[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def test_an_account_is_erased_although_processes_are_killed(running: Serving) -> None:
    with httpx.Client(base_url=running.url, timeout=TIMEOUT_S) as http:
        ada, ben = (Player(running.url, name) for name in ("Ada", "Ben"))
        try:
            match = ben.send("POST", "/v1/matches", {"game": "ape_town", "seats": 2})["id"]
            own = ada.send("POST", "/v1/matches", {"game": "ape_town", "seats": 2})["id"]
            for player in (ada, ben):
                player.send("POST", f"/v1/matches/{match}/seats", {})
            bearer = {"Authorization": f"Bearer {ada.token}"}
            assert http.delete("/v1/me", headers=bearer).status_code == 202
            for part in ("-m workers people", "-m api"):
                running.kill(part)

            def is_left() -> bool:
                try:
                    seat = http.get(f"/v1/matches/{match}").json()["seats"][0]
                    status = http.get(f"/v1/matches/{own}").json()["status"]
                except httpx.TransportError:  # the API was killed
                    return False
                return (seat["resigned"], seat["name"], status) == (True, None, "aborted")

            until(is_left, TIMEOUT_S, "the matches are left")
            assert http.get("/v1/me", headers=bearer).status_code == 401
            legal = ben.send("GET", f"/v1/matches/{match}/legal-actions")["actions"]
            assert legal or ben.look(match)["decisions"]
        finally:
            ada.close()
            ben.close()


def test_a_rated_match_is_rated_soon_after_its_end_also_by_workers_that_were_killed(running: Serving) -> None:
    body = {"game": RATED, "seats": 2, "rated": True}
    with ExitStack() as stack:
        ada, grace = players = [Player(running.url, name) for name in ("Ada", "Grace")]
        for player in players:
            stack.callback(player.close)
        match = ada.send("POST", "/v1/matches", body)["id"]
        for player in players:
            player.send("POST", f"/v1/matches/{match}/seats", {})
        received = following(stack, running.url, ada)
        kill(running.pids(WORKERS))
        for player in (grace, ada):
            player.send("POST", f"/v1/matches/{match}/leave", {})
        notice = next(frame for frame in received if frame["type"] == "finished")
        assert (notice["rating"]["rank"], notice["rating"]["counted"]) == (1, True)
        player_id = ada.send("GET", "/v1/me")["id"]
        # The notice follows from the rating stream, and the leaderboards are folded from it a little later.
        (rating,) = until(lambda: ada.send("GET", f"/v1/players/{player_id}")["ratings"], 10, "the rating is shown")
        assert {name: rating[name] for name in ("rating", "mu", "sigma")} == notice["rating"]["after"]
        (past,) = ada.send("GET", f"/v1/players/{player_id}/ratings")["matches"]
        assert (past["match"], past["after"]) == (match, notice["rating"]["after"])
        first, line = httpx.get(f"{running.url}/v1/games/{RATED}/ratings", timeout=TIMEOUT_S).content.splitlines()
        assert first == first_line(RATED)[0]
        assert follow_entry(first_line(RATED)[1], line).rated.match == match


def test_the_streams_of_players_with_equal_seeks_report_their_match(running: Serving) -> None:
    body = {"game": "monkeys_on_the_moon", "seats": 2, "clock": {"turn_seconds": 3600}}
    with ExitStack() as stack:
        players = [Player(running.url, name) for name in ("Ada", "Grace")]
        streams = []
        for player in players:
            stack.callback(player.close)
            streams.append(following(stack, running.url, player))
        kill(running.pids(WORKERS))
        began = time.monotonic()
        seeks = [player.send("POST", "/v1/seeks", body)["id"] for player in players]
        found = {started(received) for received in streams}
        assert time.monotonic() - began < TIMEOUT_S
        (match,) = found
        for player, seek in zip(players, seeks, strict=True):
            assert player.send("GET", f"/v1/seeks/{seek}")["match"] == match
        assert sorted(player.look(match)["viewer"] for player in players) == [0, 1]


@pytest.mark.long
def test_kills_lose_no_acknowledged_action_and_apply_none_twice(running: Serving) -> None:
    with table(running.url) as (match, players):
        killed = set[int]()

        def disturb(number: int) -> None:
            if number in VICTIMS:
                killed.add(running.kill(*VICTIMS[number]))

        acknowledged = play_on(match, players, disturb)
        assert len(killed) == len(VICTIMS), "the match was too short for every kill"
        events = exported(players[0], match)
        by_people = [
            event["version"] for event in events if event["type"] == "action" and event["by"].startswith("seat:")
        ]
        assert sorted(acknowledged.values()) == by_people, "an acknowledged action is missing, or one is there twice"


def replaced(running: Serving, before: set[int]) -> set[int]:
    """The new workers, once as many of them run as before."""

    def found() -> set[int] | None:
        now = running.pids(WORKERS)
        return now if len(now) == len(before) and not now & before else None

    return until(found, 60, "the workers are started again")


def moonstone(*words: object) -> list[str]:
    """The output of a command that must succeed."""
    done = command_line.run(*words)
    assert done.exit_code == 0, done.output
    return done.output.splitlines()


def play(match: str, players: Sequence[Player], actions: int) -> Json:
    """Play this many turns of people; returns the answer to the last action."""
    receipt: Json = {}
    done = 0
    while done < actions:
        assert players[0].look(match)["status"] == "running", "the match was too short"
        for player in players:
            action = player.choose(match)
            if action is not None:
                receipt = player.send("POST", f"/v1/matches/{match}/actions", {"action": action})
                done += 1
    return receipt


def stored(data: Path, match: str) -> tuple[bytes, ...]:
    with connection.log_of(read({"MOONSTONE_DATA_DIR": str(data)})) as client:
        return connection.ports_of(client).log.read(match).events


def test_a_backup_taken_during_a_match_is_a_prefix_and_the_match_continues_after_its_restore(
    running: Serving, folder: Path, tmp_path: Path
) -> None:
    data, restored_data, file = folder / "data", tmp_path / "data", tmp_path / "backup"
    with table(running.url) as (match, players):
        play(match, players, 3)
        with ThreadPoolExecutor(1) as pool:
            backup = pool.submit(moonstone, "backup", file, "--data-dir", data)
            for _ in range(MAX_ACTIONS_DURING_BACKUP):
                play(match, players, 1)
                if backup.done():
                    break
        backed_up = backup.result()[0]
        ahead = play(match, players, 3)
        tokens = [player.token for player in players]
        assert any(line.endswith(" audited: 0 faults") for line in moonstone("check", "--data-dir", data))

    restored = moonstone("restore", file, "--data-dir", restored_data)
    assert restored[0] == backed_up.replace("backed up", "restored").replace(" to ", " from ")
    all_events, restored_events = stored(data, match), stored(restored_data, match)
    assert 0 < len(restored_events) < len(all_events)
    assert restored_events == all_events[: len(restored_events)]

    with serving(tmp_path, **SMALL) as served:
        players = [Player(served.url, token=token) for token in tokens]
        tag = f'"{ahead["version"]}-{ahead["head"][:16]}"'
        refused = players[0].answer(
            "POST", f"/v1/matches/{match}/actions", {"action": {"type": "pass"}}, **{"If-Match": tag}
        )
        assert (refused.status_code, refused.json()["code"]) == (httpx.codes.CONFLICT, "history-diverged")
        query = f"after={ahead['version']}&head={ahead['head']}"
        refused = players[0].answer("GET", f"/v1/matches/{match}/events?{query}")
        assert (refused.status_code, refused.json()["code"]) == (httpx.codes.CONFLICT, "history-diverged")
        play(match, players, 3)
        body = {"game": "monkeys_on_the_moon", "seats": 2, "bots": ["random", "random"]}
        bots = players[0].send("POST", "/v1/matches", body)["id"]
        until(lambda: players[0].look(bots)["status"] == "finished", 60, "bots play a new match")
        for player in players:
            player.close()


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


def test_a_timer_rings_in_time_without_clients_and_after_every_worker_was_killed(running: Serving) -> None:
    players = [Player(running.url, name) for name in ("Ada", "Grace")]
    rounds = [start_round(players, seconds) for seconds in ROUNDS]
    first, last = (time.monotonic() + seconds for seconds in (ROUNDS[0], ROUNDS[-1]))
    token = players[0].token
    for player in players:
        player.close()
    workers = running.pids(WORKERS)
    kill(workers)
    workers = replaced(running, workers)
    time.sleep(max(0.0, first - time.monotonic() - 0.3))
    kill({max(workers)})  # the other worker must end the round
    time.sleep(max(0.0, last - time.monotonic() + LATEST_MS / 1000))

    player = Player(running.url, token=token)
    late = []
    for match, deadline in rounds:
        timer, lost = until(partial(first_timer_event, player, match), 60, "the timer rings")
        assert timer["data"]["label"] == "round"
        late.append(timer["at"] - deadline - lost)
    assert min(late) >= 0
    # The median, because the machine may be busy with something else for a moment.
    assert sorted(late)[len(late) // 2] <= LATEST_MS, late
    player.close()
