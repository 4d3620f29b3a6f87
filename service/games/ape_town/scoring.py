"""Points of a placement (APE-13 to APE-15), of a completed district (APE-20, APE-21), and at the end (APE-30, APE-31)."""

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from service.games.ape_town.components import DISTRICTS, FIELDS, VALUES, District, Tile
from service.games.ape_town.state import State, next_seat
from service.games.kit.ranking import outcome
from service.games.protocol import Outcome, Rng
from service.games.visibility import Seat, Viewer

Board: TypeAlias = Sequence[Tile | None]
Discs: TypeAlias = Sequence[Seat | None]

_PRINTED_BANANAS: Final = tuple([field.printed.count("banana") for field in FIELDS])
_PRINTED_WORTH: Final = tuple([sum([VALUES.get(tile, 0) for tile in field.printed]) for field in FIELDS])


class Boss(NamedTuple):
    """The boss of a district, and the kind of tile of which it has the most."""

    seat: Seat
    by: Literal["orangutan", "lemur"]


class Inferior(NamedTuple):
    """A neighbour with fewer lemurs, the value of its apes, and each seat's share of it."""

    district: District
    lemurs: int
    worth: int
    share: int


class Settlement(NamedTuple):
    """The scoring of a completed district: `worth` goes to the boss, and each of `sharers` gets the shares of the
    inferior neighbours.
    """

    lemurs: int
    worth: int
    boss: Boss | None
    sharers: tuple[Seat, ...]
    inferior: tuple[Inferior, ...]


def placement_points(board: Board, index: int, tile: Tile) -> int:
    """The points that a tile scores when it is placed: an ape for each banana beside it, a banana for each ape beside
    it.
    """
    neighbours = FIELDS[index].neighbours
    if tile == "banana":
        return _PRINTED_WORTH[index] + sum([VALUES.get(board[other], 0) for other in neighbours])
    value = VALUES.get(tile, 0)
    return value and value * (_PRINTED_BANANAS[index] + [board[other] for other in neighbours].count("banana"))


def is_complete(board: Board, district: District) -> bool:
    return None not in [board[index] for index in district.fields]


def worth(board: Board, district: District) -> int:
    """The sum of the values of a district's apes. Printed tiles belong to no district."""
    return sum([VALUES.get(board[index], 0) for index in district.fields])


def lemurs(board: Board, district: District) -> int:
    """All lemurs in a district, including unowned ones (APE-16)."""
    return [board[index] for index in district.fields].count("lemur")


def owned(board: Board, discs: Discs, district: District, tile: Tile, seats: int) -> list[int]:
    """For each seat, the number of tiles of this kind in a district that have its disc."""
    owners = [discs[index] for index in district.fields if board[index] == tile]
    return [owners.count(seat) for seat in range(seats)]


def settle(board: Board, discs: Discs, district: District, seats: int) -> Settlement:
    """Score a completed district."""
    here = lemurs(board, district)
    owners = owned(board, discs, district, "lemur", seats)
    sharers = tuple([seat for seat, count in enumerate(owners) if count])
    inferior = []
    for neighbour in [DISTRICTS[other] for other in district.neighbours]:
        there = lemurs(board, neighbour)
        if there < here:
            points = worth(board, neighbour)
            # APE-21: round up
            inferior.append(Inferior(neighbour, there, points, -(-points // len(sharers)) if sharers else 0))
    orangutans = owned(board, discs, district, "orangutan", seats)
    return Settlement(here, worth(board, district), _boss(orangutans, owners), sharers, tuple(inferior))


def _boss(orangutans: list[int], lemurs_owned: list[int]) -> Boss | None:
    """APE-20."""
    seat = _most(orangutans)
    if seat is not None:
        return Boss(seat, "orangutan")
    seat = _most(lemurs_owned)
    return None if seat is None else Boss(seat, "lemur")


def _most(counts: list[int]) -> Seat | None:
    """The seat that has more than every other seat; None if it is a tie or all have 0."""
    best = max(counts)
    return counts.index(best) if counts.count(best) == 1 else None


def points(state: State, _viewer: Viewer) -> tuple[int, ...]:
    """The score of each seat if the match ended now. All of it is public."""
    return tuple([held.placement + held.boss + held.neighbours + held.money for held in state.seats])


def score(state: State, _rng: Rng) -> Outcome:
    """The outcome of a match that is over. It makes no draw."""
    breakdown = [
        {"placement": held.placement, "boss": held.boss, "neighbours": held.neighbours, "money": held.money}
        for held in state.seats
    ]
    first, seats = next_seat(state), len(state.seats)
    # APE-31: of tied seats, the one whose turn would come next ranks first
    return outcome(breakdown, [(-((seat - first) % seats),) for seat in range(seats)])
