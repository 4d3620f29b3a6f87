"""A client's connection does not block others; tested without a server."""

from collections.abc import Iterator
from itertools import pairwise

import gevent
import pytest
from gevent.socket import SOCK_SEQPACKET, socket, socketpair
from werkzeug.exceptions import RequestEntityTooLarge

from api.server.connection import Connection


@pytest.fixture
def ends() -> Iterator[tuple[Connection, socket]]:
    """A connection, and its client's end."""
    server, client = socketpair()
    with server, client:
        yield Connection(server), client


def test_two_readers_of_buffered_bytes_take_turns(ends: tuple[Connection, socket]) -> None:
    """A timer fires too; without the switch it could not before everything is read."""
    order: list[str] = []

    def read(name: str, connection: Connection) -> None:
        for _ in range(20):
            connection.recv(10)
            order.append(name)

    server, client = socketpair()
    with server, client:
        for end in (ends[1], client):
            end.sendall(b"x" * 200)
        gevent.joinall(
            [gevent.spawn(read, "a", ends[0]), gevent.spawn(read, "b", Connection(server))], raise_error=True
        )
    assert all(one != other for one, other in pairwise(order))


def test_no_more_is_received_than_allowed(ends: tuple[Connection, socket]) -> None:
    connection, client = ends
    client.sendall(b"x" * 100)
    connection.limit = 20
    assert [len(connection.recv(10)) for _ in range(2)] == [10, 10]
    with pytest.raises(RequestEntityTooLarge):
        connection.recv(10)


def test_requests_that_came_together_are_served_with_pauses(ends: tuple[Connection, socket]) -> None:
    connection, client = ends
    ticks: list[None] = []

    def tick() -> None:
        while True:
            ticks.append(None)
            gevent.sleep(0)

    other = gevent.spawn(tick)
    client.sendall(b"x")
    connection.recv(10)
    connection.take_turn()
    came_alone = len(ticks)
    connection.take_turn()
    assert len(ticks) > came_alone + 1
    other.kill()


def received(client: socket) -> list[bytes]:
    """What has arrived, by message: a client that reads packets sees what was sent together."""
    client.setblocking(False)
    found = []
    try:
        while data := client.recv(1000):
            found.append(data)
    except BlockingIOError:
        return found
    return found


def test_the_head_of_an_answer_is_sent_with_what_follows_it_and_alone_where_nothing_does() -> None:
    server, client = socketpair(type=SOCK_SEQPACKET)
    with server, client:
        connection = Connection(server)
        for _ in range(2):  # requests on one connection
            connection.hold_head()
            connection.send_at_once(b"go on")
            connection.sendall(b"head ")
            assert received(client) == [b"go on"]
            for part in (b"body", b"more"):
                connection.sendall(part)
            assert received(client) == [b"head body", b"more"]
            connection.flush()
            connection.hold_head()
            connection.sendall(b"head alone")
            connection.flush()
            assert received(client) == [b"head alone"]
            connection.sendall(b"a problem")
            assert received(client) == [b"a problem"]
        connection.hold_head()
        connection.sendall(b"head")
        server.close()
        connection.flush()  # of a connection that was closed meanwhile nothing is left to send
