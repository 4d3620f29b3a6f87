"""Rate limits by the generic cell rate algorithm. Each process counts by itself, so limits do not depend on a store."""

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import msgspec

from service.errors import Refused

MAX_KEYS: Final = 20_000
REFUSAL_PAUSE_S: Final = 0.1
"""A refusal is delayed by this time, so that a client that repeats requests at once does not keep the process busy."""


@dataclass(frozen=True, slots=True)
class Policy:
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

    def check(self) -> None:
        """Raise Refused, `rate-limited`, if the request is not allowed, after a pause that only its client has to wait."""
        if self.wait:
            time.sleep(REFUSAL_PAUSE_S)
            quota = f"{self.policy.quota} in {self.policy.window} s"
            raise Refused(
                "rate-limited", f"Too many requests: {quota} are allowed. Wait {self.wait} s.", retry_after=self.wait
            )

    def headers(self) -> tuple[tuple[str, str], ...]:
        """The headers of draft-ietf-httpapi-ratelimit-headers."""
        name = f'"{self.policy.name}"'
        return (
            ("RateLimit-Policy", f"{name};q={self.policy.quota};w={self.policy.window}"),
            ("RateLimit", f"{name};r={self.remaining};t={self.reset}"),
        )


class Limiter:
    """Counts requests by key. The number of keys is bounded; those that were added first are forgotten first."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._full_again_at: dict[tuple[str, str], float] = {}
        self._lock = threading.Lock()

    def take(self, policy: Policy, key: str) -> Allowance:
        """Count one request if it is allowed."""
        each = policy.window / policy.quota
        with self._lock:
            now = self._clock()
            debt = max(self._full_again_at.get((policy.name, key), now) - now, 0.0)
            allowed = debt + each <= policy.window * (1 + 1e-9)
            if allowed:
                debt += each
                self._full_again_at[policy.name, key] = now + debt
                if len(self._full_again_at) > MAX_KEYS:
                    self._forget(now)
        wait = 0 if allowed else max(1, math.ceil(debt + each - policy.window))
        remaining = max(0, math.floor((policy.window - debt) / each + 1e-9))
        return Allowance(policy, remaining, math.ceil(debt), wait)

    def _forget(self, now: float) -> None:
        kept = {key: at for key, at in self._full_again_at.items() if at > now}
        for key in list(kept)[: max(0, len(kept) - MAX_KEYS // 2)]:
            del kept[key]
        self._full_again_at = kept
