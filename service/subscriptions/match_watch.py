"""What the streams of one match in a process share: the read of its log, and the bytes that they send."""

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

CHUNK: Final = 100
"""Events sent in one piece."""

_CHUNKS_KEPT: Final = 64
"""Of a match: for its viewers, forms, languages, and what else they ask for."""
_FALSE_ALARM: Final = 0.01
"""Seconds before the next read after a wake-up that was not true: anyone who reaches the server may send them."""


class Ended(Exception):
    """A stream is over, and its client is to be told why."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason: Reason = reason


class Chunk(NamedTuple):
    """Some events as they are sent, the hash that they follow, and their last one."""

    body: bytes
    follows: str
    last: Head


class _Read(NamedTuple):
    """When a read of a match began, and what it gave: neither a version nor a reason where the log did not answer.

    `is_false_alarm`: the wake-up that it was made for was not true.
    """

    began: float
    version: Version | None = None
    refused: Reason | None = None
    is_false_alarm: bool = False

    def answers(self, wake: Wake) -> bool:
        if self.began >= wake.at:
            return True
        return wake.version is not None and self.version is not None and not wake.brings(self.version)


class MatchWatch:
    """What the streams of one match in this process share: whoever asks while a read is under way shares the next one.

    The match itself is in the history's memory, for many who follow hundreds of matches hardly ever look at them.
    """

    def __init__(self, history: History, match_id: MatchId) -> None:
        self.match_id = match_id
        self._history = history
        self._lock = threading.Lock()
        self._last = _Read(float("-inf"))
        self._frames = FrameReader(history)
        self._chunks: dict[tuple[Head, Viewer, Version, Form, bool, Include], Chunk] = {}

    def newest(self, wake: Wake) -> Match | None:
        """The match, from a read that shows what a wake-up is about; None if the log did not answer.

        Raises:
            Ended: the match cannot be told any more.
        """
        # Most find what another has read, and need no lock for it.
        is_known, match = self._known(wake)
        if not is_known:
            with self._lock:
                is_known, match = self._known(wake)
                if not is_known:
                    match = self._read(wake)
        return match

    def _known(self, wake: Wake) -> tuple[bool, Match | None]:
        """Whether no read is needed, and what the last one gave."""
        last = self._last
        if not last.answers(wake):
            return False, None
        if last.refused is not None:
            raise Ended(last.refused)
        match = None if last.version is None else self._history.reached(self.match_id, last.version)
        return match is not None or last.version is None, match

    def _read(self, wake: Wake) -> Match | None:
        if wake.version is not None and (known := self._history.reached(self.match_id, wake.version)) is not None:
            self._last = self._last._replace(version=known.head.version, refused=None)
            return known
        if self._last.is_false_alarm:
            time.sleep(max(0.0, self._last.began + _FALSE_ALARM - time.monotonic()))
        began = time.monotonic()
        found: Match | Corrupt | Refused
        try:
            found = self._history.newest(self.match_id)[0]
        except LogUnavailable:
            self._last = _Read(began)
            return None
        except (Corrupt, Refused) as error:
            found = error
        self.note(began, found, wake)
        if isinstance(found, Match):
            return found
        raise Ended(_reason(found))

    def note(self, began: float, found: Match | Corrupt | Refused, wake: Wake) -> None:
        """What a read gave that began at a moment (monotonic), made for a wake-up."""
        if isinstance(found, Match):
            version = found.head.version
            self._last = _Read(began, version, is_false_alarm=wake.version is not None and wake.brings(version))
        else:
            self._last = _Read(began, refused=_reason(found))

    def needs_read(self, wake: Wake) -> bool:
        return not self._last.answers(wake)

    def after(
        self, match: Match, viewer: Viewer, sent: Version, form: Form, include: Include, *, numbered: bool
    ) -> Chunk | None:
        """The next events after a version that is not the newest; None if the log does not answer.

        `numbered` events have their version as the id of their frame.

        Raises:
            Ended: `match-corrupt`.
        """
        key = (match.head, viewer, sent, form, numbered, include)
        if (chunk := self._chunks.get(key)) is not None:
            return chunk
        with self._lock:
            if (chunk := self._chunks.get(key)) is not None:
                return chunk
            try:
                events = self._frames.after(match, viewer, sent, CHUNK, include)
            except LogUnavailable:
                self._last = self._last._replace(version=None)  # nobody tries again before the next read of the match
                return None
            except Corrupt:
                raise Ended("match-corrupt") from None
            last = Head(events[-1].version, events[-1].hash)
            frames = [form.frame(event.type, event, str(event.version) if numbered else "") for event in events]
            chunk = Chunk(b"".join(frames), events[0].prev, last)
            if last == match.head:
                # What leads to an older head is hardly asked for any more, and lists may be long.
                kept = {one: known for one, known in self._chunks.items() if one[0] == last}
                self._chunks = {**(kept if len(kept) < _CHUNKS_KEPT else {}), key: chunk}
            return chunk


def read_together(history: History, watches: Iterable[MatchWatch], since: float) -> None:
    """Read all matches whose last read began before `since` (monotonic) in one round trip.

    Raises:
        LogUnavailable
    """
    wake = Wake(None, since)
    stale = {watch.match_id: watch for watch in watches if watch.needs_read(wake)}
    began = time.monotonic()
    for match_id, found in (history.newest_each(stale) if stale else {}).items():
        stale[match_id].note(began, found, wake)


def _reason(error: Corrupt | Refused) -> Reason:
    if isinstance(error, Corrupt):
        return "match-corrupt"
    return "engine-too-old" if error.code == "engine-too-old" else "match-not-found"
