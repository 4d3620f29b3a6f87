"""The tasks of a player: the decisions that it can take now in all of its matches, for a bot that pulls them.

A decision that opens later, as in a countdown, is no task yet, because no action is legal until then.
"""

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from math import inf
from typing import Final

from events.record import MatchId
from service.games.visibility import Seat
from service.match.model import Match
from service.match.redaction import SeenDecision, own_decisions
from service.match.task import Task, task, task_id
from service.repository.ports import Ports, news_of
from service.subscriptions.streams import HANG_UP_CHECK_S, Streams

MAX_MATCHES: Final = 200
"""Of a player with more matches that are not over, only the newest are looked at."""
MAX_TASKS: Final = 20
"""Maximum number of tasks in one answer."""
_NEVER: Final = 2**53


def open_tasks(ports: Ports, player: str, language: str, seen: Collection[str] = ()) -> tuple[Task, ...]:
    """The tasks of a player, those with the earliest deadline first, except those whose ids are in `seen`."""
    return _tasks(_matches(ports, player), player, language, seen, ports.now())


def wait_for_tasks(
    ports: Ports,
    streams: Streams,
    player: str,
    language: str,
    seen: Collection[str],
    seconds: float,
    hung_up: Callable[[], bool],
) -> tuple[Task, ...]:
    """As `open_tasks`, but waits for the first task.

    Returns no task after `seconds`, or once the client has hung up or the server stops.
    """
    until = time.monotonic() + seconds
    with streams.feed.waiter() as waiter:
        followed: Sequence[MatchId] = ()
        while True:
            waiter.follow([news_of(player), *followed])
            matches = _matches(ports, player)
            known, followed = set(followed), [match.id for match in matches]
            if known == set(followed):
                now = ports.now()
                found = _tasks(matches, player, language, seen, now)
                left = until - time.monotonic()
                if found or left <= 0 or streams.stopping or hung_up():
                    return found
                # A wake-up may be lost, so the log is also read without one. There is none when a decision opens.
                waiter.wait(min(left, HANG_UP_CHECK_S, _until_next_opening_s(matches, player, now)))
            waiter.take()


def _matches(ports: Ports, player: str) -> Sequence[Match]:
    entries = ports.index.matches_of(player, "active", None, MAX_MATCHES)
    found = ports.history.newest_each([entry.match_id for entry in entries])
    return [match for match in found.values() if isinstance(match, Match)]


def _tasks(matches: Sequence[Match], player: str, language: str, seen: Collection[str], now: int) -> tuple[Task, ...]:
    waiting = []
    for match, seat, decision in _first_decisions(matches, player):
        if decision.opens_at <= now and task_id(match, decision) not in seen:
            waiting.append((_NEVER if decision.deadline is None else decision.deadline, match.id, match, seat))
    waiting.sort(key=lambda one: one[:2])
    found = (task(match, seat, language) for _, _, match, seat in waiting)
    return tuple([made for made in found if made is not None][:MAX_TASKS])


def _until_next_opening_s(matches: Sequence[Match], player: str, now: int) -> float:
    """Seconds until the next decision opens; infinite if none does."""
    opening = (decision.opens_at for _, _, decision in _first_decisions(matches, player))
    return min(((at - now) / 1000 for at in opening if at > now), default=inf)


def _first_decisions(matches: Sequence[Match], player: str) -> Iterator[tuple[Match, Seat, SeenDecision]]:
    """The first open decision of the player's seat in each match; only what the seat may see, since the order of tasks shows it."""
    for match in matches:
        seat = match.seat_of(player)
        if seat is not None and (decisions := own_decisions(match, seat)):
            yield match, seat, decisions[0]
