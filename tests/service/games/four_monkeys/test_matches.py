"""Whole matches in virtual time: every kind of event occurs, no piece is lost, and every value survives its JSON form."""

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
from tests.length import LENGTH, LONG
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
EACH: Final = 25 if LONG else 7


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_in_random_matches_every_kind_of_event_occurs_and_no_piece_is_lost(chunk: int) -> None:
    """The long form plays two hundred matches in all chunks together, with all numbers of players and options."""
    seen: Counter[str] = Counter()
    for number in range(chunk * EACH, (chunk + 1) * EACH):
        seats = 2 + number % 7
        expected = None
        bots = ["random"] * seats
        for ply, step in enumerate(match(GAME, bots, OPTIONS[number % len(OPTIONS)], f"random {number}")):
            expected = expected or pieces(step.after)
            assert ply % 10 or pieces(step.after) == expected
            assert [one.seat for one in GAME.decisions(step.after) if one.seat != CLOCK] == _acting_seats(step.after)
            seen.update(_names_of(step.move, step.effects))
        assert step.effects[-1] == MatchEnded()
        assert pieces(step.after) == expected
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


def _acting_seats(state: State) -> list[Seat]:
    """The seats that can act. A law tests that only they have decisions."""
    return [seat for seat in range(len(state.seats)) if next(GAME.legal_actions(state, seat), None) is not None]


def _names_of(move: Any, effects: tuple[Any, ...]) -> Counter[str]:
    """The names of what happened in a step."""
    seen = Counter(type(effect).__name__ for effect in effects)
    if move is not None:
        seen[str(move.action.__struct_config__.tag)] += 1
    for effect in effects:
        match effect:
            case StopCalled():
                seen["true stop" if effect.different >= 10 else "false stop"] += 1
            case FalseStopCharged():
                seen["charged"] += 1
            case RepeatedSetAside():
                seen["repeated"] += 1
            case ComboChecked():
                seen["correct" if effect.correct else "wrong"] += 1
            case _:
                pass
    return seen


def test_bots_call_true_stops() -> None:
    seen: Counter[str] = Counter()
    for step in match(GAME, ["greedy", "random", "greedy"], {}, "stops"):
        seen += _names_of(step.move, step.effects)
    assert seen["true stop"]
    assert seen["false stop"] == seen["charged"] > 0


@pytest.mark.unmeasured
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


def test_an_effect_before_table_set_raises() -> None:
    with pytest.raises(TypeError, match="MatchEnded comes before TableSet"):
        GAME.apply(None, MatchEnded())


def test_the_registry_has_the_game() -> None:
    assert GAMES["four_monkeys"] is GAME
    assert table().options == GAME.options(2, {})
