"""The greedy bot plays every variant reproducibly, and much better than random actions."""

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from service.games.monsters_on_the_moon.actions import (
    AnyAction,
    ChooseFirst,
    ChooseMission,
    EndTurn,
    GiveCard,
    PlaceCard,
    PlacePlate,
    PlaceSpaceship,
)
from service.games.monsters_on_the_moon.bots import greedy
from service.games.monsters_on_the_moon.game import GAME
from service.games.monsters_on_the_moon.state import State, awaited_seats
from service.games.protocol import Outcome, Task
from service.games.visibility import Seat
from tests.length import LENGTH, LONG
from tests.service.games.monsters_on_the_moon.builders import (
    NOTHING,
    after,
    at_step,
    before_gifts,
    decide,
    legal,
    play,
    table,
    turn_of,
    with_cards,
    with_display,
    with_holdings,
)
from tests.service.games.rng import ScriptedRng

CHUNK = 25 if LONG else 10
MATCHES = CHUNK * min(LENGTH, 8)
WINS_OF_A_CHUNK = 20 if LONG else 8
"""Four in five."""


def choice(state: State, seat: Seat | None = None) -> AnyAction:
    """The greedy bot's action for the first awaited seat, or for another one."""
    mover = awaited_seats(state)[0] if seat is None else seat
    step = state.step
    assert step is not None
    return greedy(Task(mover, step, GAME.observation(state, mover), tuple(legal(state, mover))), ScriptedRng())


def match(seats: int, seed: int, greedy: set[Seat], options: Mapping[str, object] = NOTHING) -> Outcome:
    """The outcome of greedy bots at some seats against random bots at the others."""
    rng = ScriptedRng(seed)
    state = after(None, GAME.setup(seats, GAME.options(seats, options), 0, rng))
    while movers := awaited_seats(state):
        seat = movers[0]
        action = choice(state, seat) if seat in greedy else rng.pick("action", legal(state, seat))
        state = after(state, decide(state, action, seat, rng=rng))
    return GAME.score(state, rng)


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, MATCHES, CHUNK))
def test_it_wins_four_of_five_matches_against_a_random_bot(first: int) -> None:
    wins = sum(match(2, seed, {seed % 2}).winners == (seed % 2,) for seed in range(first, first + CHUNK))
    assert wins >= WINS_OF_A_CHUNK


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("seats", "options"), [(3, {"missions": "secret"}), (4, {"missions": "open", "layout": "long_ways"})]
)
def test_it_wins_most_matches_of_more_seats_too(seats: int, options: Mapping[str, object]) -> None:
    assert sum(match(seats, seed, {0}, options).winners == (0,) for seed in range(5)) >= 4


@pytest.mark.unmeasured
def test_a_single_player_does_much_better_than_random() -> None:
    for seed in range(5):
        assert match(1, seed, {0}).scores[0] >= match(1, seed, set()).scores[0] + 20


@pytest.mark.unmeasured
def test_it_plays_reproducibly() -> None:
    assert match(3, 3, {0, 1, 2}) == match(3, 3, {0, 1, 2})


def laying_on(picture: str, hand: str = "A07", *, seats: int = 2, ships: int = 0) -> State:
    """The state in which seat 0, the werewolf, has to lay a card on a picture, with nothing else on the table."""
    state = with_cards(table(seats), ("A07", 0, 0, 0))
    return with_holdings(turn_of(with_display(state, picture), 0, hand), 0, ships=ships)


def covered(state: State, action: AnyAction) -> set[str]:
    """The kinds of squares that a placement covers."""
    assert isinstance(action, PlaceCard)
    before, now = state.display, play(state, action).display
    return {square.shows for cell, square in before.items() if now[cell] != square}


def test_it_covers_crystals_and_opposing_heads_but_not_its_own() -> None:
    assert covered(laying_on("c e e"), choice(laying_on("c e e"))) >= {"crystal"}
    state = laying_on("W . HH")
    hidden = covered(state, choice(state))
    assert "witch" in hidden
    assert "werewolf" not in hidden


def test_it_lays_own_heads_beside_own_heads() -> None:
    state = laying_on(". . W W W\n. . . . .\nH . . . .")
    state = play(state, choice(state))
    assert GAME.score(replace(state, step=None), ScriptedRng()).breakdown[0]["largest_group"] >= 10


def test_it_lays_crystals_on_empty_squares() -> None:
    state = laying_on("V e e e V\nV e e e V", "A19")  # H c W over H c V
    later = play(state, choice(state))
    assert later.seats[0].field == 2


def test_a_single_player_covers_witches_rather_than_vampires() -> None:
    state = with_cards(before_gifts(1), ("A07", 0, 0, 0))
    state = turn_of(with_display(state, "HH V V"), 0, "A07")
    assert "vampire" not in covered(state, choice(state))


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        # A02 has three of the seat's own heads, A01 two
        (with_holdings(before_gifts(2), 0, hand=("A02", "A01")), GiveCard("A01")),
        (at_step(table(3), "choose_first", 1), ChooseFirst(2)),
        (at_step(table(2), "choose_first", 1), ChooseFirst(0)),
        (at_step(laying_on("c W W c", ships=2), "place_spaceship", 0), PlaceSpaceship(0, 0)),
        (at_step(laying_on("c H . V c W", ships=2), "place_spaceship", 0), PlaceSpaceship(4, 0)),
        (at_step(laying_on("W"), "place_spaceship", 0), EndTurn()),
        (at_step(laying_on("W HH V\nH V V"), "place_plate", 0), PlacePlate(1, 0)),
        (at_step(laying_on("V H W\nV V V"), "place_plate", 0), PlacePlate(1, 0)),
        (
            at_step(with_display(table(2, missions=(1, 2, 3, 4, 5, 6), options={"missions": "open"}), "W W\nW W"),
                    "choose_mission", None),
            ChooseMission(2),
        ),
    ],
)  # fmt: skip
def test_it_prefers(state: State, expected: AnyAction) -> None:
    assert choice(state) == expected


def test_a_spaceship_waits_until_the_card_lies() -> None:
    assert isinstance(choice(laying_on("c c c", ships=2)), PlaceCard)
