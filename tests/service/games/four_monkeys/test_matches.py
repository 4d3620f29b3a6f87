"""Whole matches in virtual time: all that can happen does, nothing gets lost, and every value survives its JSON form."""

from collections import Counter
from typing import Any, Final, Union

import msgspec
import pytest

from service.games.four_monkeys.actions import ACTIONS
from service.games.four_monkeys.apply import _FOLD
from service.games.four_monkeys.effects import (
    EFFECTS,
    ComboChecked,
    FalseStopCharged,
    MatchEnded,
    RepeatedSetAside,
    StopCalled,
    TableSet,
)
from service.games.four_monkeys.game import GAME
from service.games.four_monkeys.state import State
from service.games.protocol import CLOCK
from service.games.registry import GAMES
from service.games.visibility import Seat
from tests.length import LENGTH
from tests.service.games.four_monkeys.builders import table
from tests.service.games.four_monkeys.tables import pieces
from tests.service.games.four_monkeys.virtual_time import match
from tests.service.games.matches import draws

OPTIONS: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"banana_skins": True},
    {"family": True, "timer_visible": False},
    {"banana_skins": True, "family": True, "round_seconds": 30},
    {"round_seconds": 600, "countdown_seconds": 0},
)
CHUNKS: Final = min(LENGTH, 8)
EACH: Final = 25


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_in_random_matches_everything_happens_and_no_card_tile_or_skin_is_ever_lost(chunk: int) -> None:
    """In the long form two hundred matches in all chunks together, over all numbers of players and options."""
    seen: Counter[str] = Counter()
    for number in range(chunk * EACH, (chunk + 1) * EACH):
        seats = 2 + number % 7
        whole = None
        bots = ["random"] * seats
        for ply, step in enumerate(match(GAME, bots, OPTIONS[number % len(OPTIONS)], f"random {number}")):
            whole = whole or pieces(step.after)
            assert ply % 10 or pieces(step.after) == whole
            assert [one.seat for one in GAME.decisions(step.after) if one.seat != CLOCK] == _able(step.after)
            seen.update(_told(step.move, step.effects))
        assert step.effects[-1] == MatchEnded()
        assert pieces(step.after) == whole
        outcome = GAME.score(step.after, draws(""))
        assert len(outcome.breakdown[0]) == (5 if seats > 6 else 4)
    assert set(seen) >= {
        *(str(action.__struct_config__.tag) for action in ACTIONS),
        *(effect.__name__ for effect in EFFECTS),
        "false stop",
        "repeated",
        "correct",
        "wrong",
    }


def _able(state: State) -> list[Seat]:
    """All who may do anything; a law says that only they do."""
    return [seat for seat in range(len(state.seats)) if next(GAME.legal_actions(state, seat), None) is not None]


def _told(move: Any, effects: tuple[Any, ...]) -> Counter[str]:
    """What happened, by its names."""
    told = Counter(type(effect).__name__ for effect in effects)
    if move is not None:
        told[str(move.action.__struct_config__.tag)] += 1
    for effect in effects:
        match effect:
            case StopCalled():
                told["true stop" if effect.different >= 10 else "false stop"] += 1
            case FalseStopCharged():
                told["charged"] += 1
            case RepeatedSetAside():
                told["repeated"] += 1
            case ComboChecked():
                told["correct" if effect.correct else "wrong"] += 1
            case _:
                pass
    return told


def test_true_stops_come_from_bots_that_can_count() -> None:
    told: Counter[str] = Counter()
    for step in match(GAME, ["greedy", "random", "greedy"], {}, "stops"):
        told += _told(step.move, step.effects)
    assert told["true stop"]
    assert told["false stop"] == told["charged"] > 0


@pytest.mark.parametrize("seats", [2, 7])
def test_a_match_folds_again_from_its_json(seats: int) -> None:
    decode = msgspec.json.Decoder(Union[EFFECTS]).decode  # noqa: UP007  (a union of a tuple)
    state: State | None = None
    for step in match(GAME, ["random"] * seats, {"banana_skins": True}, "json"):
        for effect in step.effects:
            again = decode(msgspec.json.encode(effect))
            assert again == effect
            state = GAME.apply(state, again)
        assert state == step.after
    assert msgspec.json.decode(msgspec.json.encode(state), type=State) == state


def test_every_effect_is_folded() -> None:
    assert {TableSet, *_FOLD} == set(EFFECTS)


def test_an_effect_before_the_table_is_set_is_loud() -> None:
    with pytest.raises(TypeError, match="MatchEnded before the table is set"):
        GAME.apply(None, MatchEnded())


def test_the_registry_has_the_game() -> None:
    assert GAMES["four_monkeys"] is GAME
    assert table().options == GAME.options(2, {})
