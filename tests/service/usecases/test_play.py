"""An action is applied once, in time, and only if the rules allow it."""

import msgspec
import pytest

from events.log import LogUnavailable
from events.record import digest
from service.automation.deadlines import extend
from service.usecases import play
from service.usecases.play import ActionRequest, judge, receipt
from service.usecases.submit import ATTEMPTS, Submitted
from tests.service.arena import COUNTDOWN, Arena, refused, unavailable


def test_an_accepted_action_is_one_event() -> None:
    arena = Arena()
    table = arena.opened("anna", "ben")
    before = arena.version(table)
    submitted = arena.act(table, "anna")
    assert submitted.match.head.version == before + 1 == arena.version(table)
    event = arena.events(table)[-1]
    assert (event.type, event.by, event.at, event.version) == ("action", "seat:0", arena.time, before + 1)
    assert event.prev == digest(arena.log.stored(table)[-2])


def test_the_same_request_with_the_same_key_is_one_event_and_gives_the_same_receipt() -> None:
    arena = Arena()
    table = arena.opened("anna", "ben")
    action = arena.legal(table, "anna")[0]
    first = arena.act(table, "anna", action, key="once")
    expected = receipt(arena.ports, first, "anna")
    arena.wait(500)
    again = arena.act(table, "anna", action, key="once")
    assert (first.replayed, again.replayed) == (False, True)
    assert receipt(arena.ports, again, "anna") == expected
    assert arena.types(table).count("action") == 1


def test_a_retry_long_after_later_moves_gives_the_original_receipt() -> None:
    arena = Arena()
    table = arena.opened("anna", "ben")
    action = arena.legal(table, "anna")[0]
    first = arena.act(table, "anna", action, key="once")
    expected = receipt(arena.ports, first, "anna")
    arena.play_out(table)
    again = arena.act(table, "anna", action, key="once")
    assert again.replayed
    assert receipt(arena.ports, again, "anna") == expected
    assert expected.version == first.match.head.version < arena.version(table)


def test_a_receipt_has_the_event_the_time_of_receipt_and_the_open_decisions() -> None:
    arena = Arena()
    table = arena.opened("anna", "ben")
    action = arena.legal(table, "anna")[0]
    expected = receipt(arena.ports, arena.act(table, "anna", action), "anna")
    assert (expected.match, expected.version, expected.received_at) == (table, 5, arena.time)
    assert expected.head == expected.event.hash == arena.match(table).head.hash
    assert msgspec.json.decode(expected.event.data)["action"] == action
    assert [one.seat for one in expected.decisions] == [1, "clock"]


def test_a_fresh_receipt_costs_two_round_trips() -> None:
    arena = Arena()
    table = arena.opened("anna", "ben")
    action = arena.legal(table, "anna")[0]
    arena.log.calls.clear()
    receipt(arena.ports, arena.act(table, "anna", action), "anna")
    assert arena.log.calls == ["read", "append"]


def test_a_key_of_another_request_is_refused() -> None:
    arena = Arena()
    table = arena.opened("anna", "ben")
    first, second, *_ = arena.legal(table, "anna")
    arena.act(table, "anna", first, key="once")
    refused("idempotency-key-reused", arena.act, table, "anna", second, key="once")
    refused("idempotency-key-reused", arena.act, table, "anna", first, key="once", seat=0)


def test_two_players_may_use_the_same_key() -> None:
    arena = Arena()
    table = arena.opened("anna", "ben")
    arena.act(table, "anna", key="once")
    arena.act(table, "ben", key="once")
    assert arena.types(table).count("action") == 2


def test_a_known_key_is_answered_before_the_precondition_is_checked() -> None:
    arena = Arena()
    table = arena.opened("anna", "ben")
    head = arena.match(table).head
    seen = ((head.version, head.hash[:16]),)
    action = arena.legal(table, "anna")[0]
    arena.act(table, "anna", action, key="once", if_match=seen)
    assert arena.act(table, "anna", action, key="once", if_match=seen).replayed


def test_if_match_takes_only_the_newest_head() -> None:
    arena = Arena()
    table = arena.opened("anna", "ben")
    old, new = arena.ports.history.at(table, 2).head, arena.match(table).head
    cases = [
        (old.version, old.hash, "stale-version"),
        (old.version, new.hash, "history-diverged"),
        (new.version, old.hash, "history-diverged"),
        (new.version + 1, new.hash, "history-diverged"),
        (0, old.hash, "history-diverged"),
    ]
    for version, hash_, code in cases:
        seen = ((version, hash_[:16]),)
        refusal = refused(code, arena.act, table, "anna", if_match=seen)
        assert refusal.facts == {"version": new.version, "head": new.hash}
    seen = ((new.version, new.hash[:16]),)
    assert not arena.act(table, "anna", if_match=seen).replayed


def test_the_precondition_of_an_action_that_lost_a_race_is_checked_again() -> None:
    arena = Arena()
    table = arena.opened("anna", "ben")
    head = arena.match(table).head
    seen = ((head.version, head.hash[:16]),)
    arena.log.meanwhile = [lambda: arena.act(table, "ben")]
    refused("stale-version", arena.act, table, "anna", if_match=seen)


# --- races ------------------------------------------------------------------------------------------------------------


def test_an_action_that_lost_a_race_is_decided_again_on_the_newest_state() -> None:
    arena = Arena()
    table = arena.opened("anna", "ben")
    arena.log.meanwhile = [lambda: arena.act(table, "ben")]
    submitted = arena.act(table, "anna")
    assert [event.by for event in arena.events(table)][-2:] == ["seat:1", "seat:0"]
    assert not submitted.replayed
    assert [effect["type"] for effect in arena.data(table)["effects"]][:2] == ["card_committed", "trick_revealed"]


def test_an_action_that_is_illegal_after_a_lost_race_is_refused() -> None:
    arena = Arena()
    table = arena.opened("anna", "ben")
    action = arena.legal(table, "anna")[0]
    arena.log.meanwhile = [lambda: arena.act(table, "anna", action)]
    refused("illegal-action", arena.act, table, "anna", action)
    assert arena.types(table).count("action") == 1


def test_the_same_request_twice_at_once_is_one_event() -> None:
    arena = Arena()
    table = arena.opened("anna", "ben")
    action = arena.legal(table, "anna")[0]
    others: list[Submitted] = []
    arena.log.meanwhile = [lambda: others.append(arena.act(table, "anna", action, key="once"))]
    second = arena.act(table, "anna", action, key="once")
    assert (second.replayed, others[0].replayed) == (True, False)
    assert receipt(arena.ports, second, "anna") == receipt(arena.ports, others[0], "anna")
    assert arena.types(table).count("action") == 1


def test_another_request_with_the_same_key_at_once_is_refused() -> None:
    arena = Arena()
    table = arena.opened("anna", "ben")
    first, second, *_ = arena.legal(table, "anna")
    arena.log.meanwhile = [lambda: arena.act(table, "anna", first, key="once")]
    refused("idempotency-key-reused", arena.act, table, "anna", second, key="once")


def test_endless_lost_races_are_reported_as_version_conflict() -> None:
    arena = Arena()
    table = arena.opened("anna", "ben", tricks=100)

    def overtake() -> None:
        """Extend the clock by a millisecond, with a new command each time."""
        meanwhile, arena.log.meanwhile = arena.log.meanwhile, []
        arena.wait(1)
        extend(arena.ports, table, arena.new_key(), 1)
        arena.log.meanwhile = meanwhile

    arena.log.meanwhile = [overtake] * (ATTEMPTS + 1)
    refused("version-conflict", arena.act, table, "anna")
    assert len(arena.log.meanwhile) == 1
    assert "action" not in arena.types(table)


def test_an_append_whose_answer_got_lost_counts_once() -> None:
    arena = Arena()
    table = arena.opened("anna", "ben")
    action = arena.legal(table, "anna")[0]
    arena.log.afterwards = [unavailable]
    with pytest.raises(LogUnavailable):
        arena.act(table, "anna", action, key="once")
    assert arena.act(table, "anna", action, key="once").replayed
    assert arena.types(table).count("action") == 1
    arena.act(table, "ben")


# --- dry runs and draws -----------------------------------------------------------------------------------------------


def test_a_dry_run_of_a_legal_action_reads_no_seed_and_writes_nothing() -> None:
    arena = Arena()
    table = arena.opened("anna", "ben", tricks=1)
    arena.act(table, "ben")
    before = arena.log.contents()
    arena.log.calls.clear()
    judge(arena.ports, "anna", table, ActionRequest(arena.legal(table, "anna")[0]))
    assert "seed" not in arena.log.calls
    assert "append" not in arena.log.calls
    assert arena.log.contents() == before


def test_a_dry_run_checks_its_precondition_and_the_access() -> None:
    arena = Arena()
    table = arena.join(arena.create(private=True), "anna", "ben")
    arena.wait(COUNTDOWN)
    old, new = arena.ports.history.at(table, 2).head, arena.match(table).head
    request = ActionRequest(arena.legal(table, "anna")[0])
    seen = [((head.version, head.hash[:16]),) for head in (old, new)]
    refused("stale-version", judge, arena.ports, "anna", table, request, seen[0])
    judge(arena.ports, "anna", table, request, seen[1])
    refused("match-not-found", judge, arena.ports, "carl", table, request)


def test_a_dry_run_of_an_action_that_draws_reads_no_seed() -> None:
    arena = Arena()
    table = arena.opened("anna", "ben", "carl", "dora", hand=5)
    players = ("anna", "ben", "carl", "dora")
    while arena.match(table).state.step != "swap" or len(arena.match(table).state.deck) >= 5:
        mover = players[arena.match(table).decisions()[0].seat]
        hand = arena.match(table).state.hands[players.index(mover)]
        swapping = arena.match(table).state.step == "swap"
        arena.wait(COUNTDOWN)
        arena.act(table, mover, {"type": "swap", "cards": hand} if swapping else None)
    match = arena.match(table)
    player = players[match.decisions()[0].seat]
    request = ActionRequest({"type": "swap", "cards": match.state.hands[players.index(player)]})
    arena.log.calls.clear()
    judge(arena.ports, player, table, request)
    assert arena.log.calls == ["read"]
    play.act(arena.ports, player, table, request, "key")
    assert arena.log.calls.count("seed") == 1
    assert [draw["label"] for draw in arena.data(table)["draws"]] == ["deck"]


def test_the_seed_is_read_only_for_events_with_draws() -> None:
    arena = Arena()
    table = arena.opened("anna", "ben")
    arena.log.calls.clear()
    arena.act(table, "anna")
    assert "seed" not in arena.log.calls
    arena.ring(table)
    assert arena.log.calls.count("seed") == 1
    assert [draw["label"] for draw in arena.data(table)["draws"]] == ["forfeit:1"]


def test_draws_continue_from_the_counts_in_the_log() -> None:
    arena = Arena()
    table = arena.opened("anna", "ben", tricks=3)
    dealt = arena.match(table).drawn
    assert dealt["deck"] == 1
    arena.ring(table)
    assert arena.match(table).drawn == {**dealt, "forfeit:0": 1, "forfeit:1": 1}
    assert arena.ports.history.at(table, 4).drawn == dealt


def test_a_seat_without_a_decision_gets_not_your_turn() -> None:
    arena = Arena()
    table = arena.create("monkeys_on_the_moon")
    arena.join(table, "anna", "ben")
    (mover,) = {decision.seat for decision in arena.match(table).decisions()}
    action = arena.legal(table, ("anna", "ben")[mover])[0]
    refused("not-your-turn", arena.act, table, ("ben", "anna")[mover], action)
