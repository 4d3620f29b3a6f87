"""Each kind of fault has a code, a clause, and facts that fill in its text and contain only what the seat may know."""

from functools import partial

import pytest
from msgspec.structs import replace

import service.games.ape_town as folder
from service.games.ape_town.actions import PlaceTile, TakeTile
from service.games.ape_town.game import GAME
from service.games.protocol import CLOCK, Ring
from tests.service.games import refusals
from tests.service.games.ape_town.builders import table, with_holdings, with_tile_to_place, with_tiles, without_tiles
from tests.service.games.refusals import check_codes, check_refused

TAKE, PLACE = TakeTile(0), PlaceTile("0-0")
TAKING = table(3, first=1)
PLACING = with_tiles(with_tile_to_place(TAKING, "banana", "grey"), {"0-1": "lemur"})
OVER = replace(TAKING, step=None)


Fault = partial(refusals.Fault, seat=1)

FAULTS = [
    Fault(OVER, TAKE, "game-over", "APE-30"),
    Fault(OVER, PLACE, "game-over", "APE-30", seat=0),
    Fault(TAKING, TAKE, "not-your-turn", "APE-10", {"active": 1}, seat=0),
    Fault(TAKING, TAKE, "not-your-turn", "APE-10", {"active": 1}, seat=7),
    Fault(PLACING, PLACE, "not-your-turn", "APE-12", {"active": 1}, seat=2),
    Fault(TAKING, Ring("bell"), "not-your-turn", "APE-10", {"active": 1}, seat=CLOCK),
    Fault(TAKING, Ring("bell"), "no-bell", "APE-10"),
    Fault(TAKING, PLACE, "wrong-step", "APE-10"),
    Fault(PLACING, TAKE, "wrong-step", "APE-12"),
    Fault(without_tiles(TAKING, 0), TAKE, "no-open-tile", "APE-10", {"segment": 0}),
    Fault(TAKING, TakeTile(10), "no-open-tile", "APE-10", {"segment": 10}),
    Fault(TAKING, TakeTile(40), "no-open-tile", "APE-10", {"segment": 40}),
    Fault(TAKING, TakeTile(-1), "no-open-tile", "APE-10", {"segment": -1}),
    Fault(TAKING, TakeTile(7), "too-little-money", "APE-10", {"price": 7, "money": 6}),
    Fault(with_holdings(TAKING, 1, money=0), TakeTile(1), "too-little-money", "APE-10", {"price": 1, "money": 0}),
    Fault(PLACING, PlaceTile("9-9"), "no-such-field", "APE-12", {"field": "9-9"}),
    Fault(PLACING, PlaceTile("0-2"), "no-such-field", "APE-12", {"field": "0-2"}),  # a printed tile
    Fault(PLACING, PlaceTile("3-4"), "no-such-field", "APE-12", {"field": "3-4"}),  # the pond
    Fault(PLACING, PlaceTile("0-1"), "field-taken", "APE-12", {"field": "0-1"}),
    Fault(PLACING, PlaceTile("0-3"), "wrong-colour", "APE-12", {"field": "0-3", "colour": "grey"}),
]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_refused_with_its_code_and_clause(fault: refusals.Fault) -> None:
    check_refused(GAME, fault)


def test_every_code_is_tried_and_has_a_text() -> None:
    check_codes(GAME, folder, FAULTS)
