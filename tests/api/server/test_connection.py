"""A connection does not block other connections. Tested without a server."""

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
    """Without the switch, one reader would read everything before the other starts."""
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


def test_other_work_runs_between_requests_that_arrived_together(ends: tuple[Connection, socket]) -> None:
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
    after_first = len(ticks)
    connection.take_turn()
    assert len(ticks) > after_first + 1
    other.kill()


def received(client: socket) -> list[bytes]:
    """The messages that have arrived; on this kind of socket, each `send` is one message."""
    client.setblocking(False)
    found = []
    try:
        while data := client.recv(1000):
            found.append(data)
    except BlockingIOError:
        return found
    return found


def test_the_head_of_an_answer_is_sent_together_with_the_first_part_of_its_body() -> None:
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
        connection.flush()  # the connection is closed: nothing is sent
