"""The referee's referee: does a match file tell a match that the rules and the revealed seed allow?

Five checks, event by event: the chain; the draws against the seed; the effects, folded again; the actions, decided
again; the outcome, scored again. The first fault ends it.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal

import msgspec
from msgspec import UNSET

from events.chain import FORMAT, BrokenChain, follow, genesis
from events.record import Event, Head, MatchId, Version, canonical
from service.audit_places import Check, Fault, check_place, is_current
from service.audit_times import check_time
from service.errors import Corrupt, Refused
from service.games.protocol import CLOCK, AnyGame, IllegalAction, Move, Ring
from service.match import Match
from service.match_events import Acted, MatchScored, MatchStarted, Rang, SeedRevealed, codec
from service.match_file import FirstLine, export, split
from service.match_fold import begin, step
from service.new_match import check_clock
from service.ports import Ports
from service.randomness import Draws, commitment, match_key
from service.where import place

CHECKS: Final[tuple[Check, ...]] = ("chain", "draws", "effects", "actions", "outcome")

_SALT: Final = re.compile(r"[0-9a-f]{32}")
_SEED: Final = re.compile(r"[0-9a-f]{64}")


class Verdict(msgspec.Struct, frozen=True):
    """A match without fault: what was checked. Rules of an older number are folded, but not decided again."""

    match: Match
    checks: tuple[Check, ...]


class CheckResult(msgspec.Struct, frozen=True):
    """`version` and `detail` say where and what, if the check failed.

    `not_yet` waits for the end of the match; `not_checked` comes after a fault, or is about rules of an older number.
    """

    check: Check
    result: Literal["passed", "failed", "not_yet", "not_checked"]
    version: int | None = None
    detail: str | None = None


class Audit(msgspec.Struct, frozen=True):
    """What the stored events of a match say of themselves, read anew up to `version`.

    `chain`: every event is canonical and names the hash of the one before. `draws`: every shuffle and pick is what the
    revealed seed gives, and the seed is the one that was committed to. `effects`: they can be folded, and are what the
    rules give. `actions`: each was allowed, at its time, by whom it says. `outcome`: the rules score the same. The first
    fault ends the audit.
    """

    match: MatchId
    version: Version
    head: str
    checks: tuple[CheckResult, ...]


def audit(ports: Ports, match: Match) -> Audit:
    """All checks of a match that is over; of any other the chain, the one that needs no secret."""
    try:
        results = {check: CheckResult(check, "passed") for check in _passed(ports, match)}
    except Fault as fault:
        results = {
            # the whole chain is checked before all else
            "chain": CheckResult("chain", "passed"),
            fault.check: CheckResult(fault.check, "failed", fault.version, fault.text),
        }
    rest: Literal["not_yet", "not_checked"] = "not_yet" if match.server_seed is None else "not_checked"
    checks = tuple(results.get(check) or CheckResult(check, rest) for check in CHECKS)
    return Audit(match.id, match.head.version, match.head.hash, checks)


def _passed(ports: Ports, match: Match) -> Sequence[Check]:
    if match.server_seed is None:
        stored = ports.log.read(match.id, last=match.head.version).events
        _, newest = _chained(FirstLine(FORMAT, match.id, match.created.game, match.created.ruleset), stored)
        passed: Sequence[Check] = ("chain",)
    else:
        verdict = verify(export(ports, match), ports.games)
        passed, newest = verdict.checks, verdict.match.head
    if newest != match.head:
        raise Fault(match.head.version, "chain", "is not the event that was there before")
    return passed


def verify(lines: Iterable[bytes], games: Mapping[str, AnyGame]) -> Verdict:
    """Check a match file from its first line to the revealed seed.

    Raises:
        Fault: the first thing that is wrong.
    """
    try:
        first, stored = split(lines)
    except (ValueError, RecursionError) as error:
        raise Fault(0, "chain", str(error)) from None
    events, _ = _chained(first, stored)
    seed = _revealed(events)
    game = games.get(first.game)
    if game is None or game.info.ruleset < first.ruleset:
        raise Fault(0, "effects", f"the rules of {first.game}, ruleset {first.ruleset}, are not known here")
    match = _begun(first, events[0], stored[0], games)
    if commitment(seed) != match.created.seed_commitment:
        raise Fault(len(stored), "draws", "the revealed seed is not the one committed to")
    current = is_current(match)
    if current and canonical(match.options) != canonical(match.created.options):
        raise Fault(1, "effects", "the options are not written out")
    for event, entry in zip(events[1:], stored[1:], strict=True):
        try:
            check_place(match, event)
            if current:
                _check_decided(match, event, seed)
        except msgspec.DecodeError as error:
            raise Fault(event.version, "actions", f"the data is not that of {event.type}: {error}") from None
        try:
            match = step(match, entry)
        except (Corrupt, Refused) as error:
            raise _not_folded(event.version, error) from None
    return Verdict(match, CHECKS if current else ("chain", "effects"))


def _chained(first: FirstLine, stored: Sequence[bytes]) -> tuple[list[Event], Head]:
    """The events in a whole chain, and the head after them."""
    head = genesis(first.match, first.game, first.ruleset)[1]
    events: list[Event] = []
    at = 0
    for version, entry in enumerate(stored, 1):
        try:
            event, head = follow(head, entry)
            data = msgspec.json.decode(event.data)
            plain = canonical(data) == bytes(event.data)
        except BrokenChain as error:
            raise Fault(error.version, "chain", error.fault) from None
        except (ValueError, RecursionError) as error:
            raise Fault(version, "chain", f"the data is no JSON of ours: {error}") from None
        if not plain:
            raise Fault(version, "chain", "the data is not in canonical form")
        if not _exact([event.at, data]):
            raise Fault(version, "chain", "holds a number that is no integer of at most 53 bits")
        if event.at < at:
            raise Fault(version, "chain", "is older than the event before")
        if not _SALT.fullmatch(event.salt):
            raise Fault(version, "chain", "the salt is not 32 hex digits")
        events.append(event)
        at = event.at
    return events, head


def _exact(value: object) -> bool:
    """Whether all numbers are integers that every reader of JSON reads the same (RFC 8785, section 3.2.2.3)."""
    if isinstance(value, dict):
        return all(map(_exact, value.values()))
    if isinstance(value, list):
        return all(map(_exact, value))
    return not isinstance(value, float) and (not isinstance(value, int) or abs(value) < 2**53)


def _revealed(events: Sequence[Event]) -> bytes:
    """The seed that the last event reveals, and no other."""
    if not events or events[0].type != "match_created":
        raise Fault(1, "chain", "a match begins with match_created")
    ends = [event for event in events if event.type == "seed_revealed"]
    if not ends:
        raise Fault(len(events) + 1, "chain", "the file ends before the seed is revealed")
    if ends[0] is not events[-1]:
        raise Fault(ends[0].version + 1, "actions", "the match was over when its seed was revealed")
    try:
        seed = msgspec.json.decode(ends[0].data, type=SeedRevealed).server_seed
    except msgspec.DecodeError:
        seed = ""
    if not _SEED.fullmatch(seed):
        raise Fault(ends[0].version, "draws", "the revealed seed is not 64 hex digits")
    return bytes.fromhex(seed)


def _begun(first: FirstLine, event: Event, stored: bytes, games: Mapping[str, AnyGame]) -> Match:
    try:
        match = begin(first.match, stored, games)
    except (Corrupt, Refused) as error:
        raise _not_folded(1, error) from None
    if not match.creator or event.by != f"player:{match.creator}":
        raise Fault(1, "actions", f"is by {event.by}, not by a player")
    try:
        check_clock(match.game, match.created.clock)
    except Refused as error:
        raise Fault(1, "effects", error.detail) from None
    return match


def _not_folded(version: Version, error: Corrupt | Refused) -> Fault:
    return Fault(version, "effects", f"cannot be folded: {error.fault if isinstance(error, Corrupt) else error.detail}")


def _check_decided(match: Match, event: Event, seed: bytes) -> None:
    """Decide again what the event says was decided: its draws, its effects, its outcome must come out the same."""
    again = _DECIDED.get(event.type)
    rng = Draws(lambda: match_key(seed, match.client_seeds()), match.drawn)
    try:
        check_time(match, event)
        if again is None:
            return
        expected = again(match, event, rng)
    except (Fault, msgspec.DecodeError):
        raise
    except IllegalAction as refusal:
        raise Fault(event.version, "actions", f"the rules refuse it: {refusal}") from None
    except Exception as error:  # noqa: BLE001  (whatever a forged action makes the rules do, it is a fault of the file)
        raise Fault(event.version, "actions", f"cannot be decided again: {place(error)}") from None
    right = canonical(expected)
    if right != bytes(event.data):
        raise _difference(event, msgspec.json.decode(right))


def _difference(event: Event, expected: dict[str, Any]) -> Fault:
    found = msgspec.json.decode(event.data, type=dict[str, Any])
    kinds: tuple[Check, ...] = ("draws", "effects", "outcome")
    for check in kinds:
        if found.get(check) != expected.get(check):
            return Fault(event.version, check, f"{check}: not what the seed and the rules give")
    return Fault(event.version, "actions", "is not what the rules decide")


def _started(match: Match, event: Event, rng: Draws) -> MatchStarted[Any]:
    effects = match.game.setup(len(match.seats), match.options, event.at - match.paused, rng)
    return MatchStarted(tuple(rng.drawn), effects)


def _acted(match: Match, event: Event, rng: Draws) -> Acted[Any, Any]:
    data = codec(match.game).acted(event.data)
    effects = match.game.decide(match.state, Move(data.seat, data.action, event.at - match.paused), rng)
    return Acted(data.seat, data.action, effects, tuple(rng.drawn) or UNSET, data.reason)


def _rang(match: Match, event: Event, rng: Draws) -> Rang[Any]:
    label = codec(match.game).rang(event.data).label
    ring: Move[Any] = Move(CLOCK, Ring(label), event.at - match.paused)
    return Rang(label, match.game.decide(match.state, ring, rng), tuple(rng.drawn) or UNSET)


def _scored(match: Match, event: Event, rng: Draws) -> MatchScored:
    if match.decisions():
        raise Fault(event.version, "outcome", "is scored before the match is over")
    return MatchScored(match.game.score(match.state, rng), tuple(rng.drawn) or UNSET)


_DECIDED: Final[Mapping[str, Callable[[Match, Event, Draws], Any]]] = {
    "match_started": _started,
    "action": _acted,
    "default_action": _acted,
    "timer": _rang,
    "match_scored": _scored,
}
