"""The crystal track: how a marker moves, and the plates that it reaches (MON-20 to MON-22)."""

from collections.abc import Sequence

from service.games.monsters_on_the_moon.apply import Pending
from service.games.monsters_on_the_moon.components import BOX, Clause
from service.games.monsters_on_the_moon.effects import MarkerMoved, PlateTaken
from service.games.monsters_on_the_moon.squares import Square, SquareAt
from service.games.visibility import Seat


def collect(pending: Pending, seat: Seat, squares: Sequence[SquareAt], under: Sequence[Square | None]) -> None:
    """Move the marker for a card just laid: for the crystals that it covers, and for its own crystals on empty squares."""
    pairs = [(square.shows, below.shows) for square, below in zip(squares, under, strict=True) if below is not None]
    covered = sum([below == "crystal" for _, below in pairs])
    if covered:
        move_marker(pending, seat, covered, "MON-20")
    brought = pairs.count(("crystal", "empty"))
    if brought:
        move_marker(pending, seat, brought, "MON-21")


def move_marker(pending: Pending, seat: Seat, crystals: int, clause: Clause) -> None:
    """Move the marker one field for each crystal, at most to the last field.

    It takes the plates of red-framed fields that it reaches or passes (MON-22).
    """
    track = BOX.tracks[len(pending.state.seats)]
    before = pending.state.seats[seat].field
    after = min(before + crystals, len(track.points) - 1)
    pending.emit(
        MarkerMoved(seat, crystals, before, after, track.points[after], clause),
        *[PlateTaken(seat, red) for red in track.red if before < red <= after],
    )
