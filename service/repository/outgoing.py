"""The port for requests to addresses that users choose, and which addresses are allowed.

Such a request must not reach anything inside our own network. So a URL has a narrow form, and every address that its host
resolves to is checked: addresses are judged, never names. `service.adapters.outgoing` checks each connection when it opens it.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final, Literal, Protocol, TypeAlias
from urllib.parse import urlsplit

import msgspec

MAX_URL: Final = 512
"""Maximum number of characters of a URL."""
PORTS: Final = frozenset({443, 8443})
"""The ports that may be called. With `loopback`, any port from 1024 too."""
MAX_REQUEST_BYTES: Final = 256 * 1024
"""Maximum size of the body of a request."""
_KEPT_URLS: Final = 1_024
"""For how many URLs the verdict is kept, since each call of a bot judges its URL again."""

Failure: TypeAlias = Literal["address-forbidden", "unreachable", "timeout", "tls", "too-large", "malformed"]
"""Why there is no answer.

`address-forbidden`: the URL is not allowed, its host does not resolve, or an address of the host is not public; which of
these is not told apart, because it would describe our network. `unreachable`: no connection, or it broke before the answer was
complete. `timeout`: the answer was not complete in time. `tls`: no valid certificate for the host. `too-large`: the request or
the answer exceeds its limit. `malformed`: the answer is not HTTP.
"""


class Answered(msgspec.Struct, frozen=True):
    """A complete answer of any status, including 3xx, which is never followed.

    `retry_after_s` is the header Retry-After if it is a number of seconds. `sends`: how often the request was sent.
    """

    status: int
    body: bytes
    ms: int
    retry_after_s: int | None = None
    sends: int = 1


class Failed(msgspec.Struct, frozen=True):
    code: Failure
    ms: int
    sends: int = 1


class Full(msgspec.Struct, frozen=True):
    """Nothing was sent, because as many requests as are allowed are in flight to the address. Try again later."""


Sent: TypeAlias = Answered | Failed
Result: TypeAlias = Sent | Full


class Outgoing(Protocol):
    async def post(
        self, url: str, body: bytes, headers: Mapping[str, str], *, timeout_s: float, max_bytes: int, max_sends: int = 2
    ) -> Result:
        """Send a request with a JSON body, and read at most `max_bytes` of the answer. It takes at most `timeout_s`.

        If the connection breaks, the request is sent again on a new one, at most `max_sends` times in all: a kept connection
        may have been closed just then. Receivers know a repeated request by its id.
        """
        ...


_LABEL: Final = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_NAME: Final = re.compile(rf"({_LABEL}\.)*{_LABEL}", re.IGNORECASE | re.ASCII)
_PRINTABLE: Final = re.compile(r"[!-~]+", re.ASCII)
_UNSAFE: Final = re.compile(r"[\\\"<>^`{|}]")
"""Characters that a URL must percent-encode (RFC 3986, 2). Parsers disagree about the backslash."""


@lru_cache(_KEPT_URLS)
def url_fault(url: str, *, loopback: bool) -> str | None:
    """What is wrong with a URL, as the end of a sentence about it; None if it may be called.

    A host is a name, an IPv4 address of four decimal numbers, or an IPv6 address in brackets; all other spellings of addresses
    (`127.1`, `0x7f000001`, full-width digits) are refused. `loopback`: this machine may be called too, also without TLS.
    """
    if len(url) > MAX_URL or _PRINTABLE.fullmatch(url) is None or _UNSAFE.search(url):
        return f"must be at most {MAX_URL} characters of ASCII; percent-encode all others"
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "must be a URL"
    address = literal(host)
    is_local = loopback and (host == "localhost" or (address is not None and address.is_loopback))
    is_name = _NAME.fullmatch(host) is not None and not _looks_numeric(host)
    if parts.scheme != "https" and not (is_local and parts.scheme == "http"):
        return "must begin with https://"
    if "@" in parts.netloc or "#" in url:
        return "must have neither a user name, a password nor a fragment"
    if address is None and not is_name:
        return "must have a host name or an IP address in its usual spelling"
    if address is None and not is_local and ("." not in host or host.endswith(".localhost")):
        return "must have a public host name, such as moon.example"
    if not (port in {None, *PORTS} or (is_local and (port or 0) >= 1024)):
        return (
            f"must have no port, or one of {', '.join(map(str, sorted(PORTS)))}{', or from 1024' if is_local else ''}"
        )
    if address is not None and not is_allowed(address, loopback=loopback):
        return "must not name an address that is not public"
    return None


def literal(host: str) -> IPv4Address | IPv6Address | None:
    """The address that a host of a URL names literally."""
    try:
        return ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return None


def _looks_numeric(host: str) -> bool:
    """Whether a resolver could take a host for a number: its last label is one (WHATWG URL, ends-in-a-number checker)."""
    last = host.rpartition(".")[2]
    return re.fullmatch(r"[0-9]+|0x[0-9a-f]*", last, re.IGNORECASE | re.ASCII) is not None


_CARRIERS: Final = tuple(
    ip_network(network)
    for network in (
        "::/96",  # IPv4-compatible
        "::ffff:0:0/96",  # IPv4-mapped
        "64:ff9b::/96",  # NAT64
        "64:ff9b:1::/48",  # local NAT64
        "100::/64",  # discard
        "2001::/23",  # protocol assignments, among them Teredo
        "2002::/16",  # 6to4
        "fec0::/10",  # site-local
        "192.0.0.0/24",  # protocol assignments
        "192.88.99.0/24",  # relays of 6to4
    )
)
"""Networks that lead to other addresses, or that Python calls global although they are not reached over the internet."""


def is_allowed(address: IPv4Address | IPv6Address, *, loopback: bool) -> bool:
    """Whether an address may be called: it is public, or it is this machine's own and `loopback` is set."""
    if loopback and address.is_loopback:
        return True
    return (
        address.is_global
        and not (address.is_multicast or address.is_reserved or address.is_unspecified or address.is_private)
        and not any(address in network for network in _CARRIERS if network.version == address.version)
    )
