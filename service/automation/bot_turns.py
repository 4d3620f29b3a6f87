"""What a match plays by itself: bots' turns, seats of players who left, and the scoring at the end."""

import logging
import secrets
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import msgspec

from events.chain import Draft
from events.log import LogUnavailable
from events.record import MatchId
from service.automation.bot_limits import Patience
from service.errors import Corrupt, NotDue
from service.games.bots import bots_of
from service.games.protocol import Rng, Task
from service.games.visibility import Seat
from service.match.commands import ActAsBot, Command, Score, Suspend, TakeDefault
from service.match.decide import decide
from service.match.model import Match, OpenDecision, Sitter
from service.match.owed import owed
from service.match.randomness import Draws
from service.observability import failpoints, metrics
from service.repository.ports import Ports
from service.usecases.match_index import shelve
from service.usecases.submit import CommandKey, Submitted, append, attempt, give_back, has_job, lost, server_seed

BUDGET_MS: Final = 200
MOVES: Final = 20
"""A job plays on until a person is next, at most this long and this far, lost races among it; then it asks for the next."""

_log = logging.getLogger("moonstone.turns")

ChanceOf = Callable[[Seat], Rng]


def fresh_chance(_seat: Seat) -> Rng:
    """A bot's own chance, which no seed of the match tells anything about."""
    key = secrets.token_bytes(32)
    return Draws(lambda: key, {})


def advance(
    ports: Ports,
    match_id: MatchId,
    *,
    moves: int = MOVES,
    budget_ms: int = BUDGET_MS,
    chance_of: ChanceOf = fresh_chance,
    patience: Patience | None = None,
) -> bool:
    """Play what the match owes now; whether something is left to play.

    Safe to run twice or to lose: every step is a command with an id of its own, and what is owed follows from the log.
    """
    began = ports.now()
    patience = patience or Patience()
    match, _ = ports.history.newest(match_id)
    since = match.job_at()
    for _ in range(moves):
        at = max(ports.now(), match.at)
        written = or_suspend(ports, match, partial(_play_next, ports, match, at, chance_of, patience))
        if written is None:
            # Nothing is left that could be played now, though a bot may be next that has to wait for its time.
            failpoints.point("job-played")
            if ports.log.rearm(match.id, match.head.version, owed(match, after=at)):
                return False
            # Another command came first. The bot tries again at once: where people never rest, it would lose each race.
            match, _ = ports.history.newest(match_id)
        else:
            if since is not None:
                metrics.DUE_WAIT.labels("job" if match.has_people else "bots").observe(max(began - since, 0) / 1000)
                since = None
            match = written.match
        if ports.now() - began >= budget_ms:
            break
    return has_job(match, ports.now())


def _play_next(ports: Ports, match: Match, at: int, chance_of: ChanceOf, patience: Patience) -> Submitted | None:
    """One step of what the match owes; None if nothing is owed, or another command came first."""
    if match.status != "running":
        return None
    decisions = match.decisions()
    if not decisions:
        return score(ports, match, at)
    outage_ms = lost(ports, match, at, opens_anew=True)
    if outage_ms:
        return give_back(ports, match, outage_ms, at)
    for decision in sorted(decisions, key=lambda one: (one.asked_at or 0, one.seat)):
        sitter = None if decision.asked_at is None or decision.asked_at > at else match.seats[decision.seat]
        if sitter is None or (decision.is_past(at) and not sitter.resigned):
            continue
        drafts = _turn(ports, match, decision, sitter, at, chance_of, patience)
        if drafts:
            return append(ports, match, CommandKey(f"bot:{decision.seat}:{match.head.version}", "bot"), drafts, at)
    return None


def _turn(
    ports: Ports,
    match: Match,
    decision: OpenDecision,
    sitter: Sitter,
    at: int,
    chance_of: ChanceOf,
    patience: Patience,
) -> Sequence[Draft]:
    """A bot's action, or the default action of a bot that failed and of a seat whose player left.

    None for a bot that would rather wait or that failed where there is no default action, and for as long as it is left
    alone: the game's bell ends the wait.
    """
    seat = decision.seat

    def decided(command: Command) -> Sequence[Draft]:
        return decide(match, command, at, lambda: server_seed(ports, match))

    if sitter.resigned:
        return decided(TakeDefault(seat=seat, action=decision.on_timeout, reason="player-left"))
    if patience.is_left_alone(match.id, decision.id, at):
        return ()
    try:
        with patience.limit():
            action = _chosen(match, decision, sitter.player, chance_of(seat))
        if action is None:
            return ()
        return decided(ActAsBot(seat=seat, bot=sitter.player, action=action))
    except (Corrupt, LogUnavailable):
        raise
    except Exception:  # noqa: BLE001  (a bot may fail in any way; the match goes on)
        _log.exception("the bot %s failed in match %s at version %d", sitter.player, match.id, match.head.version)
    if decision.on_timeout is None:
        patience.leave_alone(match.id, decision.id, at)
        return ()
    return decided(TakeDefault(seat=seat, action=decision.on_timeout, reason="bot-failed"))


def _chosen(match: Match, decision: OpenDecision, name: str, chance: Rng) -> Any:
    """What a bot chooses, in its JSON form; None where it may wait, and does."""
    game = match.game
    task = Task(
        seat=decision.seat,
        step=decision.step,
        observation=game.observation(match.state, decision.seat),
        legal_actions=tuple(game.legal_actions(match.state, decision.seat)),
    )
    with metrics.BOT_ANSWERS.labels(game.info.id).time():
        chosen = bots_of(game)[name](task, chance)
    if chosen is None:
        if decision.on_timeout is not None:
            raise ValueError("a bot may wait only where a bell ends the wait")
        return None
    return msgspec.to_builtins(chosen)


def or_suspend(ports: Ports, match: Match, step: Callable[[], Submitted | None]) -> Submitted | None:
    """A step of the service's own; where the rules fail in it, the match is suspended, so that it never hangs in silence.

    Raises:
        LogUnavailable: the step may be repeated.
    """
    try:
        return step()
    except LogUnavailable:
        raise
    except NotDue:
        _log.error("match %s does not owe at version %d what was tried", match.id, match.head.version)
        return None
    except Exception as error:  # noqa: BLE001  (rules may fail in any way; other matches go on)
        _log.exception("the rules failed in match %s at version %d", match.id, match.head.version)
        suspended = suspend(ports, match, type(error).__name__)
        if suspended is not None:
            _log.error("match %s is suspended at version %d", match.id, suspended.match.head.version)
        return suspended


def suspend(ports: Ports, match: Match, reason: str) -> Submitted | None:
    """Stop a match whose rules failed, clocks included, until an operator resumes it."""
    key = CommandKey(f"suspend:{match.head.version}", "suspend")
    return attempt(ports, match, key, Suspend(reason=reason), max(ports.now(), match.at))


def score(ports: Ports, match: Match, at: int) -> Submitted | None:
    """Append the outcome and the seed of a match that is over, once in effect; None if another command came first."""
    written = attempt(ports, match, CommandKey(f"score:{match.head.version}", "score"), Score(), at)
    if written is not None:
        failpoints.point("match-scored")
        shelve(ports, written.match, just_written=not written.replayed)
    return written
