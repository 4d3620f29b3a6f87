"""Deadlines: the bell of a timed game, the default action of a seat whose time ran out, and time given back for outages."""

from functools import partial
from typing import Any, Final, Literal, TypeAlias

from msgspec import UNSET

from events.chain import Draft
from events.record import MatchId, canonical
from service import crash, metrics
from service.bot_turns import default_action, or_suspend
from service.bots.builtin import stand_in
from service.command import Command, Submitted, draws, given_back, hint, submit, write
from service.errors import Refused
from service.games.protocol import CLOCK, Move, Ring
from service.match import Match, OpenDecision
from service.match_events import MatchResumed, Rang, Resigned, SeatHandedOver
from service.ports import Ports

Expiry: TypeAlias = Literal["timer", "resigned", "seat_handed_over", "default_action"]

STEPS: Final = 64
"""Deadlines of one match enforced in one go."""


def enforce(ports: Ports, match_id: MatchId) -> None:
    """Append what every passed deadline of a match brings.

    Every sweeper may do this at once: the command id is the decision's own, so each deadline counts once. Where the
    rules fail, the match is suspended.
    """
    match, _ = ports.history.newest(match_id)
    for _ in range(STEPS):
        now = ports.now()
        first = match.first_due()
        if first is None or first.enforced_at is None or first.enforced_at > now:
            break
        written = or_suspend(ports, match, partial(_enforce_one, ports, match, first, max(now, match.at)))
        if written is None:
            return
        if not written.replayed:
            metrics.DUE_WAIT.labels("clock").observe((now - first.enforced_at) / 1000)
        match = written.match
    crash.point("deadlines-enforced")
    ports.log.rearm(match.id, match.head.version, match.owed())
    hint(ports, match)


def _enforce_one(ports: Ports, match: Match, decision: OpenDecision, at: int) -> Submitted | None:
    draft = _brought(ports, match, decision, at)
    return write(ports, match, Command(f"clock:{decision.id}:{decision.step}:{draft.type}", "clock"), [draft], at)


def expiry(match: Match, decision: OpenDecision) -> Expiry:
    """The type of the event that a passed deadline brings.

    The match's own clock may have a policy for people; bots and seats that were left take the default action.
    """
    if decision.seat == CLOCK:
        return "timer"
    sitter, clock = match.seats[decision.seat], match.created.clock
    if (
        clock is not None
        and decision.by_clock
        and sitter is not None
        and sitter.kind == "human"
        and not sitter.resigned
    ):
        if clock.on_timeout == "resign":
            return "resigned"
        if clock.on_timeout == "bot":
            return "seat_handed_over"
    return "default_action"


def _brought(ports: Ports, match: Match, decision: OpenDecision, at: int) -> Draft:
    match expiry(match, decision):
        case "timer":
            return _bell(ports, match, decision, at)
        case "resigned":
            return Draft("resigned", "worker", canonical(Resigned(decision.seat)))
        case "seat_handed_over":
            handed_over = SeatHandedOver(decision.seat, stand_in(match.game), "bot")
            return Draft("seat_handed_over", "worker", canonical(handed_over))
        case "default_action":
            return default_action(ports, match, decision, at, "clock")


def _bell(ports: Ports, match: Match, decision: OpenDecision, at: int) -> Draft:
    rng = draws(ports, match)
    ring: Move[Any] = Move(CLOCK, Ring(decision.step), at - match.paused)
    effects = match.game.decide(match.state, ring, rng)
    return Draft("timer", "worker", canonical(Rang(decision.step, effects, tuple(rng.drawn) or UNSET)))


def extend(ports: Ports, match_id: MatchId, outage: str, ms: int) -> None:
    """Give a running match back the time of an outage of ours, once for each outage."""

    def decide(match: Match, at: int) -> list[Draft]:
        lost = given_back(match, at, ms)
        return [] if lost is None else [Draft("clock_extended", "worker", canonical(lost))]

    submit(ports, match_id, Command(f"extend:{outage}", "clock"), decide)


def resume(ports: Ports, match_id: MatchId) -> Match:
    """Let a suspended match go on; its clocks go on from where they stood.

    Raises:
        Refused: `match-not-suspended`.
    """

    def decide(match: Match, _at: int) -> list[Draft]:
        if match.status != "suspended":
            raise Refused("match-not-suspended", "The match is not suspended.")
        return [Draft("match_resumed", "worker", canonical(MatchResumed()))]

    match, _ = ports.history.newest(match_id)
    return submit(ports, match_id, Command(f"resume:{match.head.version}", "resume"), decide).match
