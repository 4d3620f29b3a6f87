"""`Limits` over all API processes. Without the queue's server each process has its share of every limit."""

import logging
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable
from itertools import count
from typing import Final, TypeVar

import msgspec
from redis import Redis
from redis.exceptions import RedisError

from service.adapters.leases import Leases
from service.adapters.limits_store import LimitsStore, Wanted
from service.adapters.local_limits import LocalLimits
from service.repository.limits import Allowance, Policy

REPORT_INTERVAL_S: Final = 2.0
RENEWED: Final = 100
"""How many of the open streams each report registers again, in turn, in case the store lost some."""
MAX_WAIT_S: Final = 0.25
"""A request waits so long for a lease. It waits only if its client spends faster than leases come."""
_STOP_TIMEOUT_S: Final = 1.0

T = TypeVar("T")

_log = logging.getLogger("moonstone.limits")


class SharedLimits:
    """Make it after a fork. A thread reports that this process is alive, and asks for leases."""

    def __init__(self, client: Redis, processes: int) -> None:
        """`processes`: how many API processes there are at least."""
        self._process = secrets.token_hex(8)
        self._store = LimitsStore(client, self._process)
        self._least_processes = self._processes = processes
        self._is_usable = True
        self._was_usable = True
        self._local = LocalLimits()
        self._wake = threading.Event()
        self._leases = Leases(self._wake.set)
        self._lock = threading.Lock()
        self._numbers = count()
        self._holders: dict[str, str] = {}
        """The holder of each open stream."""
        self._open: Counter[str] = Counter()
        self._unregistered: set[str] = set()
        """Open streams that the store does not count yet."""
        self._to_renew: list[str] = []
        """Streams that were open when this list was made, and that later reports register again."""
        self._unreleased: set[tuple[str, str]] = set()
        """Holders and streams that are closed, but that the store may still count."""
        self._running = True
        self._report()
        self._thread = threading.Thread(target=self._run, name="limits", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._running = False
        self._wake.set()
        self._thread.join(_STOP_TIMEOUT_S)

    def take(self, policy: Policy, key: str) -> Allowance:
        found = self._try(lambda: self._store.take([Wanted(policy, key, policy.quota)]))
        if found is None:
            return self._local.take(self._share(policy), key)
        (granted,) = found
        if granted.count:
            self._local.note(self._share(policy), key)
        # Rounded up, as in LocalLimits: a client that waits so long is not refused again.
        wait = 0 if granted.count else max(1, _whole(granted.wait_s))
        return Allowance(policy, granted.left, _whole(granted.reset_s), wait)

    def spend(self, policy: Policy, key: str) -> Allowance:
        deadline: float | None = None
        while self._is_usable:
            found = self._leases.spend(policy, key, self._processes)
            if isinstance(found, Allowance):
                if not found.wait:
                    self._local.note(self._share(policy), key)
                return found
            now = time.monotonic()
            deadline = now + MAX_WAIT_S if deadline is None else deadline
            if not found.wait(deadline - now):
                break
        allowance = self._local.spend(self._share(policy), key)
        if deadline is not None and not allowance.wait:
            self._leases.borrow(policy, key)
        return allowance

    def enter(self, holder: str, limit: int) -> str | None:
        stream, was_usable = self._new_stream(), self._is_usable
        own, processes = self._open[holder], self._processes
        entered = self._try(lambda: self._store.enter(holder, stream, limit, own, processes))
        with self._lock:
            if entered is None:
                if was_usable:
                    # The store may have counted it before it failed.
                    self._unreleased.add((holder, stream))
                    stream = self._new_stream()
                entered = self._open[holder] < max(1, limit // self._processes)
                if entered:
                    self._unregistered.add(stream)
            if not entered:
                return None
            self._open[holder] += 1
            self._holders[stream] = holder
        return stream

    def leave(self, stream: str) -> None:
        with self._lock:
            holder = self._holders.pop(stream, None)
            if holder is None:
                return
            self._open -= Counter([holder])
            if stream in self._unregistered:
                self._unregistered.discard(stream)
                return
        if self._try(lambda: self._store.leave(holder, stream)) is None:
            with self._lock:
                self._unreleased.add((holder, stream))

    def _new_stream(self) -> str:
        return f"{self._process}.{next(self._numbers)}"

    def _share(self, policy: Policy) -> Policy:
        return msgspec.structs.replace(policy, quota=max(1, policy.quota // self._processes))

    def _try(self, call: Callable[[], T]) -> T | None:
        """The result of a call to the store; None while the store is away."""
        if not self._is_usable:
            return None
        try:
            return call()
        except RedisError as error:
            self._lost(error)
            return None

    def _lost(self, error: Exception) -> None:
        self._is_usable = False
        if self._was_usable:
            _log.warning("the queue keeps no limits; each process has its share of them: %s", error)
        self._was_usable = False

    def _run(self) -> None:
        next_report = time.monotonic() + REPORT_INTERVAL_S
        while self._running:
            self._wake.wait(max(next_report - time.monotonic(), 0.0))
            self._wake.clear()
            try:
                self._lease()
                if time.monotonic() >= next_report:
                    next_report = time.monotonic() + REPORT_INTERVAL_S
                    self._report()
            except Exception as error:  # noqa: BLE001  (the next round may work; requests go on meanwhile)
                _log.exception("limits cannot be shared")
                self._lost(error)

    def _lease(self) -> None:
        accounts, wanted = self._leases.questions(self._processes)
        if accounts:
            found = None
            try:
                found = self._try(lambda: self._store.take(wanted))
            finally:
                self._leases.answer(accounts, found or ())

    def _report(self) -> None:
        """Report this process, and bring the store's streams up to date if the store or some calls failed."""
        try:
            known, alive = self._store.report()
            self._processes = max(self._least_processes, alive)
            with self._lock:
                if not known:
                    self._unregistered |= self._holders.keys()
                streams = self._unregistered | self._streams_to_renew()
                registered = [(stream, self._holders[stream]) for stream in streams]
            try:
                self._store.register(registered)
            finally:
                with self._lock:
                    # What was closed meanwhile may have been registered after its `leave`.
                    self._unreleased |= {(holder, one) for one, holder in registered if one not in self._holders}
            with self._lock:
                self._unregistered -= streams
                released = list(self._unreleased)
            for holder, stream in released:
                self._store.leave(holder, stream)
            with self._lock:
                self._unreleased.difference_update(released)
        except RedisError as error:
            self._lost(error)
            return
        self._is_usable = True
        if not self._was_usable:
            _log.info("the queue keeps the limits again")
        self._was_usable = True

    def _streams_to_renew(self) -> set[str]:
        if not self._to_renew:
            self._to_renew = list(self._holders)
        taken, self._to_renew = self._to_renew[:RENEWED], self._to_renew[RENEWED:]
        return self._holders.keys() & taken


def _whole(seconds: float) -> int:
    return -int(-seconds // 1)
