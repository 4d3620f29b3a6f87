"""When tokens were last used: kept in memory, and stored by a thread, so that no request waits for it."""

import logging
from collections.abc import Callable, Sequence
from threading import Event, Thread
from typing import Final, NamedTuple

from events.log import LogUnavailable
from service.adapters.clock import wall_clock
from service.repository.accounts import HOUR_MS

STORE_INTERVAL_S: Final = 60.0
MAX_KEPT: Final = 10_000
"""Maximum number of tokens whose use is kept. The use of further tokens in the same hour is not recorded."""

_log = logging.getLogger("moonstone.accounts")


class TokenUse(NamedTuple):
    """`hour`: its start, in milliseconds since 1970."""

    player: str
    digest: str
    hour: int


class TokenUses:
    """The tokens that this process has seen in this hour, each once. Losing them does no harm.

    `now`: server time in milliseconds.
    """

    def __init__(self, now: Callable[[], int] = wall_clock) -> None:
        self._now = now
        self._hour = 0
        self._seen: set[str] = set()
        self._new: list[TokenUse] = []

    def note(self, player: str, digest: str) -> None:
        now = self._now()
        hour = now - now % HOUR_MS
        if hour != self._hour:
            self._hour, self._seen = hour, set()
        if digest not in self._seen and len(self._seen) < MAX_KEPT and len(self._new) < MAX_KEPT:
            self._seen.add(digest)
            self._new.append(TokenUse(player, digest, hour))

    def take(self) -> Sequence[TokenUse]:
        """What is new since the last call."""
        taken, self._new = self._new, []
        return taken


class UsesWriter:
    """A thread that stores the uses of tokens every minute and, for the last time, at `stop`."""

    def __init__(self, store: Callable[[], None], interval_s: float = STORE_INTERVAL_S) -> None:
        self._store = store
        self._interval_s = interval_s
        self._stopped = Event()
        self._thread = Thread(target=self._run, name="token uses", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        is_last = False
        while not is_last:
            is_last = self._stopped.wait(self._interval_s)
            try:
                self._store()
            except LogUnavailable:
                pass  # these uses are lost
            except Exception:  # noqa: BLE001  (the next time may succeed)
                _log.exception("the uses of tokens cannot be stored")
