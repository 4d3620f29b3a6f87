"""A process whose clock differs from the log's reports it, is not ready for requests, and enforces no deadline."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from secrets import token_hex

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from service.match.model import Match
from service.match.new_match import NewMatch
from service.usecases import accounts
from service.usecases.match_lifecycle import create
from tests.chaos.stores import WrongClock
from tests.ports import free_port
from tests.serving import ROOT
from tests.waiting import until
from tests.workers.world import GAME, World, new_world

TIMEOUT_S = 60


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


def fault(client: httpx.Client) -> str:
    """Why a process is not ready; empty if it does not answer, or is ready."""
    try:
        (found,) = client.get("/readyz").json().get("faults", ("",))
    except httpx.TransportError:
        return ""
    return str(found)


def commands(world: World, client: httpx.Client, name: str) -> list[tuple[int, str]]:
    """The statuses and codes of commands of a new player: create a match, take a seat, wait for others, and end that again.

    A process that refuses them gets the same requests, with ids that do not exist.
    """
    _, token = accounts.sign_up(world.service.ports, name.capitalize())
    game = {"game": GAME, "seats": 2}
    ids = ["none"]

    def send(method: str, path: str, body: object = None) -> tuple[int, str]:
        answer = client.request(method, path, json=body, headers={"Authorization": f"Bearer {token}"})
        document = answer.json() if answer.content else {}
        ids.append(document.get("id", "none"))
        assert answer.status_code != 503 or answer.headers["Retry-After"] == "2"
        return answer.status_code, document.get("code", "")

    found = [send("POST", "/v1/matches", game)]
    found.append(send("POST", f"/v1/matches/{ids[-1]}/seats", {}))
    found.append(send("POST", "/v1/seeks", game))
    found.append(send("DELETE", f"/v1/seeks/{ids[-1]}"))
    return found


def test_an_api_process_with_a_wrong_clock_is_not_ready_and_says_why(world: World, tmp_path: Path) -> None:
    wrong = WrongClock(tmp_path / "clock", 30)
    stderr = tmp_path / "stderr"
    clients = []
    with stderr.open("ab") as output:
        for more in ({}, wrong.environ):
            port = free_port()
            environ = {
                **os.environ,
                **world.environ,
                "MOONSTONE_PORT": str(port),
                "MOONSTONE_API_WORKERS": "1",
                "MOONSTONE_REQUESTS_BY_ADDRESS": "1000000",
                **more,
            }
            world.processes.append(
                subprocess.Popen([sys.executable, "-m", "api"], env=environ, cwd=ROOT, stderr=output)
            )
            clients.append(httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=TIMEOUT_S))
        right, off = clients
        with right, off:
            until(lambda: status(right) == 200, TIMEOUT_S, "the first is ready")
            for seconds, side in ((30, "ahead of"), (-30, "behind")):
                wrong.set_offset(seconds)
                until(lambda side=side: side in fault(off), TIMEOUT_S, f"the second is {side} the log")  # type: ignore[misc]
                assert status(off) == 503
                assert fault(off).startswith("this machine's clock is ")
                assert fault(off).endswith(f" s {side} the log server's; clocks must agree (NTP)")
                until(lambda: 28 < offset(off) < 32, TIMEOUT_S, "its metrics have the offset")
                assert offset(right) < 1
                until(lambda side=side: side.encode() in stderr.read_bytes(), TIMEOUT_S, "its log has the fault")  # type: ignore[misc]
                assert commands(world, off, "off") == [(503, "clock-wrong")] * 4
                assert off.get("/v1/matches").json()["matches"] == []
                wrong.set_offset(0)
                until(lambda: status(off) == 200, TIMEOUT_S, "it is ready once its clock agrees")
                until(lambda: offset(off) < 1, TIMEOUT_S, "its metrics say so")
                until(
                    lambda: b"agrees with the log server's again" in stderr.read_bytes(), TIMEOUT_S, "its log says so"
                )
                os.truncate(stderr, 0)
            assert [status for status, _ in commands(world, right, "right")] == [201, 201, 201, 204]
            assert [status for status, _ in commands(world, off, "agrees")] == [201, 201, 201, 204]
            times = [event.at for match in world.open_matches() for event in world.events(match)]
            assert len(times) == 4
            assert all(abs(at - world.service.ports.now()) < TIMEOUT_S * 1000 for at in times)
        for process in world.processes:
            process.terminate()
        for process in world.processes:
            assert process.wait(TIMEOUT_S) == 0


def test_a_worker_whose_clock_is_ahead_enforces_nothing_until_it_agrees(world: World, tmp_path: Path) -> None:
    wrong = WrongClock(tmp_path / "clock")
    world.program("workers", **wrong.environ)
    until(lambda: world.service.log_client.exists("beat"), TIMEOUT_S, "a sweeper runs")
    wrong.set_offset(30)
    other = world.people(clock=600)
    match = world.people(clock=5)
    deadline = match.decisions()[0].deadline
    assert deadline is not None
    until(lambda: world.service.ports.now() > deadline, TIMEOUT_S, "the deadline is over")
    assert world.newest(match) == match
    wrong.set_offset(0)
    until(lambda: world.events(match)[-1].type == "default_action", TIMEOUT_S, "the deadline is enforced")
    # The time without a sweeper that enforces anything is given back.
    types = [event.type for event in world.events(match)]
    assert types[types.index("match_started") :] == ["match_started", "clock_extended", "default_action"]
    assert world.newest(other) == other


def test_a_clock_that_jumps_between_two_checks_enforces_nothing(world: World, tmp_path: Path) -> None:
    wrong = WrongClock(tmp_path / "clock")
    world.program("workers", **wrong.environ)
    until(lambda: world.service.log_client.exists("beat"), TIMEOUT_S, "a sweeper runs")
    match = world.people(clock=20)
    for _ in range(20):
        wrong.set_offset(60)
        wrong.set_offset(0)
    wrong.set_offset(60)
    deadline = match.at + 4_000
    until(lambda: world.service.ports.now() > deadline, TIMEOUT_S, "the worker checked its clock")
    assert world.newest(match) == match
    # The jump also does not count as an outage, which would give players a minute that they did not lose. A busy machine may
    # delay the worker by some seconds, which are a real outage.
    assert world.service.ports.lost(match.at, match.at + 120_000, 3_600_000) < 30_000


def test_bots_are_not_played_by_a_worker_whose_clock_is_off_but_by_another(world: World, tmp_path: Path) -> None:
    ports = world.service.ports

    def match_of_bots() -> Match:
        return create(ports, "pl_a", NewMatch(GAME, 2, bots=("random", "random")), token_hex(4)).match

    def is_left_alone(match: Match) -> bool:
        until(lambda: ports.now() > match.at + 3_000, TIMEOUT_S, "the bots were due for a while")
        return world.newest(match) == match

    wrong = WrongClock(tmp_path / "clock", 30)
    world.program("workers", **wrong.environ)
    first = match_of_bots()
    assert is_left_alone(first)
    right = world.worker()
    until(lambda: world.newest(first).status == "finished", TIMEOUT_S, "the other worker plays the match")
    assert all(event.at <= ports.now() for event in world.events(first))
    right.kill()
    right.wait()
    second = match_of_bots()
    assert is_left_alone(second)
    wrong.set_offset(0)
    until(lambda: world.newest(second).status == "finished", TIMEOUT_S, "it is played once the clock agrees")
