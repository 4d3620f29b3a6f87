"""Outages of the log, short and long: time in which it cannot accept actions costs no player.

The processes are real. The log's server is stopped, or killed and restarted.
"""

import math
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import msgspec
import pytest

from events.record import Event
from service.adapters.beat import RETURN_MS
from service.adapters.clock import wall_clock
from service.adapters.valkey import Valkey
from service.audit.match_file import export
from service.match.events import SHORTEST_CLOCK
from service.match.model import GRACE_MS
from tests.api.live import serving
from tests.chaos.clients import Answer, Client
from tests.chaos.history import History
from tests.chaos.tables import choice
from tests.length import LONG
from tests.verifier.verdicts import verdicts
from tests.waiting import until
from tests.workers.world import World, new_world

Fault: TypeAlias = Literal["stopped", "killed"]
Deadline: TypeAlias = Literal["within", "after", "long after"]
"""When the deadline of a match is: in the outage or right after its begin, a little after its end, or seconds after its end."""

CASES: Final[tuple[tuple[float, Fault], ...]] = (
    tuple((seconds, fault) for seconds in (0.3, 1.0, 2.9, 3.1, 10.0) for fault in ("stopped", "killed"))
    if LONG
    else ((1.0, "killed"),)
)
ACTS_BEFORE_S: Final = 0.6
"""If the deadline is `within`, the action is first sent this long before it. The outage begins a little earlier."""
OUTAGE_BEFORE_S: Final = 0.1
SHORTEST_ROUND: Final = 30
SLACK_MS: Final = 1_500
"""Tolerance for a busy machine."""
DEADLINE_EVENTS: Final = {"default_action", "resigned", "seat_handed_over", "timer"}
"""Types of events that a deadline causes."""


UNLIMITED: Final = dict.fromkeys(
    (f"MOONSTONE_{name}_BY_ADDRESS" for name in ("REQUESTS", "SIGN_UPS", "CREATIONS")), "1000000"
)


class Case(NamedTuple):
    """A match: its clock, when its deadline is, and whether a client acts before it is enforced.

    `soon`: the client retries without a pause while the answer is 503. `late`: it waits for the time in `Retry-After`.
    """

    clock: Mapping[str, object]
    deadline_is: Deadline
    acts: Literal["no", "soon", "late"]

    @property
    def is_real_time(self) -> bool:
        return "round_seconds" in self.clock

    def wanted(self, seconds: int) -> dict[str, object]:
        """The request for a match whose first deadline is `seconds` after its start."""
        if self.is_real_time:
            return {"game": "four_monkeys", "seats": 2, "options": {"round_seconds": seconds, "countdown_seconds": 0}}
        kind = "bank_seconds" if "bank_seconds" in self.clock else "turn_seconds"
        return {"game": "monkeys_on_the_moon", "seats": 2, "clock": {**self.clock, kind: seconds}}


class Table:
    """A match of two people. One of them has a deadline and an action to send."""

    def __init__(self, world: World, clients: tuple[Client, Client], case: Case, deadline_s: float) -> None:
        self.case = case
        self._world = world
        seconds = SHORTEST_ROUND if case.is_real_time else max(SHORTEST_CLOCK, math.ceil(deadline_s + 0.5) + 2)
        self.begins_s = deadline_s - seconds
        host, self._guest = clients
        self.match: str = host.ask("POST", "/v1/matches", case.wanted(seconds), "create").body["id"]
        host.ask("POST", f"/v1/matches/{self.match}/seats", {"seat": 0}, "sit")
        self._clients = clients
        self.deadline = 0

    def begin(self) -> None:
        """Let the second player join, which starts the match."""
        self._guest.ask("POST", f"/v1/matches/{self.match}/seats", {}, "sit")
        view = self._guest.read(self.match)
        decision = next(one for one in view["decisions"] if isinstance(one["seat"], int) and one["deadline"])
        self.seat: int = decision["seat"]
        self.deadline = decision["deadline"]
        listed = self._clients[self.seat].ask("GET", f"/v1/matches/{self.match}/legal-actions").body
        self._action = {name: choice(value) for name, value in listed["actions"][0].items()}

    def act(self) -> Answer:
        client = self._clients[self.seat]
        path, body = f"/v1/matches/{self.match}/actions", {"action": self._action}
        while self.case.acts == "late":
            answer = client.once("POST", path, body, "act")
            if answer is not None and answer.status != 503:
                return answer
            time.sleep(2)
        return client.ask("POST", path, body, "act")

    def events(self) -> list[Event]:
        match, _ = self._world.service.ports.history.newest(self.match)
        return self._world.events(match)

    def outcome(self) -> Event | None:
        """The first event that the deadline caused, or the action that came before it."""
        events = (event for event in self.events() if event.type in {"action", *DEADLINE_EVENTS})
        return next(events, None)

    def leave(self) -> None:
        for client in self._clients:
            client.ask("POST", f"/v1/matches/{self.match}/leave", None, "leave")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with new_world(tmp_path) as world:
        yield world


def take_log_down(log: Valkey, fault: Fault, seconds: float) -> float:
    """Make the log unavailable. Returns an upper bound of the outage in seconds."""
    began = time.monotonic()
    if fault == "stopped":
        os.kill(log.pid, signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(log.pid, signal.SIGCONT)
    else:
        log.kill()
        time.sleep(seconds)
        log.restart()
    return time.monotonic() - began


def at(time_s: float, do: Callable[[], Any]) -> Any:
    """Call a function at a time of the wall clock, in seconds."""
    time.sleep(max(0.0, time_s - wall_clock() / 1000))
    return do()


def cases() -> Iterator[Case]:
    for deadline_is in ("within", "after", "long after") if LONG else ("within",):
        for clock in ({}, {"on_timeout": "resign"}, {"bank_seconds": 0}):
            yield Case(clock, deadline_is, "no")
            yield Case(clock, deadline_is, "late" if clock and deadline_is == "within" else "soon")
    if LONG:
        yield Case({"round_seconds": 0}, "within", "no")
        yield Case({"round_seconds": 0}, "within", "soon")
        yield Case({"round_seconds": 0}, "after", "soon")


@pytest.mark.long
@pytest.mark.parametrize(("seconds", "fault"), CASES)
def test_row_55_an_outage_of_any_length_costs_no_player_time(
    tmp_path: Path, world: World, seconds: float, fault: Fault
) -> None:
    history = History()
    world.worker()
    world.worker()
    deadline_is = {"within": OUTAGE_BEFORE_S + ACTS_BEFORE_S, "after": seconds + 0.5, "long after": seconds + 3}
    with (
        serving({**world.environ, **UNLIMITED}, 2 if LONG else 1) as server,
        ThreadPoolExecutor(20) as pool,
        ExitStack() as opened,
    ):
        clients = [
            (Client(server.port, f"Ada-{number}", history), Client(server.port, f"Ben-{number}", history))
            for number, _ in enumerate(cases())
        ]
        for client in chain.from_iterable(clients):
            opened.callback(client.close)
        tables = [
            Table(world, pair, case, deadline_is[case.deadline_is]) for pair, case in zip(clients, cases(), strict=True)
        ]
        starts_s = wall_clock() / 1000 + 0.5 - min(table.begins_s for table in tables)
        list(pool.map(lambda table: at(starts_s + table.begins_s, table.begin), tables))
        starts_s = (
            min(table.deadline for table in tables if table.case.deadline_is == "within") / 1000
            - OUTAGE_BEFORE_S
            - ACTS_BEFORE_S
        )
        answers = {
            table: pool.submit(at, acts_at(table, seconds) / 1000, table.act)
            for table in tables
            if table.case.acts != "no"
        }
        outage_s = at(starts_s, lambda: take_log_down(world.log, fault, seconds))

        assert [
            (table.case, answer.result(60).body) for table, answer in answers.items() if answer.result(60).status != 201
        ] == []
        for table in tables:
            until(table.outcome, 60, f"the deadline or the action of {table.case}")
        late = [what for table in tables for what in faults(table, seconds, outage_s)]
        assert late == []
        for table in tables:
            table.leave()
        for table in tables:
            until(lambda table=table: table.events()[-1].type == "seed_revealed", 180, "the match ends")  # type: ignore[misc]
    assert history.violations == []
    files = {
        table.match: tuple(
            line.rstrip(b"\n")
            for line in export(world.service.ports, world.service.ports.history.newest(table.match)[0])
        )
        for table in tables
    }
    assert verdicts(files, tmp_path) == dict.fromkeys(files)
    for table in tables:
        world.verified(world.service.ports.history.newest(table.match)[0])


def acts_at(table: Table, seconds: float) -> float:
    """When the client acts, in server milliseconds: before the deadline, or after the original deadline if the outage was earlier."""
    if table.case.deadline_is == "within":
        return table.deadline - ACTS_BEFORE_S * 1000
    return table.deadline + 0.6 * seconds * 1000


def faults(table: Table, seconds: float, outage_s: float) -> Iterator[str]:
    outcome = table.outcome()
    assert outcome is not None
    given_back = sum(
        int(event_ms(event))
        for event in table.events()
        if event.type == "clock_extended" and event.version < outcome.version
    )
    report = f"{table.case}, deadline {table.deadline}: {outcome.type} at {outcome.at}, {given_back} ms given back"
    if (table.case.acts != "no") != (outcome.type == "action"):
        yield report
    if given_back > outage_s * 1000 + RETURN_MS + SLACK_MS:
        yield f"too much: {report}"
    if table.case.acts == "no" and not (
        table.deadline + seconds * 1000
        <= outcome.at
        <= table.deadline + outage_s * 1000 + RETURN_MS + GRACE_MS + SLACK_MS
    ):
        yield f"not in time: {report}"


def event_ms(event: Event) -> int:
    return int(msgspec.json.decode(event.data)["ms"])
