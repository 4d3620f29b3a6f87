"""A run continues from its journal, also if a kill left an incomplete last line."""

from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from service.arena.deals import BotFailure, Contest, Deal, MatchResult
from service.arena.journal import Journal, NotContinued, contest_of

CONTEST = Contest("toy", ("a", "b"), {"hand": 3}, "ab" * 32, 100, ("1", "2"))


def deal(number: int) -> Deal:
    return Deal(number, (MatchResult((1, 2), (3, 4)), MatchResult((2, 1), (5, 6))), ({1: 2}, {3: 4}))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "run"
    with Journal(path, CONTEST) as journal:
        assert not journal.known
        for number in range(3):
            journal.add(deal(number))
    return path


def test_deals_are_read_again_and_written_once(file: Path) -> None:
    assert contest_of(file) == CONTEST
    before = file.read_bytes()
    with Journal(file, CONTEST) as journal:
        assert journal.known == {number: deal(number) for number in range(3)}
        journal.add(deal(1))
    assert file.read_bytes() == before


@pytest.mark.parametrize("cut", [1, 20])
@pytest.mark.parametrize("more", [b"", b"1" * 5000], ids=["short", "long"])
def test_an_incomplete_line_is_cut_off(file: Path, cut: int, more: bytes) -> None:
    content = file.read_bytes()
    file.write_bytes(content[:-cut] + more)
    with Journal(file, CONTEST) as journal:
        assert sorted(journal.known) == [0, 1]
        journal.add(deal(2))
    assert file.read_bytes() == content


@pytest.mark.parametrize(
    ("field", "difference"),
    [
        ({"bots": ("b", "a")}, "with bots a,b;"),
        ({"options": {"hand": 4}}, "with options {'hand': 3};"),
        ({"seed": "cd" * 32}, "with seed ab"),
        ({"limit_ms": 5}, "with limit_ms 100;"),
        ({"versions": ("1", "3")}, "with another version of b, whose files have changed since;"),
    ],
)
def test_another_contest_is_refused_and_changes_nothing(file: Path, field: dict[str, object], difference: str) -> None:
    before = file.read_bytes()
    with pytest.raises(NotContinued, match=difference):
        Journal(file, replace(CONTEST, **field))
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    "line",
    [
        b"notes",
        b"\xff",
        b"[" * 100_000,
        msgspec.json.encode(deal(0)),
        msgspec.json.encode(replace(deal(1), number=-1)),
        msgspec.json.encode(replace(deal(1), matches=deal(1).matches[:1])),
        msgspec.json.encode(replace(deal(1), times=({}, {1_000_000: 1}))),
        msgspec.json.encode(replace(deal(1), matches=(MatchResult((1,), (3, 4)),) * 2)),
        msgspec.json.encode(
            replace(deal(1), matches=(MatchResult((1, 2), (3, 4), (BotFailure(2, "crash", ""),)),) * 2)
        ),
    ],
)
def test_a_damaged_line_is_named_and_no_deal_is_lost(file: Path, line: bytes) -> None:
    lines = file.read_bytes().splitlines()
    damaged = b"\n".join((*lines[:2], line, *lines[3:], b""))
    file.write_bytes(damaged)
    with pytest.raises(NotContinued, match="is damaged in line 3"):
        Journal(file, CONTEST)
    assert file.read_bytes() == damaged


def test_a_contest_without_its_line_end_is_written_again(file: Path) -> None:
    begun = file.read_bytes().splitlines(keepends=True)[0]
    file.write_bytes(begun[:-1])
    with Journal(file, CONTEST) as journal:
        assert not journal.known
    assert file.read_bytes() == begun


def test_two_runs_cannot_use_one_file(file: Path) -> None:
    with Journal(file, CONTEST), pytest.raises(NotContinued, match="in use by another run"):
        Journal(file, CONTEST)
    with Journal(file, CONTEST) as journal:
        assert len(journal.known) == 3


@pytest.mark.parametrize(
    "content",
    [b"notes\n", b"\xff\n", b"[" * 100_000, msgspec.json.encode(replace(CONTEST, seed="no seed"))],
)
def test_a_file_of_something_else_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "notes").write_bytes(content)
    with pytest.raises(NotContinued, match="is not the file of an arena"):
        contest_of(tmp_path / "notes")
    assert contest_of(tmp_path / "none") is None
