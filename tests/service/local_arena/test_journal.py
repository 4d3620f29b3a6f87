"""A run continues from its journal, also if a kill left an incomplete last line."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from service.arena.deals import Contest, Deal, MatchResult
from service.arena.journal import Journal, OtherContest, contest_of

CONTEST = Contest("toy", ("a", "b"), {"hand": 3}, "ab" * 32, 100)


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
    "field", [{"bots": ("b", "a")}, {"options": {"hand": 4}}, {"seed": "cd" * 32}, {"limit_ms": 5}]
)
def test_another_contest_is_refused_and_changes_nothing(file: Path, field: dict[str, object]) -> None:
    before = file.read_bytes()
    with pytest.raises(OtherContest, match=next(iter(field))):
        Journal(file, replace(CONTEST, **field))
    assert file.read_bytes() == before


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("notes\n")
    with pytest.raises(OtherContest, match="is not the file of an arena"):
        contest_of(tmp_path / "notes")
    assert contest_of(tmp_path / "none") is None
