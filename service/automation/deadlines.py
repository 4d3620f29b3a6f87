"""Deadlines: timers of games, default actions of seats whose time ran out, and time given back after outages."""

from functools import partial
from typing import Final

from msgspec.structs import replace

from events.record import MatchId
from service.automation.bot_turns import or_suspend
from service.match.commands import Command, Extend, Forfeit, HandOver, Resume, Ring, TakeDefault
from service.match.due_times import due_times
from service.match.events import DefaultReason
from service.match.model import Expiry, Match, OpenDecision
from service.observability import failpoints, metrics
from service.repository.ports import Ports
from service.usecases.bot_records import note_late
from service.usecases.hints import hint
from service.usecases.match_index import update_index
from service.usecases.submit import ATTEMPTS, CommandKey, Submitted, attempt, give_back, lost, submit

MAX_DEADLINES: Final = 64
"""Maximum number of deadlines of one match that one call enforces."""


def enforce(ports: Ports, match_id: MatchId) -> None:
    """Append the consequence of each passed deadline of a match. Time that was lost to outages is given back first.

    All sweepers may do this at once: the command id is derived from the decision, so each deadline is enforced once. If the rules
    fail, the match is suspended.
    """
    match, _ = ports.history.newest(match_id)
    for _ in range(MAX_DEADLINES):
        now = ports.now()
        first = match.first_due()
        if first is None or first.enforced_at is None or first.enforced_at > now:
            break
        at = max(now, match.at)
        outage_ms = lost(ports, match, at, reopens_decisions=False)
        if outage_ms:
            written = give_back(ports, match, outage_ms, at)
        else:
            written = or_suspend(ports, match, partial(_enforce_one, ports, match, first, at))
        if written is None:
            return
        if not (written.replayed or outage_ms):
            if first.called_at is not None:
                note_late(ports, match, first)
            metrics.DUE_WAIT.labels("clock").observe((now - first.enforced_at) / 1000)
        match = written.match
    failpoints.point("deadlines-enforced")
    if match.is_over:  # a person lost a seat, and all others had asked to abort the match
        update_index(ports, match, just_written=True)
    ports.log.rearm(match.id, match.head.version, due_times(match))
    hint(ports, match)


def _enforce_one(ports: Ports, match: Match, decision: OpenDecision, at: int) -> Submitted | None:
    expiry = match.expiry(decision)
    key = CommandKey(f"clock:{decision.id}:{decision.step}:{expiry}", "clock")
    return attempt(ports, match, key, _consequence(decision, expiry), at)


def fail(ports: Ports, match_id: MatchId, decision_id: str) -> Match | None:
    """Append what follows because a hosted bot failed in a decision; returns the match after it.

    None if the decision is not open any more, if its deadline has passed, or if nothing follows: in a timed game a bot that says
    nothing takes no action. It may be done by several processes at once: the command id is derived from the decision.
    """
    for _ in range(ATTEMPTS):
        match, _seen = ports.history.newest(match_id)
        found = (one for one in match.decisions() if one.id == decision_id and one.called_at is not None)
        decision, at = next(found, None), max(ports.now(), match.at)
        if decision is None or decision.on_timeout is None or decision.opens_at > at or decision.is_past(at):
            return None
        expiry = match.expiry(decision)
        command = _consequence(decision, expiry)
        if isinstance(command, TakeDefault):
            command = replace(command, reason="bot-failed")
        key = CommandKey(f"failed:{decision.id}:{decision.step}:{expiry}", "clock")
        written = or_suspend(ports, match, partial(attempt, ports, match, key, command, at))
        if written is not None:
            if written.match.is_over:
                update_index(ports, written.match, just_written=True)
            hint(ports, written.match)
            return written.match
    return None


def _consequence(decision: OpenDecision, expiry: Expiry) -> Command:
    match expiry:
        case "timer":
            return Ring(label=decision.step)
        case "resigned":
            return Forfeit(seat=decision.seat)
        case "seat_handed_over":
            return HandOver(seat=decision.seat)
        case "default_action":
            reason: DefaultReason = "clock" if decision.called_at is None else "bot-late"
            return TakeDefault(seat=decision.seat, action=decision.on_timeout, reason=reason)


def extend(ports: Ports, match_id: MatchId, name: str, ms: int) -> None:
    """Give time back to a running match, in milliseconds, once for each `name`."""
    submit(ports, match_id, CommandKey(f"extend:{name}", "clock"), Extend(ms=ms))


def resume(ports: Ports, match_id: MatchId) -> Match:
    """Resume a suspended match. Its clocks continue with the time that was left.

    Raises:
        Refused: `match-not-suspended`.
    """
    match, _ = ports.history.newest(match_id)
    return submit(ports, match_id, CommandKey(f"resume:{match.head.version}", "resume"), Resume()).match
