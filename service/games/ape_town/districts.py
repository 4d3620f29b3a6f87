"""Scores a completed district: its boss, then its inferior neighbours (APE-20, APE-21)."""

from service.games.ape_town.apply import Pending
from service.games.ape_town.components import District
from service.games.ape_town.effects import (
    BossFound,
    BossMissing,
    DistrictCompleted,
    NeighbourInferior,
    PointsScored,
)
from service.games.ape_town.scoring import settle


def complete(pending: Pending, district: District) -> None:
    """Emit the scoring of a district. Each score follows the effect that explains it."""
    state = pending.state
    settled = settle(state.board, state.discs, district, len(state.seats))
    pending.emit(DistrictCompleted(district.id, settled.lemurs))
    if settled.boss is None:
        pending.emit(BossMissing(district.id))
    else:
        pending.emit(BossFound(district.id, settled.boss.seat, settled.boss.by, settled.worth))
        if settled.worth:
            pending.emit(PointsScored(settled.boss.seat, settled.worth, "boss", "APE-20"))
    for found in settled.inferior:
        pending.emit(
            NeighbourInferior(district.id, found.district.id, found.lemurs, found.worth, settled.sharers, found.share)
        )
        if found.share:
            pending.emit(*[PointsScored(seat, found.share, "neighbours", "APE-21") for seat in settled.sharers])
