"""Each kind of fault has a code, a clause, and facts that fill in its text and contain only what the seat may know."""

from functools import partial

import pytest
from msgspec.structs import replace

import service.games.four_monkeys as folder
from service.games.four_monkeys.actions import Burn, Check, Grab, HandBanana, Reveal, Stop, UseReplenish
from service.games.four_monkeys.game import GAME
from service.games.kit.patterns import AnyOf
from service.games.protocol import CLOCK, Ring
from tests.service.games import refusals
from tests.service.games.four_monkeys.builders import (
    DEADLINE,
    START,
    cards,
    table,
    tile,
    tiles,
    with_check,
    with_holdings,
    with_stacks,
)
from tests.service.games.refusals import check_codes, check_refused

HAND = cards(0, "ct", "cs")
PLAY = with_stacks(with_holdings(table(), 0, hand=HAND), ("K02-1", "K03-1"), ("K04-1",))
TAKEN = with_stacks(with_holdings(PLAY, 1, tiles=tiles("K02-1")), ("K03-1",), ())
OWNER = with_holdings(PLAY, 0, tiles=(tile("K02-2"), tile("K04-2", burned=True)), replenish_used=True)
SKINS = with_holdings(PLAY, 0, own_skin=True, just_grabbed=True)
SKINS = replace(SKINS, options=GAME.options(2, {"banana_skins": True}))
STOPPED = replace(PLAY, stops_in_round=(2, 0))
CHECKING = with_check(with_holdings(PLAY, 0, tiles=tiles("K02-1", "K03-1", "K10-1")), 0)
OVER = replace(PLAY, phase="over")
GRAB = Grab(0, "K02-1", HAND)


Fault = partial(refusals.Fault, at=START)

FAULTS = [
    Fault(PLAY, GRAB, "not-a-seat", "FOU-10", seat=7),
    Fault(PLAY, Stop(), "not-a-seat", "FOU-10", seat=CLOCK),
    Fault(CHECKING, Check("K02-1"), "not-a-seat", "FOU-10", seat=CLOCK, at=DEADLINE),
    Fault(OVER, GRAB, "game-over", "FOU-24"),
    Fault(OVER, Check("K02-1"), "game-over", "FOU-24"),
    Fault(OVER, Ring("round"), "no-such-bell", "FOU-16", seat=CLOCK, at=DEADLINE),
    Fault(PLAY, Ring("round"), "no-such-bell", "FOU-16", seat=CLOCK, at=DEADLINE - 1),
    Fault(PLAY, Ring("check"), "no-such-bell", "FOU-16", seat=CLOCK, at=DEADLINE),
    Fault(PLAY, Ring("round"), "no-such-bell", "FOU-16", at=DEADLINE),
    Fault(CHECKING, Ring("round"), "no-such-bell", "FOU-16", seat=CLOCK, at=DEADLINE + 20_000),
    Fault(PLAY, GRAB, "too-early", "FOU-4", at=START - 1),
    Fault(PLAY, GRAB, "round-over", "FOU-16", at=DEADLINE),
    Fault(CHECKING, GRAB, "round-over", "FOU-16"),
    Fault(PLAY, Grab(2, "K02-1", HAND), "no-such-stack", "FOU-3", {"stack": 2}),
    Fault(PLAY, Grab(-1, "K04-1", HAND), "no-such-stack", "FOU-3", {"stack": -1}),
    Fault(PLAY, Grab(1, "K02-1", HAND), "tile-elsewhere", "FOU-10", {"combo": "K02-1", "stack": 0}),
    Fault(PLAY, Grab(0, "K03-1", HAND), "tile-not-seen", "FOU-10", {"combo": "K03-1"}),
    Fault(TAKEN, GRAB, "tile-gone", "FOU-10", {"combo": "K02-1", "holder": 1, "stack": 0, "now": "K03-1"}),
    Fault(TAKEN, Grab(1, "K02-1", HAND), "stack-gone", "FOU-10", {"combo": "K02-1", "holder": 1, "stack": 1}),
    Fault(PLAY, Grab(0, "K02-1", ()), "no-cards", "FOU-10", {"least": 1}),
    Fault(PLAY, Grab(0, "K02-1", AnyOf(HAND, 1, 2)), "cards-not-chosen", "FOU-10", {"least": 1, "most": 2}),
    Fault(PLAY, Grab(0, "K02-1", cards(1, "ct")), "card-not-in-hand", "FOU-10", {"card": "1:circle-triangle-1"}),
    Fault(PLAY, Grab(0, "K02-1", HAND * 2), "card-named-twice", "FOU-10", {"card": HAND[0]}),
    Fault(PLAY, Burn("K02-1"), "not-your-tile", "FOU-12", {"combo": "K02-1"}),
    Fault(OWNER, Burn("K04-2"), "already-burned", "FOU-12", {"combo": "K04-2"}),
    Fault(OWNER, UseReplenish("extra"), "replenish-used", "FOU-13"),
    Fault(PLAY, Reveal(2), "no-such-stack", "FOU-3", {"stack": 2}),
    Fault(PLAY, Reveal(0), "combo-missing", "FOU-14", {"combo": "K02-1"}),
    Fault(OWNER, Reveal(1), "stack-too-small", "FOU-14", {"stack": 1, "size": 1}),
    Fault(STOPPED, Stop(), "stops-used-up", "FOU-15", {"different": 0}),
    Fault(PLAY, HandBanana(1), "skins-not-played", "FOU-30"),
    Fault(with_holdings(SKINS, 0, just_grabbed=False), HandBanana(1), "not-after-a-grab", "FOU-30"),
    Fault(with_holdings(SKINS, 0, own_skin=False), HandBanana(1), "no-skin", "FOU-30"),
    Fault(SKINS, HandBanana(0), "not-in-your-area", "FOU-30", {"to": 0}),
    Fault(SKINS, HandBanana(5), "not-in-your-area", "FOU-30", {"to": 5}),
    Fault(PLAY, Check("K02-1"), "nothing-to-check", "FOU-22"),
    Fault(CHECKING, Check("K02-1"), "not-your-check", "FOU-22", {"awaited": 0}, seat=1, at=DEADLINE),
    Fault(CHECKING, Check("K02-1"), "too-early", "FOU-22", at=DEADLINE - 1),
    Fault(CHECKING, Check("K02-1"), "check-over", "FOU-22", at=DEADLINE + 20_000),
    Fault(CHECKING, Check("K05-1"), "not-your-tile", "FOU-22", {"combo": "K05-1"}, at=DEADLINE),
    Fault(CHECKING, Check("K10-1"), "not-the-lowest", "FOU-22", {"combo": "K10-1"}, at=DEADLINE),
]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_refused_with_its_code_and_clause(fault: refusals.Fault) -> None:
    check_refused(GAME, fault)


def test_every_code_is_tried_and_has_a_text() -> None:
    check_codes(GAME, folder, FAULTS)
