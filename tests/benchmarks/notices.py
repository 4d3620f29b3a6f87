"""The time from a move's receipt to the `your_turn` notice of the other player, who follows few or many matches."""

import select
import socket
import time
from collections import deque
from statistics import median
from typing import Any, Final

import msgspec

from service.container import Service
from service.match.new_match import NewMatch
from service.usecases import accounts, match_lifecycle
from tests.api.live import Server
from tests.benchmarks.http import GAME, script
from tests.benchmarks.load import request
from tests.benchmarks.streams import TIMEOUT_S, Moves

TURNS: Final = 200
"""Maximum number of turns that are measured."""
PAUSE_S: Final = 0.005
"""The pause between two moves, after which the streams are idle again."""


class Delay(msgspec.Struct, frozen=True):
    """Milliseconds from the receipt of a move to the notice of the turn that it opened; 0 if the notice came first."""

    running: int
    turns: int
    p50: float
    p99: float


class Player:
    """A player's stream of notices, as lines of JSON."""

    def __init__(self, server: Server, token: str) -> None:
        self.socket = socket.create_connection(("127.0.0.1", server.port), TIMEOUT_S)
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/x-ndjson"}
        self.socket.sendall(request("GET", "/v1/me/stream", headers))
        self._buffer = b""
        self._lines: deque[dict[str, Any]] = deque()
        while not any(line.get("type") == "hello" for line in self._lines):
            self.read()

    def read(self) -> None:
        received = self.socket.recv(65536)
        if not received:
            raise RuntimeError(f"the stream was cut: {self._buffer!r}")
        *lines, self._buffer = (self._buffer + received).split(b"\n")
        # Chunk sizes of the chunked encoding are lines that are not JSON objects.
        self._lines += [msgspec.json.decode(line) for line in lines if line.startswith(b'{"')]

    def take(self) -> list[dict[str, Any]]:
        lines = list(self._lines)
        self._lines.clear()
        return lines


def delay(server: Server, service: Service, running: int) -> Delay:
    """The delay for two players who have `running` matches with each other and play one of them."""
    requests = script(service, f"noticed-{running}", running)
    tokens = list(dict.fromkeys(_token(sent) for sent in requests))
    _start_more(service, tokens, running - 1)
    moves = Moves(server, requests)
    players = {token: Player(server, token) for token in tokens}
    delays: list[float] = []
    for following in requests[1 : TURNS + 1]:
        delays.append(_delay(moves, players[_token(following)]))
        time.sleep(PAUSE_S)
        _drain(players)
    for player in players.values():
        player.socket.close()
    delays.sort()
    return Delay(running, len(delays), median(delays), delays[int(0.99 * (len(delays) - 1))])


def _delay(moves: Moves, player: Player) -> float:
    moves.send()
    answered = noticed = 0.0
    deadline = time.perf_counter() + TIMEOUT_S
    while not (answered and noticed):
        ready, _, _ = select.select([moves.socket, player.socket], [], [], TIMEOUT_S)
        now = time.perf_counter()
        if now > deadline:
            raise TimeoutError("no notice of a turn")
        if moves.socket in ready:
            moves.receive()
            answered = now
        if player.socket in ready:
            player.read()
            if any(line["type"] == "your_turn" for line in player.take()):
                noticed = now
    return 1000 * max(0.0, noticed - answered)


def _drain(players: dict[str, Player]) -> None:
    by_socket = {player.socket: player for player in players.values()}
    while ready := select.select(list(by_socket), [], [], 0)[0]:
        for one in ready:
            by_socket[one].read()
            by_socket[one].take()


def _token(sent: bytes) -> str:
    return sent.partition(b"Authorization: Bearer ")[2].partition(b"\r\n")[0].decode()


def _start_more(service: Service, tokens: list[str], count: int) -> None:
    ports = service.ports
    players = [accounts.authenticate(ports, token).player.id for token in tokens]
    for number in range(count):
        match_id = match_lifecycle.create(ports, players[0], NewMatch(game=GAME, seats=2), f"more-{number}").match.id
        for player in players:
            match_lifecycle.join(ports, player, match_id, f"more-{number}-seat")
