"""A dump has every public match that ended, byte for byte, however often it was interrupted."""

import fcntl
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import count
from pathlib import Path
from typing import Final

import pytest

from events.record import MatchId, digest
from service.audit import dump_source, dump_writer
from service.audit.dump import Progress, Summary, extend
from service.audit.dump_check import find, index_of
from service.audit.dump_files import BadDump, read_heads
from service.audit.dump_source import Source
from service.audit.match_file import export
from service.match.model import Match
from service.match.new_match import NewMatch
from service.repository.index_entry import IndexEntry
from service.usecases.match_lifecycle import create
from tests.service.arena import Arena
from tests.service.audit.dumps import STORE, contents, exported, faults, over, source, write

MONTH_MS: Final = 31 * 86_400_000


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dump_writer, "MAX_MATCHES", 2)


def aborted(arena: Arena) -> Match:
    made = arena.create("toy", 2)
    arena.leave(made, "host")
    return arena.match(made)


def test_it_has_every_public_match_that_ended_and_no_other(tmp_path: Path) -> None:
    arena = Arena()
    ended = [over(arena), over(arena), aborted(arena)]
    over(arena, private=True)
    arena.toy("ada", "ben")
    report: list[str] = []
    done = write(arena, tmp_path, report)
    assert contents(tmp_path) == exported(arena, *ended)
    index = index_of(tmp_path)
    assert (done.matches, done.events, report) == (3, sum(match.head.version for match in ended), [])
    assert done == Summary(3, done.events, 0, index.head)
    assert [(part.month, part.matches) for part in index.parts] == [("2023-11", 2), ("2023-11", 1)]
    rows = [row for part in index.parts for row in read_heads(tmp_path, part)]
    assert [(row.match, row.game, row.ended_at, row.version, row.head) for row in rows] == [
        (match.id, "toy", match.ended_at, match.head.version, match.head.hash) for match in ended
    ]
    for match in ended:
        assert find(tmp_path, match.id) == list(export(arena.ports, match))
    assert find(tmp_path, "a" * 26) is None


def test_a_later_run_adds_only_what_ended_since_and_changes_no_file(tmp_path: Path) -> None:
    arena = Arena()
    first = over(arena)
    write(arena, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    arena.wait(MONTH_MS)
    second = over(arena)
    assert write(arena, tmp_path).matches == 1
    assert contents(tmp_path) == exported(arena, first, second)
    assert [part.month for part in index_of(tmp_path).parts] == ["2023-11", "2023-12"]
    del before["index.json"], before["SHA256SUMS"]
    assert before.items() <= {path.name: path.read_bytes() for path in tmp_path.iterdir()}.items()
    index = index_of(tmp_path)
    assert write(arena, tmp_path) == Summary(0, 0, 0, index.head)
    assert index_of(tmp_path) == index


def test_a_match_that_is_about_to_end_is_in_the_run_after_its_end(tmp_path: Path) -> None:
    arena = Arena()
    table = arena.toy("ada", "ben")
    going = arena.match(table)
    arena.ports.index.end(going.id, going.created_at, arena.time)
    arena.wait(1)
    later = over(arena)
    for _ in range(2):
        write(arena, tmp_path)
        assert contents(tmp_path) == exported(arena, later)
    ended = arena.play_out(table)
    assert write(arena, tmp_path).matches == 1
    assert contents(tmp_path) == exported(arena, later, ended)


@pytest.mark.parametrize("jump", [-MONTH_MS, MONTH_MS])
def test_no_match_is_missing_after_a_clock_jumped_over_the_end_of_a_month(tmp_path: Path, jump: int) -> None:
    arena = Arena()
    ended = [over(arena)]
    write(arena, tmp_path)
    arena.wait(jump)
    ended.append(over(arena))
    write(arena, tmp_path)
    arena.wait(-jump)
    ended.append(over(arena))
    write(arena, tmp_path)
    assert contents(tmp_path) == exported(arena, *ended)


@pytest.mark.parametrize("version", [1, 5, -1])
def test_a_damaged_match_is_reported_and_added_once_it_is_mended(tmp_path: Path, version: int) -> None:
    arena = Arena()
    damaged, sound = over(arena), over(arena)
    stored = list(arena.log.stored(damaged.id))
    broken = list(stored)
    broken[version - (version > 0)] = b'{"at":1}'
    arena.log.rewrite(damaged.id, broken)
    for _ in range(2):
        report: list[str] = []
        assert write(arena, tmp_path, report).left_out == 1
        assert [line.partition(":")[0] for line in report] == [f"match {damaged.id} is left out"]
        assert contents(tmp_path) == exported(arena, sound)
    arena.log.rewrite(damaged.id, stored)
    assert write(arena, tmp_path).left_out == 0
    assert contents(tmp_path) == exported(arena, sound, arena.match(damaged.id))


def test_a_match_that_the_log_lost_is_reported(tmp_path: Path) -> None:
    arena = Arena()
    lost = over(arena)
    arena.log.lose(lost.id)
    report: list[str] = []
    write(arena, tmp_path, report)
    assert report == [f"match {lost.id} is left out: version 0: its events are missing"]


def killed_after(count: int) -> Progress:
    """A progress bar that ends the process after some matches."""

    @contextmanager
    def progress(matches: Sequence[MatchId]) -> Iterator[Iterable[MatchId]]:
        def some() -> Iterator[MatchId]:
            yield from matches[:count]
            raise Killed

        yield some()

    return progress


@pytest.mark.parametrize("count", range(6))
def test_a_run_that_was_killed_is_continued(tmp_path: Path, count: int) -> None:
    arena = Arena()
    ended = [over(arena) for _ in range(5)]
    with pytest.raises(Killed):
        write(arena, tmp_path, progress=killed_after(count))
    write(arena, tmp_path)
    assert contents(tmp_path) == exported(arena, *ended)
    whole = tmp_path / "in one go"
    write(arena, whole)
    assert {path.name: path.read_bytes() for path in whole.iterdir()} == {
        path.name: path.read_bytes() for path in tmp_path.iterdir() if path != whole
    }


@pytest.mark.parametrize("nth", range(12))
def test_a_run_that_was_killed_before_any_file_is_continued_and_all_checksums_hold_meanwhile(
    tmp_path: Path, nth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    arena = Arena()
    ended = [over(arena) for _ in range(5)]
    calls = count()
    replace_file = dump_writer.replace_file

    def killed(path: Path, content: Iterable[bytes]) -> None:
        if next(calls) == nth:
            path.with_name(f"{path.name}.part").touch()
            raise Killed
        replace_file(path, content)

    with monkeypatch.context() as patch:
        patch.setattr(dump_writer, "replace_file", killed)
        with pytest.raises(Killed):
            write(arena, tmp_path)
    if (tmp_path / "SHA256SUMS").exists():
        for line in (tmp_path / "SHA256SUMS").read_text().splitlines():
            assert digest((tmp_path / line[66:]).read_bytes()) == line[:64]
    if (tmp_path / "index.json").exists():
        assert faults(tmp_path) == []
    write(arena, tmp_path)
    assert contents(tmp_path) == exported(arena, *ended)
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize(("answer_s", "pause_s"), [(0.01, 0.01 * dump_source.PAUSE), (5, dump_source.LONGEST_PAUSE_S)])
def test_every_read_of_the_log_is_small_and_a_pause_follows_that_is_longer_if_the_log_is_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer_s: float, pause_s: float
) -> None:
    monkeypatch.setattr(dump_source, "EVENTS", 3)
    monkeypatch.setattr(dump_source, "ENTRIES", 2)
    arena = Arena()
    ended = [over(arena) for _ in range(5)]
    list_sizes: list[int] = []
    listed = arena.index.ended

    def counted(after: int, limit: int) -> Sequence[tuple[int, IndexEntry]]:
        found = listed(after, limit)
        list_sizes.append(len(found))
        return found

    monkeypatch.setattr(arena.index, "ended", counted)
    arena.log.read_counts.clear()
    pauses: list[float] = []
    slow = Source(arena.ports, sleep=pauses.append, clock=count(0, answer_s).__next__)
    extend(slow, tmp_path, STORE, print, nullcontext)
    assert list_sizes == [2, 2, 1]
    assert max(arena.log.read_counts) == 3
    assert sum(arena.log.read_counts) == sum(match.head.version for match in ended)
    assert pauses == pytest.approx([pause_s] * (len(list_sizes) + len(arena.log.read_counts)))


def test_a_folder_that_is_not_of_this_dump_is_refused(tmp_path: Path) -> None:
    arena = Arena()
    over(arena)
    write(arena, tmp_path)
    with pytest.raises(BadDump, match="another store"):
        extend(source(arena), tmp_path, digest(b"another"), print, nullcontext)
    strange = tmp_path / "strange"
    strange.mkdir()
    (strange / "diary.txt").write_text("mine")
    with pytest.raises(BadDump, match=r"diary\.txt"):
        write(arena, strange)
    (strange / "diary.txt").rename(strange / "index.json")
    with pytest.raises(BadDump, match="is not the index"):
        write(arena, strange)


def test_no_part_is_removed_from_a_folder_whose_index_is_missing_or_old(tmp_path: Path) -> None:
    arena = Arena()
    write(arena, tmp_path)
    index = tmp_path / "index.json"
    old = index.read_bytes()
    for _ in range(3):
        over(arena)
    write(arena, tmp_path)
    newest = index.read_bytes()
    files = set(tmp_path.iterdir())
    index.unlink()
    with pytest.raises(BadDump, match=r"has no index\.json but other files"):
        write(arena, tmp_path)
    index.write_bytes(old)
    with pytest.raises(BadDump, match=r"is not in index\.json; get the newest index\.json back"):
        write(arena, tmp_path)
    index.write_bytes(newest)
    assert set(tmp_path.iterdir()) == files
    assert write(arena, tmp_path).matches == 0


@pytest.mark.parametrize("draft", ["SHA256SUMS.part", "index.json.part", "2023-11-0001.heads.csv.part"])
def test_nothing_is_written_through_a_link_in_the_folder(tmp_path: Path, draft: str) -> None:
    arena = Arena()
    folder, diary = tmp_path / "dump", tmp_path / "diary.txt"
    write(arena, folder)
    diary.write_text("mine")
    over(arena)

    @contextmanager
    def linking(matches: Sequence[MatchId]) -> Iterator[Iterable[MatchId]]:
        (folder / draft).symlink_to(diary)
        yield matches

    (folder / "SHA256SUMS.part").symlink_to(diary)
    write(arena, folder, progress=linking)
    assert diary.read_text() == "mine"
    assert not list(folder.glob("*.part"))
    assert len(contents(folder)) == 1


def test_a_store_that_was_restored_from_before_the_dump_is_reported(tmp_path: Path) -> None:
    arena, restored = Arena(), Arena()
    assert over(arena).id == over(restored).id
    lost = over(arena)
    reported: list[str] = []
    write(arena, tmp_path, reported)
    write(arena, tmp_path, reported)
    assert reported == []
    write(restored, tmp_path, reported)
    assert len(reported) == 1
    assert f"the store lacks 1 matches of the dump, for example {lost.id}, " in reported[0]


def test_two_processes_cannot_write_to_one_dump(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    with pytest.raises(BadDump, match="another process"):
        write(Arena(), tmp_path)
    os.close(descriptor)
    assert write(Arena(), tmp_path) == Summary(0, 0, 0, "")


def test_matches_of_format_1_are_in_it_too(tmp_path: Path) -> None:
    arena = Arena()
    wanted = NewMatch(game="toy", seats=2, bots=("high", "random"), format_number=1)
    old = arena.play_out(create(arena.ports, "host", wanted, "old").match.id)
    new = over(arena)
    write(arena, tmp_path)
    assert contents(tmp_path) == exported(arena, old, new)
    found = find(tmp_path, old.id)
    assert found is not None
    assert b'"moonstone-match/1"' in found[0]
