"""How a match changes: load, decide, append, and again if another command came first.

Every write to a match's stream goes through `submit`. A command id that the log knows is answered from the log; a
refused command writes nothing.
"""

import hashlib
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from events.chain import Draft, seal
from events.log import Append, Conflict, Reused, Seen
from events.record import MatchId, canonical, decode
from service import crash, metrics
from service.errors import Corrupt, Refused
from service.history import viewer_of
from service.match import Match
from service.match_events import ClockExtended
from service.match_fold import fold
from service.ports import Ports
from service.randomness import Draws, commitment, match_key, new_salts

ATTEMPTS: Final = 8
"""Lost races against other commands of the same match, before the caller is told to come again."""

Decide = Callable[[Match, int], Sequence[Draft]]
"""From a match and the time of receipt (server milliseconds) to what happened; raises Refused."""


class Command(msgspec.Struct, frozen=True):
    """A command's id and digest (another digest under the same id is another command), and the head it insists on."""

    id: str
    digest: str
    precondition: Callable[[Match], None] | None = None


class Submitted(msgspec.Struct, frozen=True):
    """The match right after the command, also when the command had been there before; `newest` is its last event.

    `newest` is the stored bytes, None where they were not at hand.
    """

    match: Match
    replayed: bool
    newest: bytes | None = None


def player_command(
    player: str, key: str, request: object, precondition: Callable[[Match], None] | None = None
) -> Command:
    """A person's command: the same key and request are the same command for the life of the match."""
    return Command(f"p:{player}:{key}", hashlib.sha256(canonical(request)).hexdigest(), precondition)


def submit(
    ports: Ports,
    match_id: MatchId,
    command: Command,
    decide: Decide,
    *,
    player: str | None = None,
    received_at: int | None = None,
) -> Submitted:
    """Append what a command decides, exactly once.

    `player` must be allowed to see the match, where given. `received_at` is now unless the caller stamped it. Workers
    are told where the match has a job for them.

    Raises:
        Refused: what `decide` refuses; `match-not-found`, `idempotency-key-reused`, `version-conflict`, and what the
            precondition refuses.
    """
    received_at = ports.now() if received_at is None else received_at

    def decided(match: Match) -> tuple[Sequence[Draft], int]:
        if player is not None:
            viewer_of(match, player)
        if command.precondition is not None:
            command.precondition(match)
        at = max(received_at, match.at)
        return decide(match, at), at

    with ports.turnstile.passing(match_id):
        written = _submit(ports, match_id, command, decided)
    hint(ports, written.match)
    crash.point("command-hinted")
    return written


def _submit(
    ports: Ports, match_id: MatchId, command: Command, decided: Callable[[Match], tuple[Sequence[Draft], int]]
) -> Submitted:
    expected = ports.history.expected(match_id)
    refusal: Refused | None = None
    if expected is not None:
        # One round trip in place of two: the append knows the command id, and whether the match went on.
        try:
            drafts, at = decided(expected)
        except Refused as error:
            refusal = error  # perhaps of a table that has changed, or of a command that was accepted before
        else:
            written = write(ports, expected, command, drafts, at) if drafts else None
            if written is not None:
                return written
    for _ in range(ATTEMPTS):
        match, seen = ports.history.newest(match_id, command.id)
        if seen is not None:
            # The id names its player, so that only who was let in before gets this far without another check.
            return replay(ports, match, command, seen)
        if refusal is not None and match is expected:
            raise refusal
        drafts, at = decided(match)
        if not drafts:
            return Submitted(match, replayed=False)
        written = write(ports, match, command, drafts, at)
        if written is not None:
            return written
    raise Refused(
        "version-conflict", "Too many commands came first; the same request with the same key may be repeated."
    )


def replay(ports: Ports, match: Match, command: Command, seen: Seen) -> Submitted:
    """What a command that the log knows did; `match` is its match at any version.

    Raises:
        Refused: `idempotency-key-reused`.
    """
    if seen.digest != command.digest:
        raise _reused()
    metrics.COMMANDS.labels("replayed").inc()
    if seen.version != match.head.version:
        match = ports.history.at(match.id, seen.version)
    return Submitted(match, replayed=True)


def write(ports: Ports, match: Match, command: Command, drafts: Sequence[Draft], at: int) -> Submitted | None:
    """One append to a match; None if another command came first."""
    events, _ = seal(match.head, drafts, at, new_salts(len(drafts)))
    try:
        after = fold(match, events)
    except Corrupt as fault:
        raise RuntimeError(f"what was decided cannot be folded and is not written: {fault}") from fault
    snapshot = ports.history.snapshot(after, match.head.version)
    append = Append(match.id, command.id, command.digest, match.head, events, after.owed(), snapshot=snapshot)
    return put(ports, after, append)


def put(ports: Ports, after: Match, append: Append) -> Submitted | None:
    """Put an append to the log; `after` is the match with it. None if another command came first."""
    crash.point("append-decided")
    result = ports.log.append(append)
    crash.point("append-written")
    if isinstance(result, Conflict):
        metrics.COMMANDS.labels("conflict").inc()
        return None
    if isinstance(result, Reused):
        raise _reused()
    if result.replayed:
        metrics.COMMANDS.labels("replayed").inc()
        return Submitted(ports.history.at(after.id, result.version), replayed=True)
    metrics.COMMANDS.labels("appended").inc()
    for stored in append.events:
        metrics.EVENTS.labels(after.created.game, decode(stored).type).inc()
    ports.history.keep(after, append.expected.version, append.events)
    return Submitted(after, replayed=False, newest=append.events[-1])


def given_back(match: Match, at: int, ms: int) -> ClockExtended | None:
    """What a running match is given back at a time, of an outage that took so long.

    Never more than has passed since its newest event: until then the match went on, and match time never goes back.
    """
    lost = min(ms, at - match.at)
    return ClockExtended(lost, "outage") if match.status == "running" and lost > 0 else None


def has_job(match: Match, now: int) -> bool:
    """Whether a match has a job for the workers now, or at its newest event by a clock that is ahead of this one."""
    job_at = match.job_at()
    return job_at is not None and job_at <= max(now, match.at)


def hint(ports: Ports, match: Match) -> None:
    """Tell the workers if a match has a job for them now."""
    if has_job(match, ports.now()):
        people = [
            sitter for sitter in match.seats if sitter is not None and sitter.kind == "human" and not sitter.resigned
        ]
        ports.jobs.hint(match.id, "turns" if people else "overtime")


def _reused() -> Refused:
    metrics.COMMANDS.labels("reused").inc()
    return Refused("idempotency-key-reused", "This Idempotency-Key was used for another request; choose a new one.")


def draws(ports: Ports, match: Match) -> Draws:
    """The rules' chance at this point of a match. The seed is read from the log only when something is drawn."""
    return Draws(lambda: match_key(server_seed(ports, match), match.client_seeds()), match.drawn)


def server_seed(ports: Ports, match: Match) -> bytes:
    """The match's secret seed.

    Raises:
        Corrupt: the log has none, or another one than was committed to.
    """
    seed = ports.log.seed(match.id)
    if seed is None or commitment(seed) != match.created.seed_commitment:
        raise Corrupt(match.head.version, "the seed that the match began with is not in the log")
    return seed
