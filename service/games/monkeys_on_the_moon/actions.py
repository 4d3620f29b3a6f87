"""What a seat may ask for."""

from typing import Annotated, Final, Literal, TypeAlias, get_args

import msgspec

from service.games.visibility import Action, Public

Card: TypeAlias = Annotated[str, msgspec.Meta(min_length=1, max_length=40)]
TribeName: TypeAlias = Annotated[str, msgspec.Meta(min_length=1, max_length=20)]
CoinCount: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=99)]


class PlayCivilization(Action, frozen=True, tag="play_civilization"):
    """Play a Civilization card of the hand and advance its tribe or one of the two allies (MOM-11)."""

    card: Public[Card]
    tribe: Public[TribeName]


class Appease(Action, frozen=True, tag="appease"):
    """Pay a coin to an ally of the angered tribe, or take that ally's Scorn (MOM-16)."""

    tribe: Public[TribeName]
    way: Public[Literal["coin", "scorn"]] = msgspec.field(name="with")


class SelectMonkey(Action, frozen=True, tag="select_monkey"):
    """Put a monkey of the pool up for auction (MOM-20)."""

    card: Public[Card]


class Bid(Action, frozen=True, tag="bid"):
    """Show these coins, worth more than the standing bid (MOM-21)."""

    coins: Public[dict[TribeName, CoinCount]]


class Pass(Action, frozen=True, tag="pass"):
    """Leave the auction (MOM-22)."""


class ChooseShip(Action, frozen=True, tag="choose_ship"):
    """Take a ship of the pool after a launch (MOM-26)."""

    card: Public[Card]


class LeaveBehind(Action, frozen=True, tag="leave_behind"):
    """Of two tribes that became rivals aboard, say whose monkeys stay (MOM-51)."""

    tribe: Public[TribeName]


AnyAction: TypeAlias = PlayCivilization | Appease | SelectMonkey | Bid | Pass | ChooseShip | LeaveBehind

ACTIONS: Final[tuple[type[AnyAction], ...]] = get_args(AnyAction)
