"""What addresses look like that an operator may name: of hosts, of servers, of pages that may call.

Only the standard library: the API's first process must not import more before gevent's patches. What is let in here fails
later, if at all, as a server that does not answer.
"""

import re
from collections.abc import Mapping
from ipaddress import IPv6Address
from typing import Final
from urllib.parse import SplitResult, parse_qsl, urlsplit

HOST: Final = r"[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\]"
"""The pattern of a host as a request may name it, without a port."""

_LABEL: Final = "[A-Za-z0-9_-]{1,63}"
_PLACE: Final = re.compile(rf"{_LABEL}(\.{_LABEL})*\.?|(?=.*:)[0-9A-Fa-f:.]{{2,45}}(%[A-Za-z0-9._-]{{1,15}})?")
"""A host as the system finds it: a name, or an address of either kind."""

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
"""Of all that redis-py would take, what says where a server is and whom to trust; how long to wait is ours to say."""


def is_place(text: str) -> bool:
    """Whether a program may listen on it, or ask it, without a port."""
    return _PLACE.fullmatch(text) is not None


def host_of(text: str) -> str | None:
    """The host of `host` or `host:port`, as a Host header holds it; None if there can be no such host or port."""
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
    """Whether a browser could send it as `Origin`."""
    scheme, _, host = text.partition("://")
    return scheme in {"http", "https"} and host_of(host) is not None and text == text.lower()


def is_server(url: str, schemes: tuple[str, ...]) -> bool:
    """Whether a URL of one of the schemes says where a server is, with no option that its client would stumble over.

    Nor does it hold a sign that ends its password too early.
    """
    try:
        parts = urlsplit(url)
        return (
            url.startswith(tuple(f"{scheme}://" for scheme in schemes))
            and not parts.fragment
            and _leads_somewhere(parts)
            and _options_fit(parts)
        )
    except ValueError:  # whose text may hold a part of the password
        return False


def _leads_somewhere(parts: SplitResult) -> bool:
    if parts.scheme == "unix":
        return bool(parts.path) and not parts.hostname
    # Of a cluster there is but one database.
    path = "/?0?" if parts.scheme == "cluster" else f"/?({_DATABASE})?"
    return parts.port != 0 and is_place(parts.hostname or "") and re.fullmatch(path, parts.path) is not None


def _options_fit(parts: SplitResult) -> bool:
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
