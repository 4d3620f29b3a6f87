"""The greedy bot plays legally, always the same, and far better than chance."""

import pytest
from msgspec.structs import replace

from service.games.four_monkeys.actions import AnyAction, Burn, Check, Grab, HandBanana, Reveal, Stop, UseReplenish
from service.games.four_monkeys.effects import FalseStopCharged
from service.games.four_monkeys.game import GAME
from service.games.four_monkeys.state import State
from service.games.four_monkeys.view import Observation
from service.games.protocol import Task
from tests.length import LENGTH
from tests.service.games.four_monkeys.builders import (
    asked_to_check,
    cards,
    legal,
    seat_has,
    stacked,
    table,
    ten,
    tile,
    tiles,
)
from tests.service.games.four_monkeys.virtual_time import match
from tests.service.games.matches import draws
from tests.service.games.rng import ScriptedRng

MATCHES = 200
CHUNKS = 4
POOR = cards(0, "ct", "cs")
"""A hand that makes no combo of the stacks below."""


def choice(state: State, *, bluff: bool = False) -> AnyAction | None:
    """What the greedy bot does at seat 0."""
    (step, *_) = [one.step for one in GAME.decisions(state) if one.seat == 0]
    task: Task[AnyAction, Observation] = Task(0, step, GAME.observation(state, 0), tuple(legal(state)))
    return GAME.bots["greedy"](task, ScriptedRng(0, {"bluff": bluff}))


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(min(LENGTH, CHUNKS)))
def test_greedy_beats_chance_in_six_of_ten_matches_at_the_least(chunk: int) -> None:
    won = 0.0
    for seed in range(chunk, MATCHES, CHUNKS):
        seat = seed // CHUNKS % 2
        bots = ["random", "random"]
        bots[seat] = "greedy"
        *_, end = match(GAME, bots, {}, f"greedy {seed}")
        winners = GAME.score(end.after, draws("")).winners
        won += (seat in winners) / len(winners)
    assert won >= 0.6 * MATCHES / CHUNKS


@pytest.mark.long
def test_greedy_calls_no_false_stop_whoever_plays_and_however_long() -> None:
    for bots in (["greedy", "random"], ["greedy"] * 3, ["greedy", "greedy", "random", "random"]):
        for seed in range(min(4 * LENGTH, 20)):
            for step in match(GAME, bots, {"round_seconds": 600}, f"calm {seed}"):
                for effect in step.effects:
                    assert not isinstance(effect, FalseStopCharged) or bots[effect.seat] == "random"


def test_greedy_among_its_like_stops_with_ten_combos_before_the_bell() -> None:
    for seats in (2, 4, 8):
        steps = list(match(GAME, ["greedy"] * seats, {"banana_skins": True}, f"alike {seats}"))
        rung = [
            step for step in steps if step.move is not None and step.move.seat < 0 and step.move.action.label == "round"
        ]
        assert not rung


def test_the_same_seed_gives_the_same_match() -> None:
    once, again = (list(match(GAME, ["greedy", "random", "greedy"], {"family": True}, "same")) for _ in range(2))
    assert once == again


def drawn_dry(state: State) -> State:
    """The same, where all decks are drawn."""
    return replace(state, seats=tuple(replace(held, deck=()) for held in state.seats))


STACKS = stacked(seat_has(table(), 0, hand=POOR, replenish_used=True), ("K02-1", "K03-1"), ("K10-1",))
RICH = seat_has(STACKS, 0, hand=cards(0, "cc", "cc", "cc", "ct", "sp"))
SKINS = replace(seat_has(table(4, banana_skins=True), 0, just_grabbed=True), points=((9,), (1,), (4,), (2,)), round=2)
CHECKING = asked_to_check(
    seat_has(table(), 0, tiles=(tile("K02-1", *cards(0, "ct", "sp")), tile("K03-1", *POOR), tile("K04-1", *POOR))), 0
)


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        # the best combo that the hand makes, with nothing to spare
        (RICH, Grab(1, "K10-1", cards(0, "cc", "cc", "cc"))),
        # not one that it has, but the next best
        (seat_has(RICH, 0, tiles=tiles("K10-2")), Grab(0, "K02-1", cards(0, "ct", "sp"))),
        # golden buttons are kept
        (
            stacked(seat_has(RICH, 0, hand=cards(0, "cc", "ct", "cs", "cp", "cp")), ("K03-1",)),
            Grab(0, "K03-1", cards(0, "ct", "cs", "cp", "cp")),
        ),
        # a true stop
        (seat_has(RICH, 0, tiles=ten()), Stop()),
        # a new tile to see
        (stacked(seat_has(RICH, 0, tiles=tiles("K02-2", "K10-2")), ("K02-1", "K03-1"), ("K10-1",)), Reveal(0)),
        # a skin for who is ahead
        (SKINS, HandBanana(2)),
        (seat_has(SKINS, 3, tiles=(tile("K07-1", burned=True),)), HandBanana(3)),
        # more cards, by the tile that is for it or else by a burn
        (seat_has(STACKS, 0, replenish_used=False), UseReplenish("extra")),
        (seat_has(STACKS, 0, tiles=(tile("K05-1", burned=True), tile("K04-1"))), Burn("K04-1")),
        # no more cards, but the best bluff
        (STACKS, Grab(1, "K10-1", POOR[:1])),
        # nothing that only costs points: no combo twice, no burn for cards that help nobody or are not there, no false stop
        (stacked(seat_has(STACKS, 0, tiles=tiles("K02-2", "K10-2")), ("K10-1",), ("K02-1",)), None),
        (stacked(STACKS, ()), None),
        (seat_has(STACKS, 0, hand=(), tiles=tiles("K04-1")), Burn("K04-1")),
        (drawn_dry(seat_has(STACKS, 0, hand=(), tiles=tiles("K04-1"), replenish_used=False)), None),
        # a wrong combo first, the one owned longest
        (CHECKING, Check("K03-1")),
    ],
)
def test_greedy_prefers(state: State, expected: AnyAction | None) -> None:
    chosen = choice(state)
    if isinstance(chosen, Grab) and isinstance(expected, Grab):
        assert set(chosen.cards) == set(expected.cards)  # type: ignore[arg-type]  # a bot names cards, no pattern
        chosen = replace(chosen, cards=expected.cards)
    assert chosen == expected


def test_greedy_bluffs_sometimes_though_cards_could_help() -> None:
    state = seat_has(STACKS, 0, tiles=(tile("K04-1"),))
    assert choice(state) == Burn("K04-1")
    assert choice(state, bluff=True) == Grab(1, "K10-1", POOR[:1])


def test_greedy_does_not_gather_cards_without_end() -> None:
    state = seat_has(STACKS, 0, tiles=(tile("K04-1"),), hand=cards(0, *["ct"] * 4, *["cs"] * 4, *["cp"] * 3))
    state = stacked(state, ("K05-1",))
    chosen = choice(state)
    assert isinstance(chosen, Grab)
    assert chosen.combo == "K05-1"
