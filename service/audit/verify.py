"""Verifies a match file: every event must follow from the rules and the revealed seed.

The chain is checked first. Then each event is turned back into its command and decided again, by the same function that
decided it when it was written. The result must equal the event. The first fault ends the verification.
"""

import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal, TypeAlias

import msgspec

from events.chain import BrokenChain, Draft, Verified, follow
from events.record import Event, Head, Version, canonical
from service.audit.match_file import FirstLine, split
from service.errors import Corrupt, NotDue, Refused, location
from service.games.protocol import AnyGame
from service.match.events import SeedRevealed
from service.match.fold import advance, begin
from service.match.model import Match
from service.match.randomness import Chance, commitment
from service.match.redecide import RULED, decided_again, is_current
from service.match.transitions import transitions

Check: TypeAlias = Literal["chain", "draws", "effects", "actions", "outcome"]
CHECKS: Final[tuple[Check, ...]] = ("chain", "draws", "effects", "actions", "outcome")

_SALT: Final = re.compile(r"[0-9a-f]{32}")
_SEED: Final = re.compile(r"[0-9a-f]{64}")


class Fault(Exception):
    """A fault in a match file, and the version where it is (0 is the file's first line)."""

    def __init__(self, version: int, check: Check, text: str) -> None:
        super().__init__(f"version {version}: {text}")
        self.version = version
        self.check = check
        self.text = text


class Verdict(msgspec.Struct, frozen=True):
    """A match without fault, and the checks that it passed. Events of older rulesets are folded, but not decided again."""

    match: Match
    checks: tuple[Check, ...]


def verify(lines: Iterable[bytes], games: Mapping[str, AnyGame]) -> Verdict:
    """Check a match file from its first line to the revealed seed.

    Raises:
        Fault: the first fault.
    """
    try:
        first, stored = split(lines)
    except (ValueError, RecursionError) as error:
        raise Fault(0, "chain", str(error)) from None
    chained, _ = check_chain(first, stored)
    events = [one.event for one in chained]
    seed = _revealed(events)
    game = games.get(first.game)
    if game is None or game.info.ruleset < first.ruleset:
        raise Fault(0, "effects", f"the rules of {first.game}, ruleset {first.ruleset}, are not known here")
    match = _folded(1, lambda: begin(first.match, stored[0], games))
    if commitment(seed) != match.created.seed_commitment:
        raise Fault(len(stored), "draws", "the revealed seed does not fit the commitment")
    if not match.creator:
        raise Fault(1, "actions", f"is by {events[0].by}, not by a player")
    expected = deque(_decided_again(match, events[0], lambda: seed))
    _compare(expected.popleft(), events[0], match)
    for event, head in chained[1:]:
        # For an unknown type the fold raises.
        if event.type in transitions(match.game) or event.type == "match_created":
            if not expected:
                expected.extend(_decided_again(match, event, lambda: seed))
            elif event.at != match.at:
                raise Fault(event.version, "actions", f"must have the time of the event before, {match.at}")
            _compare(expected.popleft(), event, match)
        match = _folded(event.version, partial(advance, match, event, head))
    return Verdict(match, CHECKS if is_current(match) else ("chain", "effects"))


def _folded(version: Version, fold: Callable[[], Match]) -> Match:
    try:
        return fold()
    except Corrupt as error:
        raise Fault(version, "effects", f"cannot be folded: {error.fault}") from None
    except Refused as error:
        raise Fault(version, "effects", f"cannot be folded: {error.detail}") from None


def _decided_again(match: Match, event: Event, chance: Chance) -> Sequence[Draft]:
    """The events of the command behind an event: the event itself, and those that must follow in the same append."""
    check: Check = "effects" if event.version == 1 else "outcome" if event.type == "match_scored" else "actions"
    try:
        drafts = decided_again(match, event, chance)
    except msgspec.DecodeError as error:
        raise Fault(event.version, check, f"the data does not fit {event.type}: {error}") from None
    except NotDue as error:
        raise Fault(event.version, check, str(error)) from None
    except Refused as refusal:
        raise Fault(event.version, check, f"would be refused: {refusal.detail}") from None
    except Exception as error:  # noqa: BLE001  (a forged event may make the rules raise anything: a fault of the file)
        raise Fault(event.version, "actions", f"cannot be decided again: {location(error)}") from None
    if not drafts:
        raise Fault(event.version, "actions", "would change nothing")
    return drafts


def _compare(draft: Draft, event: Event, match: Match) -> None:
    """Compare an event with the event that must be at its version."""
    if event.type != draft.type:
        raise Fault(event.version, "actions", f"is {event.type} where {draft.type} must come")
    if event.by != draft.by:
        raise Fault(event.version, "actions", f"is by {event.by}, not by {draft.by}")
    if draft.data == bytes(event.data) or (event.type in RULED and not is_current(match)):
        return
    found, expected = (msgspec.json.decode(data, type=dict[str, Any]) for data in (event.data, draft.data))
    checks: tuple[Check, ...] = ("draws", "effects", "outcome")
    for check in checks:
        if found.get(check) != expected.get(check):
            raise Fault(event.version, check, f"{check}: not what the seed and the rules give")
    raise Fault(event.version, "effects" if event.version == 1 else "actions", "is not what the rules decide")


def check_chain(first: FirstLine, stored: Sequence[bytes]) -> tuple[list[Verified], Head]:
    """Check each event by itself and against the event before; return the events and the head after them.

    Raises:
        Fault: the first event that is not canonical, does not follow, or contains a number that is not allowed.
    """
    head = first.line[1]
    events: list[Verified] = []
    at = 0
    for version, entry in enumerate(stored, 1):
        try:
            event, head = follow(head, entry)
            data = msgspec.json.decode(event.data)
            plain = canonical(data) == bytes(event.data)
        except BrokenChain as error:
            raise Fault(error.version, "chain", error.fault) from None
        except (ValueError, RecursionError) as error:
            raise Fault(version, "chain", f"the data is not canonical JSON: {error}") from None
        if not isinstance(data, dict):
            raise Fault(version, "chain", "the data is not an object")
        if not plain:
            raise Fault(version, "chain", "the data is not in canonical form")
        if not _exact([event.at, data]):
            raise Fault(version, "chain", "contains a number that is not an integer of at most 53 bits")
        if event.at < at:
            raise Fault(version, "chain", "is older than the event before")
        if not _SALT.fullmatch(event.salt):
            raise Fault(version, "chain", "the salt is not 32 hex digits")
        events.append(Verified(event, head))
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
    """The seed that the last event reveals. No earlier event may reveal one."""
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
