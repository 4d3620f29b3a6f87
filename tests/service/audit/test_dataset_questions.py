"""The README's three questions to a dataset are answered as it writes them."""

import re
from collections import defaultdict
from pathlib import Path
from statistics import mean, median
from typing import Any, Final

import msgspec
import pytest

from service.audit.dataset import Row, rows, write
from service.audit.match_file import export
from service.games.registry import GAMES
from service.ops.simulate import play
from tests.serving import ROOT

duckdb = pytest.importorskip("duckdb", reason="needs DuckDB, the extra `data`")

README: Final = (ROOT / "README.md").read_text(encoding="utf-8")
QUESTIONS: Final = re.findall(r"--[^;]*;", re.findall(r"```sql\n(.*?)```", README, re.DOTALL)[0])
MATCHES: Final = (
    ("ape_town", ["greedy", "random"], 1),
    ("ape_town", ["random", "greedy"], 2),
    ("four_monkeys", ["random", "random"], 3),
)


@pytest.fixture(scope="module")
def decisions() -> list[Row]:
    played = [play(GAMES[game], bots, {}, seed.to_bytes(32, "big")) for game, bots, seed in MATCHES]
    return [row for ports, match in played for row in rows(export(ports, match), GAMES)]


@pytest.fixture(scope="module")
def table(decisions: list[Row], tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("dataset") / "decisions.parquet"
    write([decisions], file)
    return file


def answer(number: int, table: Path) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = duckdb.sql(QUESTIONS[number].replace("decisions.parquet", str(table))).fetchall()
    return found


def test_there_are_three() -> None:
    assert len(QUESTIONS) == 3


def test_how_often_each_bot_wins(decisions: list[Row], table: Path) -> None:
    won: dict[tuple[str, str], dict[tuple[str, int], bool]] = defaultdict(dict)
    for row in decisions:
        won[row.game, row.player][row.match, row.seat] = row.won
    expected = [
        (game, bot, len(seats), round(100 * mean(map(int, seats.values())), 1)) for (game, bot), seats in won.items()
    ]
    assert answer(0, table) == sorted(expected, key=lambda line: (line[0], -line[3], line[1]))


def test_how_many_actions_there_are_to_choose_from(decisions: list[Row], table: Path) -> None:
    counts: dict[tuple[str, str], list[int]] = defaultdict(list)
    for row in decisions:
        counts[row.game, row.step].append(row.legal_count)
    assert answer(1, table) == [(*step, median(found), max(found)) for step, found in sorted(counts.items())]


def test_how_rich_the_winners_are(decisions: list[Row], table: Path) -> None:
    money: dict[bool, list[int]] = defaultdict(list)
    for row in decisions:
        if row.step == "take_tile":
            money[row.won].append(msgspec.json.decode(row.observation)["seats"][row.seat]["money"])
    assert answer(2, table) == [(won, round(mean(found), 1)) for won, found in sorted(money.items())]
