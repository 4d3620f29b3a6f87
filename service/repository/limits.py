"""The port for limits that hold over all API processes together."""

from typing import Protocol

import msgspec


class Policy(msgspec.Struct, frozen=True):
    """At most `quota` requests at once; the quota is restored evenly over `window` seconds."""

    name: str
    quota: int
    window: int


class Allowance(msgspec.Struct, frozen=True):
    """What is left of a policy. `wait` is 0 if the request is allowed, else the seconds until one is.

    `remaining` is the number of further requests that are allowed now; `reset` is the seconds until the quota is full.
    """

    policy: Policy
    remaining: int
    reset: int
    wait: int


class Limits(Protocol):
    """Counts by key, such as a player or an address. A failure of the store behind it never raises."""

    def take(self, policy: Policy, key: str) -> Allowance:
        """Count one request if it is allowed; exact over all processes, at the cost of a round trip."""
        ...

    def spend(self, policy: Policy, key: str) -> Allowance:
        """Count one request if it is allowed; within 10 % over all processes, normally without a round trip."""
        ...

    def enter(self, holder: str, limit: int) -> str | None:
        """Open a stream of a player or an address; returns its id for `leave`, or None if `limit` are open."""
        ...

    def leave(self, stream: str) -> None:
        """Close a stream. A repeated call changes nothing."""
        ...
