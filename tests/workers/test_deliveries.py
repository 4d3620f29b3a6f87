"""Webhooks end to end: a real process, real servers, receivers with every fault, and kills at every step."""

import asyncio
import signal
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event
from typing import Any, Final

import msgspec
import pytest
from standardwebhooks import Webhook as Verifier

from service.match.redaction import legal_actions
from service.observability.failpoints import KILLED, VARIABLE
from service.repository.outgoing import Failed, Result
from service.repository.ports import news_of
from service.repository.webhooks import NOTIFIED, Delivery, Notified, Webhook
from service.subscriptions import webhook_delivery
from service.usecases import webhooks
from service.usecases.match_lifecycle import leave
from service.usecases.play import ActionRequest, act
from tests.service.adapters.receivers import HEAD, Answer, Receiver, receiving, resets, says, status
from tests.waiting import until
from tests.workers.calling import calling, end_leases
from tests.workers.world import World
from workers import deliveries as deliveries_of_workers
from workers.deliveries import deliver
from workers.lane import IN_FLIGHT_BY_OWNER, Claimed, Lane, Sender, Slots, WrongClock

TIMEOUT_S: Final = 60
ADA: Final = "pl_a"
POINTS: Final = ("delivery-answered", "delivery-taken", "news-recorded")


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving(status(204)) as receiver:
        yield receiver


def subscribe(world: World, receiver: Receiver, *events: Notified) -> tuple[Webhook, str]:
    return webhooks.add(world.service.ports, ADA, receiver.url, events or NOTIFIED)


def received(receiver: Receiver) -> list[tuple[Mapping[str, str], bytes]]:
    """The headers and the body of each request."""
    found: list[tuple[Mapping[str, str], bytes]] = []
    for request in [*receiver.requests]:
        head, _, body = request.partition(b"\r\n\r\n")
        lines = [line.partition(": ") for line in head.decode().split("\r\n")[1:]]
        found.append(({name.lower(): value for name, _, value in lines}, body))
    return found


def notices(receiver: Receiver) -> list[dict[str, Any]]:
    return [msgspec.json.decode(body) for _, body in received(receiver)]


def ids(receiver: Receiver) -> list[str]:
    return [headers["webhook-id"] for headers, _ in received(receiver)]


def deliveries(world: World) -> list[Delivery]:
    return list(world.service.ports.webhooks.deliveries(ADA))


def only(world: World) -> Delivery:
    (found,) = deliveries(world)
    return found


def test_the_notices_of_a_match_arrive_signed(world: World, receiver: Receiver) -> None:
    _, secret = subscribe(world, receiver)
    world.calls()
    match = world.people()
    ports = world.service.ports
    until(lambda: "started" in {one["type"] for one in notices(receiver)}, TIMEOUT_S, "the start arrives")
    mover = world.newest(match).decisions()[0].seat
    player = ("pl_a", "pl_b")[mover]
    action = legal_actions(world.newest(match), mover)[0]
    act(ports, player, match.id, ActionRequest(msgspec.to_builtins(action)), "one")
    leave(ports, "pl_b", match.id, "leave")
    leave(ports, "pl_a", match.id, "leave")
    world.worker()
    until(lambda: world.newest(match).is_over, TIMEOUT_S, "the match is scored")
    until(lambda: "finished" in {one["type"] for one in notices(receiver)}, TIMEOUT_S, "the end arrives")
    for headers, body in received(receiver):
        verified = Verifier(secret).verify(body.decode(), dict(headers))
        assert verified["notice"] == headers["webhook-id"]
        assert verified["match"] == match.id
    until(lambda: not any(one.is_pending for one in deliveries(world)), TIMEOUT_S, "all is settled")
    assert len(ids(receiver)) == len(set(ids(receiver)))
    assert {(one.status, one.attempts) for one in deliveries(world)} <= {("delivered", 1), ("outdated", 0)}


def test_a_test_notice_arrives_and_both_secrets_verify_it(world: World, receiver: Receiver) -> None:
    webhook, old = subscribe(world, receiver)
    _, new = webhooks.renew_secret(world.service.ports, ADA, webhook.id, "again")
    sent = webhooks.send_test(world.service.ports, ADA, webhook.id)
    with calling(world):
        until(lambda: receiver.requests, TIMEOUT_S, "the test arrives")
    ((headers, body),) = received(receiver)
    for secret in (old, new):
        found = Verifier(secret).verify(body.decode(), dict(headers))
        assert (found["type"], found["notice"], found["webhook"]) == ("test", sent.notice, webhook.id)


FAULTS: Final[Mapping[str, tuple[Callable[[Receiver], Answer], int | str]]] = {
    "resets": (lambda _: resets, "unreachable"),
    "hangs before its headers": (lambda one: one.hang, "timeout"),
    "hangs in its body": (lambda one: one.drip(HEAD + b"Content-Length: 9\r\n\r\n{", b""), "timeout"),
    "sends a byte a second": (lambda one: one.drip(HEAD + b"Content-Length: 999\r\n\r\n", b"x", 0.2), "timeout"),
    "sends 10 MB": (lambda _: says(HEAD + b"Content-Length: 10000000\r\n\r\n" + b"x" * 10_000_000), "too-large"),
    "is no HTTP": (lambda _: says(b"\x00\r\n\r\n"), "malformed"),
    "redirects": (lambda _: status(302, "Location: http://169.254.169.254/"), 302),
    "answers 404": (lambda _: status(404), 404),
    "answers 500": (lambda _: status(500), 500),
    "answers 503": (lambda _: status(503, "Retry-After: 1"), 503),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_notice_arrives_after_a_receiver_that(
    name: str, world: World, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliveries_of_workers, "TIMEOUT_S", 0.5)
    make, expected = FAULTS[name]
    receiver.answer = make(receiver)
    webhook, _ = subscribe(world, receiver)
    webhooks.send_test(world.service.ports, ADA, webhook.id)
    with calling(world):
        tried = until(lambda: (one := only(world)).attempts == 1 and one, TIMEOUT_S, "an attempt is stored")
        assert isinstance(tried, Delivery)
        assert tried.last is not None
        assert (tried.last.status or tried.last.failure, tried.status) == (expected, "pending")
        assert 5_000 <= (tried.next_at or 0) - (tried.last.at + tried.last.ms) < 8_500
        receiver.answer = status(200)
        webhooks.send_again(world.service.ports, ADA, webhook.id, tried.notice)
        until(lambda: only(world).status == "delivered", TIMEOUT_S, "the next attempt succeeds")
    assert len(set(ids(receiver))) == 1


def test_410_ends_the_webhook(world: World, receiver: Receiver) -> None:
    receiver.answer = status(410)
    webhook, _ = subscribe(world, receiver)
    webhooks.send_test(world.service.ports, ADA, webhook.id)
    with calling(world):
        until(lambda: only(world).status == "failed", TIMEOUT_S, "the delivery ends")
    (seen,) = webhooks.list_webhooks(world.service.ports, ADA)
    assert (seen.status, seen.reason, len(receiver.requests)) == ("ended", "410", 1)


def test_an_address_that_is_not_public_is_not_called_without_the_setting(world: World, receiver: Receiver) -> None:
    webhook, _ = subscribe(world, receiver)
    webhooks.send_test(world.service.ports, ADA, webhook.id)
    world.calls(MOONSTONE_LOOPBACK_CALLS="0")
    tried = until(lambda: (one := only(world)).attempts == 1 and one, TIMEOUT_S, "an attempt is stored")
    assert isinstance(tried, Delivery)
    assert tried.last is not None
    assert (tried.last.failure, receiver.connections) == ("address-forbidden", 0)


@pytest.mark.parametrize("point", POINTS)
def test_a_kill_at_any_step_loses_no_notice(point: str, world: World, receiver: Receiver) -> None:
    subscribe(world, receiver, "started")
    doomed = world.calls(**{VARIABLE: point})
    match = world.people()
    assert doomed.wait(TIMEOUT_S) == KILLED
    end_leases(world)
    world.calls()
    until(lambda: deliveries(world) and only(world).status == "delivered", 2 * TIMEOUT_S, "the notice is delivered")
    assert set(ids(receiver)) == {only(world).notice}
    assert {one["match"] for one in notices(receiver)} == {match.id}
    assert len(receiver.requests) == (2 if point == "delivery-answered" else 1)


def test_an_empty_queue_and_an_outage_of_the_log_lose_no_notice(world: World, receiver: Receiver) -> None:
    subscribe(world, receiver, "started")
    process = world.calls()
    world.service.queue_client.flushall()
    first = world.people()
    until(lambda: len(receiver.requests) == 1, TIMEOUT_S, "the first notice arrives")
    process.send_signal(signal.SIGSTOP)
    second = world.people()
    world.log.kill()
    process.send_signal(signal.SIGCONT)
    world.log.restart()
    until(lambda: len(receiver.requests) == 2, TIMEOUT_S, "the second notice arrives")
    assert [one["match"] for one in notices(receiver)] == [first.id, second.id]
    assert process.poll() is None


def test_a_receiver_that_hangs_does_not_delay_another(world: World, receiver: Receiver) -> None:
    with receiving() as other:
        receiver.answer = receiver.hang
        hanging, _ = subscribe(world, receiver)
        for _ in range(20):
            webhooks.send_test(world.service.ports, ADA, hanging.id)
        world.calls()
        until(lambda: len(receiver.requests) >= 8, TIMEOUT_S, "many requests hang")
        quick, _ = webhooks.add(world.service.ports, "pl_b", other.url, NOTIFIED)
        began = time.monotonic()
        webhooks.send_test(world.service.ports, "pl_b", quick.id)
        until(lambda: other.requests, TIMEOUT_S, "the other one gets its notice")
        assert time.monotonic() - began < 5


def test_deliveries_without_a_free_slot_wait_together(
    world: World, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a player's slots are in use, the deliveries that wait cost the same whether there are ten or hundreds."""
    monkeypatch.setattr(webhook_delivery, "BUSY_MS", 100)
    receiver.answer = receiver.hang
    webhook, _ = subscribe(world, receiver)
    for _ in range(40):
        webhooks.send_test(world.service.ports, ADA, webhook.id)
    stored, taken, held = world.service.ports.webhooks, list[str](), list[int]()

    class Watched:
        def __getattr__(self, name: str) -> object:
            return getattr(stored, name)

        def take(self, *args: Any) -> object:
            found = stored.take(*args)
            taken.extend(one.notice for one in found)
            return found

        def hold(self, *args: Any) -> None:
            held.append(len(args))
            stored.hold(*args)

    world.service = replace(world.service, ports=replace(world.service.ports, webhooks=Watched()))  # type: ignore[arg-type]
    with calling(world):
        until(lambda: len(receiver.requests) == IN_FLIGHT_BY_OWNER, TIMEOUT_S, "all slots are in use")
        until(lambda: len(held) >= 3, TIMEOUT_S, "the others wait")
        assert len(taken) == len(set(taken)) == IN_FLIGHT_BY_OWNER
        receiver.stopped.set()


def test_an_attempt_during_which_the_clock_was_set_is_made_again(world: World, receiver: Receiver) -> None:
    """Otherwise a notice could count as one that was attempted for a day, and its webhook as one that failed for five."""
    webhook, _ = subscribe(world, receiver)
    webhooks.send_test(world.service.ports, ADA, webhook.id)
    faults: list[str] = []

    class SetsClock:
        async def post(self, *_: Any, **__: Any) -> Result:
            faults.append("this machine's clock is six days ahead")
            return Failed("timeout", 1)

    with ThreadPoolExecutor(1) as executor:
        sender = Sender(SetsClock(), Slots())
        lane = Lane(world.service.ports, sender, sender, executor, lambda: faults[0] if faults else None)
        with pytest.raises(WrongClock):
            asyncio.run(deliver(lane, Claimed(news_of(ADA), "delivery", 0)))
    assert (only(world).status, only(world).attempts) == ("pending", 0)


def test_a_notice_that_is_sent_again_during_an_attempt_is_attempted_again(world: World, receiver: Receiver) -> None:
    asked = Event()

    def asks_meanwhile(connection: socket.socket) -> None:
        if not asked.is_set():
            webhooks.send_again(world.service.ports, ADA, webhook.id, only(world).notice)
            asked.set()
        status(204)(connection)

    receiver.answer = asks_meanwhile
    webhook, _ = subscribe(world, receiver)
    sent = webhooks.send_test(world.service.ports, ADA, webhook.id)
    with calling(world):
        until(lambda: len(receiver.requests) == 2, TIMEOUT_S, "it is attempted again")
        until(lambda: only(world).status == "delivered", TIMEOUT_S, "the second attempt counts")
    assert ids(receiver) == [sent.notice] * 2
    assert (only(world).attempts, only(world).since > sent.created_at) == (1, True)
