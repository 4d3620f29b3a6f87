"""Calls of hosted bots over real sockets: what is sent, what follows from each answer, and what from each fault."""

import base64
import socket
import ssl
import time
from itertools import pairwise
from typing import Any, Final

import msgspec
import pytest
import trustme
from standardwebhooks import Webhook

from service.automation.bot_turns import advance
from service.match.model import Match
from service.usecases import play
from service.usecases.play import ActionRequest
from tests.service.adapters.names import Names, certified
from tests.service.adapters.receivers import HEAD, Answer, Receiver, receiving, resets, says, status
from tests.waiting import until
from tests.workers.calling import calling
from tests.workers.hosting import SOON_S, answering, header, hosted, match_of, player, plays, records, task_of
from tests.workers.world import World
from workers.bot_calls import CALL_KIND
from workers.lane import CALLS_BY_OWNER

SLOW_S: Final = 60


def test_called_bots_play_a_match_to_its_end_and_each_call_is_signed(world: World) -> None:
    with player() as receiver, calling(world, hints=True):
        bots = [hosted(world, receiver.url) for _ in range(2)]
        match = match_of(world, *bots)

        def finished() -> bool:
            advance(world.service.ports, match.id)  # the scoring
            return world.newest(match).is_over

        until(finished, SLOW_S, "the match is over")
    verdict = world.verified(match)
    assert verdict.match.outcome is not None
    by = {event.by for event in world.events(match) if event.type == "action"}
    assert by == {"seat:0", "seat:1"}
    assert not [event for event in world.events(match) if event.type == "default_action"]
    ids = [header(request, "webhook-id") for request in receiver.requests]
    assert len(set(ids)) == len(ids)
    for request in receiver.requests[:4]:
        body, task = request.partition(b"\r\n\r\n")[2], task_of(request)
        bot = world.service.ports.bots.find(bots)[bots[task["seat"]]]
        names = {name: header(request, name) for name in ("webhook-id", "webhook-timestamp", "webhook-signature")}
        Webhook(bot.key.secret(world.service.ports.secret)).verify(body, names)
        assert names["webhook-id"] == task["task"]
    found = [one for bot in bots for one in records(world, bot)]
    assert {(one.outcome, one.way, one.status, one.attempts) for one in found} == {("accepted", "called", 200, 1)}


@pytest.mark.parametrize("fallback", ["default_action", "bot", "resign"])
def test_what_follows_a_failure_is_the_choice_of_the_creator(world: World, fallback: Any) -> None:
    with player(status(400)) as receiver, calling(world):
        bots = [hosted(world, receiver.url) for _ in range(2)]
        match = match_of(world, *bots, fallback=fallback, turn_seconds=600)
        before = match.head.version
        until(lambda: world.newest(match).head.version > before, SOON_S, "the bot failed")
    kind, by, data = next((e.type, e.by, msgspec.json.decode(e.data)) for e in world.events(match)[before:])
    assert by == "worker"
    if fallback == "default_action":
        assert (kind, data["reason"]) == ("default_action", "bot-failed")
    elif fallback == "bot":
        assert (kind, data["reason"], data["kind"]) == ("seat_handed_over", "bot-failed", "bot")
    else:
        assert kind == "resigned"
    record = records(world, bots[data["seat"]])[0]
    assert (record.outcome, record.fault, record.status, record.attempts) == ("failed", "status", 400, 1)


def drip_body(receiver: Receiver) -> Answer:
    return receiver.drip(HEAD + b"Content-Length: 1000\r\n\r\n", b"x", pause_s=0.2)


def endless(receiver: Receiver) -> Answer:
    return receiver.drip(HEAD + b"\r\n", b"x" * 65_536, pause_s=0.0)


def hang(receiver: Receiver) -> Answer:
    return receiver.hang


def hang_in_body(receiver: Receiver) -> Answer:
    def answer(connection: socket.socket) -> None:
        connection.sendall(HEAD + b"Content-Length: 9\r\n\r\n{")
        receiver.stopped.wait(60)

    return answer


FAULTS: Final[dict[str, tuple[Any, str, int, str | None]]] = {
    # the answer, the outcome, the attempts, the fault
    "reset": (lambda _: resets, "failed", 2, "unreachable"),
    "hangs before the headers": (hang, "late", 1, "timeout"),
    "hangs in the body": (hang_in_body, "late", 1, "timeout"),
    "one byte at a time": (drip_body, "late", 1, "timeout"),
    "10 MB": (lambda _: says(HEAD + b"Content-Length: 10000000\r\n\r\n"), "failed", 1, "too-large"),
    "without an end": (endless, "failed", 1, "too-large"),
    "a redirect": (lambda _: status(302, "Location: http://127.0.0.1:1/"), "failed", 1, "status"),
    "a client error": (lambda _: status(404), "failed", 1, "status"),
    "a server error": (lambda _: status(503), "failed", 2, "status"),
    "another success": (lambda _: status(201), "failed", 1, "status"),
    "no HTTP": (lambda _: says(b"\x00\xff garbage\r\n\r\n"), "failed", 2, "malformed"),
    "no JSON": (lambda _: says(answering(b"keep")), "failed", 1, "malformed"),
    "doubled keys": (lambda _: says(answering(b'{"action":{},"action":{}}')), "failed", 1, "malformed"),
    "a fraction": (lambda _: says(answering(b'{"action":{"type":1.5}}')), "failed", 1, "malformed"),
    "a deep nest": (lambda _: says(answering(b'{"action":' + b"[" * 9_000)), "failed", 1, "malformed"),
    "no action": (lambda _: says(answering({"move": {}})), "failed", 1, "malformed"),
    "more than an action": (lambda _: says(answering({"action": {"type": "pass"}, "seat": 1})), "failed", 1, "malformed"),
    "an action that is a list": (lambda _: says(answering({"action": []})), "failed", 1, "malformed"),
    "an unknown action": (lambda _: says(answering({"action": {"type": "cheat"}})), "failed", 1, "invalid-action"),
    "an illegal action": (
        lambda _: says(answering({"action": {"type": "select_monkey", "card": "green-1-1"}})), "failed", 1, "illegal-action",
    ),
}  # fmt: skip


def ended(world: World, match: Match) -> bool:
    """Whether a task of a bot of the match has ended."""
    return any(one.outcome for bot in match.players for one in records(world, bot))


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_ends_in_the_fallback_before_or_at_the_deadline(world: World, fault: str) -> None:
    make, outcome, attempts, code = FAULTS[fault]
    with receiving() as receiver:
        receiver.answer = make(receiver)
        bots = [hosted(world, receiver.url, limit_ms=1_000) for _ in range(2)]
        with calling(world):
            match = match_of(world, *bots)
            if outcome == "late":
                until(lambda: receiver.requests, SOON_S, "the bot is called")
                world.worker("people")
            until(lambda: ended(world, match), SOON_S, "a task has ended")
            until(lambda: world.newest(match).head.version > match.head.version, SOON_S, "the service acted")
    event = world.events(match)[match.head.version]
    data = msgspec.json.decode(event.data)
    assert (event.type, event.by) == ("default_action", "worker")
    assert data["reason"] == ("bot-late" if outcome == "late" else "bot-failed")
    holder = match.seats[data["seat"]]
    assert holder is not None
    first = records(world, holder.player)[0]
    assert (first.outcome, first.fault) in {(outcome, code), ("late", None)}  # a sweeper may note it first
    if first.fault is not None:
        assert first.attempts == attempts
    sent = [header(one, "webhook-id") for one in receiver.requests if task_of(one)["version"] == match.head.version]
    assert set(sent) == {first.task}
    assert len(sent) == attempts


def test_a_name_that_leads_to_a_forbidden_address_after_the_check_is_not_followed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first answer of the DNS is allowed and pinned; the connection breaks, and the name then leads inside."""
    authority, trusting = trustme.CA(), ssl.create_default_context()
    authority.configure_trust(trusting)
    with receiving(resets, certified(authority, "moon.example")) as receiver:
        monkeypatch.setattr("service.repository.outgoing.PORTS", frozenset({receiver.port}))
        names = Names(["127.0.0.1"], ["169.254.169.254"])
        bot = hosted(world, f"https://moon.example:{receiver.port}/")
        match = match_of(world, bot, "random")
        world.worker("people")
        with calling(world, names=names, tls=trusting):
            until(lambda: records(world, bot) and records(world, bot)[0].outcome, SOON_S, "the task has ended")
        first = records(world, bot)[0]
    assert (first.outcome, first.fault, first.attempts) == ("failed", "address-forbidden", 2)
    assert [header(one, "webhook-id") for one in receiver.requests if task_of(one)["task"] == first.task] == [
        first.task
    ]
    assert world.newest(match).head.version > match.head.version


def test_a_bot_that_failed_once_is_asked_again_within_the_same_call(world: World) -> None:
    with receiving() as receiver:
        answer = plays(receiver.requests)

        def blips(connection: socket.socket) -> None:
            (resets if len(receiver.requests) == 1 else answer)(connection)

        receiver.answer = blips
        bots = [hosted(world, receiver.url) for _ in range(2)]
        match = match_of(world, *bots)
        with calling(world):
            until(lambda: world.newest(match).head.version > match.head.version, SOON_S, "the bot acted")
    assert world.events(match)[match.head.version].type == "action"
    first, second = receiver.requests[:2]
    assert header(first, "webhook-id") == header(second, "webhook-id")
    assert first.partition(b"\r\n\r\n")[2] == second.partition(b"\r\n\r\n")[2]


def test_a_bot_that_answers_without_an_action_acts_over_the_api(world: World) -> None:
    with receiving() as receiver:
        receiver.answer = plays(receiver.requests, lambda _: None)
        bots = [hosted(world, receiver.url) for _ in range(2)]
        match = match_of(world, *bots, turn_seconds=600)
        with calling(world):
            until(lambda: receiver.requests, SOON_S, "the bot is called")
            task = task_of(receiver.requests[0])
            bot = bots[task["seat"]]
            until(lambda: [one.outcome for one in records(world, bot)] == ["declined"], SOON_S, "it answered")
            until(lambda: world.service.ports.log.next_due(["call"]) is None, SOON_S, "it is not called again")
            assert len(receiver.requests) == 1
            request = ActionRequest(task["legal_actions"][0], decision=task["decision"]["id"])
            play.act(world.service.ports, bot, match.id, request, task["task"])
            until(lambda: len(receiver.requests) > 1, SOON_S, "the next decision")
    assert task_of(receiver.requests[1])["task"] != task["task"]


def test_a_bot_without_a_url_is_not_called(world: World) -> None:
    with player() as receiver, calling(world):
        bots = [hosted(world, None) for _ in range(2)]
        match = match_of(world, *bots, turn_seconds=600)
        until(lambda: world.service.ports.log.next_due(["call"]) is None, SOON_S, "the entry is handled")
    assert receiver.requests == []
    assert world.newest(match).head == match.head


def test_an_address_that_is_forbidden_is_not_called_and_the_bot_fails(world: World) -> None:
    bots = [hosted(world, "https://169.254.169.254/") for _ in range(2)]
    match = match_of(world, *bots)
    with calling(world):
        until(lambda: world.newest(match).head.version > match.head.version, SOON_S, "the bot failed")
    found = [one for bot in bots for one in records(world, bot)]
    assert {one.fault for one in found} == {"address-forbidden"}


def test_in_a_timed_game_a_bot_is_called_at_its_pace_one_call_at_a_time(world: World) -> None:
    lasting: list[float] = []
    with receiving() as receiver:

        def thinks(connection: socket.socket) -> None:
            began = time.monotonic()
            time.sleep(0.4)
            lasting.append(began)
            connection.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")

        receiver.answer = thinks
        bot = hosted(world, receiver.url)
        match = match_of(world, bot, "random", game="four_monkeys", bot_pace_ms=300)
        world.worker("people")
        with calling(world, hints=True):
            until(lambda: len(lasting) >= 5, SLOW_S, "the bot was called five times")
    assert all(later - earlier >= 0.4 for earlier, later in pairwise(lasting))
    assert not [event for event in world.events(match) if event.type in {"default_action", "seat_handed_over"}]
    assert len({header(request, "webhook-id") for request in receiver.requests}) == len(receiver.requests)


def test_a_bot_that_hangs_in_a_timed_game_does_not_keep_another_one_from_being_called(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.automation.bot_calls.LONGEST_CALL_MS", 1000 * SLOW_S)  # a busy machine plays slowly
    with receiving() as hanging, receiving(says(b"HTTP/1.1 204 No Content\r\n\r\n")) as quick:
        hanging.answer = hanging.hang
        match = match_of(
            world, hosted(world, hanging.url), hosted(world, quick.url), "random", game="four_monkeys", bot_pace_ms=200
        )
        world.worker("people")
        with calling(world, {"call": CALL_KIND._replace(timeout_ms=1000 * SLOW_S)}, hints=True):
            until(lambda: hanging.requests, SLOW_S, "one bot hangs")
            before = len(quick.requests)
            until(lambda: len(quick.requests) >= before + 4, SLOW_S, "the other one is called again and again")
            assert (len(hanging.requests), world.newest(match).is_over) == (1, False)


def test_sixteen_calls_of_the_bots_of_one_owner_are_in_flight(world: World) -> None:
    with receiving() as hanging:
        hanging.answer = hanging.hang
        bots = [hosted(world, hanging.url) for _ in range(2)]
        for _ in range(CALLS_BY_OWNER + 1):
            match_of(world, *bots)
        with calling(world):
            until(lambda: len(hanging.requests) >= CALLS_BY_OWNER, SOON_S, "all slots are in use")
            assert not any(one.outcome for bot in bots for one in records(world, bot))
            assert len(hanging.requests) == CALLS_BY_OWNER == 16
            hanging.close()


def test_the_secret_of_a_bot_is_one_that_the_libraries_take(world: World) -> None:
    bot = world.service.ports.bots.find((hosted(world, None),))
    (known,) = bot.values()
    assert len(base64.b64decode(known.key.secret(world.service.ports.secret).removeprefix("whsec_"))) == 32
