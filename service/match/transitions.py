"""How each event type changes a match: one function for each type."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from events.record import Event
from service.games.protocol import CLOCK, AnyGame, Decision
from service.games.visibility import Seat
from service.match.events import (
    AbortAsked,
    Acted,
    ClockExtended,
    MatchAborted,
    MatchResumed,
    MatchScored,
    MatchStarted,
    MatchSuspended,
    Rang,
    Resigned,
    SeatFreed,
    SeatHandedOver,
    SeatLeft,
    SeatTaken,
    SeedRevealed,
    codec,
)
from service.match.model import Folding, LastMove, Opening, SeatHolder
from service.match.randomness import Draw

T = TypeVar("T")

Drawn: TypeAlias = tuple[Draw, ...] | UnsetType


def _play(match: Folding, event: Event, mover: Seat, effects: Sequence[Any], draws: Drawn) -> None:
    """Apply effects to the state of the game, count the draws, and open the next decisions."""
    game, state = match.game, match.state
    apply = game.apply
    for effect in effects:
        state = apply(state, effect)
    match.state = state
    if draws is not UNSET:
        counts = dict(match.drawn)
        for draw in draws:
            counts[draw.label] = counts.get(draw.label, 0) + 1
        match.drawn = counts
    opened = Opening(event.version, event.at - match.paused)
    if match.banks and mover != CLOCK:
        match.banks = _banks(match, opened.at, mover)
    if game.info.simultaneous:
        match.open_decisions, match.since = _open_decisions(match, game.decisions(state), opened, mover)
    match.opened = opened


def _banks(match: Folding, now: int, mover: Seat) -> tuple[int, ...]:
    """The banks after `mover` moved: its own is reduced by the time of its decision and gets the increment."""
    openings = zip(match.open_decisions, match.since, strict=True)
    opening = next((since for decision, since in openings if decision.seat == mover), match.opened)
    clock = match.created.clock
    increment = 0 if clock is None or clock.increment_seconds is UNSET else clock.increment_seconds * 1000
    left = max(0, match.banks[mover] - (now - opening.at)) + increment
    return (*match.banks[:mover], left, *match.banks[mover + 1 :])


def _open_decisions(
    match: Folding, decisions: tuple[Decision[Any], ...], opened: Opening, mover: Seat
) -> tuple[tuple[Decision[Any], ...], tuple[Opening, ...]]:
    """The open decisions of a simultaneous game, and when each opened. A decision that stays open keeps its opening."""
    openings = zip(match.open_decisions, match.since, strict=True)
    if decisions == match.open_decisions:  # true for almost every event
        return match.open_decisions, tuple(
            [opened if decision.seat == mover else since for decision, since in openings]
        )
    before = {_identity(decision): opening for decision, opening in openings if decision.seat != mover}
    return decisions, tuple([before.get(_identity(decision), opened) for decision in decisions])


def _identity(decision: Decision[Any]) -> tuple[object, ...]:
    """A decision stays the same one until its seat moves, or until its step or its times change."""
    return decision.seat, decision.step, decision.opens_at, decision.deadline


def _seated(match: Folding, seat: Seat, holder: SeatHolder | None) -> tuple[SeatHolder | None, ...]:
    if not 0 <= seat < len(match.seats):
        raise IndexError(f"there is no seat {seat}")
    return (*match.seats[:seat], holder, *match.seats[seat + 1 :])


def _holder(match: Folding, seat: Seat) -> SeatHolder:
    holder = match.seats[seat]
    if holder is None:
        raise ValueError(f"seat {seat} is empty")
    return holder


def _require_format_2(match: Folding, value: object) -> None:
    """Check that a match may have an event or a value that format 1 does not have. Format 1 is closed."""
    if match.created.format_number == 1:
        raise ValueError(f"format 1 has no {value}")


def _match_started(match: Folding, event: Event, data: MatchStarted[Any]) -> None:
    match.status, match.started_at = "running", event.at
    _play(match, event, CLOCK, data.effects, data.draws)


def _action(match: Folding, event: Event, data: Acted[Any, Any]) -> None:
    if data.reason is UNSET:
        if match.abort_asked:
            _no_longer_asks(match, data.seat)
    elif data.reason == "bot-late":
        _require_format_2(match, data.reason)
    holder = match.seats[data.seat]
    if holder is not None and holder.kind == "hosted":
        reason = None if data.reason is UNSET else data.reason
        match.last_moves = {**match.last_moves, data.seat: LastMove(event.version, reason)}
    _play(match, event, data.seat, data.effects, data.draws)


def _timer(match: Folding, event: Event, data: Rang[Any]) -> None:
    _play(match, event, CLOCK, data.effects, data.draws)


def _seat_taken(match: Folding, _event: Event, data: SeatTaken) -> None:
    if data.kind == "hosted":
        _require_format_2(match, data.kind)
    seed = None if data.client_seed is UNSET else data.client_seed
    holder = SeatHolder(data.player, data.kind, seed)
    if data.owner is not UNSET and data.limit_ms is not UNSET:
        holder = replace(holder, owner=data.owner, limit_ms=data.limit_ms)
    match.seats = _seated(match, data.seat, holder)


def _seat_left(match: Folding, _event: Event, data: SeatLeft) -> None:
    match.seats = _seated(match, data.seat, None)


def _seat_freed(match: Folding, event: Event, data: SeatFreed) -> None:
    _require_format_2(match, event.type)
    match.seats = _seated(match, data.seat, None)


def _abort_asked(match: Folding, event: Event, data: AbortAsked) -> None:
    _require_format_2(match, event.type)
    seat = data.seat
    _holder(match, seat)
    match.abort_asked = tuple(sorted({*match.abort_asked, seat}))


def _no_longer_asks(match: Folding, seat: Seat) -> None:
    match.abort_asked = tuple([other for other in match.abort_asked if other != seat])


def _seat_handed_over(match: Folding, event: Event, data: SeatHandedOver) -> None:
    if (match.created.format_number == 1) != (data.reason is UNSET):
        raise ValueError("format 2 has a reason, format 1 has none")
    seat, before = data.seat, _holder(match, data.seat)
    holder = SeatHolder(data.player, data.kind, before.client_seed)
    if data.kind != "human":
        holder = replace(holder, former=before.account, owner=before.owner)
    _no_longer_asks(match, seat)
    match.seats = _seated(match, seat, holder)
    if data.reason == "returned":
        return  # the seat has no open decision, and keeps its bank
    opened = Opening(event.version, event.at - match.paused)
    openings = zip(match.open_decisions, match.since, strict=True)
    match.since = tuple(opened if decision.seat == seat else since for decision, since in openings)
    match.opened = opened
    match.banks = (*match.banks[:seat], *match.created.full_banks()[seat : seat + 1], *match.banks[seat + 1 :])


def _seat_resigned(match: Folding, _event: Event, data: Resigned) -> None:
    seat = data.seat
    _no_longer_asks(match, seat)
    match.seats = _seated(match, seat, replace(_holder(match, seat), resigned=True))


def _match_scored(match: Folding, event: Event, data: MatchScored) -> None:
    match.outcome = data.outcome
    match.status, match.ended_at = "finished", event.at


def _match_aborted(match: Folding, event: Event, data: MatchAborted) -> None:
    reason = data.reason
    if reason != "creator-left":
        _require_format_2(match, reason)
    match.status, match.ended_at = "aborted", event.at


def _seed_revealed(match: Folding, _event: Event, data: SeedRevealed) -> None:
    match.server_seed = data.server_seed


def _clock_extended(match: Folding, _event: Event, data: ClockExtended) -> None:
    match.paused += data.ms


def _match_suspended(match: Folding, event: Event, _data: MatchSuspended) -> None:
    match.status, match.suspended_at = "suspended", event.at


def _match_resumed(match: Folding, event: Event, _data: MatchResumed) -> None:
    if match.suspended_at is None:
        raise ValueError("the match is not suspended")
    match.status, match.paused, match.suspended_at = "running", match.paused + event.at - match.suspended_at, None


Transition: TypeAlias = tuple[Callable[[msgspec.Raw], Any], Callable[[Folding, Event, Any], None]]
"""The decoder of the data of one event type, and how such an event changes a match."""


def _transition(data: type[T], change: Callable[[Folding, Event, T], None]) -> Transition:
    return msgspec.json.Decoder(data).decode, change


_OF_ALL_GAMES: Final[Mapping[str, Transition]] = {
    "seat_taken": _transition(SeatTaken, _seat_taken),
    "seat_left": _transition(SeatLeft, _seat_left),
    "seat_freed": _transition(SeatFreed, _seat_freed),
    "abort_asked": _transition(AbortAsked, _abort_asked),
    "seat_handed_over": _transition(SeatHandedOver, _seat_handed_over),
    "resigned": _transition(Resigned, _seat_resigned),
    "match_scored": _transition(MatchScored, _match_scored),
    "match_aborted": _transition(MatchAborted, _match_aborted),
    "seed_revealed": _transition(SeedRevealed, _seed_revealed),
    "clock_extended": _transition(ClockExtended, _clock_extended),
    "match_suspended": _transition(MatchSuspended, _match_suspended),
    "match_resumed": _transition(MatchResumed, _match_resumed),
}


@cache
def transitions(game: AnyGame) -> Mapping[str, Transition]:
    """The transition of every event type but `match_created`. `fold` itself sets `head` and `at`."""
    decoders = codec(game)
    return {
        "match_started": (decoders.started, _match_started),
        "action": (decoders.acted, _action),
        "default_action": (decoders.acted, _action),
        "timer": (decoders.rang, _timer),
        **_OF_ALL_GAMES,
    }
