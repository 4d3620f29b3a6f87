"""Streams of several public matches, as a spectator sees them.

The position of a stream is the last sent version of each match, in the order in which the client named the matches.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

import msgspec

from events.feed import Waiter, Wake
from events.log import LogUnavailable
from events.record import Head, MatchId, Version
from service.match.model import Match, Status
from service.match.redaction import Situation
from service.repository.ports import Ports
from service.subscriptions import streams
from service.subscriptions.frames import Form, Reason
from service.subscriptions.match_stream import MatchProgress
from service.subscriptions.match_watch import StreamEnded, read_together
from service.subscriptions.situation import Include, situation
from service.subscriptions.streams import Streams

MAX_MATCHES: Final = 100

MatchReason: TypeAlias = Literal[
    "finished", "aborted", "match-not-found", "history-diverged", "match-corrupt", "engine-too-old"
]


class WatchedMatch(Situation, frozen=True):
    """A match when the stream begins, with the members that `include` adds if no event of it follows immediately."""

    match: MatchId
    version: Version
    head: str
    status: Status


class SpectatorHello(msgspec.Struct, frozen=True, tag="hello"):
    """The first frame: the matches in the order in which the client named them, and the interval of heartbeats."""

    matches: tuple[WatchedMatch, ...]
    now: int
    heartbeat_ms: int


class MatchEnd(msgspec.Struct, frozen=True, tag="match_end"):
    """The stream sends no more events of this match; `version` and `head` are those of its last event that was sent.

    `finished` and `aborted`: the match is over, and all events were sent. Any other reason is the code of a problem.
    """

    match: MatchId
    reason: MatchReason
    version: Version
    head: str


class SpectatorEnd(msgspec.Struct, frozen=True, tag="end"):
    """The last frame. `finished`: each match has had its `match_end`. `restart`, `max-age`: connect again.
    `token-revoked`: the token is no longer valid.
    """

    reason: Literal["finished", "restart", "max-age", "token-revoked"]


class SpectatorSubscription:
    """Follows public matches. `sent` has each match with the head after the last event that the client has."""

    def __init__(
        self, ports: Ports, shared: Streams, form: Form, sent: Sequence[tuple[Match, Head]], include: Include
    ) -> None:
        self.heartbeat = form.heartbeat
        self._history = ports.history
        self._form = form
        self._progress = {
            match.id: MatchProgress(shared.watch(match.id), form, head, include=include, numbered=False)
            for match, head in sent
        }
        self._ended: set[MatchId] = set()
        # Matches that may have something to send; the one that has waited longest is first.
        self._changed: dict[MatchId, None] = {}
        self._check_since: float | None = None
        self._hello = SpectatorHello(
            matches=tuple(
                WatchedMatch(
                    match=match.id,
                    version=match.head.version,
                    head=match.head.hash,
                    status=match.status,
                    **(situation(match, None, include, is_newest=True) if match.head == head else {}),
                )
                for match, head in sent
            ),
            now=ports.now(),
            heartbeat_ms=int(streams.HEARTBEAT_S * 1000),
        )

    def begin(self, waiter: Waiter) -> bytes:
        waiter.follow(self._progress)
        self.request_check(time.monotonic())
        return self._form.opening + self._form.frame("hello", self._hello, self._position())

    def note_wakes(self, news: Mapping[str, Wake]) -> None:
        for match_id, wake in news.items():
            if match_id not in self._ended:
                self._progress[match_id].note_wake(wake)
                self._changed[match_id] = None

    def request_check(self, since: float) -> None:
        self._check_since = since
        for match_id, progress in self._progress.items():
            if match_id not in self._ended:
                progress.request_check(since)
                self._changed.setdefault(match_id)

    def next_piece(self) -> bytes | None:
        """The next events of one of the matches, None if there are none yet.

        Raises:
            StreamEnded: every match has ended.
        """
        if not self._read_all_if_due():
            return None
        while self._changed:
            match_id = next(iter(self._changed))
            progress = self._progress[match_id]
            try:
                piece = progress.next_piece()
            except StreamEnded as ended:
                piece = self._end_of(match_id, progress.sent, ended.reason)
            del self._changed[match_id]
            if not progress.is_up_to_date and match_id not in self._ended:
                self._changed[match_id] = None  # behind the others
            if piece is not None:
                return piece + self._form.mark(self._position())
        if len(self._ended) == len(self._progress):
            raise StreamEnded("finished")
        return None

    def end(self, reason: Reason) -> bytes:
        return self._form.frame(
            "end", msgspec.convert({"type": "end", "reason": reason}, SpectatorEnd), self._position()
        )

    def _read_all_if_due(self) -> bool:
        """Read all matches in one round trip if a heartbeat requested a check; False if the log does not answer."""
        if self._check_since is None:
            return True
        watches = [one.watch for match_id, one in self._progress.items() if match_id not in self._ended]
        try:
            read_together(self._history, watches, self._check_since)
        except LogUnavailable:
            return False
        self._check_since = None
        return True

    def _end_of(self, match_id: MatchId, sent: Head, reason: Reason) -> bytes:
        self._ended.add(match_id)
        frame = {"type": "match_end", "match": match_id, "reason": reason, "version": sent.version, "head": sent.hash}
        return self._form.frame("match_end", msgspec.convert(frame, MatchEnd), "")

    def _position(self) -> str:
        return ",".join(str(progress.sent.version) for progress in self._progress.values())
