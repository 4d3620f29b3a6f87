"""A player's own stream: that it is their turn, that a match started, that one is over, in all their matches at once."""

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from api import streams
from api.frames import EVENT_STREAM, NDJSON, Form, frame, line
from api.streams import News, Streams
from api.watch import Ended
from events.log import LogUnavailable
from events.record import MatchId, Version
from service import lobby
from service.games.protocol import Outcome
from service.games.visibility import Viewer
from service.match import Match, Status
from service.match_views import OwnMatch, own_summaries
from service.ports import Mine, Ports, news_of
from service.redaction import SeenDecision, own_decisions

Kind: TypeAlias = Literal["started", "your_turn", "seat_lost", "finished"]

FOLLOWED: Final = 50
"""Matches that one stream follows: the last made of those that are not over."""
_NEARLY: Final = 0.9
"""Of a heartbeat: each has a look at all, though one comes some moments earlier after the other."""


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


class Notices:
    """One player's matches as its stream knows them; made when the stream is asked for, so that faults are told in time."""

    def __init__(self, ports: Ports, shared: Streams, player: str) -> None:
        self._ports = ports
        self._streams = shared
        self._player = player
        self._places: tuple[str, ...] = ()
        self._known: dict[str, Version] = {}
        self._told: dict[MatchId, _Told] = {}
        self._sure: set[str] = set()
        self._looked = float("-inf")
        matches = [match for match, _ in self._changed("active")]
        for match in matches:
            self._told[match.id] = self._state_of(match)
        listed = own_summaries(ports, matches, player)
        self._hello = NoticesHello(player, listed, FOLLOWED, ports.now(), int(streams.HEARTBEAT * 1000))

    def run(self, form: Form, authorize: Callable[[], object], gone: Callable[[], bool]) -> Iterator[bytes]:
        """What the stream sends, from its hello to its end frame; it needs no request any more."""
        tell = _TELL[form.media_type]
        yield (b"retry: 1000\n" if form is EVENT_STREAM else b"") + tell("hello", self._hello)

        def news(_since: float) -> News | None:
            told = b"".join(tell(notice.type, notice) for notice in self._news())
            return News(told, more=False) if told else None

        try:
            yield from self._streams.live(form.heartbeat, news, lambda: self._known, authorize, gone)
        except Ended as ended:
            yield tell("end", msgspec.convert({"type": "end", "reason": ended.reason}, NoticesEnd))

    def _news(self) -> Iterator[Notice]:
        for match, place in self._changed("all"):
            before = self._told.get(match.id, _Told())
            now = self._told[match.id] = self._state_of(match)
            if match.is_over:
                del self._told[match.id]
                self._places = tuple(other for other in self._places if other != place)
                self._known.pop(match.id)
                self._ports.index.dismiss(self._player, match.id, match.created_at, entirely=False)
                yield self._notice("finished", match)
                continue
            if now.started and not before.started:
                yield self._notice("started", match)
            if now.decisions - before.decisions:
                yield self._notice("your_turn", match)
            if now.lost and not before.lost:
                yield self._notice("seat_lost", match)

    def _changed(self, mine: Mine) -> Iterator[tuple[Match, str]]:
        """The matches that may have changed since the last look, with their places; at each heartbeat all of them.

        Of the active ones, at first, a log that does not answer is told; later on the next look makes up for it.
        """
        news = news_of(self._player)
        now = time.monotonic()
        whole = now - self._looked >= _NEARLY * streams.HEARTBEAT
        try:
            if whole or self._is_news(news):
                self._list(news)
            for place in self._places:
                match_id = place.partition(":")[2]
                if not whole and not self._is_news(match_id):
                    continue
                heard = self._look(match_id)
                match = lobby.own_match(self._ports, place, self._player, mine)
                self._known[match_id] = max(heard, match.head.version if match else 0)
                if match is None:
                    self._told.pop(match_id, None)
                else:
                    yield match, place
        except LogUnavailable:
            if mine == "active":
                raise
            return
        if whole:
            self._looked = now

    def _is_news(self, name: str) -> bool:
        return self._streams.feed.newest(name) > self._known[name] or name not in self._sure

    def _look(self, name: str) -> Version:
        """What was told of a match, or of the player's list, before a look at it that misses nothing from then on."""
        if self._streams.feed.hears(name):
            self._sure.add(name)
        return self._streams.feed.newest(name)

    def _list(self, news: str) -> None:
        heard = self._look(news)
        self._places = tuple(self._ports.index.matches_of(self._player, "active", None, FOLLOWED))
        ids = [place.partition(":")[2] for place in self._places]
        self._known = {news: heard, **{match_id: self._known.get(match_id, 0) for match_id in ids}}
        self._told = {match_id: self._told[match_id] for match_id in ids if match_id in self._told}
        self._sure &= self._known.keys()

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
