"""Which matches a player's stream follows, and in which of them there is something to look at."""

import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from events.feed import Waiter, Wake
from events.log import LogUnavailable
from events.record import MatchId, Version
from service.match.model import Match
from service.repository.ports import Ports, news_of
from service.subscriptions.match_watch import Ended, MatchWatch, read_together
from service.subscriptions.streams import Streams
from service.usecases import match_index

MOST: Final = 5_000
"""Matches that one stream follows: the last made of those that are not over."""
TOGETHER: Final = 50
"""Matches that are read in one round trip, and that a heartbeat compares with the log: each has its turn."""
_PAGE: Final = 200


@dataclass(slots=True)
class Followed:
    """A match of the player: its place in the index, and the version up to which all was sent."""

    place: str
    watch: MatchWatch
    sent: Version = 0
    is_listed: bool = True


class FollowedMatches:
    """The matches of one player that are not over, and those of them whose end was not sent yet.

    Every method that reads raises `LogUnavailable` where the log does not answer; nothing is lost then, and the next wake-up
    or heartbeat tries again.
    """

    def __init__(self, ports: Ports, shared: Streams, player: str, waiter: Waiter) -> None:
        self._ports = ports
        self._streams = shared
        self._player = player
        self._waiter = waiter
        self._matches: dict[MatchId, Followed] = {}
        self._is_list_old = True
        self._changed: dict[MatchId, Wake] = {}
        # Those still to be compared with the log in this round, and since when (monotonic) at the next heartbeat's turn.
        self._unchecked: deque[MatchId] = deque()
        self._check_since: float | None = None
        self.round_began = ports.now()
        """Server milliseconds: all that happened before is among what was or will be found changed in this round."""

    def hear(self, news: Mapping[str, Wake]) -> None:
        for name, wake in news.items():
            if name == news_of(self._player):
                self._is_list_old = True
            elif (known := self._matches.get(name)) is not None and wake.brings(known.sent):
                self._changed[name] = self._changed[name].and_then(wake) if name in self._changed else wake

    def look_again(self, since: float) -> None:
        self._is_list_old = True
        self._check_since = since

    def read_all(self) -> Iterator[Sequence[Match]]:
        """All matches as they are now, some at a time, the last made first. What comes after them is a change."""
        self._list()
        now = time.monotonic()
        ids = list(self._matches)
        for first in range(0, len(ids), TOGETHER):
            part = ids[first : first + TOGETHER]
            read_together(self._ports.history, [self._matches[one].watch for one in part], now)
            read = [match for one in part if (match := self.newest(one, Wake(None, now))) is not None]
            for match in read:
                self._matches[match.id].sent = match.head.version
                self._changed.pop(match.id, None)
            yield read

    def changed(self) -> MatchId | None:
        """A match in which there may be something new; None if all was looked at."""
        if self._is_list_old:
            self._list()
        if not self._changed and self._check_since is not None:
            self._check(self._check_since)
        return next(iter(self._changed), None)

    def new_in(self, match_id: MatchId) -> tuple[Match, Version] | None:
        """A changed match as it is now, and the version up to which all was sent; None if there is nothing to send of it."""
        match = self.newest(match_id, self._changed[match_id])
        known = self._matches[match_id]
        if match is not None:
            return match, min(known.sent, match.head.version)
        if known.is_listed:
            del self._changed[match_id]
        else:
            self.drop(match_id)
        return None

    def sent(self, match: Match) -> None:
        """All that there is of a changed match was sent; if it is over, it is followed no more."""
        self._changed.pop(match.id, None)
        if match.is_over:
            self._ports.index.conclude(self._player, match.id, match.created_at, self._ports.now())
            self.drop(match.id)
        elif (known := self._matches.get(match.id)) is not None:
            known.sent = match.head.version

    @property
    def is_round_over(self) -> bool:
        """Whether all matches were compared with the log in this round, and what had changed was sent."""
        return not self._unchecked and self._check_since is None and not self._changed

    def newest(self, match_id: MatchId, wake: Wake) -> Match | None:
        """A match of the player's as a read shows it that a wake-up is about; None if it is not theirs, or cannot be read."""
        known = self._matches.get(match_id)
        if known is None:
            return None
        try:
            newest = known.watch.newest(wake)
        except Ended as ended:
            if ended.reason == "match-not-found":
                match_index.own_match(self._ports, known.place, self._player, "all")  # the index is mended
            return None
        if newest is None:
            raise LogUnavailable("unavailable")
        return match_index.own(self._ports, known.place, newest, self._player, "all")

    def drop(self, match_id: MatchId) -> None:
        self._changed.pop(match_id, None)
        if self._matches.pop(match_id, None) is not None:
            self._follow()

    def _check(self, since: float) -> None:
        """Compare some matches with the log, for wake-ups may get lost."""
        if not self._unchecked:
            self.round_began = self._ports.now()
            self._unchecked.extend(self._matches)
        part = [match_id for match_id in list(self._unchecked)[:TOGETHER] if match_id in self._matches]
        read_together(self._ports.history, [self._matches[one].watch for one in part], since)
        self._check_since = None
        for _ in range(min(TOGETHER, len(self._unchecked))):
            self._unchecked.popleft()
        self._changed |= dict.fromkeys(part, Wake(None, since))

    def _list(self) -> None:
        """Follow the player's matches as they are listed now. One that is listed no more is looked at for the last time."""
        self._follow()
        places: list[str] = []
        while len(places) < MOST:
            size = min(_PAGE, MOST - len(places))
            page = self._ports.index.matches_of(self._player, "active", places[-1] if places else None, size)
            places += page
            if len(page) < size:
                break
        self._is_list_old = False
        listed = {place.partition(":")[2]: place for place in places}
        now = time.monotonic()
        for match_id, known in list(self._matches.items()):
            known.is_listed = match_id in listed
            if not known.is_listed:
                if len(places) == MOST:
                    self.drop(match_id)
                else:
                    self._changed.setdefault(match_id, Wake(None, now))
        fresh = {match_id: place for match_id, place in listed.items() if match_id not in self._matches}
        self._matches = {
            **{match_id: Followed(place, self._streams.watch(match_id)) for match_id, place in fresh.items()},
            **self._matches,
        }
        self._changed |= dict.fromkeys(fresh, Wake(None, now))
        if fresh:
            self._follow()

    def _follow(self) -> None:
        """Collect the wake-ups of what is followed, and of nothing else."""
        self._waiter.follow([news_of(self._player), *self._matches])
