"""What the handlers of the process `calls` use, and what they are."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final, NamedTuple, ParamSpec, TypeAlias, TypeVar

from service.repository.outgoing import Outgoing
from service.repository.ports import Ports

IN_FLIGHT: Final = 512
IN_FLIGHT_BY_HOST: Final = 32
IN_FLIGHT_BY_OWNER: Final = 8
"""Maximum number of requests that wait for an answer: in total, to one host, and of one owner."""

P = ParamSpec("P")
R = TypeVar("R")


class Slots:
    """Counts the requests in flight. It never waits, since the lease of a due entry goes on."""

    def __init__(
        self, total: int = IN_FLIGHT, by_host: int = IN_FLIGHT_BY_HOST, by_owner: int = IN_FLIGHT_BY_OWNER
    ) -> None:
        self._total, self._by_host, self._by_owner = total, by_host, by_owner
        self._used = Counter[tuple[str, str]]()

    def _limits(self, host: str, owner: str) -> dict[tuple[str, str], int]:
        return {("total", ""): self._total, ("host", host): self._by_host, ("owner", owner): self._by_owner}

    def are_free(self, host: str, owner: str) -> bool:
        """Whether there is a slot now. Another thread may call it, to find out whether a request is worth preparing."""
        return all(self._used[name] < limit for name, limit in self._limits(host, owner).items())

    @contextmanager
    def taken(self, host: str, owner: str) -> Iterator[bool]:
        """Take a slot for the time of the block; False if there is none. Then the caller tries again later."""
        limits = self._limits(host, owner)
        is_free = self.are_free(host, owner)
        if is_free:
            self._used.update(limits.keys())
        try:
            yield is_free
        finally:
            if is_free:
                self._used.subtract(limits.keys())
                self._used += Counter()  # forget hosts and owners without requests


class Lane(NamedTuple):
    """What a handler needs. `run` calls a function that may block, such as one of the log, in a thread."""

    ports: Ports
    client: Outgoing
    slots: Slots
    executor: ThreadPoolExecutor

    async def run(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.executor, lambda: function(*args, **kwargs))


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

    A handler has to finish within the lease, and to be idempotent: another process may handle the same entry.
    It replaces the entry itself; otherwise the entry is due again after the lease.
    """

    handle: Handler
    lease_ms: int
    limit: int
