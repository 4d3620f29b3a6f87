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


class MatchSubscription:
    """Follows a match from the event after `sent` on.

    `player` looks from `seat`, as `viewer_of` takes them, with the rights of the moment in which an event is sent.
    `now` is the time at which it begins, `language` that of the events' texts, None for none.
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
        language: str | None = None,
    ) -> None:
        self.heartbeat = form.heartbeat
        self._watch = watch
        self._form = form
        self._sent = sent
        self._player = player
        self._seat = seat
        self._language = language
        self._wanted: Wake | None = None
        self._hello = form.hello(
            StreamHello(
                match=match.id,
                version=match.head.version,
                head=match.head.hash,
                status=match.status,
                viewer=viewer_of(match, player, seat),
                now=now,
                heartbeat_ms=int(streams.HEARTBEAT * 1000),
            )
        )

    def begin(self, waiter: Waiter) -> bytes:
        waiter.follow([self._watch.match_id])
        self.look_again(time.monotonic())
        return self._hello

    def hear(self, news: Mapping[str, Wake]) -> None:
        for wake in news.values():
            if wake.brings(self._sent.version):
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
        match = self._watch.newest(self._wanted)
        piece = None if match is None else self._after_sent(match)
        if match is None or piece is None or (self._sent == match.head and match.server_seed is None):
            self._wanted = None
        return piece

    def end(self, reason: Reason) -> bytes:
        return self._form.end(StreamEnd(reason, self._sent.version, self._sent.hash))

    def _after_sent(self, match: Match) -> bytes | None:
        try:
            viewer = viewer_of(match, self._player, self._seat)
        except Refused as error:
            raise Ended("not-your-seat" if error.code == "not-your-seat" else "match-not-found") from None
        if self._sent == match.head:
            if match.server_seed is not None:
                raise Ended("finished" if match.status == "finished" else "aborted")
            return None
        if self._sent.version >= match.head.version:
            raise Ended("history-diverged")
        chunk = self._watch.after(match, viewer, self._sent.version, self._form, self._language)
        if chunk is None:
            return None
        if chunk.follows != self._sent.hash:
            raise Ended("history-diverged")
        self._sent = chunk.last
        return chunk.body
