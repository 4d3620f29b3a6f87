"""What the streams of one match in a process share: the read of its log, and the bytes that they send."""

import threading
import time
from typing import Final, NamedTuple

from events.feed import Wake
from events.log import LogUnavailable
from events.record import Head, MatchId, Version
from service.errors import Corrupt, Refused
from service.games.visibility import Viewer
from service.match.model import Match
from service.match.texts import with_text
from service.repository.match_history import History
from service.subscriptions.frames import Form, Reason

CHUNK: Final = 100
"""Events sent in one piece."""

_CHUNKS_KEPT: Final = 16
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
    """When a read of a match began, and what it gave: neither a match nor a reason where the log did not answer.

    `is_false_alarm`: the wake-up that it was made for was not true.
    """

    began: float
    match: Match | None = None
    refused: Reason | None = None
    is_false_alarm: bool = False

    def answers(self, wake: Wake) -> bool:
        if self.began >= wake.at:
            return True
        return wake.version is not None and self.match is not None and not wake.brings(self.match.head.version)


class MatchWatch:
    """What the streams of one match in this process share: whoever asks while a read is under way shares the next one."""

    def __init__(self, history: History, match_id: MatchId) -> None:
        self.match_id = match_id
        self._history = history
        self._lock = threading.Lock()
        self._newest = _Read(float("-inf"))
        self._chunks: dict[tuple[Head, Viewer, Version, str, str | None], Chunk] = {}

    def newest(self, wake: Wake) -> Match | None:
        """The match, from a read that shows what a wake-up is about; None if the log did not answer.

        Raises:
            Ended: the match cannot be told any more.
        """
        # Most find what another has read, and need no lock for it.
        if not self._newest.answers(wake):
            with self._lock:
                if not self._newest.answers(wake):
                    self._newest = self._read(wake)
        newest = self._newest
        if newest.refused is not None:
            raise Ended(newest.refused)
        return newest.match

    def _read(self, wake: Wake) -> _Read:
        if wake.version is not None and (known := self._history.reached(self.match_id, wake.version)) is not None:
            return self._newest._replace(match=known, refused=None)
        if self._newest.is_false_alarm:
            time.sleep(max(0.0, self._newest.began + _FALSE_ALARM - time.monotonic()))
        began = time.monotonic()
        try:
            match, _ = self._history.newest(self.match_id)
        except LogUnavailable:
            return _Read(began)
        except Refused as error:
            return _Read(began, refused="engine-too-old" if error.code == "engine-too-old" else "match-not-found")
        except Corrupt:
            return _Read(began, refused="match-corrupt")
        return _Read(began, match, is_false_alarm=wake.version is not None and wake.brings(match.head.version))

    def after(self, match: Match, viewer: Viewer, sent: Version, form: Form, language: str | None) -> Chunk | None:
        """The next events after a version that is not the newest, with texts in a language; None if the log is silent.

        Raises:
            Ended: `match-corrupt`.
        """
        key = (match.head, viewer, sent, form.media_type, language)
        if (chunk := self._chunks.get(key)) is not None:
            return chunk
        with self._lock:
            if (chunk := self._chunks.get(key)) is not None:
                return chunk
            try:
                events = self._history.events(match, viewer, sent, CHUNK)
            except LogUnavailable:
                self._newest = self._newest._replace(match=None)  # nobody tries again before the next read of the match
                return None
            except Corrupt:
                raise Ended("match-corrupt") from None
            if language is not None:
                events = tuple(with_text(match.game, language, event) for event in events)
            last = Head(events[-1].version, events[-1].hash)
            chunk = Chunk(b"".join(map(form.event, events)), events[0].prev, last)
            if last == match.head:
                if len(self._chunks) >= _CHUNKS_KEPT:
                    self._chunks.clear()
                self._chunks[key] = chunk
            return chunk
