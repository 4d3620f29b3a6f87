"""Backup and restore: a service is backed up while people play, and the store is restored elsewhere."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
from click.testing import CliRunner

from service.ops import connection
from service.ops.cli import main
from service.settings import read
from tests.e2e.client import Json, Player
from tests.e2e.test_whole_match import table
from tests.serving import SMALL, serving
from tests.waiting import until

MAX_ACTIONS_DURING_BACKUP = 40
"""The most actions while the backup is taken; a match has twice as many."""


def moonstone(*arguments: str) -> list[str]:
    """The output of a command that must succeed."""
    done = CliRunner().invoke(main, arguments)
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


def test_a_backup_taken_during_a_match_is_a_prefix_and_the_match_continues_after_its_restore(tmp_path: Path) -> None:
    first, second, file = tmp_path / "first", tmp_path / "second", tmp_path / "backup"
    first.mkdir()
    second.mkdir()
    with serving(first, **SMALL) as served, table(served.url) as (match, players):
        play(match, players, 3)
        with ThreadPoolExecutor(1) as pool:
            backup = pool.submit(moonstone, "backup", str(file), "--data-dir", str(first / "data"))
            for _ in range(MAX_ACTIONS_DURING_BACKUP):
                play(match, players, 1)
                if backup.done():
                    break
        assert backup.result() == [f"backed up 1 matches to {file}"]
        ahead = play(match, players, 3)
        tokens = [player.token for player in players]
        assert moonstone("check", "--data-dir", str(first / "data"))[-2].endswith("0 audited: 0 faults")

    restored = moonstone("restore", str(file), "--data-dir", str(second / "data"))
    assert restored[0] == f"restored 1 matches from {file}"
    all_events, restored_events = (stored(folder / "data", match) for folder in (first, second))
    assert 0 < len(restored_events) < len(all_events)
    assert restored_events == all_events[: len(restored_events)]

    with serving(second, **SMALL) as served:
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
