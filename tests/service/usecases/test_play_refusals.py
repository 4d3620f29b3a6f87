"""Refused actions change nothing, and their problems contain nothing hidden."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from events.record import canonical
from service.automation.bot_turns import suspend
from service.errors import Refused
from service.games.protocol import IllegalAction
from service.games.registry import GAMES
from service.match import rulings
from service.match.model import Match
from service.match.redaction import see_decisions
from service.match.rulings import illegal
from service.usecases import play
from service.usecases.play import ActionRequest, judge
from tests.service.arena import COUNTDOWN, START, TRICK, Arena, refused


def _open(arena: Arena) -> str:
    return arena.join(arena.create(), "anna")


def _resigned(arena: Arena) -> str:
    table = arena.opened("anna", "ben")
    arena.leave(table, "anna")
    return table


def _finished(arena: Arena) -> str:
    table = arena.toy("anna", "ben")
    arena.play_out(table)
    return table


def _played_out_but_not_scored(arena: Arena) -> str:
    table = arena.opened("anna", "ben", tricks=1)
    arena.act(table, "anna")
    arena.act(table, "ben")
    return table


def _suspended(arena: Arena) -> str:
    table = arena.opened("anna", "ben")
    suspend(arena.ports, arena.match(table), "KeyError")
    return table


def _aborted(arena: Arena) -> str:
    table = _open(arena)
    arena.leave(table, "host")
    return table


def _running(arena: Arena) -> str:
    return arena.opened("anna", "ben")


def _waiting_for_ben(arena: Arena) -> str:
    table = _running(arena)
    arena.act(table, "anna")
    return table


COMMIT = {"type": "commit", "card": "1-1"}
REFUSALS: list[tuple[Callable[[Arena], str], str, ActionRequest, str]] = [
    (_running, "carl", ActionRequest(COMMIT), "not-seated"),
    (_running, "host", ActionRequest(COMMIT), "not-seated"),
    (_running, "anna", ActionRequest(COMMIT, seat=1), "not-your-seat"),
    (_resigned, "anna", ActionRequest(COMMIT), "not-seated"),
    (_open, "anna", ActionRequest(COMMIT), "match-not-running"),
    (_finished, "anna", ActionRequest(COMMIT), "match-over"),
    (_played_out_but_not_scored, "anna", ActionRequest(COMMIT), "match-over"),
    (_aborted, "anna", ActionRequest(COMMIT), "match-over"),
    (_suspended, "anna", ActionRequest(COMMIT), "match-suspended"),
    (_running, "anna", ActionRequest(COMMIT, decision="0:3"), "decision-closed"),
    (_running, "anna", ActionRequest(COMMIT, decision="1:4"), "decision-closed"),
    (_waiting_for_ben, "anna", ActionRequest(COMMIT), "illegal-action"),
    (_running, "anna", ActionRequest({"type": "fly"}), "invalid-action"),
    (_running, "anna", ActionRequest({"type": "commit"}), "invalid-action"),
    (_running, "anna", ActionRequest({"type": "commit", "card": 1}), "invalid-action"),
    (_running, "anna", ActionRequest({**COMMIT, "seat": 0}), "invalid-action"),
    (_running, "anna", ActionRequest({}), "invalid-action"),
    (_running, "anna", ActionRequest({"type": "fly"}, decision="0:3"), "invalid-action"),
    (_running, "anna", ActionRequest({"type": "commit", "card": "no such"}), "illegal-action"),
    (_running, "anna", ActionRequest({"type": "keep"}), "illegal-action"),
]


@pytest.mark.parametrize(("table_of", "player", "request_", "code"), REFUSALS)
def test_a_refused_action_changes_nothing(
    table_of: Callable[[Arena], str], player: str, request_: ActionRequest, code: str
) -> None:
    arena = Arena()
    table = table_of(arena)
    before = arena.log.contents()
    refused(code, play.act, arena.ports, player, table, request_, "key")
    refused(code, judge, arena.ports, player, table, request_)
    assert arena.log.contents() == before


def test_an_action_is_in_time_until_a_millisecond_before_the_deadline() -> None:
    arena = Arena()
    table = arena.opened("anna", "ben")
    (deadline,) = {one.deadline for one in arena.match(table).decisions()}
    assert deadline == START + COUNTDOWN + TRICK
    arena.time = deadline - 1
    arena.act(table, "anna")
    arena.time = deadline
    facts = refused("too-late", arena.act, table, "ben").facts
    assert facts["received_at"] == deadline


def test_the_turn_clock_ends_at_its_deadline_too() -> None:
    arena = Arena()
    table = arena.monkeys("anna", "ben", turn_seconds=60)
    first = arena.match(table).decisions()[0]
    player = ("anna", "ben")[first.seat]
    arena.time = START + 60_000
    refused("too-late", arena.act, table, player)
    arena.time = START + 59_999
    arena.act(table, player, decision=first.id)


def test_an_action_after_the_deadline_is_too_late_even_before_the_timer_event() -> None:
    arena = Arena()
    table = arena.opened("anna", "ben")
    arena.time = START + COUNTDOWN + TRICK
    assert "timer" not in arena.types(table)
    refused("too-late", arena.act, table, "anna")


def test_a_decision_is_closed_once_its_seat_acted() -> None:
    arena = Arena()
    table = arena.opened("anna", "ben")
    mine = next(one for one in arena.match(table).decisions() if one.seat == 0)
    arena.act(table, "anna", decision=mine.id)
    refused("decision-closed", arena.act, table, "anna", COMMIT, decision=mine.id)


def test_a_refusal_has_the_version_and_the_decisions_of_the_match() -> None:
    arena = Arena()
    table = arena.opened("anna", "ben")
    for request in (ActionRequest(COMMIT, decision="0:1"), ActionRequest({"type": "keep"})):
        with pytest.raises(Refused) as caught:
            play.act(arena.ports, "anna", table, request, "key")
        assert caught.value.facts["version"] == 4
        assert caught.value.facts["decisions"] == see_decisions(arena.match(table), 0)


def test_the_refusal_of_an_invalid_action_lists_the_types() -> None:
    arena = Arena()
    table = arena.opened("anna", "ben")
    assert refused("invalid-action", arena.act, table, "anna", {"type": "fly"}).facts == {
        "parameter": ("action", "type"),
        "types": ["commit", "swap", "keep"],
    }


def test_the_refusal_of_an_illegal_action_has_reason_clause_and_legal_actions() -> None:
    arena = Arena()
    table = arena.opened("anna", "ben")
    refusal = refused("illegal-action", arena.act, table, "anna", {"type": "commit", "card": "0-0"})
    assert refusal.detail.startswith("You do not hold 0-0. Legal now: ")
    assert refusal.details["de"].count(";") == 2
    assert (refusal.facts["reason"], refusal.facts["clause"]) == ("card-not-held", "TOY-10")
    assert msgspec.to_builtins(refusal.facts["legal"]) == arena.legal(table, "anna")
    assert refusal.facts["legal_counts"] == {"commit": 3}


def test_a_long_legal_list_is_summed_up_as_counts() -> None:
    arena = Arena()
    match = arena.match(arena.opened("anna", "ben"))
    commit = next(iter(match.game.legal_actions(match.state, 0)))
    keep = match.game.info.actions[-1]()
    for length, is_listed in (
        (rulings.MAX_LEGAL_LISTED, True),
        (rulings.MAX_LEGAL_LISTED + 1, False),
        (rulings.MAX_LEGAL_LISTED + 2, False),
    ):
        game = _with_legal(match, [*[keep] * (length - 1), commit])
        refusal = illegal(game, 0, IllegalAction("card-not-held", "TOY-10", card="0-0"), commit)
        assert ("legal" in refusal.facts) is is_listed
        assert refusal.facts["legal_counts"] == {"commit": 1, "keep": length - 1}
        assert refusal.detail.startswith("You do not hold 0-0. Legal now: Commit a card; Keep the hand; ")
        assert refusal.detail.endswith(f"; {length - rulings.MAX_LEGAL_IN_WORDS} more.")


def test_a_refusal_lists_legal_actions_of_the_tried_type_first() -> None:
    arena = Arena(GAMES["ape_town"])
    table = arena.join(arena.create("ape_town", 2), "anna", "ben")
    player = ("anna", "ben")[arena.match(table).decisions()[0].seat]
    arena.act(table, player)
    refusal = refused("illegal-action", arena.act, table, player, {"type": "place_tile", "field": "nowhere"})
    assert refusal.detail.count("Put the tile on field ") == rulings.MAX_LEGAL_IN_WORDS


def _with_legal(match: Match, actions: list[Any]) -> Match:
    game = replace(match.game, legal_actions=lambda _state, _seat: iter(actions))
    return msgspec.structs.replace(match, game=game)


def test_a_refusal_contains_no_hidden_information() -> None:
    arena = Arena()
    table = arena.opened("anna", "ben")
    arena.act(table, "ben")
    hidden = {card for hand in arena.match(table).state.hands[1:] for card in hand} | set(arena.match(table).state.deck)
    bad = {"type": "commit", "card": next(iter(sorted(hidden)))}
    facts = refused("illegal-action", arena.act, table, "anna", bad).facts
    head = arena.match(table).head.hash
    text = canonical(facts).decode()
    assert [card for card in hidden - {bad["card"]} if f'"{card}"' in text] == []
    assert set(facts) == {"reason", "clause", "facts", "legal", "legal_counts", "version", "head", "decisions"}
    assert facts["head"] == head
