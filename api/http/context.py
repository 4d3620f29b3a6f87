"""What a view needs of the app that runs it and of the request that it answers."""

import os
import time
from collections.abc import Callable
from functools import cache
from typing import Protocol, cast

from flask import Request, g, request

from api.http import auth, client_address, idempotency, rate_limit
from service.repository.ports import Feed, Player, Ports, digest_of
from service.settings import Settings


class Container(Protocol):
    """The use cases of a process, as `service.container` puts them together."""

    @property
    def settings(self) -> Settings: ...

    @property
    def ports(self) -> Ports: ...

    @property
    def feed(self) -> Feed: ...

    def readiness(self) -> tuple[str, ...]:
        """Why this process should not be asked; empty if it should."""
        ...

    def warnings(self) -> tuple[str, ...]:
        """What an operator should mend though the process can serve."""
        ...


class Facts:
    """What is found out about a request while it is answered: the app's kind of Flask's `g`.

    `container`, `limiter` and `alive`, which says whether the server still runs, are those of the app. `began` is a moment
    of `time.perf_counter`; `player` is None for nobody, `ticket_of` the digest of the token that a ticket stands for,
    `problem` the code of the problem that is the answer.
    """

    __slots__ = ("alive", "allowance", "began", "container", "id", "limiter", "player", "problem", "ticket_of")

    def __init__(self, container: Container, limiter: rate_limit.Limiter, alive: Callable[[], bool]) -> None:
        self.container = container
        self.limiter = limiter
        self.alive = alive
        self.began = time.perf_counter()
        self.id = _new_id()
        self.player: Player | None = None
        self.ticket_of: str | None = None
        self.allowance: rate_limit.Allowance | None = None
        self.problem: str | None = None


def _new_id() -> str:
    """A UUID of chance (RFC 9562, 5.4). Python's own costs three times as much, and every request has one."""
    digits = os.urandom(16).hex()
    variant = "89ab"[int(digits[16], 16) % 4]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


# Flask's proxies look up what they stand for at each use, and a request has dozens.


def asked() -> Request:
    """The request itself."""
    return cast("Request", request._get_current_object())  # type: ignore[attr-defined]  # noqa: SLF001  # as werkzeug's docs say


def header(sent: Request, name: str) -> str | None:
    """A header of a request. Flask's own look-up raises and catches two exceptions for each that was not sent."""
    value: str | None = sent.environ.get(_variable(name))
    return value


@cache
def _variable(header: str) -> str:
    """A header's name in WSGI's environment (PEP 3333)."""
    name = header.upper().replace("-", "_")
    return name if name in {"CONTENT_TYPE", "CONTENT_LENGTH"} else f"HTTP_{name}"


def facts() -> Facts:
    """What is known about the request."""
    return cast("Facts", g._get_current_object())  # noqa: SLF001  # as werkzeug's docs say


def container() -> Container:
    return facts().container


def ports() -> Ports:
    return container().ports


def caller() -> Player:
    """Who asks, in a view that needs a token."""
    return auth.required(facts().player)


def caller_id() -> str | None:
    """The player's id, None for somebody without a token."""
    player = facts().player
    return None if player is None else player.id


def address() -> str:
    """The bucket of the client's address, for limits of those who send no token."""
    return client_address.bucket(asked().remote_addr or "")


def credential() -> str | None:
    """The digest of the caller's token, or of the one that its ticket stands for; None for somebody without one."""
    known = facts()
    if known.ticket_of is not None:
        return known.ticket_of
    return None if known.player is None else digest_of(auth.token(header(asked(), "Authorization") or ""))


def command_key() -> str:
    """The request's Idempotency-Key, or a new one."""
    return idempotency.key(header(asked(), "Idempotency-Key"))


def take(policy: rate_limit.Policy, key: str, *, quiet: bool = False) -> None:
    """Count the request against a policy of its own, which its answer then tells about; a `quiet` one only if it refuses.

    Raises:
        Refused: `rate-limited`.
    """
    known = facts()
    allowance = known.limiter.take(policy, key)
    if allowance.wait or not quiet:
        known.allowance = allowance
    allowance.check()
