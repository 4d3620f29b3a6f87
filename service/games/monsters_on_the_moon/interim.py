"""The interim scoring, when the draw pile becomes empty (MON-30, MON-31, MON-66)."""

from service.games.monsters_on_the_moon.apply import Pending
from service.games.monsters_on_the_moon.effects import DeciderNamed, Part, PointsScored
from service.games.monsters_on_the_moon.groups import count
from service.games.monsters_on_the_moon.state import enclosed_cells, walled_edges
from service.games.protocol import Rng
from service.games.visibility import Seat


def score(pending: Pending, rng: Rng) -> None:
    """Score each seat's monsters, then find the seat that chooses who goes first. A complete tie is broken by a draw."""
    walled, areas = walled_edges(pending.state), enclosed_cells(pending.state)
    for seat, held in enumerate(pending.state.seats):
        found = count(pending.state.display, held.monster, walled, areas)
        parts: tuple[tuple[Part, int, int], ...] = (
            ("interim_singles", found.singles, found.enclosed_singles),
            ("interim_groups", found.groups, found.enclosed_groups),
        )
        pending.emit(*[PointsScored(seat, points, part, "MON-30") for part, points, _ in parts if points])
        pending.emit(*[PointsScored(seat, points, part, "MON-66", 2) for part, _, points in parts if points])
    pending.emit(_decider(pending, rng))


def _decider(pending: Pending, rng: Rng) -> DeciderNamed:
    """The seat that chooses who goes first (MON-31)."""
    seats = pending.state.seats
    fewest = _lowest({seat: held.interim_singles + held.interim_groups for seat, held in enumerate(seats)})
    if len(fewest) == 1:
        return DeciderNamed(fewest[0], "points")
    poorest = _lowest({seat: seats[seat].crystals for seat in fewest})
    if len(poorest) == 1:
        return DeciderNamed(poorest[0], "crystals")
    return DeciderNamed(rng.pick("first_after_interim", poorest), "draw")


def _lowest(points: dict[Seat, int]) -> tuple[Seat, ...]:
    least = min(points.values())
    return tuple([seat for seat, number in points.items() if number == least])
