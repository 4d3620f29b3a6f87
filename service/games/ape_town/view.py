"""What a viewer may know, field by field, and sampled states that agree with it.

Face-down tiles and the order of the supply are hidden from everyone.
"""

from collections import Counter

import msgspec

from service.games.ape_town.components import BOX, FIELDS, FieldId, Section, Segment, Tile
from service.games.ape_town.effects import Step
from service.games.ape_town.state import Holdings, State, Taken
from service.games.protocol import Rng
from service.games.visibility import Seat, Viewer


class SeatView(msgspec.Struct, frozen=True):
    """What a seat has, and its points so far by part. Money scores at the end."""

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
    """Everything that is public. All viewers get the same observation.

    `active` is the seat whose turn it is; at the end, when `step` is null, the seat that had the last turn. The first
    tile of `display` is free, and each further one costs 1 more. `face_down` lists the segments with a face-down tile.
    `track_money` is the money on each segment. `turned_up` lists the sections that were turned face up and not refilled
    since, oldest first. `board` and `discs` have an entry for each field with a tile or a disc.
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
    """Sample a full state that is consistent with this observation. Every hidden tile is drawn anew."""
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
