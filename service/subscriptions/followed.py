"""The matches that a player's stream follows, and those among them that may have new events."""

import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from events.feed import Waiter, Wake
from events.log import LogUnavailable
from events.record import MatchId, Version
from service.match.model import Match
from service.match.rating import stream_of
from service.repository.index_entry import IndexEntry
from service.repository.ports import Ports, news_of
from service.subscriptions.match_watch import MatchWatch, StreamEnded, read_together
from service.subscriptions.rating_changes import awaits_rating
from service.subscriptions.streams import Streams
from service.usecases import match_lists

MAX_FOLLOWED: Final = 5_000
"""Maximum number of matches that one stream follows: the newest ones that are not over."""
READ_BATCH: Final = 50
"""Matches per round trip. A heartbeat compares so many with the log; later heartbeats continue with the next ones."""
_PAGE: Final = 200


@dataclass(slots=True)
class Followed:
    """A match of the player: its entry in the index, and the version up to which everything was sent."""

    entry: IndexEntry
    watch: MatchWatch
    sent: Version = 0
    is_listed: bool = True


class FollowedMatches:
    """The matches of one player that are not over, or whose end was not sent yet.

    Every method that reads raises `LogUnavailable` if the log does not answer. Nothing is lost then: the next wake-up
    or heartbeat tries again.
    """

    def __init__(self, ports: Ports, shared: Streams, player: str, waiter: Waiter) -> None:
        self._ports = ports
        self._streams = shared
        self._player = player
        self._waiter = waiter
        self._matches: dict[MatchId, Followed] = {}
        self._is_list_stale = True
        self._changed: dict[MatchId, Wake] = {}
        # Matches that are over and wait for their ratings, by rating stream.
        self._unrated: dict[MatchId, set[MatchId]] = {}
        # Matches that the current check has not yet compared with the log.
        self._unchecked: deque[MatchId] = deque()
        # A check is requested, in reads that began at this time (monotonic) or later.
        self._check_since: float | None = None
        self.check_began_at = ports.now()
        """When the current check began, in server milliseconds. The check finds every change from before this time."""

    def note_wakes(self, news: Mapping[str, Wake]) -> None:
        for name, wake in news.items():
            if name == news_of(self._player):
                self._is_list_stale = True
            elif name in self._unrated:
                self._changed |= dict.fromkeys(self._unrated.pop(name) & self._matches.keys(), Wake(None, 0.0))
                self._update_waiter()
            elif (followed := self._matches.get(name)) is not None and wake.may_exceed(followed.sent):
                self._changed[name] = self._changed[name].merged_with(wake) if name in self._changed else wake

    def request_check(self, since: float) -> None:
        self._is_list_stale = True
        self._check_since = since

    def read_all(self) -> Iterator[Sequence[Match]]:
        """All matches as they are now, in batches, newest first. Later events are reported by `changed`."""
        self._refresh_list()
        now = time.monotonic()
        ids = list(self._matches)
        for first in range(0, len(ids), READ_BATCH):
            part = ids[first : first + READ_BATCH]
            read_together(self._ports.history, [self._matches[one].watch for one in part], now)
            read = [match for one in part if (match := self.newest(one, Wake(None, now))) is not None]
            for match in read:
                self._matches[match.id].sent = match.head.version
                self._changed.pop(match.id, None)
            yield read

    def changed(self) -> MatchId | None:
        """A match that may have new events; None if there is none."""
        if self._is_list_stale:
            self._refresh_list()
        if not self._changed and self._check_since is not None:
            self._check_some(self._check_since)
        return next(iter(self._changed), None)

    def unsent(self, match_id: MatchId) -> tuple[Match, Version] | None:
        """A changed match as it is now, and the version up to which everything was sent; None if it has no news."""
        match = self.newest(match_id, self._changed[match_id])
        followed = self._matches[match_id]
        if match is not None:
            return match, min(followed.sent, match.head.version)
        if followed.is_listed:
            del self._changed[match_id]
        else:
            self.drop(match_id)
        return None

    def sent(self, match: Match) -> None:
        """Record that a match was sent up to its head. If it is over, stop following it."""
        self._changed.pop(match.id, None)
        if match.is_over:
            self._ports.index.conclude(self._player, match.id, match.created_at, self._ports.now())
            self.drop(match.id)
        elif (followed := self._matches.get(match.id)) is not None:
            followed.sent = match.head.version

    def awaits_rating(self, match: Match) -> bool:
        """Whether a match that has just ended is about to be rated. If so, `await_rating` was called."""
        if not awaits_rating(self._ports, match):
            return False
        self.await_rating(match)
        return awaits_rating(self._ports, match)  # once more, now that wake-ups of the rating stream are collected

    def await_rating(self, match: Match) -> None:
        """Report a match that is over again when its rating stream changes, or in the next check, if it is followed."""
        self._changed.pop(match.id, None)
        self._unrated.setdefault(stream_of(match.created.game), set()).add(match.id)
        self._update_waiter()

    @property
    def is_check_complete(self) -> bool:
        """Whether the current check compared all matches with the log, and all changes were sent."""
        return not self._unchecked and self._check_since is None and not self._changed

    def newest(self, match_id: MatchId, wake: Wake) -> Match | None:
        """A match of the player, read no earlier than a wake-up; None if it is not the player's, or cannot be read."""
        followed = self._matches.get(match_id)
        if followed is None:
            return None
        try:
            newest = followed.watch.newest(wake)
        except StreamEnded as ended:
            if ended.reason == "match-not-found":
                match_lists.own_match(self._ports, followed.entry, self._player, "all")  # corrects the index
            return None
        if newest is None:
            raise LogUnavailable("unavailable")
        found = match_lists.own(self._ports, followed.entry, newest, self._player, "all")
        if followed.entry.created_at == newest.created_at:
            return found
        # The entry was of a creation that another one, sent at the same time, forestalled, and is removed now.
        followed.entry = IndexEntry(newest.created_at, match_id)
        return match_lists.own(self._ports, followed.entry, newest, self._player, "all")

    def drop(self, match_id: MatchId) -> None:
        self._changed.pop(match_id, None)
        if self._matches.pop(match_id, None) is not None:
            self._update_waiter()

    def _check_some(self, since: float) -> None:
        """Compare the next batch of matches with the log, since wake-ups may be lost."""
        if not self._unchecked:
            self.check_began_at = self._ports.now()
            self._unchecked.extend(self._matches)
        part = [match_id for match_id in list(self._unchecked)[:READ_BATCH] if match_id in self._matches]
        read_together(self._ports.history, [self._matches[one].watch for one in part], since)
        self._check_since = None
        for _ in range(min(READ_BATCH, len(self._unchecked))):
            self._unchecked.popleft()
        self._changed |= dict.fromkeys(part, Wake(None, since))

    def _refresh_list(self) -> None:
        """Follow the matches that the index lists now. One that it no longer lists is read once more, for its end."""
        self._update_waiter()
        entries: list[IndexEntry] = []
        while len(entries) < MAX_FOLLOWED:
            size = min(_PAGE, MAX_FOLLOWED - len(entries))
            page = self._ports.index.matches_of(self._player, "active", entries[-1] if entries else None, size)
            entries += page
            if len(page) < size:
                break
        self._is_list_stale = False
        listed = {entry.match_id: entry for entry in entries}
        now = time.monotonic()
        for match_id, followed in list(self._matches.items()):
            followed.is_listed = match_id in listed
            if not followed.is_listed:
                if len(entries) == MAX_FOLLOWED:
                    self.drop(match_id)
                else:
                    self._changed.setdefault(match_id, Wake(None, now))
        fresh = {match_id: entry for match_id, entry in listed.items() if match_id not in self._matches}
        self._matches = {
            **{match_id: Followed(entry, self._streams.watch(match_id)) for match_id, entry in fresh.items()},
            **self._matches,
        }
        self._changed |= dict.fromkeys(fresh, Wake(None, now))
        if fresh:
            self._update_waiter()

    def _update_waiter(self) -> None:
        """Collect the wake-ups of the followed matches, of their rating streams and of the player's list, and no others."""
        self._waiter.follow([news_of(self._player), *self._matches, *self._unrated])
