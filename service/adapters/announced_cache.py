"""A process's cache of stored values whose changes other processes announce by pub/sub messages."""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from typing import Final, Generic, TypeVar

CACHE_SECONDS: Final = 30
CACHE_SIZE: Final = 4096
"""Maximum number of values in a cache."""

K = TypeVar("K")
V = TypeVar("V")


class AnnouncedCache(Generic[K, V]):
    """Caches nothing until `start`. If an announcement is lost, the change takes effect after `CACHE_SECONDS` at the latest."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._values: OrderedDict[K, tuple[V, float]] = OrderedDict()
        self.is_listening = False
        self._changes = 0

    @property
    def changes(self) -> int:
        """A number that every change raises: what was read before a change must not be cached after it."""
        with self._lock:
            return self._changes

    def find_one(self, key: K) -> V | None:
        """The cached value of this key; None if there is none. A single look-up is atomic, so it needs no lock."""
        entry = self._values.get(key)
        return entry[0] if entry is not None and entry[1] > time.monotonic() else None

    def find_expired(self, key: K) -> V | None:
        """The value that this key had when it was last read; None if it was changed since, or is not remembered."""
        entry = self._values.get(key)
        return None if entry is None else entry[0]

    def find(self, keys: Iterable[K]) -> dict[K, V]:
        """The cached values of these keys."""
        now = time.monotonic()
        with self._lock:
            return {key: entry[0] for key in keys if (entry := self._values.get(key)) and entry[1] > now}

    def keep(self, values: Mapping[K, V], seen_changes: int) -> None:
        """Cache values that were read when `changes` was `seen_changes`."""
        until = time.monotonic() + CACHE_SECONDS
        with self._lock:
            # A change that arrived during the read may be of one of these values.
            if not self.is_listening or seen_changes != self._changes:
                return
            for key, value in values.items():
                self._values[key] = (value, until)
                self._values.move_to_end(key)
            while len(self._values) > CACHE_SIZE:
                self._values.popitem(last=False)

    def drop(self, keys: Iterable[K]) -> None:
        """Forget values that were changed."""
        with self._lock:
            self._changes += 1
            for key in keys:
                self._values.pop(key, None)

    def drop_where(self, is_changed: Callable[[K, V], bool]) -> None:
        """Forget values that may have been changed."""
        with self._lock:
            self._changes += 1
            for key in [key for key, (value, _) in self._values.items() if is_changed(key, value)]:
                del self._values[key]

    def start(self) -> None:
        """Forget everything, and cache from now on: announcements are received, but some may have been missed before."""
        with self._lock:
            self._changes += 1
            self.is_listening = True
            self._values.clear()
