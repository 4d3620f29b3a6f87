"""A process's leased parts of quotas, so that most requests are counted without asking the store.

Each process may always spend its reserve, a small part of the quota that is restored at a small part of the rate. A
busier client needs leases from the pool, which has the rest of the quota. They are asked for before they are needed,
and lapse soon, so that a client that goes to another process finds them there. The quota is exceeded by 5 % at most.
"""

import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import Final

from service.adapters.limits_store import Granted, Wanted
from service.repository.limits import Allowance, Policy

RESERVED: Final = 0.05
"""The part of a quota that all processes together have as reserves."""
LEASED: Final = 0.08
"""The part of a quota that all processes together lease ahead, at a time."""
ASK_BELOW: Final = 0.25
"""The part of a lease at which the next one is asked for. A process has leases only once its reserve is spent, so a
client that turns to another process finds all but 10 % of the quota there.
"""
MIN_QUOTA_FOR_RESERVES: Final = 10
"""Below this quota for each process there are no reserves: one request would already be too large a part."""
LAPSE: Final = 0.1
"""The part of the window after which an unused lease lapses."""
MAX_ACCOUNTS: Final = 20_000


class Account:
    """What this process may spend of one key's quota. Times are monotonic seconds."""

    __slots__ = (
        "answered",
        "borrowed",
        "borrowed_at",
        "key",
        "lapses_at",
        "leased",
        "policy",
        "pool_at",
        "pool_full_at",
        "pool_left",
        "refused_until",
        "reserve_full_at",
        "waiting",
    )

    def __init__(self, policy: Policy, key: str) -> None:
        self.policy = policy
        self.key = key
        self.reserve_full_at = 0.0
        self.leased = 0
        self.lapses_at = 0.0
        self.pool_left = float(policy.quota)
        self.pool_at = 0.0
        self.pool_full_at = 0.0
        self.refused_until = 0.0
        self.borrowed = 0
        """Requests that were allowed while an answer was late. Leases that come within a window pay for them."""
        self.borrowed_at = 0.0
        self.answered: threading.Event | None = None
        """Set when the answer to the current question has come; None if nothing was asked."""
        self.waiting = 0
        """Requests that wait for this answer."""


class Leases:
    """The accounts of a process. `ask` is called when there is something for `questions`."""

    def __init__(self, ask: Callable[[], object], clock: Callable[[], float] = time.monotonic) -> None:
        self._ask = ask
        self._clock = clock
        self._lock = threading.Lock()
        self._accounts: dict[tuple[str, str], Account] = {}
        self._asking: list[Account] = []

    def spend(self, policy: Policy, key: str, processes: int) -> Allowance | threading.Event:
        """Count one request; or an event, after which the caller has to try again."""
        reserve, pool = _parts(policy.quota, processes)
        with self._lock:
            now = self._clock()
            account = self._accounts.get((policy.name, key))
            if account is None:
                account = self._add(policy, key, now)
            if now >= account.lapses_at:
                account.leased = 0
            owed = max(account.reserve_full_at - now, 0.0)
            own = reserve * (1 - owed / policy.window)
            wait = 0
            if account.leased:
                account.leased -= 1
            elif own >= 1 - 1e-9:
                owed += policy.window / reserve
                account.reserve_full_at = now + owed
                own -= 1
            elif now < account.refused_until:
                wait = max(1, math.ceil(account.refused_until - now))
            else:
                account.waiting += 1
                return self._asked(account)
            ahead = _lease(policy.quota, processes)
            if ahead and not wait and account.leased + own < max(1.0, ahead * ASK_BELOW):
                self._asked(account)
            left = min(pool, account.pool_left + (now - account.pool_at) * pool / policy.window)
            remaining = 0 if wait else math.floor(account.leased + own + left)
        return Allowance(policy, remaining, math.ceil(max(owed, account.pool_full_at - now)), wait)

    def borrow(self, policy: Policy, key: str) -> None:
        """Count one request that was allowed without a lease, because the answer was late."""
        with self._lock:
            account = self._accounts.get((policy.name, key))
            if account is not None:
                account.borrowed += 1
                account.borrowed_at = self._clock()

    def questions(self, processes: int) -> tuple[Sequence[Account], Sequence[Wanted]]:
        """The accounts that need leases, and what each wants of the store."""
        with self._lock:
            asking, self._asking = self._asking, []
            return asking, [
                Wanted(
                    account.policy,
                    account.key,
                    _parts(account.policy.quota, processes)[1],
                    _lease(account.policy.quota, processes) + account.waiting,
                )
                for account in asking
            ]

    def answer(self, accounts: Sequence[Account], answers: Sequence[Granted]) -> None:
        """Note the store's answers. Without answers, all that wait try again."""
        with self._lock:
            now = self._clock()
            for account, granted in zip(accounts, answers, strict=bool(answers)):
                if now >= account.borrowed_at + account.policy.window:
                    account.borrowed = 0
                paid = min(account.borrowed, granted.count)
                account.borrowed -= paid
                account.leased = granted.count - paid + (account.leased if now < account.lapses_at else 0)
                account.lapses_at = now + account.policy.window * LAPSE
                account.pool_left, account.pool_at = granted.left, now
                account.pool_full_at = now + granted.reset_s
                account.refused_until = now + granted.wait_s
            for account in accounts:
                answered, account.answered, account.waiting = account.answered, None, 0
                if answered is not None:
                    answered.set()

    def _asked(self, account: Account) -> threading.Event:
        if account.answered is None:
            account.answered = threading.Event()
            self._asking.append(account)
            self._ask()
        return account.answered

    def _add(self, policy: Policy, key: str, now: float) -> Account:
        if len(self._accounts) >= MAX_ACCOUNTS:
            kept = {name: one for name, one in self._accounts.items() if max(one.reserve_full_at, one.lapses_at) > now}
            for name in list(kept)[: max(0, len(kept) - MAX_ACCOUNTS // 2)]:
                del kept[name]
            self._accounts = kept
        found = self._accounts[policy.name, key] = Account(policy, key)
        return found


def _parts(quota: int, processes: int) -> tuple[float, float]:
    """The reserve of one process, and the pool of all."""
    if quota < MIN_QUOTA_FOR_RESERVES * processes:
        return 0.0, float(quota)
    reserve = max(quota * RESERVED / processes, 1.0)
    return reserve, quota * (1 - RESERVED)


def _lease(quota: int, processes: int) -> int:
    """How many requests are leased ahead: none of a small quota, since much of it would lapse."""
    return max(1, int(quota * LEASED / processes)) if quota >= MIN_QUOTA_FOR_RESERVES * processes else 0
