"""A player's own stream: that it is their turn, that a match started, that one is over, in all their matches at once."""

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from events.feed import Waiter, Wake
from events.log import LogUnavailable
from events.record import MatchId, Version
from service.games.protocol import Outcome
from service.games.visibility import Viewer
from service.match.model import Match, Status
from service.match.redaction import SeenDecision, own_decisions
from service.repository.ports import OwnList, Ports, news_of
from service.subscriptions import streams
from service.subscriptions.frames import EVENT_STREAM, NDJSON, Form, Reason, frame, line
from service.subscriptions.match_watch import Ended, MatchWatch
from service.subscriptions.streams import Streams
from service.usecases import match_index
from service.views.match_views import OwnMatch, own_summaries

Kind: TypeAlias = Literal["started", "your_turn", "seat_lost", "finished"]

FOLLOWED: Final = 50
"""Matches that one stream follows: the last made of those that are not over."""


class NoticesHello(msgspec.Struct, frozen=True, tag="hello"):
    """The first frame: the player's matches as they are now, the last made first, and how often a sign of life comes.

    `followed` is how many matches a stream follows at most.
    """

    player: str
    matches: tuple[OwnMatch, ...]
    followed: int
    now: int
    heartbeat_ms: int


class Notice(msgspec.Struct, frozen=True):
    """Something that happened in a match of the player, with what the player's seat has to decide in it now.

    `started`: it runs. `your_turn`: a decision opened for the seat. `seat_lost`: the seat's time was up and a bot plays it;
    the player may only look on. `finished`: it is over; the `outcome` is null if it was broken off.
    """

    type: Kind
    match: MatchId
    game: str
    seat: Viewer
    status: Status
    version: Version
    head: str
    decisions: tuple[SeenDecision, ...]
    outcome: Outcome | UnsetType | None = UNSET


class NoticesEnd(msgspec.Struct, frozen=True, tag="end"):
    """The last frame. `restart`, `max-age`: connect again. `token-revoked`: the token is no longer valid."""

    reason: Literal["restart", "max-age", "token-revoked"]


class _Told(msgspec.Struct, frozen=True):
    """What the client knows of a match: whether it started, which decisions it was told of, and that its seat is lost."""

    started: bool = False
    decisions: frozenset[str] = frozenset()
    lost: bool = False


class PlayerSubscription:
    """One player's matches as its stream knows them."""

    def __init__(self, ports: Ports, shared: Streams, player: str, form: Form) -> None:
        self.heartbeat = form.heartbeat
        self._ports = ports
        self._streams = shared
        self._player = player
        self._form = form
        self._waiter: Waiter | None = None
        # By match: its place among the player's, the version that was looked at, and what the client knows.
        self._places: dict[MatchId, str] = {}
        self._seen: dict[MatchId, Version] = {}
        self._told: dict[MatchId, _Told] = {}
        self._watches: dict[MatchId, MatchWatch] = {}
        # What there is to look at: the list of the player's matches, and matches.
        self._relist = True
        self._changed: dict[MatchId, Wake] = {}

    def begin(self, waiter: Waiter) -> bytes:
        """The first frame: all matches as they are now.

        Raises:
            LogUnavailable
        """
        self._waiter = waiter
        self._list()
        matches = [match for match_id in tuple(self._changed) if (match := self._look(match_id, "active")) is not None]
        for match in matches:
            self._told[match.id] = self._state_of(match)
        listed = own_summaries(self._ports, matches, self._player)
        hello = NoticesHello(self._player, listed, FOLLOWED, self._ports.now(), int(streams.HEARTBEAT * 1000))
        retry = b"retry: 1000\n" if self._form is EVENT_STREAM else b""
        return retry + self._tell("hello", hello)

    def end(self, reason: Reason) -> bytes:
        return self._tell("end", msgspec.convert({"type": "end", "reason": reason}, NoticesEnd))

    def hear(self, news: Mapping[str, Wake]) -> None:
        for name, wake in news.items():
            if name == news_of(self._player):
                self._relist = True
            elif wake.brings(self._seen.get(name, 0)):
                self._changed[name] = self._changed[name].and_then(wake) if name in self._changed else wake

    def look_again(self, since: float) -> None:
        self._relist = True
        self._changed |= dict.fromkeys(self._places, Wake(None, since))

    def next_piece(self) -> bytes | None:
        """The notices of the next match that there is something to tell of; None if there is none.

        What a log that does not answer would have told, the next look at all does.
        """
        try:
            if self._relist:
                self._list()
            while self._changed:
                match = self._look(next(iter(self._changed)), "all")
                if match is not None and (told := b"".join(self._tell(one.type, one) for one in self._notices(match))):
                    return told
        except LogUnavailable:
            self._changed.clear()
        return None

    def _notices(self, match: Match) -> Iterator[Notice]:
        before = self._told.get(match.id, _Told())
        now = self._told[match.id] = self._state_of(match)
        if match.is_over:
            self._ports.index.dismiss(self._player, match.id, match.created_at, entirely=False)
            del self._places[match.id]
            self._follow()
            yield self._notice("finished", match)
            return
        if now.started and not before.started:
            yield self._notice("started", match)
        if now.decisions - before.decisions:
            yield self._notice("your_turn", match)
        if now.lost and not before.lost:
            yield self._notice("seat_lost", match)

    def _look(self, match_id: MatchId, mine: OwnList) -> Match | None:
        """A match that may have changed, None if it is not the player's (any more).

        Raises:
            LogUnavailable
        """
        place = self._places[match_id]
        match: Match | None
        try:
            newest = self._watches[match_id].newest(self._changed[match_id])
            if newest is None:
                raise LogUnavailable("unavailable")
            match = match_index.own(self._ports, place, newest, self._player, mine)
        except Ended as ended:
            gone = ended.reason == "match-not-found"
            match = match_index.own_match(self._ports, place, self._player, mine) if gone else None
        del self._changed[match_id]
        if match is None:
            self._told.pop(match_id, None)
        else:
            self._seen[match_id] = match.head.version
        return match

    def _list(self) -> None:
        """Follow the player's matches as they are listed now; those that are new are to be looked at."""
        self._follow()
        places = self._ports.index.matches_of(self._player, "active", None, FOLLOWED)
        self._relist = False
        before, self._places = self._places, {place.partition(":")[2]: place for place in places}
        # What is known to have changed comes first, in its order; then what is new, the last made first.
        now = time.monotonic()
        pending = {name: wake for name, wake in self._changed.items() if name in self._places}
        self._changed = pending | {name: Wake(None, now) for name in self._places if name not in before}
        self._follow()

    def _follow(self) -> None:
        """Collect the wake-ups of what is listed, and know nothing of anything else."""
        if self._waiter is not None:
            self._waiter.follow([news_of(self._player), *self._places])
        self._seen = {name: version for name, version in self._seen.items() if name in self._places}
        self._told = {name: told for name, told in self._told.items() if name in self._places}
        self._watches = {name: self._watches.get(name) or self._streams.watch(name) for name in self._places}

    def _tell(self, name: str, value: object) -> bytes:
        return _TELL[self._form.media_type](name, value)

    def _state_of(self, match: Match) -> _Told:
        seat = match.seat_of(self._player)
        decisions = frozenset(decision.id for decision in own_decisions(match, seat))
        return _Told(match.started_at is not None, decisions, lost=seat is None and match.was_of(self._player))

    def _notice(self, kind: Kind, match: Match) -> Notice:
        seat = match.seat_of(self._player)
        return Notice(
            type=kind,
            match=match.id,
            game=match.created.game,
            seat=seat,
            status=match.status,
            version=match.head.version,
            head=match.head.hash,
            decisions=own_decisions(match, seat),
            outcome=match.outcome if match.is_over else UNSET,
        )


_TELL: Final[Mapping[str, Callable[[str, object], bytes]]] = {
    EVENT_STREAM.media_type: frame,
    NDJSON.media_type: lambda _, value: line(value),
}
