"""Actions and observations over HTTP, compared with the baseline: the same requests, server class, number of workers
and log.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from statistics import median
from typing import IO

import httpx
import msgspec

from events.record import Event, canonical
from service.container import Service
from service.match.new_match import NewMatch
from service.ops.simulate import play
from service.usecases import accounts, match_lifecycle
from tests.benchmarks.load import drive, request
from tests.ports import free_port

GAME = "monkeys_on_the_moon"
CONNECTIONS = 16
ROUNDS = 3
READ_ROUNDS = 5
"""Runs with reads in each round: the random distribution of connections over workers has a large effect on them."""


@contextmanager
def serving(
    log: IO[bytes], module: str, *arguments: str, env: dict[str, str] | None = None, port: int
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server as a process that writes to `log`.

    The block starts when it is ready; the server is stopped afterwards.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments], env={**os.environ, **(env or {})}, stdout=log, stderr=log
    )
    try:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            try:
                if httpx.get(f"http://127.0.0.1:{port}/readyz").status_code == httpx.codes.OK:
                    break
            except httpx.TransportError:
                time.sleep(0.05)
        yield process
    finally:
        process.terminate()
        process.wait()


def action_scripts(service: Service, series: str) -> list[list[bytes]]:
    """The requests of whole matches of two seats, one match per connection, computed beforehand with the seeds of the server."""
    return [script(service, f"{series}-{number}", number) for number in range(CONNECTIONS)]


def script(service: Service, name: str, number: int) -> list[bytes]:
    ports = service.ports
    seed = number.to_bytes(32, "big")
    local, match = play(ports.games[GAME], ["random", "random"], {}, seed)
    events = [msgspec.json.decode(stored, type=Event) for stored in local.log.read(match.id).events]
    players = [accounts.sign_up(ports, f"Player {seat}") for seat in range(2)]
    wanted = NewMatch(game=GAME, seats=2)
    match_id = match_lifecycle.create(ports, players[0][0].id, wanted, name, seed=seed).match.id
    for player, _ in players:
        match_lifecycle.join(ports, player.id, match_id, f"{name}-seat")
    script = []
    for event in events:
        if event.type != "action":
            continue
        data = msgspec.json.decode(event.data, type=_Action)
        headers = {"Authorization": f"Bearer {players[data.seat][1]}", "Idempotency-Key": f"{name}-{event.version}"}
        body = canonical({"action": data.action, "seat": data.seat})
        script.append(request("POST", f"/v1/matches/{match_id}/actions", headers, body))
    return script


class _Action(msgspec.Struct):
    seat: int
    action: msgspec.Raw


def reads_like(scripts: Sequence[Sequence[bytes]]) -> list[list[bytes]]:
    """As many requests for observations of the same matches, by the same players."""
    found = []
    for script in scripts:
        head = script[0].split(b"\r\n")
        path = head[0].split(b" ")[1].removesuffix(b"/actions").decode()
        token = next(line for line in head if line.startswith(b"Authorization")).decode().partition(": ")[2]
        found.append([request("GET", path, {"Authorization": token})] * len(script))
    return found


def compare(service: Service, environ: Mapping[str, str], log: IO[bytes]) -> dict[str, tuple[float, float]]:
    """Requests per second of the service and of the baseline, as medians of alternating rounds: `actions` and
    `observations`.
    """
    service_rates: dict[str, list[float]] = {"actions": [], "observations": []}
    floor_rates: dict[str, list[float]] = {"actions": [], "observations": []}
    port = free_port()
    env = {
        **environ,
        "MOONSTONE_PORT": str(port),
        "MOONSTONE_REQUESTS_BY_TOKEN": "1000000",
        "MOONSTONE_MOVES_BY_TOKEN": "1000000",
        "MOONSTONE_REQUESTS_BY_ADDRESS": "1000000",
        "MOONSTONE_CREATIONS_BY_ADDRESS": "1000000",
    }
    floor_port = free_port()
    with (
        serving(log, "api", env=env, port=port),
        serving(log, "tests.benchmarks.floor", str(floor_port), environ["MOONSTONE_LOG_URL"], port=floor_port),
    ):
        for number in range(ROUNDS):
            scripts = action_scripts(service, f"round-{number}")
            reads = [("observations", reads_like(scripts))] * READ_ROUNDS
            for kind, load in (("actions", scripts), *reads):
                for rates, at in ((service_rates, port), (floor_rates, floor_port)):
                    answers = drive(at, load)
                    assert set(answers.statuses) <= {200, 201}, answers.statuses
                    rates[kind].append(answers.rate)
    return {kind: (median(service_rates[kind]), median(floor_rates[kind])) for kind in service_rates}
