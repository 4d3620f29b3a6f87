"""The longest legal lists of Monsters on the Moon: computed by the rules, and the longest one over HTTP."""

import time
from pathlib import Path
from typing import Final

import httpx
import msgspec

from service.games.monsters_on_the_moon.game import GAME
from service.games.monsters_on_the_moon.state import State
from tests.benchmarks.http import serving
from tests.benchmarks.lists_server import Served
from tests.benchmarks.load import drive, request
from tests.benchmarks.table import LOG
from tests.ports import free_port
from tests.service.games.monsters_on_the_moon.largest import largest_display, most_walls

REPEATS: Final = 20


class Listed(msgspec.Struct, frozen=True):
    """The length of a list, and the processor time (ms) to compute it, as the best of several runs."""

    length: int
    ms: float


class OverHttp(msgspec.Struct, frozen=True):
    """The size of an answer (KiB), and the time (ms) from its request to its last byte, as a median."""

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


def over_http(folder: Path) -> OverHttp:
    """Request the list of `cards` as JSON over a socket."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    with (
        (folder / LOG).open("ab") as log,
        serving(log, "tests.benchmarks.lists_server", str(port), f"{folder}/served.json", port=port),
    ):
        served = msgspec.json.decode(Path(folder, "served.json").read_bytes(), type=Served)
        headers = {"Authorization": f"Bearer {served.token}"}
        size = len(httpx.get(address + served.path, headers=headers).content)
        answers = drive(port, [[request("GET", served.path, headers)] * REPEATS])
    assert answers.statuses == {httpx.codes.OK: REPEATS}, answers.statuses
    return OverHttp(size // 1024, answers.percentile(0.5))
