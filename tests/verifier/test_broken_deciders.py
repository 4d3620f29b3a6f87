"""The JavaScript verifier repeats the rules about the life of a match. It must notice each rule that the Decider drops.

Every `raise` of the Decider is a rule. Each is removed in turn. A match that the broken Decider accepts is played to
its end, and the verifier must find the fault in its file.
"""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Final

import msgspec
import pytest

from service.audit.match_file import first_line
from service.automation import bot_turns
from service.errors import NotDue, Refused
from service.match import decide
from service.match.commands import (
    Act,
    ActAsBot,
    Command,
    Expire,
    Forfeit,
    FreeSeat,
    HandOver,
    Join,
    Leave,
    ReplaceAbsent,
    Resume,
    SeatBot,
    Start,
    Suspend,
    TakeDefault,
)
from service.match.model import ABSENCE_MS
from service.usecases import match_lifecycle, submit
from service.usecases.submit import CommandKey
from tests.service.arena import COUNTDOWN, Arena
from tests.service.audit.match_files import File, Lines
from tests.verifier.deciders import MODULES, broken
from tests.verifier.hosted_provocations import OF_HOSTED
from tests.verifier.rated_provocations import OF_RATED
from tests.verifier.verdicts import verdicts

EXEMPT: Final[Mapping[str, str]] = {
    "decide: no_match": "no match, no file",
    "_check_access: no_match": "access rights are not in the file",
    "_check_head: stale-version.no-tag": "a client's precondition is not in the file",
    "_check_head: stale-version": "a client's precondition is not in the file",
    "_check_head: history-diverged": "a client's precondition is not in the file",
    "_admit: not-your-seat": "a client's precondition is not in the file",
    "_admit: decision-closed": "a client's precondition is not in the file",
    "_admit: not-seated.replaced": "without a seat there is no event",
    "_admit: not-seated.outsider": "without a seat there is no event",
    "_holder: nobody has seat": "without a holder there is no event",
    "leave: not-seated.nothing-to-leave": "without a seat there is no event",
    "take_back: not-seated.nothing-to-take-back": "without a seat there is no event",
    "_own_seat: not-seated.outsider": "without a seat there is no event",
    "leave: match-not-open": "what a client insisted on is not in the file",
    "_check_format_2: match-too-old": "an event that format 1 does not have cannot be folded",
    "take_back: bot-deciding": "needs the rules",
    "_free_seat: match-full": "a taken seat is refused once more",
    "check_running: match-not-running": "an open match has no state to act on",
    "_admit: not-your-turn": "needs the rules",
    "parse_action: invalid-action": "needs the rules",
    "_ruled: _too_early": "needs the rules",
    "_ruled: illegal": "needs the rules",
    "_check_lost: seat": "needs the rules",
    "ring: is not the next bell": "needs the rules",
    "_score: is scored before the match is over": "needs the rules",
    "check_running: match-suspended": "another rule refuses too: a suspended match has no open decisions",
    "_decide: match-not-suspended": "a resumption of a match that runs cannot be folded",
}


def raises(module: ModuleType) -> list[tuple[str, int]]:
    """The rules of a module: a name and the line of each `raise` statement."""
    tree = ast.parse(Path(str(module.__file__)).read_text("utf-8"))
    return [
        (f"{function.name}: {_reason(node.exc)}", node.lineno)
        for function in tree.body
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)
    ]


def _reason(call: ast.Call) -> str:
    words = [node.value for node in ast.walk(call) if isinstance(node, ast.Constant)]
    texts = [word.strip() for word in words if isinstance(word, str) and word.strip()]
    name = ast.unparse(call.func)
    return texts[0] if name in {"Refused", "refused", "NotDue"} and texts else name


RULES: Final = [(module, name, line) for module in MODULES for name, line in raises(module) if name not in EXEMPT]


# --- commands that a correct Decider refuses --------------------------------------------------------------------------


def submit_all(arena: Arena, table: str, *commands: Command) -> str:
    for command in commands:
        submit.submit(arena.ports, table, CommandKey(arena.new_key(), ""), command)
    return table


def manual_start(arena: Arena, *players: str, seats: int = 3) -> str:
    return arena.join(arena.create("toy", seats, manual_start=True), *players)


def to_be_suspended(arena: Arena) -> str:
    """A match in which a bot's turn is overdue."""
    table = arena.toy("anna", bots=("high",))
    arena.wait(COUNTDOWN)
    return table


def a_seat_taken_by_somebody_who_has_one(arena: Arena) -> str:
    return submit_all(arena, manual_start(arena, "anna"), Join(player="anna"))


def a_client_seed_of_two_lines(arena: Arena) -> str:
    return submit_all(arena, manual_start(arena), Join(player="anna", client_seed="a\nb"))


def a_seat_taken_twice(arena: Arena) -> str:
    return submit_all(arena, manual_start(arena, "anna"), Join(player="ben", seat=0))


def a_bot_seated_by_a_guest(arena: Arena) -> str:
    return submit_all(arena, manual_start(arena, "anna"), SeatBot(player="anna", bot="high"))


def a_start_with_an_empty_seat(arena: Arena) -> str:
    return submit_all(arena, manual_start(arena, "anna"), Start(player="host"))


def two_starts(arena: Arena) -> str:
    return submit_all(arena, manual_start(arena, "anna", "ben", seats=2), Start(player="host"), Start(player="host"))


def a_player_who_leaves_twice(arena: Arena) -> str:
    return submit_all(arena, arena.opened("anna", "ben"), Leave(player="anna"), Leave(player="anna"))


def a_player_who_leaves_after_the_end(arena: Arena) -> str:
    table = arena.toy("anna", "ben")
    arena.play_out(table)
    return submit_all(arena, table, Leave(player="anna"))


def two_suspensions(arena: Arena) -> str:
    return submit_all(arena, to_be_suspended(arena), Suspend(reason="KeyError"), Suspend(reason="KeyError"), Resume())


def a_suspension_for_no_error(arena: Arena) -> str:
    return submit_all(arena, to_be_suspended(arena), Suspend(reason="the sun shone"), Resume())


def an_action_of_somebody_who_left(arena: Arena) -> str:
    table = arena.opened("anna", "ben")
    action = arena.legal(table, "anna")[0]
    return submit_all(arena, table, Leave(player="anna"), Act(player="anna", action=action))


def an_action_that_is_too_late(arena: Arena) -> str:
    table = arena.monkeys("anna", "ben", turn_seconds=60)
    seat = arena.match(table).decisions()[0].seat
    action = arena.legal(table, ("anna", "ben")[seat])[0]
    arena.wait(60_000)
    return submit_all(arena, table, Act(player=("anna", "ben")[seat], action=action))


def an_action_by_another_bot(arena: Arena) -> str:
    table = to_be_suspended(arena)
    action = {"type": "commit", "card": arena.match(table).state.hands[0][0]}
    return submit_all(arena, table, ActAsBot(seat=0, bot="random", action=action))


def a_bot_faster_than_its_pace(arena: Arena) -> str:
    table = arena.create("monkeys_on_the_moon", 2, bots=("random", "random"), clock={"bot_pace_ms": 2_000})
    match = arena.match(table)
    seat = match.decisions()[0].seat
    action = next(iter(match.game.legal_actions(match.state, seat)))
    return submit_all(arena, table, ActAsBot(seat=seat, bot="random", action=msgspec.to_builtins(action)))


def a_default_action_for_no_reason(arena: Arena) -> str:
    table = arena.monkeys("anna", "ben", turn_seconds=60)
    (decision,) = arena.match(table).decisions()
    return submit_all(arena, table, TakeDefault(seat=decision.seat, action=decision.on_timeout, reason="player-left"))


def a_default_action_before_its_time(arena: Arena) -> str:
    table = arena.monkeys("anna", "ben", turn_seconds=60)
    (decision,) = arena.match(table).decisions()
    return submit_all(arena, table, TakeDefault(seat=decision.seat, action=decision.on_timeout, reason="clock"))


def a_seat_handed_over_where_the_clock_resigns(arena: Arena) -> str:
    table = arena.create("monkeys_on_the_moon", 2, clock={"turn_seconds": 30, "on_timeout": "resign"})
    arena.join(table, "anna", "ben")
    seat = arena.match(table).decisions()[0].seat
    arena.wait(31_000)
    return submit_all(arena, table, HandOver(seat=seat))


def a_resignation_where_the_clock_plays_defaults(arena: Arena) -> str:
    table = arena.monkeys("anna", "ben", turn_seconds=30)
    seat = arena.match(table).decisions()[0].seat
    arena.wait(31_000)
    return submit_all(arena, table, Forfeit(seat=seat))


def a_seat_freed_that_is_free(arena: Arena) -> str:
    return submit_all(arena, manual_start(arena, "anna"), FreeSeat(player="host", seat=2))


def a_match_that_expires_too_early(arena: Arena) -> str:
    return submit_all(arena, manual_start(arena, "anna"), Expire())


def a_seat_replaced_that_is_not_absent(arena: Arena) -> str:
    table = arena.monkeys("anna", "ben")
    seat = arena.match(table).decisions()[0].seat
    arena.wait(ABSENCE_MS - 1)
    return submit_all(arena, table, ReplaceAbsent(player=("ben", "anna")[seat], seat=seat))


def an_absent_seat_replaced_by_its_player(arena: Arena) -> str:
    table = arena.monkeys("anna", "ben")
    seat = arena.match(table).decisions()[0].seat
    arena.wait(ABSENCE_MS)
    return submit_all(arena, table, ReplaceAbsent(player=("anna", "ben")[seat], seat=seat))


PROVOCATIONS: Final[tuple[Callable[[Arena], str], ...]] = (
    a_seat_taken_by_somebody_who_has_one,
    a_client_seed_of_two_lines,
    a_seat_taken_twice,
    a_bot_seated_by_a_guest,
    a_start_with_an_empty_seat,
    two_starts,
    a_player_who_leaves_twice,
    a_player_who_leaves_after_the_end,
    two_suspensions,
    a_suspension_for_no_error,
    an_action_of_somebody_who_left,
    an_action_that_is_too_late,
    an_action_by_another_bot,
    a_bot_faster_than_its_pace,
    a_default_action_for_no_reason,
    a_default_action_before_its_time,
    a_seat_handed_over_where_the_clock_resigns,
    a_resignation_where_the_clock_plays_defaults,
    a_seat_freed_that_is_free,
    a_match_that_expires_too_early,
    a_seat_replaced_that_is_not_absent,
    an_absent_seat_replaced_by_its_player,
    *OF_RATED,
    *OF_HOSTED,
)


@pytest.mark.parametrize("provoke", PROVOCATIONS, ids=lambda provoke: provoke.__name__)
def test_the_decider_accepts_no_provocation(provoke: Callable[[Arena], str]) -> None:
    with pytest.raises((Refused, NotDue)):
        provoke(Arena())


def file_of(arena: Arena, table: str) -> Lines:
    """The match file, with the seed revealed at its end."""
    match = arena.match(table)
    file = File((first_line(match).line[0], *arena.log.stored(table)))
    if match.server_seed is None:
        seed = arena.log.seed(table) or b""
        file.insert(len(file.events), "seed_revealed", {"server_seed": seed.hex()})
    return file.sealed()


def accepts(decider: Callable[..., object], provoke: Callable[[Arena], str], arena: Arena) -> str | None:
    """The match of a provocation that a Decider accepts."""
    with pytest.MonkeyPatch.context() as patch:
        for importer in (submit, bot_turns, match_lifecycle):
            patch.setattr(importer, "decide", decider)
        try:
            return provoke(arena)
        except Exception:  # noqa: BLE001  (another rule refuses it, or it cannot be folded)
            return None


@cache
def refusals() -> Mapping[tuple[str, int], Sequence[Callable[[Arena], str]]]:
    """By each `raise` that the whole Decider reaches, the provocations that reach it: without it, all others go as before."""
    found: dict[tuple[str, int], list[Callable[[Arena], str]]] = {}
    for provoke in PROVOCATIONS:
        refusing: set[tuple[str, int]] = set()
        assert accepts(broken(decide, 0, refusing), provoke, Arena()) is None
        for rule in refusing:
            found.setdefault(rule, []).append(provoke)
    return found


def accepted(module: ModuleType, line: int) -> Iterator[tuple[str, int, Lines]]:
    """Each provocation that a Decider without one rule accepts: its name, the version after it, and the file."""
    without_rule = broken(module, line, set())
    for provoke in refusals().get((module.__name__, line), ()):
        arena = Arena()
        table = accepts(without_rule, provoke, arena)
        if table is not None:
            yield provoke.__name__, arena.version(table), file_of(arena, table)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_a_decider_without_one_rule_is_found_by_the_other_verifier(tmp_path: Path, module: ModuleType) -> None:
    rules = [(rule, line) for of, rule, line in RULES if of is module]
    files: dict[tuple[str, int, str], tuple[int, Lines]] = {}
    for rule, line in rules:
        played = accepted(module, line)
        files |= {(rule, line, name): (version, lines) for name, version, lines in played}
    assert set(rules) - {(rule, line) for rule, line, _ in files} == set(), "nothing provokes these rules"
    found = verdicts({name: lines for name, (_, lines) in files.items()}, tmp_path)
    missed = [name for name, (version, _) in files.items() if (fault := found[name]) is None or fault[0] > version]
    assert missed == []


def test_every_exemption_is_a_rule() -> None:
    assert set(EXEMPT) <= {name for module in MODULES for name, _ in raises(module)}
