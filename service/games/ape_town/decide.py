"""The judge: an action becomes effects, or is refused. No draw is made after the start."""

from service.games.ape_town import districts, turns
from service.games.ape_town.actions import AnyAction, PlaceTile, TakeTile
from service.games.ape_town.apply import Told, apply
from service.games.ape_town.components import BOX, DISTRICTS, FIELDS, OWNED, PLACE, VALUES, FieldId, Tile
from service.games.ape_town.effects import (
    AnyEffect,
    DecisionOpened,
    DiscPlaced,
    MoneyPaid,
    MoneyTaken,
    PointsScored,
    TilePlaced,
    TileTaken,
)
from service.games.ape_town.legal import Offer, check_place, check_seat, check_take
from service.games.ape_town.scoring import is_complete, placement_points
from service.games.ape_town.state import State
from service.games.kit.telling import Telling
from service.games.protocol import IllegalAction, Move, Rng
from service.games.visibility import Seat


def decide(state: State, move: Move[AnyAction], _rng: Rng) -> tuple[AnyEffect, ...]:
    """What follows from a move, up to the next decision.

    Raises:
        IllegalAction: the rules refuse it.
    """
    seat, action = move.seat, move.action
    check_seat(state, seat)
    told: Told = Telling(apply, state)
    match action:
        case TakeTile():
            _take(told, seat, check_take(state, action))
        case PlaceTile():
            _place(told, seat, action.field, check_place(state, action).tile)
            turns.end(told)
        case _:
            raise IllegalAction("no-bell", "APE-10")
    return tuple(told.effects)


def _take(told: Told, seat: Seat, offer: Offer) -> None:
    """Pay, take the tile, then the money that lies there (APE-10, APE-11)."""
    state, segment = told.state, offer.segment
    if offer.price:
        told.tell(MoneyPaid(seat, state.display[: offer.price]))
    told.tell(TileTaken(seat, segment, BOX.track[segment], offer.tile))
    if state.track_money[segment]:
        told.tell(MoneyTaken(seat, segment, state.track_money[segment]))
    told.tell(DecisionOpened(seat, "place_tile"))


def _place(told: Told, seat: Seat, field: FieldId, tile: Tile) -> None:
    """Scores of the placement come before those of the district (APE-22)."""
    place = PLACE[field]
    told.tell(TilePlaced(seat, field, tile))
    if tile in OWNED:
        if told.state.seats[seat].discs:  # APE-16: without one it stays unowned
            told.tell(DiscPlaced(seat, field))
    else:
        points = placement_points(told.state.board, place, tile)
        if points:
            told.tell(PointsScored(seat, points, "placement", "APE-13" if tile in VALUES else "APE-14"))
    district = DISTRICTS[FIELDS[place].district]
    if is_complete(told.state.board, district):
        districts.complete(told, district)
