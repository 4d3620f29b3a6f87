"""`moonstone play` and `moonstone verify` at a terminal."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from service.games.four_monkeys.game import GAME as FOUR_MONKEYS
from service.games.kit.options import parse
from service.games.monsters_on_the_moon.game import GAME as MONSTERS
from service.games.protocol import AnyGame
from service.games.registry import GAMES
from service.ops import local_commands
from tests.command_line import run
from tests.service.games.toy.game import TOY

SEED = bytes(range(32)).hex()


@pytest.fixture(autouse=True)
def games(monkeypatch: pytest.MonkeyPatch) -> dict[str, AnyGame]:
    """The games of these tests: only the toy game."""
    hosted: dict[str, AnyGame] = {"toy": TOY}
    monkeypatch.setattr(local_commands, "GAMES", hosted)
    return hosted


def test_the_outcome_is_printed_by_ranks() -> None:
    done = run("play", "toy", "--bots", "high,random", "--seed", SEED)
    assert done.exit_code == 0, done.output
    first, end, *ranks, last = done.output.splitlines()
    assert first == "Toy. Seats: 2. Events: 20."
    assert end.endswith(" The game is over.")
    assert [line.split(":")[0] for line in ranks] in (
        ["1. seat 0, high", "2. seat 1, random"],
        ["1. seat 1, random", "2. seat 0, high"],
    )
    assert last == f"Seed: {SEED}"


def test_the_rank_of_a_single_player_is_printed(games: dict[str, AnyGame]) -> None:
    games["monsters_on_the_moon"] = GAMES["monsters_on_the_moon"]
    _, end, *_ = run("play", "monsters_on_the_moon", "--bots", "random", "--seed", SEED).output.splitlines()
    assert re.search(r" Points: -?\d+\. Rank [1-5] of 5\. ", end), end


def test_the_same_seed_gives_the_same_output() -> None:
    words = ("play", "toy", "--bots", "random,random,high", "--seed")
    assert run(*words, SEED).output == run(*words, SEED).output != run(*words, "00" * 32).output
    assert run("play", "toy", "--bots", "high,high").exit_code == 0


def test_the_outcome_is_printed_as_json() -> None:
    done = run("play", "toy", "--bots", "high,random", "--json", "--seed", SEED)
    message = json.loads(done.output)
    assert list(message) == ["game", "seats", "versions", "seed", "outcome"]
    assert (message["game"], message["seats"], message["versions"]) == ("toy", 2, 20)
    assert set(message["outcome"]) == {"scores", "ranks", "winners", "breakdown"}


def test_matches_that_differ_have_different_ids(tmp_path: Path) -> None:
    ids = set()
    for number, (bots, seed, *options) in enumerate(
        (
            ("high,high", SEED),
            ("high,random", SEED),
            ("high,high", "00" * 32),
            ("high,high", SEED, "--option", "tricks=2"),
            ("high,high", SEED),
        )
    ):
        file = tmp_path / str(number)
        assert run("play", "toy", "--bots", bots, "--seed", seed, *options, "--export", file).exit_code == 0
        ids.add(json.loads(file.read_bytes().splitlines()[0])["match"])
    assert len(ids) == 4


def test_an_option_is_json_or_else_text(tmp_path: Path) -> None:
    file = tmp_path / "match.ndjson"
    options = ("--option", "tricks=2", "--option", "ties=shared", "--option", "timer_visible=false")
    assert run("play", "toy", "--bots", "high,high", *options, "--export", file).exit_code == 0
    created = json.loads(file.read_bytes().splitlines()[1])["data"]["options"]
    assert (created["tricks"], created["ties"], created["timer_visible"]) == (2, "shared", False)


def test_a_match_in_real_time_takes_no_time(games: dict[str, AnyGame], tmp_path: Path) -> None:
    games["four_monkeys"] = FOUR_MONKEYS
    file = tmp_path / "match.ndjson"
    match_options = {
        "banana_skins": True,
        "family": True,
        "round_seconds": 30,
        "timer_visible": False,
        "countdown_seconds": 0,
    }
    options = [word for name, value in match_options.items() for word in ("--option", f"{name}={json.dumps(value)}")]
    done = run("play", "four_monkeys", "--bots", "greedy,random,greedy", *options, "--seed", SEED, "--export", file)
    assert done.exit_code == 0, done.output
    events = [json.loads(line) for line in file.read_bytes().splitlines()[1:]]
    assert events[0]["data"]["options"] == match_options
    assert events[-1]["at"] > 10_000, "bots are paced by the match's own time"
    assert run("verify", file).exit_code == 0


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (("chess", "--bots", "high,high"), "There are: toy."),
        (("toy", "--bots", "high,low"), "There are: high, random."),
        (("toy", "--bots", "high"), "2 to 4 seats. --bots names one bot for each seat."),
        (("toy", "--bots", "high,high", "--option", "cheat=1"), "hand=3, tricks=4"),
        (("toy", "--bots", "high,high", "--option", "hand=9"), "The options with their defaults: hand=3"),
        (("toy", "--bots", "high,high", "--option", "hand"), "as NAME=VALUE"),
        (("toy", "--bots", "high,high", "--option", "hand=2", "--option", "hand=3"), "give each option once"),
        (("toy", "--bots", "high,high", "--seed", SEED.upper()), "64 hex digits, in lower case"),
        (("toy", "--bots", "high,high", "--seed", SEED[1:]), "64 hex digits"),
        (("toy",), "--bots"),
    ],
)
def test_wrong_arguments_are_reported_with_the_valid_values(words: tuple[str, ...], advice: str) -> None:
    done = run("play", *words)
    assert done.exit_code == 2
    assert advice in done.output


def test_the_printed_defaults_are_those_for_the_number_of_bots(games: dict[str, AnyGame]) -> None:
    games["monsters"] = MONSTERS
    for bots in ("greedy,random", "greedy,random,random"):
        done = run("play", "monsters", "--bots", bots, "--option", "walls=yes")
        defaults = msgspec.to_builtins(MONSTERS.options(bots.count(",") + 1, {}))
        assert f"monsters={msgspec.json.encode(defaults['monsters']).decode()}" in done.output


def test_the_message_for_a_game_without_options_says_that_it_has_none(games: dict[str, AnyGame]) -> None:
    toy = games["toy"]
    games["toy"] = replace(toy, info=replace(toy.info, options=NoOptions), options=_no_options)
    done = run("play", "toy", "--bots", "high,high", "--option", "hand=3")
    assert done.exit_code == 2
    assert "It has no options." in done.output


class NoOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


def _no_options(seats: int, given: Mapping[str, object]) -> NoOptions:
    return parse(NoOptions, given, seats, TOY.info.seats)


def test_rules_that_fail_are_reported(games: dict[str, AnyGame]) -> None:
    def fail(*_: Any) -> Any:
        raise ZeroDivisionError

    games["toy"] = replace(TOY, score=fail)
    done = run("play", "toy", "--bots", "high,high")
    assert done.exit_code == 1
    assert "The rules failed" in done.output


# --- verify -----------------------------------------------------------------------------------------------------------
