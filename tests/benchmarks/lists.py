"""The longest legal lists of Monsters on the Moon: from the rules, and the longest of all over HTTP.

`python -m tests.benchmarks.lists PORT FILE` serves a match at that table, and writes into the file where it is.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import httpx
import msgspec
from flask import Flask
from msgspec.structs import replace

from api.checks import Deadline
from api.server import Server
from service.games.monsters_on_the_moon.game import GAME
from service.games.monsters_on_the_moon.state import State
from tests.api.checked import Client
from tests.benchmarks.http import serving
from tests.benchmarks.load import drive, request
from tests.ports import free_port
from tests.service.games.monsters_on_the_moon.largest import largest_display, most_walls

SEATS: Final = 4
REPEATS: Final = 20


class Served(msgspec.Struct, frozen=True):
    """Where the longest list is to be had, and with whose token."""

    path: str
    token: str


class Listed(msgspec.Struct, frozen=True):
    """How long a list is, and the milliseconds of processor time that it takes, the best of some runs."""

    length: int
    ms: float


class Sent(msgspec.Struct, frozen=True):
    """The size of an answer, and the milliseconds from its request to its last byte, the median of some."""

    kib: int
    ms: float


def cards() -> Listed:
    return _listed(largest_display())


def walls() -> Listed:
    return _listed(most_walls())


def _listed(state: State) -> Listed:
    times = []
    for _ in range(REPEATS):
        began = time.process_time()
        found = list(GAME.legal_actions(state, 0))
        times.append(time.process_time() - began)
    return Listed(len(found), 1000 * min(times))


def sent() -> Sent:
    """The list of `cards` as JSON, through a socket."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    with (
        tempfile.TemporaryDirectory() as folder,
        serving("tests.benchmarks.lists", str(port), f"{folder}/served.json", port=port),
    ):
        served = msgspec.json.decode(Path(folder, "served.json").read_bytes(), type=Served)
        headers = {"Authorization": f"Bearer {served.token}"}
        size = len(httpx.get(address + served.path, headers=headers).content)
        answers = drive(port, [[request("GET", served.path, headers)] * REPEATS])
    assert answers.statuses == {httpx.codes.OK: REPEATS}, answers.statuses
    return Sent(size // 1024, answers.percentile(0.5))


def _factory(_deadline: Deadline, _alive: Callable[[], bool]) -> Flask:
    client = Client(hasty=True)
    tokens = [client.sign_up(f"Player {seat}") for seat in range(SEATS)]
    match_id = client.do("/v1/matches", {"game": GAME.info.id, "seats": SEATS}, tokens[0])["id"]
    for token in tokens:
        client.do(f"/v1/matches/{match_id}/seats", {}, token)
    history = client.container.ports.history
    history.keep(replace(history.newest(match_id)[0], state=largest_display()))
    served = Served(f"/v1/matches/{match_id}/legal-actions", tokens[0])
    Path(sys.argv[2]).write_bytes(msgspec.json.encode(served))
    return client.app


if __name__ == "__main__":
    Server(_factory, host="127.0.0.1", port=int(sys.argv[1]), workers=1, on_ready=lambda *_: None).run()
