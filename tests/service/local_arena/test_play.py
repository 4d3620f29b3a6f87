"""Matches played only by the rules: when recorded, they pass both verifiers, also with failing bots."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from service.arena.play import Failed, FailureKind, Played, id_of_match, play
from service.arena.record import Record, player_names
from service.audit.verify import CHECKS, verify
from service.games.bots import RANDOM, bots_of, choose_at_random
from service.games.protocol import AnyGame, Task
from service.games.registry import GAMES
from service.match.randomness import Draws
from tests.length import LONG
from tests.service.audit.match_files import Lines
from tests.service.games.toy.game import TOY
from tests.verifier.verdicts import verdicts

KNOWN: dict[str, AnyGame] = {**GAMES, "toy": TOY}
SEED = bytes(range(32))


class Player:
    """Chooses at random; at its `fails_at`-th decision it fails, or returns `answer`."""

    def __init__(self, fails_at: int = -1, failure: Failed | None = None, answer: Any = None) -> None:
        self.tasks: list[Task[Any, Any]] = []
        self._fails_at = fails_at
        self._failure = failure
        self._answer = answer

    def begin(self) -> None:
        self.tasks = []

    def answer(self, task: Task[Any, Any], key: Callable[[], bytes]) -> Any:
        self.tasks.append(task)
        if len(self.tasks) == self._fails_at:
            if self._failure is not None:
                raise self._failure
            return self._answer
        return choose_at_random(task, Draws(key, {}))


def recorded(game: AnyGame, played: Played, rotation: int = 0) -> Lines:
    names = [f"bot{seat}" for seat in range(len(played.times))]
    record = Record(game, {}, SEED, names, rotation)
    for moved in played.moves:
        record.add(moved)
    return tuple(line[:-1] for line in record.finished(played))


@pytest.mark.long
@pytest.mark.parametrize("name", KNOWN)
def test_a_recorded_match_passes_both_verifiers_with_and_without_failures(name: str, tmp_path: Path) -> None:
    game, files = KNOWN[name], {}
    few, many = game.info.seats[0], game.info.seats[-1]
    for seats in game.info.seats if LONG else (few, many):
        for fails_at in (-1, 1, 3) if LONG or seats == few else (3,):
            crowd = [Player(fails_at if seat == seats - 1 else -1, Failed("crash", "")) for seat in range(seats)]
            played = play(game, {}, SEED, crowd)
            assert [failure.seat for failure in played.failures] == ([] if fails_at < 0 else [seats - 1])
            lines = files[seats, fails_at] = recorded(game, played)
            verdict = verify(lines, KNOWN)
            assert (verdict.match.outcome, verdict.checks) == (played.outcome, CHECKS)
    assert verdicts(files, tmp_path) == dict.fromkeys(files)


def test_a_bot_that_failed_plays_default_actions_for_the_rest_of_its_match() -> None:
    failing = Player(2, Failed("timeout", "slow"))
    played = play(KNOWN["ape_town"], {}, SEED, [Player(), failing])
    assert (len(failing.tasks), len(played.times[1])) == (2, 1)
    by_default = [moved.seat for moved in played.moves if moved.by_default]
    assert set(by_default) == {1}
    assert len(by_default) == sum(moved.seat == 1 for moved in played.moves) - 1


@pytest.mark.parametrize("name", GAMES)
def test_an_illegal_action_is_nonsense_and_changes_nothing(name: str) -> None:
    game = GAMES[name]
    watching = Player()
    play(game, {}, SEED, [watching, Player()])
    done = watching.tasks[0].legal_actions[0]
    last = play(game, {}, SEED, [Player(len(watching.tasks), answer=done), Player()])
    if last.failures:
        (failure,) = last.failures
        assert re.fullmatch(r"illegal action: [A-Z].*[.!] \([a-z-]+, [A-Z0-9]+-\d+\w?\)", failure.detail), (
            failure.detail
        )
        assert failure.kind == "nonsense"
    assert verify(recorded(game, last), KNOWN).match.outcome == last.outcome


def test_a_bot_may_wait_only_in_a_step_with_a_timer() -> None:
    waiting = play(GAMES["four_monkeys"], {}, SEED, [Player(1), Player()])
    assert not waiting.failures
    kinds: list[FailureKind] = [one.kind for one in play(GAMES["ape_town"], {}, SEED, [Player(1), Player()]).failures]
    assert kinds == ["nonsense"]


def test_the_same_seed_is_the_same_match_and_another_seed_another_deal() -> None:
    for game in GAMES.values():
        first, again, other = (play(game, {}, seed, [Player(), Player()]) for seed in (SEED, SEED, bytes(32)))
        assert (first.moves, first.outcome) == (again.moves, again.outcome) != (other.moves, other.outcome)
        assert recorded(game, first) == recorded(game, again)
        assert recorded(game, first)[0] != recorded(game, first, 1)[0], "each rotation has its own match id"


def test_bots_get_the_observation_of_their_seat() -> None:
    players = [Player(), Player()]
    game = GAMES["monkeys_on_the_moon"]
    played = play(game, {}, SEED, players, id_of_match(SEED, 0))
    for seat, player in enumerate(players):
        assert {task.seat for task in player.tasks} == {seat}
        assert {task.match for task in player.tasks} == {verify(recorded(game, played), KNOWN).match.id}
        assert all(type(task.observation) is game.info.observation for task in player.tasks)
        assert all(task.observation.seats[1 - seat].hand is None for task in player.tasks)


def test_every_built_in_bot_plays() -> None:
    for game in GAMES.values():
        for bot in bots_of(game).values():
            player = Player()
            player.answer = lambda task, key, bot=bot: bot(task, Draws(key, {}))  # type: ignore[method-assign, misc]
            assert not play(game, {}, SEED, [player, player]).failures


def test_a_bot_with_several_seats_is_numbered() -> None:
    assert player_names(["a", RANDOM, "a", "a"]) == ["a", RANDOM, "a (2)", "a (3)"]
