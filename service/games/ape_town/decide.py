"""Turns an action into effects, or refuses it. Only `setup` makes draws."""

from service.games.ape_town import districts, turns
from service.games.ape_town.actions import AnyAction, PlaceTile, TakeTile
from service.games.ape_town.apply import Pending, apply
from service.games.ape_town.components import BOX, DISTRICTS, FIELD_INDEX, FIELDS, OWNED, VALUES, FieldId, Tile
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
from service.games.kit.pending import PendingEffects
from service.games.protocol import IllegalAction, Move, Rng
from service.games.visibility import Seat


def decide(state: State, move: Move[AnyAction], _rng: Rng) -> tuple[AnyEffect, ...]:
    """The effects of a move, up to the next decision.

    Raises:
      IllegalAction: the rules refuse the action.
    """
    seat, action = move.seat, move.action
    check_seat(state, seat)
    pending: Pending = PendingEffects(apply, state)
    match action:
        case TakeTile():
            _take(pending, seat, check_take(state, action))
        case PlaceTile():
            _place(pending, seat, action.field, check_place(state, action).tile)
            turns.end(pending)
        case _:
            raise IllegalAction("no-bell", "APE-10")
    return tuple(pending.effects)


def _take(pending: Pending, seat: Seat, offer: Offer) -> None:
    """Pay, take the tile, then take the money on its segment (APE-10, APE-11)."""
    state, segment = pending.state, offer.segment
    if offer.price:
        pending.emit(MoneyPaid(seat, state.display[: offer.price]))
    pending.emit(TileTaken(seat, segment, BOX.track[segment], offer.tile))
    if state.track_money[segment]:
        pending.emit(MoneyTaken(seat, segment, state.track_money[segment]))
    pending.emit(DecisionOpened(seat, "place_tile"))


def _place(pending: Pending, seat: Seat, field: FieldId, tile: Tile) -> None:
    """Place a tile. The placement scores before the district does (APE-22)."""
    index = FIELD_INDEX[field]
    pending.emit(TilePlaced(seat, field, tile))
    if tile in OWNED:
        if pending.state.seats[seat].discs:  # APE-16: without a disc, the tile stays unowned
            pending.emit(DiscPlaced(seat, field))
    else:
        points = placement_points(pending.state.board, index, tile)
        if points:
            pending.emit(PointsScored(seat, points, "placement", "APE-13" if tile in VALUES else "APE-14"))
    district = DISTRICTS[FIELDS[index].district]
    if is_complete(pending.state.board, district):
        districts.complete(pending, district)
