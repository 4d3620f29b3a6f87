"""The documentation agrees with the code, in both directions."""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest

from service.games.protocol import AnyGame
from service.games.registry import GAMES
from service.match.characters import CONTROL
from service.match.events import (
    AbortAsked,
    Acted,
    ClockExtended,
    MatchAborted,
    MatchCreated,
    MatchScored,
    MatchStarted,
    MatchSuspended,
    Rang,
    Resigned,
    SeatFreed,
    SeatHandedOver,
    SeatLeft,
    SeatTaken,
    SeedRevealed,
)
from service.match.transitions import transitions
from service.settings import VARIABLES
from tests.chaos.test_matrix import exists
from tests.service.games.matches import Table, random_match
from tests.service.games.tables import HOSTED

T = TypeVar("T")

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def test_the_readme_has_every_setting_with_its_default_and_meaning() -> None:
    rows = [f"| `{one.name}` | {f'`{one.default}`' if one.default else '–'} | {one.meaning} |" for one in VARIABLES]
    table = "\n".join(["| variable | default | meaning |", "|---|---|---|", *rows])
    block = README.partition("<!-- settings -->\n")[2].partition("\n<!-- /settings -->")[0]
    assert block == table


def test_every_command_of_make_in_the_docs_is_a_target() -> None:
    targets = set(re.findall(r"^([a-z]+):", MAKEFILE, re.MULTILINE))
    documented = set()
    for page in ("README.md", "CONTRIBUTING.md", "HOSTING-A-BOT.md"):
        documented |= set(
            re.findall(r"make ([a-z]+)", re.sub(r"make and gcc", "", (ROOT / page).read_text(encoding="utf-8")))
        )
    assert documented <= targets
    assert {"run", "test", "lint", "check", "bench", "openapi", "playthroughs"} <= targets


def promises() -> Iterator[tuple[str, str]]:
    """Each promise of the table in CONTRIBUTING with a test. Only the first row of a promise repeats its text."""
    table = CONTRIBUTING.partition("| promise | test |\n")[2].partition("\n\n")[0]
    promise = ""
    for row in table.splitlines()[1:]:
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        promise = cells[0] or promise
        yield promise, cells[1].strip("`")


def test_every_promise_to_clients_has_a_test() -> None:
    section = README.partition("## What a client can rely on\n")[2].partition("\n## ")[0]
    promised = {name.rstrip(".,") for name in re.findall(r"^- \*\*(.+?)\*\*", section, re.MULTILINE)}
    assert len(promised) > 5
    assert promised <= {promise for promise, _ in promises()}


def test_every_test_in_the_table_of_promises_exists() -> None:
    tests = [test for _, test in promises()]
    assert len(tests) > 100
    assert [test for test in tests if not exists(f"tests/{test}")] == []


def test_ci_runs_what_the_readme_says() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    commands = re.findall(r"^make (.+)", script, re.MULTILINE)
    targets = [word for command in commands for word in command.split() if not word.startswith("--")]
    assert targets == ["browser", "bytecode", "lint", "test", "coverage"]


@pytest.mark.parametrize("game", GAMES)
def test_the_readme_names_every_game(game: str) -> None:
    assert f"**{GAMES[game].info.title}**" in README


@pytest.mark.parametrize("game", GAMES)
def test_every_clause_of_the_rules_has_a_test(game: str) -> None:
    clauses = {
        match.lower().replace("-", "_")
        for match in re.findall(r"^- \*{0,2}([A-Z]{3}-\d+)", GAMES[game].rules, re.MULTILINE)
    }
    assert clauses, "RULES.md lists no clauses"
    names = set()
    for path in (ROOT / "tests" / "service" / "games" / game).glob("test_*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    documented = {f"{game}_{int(number)}" for name in names for game, number in re.findall(r"([a-z]{3})_(\d+)", name)}
    assert clauses - documented == set()


VERIFYING = (ROOT / "service" / "VERIFYING.md").read_text(encoding="utf-8")
FIELDS: dict[str, type] = {
    "match_created": MatchCreated, "seat_taken": SeatTaken, "seat_left": SeatLeft, "match_started": MatchStarted,
    "action": Acted, "timer": Rang, "seat_handed_over": SeatHandedOver, "resigned": Resigned,
    "clock_extended": ClockExtended, "match_suspended": MatchSuspended, "match_scored": MatchScored, "match_aborted": MatchAborted,
    "seat_freed": SeatFreed, "abort_asked": AbortAsked,
    "seed_revealed": SeedRevealed,
}  # fmt: skip


def test_every_type_of_event_is_documented_with_its_fields() -> None:
    rows = dict(re.findall(r"^\| `(\w+_\w+|action|timer|resigned)` \| (.*?) \|", VERIFYING, re.MULTILINE))
    assert rows.keys() - set(GAMES) == {"match_created", *transitions(GAMES["ape_town"])}
    for kind, data in FIELDS.items():
        documented = set(re.findall(r"`(\w+)`", rows[kind]))
        assert {field.encode_name for field in msgspec.structs.fields(data)} - documented <= (
            {"reason"} if kind == "action" else set()
        ), kind


@pytest.mark.parametrize("game", GAMES)
def test_the_draws_of_every_game_are_documented(game: str) -> None:
    assert (
        f"| `{game}` | [draws](games/{game}/RULES.md#draws), [components](games/{game}/components.json) |" in VERIFYING
    )
    assert "\n## Draws\n" in GAMES[game].rules


def test_the_characters_that_a_client_seed_must_not_have_are_documented() -> None:
    sentence = re.search(r"\*\*control character\*\*: (.*?)\.\n", VERIFYING, re.DOTALL)
    assert sentence is not None
    ranges = re.findall(r"U\+([0-9A-F]+)(?: to U\+([0-9A-F]+))?", " ".join(sentence[1].split()))
    documented_codes = {code for first, last in ranges for code in range(int(first, 16), int(last or first, 16) + 1)}
    characters = "".join(map(chr, range(0x110000)))
    assert documented_codes == set(map(ord, re.findall(f"[{CONTROL}]", characters)))


class Recorder:
    """An Rng that records the list before each draw, by the name of the draw in VERIFYING.md."""

    def __init__(self) -> None:
        self.drawn: dict[str, tuple[Any, ...]] = {}

    def shuffle(self, label: str, items: Sequence[T]) -> tuple[T, ...]:
        self.drawn[f"shuffle `{label}`"] = tuple(items)
        return tuple(items)

    def pick(self, label: str, items: Sequence[T]) -> T:
        self.drawn[f"pick `{label}`"] = tuple(items)
        return items[0]


@pytest.mark.parametrize(
    ("game", "seats", "options"),
    [
        ("monkeys_on_the_moon", 4, {}),
        ("ape_town", 2, {}),
        ("four_monkeys", 4, {}),
        ("monsters_on_the_moon", 1, {}),
        ("monsters_on_the_moon", 2, {"missions": "secret"}),
        ("monsters_on_the_moon", 3, {"missions": "open"}),
        ("monsters_on_the_moon", 4, {}),
    ],
)
def test_each_list_is_documented_with_its_first_and_last_item(game: str, seats: int, options: Any) -> None:
    rules, rng = GAMES[game], Recorder()
    rules.setup(seats, rules.options(seats, options), 0, rng)
    rows = draws_in_verifying(rules)
    for name, items in rng.drawn.items():
        row = rows[without_numbers(name)]
        if items == tuple(range(seats)):
            assert "the seats, ascending" in row
        elif without_numbers(name) != "shuffle `deck:S`" or name == "shuffle `deck:1`":
            first, last = (f"`{item}`" if isinstance(item, str) else str(item) for item in (items[0], items[-1]))
            assert f"{first} … {last}, {len(items)}" in row, name


def draws_in_verifying(game: AnyGame) -> dict[str, str]:
    """The draws of a game: the documented list by kind and label."""
    section = re.split(r"\n(?=`\w+`, in `match_started`:|\[games.mjs\])", VERIFYING)
    (own,) = [part for part in section if part.startswith(f"`{game.info.id}`, in `match_started`:")]
    rows = re.findall(r"^\d\. ((?:shuffle|pick) `[^`]+`)(.*?\.)$", own, re.MULTILINE | re.DOTALL)
    return {name: " ".join(row.split()) for name, row in rows}


def without_numbers(label: str) -> str:
    """The label with letters instead of a seat and an area."""
    return re.sub(r"combos:\d", "combos:A", re.sub(r"deck:\d", "deck:S", label))


@pytest.mark.parametrize("table", HOSTED, ids=lambda table: table.name)
def test_every_label_of_a_match_is_documented(table: Table) -> None:
    known = {name.split("`")[1] for name in draws_in_verifying(table.game)}
    rng = Recorder()
    table.game.score(random_match(table).states[-1], rng)
    scored = {name.split("`")[1] for name in rng.drawn}
    assert {without_numbers(draw.label) for ply in random_match(table).plies for draw in ply.drawn} | scored <= known


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_seats_options_bots_and_breakdown_of_every_game_are_documented(game: AnyGame) -> None:
    def listed(names: Iterable[str]) -> str:
        return ", ".join(f"`{name}`" for name in names) or "–"

    info = game.info
    assert info.seats == tuple(range(info.seats[0], info.seats[-1] + 1))
    seats = f"{info.seats[0]} to {info.seats[-1]}"
    options = listed(field.encode_name for field in msgspec.structs.fields(info.options))
    assert f"\n| `{info.id}` | {seats} | {options} | {listed(game.bots)} | {listed(info.breakdown)} |\n" in VERIFYING


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "ACCOUNTS.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "DUMPS.md",
        "HOSTING-A-BOT.md",
        "WEBHOOKS.md",
        "service/VERIFYING.md",
    ],
)
def test_every_link_of_a_page_has_a_target(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)]+)\)", text) if not link.startswith("https://")]
    for link in links:
        path, _, anchor = link.partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        assert target.exists(), link
        titles = re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), re.MULTILINE) if anchor else []
        assert not anchor or anchor in [title.lower().replace(" ", "-") for title in titles], link
