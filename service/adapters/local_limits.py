"""`Limits` of one process, by the generic cell rate algorithm."""

import math
import threading
import time
from collections import Counter
from collections.abc import Callable
from itertools import count
from typing import Final

from service.repository.limits import Allowance, Policy

MAX_KEYS: Final = 20_000


class LocalLimits:
    """Counts in memory. The number of keys is bounded; those that were added first are forgotten first."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._full_again_at: dict[tuple[str, str], float] = {}
        self._lock = threading.Lock()
        self._numbers = count()
        self._holders: dict[str, str] = {}
        self._open: Counter[str] = Counter()

    def take(self, policy: Policy, key: str) -> Allowance:
        each = policy.window / policy.quota
        with self._lock:
            now = self._clock()
            debt = max(self._full_again_at.get((policy.name, key), now) - now, 0.0)
            allowed = debt + each <= policy.window * (1 + 1e-9)
            if allowed:
                debt = self._add(policy, key, now)
        wait = 0 if allowed else max(1, math.ceil(debt + each - policy.window))
        remaining = max(0, math.floor((policy.window - debt) / each + 1e-9))
        return Allowance(policy, remaining, math.ceil(debt), wait)

    spend = take

    def note(self, policy: Policy, key: str) -> None:
        """Count a request that was allowed elsewhere. It may exceed the quota, which is then spent."""
        with self._lock:
            self._add(policy, key, self._clock())

    def enter(self, holder: str, limit: int) -> str | None:
        with self._lock:
            if self._open[holder] >= limit:
                return None
            self._open[holder] += 1
            stream = str(next(self._numbers))
            self._holders[stream] = holder
            return stream

    def leave(self, stream: str) -> None:
        with self._lock:
            holder = self._holders.pop(stream, None)
            if holder is not None:
                self._open -= Counter([holder])

    def _add(self, policy: Policy, key: str, now: float) -> float:
        """Count one request. Returns the seconds until the quota is full again."""
        full_again_at = max(self._full_again_at.get((policy.name, key), now), now)
        debt = min(full_again_at - now + policy.window / policy.quota, policy.window)
        self._full_again_at[policy.name, key] = now + debt
        if len(self._full_again_at) > MAX_KEYS:
            self._forget(now)
        return debt

    def _forget(self, now: float) -> None:
        kept = {key: at for key, at in self._full_again_at.items() if at > now}
        for key in list(kept)[: max(0, len(kept) - MAX_KEYS // 2)]:
            del kept[key]
        self._full_again_at = kept
