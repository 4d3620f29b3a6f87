"""A whole match in this process: the same seed gives the same match, and its file can be verified."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from service.audit.match_file import export
from service.audit.verify import CHECKS, verify
from service.games.monkeys_on_the_moon.game import GAME as MONKEYS
from service.games.protocol import AnyGame
from service.games.registry import GAMES
from service.match.model import BOT_PACE_MS
from service.ops.simulate import play
from tests.service.arena import refused
from tests.service.games.toy.game import TOY

CASES: list[tuple[AnyGame, tuple[str, ...], dict[str, Any]]] = [
    (TOY, ("random", "high"), {}),
    (TOY, ("random",) * 4, {"tricks": 9, "countdown_ms": 0}),
    (MONKEYS, ("random", "greedy"), {}),
    (MONKEYS, ("greedy", "random", "random"), {"treachery": True}),
    *((game, ("random", "random"), {}) for game in GAMES.values() if game is not MONKEYS),
]


def events_of(
    game: AnyGame, bots: tuple[str, ...], options: dict[str, Any], seed: bytes | None
) -> list[dict[str, Any]]:
    ports, match = play(game, bots, options, seed)
    lines: list[dict[str, Any]] = [msgspec.json.decode(line) for line in export(ports, match)]
    return lines


@pytest.mark.parametrize(("game", "bots", "options"), CASES)
def test_a_local_match_is_verified(game: AnyGame, bots: tuple[str, ...], options: dict[str, Any]) -> None:
    ports, match = play(game, bots, options)
    verdict = verify(export(ports, match), {game.info.id: game})
    assert (verdict.match, verdict.checks) == (match, CHECKS)
    assert match.status == "finished"


@pytest.mark.parametrize(("game", "bots", "options"), CASES)
def test_the_same_seed_gives_the_same_match_except_for_the_salts(
    game: AnyGame, bots: tuple[str, ...], options: dict[str, Any]
) -> None:
    seed = bytes(range(32))
    one, two, other = (events_of(game, bots, options, each_seed) for each_seed in (seed, seed, bytes(32)))
    for line in one[1:] + two[1:] + other[1:]:
        del line["salt"], line["prev"]
    assert one == two != other
    assert one[-1]["data"] == {"server_seed": seed.hex()}


def test_without_a_seed_every_match_is_different() -> None:
    assert events_of(TOY, ("high", "high"), {}, None)[2:] != events_of(TOY, ("high", "high"), {}, None)[2:]


def times_of(game: Any, bots: Sequence[str], **options: Any) -> list[int]:
    ports, match = play(game, bots, options)
    return [msgspec.json.decode(stored)["at"] for stored in ports.log.read(match.id).events]


def test_simulated_time_advances_only_when_nothing_is_due() -> None:
    assert set(times_of(GAMES["monkeys_on_the_moon"], ("random", "random"))) == {0}


def test_bots_of_a_timed_game_take_their_time() -> None:
    times = times_of(TOY, ("high", "high"), countdown_ms=250, tricks=3)
    assert times == sorted(times)
    first = min(time for time in times if time)
    assert 250 + BOT_PACE_MS // 2 <= first <= 250 + 3 * BOT_PACE_MS // 2


def fail(*_: Any) -> Any:
    raise ZeroDivisionError


def test_a_bot_that_fails_waits_for_the_timer() -> None:
    game = replace(TOY, bots={"failing": fail})
    ports, match = play(game, ("failing", "random"), {})
    types = [msgspec.json.decode(stored)["type"] for stored in ports.log.read(match.id).events]
    assert types.count("timer") == 4
    assert match.at == 4 * (1_000 + 30_000 + 100)


def test_rules_that_fail_are_reported() -> None:
    facts = refused("match-suspended", play, replace(TOY, score=fail), ("high", "high"), {}).facts
    assert facts["version"]


@pytest.mark.parametrize(
    ("bots", "options", "code"),
    [
        (("high",), {}, "invalid-options"),
        (("high", "low"), {}, "bot-not-found"),
        (("high",) * 2, {"hand": 0}, "invalid-options"),
    ],
)
def test_invalid_bots_and_options_are_refused(bots: tuple[str, ...], options: dict[str, Any], code: str) -> None:
    refused(code, play, TOY, bots, options)
