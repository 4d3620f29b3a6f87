"""The actions of a seat."""

from typing import Annotated, Final, Literal, TypeAlias, get_args

import msgspec

from service.games.kit.box import Id
from service.games.monkeys_on_the_moon.components import BOX
from service.games.visibility import Action, Public

CoinCount: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=BOX.coins_per_tribe)]


class PlayCivilization(Action, frozen=True, tag="play_civilization"):
    """Play a Civilization card of the hand, and advance its tribe or one of the tribe's two allies (MOM-11)."""

    card: Public[Id]
    tribe: Public[Id]


class Appease(Action, frozen=True, tag="appease"):
    """Pay a coin to an ally of the angered tribe, or take that ally's Scorn (MOM-16)."""

    tribe: Public[Id]
    way: Public[Literal["coin", "scorn"]] = msgspec.field(name="with")


class SelectMonkey(Action, frozen=True, tag="select_monkey"):
    """Put a monkey of the pool up for auction (MOM-20)."""

    card: Public[Id]


class Bid(Action, frozen=True, tag="bid"):
    """Bid these coins. The bid must be higher than the standing one (MOM-21)."""

    coins: Public[dict[Id, CoinCount]]


class Pass(Action, frozen=True, tag="pass"):
    """Leave the auction (MOM-22)."""


class ChooseShip(Action, frozen=True, tag="choose_ship"):
    """Take a ship of the pool after a launch (MOM-26)."""

    card: Public[Id]


class LeaveBehind(Action, frozen=True, tag="leave_behind"):
    """Two tribes aboard became rivals: choose whose monkeys stay behind (MOM-51)."""

    tribe: Public[Id]


AnyAction: TypeAlias = PlayCivilization | Appease | SelectMonkey | Bid | Pass | ChooseShip | LeaveBehind

ACTIONS: Final[tuple[type[AnyAction], ...]] = get_args(AnyAction)
