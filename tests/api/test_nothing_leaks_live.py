"""Nothing leaks on the wire: a real server sends the same live data about two worlds that a viewer cannot distinguish.

Seats that can tell the worlds apart listen too, because the streams of a match share frames.
"""

import re
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from itertools import count, takewhile
from typing import Any, Final, NamedTuple

import msgspec
import pytest
from redis import Redis

from service.match.new_match import NewMatch
from service.repository.ports import Ports
from service.repository.signing import SigningKey
from service.repository.webhooks import NOTIFIED, Webhook
from service.subscriptions import webhook_delivery, webhook_news
from service.subscriptions.streams import HANG_UP_CHECK_S
from service.usecases import match_lifecycle
from tests.api.comparison import Comparison
from tests.api.live import Frame, Server, frames, serving
from tests.api.world_setup import World, WorldSetup, environment, mask, served
from tests.api.worlds import Pair, pairs
from tests.service.games.matches import Table
from tests.service.games.tables import TABLES

COMPARED: Final = tuple(
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
    """A way to receive events: its request at a version, and a check that the data is complete up to a version."""

    accept: str
    query: Callable[[int], str]
    is_complete: Callable[[bytes, int], bool]
    is_stream: bool


FORMS: Final = (
    Form(
        "text/event-stream",
        lambda _: "?include=texts,decisions,legal_actions",
        lambda received, version: b"\nid: %d\n" % version in received and received.endswith(b"\n\n\r\n"),
        is_stream=True,
    ),
    Form(
        "application/x-ndjson",
        lambda version: f"?after={version - 1}&include=legal_actions",
        lambda received, version: b'"version":%d,' % version in received and received.endswith(b"\n\r\n"),
        is_stream=True,
    ),
    Form(
        "application/json",
        lambda version: f"?after={version}&wait=20&include=decisions,legal_actions",
        lambda received, version: b'"version":%d,' % version in received and received.endswith(b'"next":null}'),
        is_stream=False,
    ),
)


class TooManyStreams(Exception):
    """The server still counts streams whose connections are closed."""


class Wire:
    """A connection with a sent request, and all data received so far."""

    def __init__(self, client: socket.socket, form: Form) -> None:
        self._client, self._form = client, form
        self._received = b""

    def read_to(self, version: int) -> None:
        """Read until all events up to a version have arrived."""
        while not self._form.is_complete(self._received, version):
            more = self._client.recv(65536)
            assert more, f"the server hung up after {self._received!r}"
            self._received += more
            if self._received.startswith(b"HTTP/1.1 429 "):
                raise TooManyStreams

    def begin(self, version: int) -> None:
        """Read the events that a stream sends immediately."""
        if self._form.is_stream:
            self.read_to(version)

    def masked(self, masks: Mapping[bytes, bytes]) -> bytes:
        """All received bytes without heartbeats and without all that is unique to a match or a request."""
        text = self._received
        for heartbeat in HEARTBEATS:
            text = text.replace(heartbeat, b"")
        return _OF_THE_REQUEST.sub(b"-", mask(text, masks))


@pytest.fixture(scope="module")
def environ(valkey_log_url: str, valkey_queue_url: str, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    Redis.from_url(valkey_log_url).flushall()
    return environment(valkey_log_url, valkey_queue_url, tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def setup(environ: Mapping[str, str]) -> Iterator[WorldSetup]:
    with served(environ) as service:
        yield WorldSetup(service)


@pytest.fixture(scope="module")
def server(environ: Mapping[str, str], setup: WorldSetup) -> Iterator[Server]:
    del setup  # it creates the log that this server reads
    with serving(environ, workers=1) as running:
        yield running


_addresses: Final = count(2)
"""Numbers of loopback addresses, one per connection: the server limits open streams by address, and notices late that one closed."""


def ask(server: Server, clients: ExitStack, world: World, form: Form, token: str | None) -> Wire:
    address = f"127.0.1.{next(_addresses) % 250 + 2}", 0
    client = clients.enter_context(socket.create_connection(("127.0.0.1", server.port), 20, address))
    rights = f"Authorization: Bearer {token}\r\n" if token else ""
    target = f"{world.path}/events{form.query(world.version)}"
    client.sendall(f"GET {target} HTTP/1.1\r\nHost: moon\r\nAccept: {form.accept}\r\n{rights}\r\n".encode())
    return Wire(client, form)


@pytest.mark.long
@pytest.mark.parametrize("table", COMPARED, ids=lambda table: table.name)
def test_streams_and_long_polls_stay_the_same_in_both_worlds(setup: WorldSetup, server: Server, table: Table) -> None:
    moved = [_compared_in_time(setup, server, pair) for pair in pairs(table)]
    assert any(moved), "no seat could move"


def _compared_in_time(setup: WorldSetup, server: Server, pair: Pair) -> bool:
    for _ in range(4):
        with suppress(TooManyStreams):
            return _streams_compared(setup, server, Comparison(setup, pair, *setup.create_pair(pair)))
        time.sleep(HANG_UP_CHECK_S)
    raise TooManyStreams


def _streams_compared(setup: WorldSetup, server: Server, both: Comparison) -> bool:
    """Compare the data that is sent before and after a move; return whether a move was possible."""
    version, seats = both.here.version, set(range(both.pair.table.seats))
    received = {**both.anonymous, **both.seats}
    aware = {f"seat {seat}": setup.people[seat].token for seat in seats - both.unaware}
    with ExitStack() as clients:
        wires = {
            (caller, form): [ask(server, clients, world, form, token) for world in (both.here, both.there)]
            for form in FORMS
            for caller, token in {**aware, **received}.items()
        }
        for pair in wires.values():
            for wire in pair:
                wire.begin(version)
        if both.move(by=seats - both.unaware) is None and both.move(by=both.unaware) is None:
            return False
        masks = both.here.masks(), both.there.masks()
        for (caller, form), (here, there) in wires.items():
            here.read_to(version + 1)
            there.read_to(version + 1)
            if caller in received:
                assert here.masked(masks[0]) == there.masked(masks[1]), (
                    f"{caller} can tell the worlds apart by {form.accept}"
                )
    return True


def test_a_player_s_own_stream_is_the_same_in_both_worlds(setup: WorldSetup, server: Server) -> None:
    noticed = [
        _notices_compared(setup, server, Comparison(setup, pair, *setup.create_pair(pair)))
        for pair in pairs(COMPARED[2])
    ]
    assert any(noticed), "no notice was sent"


def _notices_compared(setup: WorldSetup, server: Server, both: Comparison) -> bool:
    """Compare the notices to a seat that cannot know the difference; return whether it got any after `hello`."""
    person, ports = setup.people[min(both.unaware)], setup.ports
    player, headers = person.player.id, {"Authorization": f"Bearer {person.token}", "Accept": "text/event-stream"}
    with server.get("/v1/me/stream?include=decisions,legal_actions,texts", headers) as response:
        stream = frames(response)
        hello = next(stream)
        received = []
        for step in range(3):
            moved = both.move(by=set(range(both.pair.table.seats)))
            # A poll of all matches reports the newest first, so only the second of two polls comes after all notices of the first; and
            # if several moves fell between two polls, the worlds would differ by how busy the machine is.
            for poll in range(2):
                received += _notices_before(ports, player, stream, f"{both.here.id} {step} {poll}")
            if moved is None:
                break
    for found in (hello.data["matches"], received):
        here, there = (
            [
                mask(msgspec.json.encode({**one, "cursor": ""}), world.masks())
                for one in found
                if world.id in {one.get("id"), one.get("match")}
            ]
            for world in (both.here, both.there)
        )
        assert here == there
    return bool(received)


def _notices_before(ports: Ports, player: str, stream: Iterator[Frame], key: str) -> list[Any]:
    """The notices that arrive before that of a new match of the player."""
    last = match_lifecycle.create(ports, player, NewMatch("ape_town", 2, bots=("random",)), key).match
    match_lifecycle.join(ports, player, last.id, "sit")

    def before(frame: Frame) -> bool:
        return not frame.data or frame.data["match"] != last.id

    return [frame.data for frame in takewhile(before, stream) if frame.data]


def test_a_player_s_webhook_gets_the_same_in_both_worlds(setup: WorldSetup) -> None:
    sent = [
        _deliveries_compared(setup, Comparison(setup, pair, *setup.create_pair(pair))) for pair in pairs(COMPARED[2])
    ]
    assert any(sent), "no notice was sent"


def _deliveries_compared(setup: WorldSetup, both: Comparison) -> bool:
    """Compare the bodies for a seat that cannot know the difference; return whether there were any."""
    ports, player = setup.ports, setup.people[min(both.unaware)].player.id
    ports.webhooks.erase(player)
    ports.webhooks.add(Webhook("wh_1", player, "https://moon.example/", NOTIFIED, 0, 0, SigningKey("webhook:wh_1")), 1)
    found: list[list[bytes]] = [[], []]
    for _ in range(3):
        moved = both.move(by=set(range(both.pair.table.seats)))
        for world, bodies in zip((both.here, both.there), found, strict=True):
            webhook_news.collect(ports, world.id)
            for taken in ports.webhooks.take(player, ports.now() + 60_000, 60_000, 100):
                made = webhook_delivery.request(ports, player, taken)
                assert isinstance(made, webhook_delivery.Request)
                bodies.append(mask(made.body, world.masks()))
                webhook_delivery.settle(ports, player, taken, taken, "delivered")
        if moved is None:
            break
    assert found[0] == found[1]
    return bool(found[0])
