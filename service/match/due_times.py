"""The kinds of due entries of a match. `KINDS` computes the time of each kind; `workers` has a handler for each.

A due entry contains only a time. The work that is due follows from the match.
"""

from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

from events.due import DueTimes
from service.match.model import Match

HINT_MS: Final = 300
"""For a decision that is due at once, other processes get a hint. After this time the hint counts as lost."""


def due_times(match: Match, after: int = -1) -> DueTimes:
    """When each kind is due next, in milliseconds. Decisions of bots that were due by the time `after` do not count.

    Kinds that a match does not have (yet) are absent, so that the appends of moves do not pay for them. `call` is absent also
    where `after` is given: what is due for the workers says nothing about calls.
    """
    kinds = KINDS
    if match.is_to_be_rated:
        kinds = {**kinds, **FINAL_KINDS}
    if after < 0 and any(holder is not None and holder.account_kind == "hosted" for holder in match.seats):
        kinds = {**kinds, **HOSTED_KINDS}
    return {kind: due_at(match, after) for kind, due_at in kinds.items()}


def _job(match: Match, after: int) -> int | None:
    return _turn_at(match, after) if match.has_players else None


def _clock(match: Match, _after: int) -> int | None:
    return _deadline(match) if match.has_players else None


def _bots(match: Match, after: int) -> int | None:
    return None if match.has_players or match.is_abandoned else _either(match, after)


def _abandoned(match: Match, after: int) -> int | None:
    return _either(match, after) if match.is_abandoned else None


def _open(match: Match, _after: int) -> int | None:
    return match.expires_at


def _call(match: Match, _after: int) -> int | None:
    return _first(match, (one.slot for one in match.decisions() if one.called_at is not None))


def _rating(match: Match, _after: int) -> int | None:
    return match.ended_at


def _either(match: Match, after: int) -> int | None:
    return min((at for at in (_turn_at(match, after), _deadline(match)) if at is not None), default=None)


def _turn_at(match: Match, after: int) -> int | None:
    decisions = match.decisions()
    if match.status == "running" and not decisions:
        return match.at + HINT_MS
    return _first(match, (one.slot for one in decisions if one.scheduled_at is not None and one.scheduled_at > after))


def _first(match: Match, slots: Iterable[int | None]) -> int | None:
    """The first time of a due entry of decisions with these slots; None if there are none.

    For one that is due with the newest event, other processes got a hint. Its due entry has the time at which the hint counts as
    lost. This is counted from the slot: counted from the event, players who act all the time would delay bots without end.
    """
    times = (slot if slot > match.at else max(match.at, slot + HINT_MS) for slot in slots if slot is not None)
    return min(times, default=None)


def _deadline(match: Match) -> int | None:
    first = match.first_due()
    return None if first is None else first.enforced_at


DueAt: TypeAlias = Callable[[Match, int], int | None]

KINDS: Final[dict[str, DueAt]] = {
    "job": _job,
    "clock": _clock,
    "bots": _bots,
    "abandoned": _abandoned,
    "open": _open,
}
"""`job`: a turn that the service plays, or the scoring, in a match with people or hosted bots. Workers claim it with a lease.

`clock`: a deadline in a match with people or hosted bots. Any sweeper enforces it.
`bots`: a turn, the scoring or a deadline in a match of the games' bots alone. Separate workers claim it, so that nobody waits.
`abandoned`: the same, in a match that all its people and hosted bots left. The same workers claim it, after all matches of bots.
`open`: the end of the time for which a match may wait for players. Sweepers claim it.
"""
HOSTED_KINDS: Final[dict[str, DueAt]] = {"call": _call}
"""`call`: a decision for which a hosted bot is called, if it wants to be. The processes that make calls claim it."""
FINAL_KINDS: Final[dict[str, DueAt]] = {"rating": _rating}
"""`rating`: the rating of a rated match that was scored. Sweepers claim it, and remove it when the match is rated."""
