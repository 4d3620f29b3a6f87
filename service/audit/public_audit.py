"""The audit of one stored match: the result of each check."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from events.record import MatchId, Version
from service.audit.match_file import export, first_line
from service.audit.verify import CHECKS, Check, Fault, check_chain, verify
from service.match.model import Match
from service.repository.ports import Ports


class CheckResult(msgspec.Struct, frozen=True):
    """The result of one check. If it failed, `version` and `detail` say where and why.

    `not_yet`: possible only after the end of the match. `not_checked`: an earlier check failed, or the match has an older
    ruleset.
    """

    check: Check
    result: Literal["passed", "failed", "not_yet", "not_checked"]
    version: int | None = None
    detail: str | None = None


class Audit(msgspec.Struct, frozen=True):
    """The audit of the stored events of a match up to `version`.

    `chain`: every event is canonical and has the hash of the event before. `draws`: every shuffle and pick follows from the
    revealed seed, and the seed fits the commitment. `effects`: all effects follow from the rules and can be folded.
    `actions`: each action was allowed at its time, for its author. `outcome`: the rules give the same scores. The audit
    stops at the first fault.
    """

    match: MatchId
    version: Version
    head: str
    checks: tuple[CheckResult, ...]


def audit(ports: Ports, match: Match) -> Audit:
    """All checks for a match that is over. Before the end only the chain is checked, since it needs no secret."""
    passed: Sequence[Check] = ()
    first: Fault | None = None
    try:
        passed = _passed(ports, match)
    except Fault as fault:
        first = fault
    rest: Literal["not_yet", "not_checked"] = "not_yet" if match.server_seed is None else "not_checked"
    return Audit(match.id, match.head.version, match.head.hash, results(passed, first, rest))


def results(
    passed: Sequence[Check], fault: Fault | None, rest: Literal["not_yet", "not_checked"] = "not_checked"
) -> tuple[CheckResult, ...]:
    """The result of each check: those that passed, the one with a fault, and `rest` for all others."""
    found = {check: CheckResult(check, "passed") for check in passed}
    if fault is not None:
        # The chain is checked first, so it has passed if the fault is in another check.
        found["chain"] = CheckResult("chain", "passed")
        found[fault.check] = CheckResult(fault.check, "failed", fault.version, fault.text)
    return tuple(found.get(check) or CheckResult(check, rest) for check in CHECKS)


def _passed(ports: Ports, match: Match) -> Sequence[Check]:
    if match.server_seed is None:
        stored = ports.log.read(match.id, last=match.head.version).events
        _, newest = check_chain(first_line(match), stored)
        passed: Sequence[Check] = ("chain",)
    else:
        verdict = verify(export(ports, match), ports.games)
        passed, newest = verdict.checks, verdict.match.head
    if newest != match.head:
        raise Fault(match.head.version, "chain", "is not the event that the service read before")
    return passed
