"""A process's cache of accounts, and the messages that invalidate it."""

from typing import Final

from service.adapters.announced_cache import AnnouncedCache
from service.repository.accounts import Player, Session

CHANNEL: Final = "accounts"
"""The pub/sub channel for the digests of revoked tokens, and for `player:` and the id of a changed account."""
CHANGED: Final = "player:"


class AccountCache:
    """The `Subscriber` (events.listener) of `CHANNEL`. Without a listener it caches nothing."""

    def __init__(self) -> None:
        self.sessions: AnnouncedCache[str, Session] = AnnouncedCache()
        """By the digest of the token."""
        self.players: AnnouncedCache[str, Player] = AnnouncedCache()

    def receive(self, message: bytes) -> None:
        subject = message.decode(errors="replace")
        if subject.startswith(CHANGED):
            player = subject.removeprefix(CHANGED)
            self.players.drop((player,))
            self.sessions.drop_where(lambda _, session: session.player.id == player)
        else:
            self.sessions.drop((subject,))

    def messages_missed(self) -> None:
        self.sessions.start()
        self.players.start()
