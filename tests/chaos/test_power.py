"""A log that is killed or loses its power under clients who keep on playing: nothing acknowledged is lost, nothing done
twice. The same harness without a fault finds nothing, and with a log that is not durable it finds the loss.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
from tests.length import LENGTH
from tests.waiting import until

CUTS: Final = 5 * LENGTH
BETWEEN: Final = 8
"""Commands acknowledged between two faults, at least."""
LOST: Final = 16_384
"""Bytes; more than all commands that are under way at a time."""
# The file is written anew again and again, so that faults meet that too.
OPTIONS: Final = {"auto-aof-rewrite-min-size": "64kb", "auto-aof-rewrite-percentage": "50"}


class Table:
    """A running service under load, and what its clients were told."""

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

    def goes_on(self, commands: int) -> None:
        """Wait until so many more commands were acknowledged."""
        mark = self.history.acknowledged
        until(lambda: self.history.acknowledged >= mark + commands, 300, f"{commands} commands are acknowledged")

    def kinds(self) -> set[str]:
        """What was done and acknowledged."""
        return {command.kind for command in self.history.commands if command.version is not None}

    def stop(self) -> None:
        self._stopped.set()
        for one in self._busy:
            one.join(60)
            assert not one.is_alive()
        for player in self._players:
            player.close()

    def end(self) -> Stored:
        """Stop the clients; what the log holds then, every match folded and its chain checked (I3)."""
        self.stop()
        with connect(self._log.url) as client:
            log = RedisLog(client)
            matches = Matches(log, GAMES, b"no snapshot is sealed with this")
            stored: dict[str, list[tuple[Record, str]]] = {}
            for match in {command.match for command in self.history.commands}:
                stored[match] = []
                entries = log.read(match).events
                if not entries:
                    continue  # lost as a whole, which is for the checker to say
                _, head = genesis(match, "monkeys_on_the_moon", matches.newest(match)[0].created.ruleset)
                for entry in entries:
                    event, head = follow(head, entry)
                    stored[match].append((event, head.hash))
            return stored


@contextmanager
def table(folder: Path, log: Valkey, queue_url: str, **settings: str) -> Iterator[Table]:
    environ = {
        "MOONSTONE_LOG_URL": log.url,
        "MOONSTONE_QUEUE_URL": queue_url,
        "MOONSTONE_DATA_DIR": str(folder / "data"),
        "MOONSTONE_REQUESTS_BY_TOKEN": "1000000",
        "MOONSTONE_REQUESTS_BY_ADDRESS": "1000000",
        "MOONSTONE_CREATIONS_BY_ADDRESS": "1000000",
        **settings,
    }
    with serving(environ) as server:
        under = Table(server.port, log, History())
        try:
            yield under
        finally:
            under.stop()


def disturb(under: Table, times: int, strike: Callable[[], object], log: Valkey) -> list[float]:
    """Strike the log at some moment of its work, again and again; each time it is away for a while.

    How long it took until a command was answered again, in seconds, each time.
    """
    healed = []
    for number in range(times):
        under.goes_on(BETWEEN)
        is_answered_again = under.witness.act()
        time.sleep(number * 37 % 100 / 500)
        strike()
        assert under.witness.is_told_to_wait()
        time.sleep(number * 61 % 100 / 500)
        log.restart()
        began = time.monotonic()
        assert is_answered_again()
        healed.append(time.monotonic() - began)
    return healed


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
    with table(tmp_path, log.server, valkey_queue_url) as under:
        for _ in range(LENGTH):
            under.goes_on(60)
        until(lambda: {"seat_taken", "seat_left", "action"} <= under.kinds(), 60, "everything is done")
        stored = under.end()
    history = under.history
    print(f"no fault: {history.acknowledged} commands, {history.retries} retries")
    assert history.faults(stored) == []
    told = {(command.match, command.version) for command in history.commands}
    untold = [
        event.type for match, events in stored.items() for event, _ in events if (match, event.version) not in told
    ]
    assert set(untold) == {"match_created"}


@pytest.mark.long
@pytest.mark.parametrize("fault", ["kill", "cut"])
def test_row_01_and_02_a_log_that_is_killed_or_loses_its_power_keeps_what_it_acknowledged(
    tmp_path: Path, power: Callable[..., PowerCut], valkey_queue_url: str, fault: str
) -> None:
    log = power()
    strikes: dict[str, Callable[[], object]] = {"kill": log.server.kill, "cut": log.cut}
    with table(tmp_path, log.server, valkey_queue_url) as under:
        healed = sorted(disturb(under, CUTS, strikes[fault], log.server))
        under.goes_on(BETWEEN)
        stored = under.end()
    history = under.history
    print(
        f"{CUTS} times {fault}: {history.acknowledged} commands, {history.retries} retries, {history.replays} replays, "
        f"healed in {healed[CUTS // 2]:.2f} s (median), {healed[-1]:.2f} s at most"
    )
    assert history.faults(stored) == []
    assert healed[-1] < 3


def test_row_02_a_log_that_is_synced_every_second_loses_and_is_found_out(
    tmp_path: Path, power: Callable[..., PowerCut], valkey_queue_url: str
) -> None:
    # Not written anew: the server itself would wait for the slow disk then.
    log = power(**{"appendfsync": "everysec", "auto-aof-rewrite-percentage": "0"})
    with table(tmp_path, log.server, valkey_queue_url, MOONSTONE_ALLOW_VOLATILE="1") as under:
        under.goes_on(BETWEEN)
        log.settle()  # the store's id and the players are on the disk then
        log.slow_down(60_000)  # whatever a machine does in a second, so long nothing more comes to the disk
        under.goes_on(BETWEEN)
        assert log.cut(least=LOST) >= LOST
        log.slow_down(0)
        log.server.restart()
        under.goes_on(BETWEEN)
        stored = under.end()
    assert [fault for fault in under.history.faults(stored) if fault.startswith("I1: acknowledged and not there")]
