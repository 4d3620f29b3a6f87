"""Requests to addresses of users, with real sockets: every wrong answer ends in time, and no forbidden address is reached."""

import asyncio
import gc
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from functools import cache

import pytest
import trustme
from aiohttp.abc import AbstractResolver

from service.adapters.outgoing import Client
from service.repository.outgoing import MAX_REQUEST_BYTES, Answered, Failed, Full, Result
from tests.ports import free_port
from tests.service.adapters.names import HANGS, Names, certified
from tests.service.adapters.receivers import HEAD, OK, Answer, Receiver, receiving, resets, says, status
from tests.waiting import until

TIMEOUT_S = 0.6
MAX_BYTES = 4096


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def trusting(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


@cache
def not_needed() -> ssl.SSLContext:
    """For requests without TLS: a client without a context would load the certificates of the system, which takes longer."""
    return ssl.create_default_context()


def posted(
    *urls: str,
    body: bytes = b"{}",
    loopback: bool = True,
    names: AbstractResolver | None = None,
    tls: ssl.SSLContext | None = None,
    timeout_s: float = TIMEOUT_S,
    max_sends: int = 2,
) -> list[Result]:
    """The results of requests that one client sends one after the other."""
    tls = tls or (not_needed() if all(url.startswith("http://") for url in urls) else None)

    async def post() -> list[Result]:
        async with Client(loopback=loopback, resolver=names, tls=tls) as client:
            return [
                await client.post(
                    url, body, {"webhook-id": "n"}, timeout_s=timeout_s, max_bytes=MAX_BYTES, max_sends=max_sends
                )
                for url in urls
            ]

    return asyncio.run(post())


def outcome(result: Result) -> int | str:
    match result:
        case Answered():
            return result.status
        case Failed():
            return result.code
        case Full():
            return "full"


def test_an_answer_comes_with_its_status_its_body_and_its_time() -> None:
    with receiving(says(HEAD + b'Retry-After: 7\r\nContent-Length: 9\r\n\r\n{"a": 1}\n')) as receiver:
        (result,) = posted(receiver.url, body=b'{"b": 2}')
    assert isinstance(result, Answered)
    assert (result.status, result.body, result.retry_after_s) == (200, b'{"a": 1}\n', 7)
    assert 0 <= result.ms < TIMEOUT_S * 1000
    (request,) = receiver.requests
    head, _, body = request.partition(b"\r\n\r\n")
    assert body == b'{"b": 2}'
    names = {line.partition(b":")[0].lower() for line in head.split(b"\r\n")[1:]}
    assert head.startswith(b"POST /hook HTTP/1.1\r\n")
    assert names == {
        b"host",
        b"content-type",
        b"content-length",
        b"user-agent",
        b"accept-encoding",
        b"accept",
        b"webhook-id",
    }


@pytest.mark.parametrize("code", [200, 204, 301, 302, 307, 400, 404, 410, 429, 500, 502, 503])
def test_every_status_is_an_answer_and_no_redirect_is_followed(code: int) -> None:
    with receiving() as other, receiving(status(code, f"Location: {other.url}")) as receiver:
        (result,) = posted(receiver.url)
        assert (outcome(result), other.connections) == (code, 0)


def says_and_closes(answer: bytes) -> Answer:
    def one(connection: socket.socket) -> None:
        connection.sendall(answer)
        connection.close()

    return one


CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


def floods(start: bytes, part: bytes) -> Answer:
    def one(connection: socket.socket) -> None:
        connection.sendall(start)
        while True:
            connection.sendall(part)

    return one


WRONG: Mapping[str, tuple[Callable[[Receiver], Answer], int | str]] = {
    "hangs before its answer": (lambda one: one.hang, "timeout"),
    "hangs in its headers": (lambda one: one.drip(b"HTTP/1.1 200 OK\r\n", b""), "timeout"),
    "hangs in its body": (lambda one: one.drip(HEAD + b"Content-Length: 9\r\n\r\n{", b""), "timeout"),
    "sends a header a second": (lambda one: one.drip(b"HTTP/1.1 200 OK\r\n", b"X: a\r\n"), "timeout"),
    "sends a byte a second": (lambda one: one.drip(HEAD + b"Content-Length: 999\r\n\r\n", b"x"), "timeout"),
    "says 100 Continue for ever": (lambda one: one.drip(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), "timeout"),
    "resets the connection": (lambda _: resets, "unreachable"),
    "closes the connection": (lambda _: socket.socket.close, "unreachable"),
    "is cut off in its body": (lambda _: says_and_closes(HEAD + b"Content-Length: 99\r\n\r\n{}"), "unreachable"),
    "sends 10 MB": (lambda _: says(HEAD + b"Content-Length: 10000000\r\n\r\n" + b"x" * 10_000_000), "too-large"),
    "sends without end": (lambda one: one.drip(HEAD + b"\r\n", b"x" * 65_536, 0.0), "too-large"),
    "sends a byte too many": (lambda _: says_and_closes(HEAD + b"\r\n" + b"x" * (MAX_BYTES + 1)), "too-large"),
    "sends as many bytes as allowed": (lambda _: says_and_closes(HEAD + b"\r\n" + b"x" * MAX_BYTES), 200),
    "announces 1 GB": (lambda _: says(HEAD + b"Content-Length: 999999999\r\n\r\n{}"), "too-large"),
    "sends a long header": (lambda _: says(HEAD + b"X: " + b"x" * 100_000 + b"\r\n\r\n"), "malformed"),
    "sends 100,000 headers": (
        lambda _: says(HEAD + b"".join(b"A%d: b\r\n" % n for n in range(100_000)) + b"\r\n"),
        "malformed",
    ),
    "floods with 100 Continue": (lambda _: floods(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000), "too-large"),
    "floods with empty lines": (lambda _: floods(b"", b"\r\n" * 9000), "too-large"),
    "floods with spaces": (lambda _: floods(HEAD + b"X: ", b" " * 9000), "too-large"),
    "floods with a chunk extension": (lambda _: floods(CHUNKED + b"1;", b"x" * 9000), "too-large"),
    "floods with zeros of a chunk's size": (lambda _: floods(CHUNKED, b"0" * 9000), "too-large"),
    "is no HTTP": (lambda _: says(b"\x00\xff garbage\r\n\r\n"), "malformed"),
    "compresses its answer": (lambda _: says(HEAD + b"Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\nno"), 200),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_receiver_that(name: str) -> None:
    answer, expected = WRONG[name]
    with receiving() as receiver:
        receiver.answer = answer(receiver)
        began = time.monotonic()
        (result,) = posted(receiver.url)
        assert (outcome(result), time.monotonic() - began < TIMEOUT_S + 1) == (expected, True)


def test_refused_reset_and_unroutable_connections_are_reported_alike() -> None:
    results = posted(f"http://127.0.0.1:{free_port()}/")
    results += posted("https://hook.example/", loopback=False, names=Names(["2600::1"]))
    assert {outcome(result) for result in results} <= {"unreachable", "timeout"}
    assert outcome(results[0]) == "unreachable"


def test_a_request_that_is_too_large_is_not_sent() -> None:
    with receiving() as receiver:
        (result,) = posted(receiver.url, body=b"x" * (MAX_REQUEST_BYTES + 1))
        assert (outcome(result), receiver.connections) == ("too-large", 0)


def test_a_connection_is_kept_and_opened_anew_if_the_receiver_closed_it() -> None:
    with receiving() as receiver:
        assert list(map(outcome, posted(*[receiver.url] * 3))) == [200] * 3
        assert receiver.connections == 1
    with receiving(says_and_closes(OK)) as receiver:
        assert list(map(outcome, posted(*[receiver.url] * 3))) == [200] * 3


def test_what_a_receiver_sends_without_a_request_is_no_answer_to_the_next_one() -> None:
    """Several bots may have one host, and share its connections."""
    more, said = threading.Event(), threading.Event()

    def says_more(connection: socket.socket) -> None:
        connection.sendall(OK)
        if more.wait(TIMEOUT_S) and not said.is_set():
            connection.sendall(HEAD.replace(b"200", b"410") + b"Content-Length: 0\r\n\r\n")
            said.set()

    async def post(url: str) -> list[Result]:
        async with Client(loopback=True) as client:
            first = await client.post(url, b"{}", {}, timeout_s=TIMEOUT_S, max_bytes=MAX_BYTES)
            more.set()
            assert client._session.connector is not None
            (kept,) = [protocol for unused in client._session.connector._conns.values() for protocol, _ in unused]
            await asyncio.to_thread(until, lambda: kept.should_close, TIMEOUT_S, "what it sends is read")
            return [first, await client.post(url, b"{}", {}, timeout_s=TIMEOUT_S, max_bytes=MAX_BYTES)]

    with receiving(says_more) as receiver:
        assert list(map(outcome, asyncio.run(post(receiver.url)))) == [200, 200]
        assert receiver.connections == 2


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "100.64.0.1",
        "169.254.169.254",
        "0.0.0.0",
        "192.0.0.8",
        "192.88.99.1",
        "198.18.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1",
        "fe80::1%eth0",
        "fc00::1",
        "fd00:ec2::254",
        "fec0::1",
        "ff02::1",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::1",
        "2002:a9fe:a9fe::",
        "2001::1",
    ],
)
def test_a_name_with_one_address_that_is_not_public_is_not_called(address: str) -> None:
    (result,) = posted("https://hook.example/", loopback=False, names=Names(["93.184.215.14", address]))
    (unknown,) = posted("https://hook.example/", loopback=False, names=Names([]))
    assert outcome(result) == outcome(unknown) == "address-forbidden"


def test_a_dns_that_does_not_answer_takes_no_longer_than_the_limit() -> None:
    (result,) = posted("https://hook.example/", loopback=False, names=Names(HANGS))
    assert outcome(result) == "timeout"


def test_an_answer_of_the_dns_that_changes_after_the_check_is_not_used(
    authority: trustme.CA, trusting: ssl.SSLContext
) -> None:
    """The first answer is allowed here, and is where the connection goes. The second one is forbidden."""
    with receiving(tls=certified(authority, "hook.example")) as receiver:
        url = f"https://hook.example:{receiver.port}/"
        names = Names(["127.0.0.1"], ["169.254.169.254"])
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("service.repository.outgoing.PORTS", frozenset({receiver.port}))
            results = posted(url, url, names=names, tls=trusting)
    assert list(map(outcome, results)) == [200, 200]
    assert (names.asked, receiver.connections) == (["hook.example"], 1)


def test_a_connection_is_checked_again_when_it_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the check of names is missing, the check of the socket is left."""
    monkeypatch.setattr("service.adapters.outgoing.CheckedResolver", lambda resolver, **_: resolver)
    with receiving() as receiver:
        monkeypatch.setattr("service.repository.outgoing.PORTS", frozenset({receiver.port}))
        url = f"https://hook.example:{receiver.port}/"
        (result,) = posted(url, loopback=False, names=Names(["127.0.0.1"]))
        assert (outcome(result), receiver.connections) == ("address-forbidden", 0)


def test_a_certificate_must_be_valid_for_the_name(authority: trustme.CA, trusting: ssl.SSLContext) -> None:
    with receiving(tls=certified(authority, "localhost")) as good:
        assert [outcome(one) for one in posted(good.url, tls=trusting)] == [200]
        assert [outcome(one) for one in posted(good.url)] == ["tls"]
    with receiving(tls=certified(authority, "other.example")) as wrong:
        assert [outcome(one) for one in posted(wrong.url, tls=trusting)] == ["tls"]


def test_hanging_receivers_do_not_delay_each_other() -> None:
    with receiving() as receiver:
        receiver.answer = receiver.hang

        async def post() -> list[Result]:
            async with Client(loopback=True) as client:
                calls = [client.post(receiver.url, b"{}", {}, timeout_s=1, max_bytes=9) for _ in range(50)]
                return await asyncio.gather(*calls)

        began = time.monotonic()
        results = asyncio.run(post())
        assert {outcome(result) for result in results} == {"timeout"}
        assert time.monotonic() - began < 10


def test_the_limit_of_an_address_counts_requests_under_all_of_its_names(
    authority: trustme.CA, trusting: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.adapters.outgoing.IN_FLIGHT_BY_ADDRESS", 3)
    hosts = [f"a{number}.hook.example" for number in range(5)]
    with receiving(tls=certified(authority, "*.hook.example")) as receiver:
        monkeypatch.setattr("service.repository.outgoing.PORTS", frozenset({receiver.port}))
        receiver.answer = receiver.hang

        async def post() -> tuple[list[Result], Result]:
            async with Client(loopback=True, resolver=Names(["127.0.0.1"]), tls=trusting) as client:

                async def send(host: str) -> Result:
                    url = f"https://{host}:{receiver.port}/"
                    return await client.post(url, b"{}", {}, timeout_s=1, max_bytes=9)

                at_once = await asyncio.gather(*map(send, hosts))
                receiver.answer = says(OK)
                return at_once, await send("last.hook.example")

        at_once, later = asyncio.run(post())
    assert sorted(map(outcome, at_once)) == ["full", "full", "timeout", "timeout", "timeout"]
    assert (outcome(later), len(receiver.requests)) == (200, 4)
    gc.collect()  # a connection that is still open is reported now, and fails this test


@pytest.mark.parametrize("max_sends", [1, 2])
def test_a_request_is_sent_no_more_often_than_the_caller_allows(max_sends: int) -> None:
    with receiving(resets) as receiver:
        (result,) = posted(receiver.url, max_sends=max_sends)
        assert (outcome(result), len(receiver.requests)) == ("unreachable", max_sends)
        assert isinstance(result, Failed)
        assert result.sends == max_sends
