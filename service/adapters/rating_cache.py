"""A process's cache of standings, and the messages that invalidate it."""

from typing import Final

import msgspec

from service.adapters.announced_cache import AnnouncedCache
from service.repository.ratings import Standing

CHANNEL: Final = "ratings"
"""The pub/sub channel for changes of standings."""


class Changed(msgspec.Struct, frozen=True):
    """An announcement: the standings of these players in a game have changed; None: those of all players."""

    game: str
    players: tuple[str, ...] | None = None


encode: Final = msgspec.json.Encoder().encode
_changed: Final = msgspec.json.Decoder(Changed).decode


class RatingCache:
    """The `Subscriber` (events.listener) of `CHANNEL`. Without a listener it caches nothing.

    Processes of releases before the first with this cache announce nothing: for their changes the cache is up to half a minute late.
    """

    def __init__(self) -> None:
        self.standings: AnnouncedCache[tuple[str, str], Standing | None] = AnnouncedCache()
        """By game and player; None for players without a standing."""

    def receive(self, message: bytes) -> None:
        try:
            changed = _changed(message)
        except msgspec.MsgspecError:  # an announcement of a newer release
            self.messages_missed()
            return
        if changed.players is None:
            self.standings.drop_where(lambda key, _: key[0] == changed.game)
        else:
            self.standings.drop((changed.game, player) for player in changed.players)

    def messages_missed(self) -> None:
        self.standings.start()
