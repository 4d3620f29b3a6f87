"""The read path: a match at any version, its events, and what a viewer may see of them.

Recent matches are cached in the process. A read of a cached match asks the log, in one round trip, for the newest cached
event and all events after it. If the log no longer has that event, the cache is dropped, so the cache never
hides a loss of events. Any other read begins at a snapshot, whose event must be in the log too, so its cost does not
grow with the length of the match. Only a command may be decided on the cache alone (`expected`): the append compares the
head with the log.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from events.chain import Verified
from events.log import Log, Seen, Tail
from events.record import MatchId, Version, canonical
from service.errors import Corrupt, Refused, no_match
from service.games.protocol import AnyGame
from service.games.visibility import Viewer
from service.match import redaction
from service.match.fold import step
from service.match.model import Match
from service.match.redaction import SeenEvent
from service.repository.snapshots import MatchLoader, begins_at
from service.repository.verified_events import VerifiedEvents

CACHED_MATCHES: Final = 1024
_PART: Final = 100
"""Events per read of a whole match."""
_LAST: Final = 2**63 - 1
"""The greatest id that a stream can have."""


class History:
    """Reads matches from the log; safe to share between threads and greenlets."""

    def __init__(self, log: Log, games: Mapping[str, AnyGame], secret: bytes, *, optimistic: bool = False) -> None:
        """`optimistic`: decide commands on the cached match, without a read, if only this process writes to the match."""
        self._log = log
        self._loader = MatchLoader(log, games, secret)
        self._events = VerifiedEvents(log)
        self._optimistic = optimistic
        # By match: the version after the last append of this process, and whether its last two appends were consecutive.
        self._wrote: dict[MatchId, tuple[Version, bool]] = {}
        self._recent: OrderedDict[MatchId, Match] = OrderedDict()
        self._lock = threading.Lock()

    def newest(self, match_id: MatchId, command: str | None = None) -> tuple[Match, Seen | None]:
        """The match at its head, and the record of a command id (None if it is new), in one round trip.

        Raises:
            Refused: `match-not-found`, `engine-too-old`.
            Corrupt: the match cannot be folded.
        """
        if not _is_id(match_id):
            raise no_match()
        known = self._known(match_id)
        tail = self._log.read(match_id, first=known.head.version if known else None, command=command)
        return self._newest(match_id, known, tail), tail.seen

    def newest_each(self, match_ids: Iterable[MatchId]) -> Mapping[MatchId, Match | Corrupt | Refused]:
        """Matches at their heads, read in one round trip. For each match that `newest` would raise for, its exception."""
        ids = list(match_ids)
        known = {match_id: self._known(match_id) for match_id in ids if _is_id(match_id)}
        tails = self._log.read_each({name: match.head.version if match else None for name, match in known.items()})
        found: dict[MatchId, Match | Corrupt | Refused] = {name: no_match() for name in ids if name not in known}
        for match_id, tail in tails.items():
            try:
                found[match_id] = self._newest(match_id, known[match_id], tail)
            except (Corrupt, Refused) as error:
                found[match_id] = error
        return found

    def expected(self, match_id: MatchId) -> Match | None:
        """The cached match, if this process alone seems to write to it. Only an append shows whether it is the newest."""
        with self._lock:
            known = self._recent.get(match_id)
            alone = known is not None and self._wrote.get(match_id) == (known.head.version, True)
        return known if alone and self._optimistic else None

    def at(self, match_id: MatchId, version: Version) -> Match:
        """The match as it was after the event `version`.

        Raises:
            Refused: as `newest`, and `version-not-found`.
        """
        if not _is_id(match_id):
            raise no_match()
        known = self._known(match_id)
        if (
            known is not None
            and known.head.version == version
            and begins_at(self._log.read(match_id, first=version, last=version), known)
        ):
            return known
        if 0 < version <= _LAST:
            found = self._loader.load(match_id, self._log.read(match_id, first=None, last=version), version)
            if found is not None and found.head.version == version:
                return found
        newest = self.newest(match_id)[0].head.version
        raise Refused("version-not-found", f"The match has versions 1 to {newest}.", version=newest)

    def snapshot(self, match: Match, after: Version) -> bytes | None:
        """The snapshot to store with an append after the version `after`; None if none is due."""
        return self._loader.snapshot(match, after)

    def keep(self, match: Match, wrote_on: Version | None = None, events: Sequence[Verified] = ()) -> None:
        """Cache a match that is known to be in the log, and the `events` that led to its head, if any.

        `wrote_on` is the version after which this process appended; None if it only read.
        """
        with self._lock:
            if wrote_on is not None:
                last, _ = self._wrote.get(match.id, (0, False))
                self._wrote[match.id] = match.head.version, last == wrote_on
            known = self._recent.get(match.id)
            if known is None or known.head.version <= match.head.version:
                self._recent[match.id] = match
                if events:
                    self._events.keep(match.id, events)
            self._recent.move_to_end(match.id)
            while len(self._recent) > CACHED_MATCHES:
                gone, _ = self._recent.popitem(last=False)
                self._wrote.pop(gone, None)
                self._events.forget(gone)

    def reached(self, match_id: MatchId, version: Version) -> Match | None:
        """The cached match, if it has at least this version: then no read of the log is needed for it."""
        known = self._known(match_id)
        return known if known is not None and known.head.version >= version else None

    def _known(self, match_id: MatchId) -> Match | None:
        """The cached match. A single look-up is atomic, so it needs no lock."""
        return self._recent.get(match_id)

    def _forget(self, match: Match) -> None:
        """Drop a match that is not in the log (any more), unless the cache has another one by now."""
        with self._lock:
            if self._recent.get(match.id) is match:
                del self._recent[match.id]
                self._wrote.pop(match.id, None)
                self._events.forget(match.id)

    def _newest(self, match_id: MatchId, known: Match | None, tail: Tail) -> Match:
        """The match after a tail that begins at the cached match, or at a snapshot if the match is not cached."""
        match: Match | None
        events: Sequence[Verified] = ()
        if known is not None and begins_at(tail, known):
            match, events = self._loader.fold(known, tail.events[1:])
        else:
            if known is not None:
                self._forget(known)
                tail = self._log.read(match_id, first=None)
            match = self._loader.load(match_id, tail)
        if match is None:
            raise no_match()
        self.keep(match, events=events)
        return match

    def verified(self, match: Match, after: Version, limit: int) -> Sequence[Verified]:
        """Up to `limit` events after a version, not redacted, after a check of their chain.

        Raises:
            Corrupt: the chain is broken.
        """
        return self._events.read(match, after, limit)

    def verified_after(self, match: Match, after: Version) -> Iterator[Verified]:
        """All events of a match after a version, as `verified` returns them. They are read in parts."""
        while after < match.head.version:
            events = self.verified(match, after, _PART)
            yield from events
            after = events[-1].head.version

    def matches_after(self, match: Match, events: Sequence[Verified]) -> Sequence[Match]:
        """The match right after each of these consecutive events of it.

        Raises:
            Corrupt: the match cannot be folded.
        """
        if not events:
            return ()
        if len(events) == 1 and events[0].head == match.head:
            return (match,)
        found = [self.at(match.id, events[0].event.version)]
        for event, _ in events[1:]:
            found.append(step(found[-1], canonical(event)))
        return found

    def events(self, match: Match, viewer: Viewer, after: Version, limit: int) -> tuple[SeenEvent, ...]:
        """The events that `verified` returns, as a viewer sees them."""
        verified = self.verified(match, after, limit)
        return tuple(redaction.see_event(match, event, head.hash, viewer) for event, head in verified)


def _is_id(match_id: MatchId) -> bool:
    """Whether a match may have this id. Clients may send any, also one of another stream in the log, such as `ratings:ape_town`."""
    return ":" not in match_id
