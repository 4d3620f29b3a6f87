"""The life of a stream without a server: what it tells, how it ends, and what many streams cost."""

import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count

import msgspec
import pytest

from api import streams
from api.frames import EVENT_STREAM, NDJSON, Form
from api.streams import Streams
from events.chain import genesis
from events.feed import Feed
from events.log import LogUnavailable, Tail
from events.memory_log import MemoryLog
from events.record import Head, MatchId, Version
from service import accounts
from service.adapters.memory import local_ports
from service.errors import Refused
from service.games.registry import GAMES
from service.games.visibility import Viewer
from service.matches import create, join, join_code_of, leave
from service.new_match import NewMatch
from service.ports import Player, Ports
from tests.api.table import Table, set_table
from tests.waiting import until

HEARTBEAT = 0.05


class WatchedLog(MemoryLog):
    """Counts reads, which may take time or fail."""

    def __init__(self, wake: Callable[[MatchId, Version], None]) -> None:
        super().__init__(wake)
        self.reads = 0
        self.seconds = 0.0
        self.away: Callable[[int | None], bool] = lambda _: False
        """Whether a read up to a version, or to the newest, fails."""

    def read(
        self, match: MatchId, *, first: int | None = 1, last: int | None = None, command: str | None = None
    ) -> Tail:
        self.reads += 1
        time.sleep(self.seconds)
        if self.away(last):
            raise LogUnavailable("unavailable")
        return super().read(match, first=first, last=last, command=command)


class House:
    """Use cases in memory, and the streams of one process on them."""

    def __init__(self) -> None:
        self.feed = Feed()
        self.deaf = False
        self.alive = True
        self.log = WatchedLog(self.wake)
        self.ports: Ports = local_ports(GAMES, log=self.log)
        self.streams = Streams(self.ports.history, self.feed, lambda: self.alive)

    def wake(self, match: MatchId, version: Version) -> None:
        if not self.deaf:
            self.feed.wake(match, version)

    def follow(
        self,
        match_id: MatchId,
        *,
        player: Player | None = None,
        token: str = "",
        after: Head | None = None,
        form: Form = NDJSON,
        holder: str = "holder",
    ) -> Iterator[bytes]:
        match, _ = self.ports.history.newest(match_id)
        self.streams.enter(match_id, holder)
        stream = self.streams.follow(
            form,
            match=match,
            after=after or genesis(match_id, match.created.game, match.created.ruleset)[1],
            player=player.id if player else None,
            seat=None,
            now=self.ports.now(),
            authorize=partial(accounts.authenticate, self.ports, token) if player else lambda: None,
        )
        return in_time(stream)

    def expected(self, table: Table, viewer: Viewer) -> list[bytes]:
        match, _ = self.ports.history.newest(table.match_id)
        return [msgspec.json.encode(event) for event in self.ports.history.events(match, viewer, 0, 10_000)]


def in_time(stream: Iterator[bytes]) -> Iterator[bytes]:
    """A stream that fails when it goes on too long."""
    deadline = time.monotonic() + 60
    for piece in stream:
        assert time.monotonic() < deadline
        yield piece


@pytest.fixture
def house(monkeypatch: pytest.MonkeyPatch) -> House:
    monkeypatch.setattr(streams, "HEARTBEAT", HEARTBEAT)
    monkeypatch.setattr(streams, "_SHARED", 0.0)
    return House()


@pytest.fixture
def table(house: House) -> Table:
    return set_table(house.ports)


def lines(stream: Iterator[bytes]) -> Iterator[bytes]:
    """The events and the end of a stream of lines, without its heartbeats."""
    for piece in stream:
        yield from filter(None, piece.split(b"\n"))


def end(stream: Iterator[bytes]) -> str:
    """The reason of the end, which must be the next thing told."""
    found = msgspec.json.decode(next(lines(stream)))
    assert found["type"] == "end"
    assert list(stream) == []
    return str(found["reason"])


def up_to_date(stream: Iterator[bytes], head: Head) -> Iterator[bytes]:
    """The stream after it told the newest event."""
    for line in lines(stream):
        if msgspec.json.decode(line)["version"] == head.version:
            return stream
    raise AssertionError("the stream ended")


@pytest.mark.parametrize("viewer", [None, 1])
def test_each_event_is_told_once_in_order_as_it_happens(house: House, table: Table, viewer: Viewer) -> None:
    stream = lines(house.follow(table.match_id, player=table.ben if viewer else None, token=table.ben_token))
    told = []
    while (line := next(stream)) and not line.startswith(b'{"type":"end"'):
        told.append(line)
        if msgspec.json.decode(line)["version"] == house.ports.history.newest(table.match_id)[0].head.version:
            table.play(house.ports, 2)
    assert told == house.expected(table, viewer)
    assert line.startswith(b'{"type":"end","reason":"finished"')
    assert house.log.reads < 10 * len(told)


def test_streams_share_nothing_that_another_viewer_may_not_see(house: House, table: Table) -> None:
    """Side by side in one process, so that each finds what was made for the others."""
    following = [
        house.follow(table.match_id, player=player, token=table.ben_token, form=form)
        for player, form in ((None, EVENT_STREAM), (None, NDJSON), (table.ben, NDJSON))
    ]
    told = [next(stream) for stream in following]
    while table.play(house.ports).server_seed is None:
        for place, stream in enumerate(following):
            told[place] += next(piece for piece in stream if piece.strip(b":\n"))
    whole = [text + b"".join(stream) for text, stream in zip(told, following, strict=True)]
    events = [
        re.findall(rb'^%s(\{"match":.*"prev":.*\})$' % before, text, re.MULTILINE)
        for before, text in zip((b"data: ", b"", b""), whole, strict=True)
    ]
    assert events == [house.expected(table, viewer) for viewer in (None, None, 1)]


def test_a_lost_wake_up_costs_a_heartbeat_at_most(house: House, table: Table) -> None:
    stream = house.follow(table.match_id)
    match, _ = house.ports.history.newest(table.match_id)
    up_to_date(stream, match.head)
    house.deaf = True
    table.play(house.ports)
    pieces = iter(lambda: next(stream), None)
    heartbeats = 0
    while next(pieces) == NDJSON.heartbeat:
        heartbeats += 1
    assert heartbeats == 1


def test_heartbeats_come_in_time_while_nothing_happens(house: House, table: Table) -> None:
    match, _ = house.ports.history.newest(table.match_id)
    stream = house.follow(table.match_id, after=match.head, form=EVENT_STREAM)
    assert next(stream).startswith(b"retry: 1000\nevent: hello\ndata: {")
    began = time.monotonic()
    assert [next(stream) for _ in range(4)] == [b":\n\n"] * 4
    assert time.monotonic() - began >= 3 * HEARTBEAT


def test_a_revoked_token_ends_its_streams_and_no_other(house: House, table: Table) -> None:
    match, _ = house.ports.history.newest(table.match_id)
    mine, other = (
        up_to_date(house.follow(table.match_id, player=player, token=token), match.head)
        for player, token in ((table.ben, table.ben_token), (table.anna, table.anna_token))
    )
    accounts.revoke(house.ports, table.ben_token)
    assert end(mine) == "token-revoked"
    assert next(other) == NDJSON.heartbeat


@pytest.mark.parametrize("how", ["server", "feed"])
def test_a_server_that_stops_ends_its_streams(house: House, table: Table, how: str) -> None:
    match, _ = house.ports.history.newest(table.match_id)
    stream = up_to_date(house.follow(table.match_id), match.head)
    if how == "feed":
        house.feed.close()
    house.alive = how != "server"
    assert end(stream) == "restart"


def test_a_stream_ends_at_its_age(house: House, table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    match, _ = house.ports.history.newest(table.match_id)
    stream = up_to_date(house.follow(table.match_id), match.head)
    assert next(stream) == NDJSON.heartbeat
    monkeypatch.setattr(streams, "MAX_AGE", HEARTBEAT)
    assert end(stream) == "max-age"


def test_who_gives_a_private_seat_up_sees_nothing_from_then_on(house: House) -> None:
    (anna, _), (ben, token) = (accounts.sign_up(house.ports, name) for name in ("Anna", "Ben"))
    match = create(house.ports, anna.id, NewMatch("monkeys_on_the_moon", 2, private=True), "create").match
    joined = join(house.ports, ben.id, match.id, "join", join_code=join_code_of(house.ports.secret, match.id)).match
    stream = up_to_date(house.follow(match.id, player=ben, token=token), joined.head)
    leave(house.ports, ben.id, match.id, "leave")
    assert end(stream) == "match-not-found"


def test_a_spectator_who_takes_a_seat_sees_from_it(house: House) -> None:
    (anna, _), (ben, token) = (accounts.sign_up(house.ports, name) for name in ("Anna", "Ben"))
    wanted = NewMatch("monkeys_on_the_moon", 2, bots=("random",))
    match = create(house.ports, anna.id, wanted, "create").match
    stream = house.follow(match.id, player=ben, token=token)
    up_to_date(stream, match.head)
    join(house.ports, ben.id, match.id, "join")
    leave(house.ports, ben.id, match.id, "leave")
    table = Table(match.id, anna, "", ben, token, set_table(house.ports).chance_of)
    table.finish(house.ports)
    assert [*lines(stream)][:-1] == house.expected(table, 1)[match.head.version :]


@pytest.mark.parametrize("lost", ["the newest", "and replaced"])
def test_a_store_that_lost_its_past_ends_the_stream_and_says_so(house: House, table: Table, lost: str) -> None:
    before = table.play(house.ports, 5)
    stream = up_to_date(house.follow(table.match_id), before.head)
    kept = house.log._matches[table.match_id]
    del kept.events[-3:]
    after, _ = house.ports.history.newest(table.match_id)
    kept.head = after.head
    if lost == "and replaced":
        kept.commands.clear()
        table.play(house.ports, 10)
    assert end(stream) == "history-diverged"


def test_a_corrupt_match_ends_the_stream_and_says_so(house: House, table: Table) -> None:
    match, _ = house.ports.history.newest(table.match_id)
    stream = up_to_date(house.follow(table.match_id), match.head)
    house.log._matches[table.match_id].events.append(b"{}")
    assert end(stream) == "match-corrupt"


def test_a_log_that_is_away_for_a_while_ends_nothing(house: House, table: Table) -> None:
    match, _ = house.ports.history.newest(table.match_id)
    stream = up_to_date(house.follow(table.match_id), match.head)
    table.play(house.ports)
    house.log.away = lambda _: True
    assert [next(stream) for _ in range(3)] == [NDJSON.heartbeat] * 3
    house.log.away = lambda _: False
    assert msgspec.json.decode(next(lines(stream)))["version"] == match.head.version + 1


def test_a_read_that_fails_is_not_tried_again_before_the_next_heartbeat(
    house: House, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "HEARTBEAT", 0.4)
    monkeypatch.setattr(streams, "GLANCE", 0.01)
    match, _ = house.ports.history.newest(table.match_id)
    stream = up_to_date(house.follow(table.match_id), match.head)
    house.deaf = True
    table.play(house.ports)
    house.log.away = lambda last: last is not None
    assert next(stream) == NDJSON.heartbeat
    house.log.reads = 0
    assert next(stream) == NDJSON.heartbeat
    assert house.log.reads == 2


def test_a_wake_up_that_is_not_true_makes_no_loop(house: House, table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "HEARTBEAT", 0.6)
    match, _ = house.ports.history.newest(table.match_id)
    looks, past = count(), house.feed.past

    def counted(known: Mapping[MatchId, Version]) -> float | None:
        next(looks)
        return past(known)

    monkeypatch.setattr(house.feed, "past", counted)

    def reads() -> int:
        """How many a wake-up costs until the next heartbeat; none where that was due before the stream came to look."""
        stream = up_to_date(house.follow(table.match_id), match.head)
        house.feed.wake(table.match_id, 999)
        house.log.reads = 0
        assert next(stream) == NDJSON.heartbeat
        return house.log.reads

    # On a busy machine the heartbeat may come first, but not time and again.
    assert 1 <= next(filter(None, (reads() for _ in range(5))), 0) <= 4
    assert next(looks) < 100


def test_many_streams_share_the_reads_of_one_event(house: House, table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "HEARTBEAT", 60.0)
    match, _ = house.ports.history.newest(table.match_id)
    following = [up_to_date(house.follow(table.match_id, holder=str(number)), match.head) for number in range(30)]
    with ThreadPoolExecutor(len(following)) as pool:
        told = [pool.submit(next, stream) for stream in following]
        until(lambda: sum(map(len, house.feed._waiters.values())) == len(following), 30, "all wait")
        house.log.reads, house.log.seconds = 0, 0.05
        threading.Thread(target=table.play, args=(house.ports,)).start()
        bodies = {one.result(30) for one in told}
    assert len(bodies) == 1
    assert house.log.reads <= 8


def test_a_holder_has_so_many_streams_and_a_process_so_many(
    house: House, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = [house.streams.enter(table.match_id, "ben") for _ in range(8)]
    with pytest.raises(Refused, match="too-many-streams"):
        house.streams.enter(table.match_id, "ben")
    anna = house.streams.enter("another", "anna")
    assert house.streams.open == 9
    places[0].leave()
    places[0].leave()
    places[0] = house.streams.enter(table.match_id, "ben")
    monkeypatch.setattr(streams, "STREAMS_A_PROCESS", 9)
    with pytest.raises(Refused, match="too-many-streams"):
        house.streams.enter(table.match_id, "cleo")
    for place in (anna, *places):
        place.leave()
    assert house.streams.open == 0
    assert not house.streams._watches
