"""The Smartest Monkey, the points of a round, and the outcome (FOU-21, FOU-23, FOU-24, FOU-33)."""

from typing import Final

from service.games.four_monkeys.components import BOX
from service.games.four_monkeys.effects import RoundScored
from service.games.four_monkeys.state import Holdings, State, replenish_value, total, visible_value
from service.games.kit.ranking import outcome
from service.games.protocol import Outcome, Rng
from service.games.visibility import Seat, Viewer

FAMILY_WRONG: Final = -1
"""Points for each wrong combo in the family version. Repeated combos cost nothing there (FOU-33)."""
ORANGE_A_POINT: Final = 2
"""Orange tiles that score one point together in the family version (FOU-33)."""


def smartest(state: State) -> tuple[Seat, ...]:
    """The seats that rank first by the tiles that they still keep. The Hand replenish tile counts."""
    rank = _family_rank if state.options.family else _rank
    ranks = [rank(state, seat) for seat in range(len(state.seats))]
    return tuple([seat for seat, found in enumerate(ranks) if found == max(ranks)])


def _values(held: Holdings) -> list[int]:
    """The visible values of the kept tiles and of the Hand replenish tile."""
    return [*map(visible_value, held.tiles), replenish_value(held)]


def _burned(held: Holdings) -> int:
    return sum(tile.burned for tile in held.tiles) + held.replenish_used


def _rank(state: State, seat: Seat) -> tuple[int, ...]:
    """Most visible points, then most burned tiles (FOU-21)."""
    held = state.seats[seat]
    return (sum(_values(held)), _burned(held))


def _family_rank(state: State, seat: Seat) -> tuple[int, ...]:
    """Most tiles, fewest burned, then the highest value, the second highest and so on, then the score (FOU-33)."""
    held = state.seats[seat]
    return (len(held.tiles), -_burned(held), *sorted(_values(held), reverse=True), total(state, seat))


def round_points(state: State, seat: Seat) -> RoundScored:
    """The points of a seat in a round (step 4)."""
    held = state.seats[seat]
    skins = BOX.banana_skin * held.received_skins
    smart = 0
    if state.options.family:
        burned = _burned(held)
        tiles = len(held.tiles) + 1 - burned + burned // ORANGE_A_POINT
        set_aside = FAMILY_WRONG * len(held.wrong)
        smart = int(seat in state.smartest)
        clause = "FOU-33"
    else:
        tiles = sum(_values(held))
        set_aside = BOX.set_aside * len(held.repeated + held.wrong)
        clause = "FOU-23"
    return RoundScored(seat, tiles, set_aside, skins, smart, tiles + set_aside + skins + smart, clause)


def points(state: State, _viewer: Viewer) -> tuple[int, ...]:
    """The points of each seat in the rounds that are over, minus those lost by false stops."""
    return tuple([total(state, seat) for seat in range(len(state.seats))])


def score(state: State, _rng: Rng) -> Outcome:
    """The outcome of a match that is over. Ties are broken by the points of the last round (FOU-24)."""
    breakdown = [
        {
            **{f"round_{number}": points for number, points in enumerate(rounds, 1)},
            "false_stops": BOX.false_stop * stops,
        }
        for rounds, stops in zip(state.points, state.false_stops, strict=True)
    ]
    return outcome(breakdown, [rounds[-1:] for rounds in state.points])
