"""What the service owes a match, by name. Each kind is one entry here, and a handler in `workers`.

An entry says only that something is due, never what: that follows from the match.
"""

from collections.abc import Callable
from typing import Final

from events.due import Owed
from service.match.model import HINT_MS, Match


def owed(match: Match, after: int = -1) -> Owed:
    """When each kind is due next. Bots that were to play by the time `after` do not count."""
    return {kind: due_at(match, after) for kind, due_at in KINDS.items()}


def _job(match: Match, after: int) -> int | None:
    return _turn_at(match, after) if match.has_people else None


def _clock(match: Match, _after: int) -> int | None:
    return _deadline(match) if match.has_people else None


def _bots(match: Match, after: int) -> int | None:
    return None if match.has_people or match.is_abandoned else _either(match, after)


def _abandoned(match: Match, after: int) -> int | None:
    return _either(match, after) if match.is_abandoned else None


def _either(match: Match, after: int) -> int | None:
    return min((at for at in (_turn_at(match, after), _deadline(match)) if at is not None), default=None)


def _turn_at(match: Match, after: int) -> int | None:
    """A job that is due at once was hinted at; it is taken for lost only after a while."""
    job_at = match.job_at(after)
    return job_at + HINT_MS if job_at is not None and job_at <= match.at else job_at


def _deadline(match: Match) -> int | None:
    first = match.first_due()
    return None if first is None else first.enforced_at


KINDS: Final[dict[str, Callable[[Match, int], int | None]]] = {
    "job": _job,
    "clock": _clock,
    "bots": _bots,
    "abandoned": _abandoned,
}
"""`job`: a turn that the service plays, or the scoring, of a match with people; claimed with a lease. `clock`: a deadline
of such a match, enforced by any sweeper. `bots`: both, of a match of bots alone; claimed by workers that no person waits
for. `abandoned`: both, of a match that all its people left; claimed by the same workers, after all matches of bots.
"""
