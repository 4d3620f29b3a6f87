"""A bot that looks one action ahead and uses only its task. Values are in hundredths of a point."""

from typing import Final, NamedTuple, TypeAlias

from service.games.ape_town.actions import AnyAction, TakeTile
from service.games.ape_town.components import BOX, DISTRICTS, FIELD_INDEX, FIELDS, OWNED, District, Tile
from service.games.ape_town.legal import free_fields
from service.games.ape_town.scoring import is_complete, owned, placement_points, settle, worth
from service.games.ape_town.view import Observation
from service.games.protocol import Rng, Task
from service.games.visibility import Seat

ApeTask: TypeAlias = Task[AnyAction, Observation]

POINT: Final = 100
MONEY: Final = 90
"""The value of one money: it scores a point at the end unless it is paid to another seat."""


class Table(NamedTuple):
    """The board as the scoring functions expect it, and the seat of the bot."""

    seat: Seat
    seats: int
    board: list[Tile | None]
    discs: list[Seat | None]


def greedy(task: ApeTask, _rng: Rng) -> AnyAction:
    """The action of the highest value, or the first of several."""
    seen = task.observation
    table = Table(
        task.seat,
        len(seen.seats),
        [seen.board.get(field.id) for field in FIELDS],
        [seen.discs.get(field.id) for field in FIELDS],
    )
    return max(task.legal_actions, key=lambda action: _value(table, seen, action))


def _value(table: Table, seen: Observation, action: AnyAction) -> int:
    if isinstance(action, TakeTile):
        return _value_of_take(table, seen, action)
    return _value_of_placement(table, seen.taken.tile, FIELD_INDEX[action.field]) if seen.taken else 0


def _value_of_take(table: Table, seen: Observation, action: TakeTile) -> int:
    """The value of the tile's best field, plus the money on its segment, minus its price."""
    segments = [shown.segment for shown in seen.display]
    price = segments.index(action.segment)
    tile = seen.display[price].tile
    fields = free_fields(table.board, BOX.track[action.segment])
    money = seen.track_money[action.segment] - price
    return MONEY * money + max(_value_of_placement(table, tile, index) for index in fields)


def _value_of_placement(table: Table, tile: Tile, index: int) -> int:
    """The points of the seat, minus the most points of another seat, plus the value of a disc for later."""
    board, discs = list(table.board), list(table.discs)
    board[index] = tile
    district = DISTRICTS[FIELDS[index].district]
    if tile in OWNED:
        discs[index] = table.seat
    gains = [0] * table.seats
    gains[table.seat] = placement_points(board, index, tile)
    complete = is_complete(board, district)
    if complete:
        settled = settle(board, discs, district, table.seats)
        if settled.boss:
            gains[settled.boss.seat] += settled.worth
        for seat in settled.sharers:
            gains[seat] += sum(found.share for found in settled.inferior)
    mine = gains.pop(table.seat)
    later = _future_value(table, tile, district) if tile in OWNED and not complete else 0
    return POINT * (mine - max(gains)) + later


def _future_value(table: Table, tile: Tile, district: District) -> int:
    """The value of a disc in an incomplete district.

    It grows with the apes in the district and falls with each disc that the seat already has there.
    """
    mine = owned(table.board, table.discs, district, tile, table.seats)[table.seat]
    return (3 * POINT + POINT * worth(table.board, district) // 2) // (1 + mine)
