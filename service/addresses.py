"""Validates addresses in the settings: hosts, URLs of servers, and origins of pages.

redis-py's own URL parser is not used. It accepts unknown options and any host name, and it may not be imported yet: the
API's first process imports only the standard library before gevent's patches. A URL that is accepted here can later fail
only because the server does not answer.
"""

import re
from collections.abc import Mapping
from ipaddress import IPv6Address
from typing import Final
from urllib.parse import SplitResult, parse_qsl, urlsplit

HOST: Final = r"[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\]"
"""The pattern of a host in a Host header, without a port."""

_LABEL: Final = "[A-Za-z0-9_-]{1,63}"
_HOST_NAME: Final = re.compile(rf"{_LABEL}(\.{_LABEL})*\.?|(?=.*:)[0-9A-Fa-f:.]{{2,45}}(%[A-Za-z0-9._-]{{1,15}})?")
"""A host as the system's resolver takes it: a name, an IPv4 address or an IPv6 address."""

_HOST_AND_PORT: Final = re.compile(rf"({HOST})(?::([0-9]{{1,5}}))?")
_MAX_PORT: Final = 65535

_DATABASE: Final = "[0-9]{1,5}"
_FILE: Final = r"[^\0]+"
_OPTIONS: Final = {"db": _DATABASE}
_TLS_OPTIONS: Final = {
    "ssl_ca_certs": _FILE,
    "ssl_ca_path": _FILE,
    "ssl_certfile": _FILE,
    "ssl_keyfile": _FILE,
    "ssl_password": ".+",
    "ssl_cert_reqs": "none|optional|required",
    "ssl_check_hostname": "(?i:true|false|yes|no|[01])",
}
"""The options of redis-py that are allowed: the database and certificates. Time-outs and the like are set by our code."""


def is_host(text: str) -> bool:
    """Whether `text` is a host name or an IP address, without a port."""
    return _HOST_NAME.fullmatch(text) is not None


def host_of(text: str) -> str | None:
    """The host of `host` or `host:port`, as in a Host header; None if the host or the port is invalid."""
    found = _HOST_AND_PORT.fullmatch(text)
    if found is None or int(found[2] or 0) > _MAX_PORT:
        return None
    host: str = found[1]
    if host.startswith("["):
        try:
            IPv6Address(host[1:-1])
        except ValueError:
            return None
    return host


def is_origin(text: str) -> bool:
    """Whether `text` is an origin as browsers send it in the Origin header."""
    scheme, _, host = text.partition("://")
    return scheme in {"http", "https"} and host_of(host) is not None and text == text.lower()


def is_server(url: str, schemes: tuple[str, ...]) -> bool:
    """Whether `url` has one of the schemes, a valid host or socket path, and only allowed options.

    A fragment is rejected, because it means that the password contains an unescaped `#`.
    """
    try:
        parts = urlsplit(url)
        return (
            url.startswith(tuple(f"{scheme}://" for scheme in schemes))
            and not parts.fragment
            and _has_target(parts)
            and _has_valid_options(parts)
        )
    except ValueError:  # not re-raised: its text may contain part of the password
        return False


def _has_target(parts: SplitResult) -> bool:
    if parts.scheme == "unix":
        return bool(parts.path) and not parts.hostname
    # A cluster has only database 0.
    path = "/?0?" if parts.scheme == "cluster" else f"/?({_DATABASE})?"
    return parts.port != 0 and is_host(parts.hostname or "") and re.fullmatch(path, parts.path) is not None


def _has_valid_options(parts: SplitResult) -> bool:
    known: Mapping[str, str] = {
        **({} if parts.scheme == "cluster" else _OPTIONS),
        **(_TLS_OPTIONS if parts.scheme == "rediss" else {}),
    }
    found = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=True, errors="strict") if parts.query else []
    names = {name for name, _ in found}
    return (
        len(names) == len(found)
        and all(re.fullmatch(known.get(name, "(?!)"), value) for name, value in found)
        and not ("ssl_keyfile" in names and "ssl_certfile" not in names)
    )
