"""One client's way through the events of a match: each event exactly once, in order, to the end of the match."""

import time
from collections.abc import Mapping

from events.feed import Waiter, Wake
from events.record import Head
from service.errors import Refused
from service.games.visibility import Seat
from service.match.model import Match
from service.match.redaction import viewer_of
from service.subscriptions import streams
from service.subscriptions.frames import Form, Reason, StreamEnd, StreamHello
from service.subscriptions.match_watch import Ended, MatchWatch
from service.subscriptions.situation import NOTHING, Include, situation


class MatchProgress:
    """How far a client has come with the events of one match: `sent` is the last one that it was sent.

    `player` looks from `seat`, as `viewer_of` takes them, with the rights of the moment in which an event is sent.
    `numbered` events have their version as the id of their frame.
    """

    def __init__(
        self,
        watch: MatchWatch,
        form: Form,
        sent: Head,
        *,
        player: str | None = None,
        seat: Seat | None = None,
        include: Include = NOTHING,
        numbered: bool = True,
    ) -> None:
        self.watch = watch
        self.sent = sent
        self._form = form
        self._player = player
        self._seat = seat
        self._include = include
        self._numbered = numbered
        self._wanted: Wake | None = None

    @property
    def is_looked_at(self) -> bool:
        """Whether nothing is known to be there that was not sent."""
        return self._wanted is None

    def hear(self, wake: Wake) -> None:
        if wake.brings(self.sent.version):
            self._wanted = wake if self._wanted is None else self._wanted.and_then(wake)

    def look_again(self, since: float) -> None:
        self._wanted = Wake(None, since)

    def next_piece(self) -> bytes | None:
        """The next events, None if there are none yet.

        Raises:
            Ended: the match is over, or not this client's to see, or no longer the one that was sent.
        """
        if self._wanted is None:
            return None
        match = self.watch.newest(self._wanted)
        piece = None if match is None else self._after_sent(match)
        if match is None or piece is None or (self.sent == match.head and match.server_seed is None):
            self._wanted = None
        return piece

    def _after_sent(self, match: Match) -> bytes | None:
        try:
            viewer = viewer_of(match, self._player, self._seat)
        except Refused as error:
            raise Ended("not-your-seat" if error.code == "not-your-seat" else "match-not-found") from None
        if self.sent == match.head:
            if match.server_seed is not None:
                raise Ended("finished" if match.status == "finished" else "aborted")
            return None
        if self.sent.version >= match.head.version:
            raise Ended("history-diverged")
        chunk = self.watch.after(match, viewer, self.sent.version, self._form, self._include, numbered=self._numbered)
        if chunk is None:
            return None
        if chunk.follows != self.sent.hash:
            raise Ended("history-diverged")
        self.sent = chunk.last
        return chunk.body


class MatchSubscription:
    """Follows a match from the event after `sent` on, as `MatchProgress` has it. `now` is the time at which it begins."""

    def __init__(
        self,
        watch: MatchWatch,
        form: Form,
        *,
        match: Match,
        sent: Head,
        player: str | None,
        seat: Seat | None,
        now: int,
        include: Include = NOTHING,
    ) -> None:
        self.heartbeat = form.heartbeat
        self._form = form
        self._progress = MatchProgress(watch, form, sent, player=player, seat=seat, include=include)
        viewer = viewer_of(match, player, seat)
        self._hello = StreamHello(
            match=match.id,
            version=match.head.version,
            head=match.head.hash,
            status=match.status,
            viewer=viewer,
            now=now,
            heartbeat_ms=int(streams.HEARTBEAT * 1000),
            **(situation(match, viewer, include, is_newest=True) if sent == match.head else {}),
        )

    def begin(self, waiter: Waiter) -> bytes:
        waiter.follow([self._progress.watch.match_id])
        self.look_again(time.monotonic())
        return self._form.opening + self._form.frame("hello", self._hello, "")

    def hear(self, news: Mapping[str, Wake]) -> None:
        for wake in news.values():
            self._progress.hear(wake)

    def look_again(self, since: float) -> None:
        self._progress.look_again(since)

    def next_piece(self) -> bytes | None:
        """The next events, None if there are none yet.

        Raises:
            Ended: as `MatchProgress` has it.
        """
        return self._progress.next_piece()

    def end(self, reason: Reason) -> bytes:
        sent = self._progress.sent
        return self._form.frame("end", StreamEnd(reason, sent.version, sent.hash), "")
