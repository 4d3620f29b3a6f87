"""A process whose clock differs from the log's: it says so, gets no requests, and enforces nothing."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.chaos.stores import WrongClock
from tests.ports import free_port
from tests.serving import ROOT
from tests.waiting import until
from tests.workers.world import World, new_world

PATIENCE_S = 60


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with new_world(tmp_path) as world:
        yield world


def offset(client: httpx.Client) -> float:
    """The largest difference in the metrics of a process, in seconds."""
    (found,) = [
        sample.value
        for family in text_string_to_metric_families(client.get("/metrics").text)
        for sample in family.samples
        if sample.name == "moonstone_clock_offset_seconds"
    ]
    return found


def status(client: httpx.Client) -> int:
    try:
        return client.get("/readyz").status_code
    except httpx.TransportError:
        return 0


@pytest.mark.parametrize(("seconds", "side"), [(30, "ahead of"), (-30, "behind")])
def test_of_two_api_processes_the_one_whose_clock_is_off_is_not_ready_and_says_why(
    world: World, tmp_path: Path, seconds: int, side: str
) -> None:
    wrong = WrongClock(tmp_path / "clock", seconds)
    stderr = tmp_path / "stderr"
    clients = []
    with stderr.open("wb") as output:
        for more in ({}, wrong.environ):
            port = free_port()
            environ = {**os.environ, **world.environ, "MOONSTONE_PORT": str(port), "MOONSTONE_API_WORKERS": "1", **more}
            world.processes.append(
                subprocess.Popen([sys.executable, "-m", "api"], env=environ, cwd=ROOT, stderr=output)
            )
            clients.append(httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S))
        right, off = clients
        with right, off:
            until(lambda: status(right) == 200, PATIENCE_S, "the first is ready")
            until(lambda: status(off) == 503, PATIENCE_S, "the second is not")
            (fault,) = off.get("/readyz").json()["faults"]
            assert fault.startswith("this machine's clock is ")
            assert fault.endswith(f" s {side} the log server's; clocks must agree (NTP)")
            until(lambda: 28 < offset(off) < 32, PATIENCE_S, "its metrics say so")
            assert offset(right) < 1
            until(lambda: side.encode() in stderr.read_bytes(), PATIENCE_S, "its log says so")
            wrong.move(0)
            until(lambda: status(off) == 200, PATIENCE_S, "it is ready once its clock agrees")
            until(lambda: offset(off) < 1, PATIENCE_S, "its metrics say so")
        for process in world.processes:
            process.terminate()
        for process in world.processes:
            assert process.wait(PATIENCE_S) == 0


def test_a_worker_whose_clock_is_ahead_enforces_nothing_until_it_agrees(world: World, tmp_path: Path) -> None:
    wrong = WrongClock(tmp_path / "clock")
    world.worker(**wrong.environ)
    until(lambda: world.service.log_client.exists("beat"), PATIENCE_S, "a sweeper runs")
    wrong.move(30)
    other = world.people(clock=600)
    match = world.people(clock=5)
    deadline = match.decisions()[0].deadline
    assert deadline is not None
    until(lambda: world.service.ports.now() > deadline, PATIENCE_S, "the deadline is over")
    assert world.newest(match) == match
    wrong.move(0)
    until(lambda: world.events(match)[-1].type == "default_action", PATIENCE_S, "the deadline is enforced")
    # The time without a sweeper that enforces anything is given back.
    types = [event.type for event in world.events(match)]
    assert types[types.index("match_started") :] == ["match_started", "clock_extended", "default_action"]
    assert world.newest(other) == other


def test_a_clock_that_jumps_between_two_checks_enforces_nothing(world: World, tmp_path: Path) -> None:
    wrong = WrongClock(tmp_path / "clock")
    world.worker(**wrong.environ)
    until(lambda: world.service.log_client.exists("beat"), PATIENCE_S, "a sweeper runs")
    match = world.people(clock=20)
    for _ in range(20):
        wrong.move(60)
        wrong.move(0)
    wrong.move(60)
    deadline = match.at + 4_000
    until(lambda: world.service.ports.now() > deadline, PATIENCE_S, "the worker checked its clock")
    assert world.newest(match) == match
    # Nor is the jump taken for an outage, which would give players time that they did not lose.
    assert world.service.ports.lost(match.at, match.at + 120_000, 3_600_000) == 0
