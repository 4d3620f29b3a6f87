"""One player's way through all of their matches that are not over, in one stream.

A position in it is a time: all that happened before was sent. Whoever goes on from there is sent what happened since in the
matches that are not over, and the ends of those that are. Of the minute before the position all is sent again: clocks of
several machines differ, and an event's time is that of its command's receipt, a little before it was written.
"""

import time
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from events.feed import Waiter, Wake
from events.log import LogUnavailable
from events.record import MatchId, Version
from service.errors import Corrupt, Refused
from service.match.model import Match
from service.repository import cursors
from service.repository.ports import Ports
from service.repository.verified_events import Verified
from service.subscriptions import followed, streams
from service.subscriptions.followed import FollowedMatches
from service.subscriptions.frames import Form, Reason
from service.subscriptions.match_watch import Ended
from service.subscriptions.notices import ALWAYS_TOLD, KINDS, Kind, NoticesEnd, NoticesHello, kinds, notice, turns
from service.subscriptions.situation import Include
from service.subscriptions.streams import Streams
from service.views.match_views import OwnMatch, own_summaries

OVERLAP_MS: Final = 60_000
"""More than clocks differ, and more than a command takes to be written."""
_EVENTS: Final = 100
"""Read at once."""
_CONCLUDED: Final = 200
"""Listed at once."""


class _Earlier(msgspec.Struct, frozen=True):
    """A match with something to send from before the stream: what happened since a time, or (None) the turns that are open.

    `upto` is the version at which the stream began to follow it, None where it does not; then its end is sent anyhow.
    """

    match_id: MatchId
    since: int | None
    upto: Version | None


class PlayerSubscription:
    """Follows a player's matches, from now on or from a position (server milliseconds) on."""

    def __init__(
        self, ports: Ports, shared: Streams, player: str, form: Form, include: Include, after: int | None = None
    ) -> None:
        self.heartbeat = form.heartbeat
        self._ports = ports
        self._streams = shared
        self._player = player
        self._form = form
        self._include = include
        now = ports.now()
        # A position may be later than now if a clock was set back. Nothing that happens until then may be skipped.
        self._position = now if after is None else min(after, now)
        self._since = None if after is None else max(0, self._position - OVERLAP_MS)
        self._followed: FollowedMatches
        self._earlier: deque[_Earlier] = deque()
        # How many of the matches that were concluded since are listed among those; None once all are.
        self._concluded = None if after is None else 0
        self._ended: set[MatchId] = set()
        """Those of the matches that were over when the stream began whose end it sent itself."""

    def begin(self, waiter: Waiter) -> bytes:
        """The first frame: all matches as they are now.

        Raises:
            LogUnavailable
        """
        self._followed = FollowedMatches(self._ports, self._streams, self._player, waiter)
        listed: list[OwnMatch] = []
        for part in self._followed.read_all():
            going_on = [match for match in part if not match.is_over]
            listed += own_summaries(self._ports, going_on, self._player)
            self._earlier += [earlier for match in part if (earlier := self._earlier_of(match)) is not None]
        hello = NoticesHello(
            player=self._player,
            matches=tuple(listed),
            followed=followed.MOST,
            now=self._ports.now(),
            heartbeat_ms=int(streams.HEARTBEAT * 1000),
            cursor=self._cursor(),
        )
        return self._form.opening + self._frame("hello", hello)

    def end(self, reason: Reason) -> bytes:
        last = {"type": "end", "reason": reason, "cursor": self._cursor()}
        return self._frame("end", msgspec.convert(last, NoticesEnd))

    def hear(self, news: Mapping[str, Wake]) -> None:
        self._followed.hear(news)

    def look_again(self, since: float) -> None:
        self._followed.look_again(since)

    def next_piece(self) -> bytes | None:
        """The notices of the next match that there is something to tell of; None if there is none.

        What a log that does not answer keeps back is tried again at the next wake-up or heartbeat.
        """
        try:
            return self._next_earlier() or self._next_changed()
        except LogUnavailable:
            return None

    def _next_earlier(self) -> bytes | None:
        while self._earlier or self._concluded is not None:
            if not self._earlier:
                self._list_concluded()
                continue
            piece = self._before(self._earlier[0])
            self._earlier.popleft()
            if piece:
                return piece
        return None

    def _next_changed(self) -> bytes | None:
        while (match_id := self._followed.changed()) is not None:
            found = self._followed.new_in(match_id)
            if found is None:
                continue
            match, sent = found
            piece = self._notices(match, self._after(match, sent))
            self._followed.sent(match)
            if piece:
                return piece
        if self._followed.is_round_over:
            self._position = self._followed.round_began
        return None

    def _earlier_of(self, match: Match) -> _Earlier | None:
        """What is to be sent of a match from before the stream, if anything."""
        if match.is_over or (self._since is not None and match.at >= self._since):
            return _Earlier(match.id, self._since or match.at, match.head.version)
        if self._include.legal_actions and turns(match, self._player):
            return _Earlier(match.id, None, match.head.version)
        return None

    def _list_concluded(self) -> None:
        """More of the matches that were concluded since the stream's beginning, if there are any."""
        since, skip = self._since or 0, self._concluded or 0
        places = self._ports.index.concluded(self._player, since, skip, _CONCLUDED)
        self._concluded = skip + len(places) if len(places) == _CONCLUDED else None
        ids = [place.partition(":")[2] for place in places]
        self._earlier += [_Earlier(match_id, since, None) for match_id in ids if match_id not in self._ended]

    def _before(self, earlier: _Earlier) -> bytes:
        """What is to be sent of a match from before the stream."""
        if earlier.upto is None:
            try:
                match = self._streams.watch(earlier.match_id).newest(Wake(None, time.monotonic()))
            except Ended:
                return b""
            if match is None:
                raise LogUnavailable("unavailable")
            is_over = match.is_over and match.is_of(self._player)
            return self._notices(match, self._backwards(match, earlier)) if is_over else b""
        found = self._followed.newest(earlier.match_id, Wake(None, 0.0))
        if found is None:
            return b""
        only: frozenset[Kind] = frozenset({"your_turn"}) if earlier.since is None else KINDS
        piece = self._notices(found, self._backwards(found, earlier), only)
        if found.is_over and earlier.upto == found.head.version:
            self._ended.add(found.id)
            self._followed.sent(found)
        return piece

    def _after(self, match: Match, version: Version) -> Iterator[Verified]:
        """A match's events after a version."""
        while version < match.head.version:
            events = self._ports.history.verified(match, version, _EVENTS)
            yield from events
            version = events[-1].head.version

    def _backwards(self, match: Match, earlier: _Earlier) -> Iterator[Verified]:
        """A match's events since a time, or those that opened what is open; and its end, if the stream does not follow it."""
        history = self._ports.history
        if earlier.since is None:
            for version in sorted(turns(match, self._player)):
                yield from history.verified(match, version - 1, 1)
            return
        found: list[Verified] = []
        first = 1 + (match.head.version if earlier.upto is None else min(earlier.upto, match.head.version))
        needs_end = match.is_over
        while first > 1:
            size = min(_EVENTS, first - 1)
            first -= size
            read = history.verified(match, first - 1, size)
            ends = {one.event.version for one in read if needs_end and one.event.type in _ENDS}
            found[:0] = [one for one in read if one.event.at >= earlier.since or one.event.version in ends]
            needs_end = needs_end and not ends
            if read[0].event.at < earlier.since and not needs_end:
                break
        yield from found

    def _notices(self, newest: Match, events: Iterator[Verified], only: frozenset[Kind] = KINDS) -> bytes:
        """The notices of some events of a match, but of turns that are over; none of a match that cannot be read."""
        open_turns = turns(newest, self._player)
        found = []
        try:
            for event, head in events:
                if event.type not in ALWAYS_TOLD and event.version not in open_turns:
                    continue
                match = newest if head == newest.head else self._ports.history.at(newest.id, event.version)
                found += [
                    self._frame(kind, notice(kind, match, self._player, self._include, self._cursor()))
                    for kind in kinds(event, match, self._player)
                    if kind in only and (kind != "your_turn" or event.version in open_turns)
                ]
        except (Corrupt, Refused):
            return b""
        return b"".join(found)

    def _cursor(self) -> str:
        return cursors.encode(self._position)

    def _frame(self, name: str, value: object) -> bytes:
        return self._form.frame(name, value, self._cursor())


_ENDS: Final = frozenset({"match_scored", "match_aborted"})
