"""The audit of a stored match, check by check."""

from dataclasses import replace

import pytest

from events.record import canonical
from service.audit.public_audit import CheckResult, audit
from service.audit.verify import CHECKS
from service.games.protocol import AnyGame
from service.match.model import Match
from tests.service.arena import Arena
from tests.service.audit.match_files import File, lines_of
from tests.service.games.toy.game import TOY


def results(arena: Arena, match: Match) -> list[str]:
    return [check.result for check in audit(arena.ports, match).checks]


def test_a_match_that_is_over_passes_every_check() -> None:
    arena = Arena()
    match = arena.play_out(arena.toy("anna", "ben"))
    report = audit(arena.ports, match)
    assert (report.match, report.version, report.head) == (match.id, match.head.version, match.head.hash)
    assert report.checks == tuple(CheckResult(check, "passed") for check in CHECKS)


def test_only_the_chain_of_a_running_match_can_be_checked() -> None:
    arena = Arena()
    match = arena.match(arena.opened("anna", "ben"))
    assert results(arena, match) == ["passed", "not_yet", "not_yet", "not_yet", "not_yet"]
    arena.act(match.id, "anna")
    assert results(arena, match) == ["passed", "not_yet", "not_yet", "not_yet", "not_yet"]


def test_a_match_under_older_rules_is_not_decided_again() -> None:
    arena = Arena()
    match = arena.play_out(arena.toy("anna", "ben"))
    newer: dict[str, AnyGame] = {"toy": replace(TOY, info=replace(TOY.info, ruleset=2))}
    report = audit(replace(arena.ports, games=newer), match)
    assert [check.result for check in report.checks] == [
        "passed",
        "not_checked",
        "passed",
        "not_checked",
        "not_checked",
    ]


@pytest.mark.parametrize("over", [True, False])
def test_a_changed_event_fails_the_chain_at_its_version(over: bool) -> None:
    arena = Arena()
    table = arena.opened("anna", "ben")
    match = arena.play_out(table) if over else arena.match(table)
    stored = arena.log.stored(table)
    arena.log.rewrite(table, (*stored[:2], stored[2].replace(b"ben", b"bob"), *stored[3:]))
    first, *rest = audit(arena.ports, match).checks
    assert (first.check, first.result, first.version) == ("chain", "failed", 4)
    assert first.detail
    assert {check.result for check in rest} == {"not_checked" if over else "not_yet"}


@pytest.mark.parametrize("remaining", [0, 3])
def test_lost_events_fail_the_chain(remaining: int) -> None:
    arena = Arena()
    table = arena.opened("anna", "ben")
    match = arena.match(table)
    arena.log.rewrite(table, arena.log.stored(table)[:3])
    if not remaining:
        arena.log.lose(table)
    first = audit(arena.ports, match).checks[0]
    assert (first.result, first.version) == ("failed", match.head.version)


def test_another_history_of_the_same_length_fails_the_chain() -> None:
    arena = Arena()
    match = arena.play_out(arena.toy("anna", "ben"))
    file = File(lines_of(arena, match.id))
    file.events[3]["salt"] = "0" * 32
    arena.log.rewrite(match.id, file.sealed()[1:])
    assert results(arena, match) == ["failed", "not_checked", "not_checked", "not_checked", "not_checked"]


def test_a_forged_effect_fails_its_own_check() -> None:
    arena = Arena()
    match = arena.play_out(arena.toy("anna", "ben"))
    file = File(lines_of(arena, match.id))
    at = file.find("action")
    file.events[at]["data"]["effects"] = []
    arena.log.rewrite(match.id, file.sealed()[1:])
    report = audit(arena.ports, match).checks
    assert [check.result for check in report] == ["passed", "not_checked", "failed", "not_checked", "not_checked"]
    assert report[2].version == at
    assert canonical(report)
