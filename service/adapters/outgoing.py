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
from collections.abc import Mapping
from functools import partial
from ipaddress import ip_address
from typing import Any, Final, Self

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_proto import ResponseHandler
from msgspec.structs import replace
from yarl import URL

from service.repository.outgoing import MAX_REQUEST_BYTES, Answered, Failed, Failure, Result, is_allowed, url_fault

CONNECTIONS: Final = 1_024
CONNECTIONS_BY_HOST: Final = 64
"""Maximum number of open connections, in total and to one host. Callers limit their requests below it."""
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


class _Reader(ResponseHandler):
    """Reads one connection. aiohttp limits neither the number of interim answers (1xx) nor empty lines and chunk extensions."""

    _room = MAX_READ_BYTES

    def set_response_params(self, **params: Any) -> None:
        self._room = MAX_READ_BYTES
        super().set_response_params(**params)

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
    """Opens connections that `_Reader` reads; aiohttp has no public setting for it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        reader: type[ResponseHandler] = _Reader
        self._factory = partial(reader, loop=self._loop)


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
        connector = _Connector(
            resolver=self._resolver,
            use_dns_cache=False,
            socket_factory=self._socket,
            ssl=tls or ssl.create_default_context(),
            limit=CONNECTIONS,
            limit_per_host=CONNECTIONS_BY_HOST,
            keepalive_timeout=KEEP_S,
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            timeout=aiohttp.ClientTimeout(total=None),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()
        await self._resolver.close()

    async def post(
        self, url: str, body: bytes, headers: Mapping[str, str], *, timeout_s: float, max_bytes: int
    ) -> Result:
        began = time.monotonic()
        try:
            async with asyncio.timeout(timeout_s):
                outcome = await self._post(url, body, headers, max_bytes)
        except TimeoutError:
            outcome = "timeout"
        ms = round((time.monotonic() - began) * 1000)
        return Failed(outcome, ms) if isinstance(outcome, str) else replace(outcome, ms=ms)

    async def _post(self, url: str, body: bytes, headers: Mapping[str, str], max_bytes: int) -> Answered | Failure:
        if url_fault(url, loopback=self._loopback) is not None:
            return "address-forbidden"
        if len(body) > MAX_REQUEST_BYTES:
            return "too-large"
        try:
            try:
                return await self._send(url, body, headers, max_bytes)
            except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError) as error:
                if isinstance(error, aiohttp.ClientConnectorError):
                    raise
                # The server may have closed a kept connection just now. Receivers know a repeated request by its id.
                return await self._send(url, body, headers, max_bytes)
        except aiohttp.ClientError as error:
            return _failure(error)

    async def _send(self, url: str, body: bytes, headers: Mapping[str, str], max_bytes: int) -> Answered | Failure:
        async with self._session.post(
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
