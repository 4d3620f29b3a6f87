"""The stream of one player: notices from all of the player's matches that are not over.

A position in the stream is a time in server milliseconds; everything from before that time was sent. A stream that is
resumed from a position sends what happened since in the matches that are not over, and the ends of the others. It also
repeats the minute before the position, because the clocks of machines differ, and because an event has the time at
which its command was received, a little before it was appended.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Final

import msgspec

from events.chain import Verified
from events.feed import Waiter, Wake
from events.log import LogUnavailable
from events.record import MatchId, Version
from service.errors import Corrupt, Refused
from service.match.model import Match
from service.match.rating import stream_of
from service.repository import cursors
from service.repository.ports import Ports, news_of
from service.subscriptions import followed, streams
from service.subscriptions.followed import FollowedMatches
from service.subscriptions.frames import Form, Reason
from service.subscriptions.match_watch import StreamEnded
from service.subscriptions.notices import KINDS, Kind, NoticesEnd, NoticesHello, notice, noticed, turns
from service.subscriptions.player_news import PlayerNews
from service.subscriptions.rating_changes import rating_change
from service.subscriptions.situation import Include
from service.subscriptions.streams import Streams
from service.views.match_views import OwnMatch, own_summaries

OVERLAP_MS: Final = 60_000
"""Larger than the difference of clocks, and larger than the time from the receipt of a command to its append."""
CLOCKS_DIFFER_MS: Final = 2_000
"""More than the clocks of machines differ. A position that is later than now by more shows that a clock was set back."""
_READ_BATCH: Final = 100
"""Events per read."""
_CONCLUDED_PAGE: Final = 200
"""Concluded matches per read of the index."""


class _Backlog(msgspec.Struct, frozen=True):
    """A match with notices from before the stream began.

    They are about all events since a time (server milliseconds), or only about the open turns if `since` is None.
    `upto` is the version at which the stream began to follow the match. It is None if the stream does not follow the
    match; then its end is sent even if it is earlier than `since`.
    """

    match_id: MatchId
    since: int | None
    upto: Version | None


class PlayerSubscription:
    """Follows a player's matches from now on, or from the position `after` (server milliseconds).

    `clock_fault` says how the clock of this process is wrong: then the stream ends, since its positions would be too.
    """

    def __init__(
        self,
        ports: Ports,
        shared: Streams,
        player: str,
        form: Form,
        include: Include,
        after: int | None = None,
        clock_fault: Callable[[], str | None] = lambda: None,
    ) -> None:
        self.heartbeat = form.heartbeat
        self._ports = ports
        self._streams = shared
        self._player = player
        self._form = form
        self._include = include
        self._clock_fault = clock_fault
        now = ports.now()
        self._position = now if after is None else min(after, now)
        self._since = None if after is None else _since(after, now)
        self._followed: FollowedMatches
        self._backlog: deque[_Backlog] = deque()
        # How many matches that were concluded since the position are in the backlog already; None when all are.
        self._concluded_listed = None if after is None else 0
        self._ended: set[MatchId] = set()
        """Matches that were over when the stream began, and whose end this stream has sent."""
        self._unrated: dict[MatchId, _Backlog] = {}
        """The backlog of matches that are about to be rated."""
        self._news = PlayerNews(ports, player, include, now - CLOCKS_DIFFER_MS if self._since is None else self._since)

    def begin(self, waiter: Waiter) -> bytes:
        """The first frame: all matches as they are now.

        Raises:
            LogUnavailable: the log does not answer.
        """
        self._be_seen()
        self._followed = FollowedMatches(self._ports, self._streams, self._player, waiter)
        listed: list[OwnMatch] = []
        for part in self._followed.read_all():
            running = [match for match in part if not match.is_over]
            listed += own_summaries(self._ports, running, self._player)
            self._backlog += [backlog for match in part if (backlog := self._backlog_of(match)) is not None]
        hello = NoticesHello(
            player=self._player,
            matches=tuple(listed),
            followed=followed.MAX_FOLLOWED,
            now=self._ports.now(),
            heartbeat_ms=int(streams.HEARTBEAT_S * 1000),
            cursor=self._cursor(),
        )
        return self._form.opening + self._frame("hello", hello)

    def end(self, reason: Reason) -> bytes:
        last = {"type": "end", "reason": reason, "cursor": self._cursor()}
        return self._frame("end", msgspec.convert(last, NoticesEnd))

    def note_wakes(self, news: Mapping[str, Wake]) -> None:
        if self._unrated and not news.keys().isdisjoint(map(stream_of, self._ports.games)):
            self._try_unrated_again()
        self._followed.note_wakes(news)
        if news_of(self._player) in news:
            self._news.note_wake()
            self._be_seen()

    def request_check(self, since: float) -> None:
        self._try_unrated_again()
        self._followed.request_check(since)
        self._news.note_wake()
        self._be_seen()

    def _be_seen(self) -> None:
        """Keep the player's seek, which ends without a stream."""
        with suppress(LogUnavailable):
            self._ports.seeks.see(self._player)

    def next_piece(self) -> bytes | None:
        """The notices of the next match that has any; None if there is none.

        If the log does not answer, the next wake-up or heartbeat tries again.

        Raises:
            StreamEnded: the clock is wrong; another process may continue the stream.
        """
        try:
            if self._clock_fault() is not None:
                raise StreamEnded("restart")
            return self._next_backlog() or self._next_news() or self._next_changed()
        except LogUnavailable:
            return None

    def _try_unrated_again(self) -> None:
        self._backlog += self._unrated.values()
        self._unrated.clear()

    def _next_backlog(self) -> bytes | None:
        while self._backlog or self._concluded_listed is not None:
            if not self._backlog:
                self._list_concluded()
                continue
            piece = self._backlog_notices(self._backlog[0])
            self._backlog.popleft()
            if piece:
                return piece
        return None

    def _next_news(self) -> bytes | None:
        return b"".join(self._frame(made.type, made) for made in self._news.notices(self._cursor())) or None

    def _next_changed(self) -> bytes | None:
        while (match_id := self._followed.changed()) is not None:
            found = self._followed.unsent(match_id)
            if found is None:
                continue
            match, sent = found
            if match_id in self._unrated or self._followed.awaits_rating(match):
                self._followed.await_rating(match)
                continue
            piece = self._notices(match, self._ports.history.verified_after(match, sent))
            self._followed.sent(match)
            if piece:
                return piece
        if self._followed.is_check_complete:
            self._position = self._followed.check_began_at
        return None

    def _backlog_of(self, match: Match) -> _Backlog | None:
        """The backlog of a match that the stream follows; None if there is none."""
        if match.is_over or (self._since is not None and match.at >= self._since):
            return _Backlog(match.id, self._since or match.at, match.head.version)
        if self._include.legal_actions and turns(match, self._player):
            return _Backlog(match.id, None, match.head.version)
        return None

    def _list_concluded(self) -> None:
        """Add a page of the matches that were concluded since the position to the backlog."""
        since, skip = self._since or 0, self._concluded_listed or 0
        entries = self._ports.index.concluded(self._player, since, skip, _CONCLUDED_PAGE)
        self._concluded_listed = skip + len(entries) if len(entries) == _CONCLUDED_PAGE else None
        self._backlog += [_Backlog(one.match_id, since, None) for one in entries if one.match_id not in self._ended]

    def _backlog_notices(self, backlog: _Backlog) -> bytes:
        """The notices of a match in the backlog."""
        if backlog.upto is None:
            try:
                match = self._streams.watch(backlog.match_id).newest(Wake(None, time.monotonic()))
            except StreamEnded:
                return b""
            if match is None:
                raise LogUnavailable("unavailable")
            is_over = match.is_over and match.is_of(self._player)
            if is_over and self._followed.awaits_rating(match):
                self._unrated[match.id] = backlog
                return b""
            return self._notices(match, self._backlog_events(match, backlog)) if is_over else b""
        found = self._followed.newest(backlog.match_id, Wake(None, 0.0))
        if found is None:
            return b""
        if self._followed.awaits_rating(found):
            self._unrated[found.id] = backlog
            return b""
        only: frozenset[Kind] = frozenset({"your_turn"}) if backlog.since is None else KINDS
        piece = self._notices(found, self._backlog_events(found, backlog), only)
        if found.is_over and backlog.upto == found.head.version:
            self._ended.add(found.id)
            self._followed.sent(found)
        return piece

    def _backlog_events(self, match: Match, backlog: _Backlog) -> Iterator[Verified]:
        """The events that a `_Backlog` is about."""
        history = self._ports.history
        if backlog.since is None:
            for version in sorted(turns(match, self._player)):
                yield from history.verified(match, version - 1, 1)
            return
        found: list[Verified] = []
        first = 1 + (match.head.version if backlog.upto is None else min(backlog.upto, match.head.version))
        needs_end = match.is_over
        while first > 1:
            size = min(_READ_BATCH, first - 1)
            first -= size
            read = history.verified(match, first - 1, size)
            ends = {one.event.version for one in read if needs_end and one.event.type in _ENDS}
            found[:0] = [one for one in read if one.event.at >= backlog.since or one.event.version in ends]
            needs_end = needs_end and not ends
            if read[0].event.at < backlog.since and not needs_end:
                break
        yield from found

    def _notices(self, newest: Match, events: Iterator[Verified], only: frozenset[Kind] = KINDS) -> bytes:
        """The notices about some events of a match, without turns that are over; empty if the match cannot be read."""
        found = []
        try:
            for kind, match in noticed(self._ports.history, newest, events, self._player, only):
                rating = rating_change(self._ports, kind, match, self._player)
                made = notice(kind, match, self._player, self._include, self._cursor(), rating=rating)
                found.append(self._frame(kind, made))
        except (Corrupt, Refused):
            return b""
        return b"".join(found)

    def _cursor(self) -> str:
        return cursors.encode(self._position)

    def _frame(self, name: str, value: object) -> bytes:
        return self._form.frame(name, value, self._cursor())


def _since(after: int, now: int) -> int:
    """The time (server milliseconds) from which a stream that is resumed from `after` repeats what happened.

    If a clock was set back, nobody knows when the position was right, so the stream repeats everything.
    """
    return 0 if after > now + CLOCKS_DIFFER_MS else max(0, min(after, now) - OVERLAP_MS)


_ENDS: Final = frozenset({"match_scored", "match_aborted"})
