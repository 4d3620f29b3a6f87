"""The end of a match: it is scored once, by the rules, and the same append reveals the seed."""

from collections.abc import Mapping

import pytest

from service.automation.bot_turns import score as score_at
from service.automation.deadlines import extend
from service.errors import Corrupt
from service.match.due_times import HINT_MS, KINDS, due_times
from service.match.model import Match
from service.match.randomness import Draws, match_key
from service.repository.ports import Ports
from service.usecases.submit import Submitted
from tests.service.arena import Arena


def score(ports: Ports, match: Match) -> Submitted | None:
    return score_at(ports, match, match.at)


def decided(arena: Arena, ties: str = "drawn") -> Match:
    """A match without open decisions."""
    table = arena.toy("anna", "ben", tricks=1, ties=ties)
    arena.wait(1_000)
    arena.act(table, "anna")
    arena.act(table, "ben")
    return arena.match(table)


def test_a_finished_match_is_due_for_scoring_at_once() -> None:
    arena = Arena()
    match = decided(arena)
    assert (match.status, match.decisions()) == ("running", ())
    assert due_times(match) == {"job": match.at + HINT_MS, "clock": None, "bots": None, "abandoned": None, "open": None}
    assert arena.jobs.hinted == [match.id]


def test_the_outcome_and_the_seed_come_in_one_append() -> None:
    arena = Arena()
    match = decided(arena)
    seed = arena.log.seed(match.id)
    assert seed is not None
    arena.log.calls.clear()
    written = score(arena.ports, match)
    assert written is not None
    assert arena.log.calls.count("append") == 1
    assert [(event.type, event.by) for event in arena.events(match.id)[-2:]] == [
        ("match_scored", "worker"),
        ("seed_revealed", "worker"),
    ]
    rng = Draws(lambda: match_key(seed, [None, None]), match.drawn)
    assert written.match.outcome == match.game.score(match.state, rng)
    assert (written.match.status, written.match.server_seed) == ("finished", seed.hex())
    assert set(due_times(written.match).values()) == {None}
    assert arena.log.next_due(KINDS) is None


def test_ties_are_drawn_from_the_seed_and_recorded() -> None:
    arena = Arena()
    tied, shared = decided(arena, ties="drawn"), decided(arena, ties="shared")
    score(arena.ports, tied)
    score(arena.ports, shared)
    labels = [[draw["label"] for draw in draws_of(arena.data(one.id, one.head.version + 1))] for one in (tied, shared)]
    assert labels == [["ties"], []]


def draws_of(data: Mapping[str, list[Mapping[str, object]]]) -> list[Mapping[str, object]]:
    return data.get("draws", [])


def test_two_workers_score_once() -> None:
    arena = Arena()
    match = decided(arena)
    arena.log.meanwhile = [lambda: score(arena.ports, match)]
    written = score(arena.ports, match)
    assert written is not None
    assert written.replayed
    assert arena.types(match.id).count("match_scored") == 1


def test_scoring_gives_way_to_a_command_that_came_first() -> None:
    arena = Arena()
    match = decided(arena)
    arena.wait(10)
    extend(arena.ports, match.id, "outage", 5)
    assert score(arena.ports, match) is None
    assert "match_scored" not in arena.types(match.id)


def test_without_its_seed_a_match_is_not_scored() -> None:
    arena = Arena()
    match = decided(arena, ties="shared")
    arena.log.forget_seed(match.id)
    with pytest.raises(Corrupt):
        score(arena.ports, match)
    assert "match_scored" not in arena.types(match.id)
