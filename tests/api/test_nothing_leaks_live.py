"""Nothing leaks on the wire: a real server sends the same live data about two worlds that a viewer cannot distinguish.

Whoever cannot tell the worlds apart listens beside those who can: streams of a match share what they send.
"""

import re
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from itertools import count, takewhile
from typing import Any, Final, NamedTuple

import msgspec
import pytest
from redis import Redis

from service.match.new_match import NewMatch
from service.repository.ports import Ports
from service.usecases import match_lifecycle
from tests.api.live import Frame, Server, frames, serving
from tests.api.overheard import Comparison
from tests.api.stage import Stage, World, environment, mask, served
from tests.api.worlds import pairs
from tests.service.games.matches import Table
from tests.service.games.tables import TABLES

HELD: Final = tuple(
    table
    for table in TABLES
    if table.name
    in {
        "ape_town of 2",
        "four_monkeys of 2, with skins",
        "monkeys_on_the_moon of 2",
        "monsters_on_the_moon of 2, open missions",
        "monsters_on_the_moon of 2, walls",
    }
)
HEARTBEATS: Final = (b"3\r\n:\n\n\r\n", b"1\r\n\n\r\n")
_OF_THE_REQUEST: Final = re.compile(
    rb"(?<=\r\nDate: )[^\r]+|(?<=\r\nRateLimit: )[^\r]+|(?<=\"now\":)\d{13}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
)


class Form(NamedTuple):
    """A way to receive events: the request at a version, and whether the data received so far is complete up to a version."""

    accept: str
    query: Callable[[int], str]
    tells: Callable[[bytes, int], bool]
    is_stream: bool


FORMS: Final = (
    Form(
        "text/event-stream",
        lambda _: "?include=texts,decisions,legal_actions",
        lambda told, version: b"\nid: %d\n" % version in told and told.endswith(b"\n\n\r\n"),
        is_stream=True,
    ),
    Form(
        "application/x-ndjson",
        lambda version: f"?after={version - 1}&include=legal_actions",
        lambda told, version: b'"version":%d,' % version in told and told.endswith(b"\n\r\n"),
        is_stream=True,
    ),
    Form(
        "application/json",
        lambda version: f"?after={version}&wait=20&include=decisions,legal_actions",
        lambda told, version: b'"version":%d,' % version in told and told.endswith(b'"next":null}'),
        is_stream=False,
    ),
)


class Wire:
    """A connection with a sent request, and all data received so far."""

    def __init__(self, client: socket.socket, form: Form) -> None:
        self._client, self._form = client, form
        self._told = b""

    def hear(self, version: int) -> None:
        """Read until all events up to a version have arrived."""
        while not self._form.tells(self._told, version):
            more = self._client.recv(65536)
            assert more, f"the server hung up after {self._told!r}"
            self._told += more

    def begin(self, version: int) -> None:
        """Read the data that is available at once."""
        if self._form.is_stream:
            self.hear(version)

    def masked(self, masks: Mapping[bytes, bytes]) -> bytes:
        """All bytes that came, but heartbeats, and without what is made anew for every match or request."""
        text = self._told
        for heartbeat in HEARTBEATS:
            text = text.replace(heartbeat, b"")
        return _OF_THE_REQUEST.sub(b"-", mask(text, masks))


@pytest.fixture(scope="module")
def environ(valkey_log_url: str, valkey_queue_url: str, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    Redis.from_url(valkey_log_url).flushall()
    return environment(valkey_log_url, valkey_queue_url, tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def stage(environ: Mapping[str, str]) -> Iterator[Stage]:
    with served(environ) as service:
        yield Stage(service)


@pytest.fixture(scope="module")
def server(environ: Mapping[str, str], stage: Stage) -> Iterator[Server]:
    del stage  # it made the store that this one is to find
    with serving(environ) as running:
        yield running


_places: Final = count(2)
"""Addresses of this machine: a server sees a moment late that a client hung up, and counts open streams by address."""


def ask(server: Server, clients: ExitStack, world: World, form: Form, token: str | None) -> Wire:
    place = f"127.0.1.{next(_places) % 250 + 2}", 0
    client = clients.enter_context(socket.create_connection(("127.0.0.1", server.port), 20, place))
    rights = f"Authorization: Bearer {token}\r\n" if token else ""
    target = f"{world.path}/events{form.query(world.version)}"
    client.sendall(f"GET {target} HTTP/1.1\r\nHost: moon\r\nAccept: {form.accept}\r\n{rights}\r\n".encode())
    return Wire(client, form)


@pytest.mark.long
@pytest.mark.parametrize("table", HELD, ids=lambda table: table.name)
def test_streams_and_long_polls_stay_the_same_in_both_worlds(stage: Stage, server: Server, table: Table) -> None:
    told_of = [_followed(stage, server, Comparison(stage, pair, *stage.lay(pair))) for pair in pairs(table)]
    assert any(told_of), "nobody could move"


def _followed(stage: Stage, server: Server, both: Comparison) -> bool:
    """Compare the data that is sent before and after a move; return whether a move was possible."""
    version, seats = both.here.version, set(range(both.pair.table.seats))
    told = {**both.nobody, **both.seats}
    knowing = {f"seat {seat}": stage.people[seat].token for seat in seats - both.unable}
    with ExitStack() as clients:
        wires = {
            (who, form): [ask(server, clients, world, form, token) for world in (both.here, both.there)]
            for form in FORMS
            for who, token in {**knowing, **told}.items()
        }
        for pair in wires.values():
            for wire in pair:
                wire.begin(version)
        if both.go_on(by=seats - both.unable) is None and both.go_on(by=both.unable) is None:
            return False
        masks = both.here.masks(), both.there.masks()
        for (who, form), (here, there) in wires.items():
            here.hear(version + 1)
            there.hear(version + 1)
            if who in told:
                assert here.masked(masks[0]) == there.masked(masks[1]), f"{who} is told apart by {form.accept}"
    return True


def test_a_player_s_own_stream_is_the_same_in_both_worlds(stage: Stage, server: Server) -> None:
    told_of = [_noticed(stage, server, Comparison(stage, pair, *stage.lay(pair))) for pair in pairs(HELD[2])]
    assert any(told_of), "nobody was told of anything"


def _noticed(stage: Stage, server: Server, both: Comparison) -> bool:
    """Compare the notices of a seat that cannot know the difference; return whether it got any besides their state."""
    person, ports = stage.people[min(both.unable)], stage.ports
    player, headers = person.player.id, {"Authorization": f"Bearer {person.token}", "Accept": "text/event-stream"}
    with server.get("/v1/me/stream?include=decisions,legal_actions,texts", headers) as response:
        stream = frames(response)
        hello = next(stream)
        told = []
        for step in range(3):
            moved = both.go_on(by=set(range(both.pair.table.seats)))
            # A look at all matches tells of the newest first, so only the second of two looks has all of it behind it; and
            # where several moves fell between two looks, the worlds would be told apart by how busy the machine is.
            for look in range(2):
                told += _told_before(ports, player, stream, f"{both.here.id} {step} {look}")
            if moved is None:
                break
    for found in (hello.data["matches"], told):
        here, there = (
            [
                mask(msgspec.json.encode({**one, "cursor": ""}), world.masks())
                for one in found
                if world.id in {one.get("id"), one.get("match")}
            ]
            for world in (both.here, both.there)
        )
        assert here == there
    return bool(told)


def _told_before(ports: Ports, player: str, stream: Iterator[Frame], key: str) -> list[Any]:
    """What is told before the start of a new match of the player."""
    last = match_lifecycle.create(ports, player, NewMatch("ape_town", 2, bots=("random",)), key).match
    match_lifecycle.join(ports, player, last.id, "sit")

    def before(frame: Frame) -> bool:
        return not frame.data or frame.data["match"] != last.id

    return [frame.data for frame in takewhile(before, stream) if frame.data]
