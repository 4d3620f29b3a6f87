"""The greedy bot plays legally and reproducibly, and much better than random actions."""

import pytest
from msgspec.structs import replace

from service.games.four_monkeys.actions import AnyAction, Burn, Check, Grab, HandBanana, Reveal, Stop, UseReplenish
from service.games.four_monkeys.effects import FalseStopCharged
from service.games.four_monkeys.game import GAME
from service.games.four_monkeys.state import State
from service.games.four_monkeys.view import Observation
from service.games.protocol import Task
from tests.length import LENGTH, LONG
from tests.service.games.four_monkeys.builders import (
    cards,
    legal,
    table,
    ten,
    tile,
    tiles,
    with_check,
    with_holdings,
    with_stacks,
)
from tests.service.games.four_monkeys.virtual_time import match
from tests.service.games.matches import draws
from tests.service.games.rng import ScriptedRng

CHUNKS = 4
MATCHES = 200 if LONG else 20 * CHUNKS
POOR = cards(0, "ct", "cs")
"""A hand that fulfils no combo of the stacks below."""


def choice(state: State, *, bluff: bool = False) -> AnyAction | None:
    """The greedy bot's action at seat 0."""
    (step, *_) = [one.step for one in GAME.decisions(state) if one.seat == 0]
    task: Task[AnyAction, Observation] = Task(0, step, GAME.observation(state, 0), tuple(legal(state)))
    return GAME.bots["greedy"](task, ScriptedRng(0, {"bluff": bluff}))


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(min(LENGTH, CHUNKS)))
def test_greedy_wins_at_least_six_of_ten_matches_against_a_random_bot(chunk: int) -> None:
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
def test_greedy_calls_no_false_stop_in_any_match() -> None:
    for bots in (["greedy", "random"], ["greedy"] * 3, ["greedy", "greedy", "random", "random"]):
        for seed in range(min(4 * LENGTH, 20)):
            for step in match(GAME, bots, {"round_seconds": 600}, f"calm {seed}"):
                for effect in step.effects:
                    assert not isinstance(effect, FalseStopCharged) or bots[effect.seat] == "random"


def test_greedy_bots_stop_with_ten_combos_before_the_timer_rings() -> None:
    for seats in (2, 4, 8):
        steps = list(match(GAME, ["greedy"] * seats, {"banana_skins": True}, f"alike {seats}"))
        rings = [
            step for step in steps if step.move is not None and step.move.seat < 0 and step.move.action.label == "round"
        ]
        assert not rings


@pytest.mark.unmeasured
def test_the_same_seed_gives_the_same_match() -> None:
    once, again = (list(match(GAME, ["greedy", "random", "greedy"], {"family": True}, "same")) for _ in range(2))
    assert once == again


def with_empty_decks(state: State) -> State:
    """The state with all decks empty."""
    return replace(state, seats=tuple(replace(held, deck=()) for held in state.seats))


STACKS = with_stacks(with_holdings(table(), 0, hand=POOR, replenish_used=True), ("K02-1", "K03-1"), ("K10-1",))
RICH = with_holdings(STACKS, 0, hand=cards(0, "cc", "cc", "cc", "ct", "sp"))
SKINS = replace(
    with_holdings(table(4, banana_skins=True), 0, just_grabbed=True), points=((9,), (1,), (4,), (2,)), round=2
)
CHECKING = with_check(
    with_holdings(table(), 0, tiles=(tile("K02-1", *cards(0, "ct", "sp")), tile("K03-1", *POOR), tile("K04-1", *POOR))),
    0,
)


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        # the best combo that the hand fulfils, without a superfluous card
        (RICH, Grab(1, "K10-1", cards(0, "cc", "cc", "cc"))),
        # a combo that it owns is skipped
        (with_holdings(RICH, 0, tiles=tiles("K10-2")), Grab(0, "K02-1", cards(0, "ct", "sp"))),
        # golden buttons are kept
        (
            with_stacks(with_holdings(RICH, 0, hand=cards(0, "cc", "ct", "cs", "cp", "cp")), ("K03-1",)),
            Grab(0, "K03-1", cards(0, "ct", "cs", "cp", "cp")),
        ),
        # a true stop
        (with_holdings(RICH, 0, tiles=ten()), Stop()),
        # reveals a tile
        (with_stacks(with_holdings(RICH, 0, tiles=tiles("K02-2", "K10-2")), ("K02-1", "K03-1"), ("K10-1",)), Reveal(0)),
        # gives a skin to the leading seat
        (SKINS, HandBanana(2)),
        (with_holdings(SKINS, 3, tiles=(tile("K07-1", burned=True),)), HandBanana(3)),
        # draws cards, with the Hand replenish tile or by a burn
        (with_holdings(STACKS, 0, replenish_used=False), UseReplenish("extra")),
        (with_holdings(STACKS, 0, tiles=(tile("K05-1", burned=True), tile("K04-1"))), Burn("K04-1")),
        # no further cards, but the best bluff
        (STACKS, Grab(1, "K10-1", POOR[:1])),
        # no action that only costs points: no second copy of a combo, no burn without use or without cards, no false
        # stop
        (with_stacks(with_holdings(STACKS, 0, tiles=tiles("K02-2", "K10-2")), ("K10-1",), ("K02-1",)), None),
        (with_stacks(STACKS, ()), None),
        (with_holdings(STACKS, 0, hand=(), tiles=tiles("K04-1")), Burn("K04-1")),
        (with_empty_decks(with_holdings(STACKS, 0, hand=(), tiles=tiles("K04-1"), replenish_used=False)), None),
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


def test_greedy_bluffs_sometimes_even_if_drawing_cards_could_help() -> None:
    state = with_holdings(STACKS, 0, tiles=(tile("K04-1"),))
    assert choice(state) == Burn("K04-1")
    assert choice(state, bluff=True) == Grab(1, "K10-1", POOR[:1])


def test_greedy_does_not_gather_cards_without_end() -> None:
    state = with_holdings(STACKS, 0, tiles=(tile("K04-1"),), hand=cards(0, *["ct"] * 4, *["cs"] * 4, *["cp"] * 3))
    state = with_stacks(state, ("K05-1",))
    chosen = choice(state)
    assert isinstance(chosen, Grab)
    assert chosen.combo == "K05-1"
