"""What the stored events of one match say of themselves, check by check."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from events.chain import FORMAT
from events.record import MatchId, Version
from service.audit.match_file import FirstLine, export
from service.audit.verify import CHECKS, Check, Fault, check_chain, verify
from service.match.model import Match
from service.repository.ports import Ports


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
        _, newest = check_chain(FirstLine(FORMAT, match.id, match.created.game, match.created.ruleset), stored)
        passed: Sequence[Check] = ("chain",)
    else:
        verdict = verify(export(ports, match), ports.games)
        passed, newest = verdict.checks, verdict.match.head
    if newest != match.head:
        raise Fault(match.head.version, "chain", "is not the event that was there before")
    return passed
