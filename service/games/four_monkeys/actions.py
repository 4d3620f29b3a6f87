"""The actions of a seat."""

from typing import Annotated, Final, Literal, TypeAlias, get_args

import msgspec

from service.games.four_monkeys.components import BOX, SEATS
from service.games.kit.box import Id
from service.games.kit.patterns import HINT, AnyOf
from service.games.visibility import Action, Private, Public

LARGEST_AREA: Final = max(BOX.sets)
"""Maximum number of seats in an area."""
LARGEST_HAND: Final = LARGEST_AREA * max(map(len, BOX.decks))
"""Maximum number of cards in a hand: all decks of its area (FOU-11)."""
MAX_STACKS: Final = max(len(BOX.combos_of(seats)) for seats in BOX.sets)
"""Maximum number of stacks of an area in a round, including empty ones. Each new one begins with a different combo (FOU-3,
FOU-14).
"""

Cards: TypeAlias = Annotated[tuple[Id, ...], msgspec.Meta(max_length=LARGEST_HAND)]
Stack: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=MAX_STACKS - 1)]
SeatNumber: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=max(SEATS) - 1)]
DrawFrom: TypeAlias = Annotated[SeatNumber | None, HINT]
"""The seat whose deck is used after the seat's own deck. The rules ignore it if that is not possible (FOU-11)."""


class Grab(Action, frozen=True, tag="grab", omit_defaults=True):
    """Take the combo on top of a stack, and put these cards of the hand under it (FOU-10)."""

    stack: Public[Stack]
    combo: Public[Id]
    cards: Private[Cards | AnyOf]
    draw_from: Public[DrawFrom] = None


class Burn(Action, frozen=True, tag="burn", omit_defaults=True):
    """Turn one's own green combo over and draw three cards (FOU-12)."""

    combo: Public[Id]
    draw_from: Public[DrawFrom] = None


class UseReplenish(Action, frozen=True, tag="replenish", omit_defaults=True):
    """Turn the Hand replenish tile over: discard the hand and draw five cards, or draw three (FOU-13)."""

    mode: Public[Literal["redraw", "extra"]]
    draw_from: Public[DrawFrom] = None


class Reveal(Action, frozen=True, tag="reveal"):
    """Move the top tile of a stack to a new stack (FOU-14)."""

    stack: Public[Stack]


class Stop(Action, frozen=True, tag="stop"):
    """Claim ten different combos to end the round (FOU-15)."""


class HandBanana(Action, frozen=True, tag="hand_banana"):
    """Give a banana skin to another player, right after a grab (FOU-30)."""

    to: Public[SeatNumber]


class Check(Action, frozen=True, tag="check"):
    """Choose which of one's own combos of the lowest value is checked next (FOU-22)."""

    combo: Public[Id]


AnyAction: TypeAlias = Grab | Burn | UseReplenish | Reveal | Stop | HandBanana | Check

ACTIONS: Final[tuple[type[AnyAction], ...]] = get_args(AnyAction)
