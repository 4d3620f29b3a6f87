"""The state, actions and effects of the toy game."""

from typing import Annotated, Literal, TypeAlias

import msgspec

from service.games.kit.patterns import HINT, AnyOf
from service.games.visibility import Action, Effect, Private, Public, Seat, Secret

Card: TypeAlias = str
"""`<value>-<n>`."""
Step: TypeAlias = Literal["commit", "swap", "over"]

VALUES = range(1, 14)
CARDS: tuple[Card, ...] = tuple(f"{value}-{n}" for value in VALUES for n in range(1, 5))


def value(card: Card) -> int:
    return int(card.split("-")[0])


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    hand: Annotated[int, msgspec.Meta(ge=1, le=5)] = 3
    tricks: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 4
    trick_ms: Annotated[int, msgspec.Meta(ge=1_000, le=600_000)] = 30_000
    countdown_ms: Annotated[int, msgspec.Meta(ge=0, le=60_000)] = 1_000
    timer_visible: bool = True
    ties: Literal["drawn", "shared"] = "drawn"


class State(msgspec.Struct, frozen=True):
    """The whole state.

    `deck` starts at the top. `table` has the cards shown last. `waiting` marks the seats that have not acted yet.
    `swapped` has the number of cards of each seat's last swap.
    """

    options: Options
    trick: int
    step: Step
    opens_at: int
    deadline: int
    lucky: tuple[int, ...]
    deck: tuple[Card, ...]
    discards: tuple[Card, ...]
    table: tuple[Card | None, ...]
    hands: tuple[tuple[Card, ...], ...]
    commits: tuple[Card | None, ...]
    waiting: tuple[bool, ...]
    swapped: tuple[int, ...]
    points: tuple[int, ...]
    missed: tuple[int, ...]

    @property
    def seats(self) -> int:
        return len(self.hands)


class Commit(Action, frozen=True, tag="commit"):
    card: Private[Card]


class Swap(Action, frozen=True, tag="swap"):
    cards: Private[tuple[Card, ...] | AnyOf]
    from_bottom: Public[Annotated[bool, HINT]] = False


class Keep(Action, frozen=True, tag="keep"):
    pass


ToyAction: TypeAlias = Commit | Swap | Keep


class TableLaid(Effect, frozen=True, tag="table_laid"):
    seats: Public[int]
    options: Public[Options]
    deck: Secret[tuple[Card, ...]]


class LuckDealt(Effect, frozen=True, tag="luck_dealt"):
    seat: Public[Seat]
    value: Private[int]


class CardsDrawn(Effect, frozen=True, tag="cards_drawn"):
    seat: Public[Seat]
    cards: Private[tuple[Card, ...]]
    count: Public[int]
    from_bottom: Public[bool]


class DeckReshuffled(Effect, frozen=True, tag="deck_reshuffled"):
    order: Secret[tuple[Card, ...]]
    size: Public[int]


class TrickOpened(Effect, frozen=True, tag="trick_opened"):
    trick: Public[int]
    opens_at: Public[int]
    deadline: Public[int]


class CardCommitted(Effect, frozen=True, tag="card_committed"):
    seat: Public[Seat]
    card: Private[Card]


class CardForfeited(Effect, frozen=True, tag="card_forfeited"):
    seat: Public[Seat]
    card: Private[Card]


class TrickRevealed(Effect, frozen=True, tag="trick_revealed"):
    cards: Public[tuple[Card | None, ...]]


class PointsScored(Effect, frozen=True, tag="points_scored"):
    seat: Public[Seat]
    points: Public[int]
    clause: Public[str]


class SwapOpened(Effect, frozen=True, tag="swap_opened"):
    pass


class CardsSwapped(Effect, frozen=True, tag="cards_swapped"):
    seat: Public[Seat]
    cards: Private[tuple[Card, ...]]
    count: Public[int]


class HandKept(Effect, frozen=True, tag="hand_kept"):
    seat: Public[Seat]


class GameEnded(Effect, frozen=True, tag="game_ended"):
    pass


ToyEffect: TypeAlias = (
    TableLaid
    | LuckDealt
    | CardsDrawn
    | DeckReshuffled
    | TrickOpened
    | CardCommitted
    | CardForfeited
    | TrickRevealed
    | PointsScored
    | SwapOpened
    | CardsSwapped
    | HandKept
    | GameEnded
)
