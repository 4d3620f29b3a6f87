"""How a match changes: load, decide, announce, append, and try again if another command was first.

Every write to the stream of an existing match goes through `append`. A command id that the log knows is answered from
the log. A refused command writes nothing.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, TypeAlias

import msgspec
from msgspec.structs import replace

from events.chain import Draft, Verified, seal
from events.log import Append, Conflict, Reused, Seen
from events.record import Event, MatchId, canonical, decode, digest
from service.errors import Corrupt, Refused
from service.match.commands import Act, Command, Extend, PlayerCommand
from service.match.decide import decide
from service.match.fold import fold_verified
from service.match.model import Match
from service.match.randomness import commitment, new_salts
from service.match.refusals import refused
from service.observability import failpoints, metrics
from service.repository.ports import Ports
from service.usecases import created_ids, finding
from service.usecases.held_seats import hold_seats
from service.usecases.hints import hint
from service.usecases.match_index import announce, withdraw
from service.usecases.subscribed import due_with_news

SILENCE_AFTER_DEADLINE_MS: Final = 250
"""After a deadline, sweepers that are silent for this long count as an outage: no action is refused as too late."""
SILENCE_MS: Final = 1_000
"""The same before a deadline. On a busy machine, sweepers may be silent although the log is available."""
ATTEMPTS: Final = 8
"""Maximum number of attempts of a command. If each loses a race, the client gets `version-conflict`."""


Admit: TypeAlias = Callable[[], None]
"""A function that raises Refused if no further match without people may start."""


class CommandKey(msgspec.Struct, frozen=True):
    """A command's id in its match, and the digest of its request. The same id with another digest is refused."""

    id: str
    digest: str


class Submitted(msgspec.Struct, frozen=True):
    """The match right after a command, or after its first execution if the command is a repetition (`replayed`).

    `newest` is its last event; None if it was not read.
    """

    match: Match
    replayed: bool
    newest: Event | None = None


def player_key(player: str, key: str, request: object) -> CommandKey:
    """The key of a player's command. The same player, key and request are one command for the life of the match."""
    return CommandKey(f"p:{player}:{key}", hashlib.sha256(canonical(request)).hexdigest())


def submit(
    ports: Ports,
    match_id: MatchId,
    key: CommandKey,
    command: Command,
    admit_bots: Admit | None = None,
    read: Match | None = None,
) -> Submitted:
    """Append the events of a command exactly once, and notify the workers if a job of the match is due.

    `admit_bots` is called right before the command starts a match without people. `read`: the match as the caller has just
    read it, so that it is read again only if another command was first.

    Raises:
        Refused: what `decide` and `admit_bots` refuse; `match-not-found`, `idempotency-key-reused`, `version-conflict`.
    """
    received_at = ports.now()
    with ports.match_locks.holding(match_id):
        submitted = _submit(ports, match_id, _Attempts(ports, key, command, received_at, admit_bots), read)
    hint(ports, submitted.match)
    failpoints.point("command-hinted")
    return submitted


def _submit(ports: Ports, match_id: MatchId, attempts: "_Attempts", read: Match | None) -> Submitted:
    key = attempts.key
    expected = read or ports.history.expected(match_id)
    refusal: Refused | None = None
    if expected is not None:
        # One round trip instead of two: the append checks the command id and the head.
        try:
            submitted = attempts.on(expected)
        except Refused as error:
            refusal = error  # not final: the match may have changed, or the command may be a repetition
        else:
            if submitted is not None and (submitted.newest is not None or submitted.replayed):
                return submitted
    for _ in range(ATTEMPTS):
        match, seen = ports.history.newest(match_id, key.id)
        if seen is not None:
            # Needs no check of access: the id contains the player, whose command was accepted before.
            return replay(ports, match, key, seen)
        if refusal is not None and match is expected:
            raise refusal
        submitted = attempts.on(match)
        if submitted is not None:
            return submitted
    raise Refused("version-conflict", "Too many other commands were first; repeat the same request with the same key.")


class _Attempts:
    """The attempts of one command, each on a newer head of its match."""

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
        """One attempt; None if another command was first."""
        at = max(self._received_at, match.at)
        command = self._command
        is_action = isinstance(command, Act)
        outage_ms = (
            lost(self._ports, match, at, reopens_decisions=is_action) if isinstance(command, PlayerCommand) else 0
        )
        if isinstance(command, Act):
            command = self._with_receipt_time(command, match, at, outage_ms)
        with detecting_divergence(self._ports, match, command):
            return attempt(self._ports, match, self.key, command, at, outage_ms, self._admit_bots)

    def _with_receipt_time(self, act: Act, match: Match, at: int, outage_ms: int) -> Act:
        """The action with its time of receipt, and with the pause at that time if events were appended since."""
        paused_ms = None
        if self._first is None:
            self._first = replace(match, paused=match.paused + match.compensation_ms(outage_ms, at))
        elif self._first.paused != match.paused and match.at > self._received_at:
            paused_ms = self._paused_at_receipt(self._first, match)
        return replace(act, received_at=self._received_at, paused_ms=paused_ms)

    def _paused_at_receipt(self, first: Match, match: Match) -> int:
        """Server time minus match time, in milliseconds, when the action was received.

        `first` is the head of the first attempt. It may have been cached, and then it lacks a `clock_extended` from
        before the receipt. Time given back after the receipt does not count.
        """
        stored = self._ports.log.read(match.id, first=first.head.version, last=match.head.version).events
        known = [event.version for event in map(decode, stored) if event.at <= self._received_at]
        return max(first.paused, self._ports.history.at(match.id, max(known)).paused) if known else first.paused


def lost(ports: Ports, match: Match, at: int, *, reopens_decisions: bool) -> int:
    """Milliseconds of outages for which a match needs compensation before an event at a time; 0 if it needs none.

    Outages before the newest event are already settled. The match is compensated when its next event or deadline needs
    it, so no list of compensated matches is necessary.
    """
    if not match.is_affected_by_outages(at, reopens_decisions=reopens_decisions):
        return 0
    is_late = any(decision.is_past(at) for decision in match.decisions())
    silence_ms = SILENCE_AFTER_DEADLINE_MS if is_late else SILENCE_MS
    return match.compensation_ms(ports.lost(match.at, at, silence_ms), at)


@contextmanager
def detecting_divergence(ports: Ports, match: Match, command: Command) -> Iterator[None]:
    """Distinguish an old version from one of another history: `decide` cannot, since only the log has old versions.

    Raises:
        Refused: `history-diverged` instead of `stale-version`, if the client's version is not in the match.
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
    """Decide a command and append its events; None if another command was first."""
    drafts = decide(match, command, at, lambda: server_seed(ports, match), outage_ms)
    if not drafts:
        return Submitted(match, replayed=False)
    if admit_bots is not None and not match.has_players and any(draft.type == "match_started" for draft in drafts):
        admit_bots()
    return append(ports, match, key, drafts, at)


def give_back(ports: Ports, match: Match, outage_ms: int, at: int) -> Submitted | None:
    """Append a `clock_extended` for outages since a match's newest event; None if another command was first."""
    return attempt(ports, match, CommandKey(f"extend:{match.head.version}", "clock"), Extend(ms=outage_ms), at)


def append(ports: Ports, match: Match, key: CommandKey, drafts: Sequence[Draft], at: int) -> Submitted | None:
    """Append decided events to a match; None if another command was first.

    Raises:
        Refused: `too-many-seats`.
    """
    events, _ = seal(match.head, drafts, at, new_salts(len(drafts)))
    try:
        after, verified = fold_verified(match, events)
    except (Corrupt, Refused) as fault:
        raise RuntimeError(f"the decided events cannot be folded and are not written: {fault}") from fault
    hold_seats(ports, match, after)
    announce(ports, match, after)
    finding.add_to_lists(ports, after, match)
    snapshot = ports.history.snapshot(after, match.head.version)
    due, if_any = due_with_news(ports, after, match)
    wanted = Append(match.id, key.id, key.digest, match.head, events, due, None, snapshot, if_any)
    appended = put(ports, after, wanted, verified)
    if appended is None:
        withdraw(ports, match, after)
    else:
        finding.update_lists(ports, match, after)
    return appended


def put(ports: Ports, after: Match, append: Append, verified: Sequence[Verified]) -> Submitted | None:
    """Write an append to the log; None if another command was first.

    `after` is the match after it, and `verified` has the appended events as they were folded into it.
    """
    failpoints.point("append-decided")
    result = ports.log.append(append)
    failpoints.point("append-written")
    if isinstance(result, Conflict):
        metrics.commands("conflict").inc()
        return None
    if isinstance(result, Reused):
        raise reused()
    if result.replayed:
        metrics.commands("replayed").inc()
        return Submitted(ports.history.at(after.id, result.version), replayed=True)
    metrics.commands("appended").inc()
    for event, _ in verified:
        metrics.events(after.created.game, event.type).inc()
    ports.history.keep(after, append.expected.version, verified)
    return Submitted(after, replayed=False, newest=verified[-1].event)


def replay(ports: Ports, match: Match, key: CommandKey, seen: Seen) -> Submitted:
    """The result of a command that the log already has; `match` is its match at any version.

    Raises:
        Refused: `idempotency-key-reused`.
    """
    if seen.digest != key.digest:
        raise reused()
    metrics.commands("replayed").inc()
    if seen.version != match.head.version:
        match = ports.history.at(match.id, seen.version)
    return Submitted(match, replayed=True)


def reused() -> Refused:
    metrics.commands("reused").inc()
    return created_ids.reused()


def server_seed(ports: Ports, match: Match) -> bytes:
    """The match's secret seed.

    Raises:
        Corrupt: the log has no seed, or one that does not fit the commitment.
    """
    seed = ports.log.seed(match.id)
    if seed is None or commitment(seed) != match.created.seed_commitment:
        raise Corrupt(match.head.version, "the seed that the match began with is not in the log")
    return seed
