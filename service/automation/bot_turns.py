"""Plays the turns of bots and of seats whose players left, and scores finished matches."""

import logging
import secrets
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import msgspec

from events.chain import Draft
from events.log import LogUnavailable
from events.record import MatchId
from service.automation.bot_limits import CircuitBreaker
from service.errors import Corrupt, NotDue
from service.games.bots import bots_of
from service.games.protocol import Rng, Task
from service.games.visibility import Seat
from service.match.commands import ActAsBot, Command, Score, Suspend, TakeDefault
from service.match.decide import decide
from service.match.due_times import due_times
from service.match.model import GRACE_MS, Match, OpenDecision, SeatHolder
from service.match.randomness import Draws
from service.observability import failpoints, metrics
from service.repository.ports import Ports
from service.usecases.hints import has_job, hint_call
from service.usecases.match_index import update_index
from service.usecases.submit import CommandKey, Submitted, append, attempt, give_back, lost, server_seed

BUDGET_MS: Final = 200
MOVES: Final = 20
"""The limits of one job: `BUDGET_MS` milliseconds and `MOVES` attempts, lost races included. A job also ends when a person is
next. What is left is played by the next job."""

_log = logging.getLogger("moonstone.turns")

ChanceOf = Callable[[Seat], Rng]


def fresh_chance(_seat: Seat) -> Rng:
    """Random numbers of a bot that do not depend on any seed of the match."""
    key = secrets.token_bytes(32)
    return Draws(lambda: key, {})


def advance(
    ports: Ports,
    match_id: MatchId,
    *,
    moves: int = MOVES,
    budget_ms: int = BUDGET_MS,
    chance_of: ChanceOf = fresh_chance,
    breaker: CircuitBreaker | None = None,
) -> bool:
    """Play the turns that are due in a match now. Returns whether more are due.

    It is safe to run it twice or not at all: every step is a command with its own id, and due turns follow from the log.
    """
    began = ports.now()
    breaker = breaker or CircuitBreaker()
    match, _ = ports.history.newest(match_id)
    since = match.job_at()
    for _ in range(moves):
        at = max(ports.now(), match.at)
        written = or_suspend(ports, match, partial(_play_next, ports, match, at, chance_of, breaker))
        if written is None:
            # Nothing can be played now, though a bot may be due later.
            failpoints.point("job-played")
            if ports.log.rearm(match.id, match.head.version, due_times(match, after=at)):
                hint_call(ports, match)
                return False
            # Another command came first. Try again at once, since a delayed bot would lose every race against busy players.
            match, _ = ports.history.newest(match_id)
        else:
            if since is not None:
                metrics.DUE_WAIT.labels("job" if match.has_players else "bots").observe(max(began - since, 0) / 1000)
                since = None
            match = written.match
        if ports.now() - began >= budget_ms:
            break
    hint_call(ports, match)
    return has_job(match, ports.now())


def _play_next(ports: Ports, match: Match, at: int, chance_of: ChanceOf, breaker: CircuitBreaker) -> Submitted | None:
    """Play one turn. Returns None if none is due, or if another command came first."""
    if match.status != "running":
        return None
    decisions = match.decisions()
    if not decisions:
        return score(ports, match, at)
    outage_ms = lost(ports, match, at, reopens_decisions=True)
    # A shorter outage gets no event of its own. Otherwise, while players return from an outage, each move would follow a
    # `clock_extended` of a few milliseconds.
    if outage_ms > GRACE_MS:
        return give_back(ports, match, outage_ms, at)
    for decision in sorted(decisions, key=lambda one: (one.scheduled_at or 0, one.seat)):
        holder = None if decision.scheduled_at is None or decision.scheduled_at > at else match.seats[decision.seat]
        if holder is None or (decision.is_past(at) and not holder.resigned):
            continue
        drafts = _turn(ports, match, decision, holder, at, chance_of, breaker)
        if drafts:
            return append(ports, match, CommandKey(f"bot:{decision.seat}:{match.head.version}", "bot"), drafts, at)
    return None


def _turn(
    ports: Ports,
    match: Match,
    decision: OpenDecision,
    holder: SeatHolder,
    at: int,
    chance_of: ChanceOf,
    breaker: CircuitBreaker,
) -> Sequence[Draft]:
    """A bot's action, or the default action if the bot failed or the seat's player left.

    Empty if the bot chooses to wait, or if its decision is skipped because it failed and there is no default action. In both
    cases the game's timer ends the wait.
    """
    seat = decision.seat

    def decided(command: Command) -> Sequence[Draft]:
        return decide(match, command, at, lambda: server_seed(ports, match))

    if holder.resigned:
        return decided(TakeDefault(seat=seat, action=decision.on_timeout, reason="player-left"))
    if breaker.is_skipped(match.id, decision.id, at):
        return ()
    try:
        with breaker.limit():
            action = _chosen(match, decision, holder.player, chance_of(seat))
        if action is None:
            return ()
        return decided(ActAsBot(seat=seat, bot=holder.player, action=action))
    except (Corrupt, LogUnavailable):
        raise
    except Exception:  # noqa: BLE001  (a bot may fail in any way; the match goes on)
        _log.exception("the bot %s failed in match %s at version %d", holder.player, match.id, match.head.version)
    if decision.on_timeout is None:
        breaker.skip(match.id, decision.id, at)
        return ()
    return decided(TakeDefault(seat=seat, action=decision.on_timeout, reason="bot-failed"))


def _chosen(match: Match, decision: OpenDecision, name: str, chance: Rng) -> Any:
    """The action that a bot chooses, in its JSON form; None if it chooses to wait, and may."""
    game = match.game
    task = Task(
        seat=decision.seat,
        step=decision.step,
        observation=game.observation(match.state, decision.seat),
        legal_actions=tuple(game.legal_actions(match.state, decision.seat)),
        match=match.id,
    )
    with metrics.BOT_ANSWERS.labels(game.info.id).time():
        chosen = bots_of(game)[name](task, chance)
    if chosen is None:
        if decision.on_timeout is not None:
            raise ValueError("a bot may wait only where a timer ends the wait")
        return None
    return msgspec.to_builtins(chosen)


def or_suspend(ports: Ports, match: Match, step: Callable[[], Submitted | None]) -> Submitted | None:
    """Run a step of the service; if the rules fail in it, log that and suspend the match.

    Raises:
        LogUnavailable: the step may be repeated.
    """
    try:
        return step()
    except LogUnavailable:
        raise
    except NotDue:
        _log.error("a step that was tried in match %s is not due at version %d", match.id, match.head.version)
        return None
    except Exception as error:  # noqa: BLE001  (rules may fail in any way; other matches go on)
        _log.exception("the rules failed in match %s at version %d", match.id, match.head.version)
        suspended = suspend(ports, match, type(error).__name__)
        if suspended is not None:
            _log.error("match %s is suspended at version %d", match.id, suspended.match.head.version)
        return suspended


def suspend(ports: Ports, match: Match, reason: str) -> Submitted | None:
    """Stop a match whose rules failed, and its clocks, until an operator resumes it."""
    key = CommandKey(f"suspend:{match.head.version}", "suspend")
    return attempt(ports, match, key, Suspend(reason=reason), max(ports.now(), match.at))


def score(ports: Ports, match: Match, at: int) -> Submitted | None:
    """Append the outcome and the seed of a finished match, once; None if another command came first."""
    written = attempt(ports, match, CommandKey(f"score:{match.head.version}", "score"), Score(), at)
    if written is not None:
        failpoints.point("match-scored")
        update_index(ports, written.match, just_written=not written.replayed)
    return written
