"""A process's cache of accounts, and the messages that invalidate it."""

import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from threading import Lock
from typing import Final, TypeVar

from service.repository.accounts import Player, Session

CHANNEL: Final = "accounts"
"""The pub/sub channel for the digests of revoked tokens, and for `player:` and the id of a changed account."""
CACHE_SECONDS: Final = 30
CACHE_SIZE: Final = 4096
"""Maximum number of tokens in the cache, and of players."""
CHANGED: Final = "player:"

V = TypeVar("V")


class AccountCache:
    """The `Subscriber` (events.listener) of `CHANNEL`. Without a listener it caches nothing.

    A change takes effect in all processes at once. If its message is lost while the server is down, it takes effect
    after `CACHE_SECONDS` at the latest.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._sessions: OrderedDict[str, tuple[Session, float]] = OrderedDict()
        self._players: OrderedDict[str, tuple[Player, float]] = OrderedDict()
        self.is_listening = False
        self._changes = 0

    @property
    def changes(self) -> int:
        """A number that every change raises: what was read before a change must not be cached after it."""
        with self._lock:
            return self._changes

    def session(self, token_digest: str) -> Session | None:
        with self._lock:
            session, until = self._sessions.get(token_digest, (None, 0.0))
        return session if until > time.monotonic() else None

    def players(self, ids: Iterable[str]) -> Mapping[str, Player]:
        now = time.monotonic()
        with self._lock:
            return {id_: entry[0] for id_ in ids if (entry := self._players.get(id_)) and entry[1] > now}

    def keep_session(self, token_digest: str, session: Session, seen_changes: int) -> None:
        self._keep(self._sessions, token_digest, session, seen_changes)

    def keep_player(self, player: Player, seen_changes: int) -> None:
        self._keep(self._players, player.id, player, seen_changes)

    def receive(self, message: bytes) -> None:
        subject = message.decode(errors="replace")
        with self._lock:
            self._changes += 1
            if subject.startswith(CHANGED):
                player = subject.removeprefix(CHANGED)
                self._players.pop(player, None)
                for digest in [one for one, (session, _) in self._sessions.items() if session.player.id == player]:
                    del self._sessions[digest]
            else:
                self._sessions.pop(subject, None)

    def messages_missed(self) -> None:
        with self._lock:
            self._changes += 1
            self.is_listening = True
            self._sessions.clear()
            self._players.clear()

    def _keep(self, cache: OrderedDict[str, tuple[V, float]], key: str, value: V, seen_changes: int) -> None:
        with self._lock:
            # A change that arrived during the read may be of this entry.
            if self.is_listening and seen_changes == self._changes:
                cache[key] = (value, time.monotonic() + CACHE_SECONDS)
                cache.move_to_end(key)
                if len(cache) > CACHE_SIZE:
                    cache.popitem(last=False)
