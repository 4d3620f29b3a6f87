"""The fold: each effect makes one change to the state. It makes no decisions, and the old state stays valid."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from service.games.ape_town import effects as e
from service.games.ape_town.components import BOX, FIELD_INDEX, FIELDS
from service.games.ape_town.state import Holdings, State, Taken
from service.games.kit.pending import PendingEffects
from service.games.kit.tuples import with_item
from service.games.visibility import Seat

Pending: TypeAlias = PendingEffects[State, e.AnyEffect]
"""The effects that a decision has emitted so far, and the state after them."""


def apply(state: State | None, effect: e.AnyEffect) -> State:
    """The state after an effect. The first effect is `TableSet`, applied to None."""
    if state is None:
        return _table_set(effect)
    return _FOLD[type(effect)](state, effect)


def _table_set(effect: e.AnyEffect) -> State:
    if not isinstance(effect, e.TableSet):
        raise TypeError(f"{type(effect).__name__} comes before TableSet")
    holdings = Holdings(money=effect.money_each, discs=effect.discs_each, placement=0, boss=0, neighbours=0)
    return State(
        seats=(holdings,) * len(effect.turn_order),
        active=effect.turn_order[0],
        step=None,
        track=(None,) * len(BOX.track),
        track_money=(0,) * len(BOX.track),
        display=(),
        turned_up=(),
        supply=(),
        taken=None,
        board=(None,) * len(FIELDS),
        discs=(None,) * len(FIELDS),
    )


def _with_holdings(state: State, seat: Seat, **changes: int) -> tuple[Holdings, ...]:
    return with_item(state.seats, seat, replace(state.seats[seat], **changes))


def _tiles_shuffled(state: State, effect: e.TilesShuffled) -> State:
    laid_out = effect.at_segments
    return replace(state, track=effect.tiles[:laid_out], supply=effect.tiles[laid_out:])


def _section_revealed(state: State, effect: e.SectionRevealed) -> State:
    return replace(state, display=state.display + effect.segments, turned_up=(*state.turned_up, effect.section))


def _section_refilled(state: State, effect: e.SectionRefilled) -> State:
    track = list(state.track)
    count = len(effect.segments)
    for segment, tile in zip(effect.segments, state.supply[:count], strict=True):
        track[segment] = tile
    turned_up = tuple([section for section in state.turned_up if section != effect.section])
    return replace(state, track=tuple(track), supply=state.supply[count:], turned_up=turned_up)


def _decision_opened(state: State, effect: e.DecisionOpened) -> State:
    return replace(state, active=effect.seat, step=effect.step)


def _money_paid(state: State, effect: e.MoneyPaid) -> State:
    money = list(state.track_money)
    for segment in effect.segments:
        money[segment] += 1
    left = state.seats[effect.seat].money - len(effect.segments)
    return replace(state, track_money=tuple(money), seats=_with_holdings(state, effect.seat, money=left))


def _tile_taken(state: State, effect: e.TileTaken) -> State:
    segment = effect.segment
    position = state.display.index(segment)
    return replace(
        state,
        track=with_item(state.track, segment, None),
        display=state.display[:position] + state.display[position + 1 :],
        taken=Taken(segment, effect.colour, effect.tile),
    )


def _money_taken(state: State, effect: e.MoneyTaken) -> State:
    money = state.seats[effect.seat].money + effect.count
    return replace(
        state,
        track_money=with_item(state.track_money, effect.segment, 0),
        seats=_with_holdings(state, effect.seat, money=money),
    )


def _tile_placed(state: State, effect: e.TilePlaced) -> State:
    return replace(state, taken=None, board=with_item(state.board, FIELD_INDEX[effect.field], effect.tile))


def _disc_placed(state: State, effect: e.DiscPlaced) -> State:
    seat = effect.seat
    return replace(
        state,
        discs=with_item(state.discs, FIELD_INDEX[effect.field], seat),
        seats=_with_holdings(state, seat, discs=state.seats[seat].discs - 1),
    )


def _points_scored(state: State, effect: e.PointsScored) -> State:
    part = effect.part
    points = getattr(state.seats[effect.seat], part) + effect.points
    return replace(state, seats=_with_holdings(state, effect.seat, **{part: points}))


def _unchanged(state: State, _: e.AnyEffect) -> State:
    return state


def _match_ended(state: State, _: e.MatchEnded) -> State:
    return replace(state, step=None)


# Each function takes the effect type of its own key. The type of a mapping cannot express that, so the parameter is
# Any.
_FOLD: Final[Mapping[type[e.AnyEffect], Callable[[State, Any], State]]] = {
    e.TilesShuffled: _tiles_shuffled,
    e.SectionRevealed: _section_revealed,
    e.SectionRefilled: _section_refilled,
    e.DecisionOpened: _decision_opened,
    e.MoneyPaid: _money_paid,
    e.TileTaken: _tile_taken,
    e.MoneyTaken: _money_taken,
    e.TilePlaced: _tile_placed,
    e.DiscPlaced: _disc_placed,
    e.PointsScored: _points_scored,
    e.DistrictCompleted: _unchanged,
    e.BossFound: _unchanged,
    e.BossMissing: _unchanged,
    e.NeighbourInferior: _unchanged,
    e.MatchEnded: _match_ended,
}
