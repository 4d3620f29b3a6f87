"""Requests to addresses that users choose: `Outgoing` on aiohttp.

Every address that a host resolves to is checked, and the connection is opened to one of the checked addresses; the name is not
resolved again, so an answer of the DNS that changes in between has no effect. A kept connection was checked when it was opened.
Nothing of the environment is used: no proxy, no netrc, no cookies.
"""

import asyncio
import re
import socket
import ssl
import time
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache, partial
from ipaddress import IPv4Address, ip_address
from typing import Any, Final, Self

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from msgspec.structs import replace
from yarl import URL

from service.repository.outgoing import (
    MAX_REQUEST_BYTES,
    Answered,
    Failed,
    Failure,
    Full,
    Result,
    is_allowed,
    url_fault,
)

CONNECTIONS: Final = 1_024
CONNECTIONS_BY_HOST: Final = 64
"""Maximum number of open connections, in total and to one host. Callers limit their requests below it."""
IN_FLIGHT_BY_ADDRESS: Final = 64
"""Maximum number of requests in flight to one address, whatever names lead to it; for IPv6, to one network of 64 bits."""
KEEP_S: Final = 20.0
"""How long an unused connection is kept."""
DNS_TIMEOUT_S: Final = 2.0
"""Time limit of one question to a DNS server; it is asked twice."""
_HEADERS: Final = {"Content-Type": "application/json", "User-Agent": "Moonstone", "Accept-Encoding": "identity"}
_MAX_RETRY_AFTER_S: Final = 86_400
MAX_READ_BYTES: Final = 32 * 1024
"""Maximum size of all that is read for one request: interim answers, heads and the framing of chunks count too."""


class _Forbidden(OSError):
    """An address must not be called."""


class _TooLarge(aiohttp.ClientPayloadError):
    """A server has sent more than `MAX_READ_BYTES` for one request."""


class _AddressFull(aiohttp.ClientError):
    """As many requests as are allowed are in flight to the address of a connection."""


class _Reader(ResponseHandler):
    """Reads one connection. aiohttp limits neither the number of interim answers (1xx) nor empty lines and chunk extensions."""

    _room = MAX_READ_BYTES

    def set_response_params(self, **params: Any) -> None:
        self._room = MAX_READ_BYTES
        super().set_response_params(**params)

    def close(self) -> None:
        """Close the connection at once. A receiver that hangs would keep one with TLS open for 30 s."""
        self.abort()

    def data_received(self, data: bytes) -> None:
        room, self._room = self._room, self._room - len(data)
        if room > 0:
            super().data_received(data[:room])
        if self._room < 0 <= room and self.transport is not None:
            if self._payload is not None and not self._payload.is_eof():
                self._payload.set_exception(_TooLarge())
            if self.exception() is None:
                self.set_exception(_TooLarge())
            self.transport.abort()


class _Connector(aiohttp.TCPConnector):
    """Opens connections that `_Reader` reads; aiohttp has no public setting for it.

    `in_flight` counts the connections in use by address; several connectors may share it.
    """

    def __init__(self, in_flight: Counter[str], **options: Any) -> None:
        super().__init__(**options)
        reader: type[ResponseHandler] = _Reader
        self._factory = partial(reader, loop=self._loop)
        self._in_flight = in_flight

    async def connect(self, *args: Any, **options: Any) -> Connection:
        connection = await super().connect(*args, **options)
        if connection.protocol is not None and connection.protocol.should_close:
            # A receiver that sent more than its answer gets no further request: the rest would count as the answer to it.
            connection.close()
            raise aiohttp.ServerDisconnectedError
        peer = None if connection.transport is None else connection.transport.get_extra_info("peername")
        if peer is not None:
            network = _network(peer[0])
            if self._in_flight[network] >= IN_FLIGHT_BY_ADDRESS:
                connection.release()
                raise _AddressFull
            self._in_flight[network] += 1
            connection.add_callback(partial(self._leave, network))
        return connection

    def _leave(self, network: str) -> None:
        self._in_flight[network] -= 1
        if not self._in_flight[network]:
            del self._in_flight[network]


@lru_cache(CONNECTIONS)
def _network(peer: str) -> str:
    """What counts as the address of a peer: a host usually has all of an IPv6 network of 64 bits."""
    address = ip_address(peer.partition("%")[0])
    return str(address) if isinstance(address, IPv4Address) else address.exploded[:19]


class CheckedResolver(AbstractResolver):
    """Resolves a host by another resolver. If any of its addresses is forbidden, it has none."""

    def __init__(self, resolver: AbstractResolver, *, loopback: bool) -> None:
        self._resolver = resolver
        self._loopback = loopback

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        found = await self._resolver.resolve(host, port, family)
        if not all(is_allowed(ip_address(one["host"].partition("%")[0]), loopback=self._loopback) for one in found):
            raise _Forbidden
        return found

    async def close(self) -> None:
        await self._resolver.close()


class Client:
    """`Outgoing`. Create and use it in one event loop, as an asynchronous context manager.

    `loopback`: this machine may be called too. `resolver` and `tls` are for tests.
    """

    def __init__(
        self, *, loopback: bool = False, resolver: AbstractResolver | None = None, tls: ssl.SSLContext | None = None
    ) -> None:
        self._loopback = loopback
        self._resolver = CheckedResolver(
            resolver or aiohttp.AsyncResolver(timeout=DNS_TIMEOUT_S, tries=2), loopback=loopback
        )
        connector = partial(
            _Connector,
            Counter(),
            resolver=self._resolver,
            use_dns_cache=False,
            socket_factory=self._socket,
            ssl=tls or True,  # by default the context of aiohttp, which verifies: to make another takes 17 ms
            limit=CONNECTIONS,
            limit_per_host=CONNECTIONS_BY_HOST,
        )
        session = partial(
            aiohttp.ClientSession,
            timeout=aiohttp.ClientTimeout(total=None),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
        )
        self._session = session(connector=connector(keepalive_timeout=KEEP_S))
        self._anew = session(connector=connector(force_close=True))
        """Opens a connection for each request."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()
        await self._anew.close()
        await self._resolver.close()

    async def post(
        self, url: str, body: bytes, headers: Mapping[str, str], *, timeout_s: float, max_bytes: int, max_sends: int = 2
    ) -> Result:
        fault: Failure | None = None
        if url_fault(url, loopback=self._loopback) is not None:
            fault = "address-forbidden"
        elif len(body) > MAX_REQUEST_BYTES:
            fault = "too-large"
        if fault is not None:
            return Failed(fault, 0)
        began, sends = time.monotonic(), 0
        outcome: Answered | Failure | None = None
        try:
            async with asyncio.timeout(timeout_s):
                while outcome is None:
                    sends += 1
                    outcome = await self._send(url, body, headers, max_bytes, sends, max_sends)
        except TimeoutError:
            outcome = "timeout"
        except _AddressFull:
            if sends == 1:
                return Full()
            sends, outcome = sends - 1, "unreachable"
        ms = round((time.monotonic() - began) * 1000)
        return Failed(outcome, ms, sends) if isinstance(outcome, str) else replace(outcome, ms=ms, sends=sends)

    async def _send(
        self, url: str, body: bytes, headers: Mapping[str, str], max_bytes: int, sends: int, max_sends: int
    ) -> Answered | Failure | None:
        """Send a request. None if its connection broke, and it is to be sent again on a new one."""
        session = self._session if sends == 1 else self._anew
        try:
            async with session.post(
                URL(url, encoded=True), data=body, headers={**_HEADERS, **headers}, allow_redirects=False
            ) as response:
                if (response.content_length or 0) > max_bytes:
                    return "too-large"
                parts, size = [], 0
                async for part in response.content.iter_any():
                    parts.append(part)
                    size += len(part)
                    if size > max_bytes:
                        return "too-large"
                return Answered(response.status, b"".join(parts), 0, _retry_after(response.headers.get("Retry-After")))
        except _AddressFull:
            raise
        except aiohttp.ClientError as error:
            broke = isinstance(error, aiohttp.ServerDisconnectedError | aiohttp.ClientOSError)
            if broke and sends < max_sends and not isinstance(error, aiohttp.ClientConnectorError):
                return None
            return _failure(error)

    def _socket(self, info: tuple[Any, ...]) -> socket.socket:
        """A socket for a connection to an address, which is checked here once more. `info` is as from `getaddrinfo`."""
        family, kind, protocol, _, address = info
        if not is_allowed(ip_address(address[0].partition("%")[0]), loopback=self._loopback):
            raise _Forbidden
        return socket.socket(family, kind, protocol)


def _failure(error: aiohttp.ClientError) -> Failure:
    match error:
        case aiohttp.ClientConnectorDNSError() | aiohttp.InvalidURL():
            return "address-forbidden"
        case _TooLarge():
            return "too-large"
        case aiohttp.ClientSSLError():
            return "tls"
        case aiohttp.ClientConnectorError() if isinstance(error.os_error, _Forbidden):
            return "address-forbidden"
        case aiohttp.ClientResponseError():
            return "malformed"
    return "unreachable"


def _retry_after(value: str | None) -> int | None:
    """The seconds of a header Retry-After; None if there is none, or if it has another form."""
    if value is None or re.fullmatch(r"[0-9]{1,9}", value, re.ASCII) is None:
        return None
    return min(int(value), _MAX_RETRY_AFTER_S)
