"""The state of the current request, and the app's use cases, for views."""

import time
import uuid
from collections.abc import Callable
from functools import cache
from typing import Protocol, cast

from flask import Request, g, request

from api.http import auth, client_address, idempotency, rate_limit
from service.errors import Refused
from service.repository.accounts import Session
from service.repository.limits import Allowance, Policy
from service.repository.ports import Feed, Player, Ports, digest_of
from service.settings import Settings


class Container(Protocol):
    """The use cases of a process, as `service.container` builds them."""

    @property
    def settings(self) -> Settings: ...

    @property
    def ports(self) -> Ports: ...

    @property
    def feed(self) -> Feed: ...

    def readiness(self) -> tuple[str, ...]:
        """Why this process cannot serve; empty if it can."""
        ...

    def clock_fault(self) -> str | None:
        """How the clock of this process is wrong, so that it may carry out no command; None if it is right."""
        ...

    def warnings(self) -> tuple[str, ...]:
        """What an operator should repair although the process can serve."""
        ...


class RequestState:
    """The state of a request while it is answered. It replaces Flask's `g`.

    `container` and `alive` (whether the server still runs) belong to the app. `began` is a value of
    `time.perf_counter`. `session` is None without a token. `ticket_of` is the digest of the token that a ticket stands
    for. `body` is the body of the request once it was read and checked. `problem` is the code of the problem that is
    sent as the response.
    """

    __slots__ = ("alive", "allowance", "began", "body", "container", "id", "problem", "session", "ticket_of")

    def __init__(self, container: Container, alive: Callable[[], bool]) -> None:
        self.container = container
        self.alive = alive
        self.began = time.perf_counter()
        self.id = str(uuid.uuid4())
        self.session: Session | None = None
        self.ticket_of: str | None = None
        self.allowance: Allowance | None = None
        self.body = b""
        self.problem: str | None = None

    @property
    def player(self) -> Player | None:
        return None if self.session is None else self.session.player


def current_request() -> Request:
    """The current request itself. Flask's proxy would look it up at each of dozens of uses."""
    return cast("Request", request._get_current_object())  # type: ignore[attr-defined]  # noqa: SLF001  # as werkzeug's docs say


def header(sent: Request, name: str) -> str | None:
    """A header of a request. Flask's own lookup raises and catches two exceptions for each missing header."""
    value: str | None = sent.environ.get(_variable(name))
    return value


@cache
def _variable(header: str) -> str:
    """A header's name in WSGI's environment (PEP 3333)."""
    name = header.upper().replace("-", "_")
    return name if name in {"CONTENT_TYPE", "CONTENT_LENGTH"} else f"HTTP_{name}"


def state() -> RequestState:
    """The state of the current request."""
    return cast("RequestState", g._get_current_object())  # noqa: SLF001  # as werkzeug's docs say


def container() -> Container:
    return state().container


def ports() -> Ports:
    return container().ports


def caller() -> Player:
    """The player that sent the request, in a view that needs a token."""
    return auth.required(state().player)


def caller_id() -> str | None:
    """The id of the player that sent the request; None without a token."""
    player = state().player
    return None if player is None else player.id


def address() -> str:
    """The bucket of the client's address, for limits of requests without a token."""
    return client_address.bucket(current_request().remote_addr or "")


def credential() -> str | None:
    """The digest of the caller's token, or of the token that its ticket stands for; None without both."""
    known = state()
    if known.ticket_of is not None:
        return known.ticket_of
    return None if known.player is None else digest_of(auth.token(header(current_request(), "Authorization") or ""))


def command_key() -> str:
    """The request's Idempotency-Key, or a new one."""
    return idempotency.key(header(current_request(), "Idempotency-Key"))


def check_clock() -> None:
    """Check that what this process does now gets a right time.

    Raises:
        Refused: `clock-wrong`.
    """
    fault = container().clock_fault()
    if fault is not None:
        raise Refused("clock-wrong", f"This process does nothing that needs the time: {fault}.")


def take(policy: Policy, key: str, *, quiet: bool = False) -> None:
    """Count the request against an additional policy, and put this policy into the RateLimit headers of the response.

    A `quiet` policy is put there only if it refuses the request.

    Raises:
        Refused: `rate-limited`.
    """
    known = state()
    allowance = ports().limits.take(policy, key)
    if allowance.wait or not quiet:
        known.allowance = allowance
    rate_limit.check(allowance)
