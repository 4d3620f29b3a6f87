"""The main thread plays matches that are due in the log or hinted at, in order; no failure stops it."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from threading import Event, Thread

import pytest

from events.due import Due
from events.log import LogUnavailable
from events.memory_log import MemoryLog
from events.record import MatchId
from service.adapters.memory import local_ports
from service.errors import Corrupt, Refused
from service.games.registry import GAMES
from service.match.new_match import NewMatch
from service.repository.ports import Lane
from service.usecases.match_lifecycle import create, join, leave
from tests.events.log_contract import create as append
from tests.waiting import until
from workers import player as player_module
from workers.player import MAX_CLAIMED, Player
from workers.turns import Turns

BOTH: tuple[Lane, ...] = ("turns", "bots")


def log_with_due(due: dict[MatchId, str], log: MemoryLog | None = None) -> MemoryLog:
    """A log in which each match has a long overdue entry of a kind."""
    log = log or MemoryLog()
    for match, kind in due.items():
        append(log, match, due={kind: 1})
    return log


def player_of(log: MemoryLog, play: Callable[[MatchId], Lane | None], lanes: Sequence[Lane] = BOTH) -> Player:
    return Player(local_ports(GAMES, log=log), lanes, play)


@contextmanager
def running(player: Player) -> Iterator[None]:
    thread = Thread(target=player.run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        player.stop()
        thread.join(10)
        assert not thread.is_alive()


def in_thread(call: Callable[[], object]) -> Thread:
    thread = Thread(target=call, daemon=True)
    thread.start()
    return thread


@pytest.mark.parametrize("people", [0, 1])
def test_matches_that_are_due_in_the_log_are_played_without_any_hint(people: int) -> None:
    ports = local_ports(GAMES)
    bots = ("random",) * (2 - people)
    match = create(ports, "pl_a", NewMatch(game="monkeys_on_the_moon", seats=2, bots=bots), "k").match
    if people:
        join(ports, "pl_a", match.id, "join")
        leave(ports, "pl_a", match.id, "leave")
    with running(Player(ports, BOTH, Turns(ports).play)):
        until(lambda: ports.history.newest(match.id)[0].status == "finished", 60, "the match is played")


@pytest.mark.parametrize(("lanes", "played"), [(["turns"], ["t"]), (["bots"], ["b"]), (BOTH, ["t", "b"])])
def test_a_process_claims_only_matches_of_its_lanes(lanes: list[Lane], played: list[str]) -> None:
    log = log_with_due({"b": "bots", "t": "job"})
    found: list[MatchId] = []
    with running(player_of(log, found.append, lanes)):
        until(lambda: len(found) == len(played), 10, "the matches that are due are played")
    assert found == played
    left = [*log.claim("job", 10, 10, 9), *log.claim("bots", 10, 10, 9)]
    assert [due.match for due in left] == [match for match in ("t", "b") if match not in played]


def test_abandoned_matches_come_after_all_matches_of_bots() -> None:
    names = [str(number) for number in range(MAX_CLAIMED + 1)]
    log = log_with_due({"abandoned": "abandoned", **dict.fromkeys(names, "bots")})
    played: list[MatchId] = []
    with running(player_of(log, played.append, ["bots"])):
        until(lambda: len(played) == len(names) + 1, 10, "all are played")
    assert played[-1] == "abandoned"


def test_overdue_matches_hints_and_unfinished_jobs_take_turns_and_matches_of_bots_come_last() -> None:
    played: list[MatchId] = []

    def play(match: MatchId) -> Lane | None:
        played.append(match)
        return "turns" if played.count("hinted") == 1 and match == "hinted" else None

    player = player_of(log_with_due({"bots": "bots", "late": "job"}), play)
    in_thread(partial(player.play, "hinted"))
    until(lambda: len(player._hinted) == 1, 10, "the hint arrived")
    in_thread(partial(player.play, "hinted too"))
    until(lambda: len(player._hinted) == 2, 10, "the hint arrived")
    with running(player):
        until(lambda: len(played) == 5, 10, "all are played")
    assert played == ["late", "hinted", "hinted", "hinted too", "bots"]


def test_a_hint_waits_for_at_most_two_jobs_of_other_matches() -> None:
    played: list[MatchId] = []
    waiting: list[Thread] = []

    def play(match: MatchId) -> Lane | None:
        played.append(match)
        if len(played) == 3 * MAX_CLAIMED:  # by now overdue matches and unfinished jobs fill both queues
            waiting.append(in_thread(partial(player.play, "hinted")))
            until(lambda: len(player._hinted) == 1, 10, "the hint arrived")
        return None if match == "hinted" else "turns"

    player = player_of(log_with_due({str(number): "job" for number in range(5 * MAX_CLAIMED)}), play)
    with running(player):
        until(lambda: "hinted" in played, 10, "it is played")
    assert played.index("hinted") - 3 * MAX_CLAIMED <= 2


def test_play_waits_until_the_match_was_played_or_the_player_stops() -> None:
    go, began = Event(), Event()

    def play(_: MatchId) -> None:
        began.set()
        go.wait(10)

    player = player_of(MemoryLog(), play)
    with running(player):
        first = in_thread(lambda: player.play("first"))
        began.wait(10)
        second = in_thread(lambda: player.play("second"))
        assert first.is_alive()
        player.stop()
        go.set()
        for waiting in (first, second):
            waiting.join(10)
            assert not waiting.is_alive()


def test_hints_of_the_sweeper_are_accepted_for_the_process_s_lanes_up_to_a_limit() -> None:
    played: list[MatchId] = []
    player = player_of(MemoryLog(), played.append, ["turns"])
    player.hint("other lane", "bots")
    for number in range(2 * MAX_CLAIMED):
        player.hint(str(number))
    with running(player):
        until(lambda: len(played) == MAX_CLAIMED, 10, "as many as fit are played")
    assert played == [str(number) for number in range(MAX_CLAIMED)]


def test_a_match_whose_claim_expired_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(player_module, "LEASE_MS", 0)
    played: list[MatchId] = []
    player = player_of(log_with_due({"m": "job"}), played.append)
    with running(player):
        in_thread(lambda: player.play("hinted"))
        until(lambda: played, 10, "the hinted match is played")
    assert played == ["hinted"]


def test_a_match_that_cannot_be_played_is_skipped_for_a_while_and_does_not_stop_others(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(player_module, "LEASE_MS", 1)
    monkeypatch.setattr(player_module, "CLAIM_INTERVAL_S", 0.0)
    faults = {"corrupt": Corrupt(1, "no event"), "refused": Refused("match-not-found", ""), "bug": ZeroDivisionError()}
    played: list[MatchId] = []

    def play(match: MatchId) -> None:
        played.append(match)
        if match in faults:
            raise faults[match]

    log = log_with_due({"corrupt": "job", "refused": "job", "bug": "job", "sound": "job"})
    with running(player_of(log, play)):
        until(lambda: played.count("sound") > 20, 10, "the sound match is played")
    assert [played.count(match) for match in faults] == [1, 1, 1]
    assert sorted(record.levelname for record in caplog.records) == ["ERROR"] * 3


class FailingLog(MemoryLog):
    """A log whose first claims fail."""

    failures = 3

    def claim(self, kind: str, now: int, lease: int, limit: int) -> Sequence[Due]:
        if self.failures:
            self.failures -= 1
            raise LogUnavailable("unavailable") if self.failures else ZeroDivisionError
        return super().claim(kind, now, lease, limit)


def test_an_unavailable_log_is_reported_once_and_used_again_when_it_answers(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(player_module, "RETRY_DELAY_S", 0.01)
    played: list[MatchId] = []
    with running(player_of(log_with_due({"m": "job"}, FailingLog()), played.append)):
        until(lambda: played, 10, "it is played")
    assert [record.levelno for record in caplog.records] == [logging.WARNING, logging.ERROR]


def test_nothing_is_played_while_the_clock_is_wrong(caplog: pytest.LogCaptureFixture) -> None:
    played: list[MatchId] = []
    faults = ["this clock is 30 s ahead"]
    log = log_with_due({"due": "job"})
    player = Player(local_ports(GAMES, log=log), BOTH, played.append, lambda: next(iter(faults), None))
    with caplog.at_level(logging.INFO), running(player):
        player.play("hinted")  # returns, since another process plays the match
        assert played == []
        faults.clear()
        until(lambda: played, 10, "the due match is played once the clock is right")
    assert played == ["due"]
    assert [record.message for record in caplog.records if record.name == "moonstone.clock"] == [
        "no matches are played here: this clock is 30 s ahead",
        "matches are played here again",
    ]
