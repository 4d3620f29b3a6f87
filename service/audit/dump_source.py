"""Reads matches that are over from the log of a running service.

It reads small pieces and pauses after each, so that moves stay fast.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

import msgspec

from events.chain import FORMATS
from events.record import MatchId, decode
from service.audit.match_file import FirstLine
from service.audit.verify import Fault, check_chain
from service.match.events import MatchCreated
from service.repository.ports import Ports

EVENTS: Final = 50
"""Events in one read. The log's server answers one command at a time, so moves wait for a large read."""
ENTRIES: Final = 200
"""Entries of the list of ended matches in one read."""
PAUSE: Final = 10
"""After each read the reader pauses this many times as long as the answer took, which is longer if the log is busy."""
LONGEST_PAUSE_S: Final = 0.1


class Ended(NamedTuple):
    """A match that is over: the lines of its file without newlines, and the server time (ms) of its end."""

    lines: tuple[bytes, ...]
    game: str
    ended_at: int
    is_private: bool


class Source:
    """The matches of a log. `sleep` and `clock` take and give seconds."""

    def __init__(
        self,
        ports: Ports,
        sleep: Callable[[float], object] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ports = ports
        self._sleep = sleep
        self._clock = clock

    def listed(self) -> Iterator[MatchId]:
        """The public matches that have ended or are about to end, in this order. One may come twice."""
        after, is_more = 0, True
        while is_more:
            with self._pausing():
                found = self._ports.index.ended(after, ENTRIES)
            yield from (entry.match_id for _, entry in found)
            is_more = len(found) == ENTRIES
            after = found[-1][0] if found else after

    def match(self, match_id: MatchId) -> Ended | None:
        """A match that is over, with an intact chain; None if it is not over.

        Raises:
            Fault: its events are missing, or their chain is broken.
        """
        stored = list(self._stored(match_id))
        try:
            created = msgspec.json.decode(decode(stored[0]).data, type=MatchCreated)
            newest = decode(stored[-1])
        except IndexError:
            raise Fault(0, "chain", "its events are missing") from None
        except (ValueError, RecursionError):
            raise Fault(len(stored), "chain", "is not an event that this release knows") from None
        if newest.type != "seed_revealed":
            return None
        first = FirstLine(FORMATS[created.format_number], match_id, created.game, created.ruleset)
        check_chain(first, stored)
        return Ended((first.line[0], *stored), created.game, newest.at, created.private)

    def _stored(self, match_id: MatchId) -> Iterator[bytes]:
        first, is_more = 1, True
        while is_more:
            with self._pausing():
                found = self._ports.log.read(match_id, first=first, last=first + EVENTS - 1).events
            yield from found
            is_more = len(found) == EVENTS
            first += EVENTS

    @contextmanager
    def _pausing(self) -> Iterator[None]:
        """Pause after the block, in proportion to the time that it took."""
        began = self._clock()
        yield
        self._sleep(min(PAUSE * (self._clock() - began), LONGEST_PAUSE_S))
