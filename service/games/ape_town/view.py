"""What a viewer may know, field by field, and full states that agree with it.

Hidden from all are the tiles that lie face down and the order of the supply.
"""

from collections import Counter

import msgspec

from service.games.ape_town.components import BOX, FIELDS, FieldId, Section, Segment, Tile
from service.games.ape_town.effects import Step
from service.games.ape_town.state import Holdings, State, Taken
from service.games.protocol import Rng
from service.games.visibility import Seat, Viewer


class SeatView(msgspec.Struct, frozen=True):
    """What a seat has, and its points so far by part; money counts at the end."""

    money: int
    discs: int
    placement: int
    boss: int
    neighbours: int


class OpenTile(msgspec.Struct, frozen=True):
    """A face-up tile of the track."""

    segment: Segment
    tile: Tile


class Observation(msgspec.Struct, frozen=True, tag_field="game", tag="ape_town"):
    """All that lies open, the same for every viewer.

    `active` is the seat whose turn it is, or was at the end, when `step` is null. The `display` begins with the tile
    that is free, and each one further costs 1 more. `face_down` are the segments with a face-down tile, `track_money`
    is the money by segment. `turned_up` are the sections that were turned up and not refilled since, in that order.
    `board` and `discs` hold the tiles and the owners on the fields that have any.
    """

    active: Seat
    step: Step | None
    seats: tuple[SeatView, ...]
    display: tuple[OpenTile, ...]
    face_down: tuple[Segment, ...]
    track_money: tuple[int, ...]
    turned_up: tuple[Section, ...]
    supply: int
    taken: Taken | None
    board: dict[FieldId, Tile]
    discs: dict[FieldId, Seat]


def observation(state: State, _viewer: Viewer) -> Observation:
    """What a seat, or a spectator (None), may know."""
    track, display = state.track, state.display
    return Observation(
        active=state.active,
        step=state.step,
        seats=tuple(
            [SeatView(held.money, held.discs, held.placement, held.boss, held.neighbours) for held in state.seats]
        ),
        display=tuple([OpenTile(segment, tile) for segment in display if (tile := track[segment]) is not None]),
        face_down=tuple([segment for segment, tile in enumerate(track) if tile is not None and segment not in display]),
        track_money=state.track_money,
        turned_up=state.turned_up,
        supply=len(state.supply),
        taken=state.taken,
        board={field.id: tile for field, tile in zip(FIELDS, state.board, strict=True) if tile is not None},
        discs={field.id: seat for field, seat in zip(FIELDS, state.discs, strict=True) if seat is not None},
    )


def sample_state(seen: Observation, rng: Rng) -> State:
    """A full state that a viewer of this observation may be in, every hidden tile drawn anew."""
    open_tiles = [shown.tile for shown in seen.display]
    taken = [seen.taken.tile] if seen.taken else []
    unseen = Counter(BOX.tiles) - Counter((*seen.board.values(), *open_tiles, *taken))
    hidden = rng.shuffle("tiles", tuple(unseen.elements()))
    track: list[Tile | None] = [None] * len(BOX.track)
    for shown in seen.display:
        track[shown.segment] = shown.tile
    for segment, tile in zip(seen.face_down, hidden, strict=False):
        track[segment] = tile
    return State(
        seats=tuple(
            [Holdings(held.money, held.discs, held.placement, held.boss, held.neighbours) for held in seen.seats]
        ),
        active=seen.active,
        step=seen.step,
        track=tuple(track),
        track_money=seen.track_money,
        display=tuple([shown.segment for shown in seen.display]),
        turned_up=seen.turned_up,
        supply=hidden[len(seen.face_down) :],
        taken=seen.taken,
        board=tuple([seen.board.get(field.id) for field in FIELDS]),
        discs=tuple([seen.discs.get(field.id) for field in FIELDS]),
    )
