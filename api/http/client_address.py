"""The client's address in one canonical form.

Proxies write it in many ways: with a port, in brackets, or IPv4 as a mapped IPv6 address. An IPv6 host has a network of
2^64 addresses (RFC 4291, 2.5.4), so a limit for single IPv6 addresses would be useless.
"""

import re
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Final

UNKNOWN: Final = "unknown"
"""The bucket of all clients whose address cannot be parsed."""

_NETWORK_BITS: Final = 64
_WITH_PORT: Final = re.compile(r"\[(?P<v6>.+)\](:[0-9]+)?|(?P<v4>[^:]+):[0-9]+")


def parse(text: str) -> IPv4Address | IPv6Address | None:
    """The address in `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1` or `[2001:db8::1]:80`; None if there is none."""
    text = text.strip()
    if found := _WITH_PORT.fullmatch(text):
        text = found["v6"] or found["v4"]
    try:
        address = ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def bucket(text: str) -> str:
    """The key for rate limits of an address: the IPv4 address, or the /64 network of an IPv6 address."""
    address = parse(text)
    if address is None:
        return UNKNOWN
    return str(IPv6Network((int(address), _NETWORK_BITS), strict=False) if address.version == 6 else address)


def is_of_this_machine(text: str) -> bool:
    address = parse(text)
    return address is not None and address.is_loopback
