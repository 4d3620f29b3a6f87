"""Streams of one match: each event exactly once, in order, to the end of the match."""

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
from service.subscriptions.match_watch import MatchWatch, StreamEnded
from service.subscriptions.situation import NOTHING, Include, situation


class MatchProgress:
    """The progress of a client in the events of one match: `sent` is the head after the last event that was sent.

    `player` and `seat` are the arguments of `viewer_of`. Access is checked again whenever events are sent.
    `numbered`: the frame of an event has its version as id.
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
        self._pending: Wake | None = None

    @property
    def is_up_to_date(self) -> bool:
        """Whether there is no sign of events that were not sent."""
        return self._pending is None

    def note_wake(self, wake: Wake) -> None:
        if wake.may_exceed(self.sent.version):
            self._pending = wake if self._pending is None else self._pending.merged_with(wake)

    def request_check(self, since: float) -> None:
        self._pending = Wake(None, since)

    def next_piece(self) -> bytes | None:
        """The next events, None if there are none yet.

        Raises:
            StreamEnded: the match is over, the client may not see it, or its history differs from what was sent.
        """
        if self._pending is None:
            return None
        match = self.watch.newest(self._pending)
        piece = None if match is None else self._after_sent(match)
        if match is None or piece is None or (self.sent == match.head and match.server_seed is None):
            self._pending = None
        return piece

    def _after_sent(self, match: Match) -> bytes | None:
        try:
            viewer = viewer_of(match, self._player, self._seat)
        except Refused as error:
            raise StreamEnded("not-your-seat" if error.code == "not-your-seat" else "match-not-found") from None
        if self.sent == match.head:
            if match.server_seed is not None:
                raise StreamEnded("finished" if match.status == "finished" else "aborted")
            return None
        if self.sent.version >= match.head.version:
            raise StreamEnded("history-diverged")
        chunk = self.watch.after(match, viewer, self.sent.version, self._form, self._include, numbered=self._numbered)
        if chunk is None:
            return None
        if chunk.follows != self.sent.hash:
            raise StreamEnded("history-diverged")
        self.sent = chunk.last
        return chunk.body


class MatchSubscription:
    """Follows a match, beginning with the event after `sent`. `now` is the server time in milliseconds.

    The other parameters are those of `MatchProgress`.
    """

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
            heartbeat_ms=int(streams.HEARTBEAT_S * 1000),
            **(situation(match, viewer, include, is_newest=True) if sent == match.head else {}),
        )

    def begin(self, waiter: Waiter) -> bytes:
        waiter.follow([self._progress.watch.match_id])
        self.request_check(time.monotonic())
        return self._form.opening + self._form.frame("hello", self._hello, "")

    def note_wakes(self, news: Mapping[str, Wake]) -> None:
        for wake in news.values():
            self._progress.note_wake(wake)

    def request_check(self, since: float) -> None:
        self._progress.request_check(since)

    def next_piece(self) -> bytes | None:
        """The next events, None if there are none yet.

        Raises:
            StreamEnded: as in `MatchProgress.next_piece`.
        """
        return self._progress.next_piece()

    def end(self, reason: Reason) -> bytes:
        sent = self._progress.sent
        return self._form.frame("end", StreamEnd(reason, sent.version, sent.hash), "")
