"""Notices about what happened to a player beside the matches that the stream follows (`service.repository.news`)."""

from service.errors import Corrupt, Refused
from service.repository.news import Item, RematchAsked, SeatFreed, SeekEnded
from service.repository.ports import Ports
from service.subscriptions.notices import Notice, SeekEndedNotice, notice, notice_id
from service.subscriptions.situation import Include


class PlayerNews:
    """The news of a player that one stream has not sent yet.

    `since` is a server time in milliseconds. Offers of a rematch are sent also if they are older, while they are open.
    """

    def __init__(self, ports: Ports, player: str, include: Include, since: int) -> None:
        self._ports = ports
        self._player = player
        self._include = include
        self._since = since
        self._is_stale = True
        self._known: set[Item] = set()

    def note_wake(self) -> None:
        self._is_stale = True

    def notices(self, cursor: str) -> list[Notice | SeekEndedNotice]:
        """New notices, each with this cursor.

        Raises:
            LogUnavailable: nothing is lost; the next call tries again.
        """
        if not self._is_stale:
            return []
        posted = self._ports.news.since(self._player, 0)
        new = [one.item for one in posted if one.item not in self._known and self._is_due(one.at, one.item)]
        made = (news_notice(self._ports, self._player, item, self._include, cursor) for item in new)
        found = [one for one in made if one is not None]
        self._known = {one.item for one in posted}
        self._is_stale = False
        return found

    def _is_due(self, at: int, item: Item) -> bool:
        return at >= self._since or isinstance(item, RematchAsked)


def news_notice(
    ports: Ports, player: str, item: Item, include: Include, cursor: str
) -> Notice | SeekEndedNotice | None:
    """The notice about an item; None if its match cannot be read, or if the rematch is not open to the player any more."""
    try:
        match item:
            case SeekEnded():
                return SeekEndedNotice("seek_ended", news_id(item), item.seek, item.reason, cursor)
            case SeatFreed():
                freed = ports.history.at(item.match, item.version)
                return notice("seat_freed", freed, player, include, cursor)
            case RematchAsked():
                newest, _ = ports.history.newest(item.match)
                if newest.status != "open" or newest.is_of(player):
                    return None
                new = ports.history.at(item.match, 1)
                return notice("rematch", new, player, include, cursor, item.rematch_of)
    except (Corrupt, Refused):
        return None


def news_id(item: Item) -> str:
    """The id of the notice about an item."""
    match item:
        case SeekEnded():
            return f"{item.seek}-ended"
        case SeatFreed():
            return notice_id(item.match, item.version, "seat_freed")
        case RematchAsked():
            return notice_id(item.match, 1, "rematch")
