"""Each kind of fault has a code, a clause, and facts that fill in its text and contain only what the seat may know."""

from functools import partial

import pytest
from msgspec.structs import replace

import service.games.monsters_on_the_moon as folder
from service.games.monsters_on_the_moon.actions import (
    ChooseFirst,
    ChooseMission,
    EndTurn,
    GiveCard,
    PlaceCard,
    PlacePlate,
    PlaceSpaceship,
)
from service.games.monsters_on_the_moon.game import GAME
from service.games.protocol import CLOCK, Ring
from tests.service.games import refusals
from tests.service.games.monsters_on_the_moon.builders import (
    at_step,
    before_gifts,
    play,
    table,
    turn_of,
    with_cards,
    with_holdings,
)
from tests.service.games.monsters_on_the_moon.wall_tables import builder, built, ring, wall, walls
from tests.service.games.refusals import check_codes, check_refused

CARD = PlaceCard("A10", 3, 0, 0)
GIVING = before_gifts(3)
LAYING = turn_of(with_cards(table(3), ("A09", 0, 0, 0), ("ARM", 0, 2, 0)), 1, "A10")  # H c W over V V H
LANDED = with_holdings(play(LAYING, PlaceSpaceship(1, 0)), 1, ships=1)
PLATE = at_step(replace(LAYING, turn=replace(LAYING.turn, plates=1)), "place_plate", 1)
AFTER = at_step(replace(LAYING, turn=replace(LAYING.turn, card="A10")), "place_spaceship", 1)
FIRST = at_step(LAYING, "choose_first", 1)
MISSION = at_step(table(3, missions=(1, 2, 3, 4, 5, 6, 7, 8), options={"missions": "secret"}), "choose_mission", None)
BUILDING = builder("W W W\nW W W")
BUILT = play(BUILDING, *walls("h 0 0", "h 1 0 2"))
OVER = replace(LAYING, step=None, awaited=None)


Fault = partial(refusals.Fault, seat=1)

FAULTS = [
    Fault(OVER, CARD, "game-over", "MON-32"),
    Fault(OVER, Ring("bell"), "game-over", "MON-32", seat=CLOCK),
    Fault(LAYING, CARD, "not-your-turn", "MON-10", seat=0),
    Fault(LAYING, CARD, "not-your-turn", "MON-10", seat=9),
    Fault(LAYING, Ring("bell"), "not-your-turn", "MON-10", seat=CLOCK),
    Fault(LAYING, Ring("bell"), "no-bell", "MON-10"),
    Fault(with_holdings(GIVING, 1, gift="A04"), GiveCard("A03"), "not-your-turn", "MON-2"),
    Fault(with_holdings(MISSION, 1, mission=3), ChooseMission(4), "not-your-turn", "MON-71"),
    Fault(AFTER, EndTurn(), "not-your-turn", "MON-23", seat=2),
    Fault(PLATE, PlacePlate(0, 0), "not-your-turn", "MON-22", seat=2),
    Fault(FIRST, ChooseFirst(1), "not-your-turn", "MON-31", seat=2),
    Fault(LAYING, GiveCard("A10"), "wrong-step", "MON-10"),
    Fault(LAYING, PlacePlate(0, 0), "wrong-step", "MON-10"),
    Fault(LAYING, EndTurn(), "wrong-step", "MON-10"),
    Fault(LAYING, ChooseFirst(0), "wrong-step", "MON-10"),
    Fault(LAYING, ChooseMission(3), "wrong-step", "MON-10"),
    Fault(GIVING, CARD, "wrong-step", "MON-2"),
    Fault(GIVING, PlaceSpaceship(1, 0), "wrong-step", "MON-2"),
    Fault(AFTER, CARD, "wrong-step", "MON-23"),
    Fault(PLATE, PlaceSpaceship(1, 0), "wrong-step", "MON-22"),
    Fault(FIRST, EndTurn(), "wrong-step", "MON-31"),
    Fault(MISSION, EndTurn(), "wrong-step", "MON-71"),
    Fault(GIVING, GiveCard("A01"), "card-not-in-hand", "MON-2", {"card": "A01"}),
    Fault(LAYING, PlaceCard("A11", 3, 0, 0), "card-not-in-hand", "MON-10", {"card": "A11"}),
    Fault(LAYING, PlaceCard("M2", 3, 0, 0), "card-not-in-hand", "MON-10", {"card": "M2"}),
    Fault(LAYING, PlaceCard("A10", 9, -9, 0), "touches-nothing", "MON-11", {"x": 9, "y": -9}),
    Fault(LAYING, PlaceCard("A10", 0, -1, 0), "covers-too-much", "MON-12", {"card": "A09", "most": 2}),
    Fault(
        turn_of(with_cards(LAYING, ("M1", 0, 0, 0)), 1, "A10"),
        PlaceCard("A10", 0, -1, 0),
        "covers-too-much",
        "MON-14",
        {"card": "M1", "most": 2},
    ),
    Fault(LAYING, PlaceCard("A10", 1, 2, 90), "never-covered", "MON-13", {"x": 1, "y": 2}),
    Fault(LANDED, PlaceCard("A10", 1, -1, 0), "never-covered", "MON-13", {"x": 1, "y": 0}),
    Fault(LANDED, PlaceSpaceship(1, 0), "one-spaceship-a-turn", "MON-23"),
    Fault(with_holdings(LAYING, 1, ships=0), PlaceSpaceship(1, 0), "no-spaceship-left", "MON-23"),
    Fault(LAYING, PlaceSpaceship(0, 0), "no-free-crystal", "MON-23", {"x": 0, "y": 0}),
    Fault(AFTER, PlaceSpaceship(0, 2), "no-free-crystal", "MON-23", {"x": 0, "y": 2}),
    Fault(turn_of(LANDED, 2, "A11"), PlaceSpaceship(1, 0), "no-free-crystal", "MON-23", {"x": 1, "y": 0}, seat=2),
    Fault(PLATE, PlacePlate(0, 0), "no-opposing-monster", "MON-22", {"x": 0, "y": 0}),
    Fault(FIRST, ChooseFirst(3), "no-such-seat", "MON-31", {"seat": 3}),
    Fault(FIRST, ChooseFirst(-1), "no-such-seat", "MON-31", {"seat": -1}),
    Fault(MISSION, ChooseMission(1), "mission-not-yours", "MON-71", {"mission": 1}),
    Fault(BUILT, EndTurn(), "three-walls-at-least", "MON-61", {"missing": 1}, seat=0),
    Fault(BUILT, PlaceCard("A07", 3, 0, 0), "wrong-step", "MON-61", seat=0),
    Fault(BUILT, wall("v 3 0"), "not-your-turn", "MON-61"),
    Fault(LANDED, wall("h 0 0"), "turn-is-for-a-card", "MON-61"),
    Fault(with_holdings(BUILDING, 0, hand=(), ships=2), PlaceSpaceship(0, 0), "no-card-to-lay", "MON-61", seat=0),
    Fault(LAYING, wall("h 0 0 2"), "no-such-wall-left", "MON-60", {"length": 2}),
    Fault(BUILDING, wall("h 9 0"), "wall-beside-no-square", "MON-62", {"x": 9, "y": 0}, seat=0),
    Fault(BUILT, wall("h 2 0"), "wall-on-a-wall", "MON-62", {"x": 2, "y": 0}, seat=0),
    Fault(built(BUILDING, "v 1 0 2"), wall("h 0 1 2"), "walls-cross", "MON-62", {"x": 0, "y": 1}, seat=0),
    Fault(built(BUILDING, *ring(0, 0, 2, 1)), wall("v 1 0"), "wall-in-an-area", "MON-63", {"x": 1, "y": 0}, seat=0),
    Fault(BUILT, wall("h 1 2"), "wall-touches-none", "MON-62", {"x": 1, "y": 2}, seat=0),
    Fault(
        with_holdings(BUILDING, 0, long_walls=3, short_walls=0),
        wall("h 9 0"),
        "no-such-wall-left",
        "MON-60",
        {"length": 1},
        seat=0,
    ),
    Fault(
        with_holdings(BUILDING, 0, long_walls=0, short_walls=2),
        wall("h 0 0"),
        "three-walls-out-of-reach",
        "MON-61",
        {"x": 0, "y": 0},
        seat=0,
    ),
    Fault(built(BUILDING, "v 1 1"), PlaceCard("A07", 0, 1, 0), "covers-a-wall", "MON-62", {"x": 0, "y": 1}, seat=0),
    Fault(
        built(turn_of(BUILDING, 1, "A10"), *ring(0, 0, 1, 1)),
        PlaceCard("A10", 0, -1, 90),
        "covers-a-wall",
        "MON-62",
        {"x": 0, "y": -1},
    ),
    Fault(
        built(turn_of(BUILDING, 1, "A10"), *ring(0, 0, 3, 2)),
        PlaceCard("A10", 0, 0, 0),
        "closed-area",
        "MON-63",
        {"x": 0, "y": 0},
    ),
]


def _name(fault: refusals.Fault) -> str:
    """The id of a case. It contains the clause, so that the clause counts as tested."""
    return f"{fault.clause.lower().replace('-', '_')}_{fault.code}"


@pytest.mark.parametrize("fault", FAULTS, ids=_name)
def test_a_fault_is_refused_with_its_code_and_clause(fault: refusals.Fault) -> None:
    check_refused(GAME, fault)


def test_every_code_is_tried_and_has_a_text() -> None:
    check_codes(GAME, folder, FAULTS)
