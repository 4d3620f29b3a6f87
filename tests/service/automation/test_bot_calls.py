"""Calls of hosted bots without a network: what is sent, and what follows from an answer if something else happened meanwhile."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec
import pytest
from msgspec.structs import replace

from service.automation import bot_calls
from service.automation.bot_calls import LEASE_MS, Call, KnownBots, Settled
from service.automation.bot_turns import suspend
from service.automation.deadlines import enforce, resume
from service.match.model import GRACE_MS
from service.repository.outgoing import Answered, Failed
from service.repository.signing import signed
from service.subscriptions.task_poll import open_tasks
from service.usecases import match_codes, mid_match
from tests.service.arena import Arena, refused

URL: Final = "https://moon.example/"
MONKEYS: Final = "monkeys_on_the_moon"
BROKEN: Final = Failed("unreachable", 1)


@pytest.fixture
def arena() -> Arena:
    return Arena()


def hosts(arena: Arena, **settings: Any) -> tuple[str, str]:
    one, two = (arena.host(bot, url=URL, **settings) for bot in ("bt_one", "bt_two"))
    return one, two


def planned(arena: Arena, table: str, known: KnownBots | None = None) -> tuple[Call, ...]:
    return bot_calls.plan(arena.ports, table, known or KnownBots(), lambda _: True).calls


def called(arena: Arena, table: str, known: KnownBots | None = None) -> Call:
    (call,) = planned(arena, table, known)
    return call


def settled(arena: Arena, call: Call, result: Answered | Failed, known: KnownBots | None = None) -> Settled:
    return bot_calls.settle(arena.ports, call, result, 1, known or KnownBots())


def action_of(call: Call, number: int = 0) -> Answered:
    action = msgspec.json.decode(call.body)["legal_actions"][number]
    return Answered(200, msgspec.json.encode({"action": action}), 1)


def move(arena: Arena, call: Call) -> None:
    arena.ports.bots.change(call.bot.id, lambda bot: replace(bot, url="https://new.example/"))


def renew(arena: Arena, call: Call) -> None:
    arena.ports.bots.change(call.bot.id, lambda bot: replace(bot, key=bot.key.renewed(arena.time, "once more")))


def pull(arena: Arena, call: Call) -> None:
    arena.ports.bots.change(call.bot.id, lambda bot: replace(bot, url=None))


def describe(arena: Arena, call: Call) -> None:
    arena.ports.bots.change(call.bot.id, lambda bot: replace(bot, about="slow", limit_ms=9_000))


def delete(arena: Arena, call: Call) -> None:
    arena.ports.bots.remove(call.bot.id, call.bot.owner)
    arena.ports.bot_tasks.forget(call.bot.id)


def act(arena: Arena, call: Call) -> None:
    arena.act(call.match.id, call.bot.id, key=call.record.task, decision=call.decision)


def act_otherwise(arena: Arena, call: Call) -> None:
    action = arena.legal(call.match.id, call.bot.id)[1]
    arena.act(call.match.id, call.bot.id, action, key=call.record.task, decision=call.decision)


def leave(arena: Arena, call: Call) -> None:
    arena.leave(call.match.id, call.bot.id)


def be_late(arena: Arena, call: Call) -> None:
    (decision,) = call.match.decisions()
    assert decision.deadline is not None
    arena.time = decision.deadline + GRACE_MS + 1


def expire(arena: Arena, call: Call) -> None:
    arena.ring(call.match.id)


def jump_back(arena: Arena, _: Call) -> None:
    arena.wait(-60_000)


MEANWHILE: Final[Mapping[str, tuple[Callable[[Arena, Call], object], Settled, Settled, str | None]]] = {
    # what happens during the call, what an action leads to, what a failure leads to, and the event that follows the failure
    "nothing": (lambda *_: None, "acted", "other", "default_action"),
    "the bot has another address": (move, "acted", "again", None),
    "its secret is renewed": (renew, "acted", "again", None),
    "it is not called any more": (pull, "acted", "again", None),
    "other settings change": (describe, "acted", "other", "default_action"),
    "the bot is deleted": (delete, "acted", "other", "default_action"),
    "it acts over the API": (act, "acted", "other", "action"),
    "it takes another action over the API": (act_otherwise, "acted", "other", "action"),
    "it leaves the match": (leave, "other", "other", "resigned"),
    "its time ends": (be_late, "other", "other", None),
    "its time ends, and the service acts": (expire, "other", "other", "default_action"),
    "the clock is set back": (jump_back, "acted", "other", "default_action"),
}


@pytest.mark.parametrize("meanwhile", MEANWHILE)
@pytest.mark.parametrize("answers", [True, False])
def test_an_answer_is_taken_once_and_only_a_failure_of_the_bot_counts(
    arena: Arena, meanwhile: str, *, answers: bool
) -> None:
    happens, after_action, after_failure, event = MEANWHILE[meanwhile]
    table = arena.create(MONKEYS, 2, bots=hosts(arena), clock={"turn_seconds": 30})
    call, before = called(arena, table), arena.version(table)
    happens(arena, call)
    has_moved_on = arena.version(table) > before
    assert settled(arena, call, action_of(call) if answers else BROKEN) == (after_action if answers else after_failure)
    if answers and after_action == "acted" and not has_moved_on:
        event = "action"
    assert arena.types(table)[before:][:1] == ([] if event is None else [event])
    version = arena.version(table)
    settled(arena, call, action_of(call, 1))  # by a process that was slower
    assert arena.version(table) == version + (after_failure == "again" and not answers)
    kept = arena.ports.bot_tasks.newest(call.bot.id, 0, 9)
    assert [one for one in kept if (one.ms or 0) < 0] == []
    assert bool(kept) == (happens is not delete)


def test_a_bot_that_was_moved_during_a_failed_call_is_called_again_at_its_new_address(arena: Arena) -> None:
    known = KnownBots()
    table = arena.create(MONKEYS, 2, bots=hosts(arena), clock={"turn_seconds": 30})
    first = called(arena, table, known)
    move(arena, first)
    renew(arena, first)
    assert settled(arena, first, BROKEN, known) == "again"
    second = called(arena, table, known)
    assert (second.url, second.record.task) == ("https://new.example/", first.record.task)
    bot, sent = second.bot, bot_calls.headers(arena.ports, second)
    secrets = [bot.key._secret(arena.ports.secret, number) for number in (2, 1)]
    assert sent == signed(secrets, second.record.task, arena.time // 1000, second.body)
    assert settled(arena, second, BROKEN, known) == "other"  # a failure at the new address is one
    assert arena.types(table)[-1] == "default_action"


def test_of_two_processes_one_calls_and_another_goes_on_when_its_lease_is_over(arena: Arena) -> None:
    table = arena.create(MONKEYS, 2, bots=hosts(arena), clock={"turn_seconds": 30})
    one, other = called(arena, table), bot_calls.plan(arena.ports, table, KnownBots(), lambda _: True)
    assert (other.calls, other.again_at) == ((), arena.time + LEASE_MS)
    arena.wait(LEASE_MS)
    again = called(arena, table)
    assert (again.record.task, again.body) == (one.record.task, one.body)
    assert [settled(arena, call, action_of(call, number)) for number, call in enumerate((again, one))] == ["acted"] * 2
    assert arena.types(table).count("action") == 1
    assert one.record.task not in {call.record.task for call in planned(arena, table)}


@pytest.mark.parametrize("way", ["called", "pulled"])
def test_a_bot_whose_seat_was_handed_over_gets_no_task_of_it_any_more(arena: Arena, way: str) -> None:
    bot = arena.host("bt_one", url=URL if way == "called" else None)
    table = arena.join(arena.create(MONKEYS, 2, bots=(bot,), bot_fallback="bot", turn_seconds=30), "anna")

    def tasks() -> Sequence[str]:
        if way == "called":
            return [call.record.task for call in planned(arena, table)]
        return [one.task for one in open_tasks(arena.ports, bot, "en")]

    while arena.match(table).decisions()[0].seat == 1:
        assert tasks() == []
        arena.act(table, "anna")
    (task,) = tasks()
    arena.ring(table)
    assert arena.types(table)[-1] == "seat_handed_over"
    refused("not-seated", mid_match.take_back, arena.ports, bot, table, arena.new_key())
    refused("not-seated", arena.act, table, bot, {"type": "keep"}, key=task)
    for _ in range(4):
        assert (tasks(), arena.match(table).call_at()) == ([], None)
        arena.work(table)
        arena.act(table, "anna")


@pytest.mark.parametrize("reason", ["outage", "suspension"])
def test_a_bot_is_called_again_for_a_decision_that_got_more_time(arena: Arena, reason: str) -> None:
    table = arena.create(MONKEYS, 2, bots=hosts(arena), clock={"turn_seconds": 10})
    call = called(arena, table)
    if reason == "outage":
        arena.be_away(60_000)
        assert settled(arena, call, Failed("timeout", 1)) == "other"
        assert planned(arena, table) == ()
        enforce(arena.ports, table)
        assert arena.types(table)[-1] == "clock_extended"
    else:
        suspend(arena.ports, arena.match(table), "fault")
        assert settled(arena, call, action_of(call)) == "other"
        assert planned(arena, table) == ()
        resume(arena.ports, table)
    again = called(arena, table)
    assert (again.record.task, again.decision) == (call.record.task, call.decision)
    assert settled(arena, again, action_of(again)) == "acted"


def test_the_call_of_a_private_match_says_no_more_than_that_of_a_public_one(arena: Arena) -> None:
    bots = hosts(arena)
    bodies = []
    for private in (False, True):
        table = arena.create(MONKEYS, 2, bots=bots, private=private)
        call = called(arena, table)
        code = match_codes.join_code_of(arena.ports.secret, table)
        sent = call.body + msgspec.json.encode(bot_calls.headers(arena.ports, call))
        bodies.append(msgspec.json.decode(call.body))
        assert code.encode() not in sent
        assert arena.match(table).created.seed_commitment.encode() not in sent
    assert bodies[0].keys() == bodies[1].keys()
    assert {"join_code", "private", "creator", "players"}.isdisjoint(bodies[1])
