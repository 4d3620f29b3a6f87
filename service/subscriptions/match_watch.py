"""State that all streams of one match in a process share: the last read of the log, and encoded events."""

import threading
import time
from collections.abc import Iterable
from typing import Final, NamedTuple

from events.feed import Wake
from events.log import LogUnavailable
from events.record import Head, MatchId, Version
from service.errors import Corrupt, Refused
from service.games.visibility import Viewer
from service.match.model import Match
from service.repository.match_history import History
from service.subscriptions.frames import Form, Reason
from service.subscriptions.situation import FrameReader, Include

CHUNK_EVENTS: Final = 100
"""Maximum number of events that a stream sends at once."""

_MAX_CHUNKS: Final = 64
"""Maximum number of encoded chunks per match: one per viewer, form and `include`."""
_FALSE_WAKE_DELAY_S: Final = 0.01
"""Minimum seconds between two reads after a false wake-up. Anyone who can reach the server can send wake-ups."""


class StreamEnded(Exception):
    """A stream is over; the client receives the reason."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason: Reason = reason


class Chunk(NamedTuple):
    """Encoded events, the hash of the event before them, and the head after them."""

    body: bytes
    follows: str
    last: Head


class _Read(NamedTuple):
    """The begin (monotonic) and the result of a read of a match. Without a version and a reason the log did not answer.

    `is_false_wake`: the wake-up that caused the read named a version that does not exist.
    """

    began: float
    version: Version | None = None
    refused: Reason | None = None
    is_false_wake: bool = False

    def answers(self, wake: Wake) -> bool:
        if self.began >= wake.at:
            return True
        return wake.version is not None and self.version is not None and not wake.may_exceed(self.version)


class MatchWatch:
    """State that all streams of one match in this process share. Streams that wait for a read share the next one.

    The match itself is in the cache of `History`: a process follows many matches that rarely change.
    """

    def __init__(self, history: History, match_id: MatchId) -> None:
        self.match_id = match_id
        self._history = history
        self._lock = threading.Lock()
        self._last = _Read(float("-inf"))
        self._frames = FrameReader(history)
        self._chunks: dict[tuple[Head, Viewer, Version, Form, bool, Include], Chunk] = {}

    def newest(self, wake: Wake) -> Match | None:
        """The match, from a read that is recent enough for a wake-up; None if the log did not answer.

        Raises:
            StreamEnded: the match cannot be read any more.
        """
        # Most streams find the result of another stream's read, and need no lock.
        is_known, match = self._known(wake)
        if not is_known:
            with self._lock:
                is_known, match = self._known(wake)
                if not is_known:
                    match = self._read(wake)
        return match

    def _known(self, wake: Wake) -> tuple[bool, Match | None]:
        """Whether no read is needed, and the result of the last read."""
        last = self._last
        if not last.answers(wake):
            return False, None
        if last.refused is not None:
            raise StreamEnded(last.refused)
        match = None if last.version is None else self._history.reached(self.match_id, last.version)
        return match is not None or last.version is None, match

    def _read(self, wake: Wake) -> Match | None:
        if wake.version is not None and (known := self._history.reached(self.match_id, wake.version)) is not None:
            self._last = self._last._replace(version=known.head.version, refused=None)
            return known
        if self._last.is_false_wake:
            time.sleep(max(0.0, self._last.began + _FALSE_WAKE_DELAY_S - time.monotonic()))
        began = time.monotonic()
        found: Match | Corrupt | Refused
        try:
            found = self._history.newest(self.match_id)[0]
        except LogUnavailable:
            self._last = _Read(began)
            return None
        except (Corrupt, Refused) as error:
            found = error
        self.record_read(began, found, wake)
        if isinstance(found, Match):
            return found
        raise StreamEnded(_reason(found))

    def record_read(self, began: float, found: Match | Corrupt | Refused, wake: Wake) -> None:
        """Store the result of a read that began at `began` (monotonic) because of `wake`."""
        if isinstance(found, Match):
            version = found.head.version
            self._last = _Read(began, version, is_false_wake=wake.version is not None and wake.may_exceed(version))
        else:
            self._last = _Read(began, refused=_reason(found))

    def needs_read(self, wake: Wake) -> bool:
        return not self._last.answers(wake)

    def after(
        self, match: Match, viewer: Viewer, sent: Version, form: Form, include: Include, *, numbered: bool
    ) -> Chunk | None:
        """The events after version `sent`, which is not the newest; None if the log does not answer.

        `numbered`: the frame of an event has its version as id.

        Raises:
            StreamEnded: `match-corrupt`.
        """
        key = (match.head, viewer, sent, form, numbered, include)
        if (chunk := self._chunks.get(key)) is not None:
            return chunk
        with self._lock:
            if (chunk := self._chunks.get(key)) is not None:
                return chunk
            try:
                events = self._frames.after(match, viewer, sent, CHUNK_EVENTS, include)
            except LogUnavailable:
                # No stream tries again before the next read of the match.
                self._last = self._last._replace(version=None)
                return None
            except Corrupt:
                raise StreamEnded("match-corrupt") from None
            last = Head(events[-1].version, events[-1].hash)
            frames = [form.frame(event.type, event, str(event.version) if numbered else "") for event in events]
            chunk = Chunk(b"".join(frames), events[0].prev, last)
            if last == match.head:
                # Keep only chunks up to the newest head: others are rarely used, and lists of actions are long.
                kept = {one: known for one, known in self._chunks.items() if one[0] == last}
                self._chunks = {**(kept if len(kept) < _MAX_CHUNKS else {}), key: chunk}
            return chunk


def read_together(history: History, watches: Iterable[MatchWatch], since: float) -> None:
    """Read all matches whose last read began before `since` (monotonic) in one round trip.

    Raises:
        LogUnavailable: the log does not answer.
    """
    wake = Wake(None, since)
    stale = {watch.match_id: watch for watch in watches if watch.needs_read(wake)}
    began = time.monotonic()
    for match_id, found in (history.newest_each(stale) if stale else {}).items():
        stale[match_id].record_read(began, found, wake)


def _reason(error: Corrupt | Refused) -> Reason:
    if isinstance(error, Corrupt):
        return "match-corrupt"
    return "engine-too-old" if error.code == "engine-too-old" else "match-not-found"
