"""Match files with many kinds of events, and functions to change them and rebuild their hash chain."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import msgspec

from events.record import canonical, digest
from service.automation.bot_turns import advance, suspend
from service.automation.deadlines import enforce, extend, resume
from service.automation.expiry import expire
from service.errors import Refused
from service.games.kit.patterns import sample_action
from service.games.monkeys_on_the_moon.game import GAME as MONKEYS
from service.games.registry import GAMES
from service.match.due_times import KINDS
from service.match.model import ABSENCE_MS
from service.match.randomness import Draws
from service.match.redaction import legal_actions
from service.usecases import match_codes, match_lifecycle, mid_match
from service.usecases.match_lifecycle import start
from tests.service.arena import COUNTDOWN, Arena, person
from tests.service.audit.hosted_files import hosted, hosted_lost, hosted_rated, hosted_resigned
from tests.service.audit.playing import Lines as Lines
from tests.service.audit.playing import lines_of as lines_of
from tests.service.audit.playing import their_turn, turn_of

CLOCKS: Final[dict[str, dict[str, Any]]] = {
    "monkeys_on_the_moon": {"turn_seconds": 60, "on_timeout": "resign"},
    "ape_town": {"turn_seconds": 40, "on_timeout": "bot"},
    "four_monkeys": {"bot_pace_ms": 2_000},
    "monsters_on_the_moon": {"bank_seconds": 60, "increment_seconds": 2, "on_timeout": "bot"},
}
TURNS_BEFORE_LEAVING: Final = 100
"""The number of turns after which people leave. At every twentieth turn they let the clock run out."""


class File:
    """A parsed match file: `events[version]` are the events, `first` is the first line."""

    def __init__(self, lines: Lines) -> None:
        self.first: dict[str, Any] = msgspec.json.decode(lines[0])
        self.events: list[dict[str, Any]] = [{}, *(msgspec.json.decode(line) for line in lines[1:])]

    def sealed(self) -> Lines:
        """The lines with corrected versions and a rebuilt hash chain."""
        lines = [canonical(self.first)]
        for version, event in enumerate(self.events[1:], 1):
            lines.append(canonical({**event, "version": version, "prev": digest(lines[-1])}))
        return tuple(lines)

    def find(self, kind: str, nth: int = 0, **data: object) -> int:
        """The version of the n-th event of a type whose data has these values."""
        return [
            version
            for version, event in enumerate(self.events)
            if event.get("type") == kind and data.items() <= event["data"].items()
        ][nth]

    def data(self, kind: str, nth: int = 0, **data: object) -> dict[str, Any]:
        found: dict[str, Any] = self.events[self.find(kind, nth, **data)]["data"]
        return found

    def repeat(self, kind: str, **data: object) -> int:
        """Insert the event once more right after itself, and return its version there."""
        at = self.find(kind, 0, **data)
        self.events.insert(at + 1, self.events[at])
        return at + 1

    def insert(self, version: int, kind: str, data: dict[str, Any], by: str = "worker") -> None:
        at = self.events[version - 1]["at"]
        self.events.insert(version, {"type": kind, "at": at, "by": by, "data": data, "salt": "0" * 32})


@cache
def aborted() -> Lines:
    """A match that its creator aborted before the start."""
    arena = Arena()
    table = arena.join(arena.create(seats=3), "anna")
    arena.leave(table, "anna")
    arena.leave(table, "host")
    return lines_of(arena, table)


@cache
def toy() -> Lines:
    """A match with client seeds, a bot, swaps, a timer, default actions of three reasons, outages and a suspension."""
    arena = Arena()
    table = arena.create("toy", 3, bots=("high",), turn_seconds=20, options={"tricks": 3})
    arena.join(table, "anna", seed="hers")
    arena.join(table, "ben", seed="his")
    arena.wait(1_000)
    advance(arena.ports, table)
    arena.act(table, "anna")
    arena.wait(3_000)
    extend(arena.ports, table, "outage", 2_000)
    arena.ring(table)
    arena.act(table, "anna", {"type": "swap", "cards": arena.match(table).state.hands[1][:2]})
    arena.ring(table)
    arena.wait(COUNTDOWN)
    suspend(arena.ports, arena.match(table), "KeyError")
    arena.wait(5_000)
    resume(arena.ports, table)
    arena.leave(table, "ben")
    arena.play_out(table)
    return lines_of(arena, table)


@cache
def monkeys() -> Lines:
    """A match with a client seed, a turn clock, a bot that always fails, and a player who leaves."""

    def fail(_task: object, _rng: object) -> Any:
        raise ValueError

    arena = Arena(replace(MONKEYS, bots={"greedy": fail}))
    table = arena.create("monkeys_on_the_moon", 3, bots=("greedy",), turn_seconds=60)
    arena.join(table, "anna", seed="hers")
    arena.join(table, "ben")
    for turn in range(12):
        arena.work(table)
        match = arena.match(table)
        (decision,) = match.decisions()
        if turn % 3 == 2:
            arena.ring(table)
        else:
            arena.wait(700)
            arena.act(table, ("", "anna", "ben")[decision.seat])
    arena.leave(table, "ben")
    arena.play_out(table)
    return lines_of(arena, table)


@cache
def banks() -> Lines:
    """A match that its creator starts, with a bank clock that hands a seat over to a bot, and paced bots."""
    arena = Arena()
    clock = {"bank_seconds": 20, "increment_seconds": 2, "on_timeout": "bot", "bot_pace_ms": 1_000}
    table = arena.create("monkeys_on_the_moon", 3, bots=("random",), clock=clock, manual_start=True)
    arena.join(table, "anna", "ben")
    arena.wait(700)
    start(arena.ports, "host", table, arena.new_key())
    for _ in range(3):
        their_turn(arena, table)
    arena.ring(table)
    arena.play_out(table)
    return lines_of(arena, table)


@cache
def resigning() -> Lines:
    """A match whose turn clock makes people resign."""
    arena = Arena()
    table = arena.create("monkeys_on_the_moon", 2, clock={"turn_seconds": 30, "on_timeout": "resign"})
    arena.join(table, "anna", "ben")
    their_turn(arena, table)
    arena.ring(table)
    arena.play_out(table)
    return lines_of(arena, table)


@cache
def private() -> Lines:
    """A private match in which bots and people take other seats than the first free one, and that its creator aborts."""
    arena = Arena()
    table = arena.create(seats=4, private=True, manual_start=True)
    for seat, bot in ((3, "high"), (1, arena.host())):
        match_lifecycle.add_bot(arena.ports, "host", table, arena.new_key(), bot=bot, seat=seat)
    code = match_codes.join_code_of(arena.ports.secret, table)
    match_lifecycle.join(arena.ports, "anna", table, arena.new_key(), seat=2, join_code=code)
    arena.join(table, "ben")
    arena.leave(table, "host")
    return lines_of(arena, table)


@cache
def expired() -> Lines:
    """A match whose creator frees a seat, and that nobody else joins in time."""
    arena = Arena()
    table = arena.join(arena.create(seats=3, bots=("high",)), "anna")
    match_lifecycle.free_seat(arena.ports, "host", table, arena.new_key(), seat=1)
    arena.time = arena.match(table).expires_at or 0
    expire(arena.ports, table)
    return lines_of(arena, table)


@cache
def agreed() -> Lines:
    """A match without a clock: an absent person loses the seat, takes it back, and later all agree to abort the match."""
    arena = Arena()
    table = arena.monkeys("anna", "ben", bots=("random",))
    absent = turn_of(arena, table)
    other = {"anna": "ben", "ben": "anna"}[absent]
    arena.wait(ABSENCE_MS)
    match = arena.match(table)
    seat = match.seat_of(absent)
    assert seat is not None
    mid_match.replace_absent(arena.ports, other, table, arena.new_key(), seat=seat)
    arena.work(table)
    mid_match.take_back(arena.ports, absent, table, arena.new_key())
    mid_match.ask_abort(arena.ports, other, table, arena.new_key())
    for _ in range(40):  # until it is the turn of the one who asked, whose move takes back the request
        name = turn_of(arena, table)
        arena.act(table, name)
        if name == other:
            break
    mid_match.ask_abort(arena.ports, other, table, arena.new_key())
    mid_match.ask_abort(arena.ports, absent, table, arena.new_key())
    return lines_of(arena, table)


@cache
def rated() -> Lines:
    """A rated match of a variant, in which a bot takes over the seat of a person whose time ran out."""
    arena = Arena()
    clock = {"turn_seconds": 30, "on_timeout": "bot"}
    options = {"treachery": True}
    table = arena.create("monkeys_on_the_moon", 2, clock=clock, options=options, rated=True)
    arena.join(table, "anna", "ben")
    their_turn(arena, table)
    arena.ring(table)
    arena.play_out(table)
    return lines_of(arena, table)


@cache
def rated_toy() -> Lines:
    arena = Arena()
    table = arena.join(arena.create(turn_seconds=20, rated=True), "anna", "ben")
    arena.play_out(table)
    return lines_of(arena, table)


@cache
def left() -> Lines:
    """A match that two of three people want to abort, and that the third one leaves."""
    arena = Arena()
    table = arena.monkeys("anna", "ben", "cleo")
    for name in ("anna", "ben"):
        mid_match.ask_abort(arena.ports, name, table, arena.new_key())
    arena.leave(table, "cleo")
    return lines_of(arena, table)


GOOD: Final[tuple[Callable[[], Lines], ...]] = (
    toy,
    monkeys,
    aborted,
    banks,
    resigning,
    private,
    expired,
    agreed,
    left,
    rated,
    hosted,
    hosted_lost,
    hosted_resigned,
    hosted_rated,
)


@cache
def in_format_1(name: str) -> Lines:
    """The file of one of the functions above as the last release that wrote format 1 made it."""
    folder = Path(__file__).parent / "format_1"
    return tuple((folder / f"{name}.ndjson").read_bytes().splitlines())


OLD: Final = {make: partial(in_format_1, make.__name__) for make in (toy, monkeys, aborted, banks, resigning)}
"""The files in format 1, by the function that makes the same match in the newest format."""


@cache
def played(name: str) -> Lines:
    """A match of a bot and two people who act at random, sometimes let the clock run out, and leave."""
    chance, arena = Draws(lambda: bytes(32), {}), Arena(GAMES[name])
    table = arena.create(name, 3, bots=("random",), clock=CLOCKS[name])
    arena.join(table, "anna", seed="hers")
    arena.join(table, "ben")
    for turn in range(TURNS_BEFORE_LEAVING):
        arena.work(table)
        match = arena.match(table)
        people = [(one.opens_at, one.seat) for one in match.decisions() if person(match, one.seat)]
        if people and turn % 20 != 19:
            opens_at, seat = min(people)
            arena.time = max(arena.time + 300, opens_at)
            action = sample_action(chance.pick("action", list(legal_actions(match, seat))), "part", chance)
            with suppress(Refused):  # the sampled cards of a pattern may be too few
                arena.act(table, person(match, seat) or "", msgspec.to_builtins(action))
        else:
            arena.time = max(arena.time, arena.log.next_due(KINDS) or 0)
            enforce(arena.ports, table)
        if match.status != "running":
            break
    for seat in (1, 2):
        if arena.match(table).decisions() and (player := person(arena.match(table), seat)):
            arena.leave(table, player)
    arena.play_out(table)
    return lines_of(arena, table)
