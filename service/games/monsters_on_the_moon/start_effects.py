"""The effects before the first turn. Each effect contains everything that it changes."""

from typing import Annotated

from service.games.monsters_on_the_moon.components import CardId, MissionId, Monster
from service.games.monsters_on_the_moon.grid import Rotation
from service.games.monsters_on_the_moon.options import Options
from service.games.monsters_on_the_moon.squares import SquareAt
from service.games.visibility import Effect, Private, Public, Seat, Secret, private_to


class TableSet(Effect, frozen=True, tag="table_set"):
    """Each seat has a monster, spaceships, plates on the track, and its marker on field 0 (MON-1, MON-5, MON-80).

    `turn_order` begins with the first seat; `monsters` are by seat. `crystal_track` has the points of each field from 0
    on. `red_fields` are the fields with a plate of each monster. A single player has no track.
    """

    options: Public[Options]
    turn_order: Public[tuple[Seat, ...]]
    monsters: Public[tuple[Monster, ...]]
    ships_each: Public[int]
    plates_each: Public[int]
    crystal_track: Public[tuple[int, ...]]
    red_fields: Public[tuple[int, ...]]


class WallsTaken(Effect, frozen=True, tag="walls_taken"):
    """Each seat got these numbers of long and short moon walls (MON-60)."""

    long_each: Public[int]
    short_each: Public[int]


class PileShuffled(Effect, frozen=True, tag="pile_shuffled"):
    """The draw pile lies face down. Its first card is drawn first (MON-3, MON-80)."""

    size: Public[int]
    cards: Secret[tuple[CardId, ...]]


class StartCardsTaken(Effect, frozen=True, tag="start_cards_taken"):
    """The seat took the two cards with its own double head into its hand (MON-2)."""

    seat: Public[Seat]
    cards: Public[tuple[CardId, ...]]


class MissionsDealt(Effect, frozen=True, tag="missions_dealt"):
    """The seat got secret missions (MON-70)."""

    seat: Public[Seat]
    count: Public[int]
    missions: Private[tuple[MissionId, ...]]


class MissionsOpened(Effect, frozen=True, tag="missions_opened"):
    """Missions lie open for all (MON-70)."""

    missions: Public[tuple[MissionId, ...]]


class GiftChosen(Effect, frozen=True, tag="gift_chosen"):
    """The seat laid a card of its hand aside, to give it away (MON-2)."""

    seat: Public[Seat]
    card: Private[CardId]


class CardGiven(Effect, frozen=True, tag="card_given"):
    """The seat gave the card that it had laid aside to the seat on its right (MON-2)."""

    seat: Public[Seat]
    to: Public[Seat]
    card: Annotated[CardId, private_to("seat", "to")]


class StartCardPlaced(Effect, frozen=True, tag="start_card_placed"):
    """A card of the start layout was laid. `from_pile` is true if it came from the draw pile (MON-4, MON-80).

    `squares` are the six squares of the card, row by row.
    """

    card: Public[CardId]
    x: Public[int]
    y: Public[int]
    rotation: Public[Rotation]
    from_pile: Public[bool]
    squares: Public[tuple[SquareAt, ...]]
