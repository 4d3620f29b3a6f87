"""Each row of a dataset has what its seat knew and could do at its version, and the table is read back as it was."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from service.audit import dataset
from service.audit.dataset import COLUMNS, Missing, Row, Unusable, rows, write
from service.audit.match_file import export
from service.games.registry import GAMES
from service.match.model import Match
from service.match.redaction import legal_actions
from service.ops.simulate import play
from service.repository.ports import Ports
from service.views.match_views import see
from tests.service.audit.match_files import File, Lines, monkeys, toy
from tests.service.games.toy.game import TOY

HOSTED = {"toy": TOY, **GAMES}
PLAYED = [
    ("ape_town", {}),
    ("four_monkeys", {}),
    ("monkeys_on_the_moon", {}),
    ("monsters_on_the_moon", {"missions": "secret"}),
]


def played(game: str, options: dict[str, Any]) -> tuple[Ports, Match, list[Row]]:
    ports, match = play(GAMES[game], ["random", "random"], options, bytes(range(32)))
    return ports, match, list(rows(export(ports, match), GAMES))


@pytest.mark.parametrize(("game", "options"), PLAYED)
def test_a_row_has_what_the_service_shows_to_its_seat_at_its_version(game: str, options: dict[str, Any]) -> None:
    ports, match, found = played(game, options)
    events = ports.history.events(match, None, 0, match.head.version)
    assert [row.version + 1 for row in found] == [
        event.version for event in events if event.type in {"action", "default_action"}
    ]
    for row in found:
        then = ports.history.at(match.id, row.version)
        assert bytes(row.observation) == bytes(see(ports, then, row.seat).observation)
        assert row.legal_count == len(legal_actions(then, row.seat)) > 0
        data = msgspec.json.decode(ports.history.verified(match, row.version, 1)[0].event.data)
        assert (row.seat, msgspec.json.decode(row.action)) == (data["seat"], data["action"])
        assert row.step in {one.step for one in then.decisions() if one.seat == row.seat}


def test_no_row_has_the_hidden_cards_of_another_seat() -> None:
    _, _, found = played("monkeys_on_the_moon", {})
    for row in found:
        seats = msgspec.json.decode(row.observation)["seats"]
        assert [held["hand"] is not None for held in seats] == [seat == row.seat for seat in range(len(seats))]


def test_a_row_names_its_player_and_why_the_service_acted_and_has_the_seat_s_outcome() -> None:
    file = File(monkeys())
    found = rows(monkeys(), HOSTED)
    outcome = file.data("match_scored")["outcome"]
    for row in found:
        event = file.events[row.version + 1]
        assert row.reason == event["data"].get("reason")
        assert (row.acted_at, row.seats, row.ruleset) == (event["at"], 3, file.first["ruleset"])
        assert (row.score, row.rank) == (outcome["scores"][row.seat], outcome["ranks"][row.seat])
        assert row.won == (row.seat in outcome["winners"])
    assert {row.reason for row in found} == {None, "clock", "bot-failed", "player-left"}
    assert {(row.kind, row.player) for row in found} == {("bot", "greedy"), ("human", "anna"), ("human", "ben")}


def changed(lines: Lines, version: int) -> Lines:
    return (*lines[:version], lines[version].replace(b'"at":1', b'"at":2'), *lines[version + 1 :])


def forged(kind: str, **data: object) -> Lines:
    """A match file with other data in the first event of a type, whose chain holds."""
    file = File(toy())
    file.data(kind).update(data)
    return file.sealed()


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        ((), "is empty"),
        ((b"[]",), "not that of a match file"),
        (toy()[:1], "version 1: a match begins with match_created"),
        (changed(toy(), 3), "version 4: "),
        (toy()[:-2], "ends before the seed is revealed"),
        (forged("match_scored", outcome={"scores": [2**40, 0, 0], "ranks": [1, 2, 2], "winners": [0]}), "outcome: "),
        (forged("action", seat=-1), "version 6: nobody has seat"),
        (forged("action", seat=2**52), "version 6: nobody has seat"),
    ],
)
def test_a_file_with_a_fault_gives_no_rows(lines: Lines, fault: str) -> None:
    with pytest.raises(Unusable, match=fault):
        rows(lines, HOSTED)


def test_a_match_of_an_unknown_game_or_another_ruleset_gives_no_rows() -> None:
    with pytest.raises(Unusable, match="the rules of toy, ruleset 1, are not known here"):
        rows(toy(), GAMES)
    newer = {"toy": replace(TOY, info=replace(TOY.info, ruleset=TOY.info.ruleset + 1))}
    with pytest.raises(Unusable, match="was played by ruleset 1"):
        rows(toy(), newer)


def test_the_table_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="needs DuckDB, the extra `data`")
    target = tmp_path / "it's.parquet"
    found = [played(game, options)[2] for game, options in PLAYED]
    assert write(found, target) == sum(map(len, found))
    with duckdb.connect() as database:
        table = database.read_parquet(str(target))
        assert [(name, str(kind)) for name, kind in zip(table.columns, table.types, strict=True)] == list(
            COLUMNS.items()
        )
        stored = table.fetchall()
    kept = [msgspec.json.decode(msgspec.json.encode(row)) for match in found for row in match]
    json = {name for name, kind in COLUMNS.items() if kind == "JSON"}
    for line, row in zip(stored, kept, strict=True):
        read = {
            name: msgspec.json.decode(value) if name in json else value
            for name, value in zip(COLUMNS, line, strict=True)
        }
        assert read == row
    assert list(tmp_path.iterdir()) == [target], "nothing else is left behind"


def test_a_table_of_no_matches_is_empty(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="needs DuckDB, the extra `data`")
    assert write([], tmp_path / "none.parquet") == 0
    assert duckdb.read_parquet(str(tmp_path / "none.parquet")).fetchall() == []


def test_without_duckdb_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(Missing):
        dataset.write([], tmp_path / "none.parquet")
    assert list(tmp_path.iterdir()) == []
