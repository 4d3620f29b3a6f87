"""What the handlers of the process `calls` use, and what they are."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Final, NamedTuple, ParamSpec, TypeAlias, TypeVar

from service.repository.outgoing import Outgoing
from service.repository.ports import Ports
from workers.clock_check import ClockFault

IN_FLIGHT: Final = 512
IN_FLIGHT_BY_HOST: Final = 32
IN_FLIGHT_BY_OWNER: Final = 8
CALLS_BY_OWNER: Final = 16
"""Maximum number of requests that wait for an answer: in total, to one host, of one owner, and of one owner's bots."""

P = ParamSpec("P")
R = TypeVar("R")


class Slots:
    """Counts the requests in flight. It never waits, since the lease of a due entry goes on."""

    def __init__(
        self, total: int = IN_FLIGHT, by_host: int = IN_FLIGHT_BY_HOST, by_owner: int = IN_FLIGHT_BY_OWNER
    ) -> None:
        self._total, self._by_host, self._by_owner = total, by_host, by_owner
        self._used = Counter[tuple[str, str]]()

    def are_free(self, host: str, owner: str) -> bool:
        """Whether there is a slot now. Another thread may call it, to find out whether a request is worth preparing."""
        return self._free_of(owner) > 0 and self._used["host", host] < self._by_host

    def _free_of(self, owner: str) -> int:
        return min(self._total - self._used["total", ""], self._by_owner - self._used["owner", owner])

    def reserve(self, owner: str, wanted: int) -> Sequence[ExitStack]:
        """Slots for at most `wanted` requests of an owner. Close each when its request is over; to do so twice does no harm."""
        slots = [ExitStack() for _ in range(min(wanted, self._free_of(owner)))]
        for slot in slots:
            for name in (("total", ""), ("owner", owner)):
                self._used[name] += 1
                slot.callback(self._release, name)
        return slots

    def _release(self, name: tuple[str, str]) -> None:
        self._used[name] -= 1
        if not self._used[name]:
            del self._used[name]  # forget hosts and owners without requests

    @contextmanager
    def at_host(self, host: str) -> Iterator[bool]:
        """Use a host for the time of the block; False if too many requests do. Then the caller tries again later."""
        name = ("host", host)
        is_free = self._used[name] < self._by_host
        if is_free:
            self._used[name] += 1
        try:
            yield is_free
        finally:
            if is_free:
                self._release(name)

    @contextmanager
    def taken(self, host: str, owner: str) -> Iterator[bool]:
        """Use a slot of an owner and its host for the time of the block; False if there is none."""
        is_free = self.are_free(host, owner)
        names = (("total", ""), ("owner", owner), ("host", host)) if is_free else ()
        self._used.update(names)
        try:
            yield is_free
        finally:
            for name in names:
                self._release(name)


class Sender(NamedTuple):
    """How requests of one kind are sent: those of another kind take no slot and no connection from them."""

    client: Outgoing
    slots: Slots


class WrongClock(Exception):
    """The clock of this machine is wrong now. What a handler leaves undone is due again after its lease."""


class Lane(NamedTuple):
    """What a handler needs. `clock_fault` says how the clock of this machine is wrong; None if it is right."""

    ports: Ports
    deliveries: Sender
    calls: Sender
    executor: ThreadPoolExecutor
    clock_fault: ClockFault = lambda: None

    async def run(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call a function that may block, such as one of the log, in a thread."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.executor, lambda: function(*args, **kwargs))

    async def run_on_time(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """As `run`, for what depends on the time of day. An answer may arrive right after the clock was set.

        Raises:
            WrongClock: the function was not called.
        """

        def checked() -> R:
            if self.clock_fault() is not None:
                raise WrongClock
            return function(*args, **kwargs)

        return await self.run(checked)


class Claimed(NamedTuple):
    """A due entry of a match, or of a player (`news_of`). No other process handles it before `until` (server milliseconds).

    Its due time is `until` meanwhile, unless an append or a handler has replaced it.
    """

    id: str
    kind: str
    until: int


Handler: TypeAlias = Callable[[Lane, Claimed], Awaitable[None]]


class Kind(NamedTuple):
    """How entries of a kind are handled: at most `limit` at once, each claimed for `lease_ms`.

    A handler has to finish within the lease, or within `timeout_ms` if it renews its claim meanwhile. It has to be idempotent:
    another process may handle the same entry. It replaces the entry itself; otherwise the entry is due again after the lease.
    """

    handle: Handler
    lease_ms: int
    limit: int
    timeout_ms: int | None = None
