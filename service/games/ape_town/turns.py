"""The end of a turn: display and supply, then the next turn or the end of the match (APE-17, APE-30)."""

from functools import partial
from itertools import takewhile

from service.games.ape_town.apply import Pending
from service.games.ape_town.components import OPEN_SECTIONS, SECTIONS, SEGMENTS_PER_SECTION, Section
from service.games.ape_town.effects import DecisionOpened, MatchEnded, SectionRefilled, SectionRevealed
from service.games.ape_town.state import State, next_seat, segments_of


def end(pending: Pending) -> None:
    """Start the next seat's turn, or end the match."""
    if None not in pending.state.board:
        pending.emit(MatchEnded())
        return
    if len({segment // SEGMENTS_PER_SECTION for segment in pending.state.display}) < OPEN_SECTIONS:
        _turn_up(pending, (pending.state.turned_up[-1] + 1) % SECTIONS)
    # Sections are refilled in the order in which they were opened, up to the first one that still has a face-up tile.
    for section in takewhile(partial(_is_empty, pending.state), pending.state.turned_up):
        _refill(pending, section)
    pending.emit(DecisionOpened(next_seat(pending.state), "take_tile"))


def _turn_up(pending: Pending, section: Section) -> None:
    if _is_empty(pending.state, section):
        _refill(pending, section)
    track = pending.state.track
    lying = [(segment, track[segment]) for segment in segments_of(section)]
    face_down = [(segment, tile) for segment, tile in lying if tile is not None]
    if face_down:
        segments, tiles = zip(*face_down, strict=True)
        pending.emit(SectionRevealed(section, segments, tiles))


def _refill(pending: Pending, section: Section) -> None:
    segments = segments_of(section)[: len(pending.state.supply)]
    if segments:
        pending.emit(SectionRefilled(section, tuple(segments)))


def _is_empty(state: State, section: Section) -> bool:
    return all(state.track[segment] is None for segment in segments_of(section))
