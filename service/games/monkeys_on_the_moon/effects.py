"""The effects of the game.

Each effect contains everything that it changes, so a client can fold effects without the rules.
"""

from typing import Final, Literal, TypeAlias, get_args

from service.games.monkeys_on_the_moon.components import CardId, Clause, Tribe
from service.games.visibility import Effect, Private, Public, Seat, Secret

Deck: TypeAlias = Literal["monkey", "civilization", "ship"]
Turn: TypeAlias = Literal["civilization", "bid"]
Step: TypeAlias = Literal["play_civilization", "appease", "select_monkey", "bid", "choose_ship", "leave_behind"]
ShipGoes: TypeAlias = Literal["score_pile", "under_deck", "discard"]


class TableSet(Effect, frozen=True, tag="table_set"):
    """The circle, the supplies and the seats' coins are set up.

    `turn_order` begins with the owner of the moonstone (MOM-3, MOM-5).
    """

    turn_order: Public[tuple[Seat, ...]]
    alliance_circle: Public[tuple[Tribe, ...]]
    coins_each: Public[int]
    supply_each: Public[int]
    rounds: Public[int]
    maximum_scorn: Public[bool]
    treachery: Public[bool]


class DeckShuffled(Effect, frozen=True, tag="deck_shuffled"):
    """A deck lies face down. Its first card is drawn first."""

    deck: Public[Deck]
    size: Public[int]
    cards: Secret[tuple[CardId, ...]]


class CivilizationRemoved(Effect, frozen=True, tag="civilization_removed"):
    """The top cards of the civilization deck were removed from the match unseen (MOM-2)."""

    count: Public[int]
    cards: Secret[tuple[CardId, ...]]


class CivilizationDealt(Effect, frozen=True, tag="civilization_dealt"):
    """The seat was dealt the top card of the civilization deck (MOM-2, MOM-30)."""

    seat: Public[Seat]
    card: Private[CardId]


class MonkeysRevealed(Effect, frozen=True, tag="monkeys_revealed"):
    """The top cards of the monkey deck were added to the pool (MOM-1, MOM-30)."""

    cards: Public[tuple[CardId, ...]]


class ShipAssigned(Effect, frozen=True, tag="ship_assigned"):
    """The top card of the ship deck became the ship of a seat (MOM-4)."""

    seat: Public[Seat]
    ship: Public[CardId]


class ShipsRevealed(Effect, frozen=True, tag="ships_revealed"):
    """The top cards of the ship deck were added to the pool.

    Ships that were put under the deck come last (MOM-4, MOM-26).
    """

    ships: Public[tuple[CardId, ...]]


class RoundOpened(Effect, frozen=True, tag="round_opened"):
    round: Public[int]


class TurnOpened(Effect, frozen=True, tag="turn_opened"):
    """The seat is now the active one (MOM-10)."""

    seat: Public[Seat]
    turn: Public[Turn]


class DecisionOpened(Effect, frozen=True, tag="decision_opened"):
    """The match waits for this seat and for no other."""

    seat: Public[Seat]
    step: Public[Step]


class CivilizationPlayed(Effect, frozen=True, tag="civilization_played"):
    """The seat played a card from its hand to the discard pile, to advance a tribe (MOM-11)."""

    seat: Public[Seat]
    card: Public[CardId]
    tribe: Public[Tribe]


class CoinsTaken(Effect, frozen=True, tag="coins_taken"):
    """The seat took coins from the supply of a tribe (MOM-12, MOM-25)."""

    seat: Public[Seat]
    tribe: Public[Tribe]
    count: Public[int]
    clause: Public[Clause]


class CoinsPaid(Effect, frozen=True, tag="coins_paid"):
    """The seat paid coins to the supply of a tribe (MOM-14, MOM-16, MOM-23)."""

    seat: Public[Seat]
    tribe: Public[Tribe]
    count: Public[int]
    clause: Public[Clause]


class ScornTaken(Effect, frozen=True, tag="scorn_taken"):
    """The seat took the Scorn of a tribe from `from_seat`, or from the table if that is null (MOM-15, MOM-16)."""

    seat: Public[Seat]
    tribe: Public[Tribe]
    from_seat: Public[Seat | None]
    clause: Public[Clause]


class ScornReturned(Effect, frozen=True, tag="scorn_returned"):
    """The seat returned the Scorn of a tribe to the table (MOM-13, MOM-23, MOM-25, MOM-40)."""

    seat: Public[Seat]
    tribe: Public[Tribe]
    clause: Public[Clause]


class StoneMoved(Effect, frozen=True, tag="stone_moved"):
    """A stone moved forward, at most to the last space (MOM-17)."""

    tribe: Public[Tribe]
    from_space: Public[int]
    to_space: Public[int]


class StoneFinished(Effect, frozen=True, tag="stone_finished"):
    """A stone took the best free Finish Circle. `rank` 1 is the best (MOM-17)."""

    tribe: Public[Tribe]
    rank: Public[int]


class TribeCardsSwapped(Effect, frozen=True, tag="tribe_cards_swapped"):
    """A tribe and its clockwise ally swapped places. `alliance_circle` is the new circle (MOM-51)."""

    tribe: Public[Tribe]
    ally: Public[Tribe]
    alliance_circle: Public[tuple[Tribe, ...]]


class BidTurnSkipped(Effect, frozen=True, tag="bid_turn_skipped"):
    """The pool is empty, so the seat can put no monkey up for auction (MOM-20)."""

    seat: Public[Seat]


class AuctionOpened(Effect, frozen=True, tag="auction_opened"):
    """The seat put a monkey of the pool up for auction. Every seat is in (MOM-20)."""

    seat: Public[Seat]
    monkey: Public[CardId]


class BidMade(Effect, frozen=True, tag="bid_made"):
    """The seat made the standing bid. The coins are shown and not yet paid (MOM-21)."""

    seat: Public[Seat]
    coins: Public[dict[Tribe, int]]
    points: Public[int]


class BidPassed(Effect, frozen=True, tag="bid_passed"):
    """The seat left this auction (MOM-22)."""

    seat: Public[Seat]


class AuctionWon(Effect, frozen=True, tag="auction_won"):
    """The auction is over, and its monkey waits to board the winner's ship (MOM-22)."""

    seat: Public[Seat]
    monkey: Public[CardId]
    points: Public[int]


class MonkeyDiscarded(Effect, frozen=True, tag="monkey_discarded"):
    """The auction ended without a bid, and its monkey was removed from the match (MOM-22)."""

    monkey: Public[CardId]


class MonkeyBoarded(Effect, frozen=True, tag="monkey_boarded"):
    """The first monkey that waited to board is now aboard the seat's ship (MOM-24)."""

    seat: Public[Seat]
    monkey: Public[CardId]


class MonkeyKeptWaiting(Effect, frozen=True, tag="monkey_kept_waiting"):
    """No ship is left in the pool or the deck. The first monkey that waited to board stays beside the seat (MOM-26)."""

    seat: Public[Seat]
    monkey: Public[CardId]


class MonkeysLeftBehind(Effect, frozen=True, tag="monkeys_left_behind"):
    """All monkeys of a tribe left the ship and wait to board the next one (MOM-51)."""

    seat: Public[Seat]
    tribe: Public[Tribe]
    monkeys: Public[tuple[CardId, ...]]


class ShipLaunched(Effect, frozen=True, tag="ship_launched"):
    """The monkeys aboard were moved to the score pile, and the ship to `ship_goes`.

    `points` is what the ship scores at the end; 0 unless it was full (MOM-24, MOM-27, MOM-40, MOM-45).
    """

    seat: Public[Seat]
    ship: Public[CardId]
    monkeys: Public[tuple[CardId, ...]]
    ship_goes: Public[ShipGoes]
    points: Public[int]
    clause: Public[Clause]


class WaitingMonkeysLaunched(Effect, frozen=True, tag="waiting_monkeys_launched"):
    """At the end, monkeys without a ship were moved to the score pile (MOM-26, MOM-40)."""

    seat: Public[Seat]
    monkeys: Public[tuple[CardId, ...]]
    clause: Public[Clause]


class ShipChosen(Effect, frozen=True, tag="ship_chosen"):
    """The seat took a ship of the pool (MOM-26)."""

    seat: Public[Seat]
    ship: Public[CardId]


class MoonstonePassed(Effect, frozen=True, tag="moonstone_passed"):
    """The first seat of `turn_order` starts the rounds from now on (MOM-30)."""

    turn_order: Public[tuple[Seat, ...]]


class MatchEnded(Effect, frozen=True, tag="match_ended"):
    """No decision is left. The scores follow (MOM-40)."""


AnyEffect: TypeAlias = (
    TableSet
    | DeckShuffled
    | CivilizationRemoved
    | CivilizationDealt
    | MonkeysRevealed
    | ShipAssigned
    | ShipsRevealed
    | RoundOpened
    | TurnOpened
    | DecisionOpened
    | CivilizationPlayed
    | CoinsTaken
    | CoinsPaid
    | ScornTaken
    | ScornReturned
    | StoneMoved
    | StoneFinished
    | TribeCardsSwapped
    | BidTurnSkipped
    | AuctionOpened
    | BidMade
    | BidPassed
    | AuctionWon
    | MonkeyDiscarded
    | MonkeyBoarded
    | MonkeyKeptWaiting
    | MonkeysLeftBehind
    | ShipLaunched
    | WaitingMonkeysLaunched
    | ShipChosen
    | MoonstonePassed
    | MatchEnded
)

EFFECTS: Final[tuple[type[AnyEffect], ...]] = get_args(AnyEffect)
