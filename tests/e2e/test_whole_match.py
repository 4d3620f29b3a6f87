"""A whole match over HTTP against the running service."""

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Final

import httpx
import pytest

from service.audit.verify import verify
from service.games.registry import GAMES
from tests.e2e.client import Json, Player, Watcher
from tests.length import LONG
from tests.serving import Served

EVERY: Final = 1 if LONG else 7
"""Every nth version is compared."""


@contextmanager
def table(url: str) -> Iterator[tuple[str, list[Player]]]:
    """A match of two bots, then two people."""
    players = [Player(url, name) for name in ("Ada", "Grace")]
    body = {"game": "monkeys_on_the_moon", "seats": 4, "bots": ["greedy", "random"], "options": {"treachery": True}}
    match = players[0].send("POST", "/v1/matches", body)["id"]
    for number, player in enumerate(players):
        player.send("POST", f"/v1/matches/{match}/seats", {"client_seed": f"seed of {number}"})
    yield match, players
    for player in players:
        player.close()


def play_on(match: str, players: list[Player], after_action: Callable[[int], None]) -> dict[str, int]:
    """Play all people's turns to the end; returns the acknowledged versions by key."""
    acknowledged: dict[str, int] = {}
    for number in count():
        status = players[0].look(match)["status"]
        if status == "finished":
            return acknowledged
        for player in players:
            action = player.choose(match)
            if action is None:
                continue
            key = f"action-{number}-{len(acknowledged)}"
            answer = player.answer(
                "POST", f"/v1/matches/{match}/actions", {"action": action}, **{"Idempotency-Key": key}
            )
            assert answer.status_code == httpx.codes.CREATED, answer.text
            acknowledged[key] = answer.json()["version"]
            after_action(len(acknowledged))
    raise AssertionError("unreachable")


def exported(player: Player, match: str) -> list[Json]:
    answer = player.answer("GET", f"/v1/matches/{match}/export")
    lines = answer.content.splitlines(keepends=True)
    verdict = verify(lines, GAMES)
    assert verdict.match.outcome is not None
    assert verdict.match.status == "finished"
    return [json.loads(line) for line in lines[1:]]


@pytest.mark.long
def test_clients_play_a_whole_match_and_their_streams_give_the_same_views_as_the_server(served: Served) -> None:
    with table(served.url) as (match, players):
        watchers = [Watcher(player, match, seat, every=EVERY) for player, seat in zip(players, (2, 3), strict=True)]

        def follow(watcher: Watcher) -> None:
            watcher.watch(events=20)  # and drop the stream in the middle
            watcher.watch()

        threads = [threading.Thread(target=follow, args=(watcher,)) for watcher in watchers]
        for thread in threads:
            thread.start()
        stale = Counter[str]()
        last: dict[str, Json] = {}

        def disturb(number: int) -> None:
            """Repeat every third action with its key, and send every fifth with an outdated version."""
            view = players[0].look(match)
            if number % 5 == 0:
                old = players[0].look(match, view["version"] - 1)
                tag = f'"{old["version"]}-{old["head"][:16]}"'
                action = players[0].choose(match) or {"type": "pass"}
                answer = players[0].answer(
                    "POST", f"/v1/matches/{match}/actions", {"action": action}, **{"If-Match": tag}
                )
                stale[answer.json()["code"]] += 1
                assert answer.status_code == httpx.codes.PRECONDITION_FAILED
            if number % 3 == 0 and last:
                again = players[0].answer(
                    "POST", f"/v1/matches/{match}/actions", last["body"], **{"Idempotency-Key": last["receipt"]["key"]}
                )
                assert again.headers["Idempotent-Replay"] == "true"
                assert again.json() == last["receipt"]["answer"]
            action_now = players[0].choose(match)
            if action_now is not None and number % 3 == 1:
                body, key = {"action": action_now}, f"sent-{number}"
                answer = players[0].answer("POST", f"/v1/matches/{match}/actions", body, **{"Idempotency-Key": key})
                if answer.status_code == httpx.codes.CREATED:
                    last.update(body=body, receipt={"key": key, "answer": answer.json()})

        play_on(match, players, disturb)
        for thread in threads:
            thread.join(timeout=30)
            assert not thread.is_alive()
        assert stale["stale-version"] >= 3
        assert last, "no action was sent twice"
        newest = players[0].look(match)
        for watcher, player in zip(watchers, players, strict=True):
            assert watcher.version == newest["version"]
            assert watcher.ends[-1]["reason"] == "finished"
            assert watcher.follower.table == (player.look(match)["observation"] or {})
            for version, view in watcher.views.items():
                assert view == (player.look(match, version)["observation"] or {}), version
        events = exported(players[0], match)
        assert [event["version"] for event in events] == list(range(1, newest["version"] + 1))
        assert events[-2]["data"]["outcome"] == newest["outcome"]
