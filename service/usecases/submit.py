"""How a match changes: load, decide, announce, append; and again if another command came first.

Every write to a match's stream goes through `append`. A command id that the log knows is answered from the log; a
refused command writes nothing.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, TypeAlias

import msgspec
from msgspec.structs import replace

from events.chain import Draft, seal
from events.log import Append, Conflict, Reused, Seen
from events.record import MatchId, canonical, decode, digest
from service.errors import Corrupt, Refused
from service.match.commands import Act, Command, Extend, PlayerCommand
from service.match.decide import decide
from service.match.fold import fold
from service.match.model import Match
from service.match.owed import owed
from service.match.randomness import commitment, new_salts
from service.match.refusals import refused
from service.observability import failpoints, metrics
from service.repository.ports import Ports
from service.usecases.match_index import announce, withdraw

LATE_SILENCE_MS: Final = 250
"""Where a deadline has passed, no action is too late before sweepers have been heard of since so long."""
SILENCE_MS: Final = 1_000
"""The same where none has: on a busy machine, sweepers may be silent though the log is there."""
ATTEMPTS: Final = 8
"""Lost races against other commands of the same match, before the caller is asked to come again."""


Admit: TypeAlias = Callable[[], None]
"""Raises Refused where no further match of bots alone may begin."""


class CommandKey(msgspec.Struct, frozen=True):
    """A command's id in its match, and the digest of what it asks: another digest under the same id is another command."""

    id: str
    digest: str


class Submitted(msgspec.Struct, frozen=True):
    """The match right after a command, also when the command had been there before.

    `newest` is the stored bytes of its last event, None where they were not at hand.
    """

    match: Match
    replayed: bool
    newest: bytes | None = None


def player_key(player: str, key: str, request: object) -> CommandKey:
    """A person's command: the same key and request are the same command for the life of the match."""
    return CommandKey(f"p:{player}:{key}", hashlib.sha256(canonical(request)).hexdigest())


def submit(
    ports: Ports, match_id: MatchId, key: CommandKey, command: Command, admit_bots: Admit | None = None
) -> Submitted:
    """Append what a command brings, exactly once, and give the workers a hint where the match has a job for them.

    `admit_bots` is called right before a match of bots alone begins by the command.

    Raises:
        Refused: what `decide` and `admit_bots` refuse; `match-not-found`, `idempotency-key-reused`, `version-conflict`.
    """
    received_at = ports.now()
    with ports.turnstile.passing(match_id):
        submitted = _submit(ports, match_id, _Attempts(ports, key, command, received_at, admit_bots))
    hint(ports, submitted.match)
    failpoints.point("command-hinted")
    return submitted


def _submit(ports: Ports, match_id: MatchId, attempts: "_Attempts") -> Submitted:
    key = attempts.key
    expected = ports.history.expected(match_id)
    refusal: Refused | None = None
    if expected is not None:
        # One round trip in place of two: the append knows the command id, and whether the match went on.
        try:
            submitted = attempts.on(expected)
        except Refused as error:
            refusal = error  # perhaps of a match that went on, or of a command that was accepted before
        else:
            if submitted is not None and (submitted.newest is not None or submitted.replayed):
                return submitted
    for _ in range(ATTEMPTS):
        match, seen = ports.history.newest(match_id, key.id)
        if seen is not None:
            # The id names its player, so that only who was let in before gets this far without another check.
            return replay(ports, match, key, seen)
        if refusal is not None and match is expected:
            raise refusal
        submitted = attempts.on(match)
        if submitted is not None:
            return submitted
    raise Refused(
        "version-conflict", "Too many commands came first; the same request with the same key may be repeated."
    )


class _Attempts:
    """The attempts of one command on ever newer heads of its match."""

    def __init__(
        self, ports: Ports, key: CommandKey, command: Command, received_at: int, admit_bots: Admit | None
    ) -> None:
        self.key = key
        self._ports = ports
        self._admit_bots = admit_bots
        self._command = command
        self._received_at = received_at
        self._first: Match | None = None

    def on(self, match: Match) -> Submitted | None:
        """One attempt; None if another command came first."""
        at = max(self._received_at, match.at)
        command = self._command
        is_action = isinstance(command, Act)
        outage_ms = lost(self._ports, match, at, opens_anew=is_action) if isinstance(command, PlayerCommand) else 0
        if isinstance(command, Act):
            command = self._informed(command, match, at, outage_ms)
        with refined(self._ports, match, command):
            return attempt(self._ports, match, self.key, command, at, outage_ms, self._admit_bots)

    def _informed(self, act: Act, match: Match, at: int, outage_ms: int) -> Act:
        """The action with what the match does not know: when it came in before what overtook it."""
        paused_ms = None
        if self._first is None:
            self._first = replace(match, paused=match.paused + match.can_be_given_back(outage_ms, at))
        elif self._first.paused != match.paused and match.at > self._received_at:
            paused_ms = self._paused_at_receipt(self._first, match)
        return replace(act, received_at=self._received_at, paused_ms=paused_ms)

    def _paused_at_receipt(self, first: Match, match: Match) -> int:
        """How far match time lay behind when an action came in that was first tried on an older head.

        That head may have been memory, which knows nothing of an outage before the action; what was lost after it does
        not count.
        """
        stored = self._ports.log.read(match.id, first=first.head.version, last=match.head.version).events
        known = [event.version for event in map(decode, stored) if event.at <= self._received_at]
        return max(first.paused, self._ports.history.at(match.id, max(known)).paused) if known else first.paused


def lost(ports: Ports, match: Match, at: int, *, opens_anew: bool) -> int:
    """Milliseconds of outages that a match has to be given back before an event at a time; 0 where it makes no difference.

    The newest event settled all that was before it. So an outage is given back when a match's next event or deadline
    needs it, and no list of matches says which of them got it.
    """
    if not match.minds_outages(at, opens_anew=opens_anew):
        return 0
    is_late = any(decision.is_past(at) for decision in match.decisions())
    silence_ms = LATE_SILENCE_MS if is_late else SILENCE_MS
    return match.can_be_given_back(ports.lost(match.at, at, silence_ms), at)


@contextmanager
def refined(ports: Ports, match: Match, command: Command) -> Iterator[None]:
    """Tell a version that is only old from one of another history: `decide` cannot, since only the log knows both.

    Raises:
        Refused: `history-diverged` in place of `stale-version`, where the client's version is not in the match.
    """
    try:
        yield
    except Refused as refusal:
        seen = command.if_match if isinstance(command, PlayerCommand) else None
        if refusal.code == "stale-version" and seen:
            version, start = max(seen)
            stored = ports.log.read(match.id, first=version, last=version).events
            if not any(digest(event).startswith(start) for event in stored):
                raise refused("history-diverged", **refusal.facts) from None
        raise


def attempt(
    ports: Ports,
    match: Match,
    key: CommandKey,
    command: Command,
    at: int,
    outage_ms: int = 0,
    admit_bots: Admit | None = None,
) -> Submitted | None:
    """Decide a command on a match as it is known and append what it brings; None if another command came first."""
    drafts = decide(match, command, at, lambda: server_seed(ports, match), outage_ms)
    if not drafts:
        return Submitted(match, replayed=False)
    if admit_bots is not None and not match.has_people and any(draft.type == "match_started" for draft in drafts):
        admit_bots()
    return append(ports, match, key, drafts, at)


def give_back(ports: Ports, match: Match, outage_ms: int, at: int) -> Submitted | None:
    """Append that outages took so long since a match's newest event; None if another command came first."""
    return attempt(ports, match, CommandKey(f"extend:{match.head.version}", "clock"), Extend(ms=outage_ms), at)


def append(ports: Ports, match: Match, key: CommandKey, drafts: Sequence[Draft], at: int) -> Submitted | None:
    """Append what was decided on a match to its stream; None if another command came first."""
    events, _ = seal(match.head, drafts, at, new_salts(len(drafts)))
    try:
        after = fold(match, events)
    except (Corrupt, Refused) as fault:
        raise RuntimeError(f"what was decided cannot be folded and is not written: {fault}") from fault
    announce(ports, match, after)
    snapshot = ports.history.snapshot(after, match.head.version)
    appended = put(ports, after, Append(match.id, key.id, key.digest, match.head, events, owed(after), None, snapshot))
    if appended is None:
        withdraw(ports, match, after)
    return appended


def put(ports: Ports, after: Match, append: Append) -> Submitted | None:
    """Put an append to the log; `after` is the match with it. None if another command came first."""
    failpoints.point("append-decided")
    result = ports.log.append(append)
    failpoints.point("append-written")
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


def replay(ports: Ports, match: Match, key: CommandKey, seen: Seen) -> Submitted:
    """What a command did that the log knows; `match` is its match at any version.

    Raises:
        Refused: `idempotency-key-reused`.
    """
    if seen.digest != key.digest:
        raise _reused()
    metrics.COMMANDS.labels("replayed").inc()
    if seen.version != match.head.version:
        match = ports.history.at(match.id, seen.version)
    return Submitted(match, replayed=True)


def _reused() -> Refused:
    metrics.COMMANDS.labels("reused").inc()
    return Refused("idempotency-key-reused", "This Idempotency-Key was used for another request; choose a new one.")


def server_seed(ports: Ports, match: Match) -> bytes:
    """The match's secret seed.

    Raises:
        Corrupt: the log has none, or another one than was committed to.
    """
    seed = ports.log.seed(match.id)
    if seed is None or commitment(seed) != match.created.seed_commitment:
        raise Corrupt(match.head.version, "the seed that the match began with is not in the log")
    return seed


def has_job(match: Match, now: int) -> bool:
    """Whether a match has a job for the workers now, or at its newest event by a clock that is ahead of this one."""
    job_at = match.job_at()
    return job_at is not None and job_at <= max(now, match.at)


def hint(ports: Ports, match: Match) -> None:
    """Give the workers a hint if a match has a job for them now."""
    if has_job(match, ports.now()):
        ports.jobs.hint(match.id, "turns" if match.has_people else "bots")
