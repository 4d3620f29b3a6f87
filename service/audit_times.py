"""Whether an event may come when it comes: within its seat's time, or because what it follows from was due."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec
from msgspec import UNSET

from events.record import Event
from service.audit_places import Fault
from service.clock import expiry
from service.match import Match, OpenDecision
from service.match_events import Acted, MatchSuspended, Resigned, SeatHandedOver, codec


def check_time(match: Match, event: Event) -> None:
    """An event against what the match waits for, by the rules of today.

    Raises:
        Fault: it is too early or too late, or nothing brought it.
        msgspec.DecodeError: its data is not that of its type.
    """
    check = _CHECKS.get(event.type)
    if check is not None:
        check(match, event)


def _action(match: Match, event: Event) -> None:
    data = codec(match.game).acted(event.data)
    if data.reason is not UNSET:
        raise _fault(event, "only a default action has a reason")
    mine = _of_seat(match, data.seat)
    if event.by.startswith("bot:"):
        if not any(_is_bots_turn(decision, event.at) for decision in mine):
            raise _fault(event, "is not at the time of this bot's turn")
    elif mine and all(_is_past(decision, event.at) for decision in mine):
        raise _fault(event, "is too late")


def _default(match: Match, event: Event) -> None:
    """A default action is that of an open decision, and has a right to its reason."""
    data: Acted[Any, Any] = codec(match.game).acted(event.data)
    defaults = [
        one for one in _of_seat(match, data.seat) if one.on_timeout is not None and one.on_timeout == data.action
    ]
    if not defaults:
        raise _fault(event, "is not the default action of an open decision")
    if data.reason == "clock":
        if _due(match, event) not in defaults:
            raise _fault(event, f"seat {data.seat} is not the one whose deadline is next")
        return
    sitter = match.seats[data.seat]
    rights = {
        "bot-failed": sitter is not None
        and sitter.kind == "bot"
        and any(_is_bots_turn(one, event.at) for one in defaults),
        "player-left": sitter is not None and sitter.resigned and any(_is_played(one, event.at) for one in defaults),
    }
    if not rights.get(str(data.reason), False):
        raise _fault(event, f"has no right to the reason {data.reason}")


def _timer(match: Match, event: Event) -> None:
    label = codec(match.game).rang(event.data).label
    if _due(match, event).step != label:
        raise _fault(event, f"{label} is not the bell that is next")


def _resigned(match: Match, event: Event) -> None:
    if not match.decisions():
        raise _fault(event, "nobody can leave when nothing is left to decide")
    seat = msgspec.json.decode(event.data, type=Resigned).seat
    if event.by == "worker" and _due(match, event).seat != seat:
        raise _fault(event, f"seat {seat} is not the one whose deadline is next")


def _handed_over(match: Match, event: Event) -> None:
    seat = msgspec.json.decode(event.data, type=SeatHandedOver).seat
    if _due(match, event).seat != seat:
        raise _fault(event, f"seat {seat} is not the one whose deadline is next")


def _suspended(match: Match, event: Event) -> None:
    """The rules fail where the service does something itself; while it waits for people they cannot."""
    msgspec.json.decode(event.data, type=MatchSuspended)
    job_at, due = match.job_at(), match.first_due()
    times = [job_at, None if due is None else due.enforced_at]
    if not any(time is not None and time <= event.at for time in times):
        raise _fault(event, "the service had nothing to do in which the rules could fail")


_CHECKS: Final[Mapping[str, Callable[[Match, Event], None]]] = {
    "action": _action,
    "default_action": _default,
    "timer": _timer,
    "resigned": _resigned,
    "seat_handed_over": _handed_over,
    "match_suspended": _suspended,
}


def _due(match: Match, event: Event) -> OpenDecision:
    """The decision whose passed deadline brought an event."""
    due = match.first_due()
    if due is None or due.enforced_at is None or event.at < due.enforced_at:
        raise _fault(event, "comes before a deadline has passed")
    if (brought := expiry(match, due)) != event.type:
        raise _fault(event, f"the deadline that has passed brings {brought}")
    return due


def _of_seat(match: Match, seat: int) -> list[OpenDecision]:
    return [decision for decision in match.decisions() if decision.seat == seat]


def _is_past(decision: OpenDecision, at: int) -> bool:
    return decision.deadline is not None and at >= decision.deadline


def _is_played(decision: OpenDecision, at: int) -> bool:
    """Whether the service takes a decision by itself at this time."""
    return decision.plays_at is not None and decision.plays_at <= at


def _is_bots_turn(decision: OpenDecision, at: int) -> bool:
    return _is_played(decision, at) and not _is_past(decision, at)


def _fault(event: Event, text: str) -> Fault:
    return Fault(event.version, "actions", text)
