"""A verifier in JavaScript accepts the same files as ours, and reports the same tampering at the same event."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.audit.match_file import export
from service.audit.verify import Fault, verify
from service.games.ape_town.game import GAME as APE
from service.games.monkeys_on_the_moon.game import GAME as MONKEYS
from service.games.protocol import AnyGame
from service.games.registry import GAMES
from service.ops.simulate import play
from tests.length import LENGTH, LONG
from tests.playthroughs.record import cases
from tests.service.arena import ENDLESS, Arena
from tests.service.audit import forged_events, forged_files, forged_hosted, match_files
from tests.service.audit.match_files import GOOD, OLD, File, Lines, lines_of, toy
from tests.service.games.toy.game import TOY
from tests.verifier.verdicts import FOLDER, Verdict, run, verdicts

SOURCES: Final = sorted(FOLDER.glob("*.mjs"))
KNOWN: Final[dict[str, AnyGame]] = {**GAMES, "toy": TOY}
EVERY: Final[list[Callable[[], Lines]]] = [*GOOD, *OLD.values()]
EQUIVALENT_CHECKS: Final = {
    "chain": {"chain"},
    "order": {"actions", "effects", "outcome"},
    "draws": {"draws"},
    "outcome": {"outcome"},
}
"""For each check of the JavaScript verifier: the checks of ours that may report the same fault."""


def ours(lines: Lines) -> Verdict:
    try:
        verify(lines, KNOWN)
    except Fault as fault:
        return fault.version, fault.check
    return None


# --- good files -------------------------------------------------------------------------------------------------------


def played(game: str, bots: tuple[str, ...], options: dict[str, Any], seed: bytes) -> Lines:
    ports, match = play(GAMES[game], bots, options, seed)
    return tuple(line[:-1] for line in export(ports, match))


@pytest.mark.long
@pytest.mark.parametrize("game", GAMES)
def test_it_passes_every_number_of_seats_and_every_option_with_several_seeds(game: str, tmp_path: Path) -> None:
    """In the short form, one seed, and the bots of a game whose matches take the least time."""
    quick = "greedy" if game == "four_monkeys" else "random"
    files = {
        (case.name, number): played(
            game,
            case.bots if LONG else (quick,) * len(case.bots),
            case.options,
            hashlib.sha256(b"%d" % number).digest(),
        )
        for case in cases(game)
        for number in range(LENGTH)
    }
    assert verdicts(files, tmp_path) == dict.fromkeys(files)


@pytest.mark.parametrize("game", [MONKEYS, APE], ids=lambda game: game.info.id)
def test_it_passes_client_seeds_of_any_characters(game: AnyGame, tmp_path: Path) -> None:
    files = {}
    for format_number, seeds in (
        (1, ('"\\/', "ähre")),
        (1, ("🌙" * 64, "\u00a0\ufeff")),
        (2, (None, "moon")),
        (2, ('"\\/', "ähre")),
        (2, ("🌙" * 64, "\u00a0 l·l")),
        (2, ("a", "a", None)),
        (2, ("カ・ナ", "ש״ם", "٣٤")),
    ):
        arena = Arena(game)
        arena.format_number = format_number
        table = arena.create(game.info.id, len(seeds))
        for player, seed in zip(("anna", "ben", "cleo"), seeds, strict=False):
            arena.join(table, player, seed=seed)
        arena.play_out(table)
        files[format_number, seeds] = lines_of(arena, table)
        assert ours(files[format_number, seeds]) is None
    assert verdicts(files, tmp_path) == dict.fromkeys(files)


def test_it_passes_outages_timers_default_actions_and_matches_that_never_began(tmp_path: Path) -> None:
    files = {lines: lines() for lines in EVERY}
    assert verdicts(files, tmp_path) == dict.fromkeys(files)


def test_it_passes_people_and_clocks_in_every_game(tmp_path: Path) -> None:
    files = {game: match_files.played(game) for game in GAMES}
    assert verdicts(files, tmp_path) == dict.fromkeys(files)


def test_equal_times_pass_in_games_without_time_limits(tmp_path: Path) -> None:
    """Documented in VERIFYING.md, "What no check shows"."""
    files = {}
    for game in GAMES:
        file = File(played(game, ("random", "random"), {}, bytes(32)))
        for event in file.events[1:]:
            event["at"] = 0
        files[game] = file.sealed()
    found = verdicts(files, tmp_path)
    assert {game for game in GAMES if found[game] or ours(files[game])} == {"four_monkeys"}
    assert same(found["four_monkeys"], ours(files["four_monkeys"]))


def test_it_passes_the_published_vectors() -> None:
    assert run("vectors.mjs") == (0, "6 canonical forms, 2 cases of draws\n")


# --- tampering --------------------------------------------------------------------------------------------------------

NEEDS_THE_RULES: Final = {
    # which actions are legal, and when
    "action: another card", "action: an illegal action", "action: an unknown action", "an_action_twice",
    "default_action: not the default", "an_outage_left_out", "a_score_before_the_end",
    "a_player_who_left_after_the_end", "two_deadlines_enforced_in_the_wrong_order", "a_suspension_while_people_think",
    "resigned: another seat resigned by the clock",
    # which effects an action has
    "match_started: a card changed", "timer: points for another seat", "timer: an effect left out",
    "action: no effects", "action: an unknown effect", "action: effects left out", "another_option",
    # whether the toy game draws during a match
    "timer: a draw left out", "action: a draw made up", "an_action_left_out",
}  # fmt: skip


def forgeries() -> Iterator[tuple[str, Lines]]:
    for forgery in (*forged_events.ALL, *forged_hosted.ALL):
        file = File(forgery.lines())
        forgery(file)
        yield f"{forgery.kind}: {forgery.name}", file.sealed()
    for forge, lines in {**forged_files.ALL, **forged_hosted.FILES}.items():
        file = File(lines())
        forge(file)
        yield forge.__name__, file.sealed()


def test_it_reports_the_same_forgeries_at_the_same_event_except_those_that_need_the_rules(tmp_path: Path) -> None:
    files = dict(forgeries())
    found = verdicts(files, tmp_path)
    different = {name for name, verdict in found.items() if not same(verdict, ours(files[name]))}
    assert different == NEEDS_THE_RULES
    assert [name for name in different if earlier(found[name], ours(files[name]))] == []


def same(theirs: Verdict, mine: Verdict) -> bool:
    return mine is not None and theirs is not None and theirs[0] == mine[0] and mine[1] in EQUIVALENT_CHECKS[theirs[1]]


def earlier(theirs: Verdict, mine: Verdict) -> bool:
    """Whether it reported a fault before the first real one."""
    return theirs is not None and (mine is None or theirs[0] < mine[0])


def line(version: int, change: Callable[[bytes], bytes]) -> Lines:
    lines = list(toy())
    lines[version] = change(lines[version])
    return tuple(lines)


BROKEN: Final[dict[str, Callable[[], Lines]]] = {
    "a line left out": lambda: (*toy()[:7], *toy()[8:]),
    "two lines swapped": lambda: (*toy()[:7], toy()[8], toy()[7], *toy()[9:]),
    "the first event left out": lambda: (toy()[0], *toy()[2:]),
    "an empty line": lambda: (*toy()[:7], b"", *toy()[7:]),
    "an empty line at the end": lambda: (*toy(), b""),
    "the last line twice": lambda: (*toy(), toy()[-1]),
    "an empty file": lambda: (),
    "a longer salt": lambda: line(7, lambda old: old.replace(b'"salt":"', b'"salt":"0', 1)),
    "another time": lambda: line(7, lambda old: old.replace(b'"at":1', b'"at":2', 1)),
    "another hash": lambda: line(7, lambda old: old.replace(b'"prev":"', b'"prev":"0', 1)),
    "a space": lambda: line(7, lambda old: old.replace(b",", b", ", 1)),
    "an unnecessary escape": lambda: line(3, lambda old: old.replace(b"anna", b"\\u0061nna", 1)),
    "a lone surrogate": lambda: line(3, lambda old: old.replace(b"anna", b"\\ud800", 1)),
    "a carriage return": lambda: line(7, lambda old: old + b"\r"),
    "arrays nested too deep": lambda: line(7, lambda _: ENDLESS),
    "invalid UTF-8": lambda: line(7, lambda _: b"\xff"),
    "a byte order mark": lambda: line(0, lambda old: b"\xef\xbb\xbf" + old),
    "an empty first line": lambda: line(0, lambda _: b""),
    "a first line of nested arrays": lambda: line(0, lambda _: b"[" * 100_000),
    "a space in the first line": lambda: line(0, lambda old: old.replace(b",", b", ", 1)),
    "a number that is too large": lambda: line(-1, lambda old: old.replace(b'"at":', b'"at":9007199254', 1)),
    "a number with an exponent": lambda: line(-1, lambda old: old[:-1] + b"e0}"),
}


def test_it_finds_a_broken_chain_where_it_breaks(tmp_path: Path) -> None:
    files = {name: lines() for name, lines in BROKEN.items()}
    assert verdicts(files, tmp_path) == {name: ours(lines) for name, lines in files.items()}


JSON: Final = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@dataclass(frozen=True, slots=True)
class Changed:
    """A file with one value changed. Its repr shows only the change, because the file is long."""

    lines: Lines = field(repr=False)
    what: str


@st.composite
def changed(draw: st.DrawFn) -> Changed:
    """A file in which one value, anywhere, was replaced."""
    file = File(draw(st.sampled_from(EVERY))())
    parent: Any = file.events[draw(st.integers(1, len(file.events) - 1))]
    name: Any = draw(st.sampled_from(["data", "data", "data", "at", "by", "salt", "type"]))
    while isinstance(parent[name], (dict, list)) and parent[name] and draw(st.integers(0, 4)):
        parent = parent[name]
        name = draw(st.sampled_from(sorted(parent) if isinstance(parent, dict) else range(len(parent))))
    parent[name] = draw(JSON)
    return Changed(file.sealed(), f"{name} is {parent[name]!r}")


@pytest.mark.long
@settings(
    max_examples=8 * LENGTH if LONG else 2, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(changed(), min_size=15, max_size=15))
def test_it_never_reports_a_fault_earlier_than_ours(tmp_path: Path, files: list[Changed]) -> None:
    found = verdicts({number: file.lines for number, file in enumerate(files)}, tmp_path)
    assert [file for number, file in enumerate(files) if earlier(found[number], ours(file.lines))] == []


def test_a_missing_file_is_not_a_fault_of_a_match() -> None:
    status, output = run("verify.mjs", "nothing.ndjson")
    assert status == 2
    assert output.startswith("nothing.ndjson: ENOENT")
    assert run("verify.mjs") == (2, "")


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_its_files_are_short(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 300
    assert max(map(len, text.splitlines())) <= 120
