"""What each event type changes of a match: one function for each."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from events.record import Event, Head
from service.games.protocol import CLOCK, Decision
from service.games.visibility import Seat
from service.match import Match, Opening, Sitter
from service.match_events import (
    ClockExtended,
    MatchAborted,
    MatchResumed,
    MatchScored,
    MatchSuspended,
    Resigned,
    SeatHandedOver,
    SeatLeft,
    SeatTaken,
    SeedRevealed,
    codec,
)
from service.randomness import Draw

T = TypeVar("T")

Drawn: TypeAlias = tuple[Draw, ...] | UnsetType


def _play(match: Match, event: Event, head: Head, mover: Seat, effects: Sequence[Any], draws: Drawn) -> Match:
    """The match after some effects of its game."""
    state = match.state
    apply = match.game.apply
    for effect in effects:
        state = apply(state, effect)
    drawn = match.drawn
    if draws:
        counts = dict(drawn)
        for draw in draws:
            counts[draw.label] = counts.get(draw.label, 0) + 1
        drawn = counts
    opened = Opening(event.version, event.at - match.paused)
    banks = _banks(match, opened.at, mover) if match.banks and mover != CLOCK else match.banks
    if match.game.info.simultaneous:
        asked, since = _asked(match, match.game.decisions(state), opened, mover)
        match = replace(match, asked=asked, since=since)
    return replace(match, head=head, at=event.at, state=state, drawn=drawn, opened=opened, banks=banks)


def _banks(match: Match, now: int, mover: Seat) -> tuple[int, ...]:
    """What each seat has left once `mover` moved: less what its decision took, and the increment."""
    openings = zip(match.asked, match.since, strict=True)
    opening = next((since for decision, since in openings if decision.seat == mover), match.opened)
    clock = match.created.clock
    increment = 0 if clock is None or clock.increment_seconds is UNSET else clock.increment_seconds * 1000
    left = max(0, match.banks[mover] - (now - opening.at)) + increment
    return (*match.banks[:mover], left, *match.banks[mover + 1 :])


def _asked(
    match: Match, asked: tuple[Decision[Any], ...], opened: Opening, mover: Seat
) -> tuple[tuple[Decision[Any], ...], tuple[Opening, ...]]:
    """The decisions of a simultaneous game, and the opening of each: the one it had, where it stays the same decision."""
    openings = zip(match.asked, match.since, strict=True)
    if asked == match.asked:  # as with almost every event
        return match.asked, tuple([opened if decision.seat == mover else since for decision, since in openings])
    before = {_identity(decision): opening for decision, opening in openings if decision.seat != mover}
    return asked, tuple([before.get(_identity(decision), opened) for decision in asked])


def _identity(decision: Decision[Any]) -> tuple[object, ...]:
    """A decision lasts until its seat moves, or until its step or its times change."""
    return decision.seat, decision.step, decision.opens_at, decision.deadline


def _seated(match: Match, seat: Seat, sitter: Sitter | None) -> tuple[Sitter | None, ...]:
    if not 0 <= seat < len(match.seats):
        raise IndexError(f"there is no seat {seat}")
    return (*match.seats[:seat], sitter, *match.seats[seat + 1 :])


def _decoder(data: type[T]) -> Callable[[msgspec.Raw], T]:
    return msgspec.json.Decoder(data).decode


_taken = _decoder(SeatTaken)
_left = _decoder(SeatLeft)
_handed_over = _decoder(SeatHandedOver)
_resigned = _decoder(Resigned)
_scored = _decoder(MatchScored)
_revealed = _decoder(SeedRevealed)
_extended = _decoder(ClockExtended)
_aborted = _decoder(MatchAborted)
_suspended = _decoder(MatchSuspended)
_nothing = _decoder(MatchResumed)


def _match_started(match: Match, event: Event, head: Head) -> Match:
    data = codec(match.game).started(event.data)
    match = replace(match, status="running", started_at=event.at)
    return _play(match, event, head, CLOCK, data.effects, data.draws)


def _action(match: Match, event: Event, head: Head) -> Match:
    data = codec(match.game).acted(event.data)
    return _play(match, event, head, data.seat, data.effects, data.draws)


def _timer(match: Match, event: Event, head: Head) -> Match:
    data = codec(match.game).rang(event.data)
    return _play(match, event, head, CLOCK, data.effects, data.draws)


def _seat_taken(match: Match, event: Event, head: Head) -> Match:
    data = _taken(event.data)
    seed = None if data.client_seed is UNSET else data.client_seed
    sitter = Sitter(data.player, data.kind, seed)
    return replace(match, head=head, at=event.at, seats=_seated(match, data.seat, sitter))


def _seat_left(match: Match, event: Event, head: Head) -> Match:
    return replace(match, head=head, at=event.at, seats=_seated(match, _left(event.data).seat, None))


def _seat_handed_over(match: Match, event: Event, head: Head) -> Match:
    data = _handed_over(event.data)
    before = _sitter(match, data.seat)
    former = before.player if before.kind == "human" else before.former
    seats = _seated(match, data.seat, Sitter(data.player, data.kind, before.client_seed, former=former))
    opened = Opening(event.version, event.at - match.paused)
    openings = zip(match.asked, match.since, strict=True)
    since = tuple(opened if decision.seat == data.seat else since for decision, since in openings)
    match = replace(match, head=head, at=event.at, seats=seats, opened=opened, since=since)
    banks = match.created.full_banks()
    return replace(
        match, banks=(*match.banks[: data.seat], *banks[data.seat : data.seat + 1], *match.banks[data.seat + 1 :])
    )


def _seat_resigned(match: Match, event: Event, head: Head) -> Match:
    seat = _resigned(event.data).seat
    sitter = replace(_sitter(match, seat), resigned=True)
    return replace(match, head=head, at=event.at, seats=_seated(match, seat, sitter))


def _sitter(match: Match, seat: Seat) -> Sitter:
    sitter = match.seats[seat]
    if sitter is None:
        raise ValueError(f"seat {seat} is empty")
    return sitter


def _match_scored(match: Match, event: Event, head: Head) -> Match:
    outcome = _scored(event.data).outcome
    return replace(match, head=head, at=event.at, status="finished", ended_at=event.at, outcome=outcome)


def _match_aborted(match: Match, event: Event, head: Head) -> Match:
    _aborted(event.data)
    return replace(match, head=head, at=event.at, status="aborted", ended_at=event.at)


def _seed_revealed(match: Match, event: Event, head: Head) -> Match:
    return replace(match, head=head, at=event.at, server_seed=_revealed(event.data).server_seed)


def _clock_extended(match: Match, event: Event, head: Head) -> Match:
    return replace(match, head=head, at=event.at, paused=match.paused + _extended(event.data).ms)


def _match_suspended(match: Match, event: Event, head: Head) -> Match:
    _suspended(event.data)
    return replace(match, head=head, at=event.at, status="suspended", suspended_at=event.at)


def _match_resumed(match: Match, event: Event, head: Head) -> Match:
    _nothing(event.data)
    if match.suspended_at is None:
        raise ValueError("the match is not suspended")
    paused = match.paused + event.at - match.suspended_at
    return replace(match, head=head, at=event.at, status="running", suspended_at=None, paused=paused)


STEPS: Final[Mapping[str, Callable[[Match, Event, Head], Match]]] = {
    "match_started": _match_started,
    "action": _action,
    "default_action": _action,
    "timer": _timer,
    "seat_taken": _seat_taken,
    "seat_left": _seat_left,
    "seat_handed_over": _seat_handed_over,
    "resigned": _seat_resigned,
    "match_scored": _match_scored,
    "match_aborted": _match_aborted,
    "seed_revealed": _seed_revealed,
    "clock_extended": _clock_extended,
    "match_suspended": _match_suspended,
    "match_resumed": _match_resumed,
}
"""Every event type after `match_created`."""
