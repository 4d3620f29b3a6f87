"""A log that is killed or loses its power while clients play: no acknowledged command is lost or applied twice.

The same check finds nothing without a fault, and it finds the loss of a log that is not durable.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from threading import Event
from typing import Final

import pytest

from events.chain import follow, genesis
from events.record import Event as Record
from events.redis_log import RedisLog, connect
from service.adapters.valkey import Valkey
from service.games.registry import GAMES
from service.repository.match_history import History as Matches
from tests.api.live import serving
from tests.chaos.clients import Client, Pair, Sitter, Witness
from tests.chaos.history import History, Stored
from tests.chaos.stores import PowerCut
from tests.length import LENGTH, LONG
from tests.waiting import until

FAULTS: Final = 5 * LENGTH if LONG else 6
KINDS: Final = (("kill",), ("cut",)) if LONG else (("kill", "cut"),)
"""The kinds of faults that take turns in one run."""
COMMANDS_BETWEEN_FAULTS: Final = 8
"""The least number of acknowledged commands between two faults."""
MIN_LOSS: Final = 16_384
"""Minimum loss in bytes; more than all concurrent commands together."""
# The file is rewritten often, so that faults also happen during a rewrite.
OPTIONS: Final = {"auto-aof-rewrite-min-size": "64kb", "auto-aof-rewrite-percentage": "50"}


class ServiceUnderLoad:
    """A running service under load, and the history of its clients."""

    def __init__(self, port: int, log: Valkey, history: History) -> None:
        self.history = history
        self._log = log
        self._stopped = Event()
        players = [Client(port, f"player-{number}", history) for number in range(7)]
        self.witness = Witness(players[6])
        wanted = {"game": "monkeys_on_the_moon", "seats": 4, "manual_start": True}
        tables = [players[0].ask("POST", "/v1/matches", wanted, f"table-{number}").body["id"] for number in range(3)]
        sitters = [Sitter(player, tables, self._stopped, first) for first, player in enumerate(players[:4])]
        self._busy = [*sitters, Pair(players[4:6], self._stopped)]
        self._players = players
        for one in self._busy:
            one.start()

    def wait_for(self, commands: int) -> None:
        """Wait until this many more commands are acknowledged."""
        mark = self.history.acknowledged
        until(lambda: self.history.acknowledged >= mark + commands, 300, f"{commands} commands are acknowledged")

    def kinds(self) -> set[str]:
        """The kinds of commands that were acknowledged so far."""
        return {command.kind for command in self.history.commands if command.version is not None}

    def stop(self) -> None:
        self._stopped.set()
        for one in self._busy:
            one.join(60)
            assert not one.is_alive()
        for player in self._players:
            player.close()

    def end(self) -> Stored:
        """Stop the clients and return the log's events; every match is folded and its chain verified (I3)."""
        self.stop()
        with connect(self._log.url) as client:
            log = RedisLog(client)
            matches = Matches(log, GAMES, b"no snapshot is sealed with this")
            stored: dict[str, list[tuple[Record, str]]] = {}
            for match in {command.match for command in self.history.commands}:
                stored[match] = []
                entries = log.read(match).events
                if not entries:
                    continue  # the whole match is lost; the history's check reports it
                _, head = genesis(match, "monkeys_on_the_moon", matches.newest(match)[0].created.ruleset)
                for entry in entries:
                    event, head = follow(head, entry)
                    stored[match].append((event, head.hash))
            return stored


@contextmanager
def table(folder: Path, log: Valkey, queue_url: str, **settings: str) -> Iterator[ServiceUnderLoad]:
    environ = {
        "MOONSTONE_LOG_URL": log.url,
        "MOONSTONE_QUEUE_URL": queue_url,
        "MOONSTONE_DATA_DIR": str(folder / "data"),
        "MOONSTONE_REQUESTS_BY_TOKEN": "1000000",
        "MOONSTONE_REQUESTS_BY_ADDRESS": "1000000",
        "MOONSTONE_SIGN_UPS_BY_ADDRESS": "1000000",
        "MOONSTONE_CREATIONS_BY_ADDRESS": "1000000",
        **settings,
    }
    with serving(environ) as server:
        running = ServiceUnderLoad(server.port, log, History())
        try:
            yield running
        finally:
            running.stop()


def cause_faults(running: ServiceUnderLoad, times: int, cause_fault: Callable[[], object], log: Valkey) -> list[float]:
    """Cause a fault of the log repeatedly, each time at another moment, and keep it down for a while.

    Returns for each fault the seconds from the restart until a command was answered.
    """
    recovery_s = []
    for number in range(times):
        running.wait_for(COMMANDS_BETWEEN_FAULTS)
        is_answered_again = running.witness.act()
        time.sleep(number * 37 % 100 / 500)
        cause_fault()
        assert running.witness.gets_503()
        time.sleep(number * 61 % 100 / 500)
        log.restart()
        began = time.monotonic()
        assert is_answered_again()
        recovery_s.append(time.monotonic() - began)
    return recovery_s


@pytest.fixture
def power(tmp_path: Path) -> Iterator[Callable[..., PowerCut]]:
    made: list[PowerCut] = []

    def make(**options: str) -> PowerCut:
        made.append(PowerCut(tmp_path / "power", OPTIONS | options))
        return made[-1]

    yield make
    for one in made:
        one.server.stop()


@pytest.mark.long
def test_a_control_run_without_faults_is_clean(
    tmp_path: Path, power: Callable[..., PowerCut], valkey_queue_url: str
) -> None:
    log = power()
    with table(tmp_path, log.server, valkey_queue_url) as running:
        for _ in range(LENGTH):
            running.wait_for(60)
        until(
            lambda: {"seat_taken", "seat_left", "action"} <= running.kinds(),
            60,
            "all kinds of commands are acknowledged",
        )
        stored = running.end()
    history = running.history
    print(f"no fault: {history.acknowledged} commands, {history.retries} retries")
    assert history.faults(stored) == []
    answered = {(command.match, command.version) for command in history.commands}
    unanswered = [
        event.type for match, events in stored.items() for event, _ in events if (match, event.version) not in answered
    ]
    assert set(unanswered) == {"match_created"}


@pytest.mark.long
@pytest.mark.parametrize("kinds", KINDS, ids=" and ".join)
def test_row_01_and_02_a_log_that_is_killed_or_loses_its_power_keeps_every_acknowledged_command(
    tmp_path: Path, power: Callable[..., PowerCut], valkey_queue_url: str, kinds: Sequence[str]
) -> None:
    log = power()
    faults: dict[str, Callable[[], object]] = {"kill": log.server.kill, "cut": log.cut}
    turns = cycle(kinds)

    def cause_next() -> None:
        faults[next(turns)]()

    with table(tmp_path, log.server, valkey_queue_url) as running:
        recovery_s = sorted(cause_faults(running, FAULTS, cause_next, log.server))
        running.wait_for(COMMANDS_BETWEEN_FAULTS)
        stored = running.end()
    history = running.history
    print(
        f"{FAULTS} times {' or '.join(kinds)}: {history.acknowledged} commands, {history.retries} retries, {history.replays} replays, "
        f"recovered in {recovery_s[FAULTS // 2]:.2f} s (median), {recovery_s[-1]:.2f} s at most"
    )
    assert history.faults(stored) == []
    assert recovery_s[-1] < 3


def test_row_02_the_loss_of_a_log_that_is_synced_every_second_is_found(
    tmp_path: Path, power: Callable[..., PowerCut], valkey_queue_url: str
) -> None:
    # Without a rewrite, in which the server itself would wait for the slow disk.
    log = power(**{"appendfsync": "everysec", "auto-aof-rewrite-percentage": "0"})
    with table(tmp_path, log.server, valkey_queue_url, MOONSTONE_ALLOW_VOLATILE="1") as running:
        running.wait_for(COMMANDS_BETWEEN_FAULTS)
        log.settle()  # so that the store's id and the players are on the disk
        log.slow_down(60_000)  # long enough that nothing more reaches the disk in this test
        running.wait_for(COMMANDS_BETWEEN_FAULTS)
        assert log.cut(at_least=MIN_LOSS) >= MIN_LOSS
        log.slow_down(0)
        log.server.restart()
        running.wait_for(COMMANDS_BETWEEN_FAULTS)
        stored = running.end()
    assert [fault for fault in running.history.faults(stored) if fault.startswith("I1: acknowledged but missing")]
