"""Deadlines: the bell of a timed game, the default action of a seat whose time ran out, and time given back for outages."""

from functools import partial
from typing import Final

from events.record import MatchId
from service.automation.bot_turns import or_suspend
from service.match.commands import Command, Extend, Forfeit, HandOver, Resume, Ring, TakeDefault
from service.match.model import Expiry, Match, OpenDecision
from service.match.owed import owed
from service.observability import failpoints, metrics
from service.repository.ports import Ports
from service.usecases.submit import CommandKey, Submitted, attempt, give_back, hint, lost, submit

STEPS: Final = 64
"""Deadlines of one match enforced in one go."""


def enforce(ports: Ports, match_id: MatchId) -> None:
    """Append what every passed deadline of a match brings, after the time is given back that outages took of it.

    Every sweeper may do this at once: the command id is the decision's own, so each deadline counts once. Where the
    rules fail, the match is suspended.
    """
    match, _ = ports.history.newest(match_id)
    for _ in range(STEPS):
        now = ports.now()
        first = match.first_due()
        if first is None or first.enforced_at is None or first.enforced_at > now:
            break
        at = max(now, match.at)
        outage_ms = lost(ports, match, at, opens_anew=False)
        if outage_ms:
            written = give_back(ports, match, outage_ms, at)
        else:
            written = or_suspend(ports, match, partial(_enforce_one, ports, match, first, at))
        if written is None:
            return
        if not (written.replayed or outage_ms):
            metrics.DUE_WAIT.labels("clock").observe((now - first.enforced_at) / 1000)
        match = written.match
    failpoints.point("deadlines-enforced")
    ports.log.rearm(match.id, match.head.version, owed(match))
    hint(ports, match)


def _enforce_one(ports: Ports, match: Match, decision: OpenDecision, at: int) -> Submitted | None:
    expiry = match.expiry(decision)
    key = CommandKey(f"clock:{decision.id}:{decision.step}:{expiry}", "clock")
    return attempt(ports, match, key, _brought(decision, expiry), at)


def _brought(decision: OpenDecision, expiry: Expiry) -> Command:
    match expiry:
        case "timer":
            return Ring(label=decision.step)
        case "resigned":
            return Forfeit(seat=decision.seat)
        case "seat_handed_over":
            return HandOver(seat=decision.seat)
        case "default_action":
            return TakeDefault(seat=decision.seat, action=decision.on_timeout, reason="clock")


def extend(ports: Ports, match_id: MatchId, name: str, ms: int) -> None:
    """Give a running match back time that it lost by our fault, once for each name."""
    submit(ports, match_id, CommandKey(f"extend:{name}", "clock"), Extend(ms=ms))


def resume(ports: Ports, match_id: MatchId) -> Match:
    """Let a suspended match go on; its clocks go on from where they stood.

    Raises:
        Refused: `match-not-suspended`.
    """
    match, _ = ports.history.newest(match_id)
    return submit(ports, match_id, CommandKey(f"resume:{match.head.version}", "resume"), Resume()).match
