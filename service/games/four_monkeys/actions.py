"""What a seat may ask for."""

from typing import Annotated, Final, Literal, TypeAlias, get_args

import msgspec

from service.games.kit.patterns import HINT, AnyOf
from service.games.visibility import Action, Private, Public

Card: TypeAlias = Annotated[str, msgspec.Meta(min_length=1, max_length=40)]
Cards: TypeAlias = Annotated[tuple[Card, ...], msgspec.Meta(max_length=80)]
Combo: TypeAlias = Annotated[str, msgspec.Meta(min_length=1, max_length=10)]
Stack: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=99)]
SeatNumber: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=7)]
DrawFrom: TypeAlias = Annotated[SeatNumber | None, HINT]
"""Whose deck comes next when the own one is empty; passed over where that cannot be (FOU-11)."""


class Grab(Action, frozen=True, tag="grab", omit_defaults=True):
    """Take the combo seen on top of a stack, and put these cards of the hand under it (FOU-10)."""

    stack: Public[Stack]
    combo: Public[Combo]
    cards: Private[Cards | AnyOf]
    draw_from: Public[DrawFrom] = None


class Burn(Action, frozen=True, tag="burn", omit_defaults=True):
    """Turn an own green combo over and draw three cards (FOU-12)."""

    combo: Public[Combo]
    draw_from: Public[DrawFrom] = None


class UseReplenish(Action, frozen=True, tag="replenish", omit_defaults=True):
    """Turn the Hand replenish tile over: discard the hand and draw five, or draw three (FOU-13)."""

    mode: Public[Literal["redraw", "extra"]]
    draw_from: Public[DrawFrom] = None


class Reveal(Action, frozen=True, tag="reveal"):
    """Move the top tile of a stack to a new one (FOU-14)."""

    stack: Public[Stack]


class Stop(Action, frozen=True, tag="stop"):
    """Claim ten different combos, and end the round (FOU-15)."""


class HandBanana(Action, frozen=True, tag="hand_banana"):
    """Give a banana skin to another player, right after a grab (FOU-30)."""

    to: Public[SeatNumber]


class Check(Action, frozen=True, tag="check"):
    """Say which of the own combos of the lowest value is checked next (FOU-22)."""

    combo: Public[Combo]


AnyAction: TypeAlias = Grab | Burn | UseReplenish | Reveal | Stop | HandBanana | Check

ACTIONS: Final[tuple[type[AnyAction], ...]] = get_args(AnyAction)
