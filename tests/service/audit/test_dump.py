"""A dump has every public match that ended, byte for byte, however often it was interrupted; damage is found."""

import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import count
from pathlib import Path
from typing import Final

import msgspec
import pytest

from events.record import MatchId, digest
from service.audit import dump_files, dump_source, dump_writer
from service.audit.dump import Progress, Summary, extend
from service.audit.dump_check import Checked, check_folder, find, index_of
from service.audit.dump_files import BadDump, bounded_lines, match_files, match_named, opened, read_heads
from service.audit.dump_source import Source
from service.audit.match_file import export
from service.match.model import Match
from service.match.new_match import NewMatch
from service.repository.index_entry import IndexEntry
from service.usecases.match_lifecycle import create
from tests.service.arena import Arena
from tests.service.games.toy.game import TOY

STORE: Final = digest(b"a store")
MONTH_MS: Final = 31 * 86_400_000


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dump_writer, "MAX_MATCHES", 2)


def over(arena: Arena, *, private: bool = False) -> Match:
    """A match of two bots that has ended."""
    arena.wait(1_000)
    return arena.play_out(arena.create("toy", 2, bots=("high", "random"), private=private))


def aborted(arena: Arena) -> Match:
    made = arena.create("toy", 2)
    arena.leave(made, "host")
    return arena.match(made)


def source(arena: Arena) -> Source:
    return Source(arena.ports, sleep=lambda _: None)


def write(arena: Arena, folder: Path, report: list[str] | None = None, progress: Progress = nullcontext) -> Summary:
    return extend(source(arena), folder, STORE, ([] if report is None else report).append, progress)


def contents(folder: Path) -> dict[MatchId, bytes]:
    """The match files of a dump, after a check of all of it."""
    assert [found.fault for found in check_folder(folder, index_of(folder), {"toy": TOY}) if found.fault] == []
    found: dict[MatchId, bytes] = {}
    for part in index_of(folder).parts:
        with opened(folder / part.file) as packed:
            for lines in match_files(bounded_lines(packed)):
                match = match_named(lines)
                assert match is not None
                assert match not in found, "it is there twice"
                found[match] = b"".join(lines)
    return found


def exported(arena: Arena, *matches: Match) -> dict[MatchId, bytes]:
    return {match.id: b"".join(export(arena.ports, match)) for match in matches}


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


@pytest.mark.parametrize("nth", range(10))
def test_a_run_that_was_killed_before_any_file_is_continued_and_all_checksums_hold_meanwhile(
    tmp_path: Path, nth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    arena = Arena()
    ended = [over(arena) for _ in range(5)]
    calls = count()
    replace_file = dump_writer.replace_file

    def killed(path: Path, content: Iterable[bytes]) -> None:
        if next(calls) == nth:
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


def faults(folder: Path) -> list[Checked]:
    return [found for found in check_folder(folder, index_of(folder), {"toy": TOY}) if found.fault is not None]


def flipped(path: Path, position: int) -> None:
    content = bytearray(path.read_bytes())
    content[position] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("position", [0, 40, -1])
def test_a_flipped_bit_in_any_file_is_found(tmp_path: Path, position: int) -> None:
    arena = Arena()
    for _ in range(3):
        over(arena)
    write(arena, tmp_path)
    for path in sorted(tmp_path.iterdir()):
        content = path.read_bytes()
        flipped(path, position)
        if path.name == "index.json" and position != -1:  # its last byte is a newline, which means nothing
            with pytest.raises(BadDump, match=r"index\.json"):
                index_of(tmp_path)
        elif path.name != "index.json":
            assert any(path.name in str(found.fault) for found in faults(tmp_path)), path.name
        path.write_bytes(content)
    assert faults(tmp_path) == []


def test_a_missing_part_match_or_entry_is_found(tmp_path: Path) -> None:
    arena = Arena()
    matches = [over(arena) for _ in range(4)]
    write(arena, tmp_path)
    first, second = index_of(tmp_path).parts
    path = tmp_path / second.file
    content = path.read_bytes()
    rows = read_heads(tmp_path, second)
    path.write_bytes(content[: rows[1].offset])
    assert [found.match for found in faults(tmp_path)] == [None, matches[3].id], "the file, and the match that it lacks"
    with pytest.raises(BadDump, match="missing or damaged"):
        write(arena, tmp_path)
    path.unlink()
    assert [found.fault for found in faults(tmp_path)] == [f"{path} is missing"]
    with pytest.raises(BadDump, match="missing or damaged"):
        write(arena, tmp_path)
    path.write_bytes(content)
    index = index_of(tmp_path)
    for parts, head in (((second,), index.head), ((first,), index.head), ((second, first), index.head)):
        dump_writer.write_index(tmp_path, msgspec.structs.replace(index, parts=parts, head=head))
        with pytest.raises(BadDump, match="was changed"):
            index_of(tmp_path)


def forged(folder: Path, *matches: tuple[list[bytes], str]) -> Path:
    """A dump whose files fit together, of these match files and the games that its tables of heads name."""
    folder.mkdir()
    writer = dump_writer.PartWriter(folder, "2023-11", 1)
    for lines, game in matches:
        plain = [line.removesuffix(b"\n") for line in lines]
        writer.add(plain, game, match_named(lines) or "", msgspec.json.decode(plain[-1])["at"])
    parts = (writer.finish(""),)
    dump_writer.write_index(folder, dump_files.Index(dump_files.FORMAT, STORE, parts, dump_files.head_of(parts)))
    return folder


def test_matches_that_may_not_be_in_a_dump_are_reported(tmp_path: Path) -> None:
    arena = Arena()
    private, sound = over(arena, private=True), over(arena)
    lines = list(export(arena.ports, sound))
    cases = {
        "is private, and no private match may be in a dump": ((list(export(arena.ports, private)), "toy"),),
        f"version {len(lines) - 1}, chain: the file ends before the seed is revealed": ((lines[:-1], "toy"),),
        "is in the dump twice": ((lines, "toy"), (lines, "toy")),
        "has another game than in the table of heads": ((lines, "chess"),),
    }
    for number, (fault, matches) in enumerate(cases.items()):
        folder = forged(tmp_path / str(number), *matches)
        assert [found.fault for found in faults(folder)] == [fault]


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("match,game", "game,match", "does not begin with the names of the columns"),
        (",toy,", ",toy,,", "is not a table of heads: "),
        (",0,", ",-1,", "is not a table of heads: "),
        (",0,", ",1,", "has other matches than its entry in index.json says"),
        (",toy,1", ",toy,2", "has other matches than its entry in index.json says"),
    ],
)
def test_a_forged_table_of_heads_is_reported(tmp_path: Path, old: str, new: str, fault: str) -> None:
    arena = Arena()
    match = over(arena)
    write(arena, tmp_path)
    index = index_of(tmp_path)
    path = tmp_path / index.parts[0].heads
    path.write_text(path.read_text().replace(old, new, 1))
    parts = (msgspec.structs.replace(index.parts[0], heads_sha256=digest(path.read_bytes())),)
    dump_writer.write_index(tmp_path, msgspec.structs.replace(index, parts=parts, head=dump_files.head_of(parts)))
    assert fault in str(faults(tmp_path)[0].fault)
    try:
        found = find(tmp_path, match.id)
    except BadDump:
        return
    assert found == list(export(arena.ports, match))


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="needs sha256sum")
def test_the_checksums_are_checked_without_moonstone(tmp_path: Path) -> None:
    arena = Arena()
    for _ in range(3):
        over(arena)
    write(arena, tmp_path)
    command = ["sha256sum", "--strict", "-c", "SHA256SUMS"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == 4
    flipped(next(tmp_path.glob("*.csv")), 0)
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 1


def test_a_match_that_was_replaced_with_its_checksums_differs_from_the_heads(tmp_path: Path) -> None:
    arena = Arena()
    over(arena)
    write(arena, tmp_path)
    folder = tmp_path / "forged"
    write(arena, folder)
    index = index_of(folder)
    (part,) = index.parts
    path = folder / part.heads
    path.write_text(path.read_text().replace(read_heads(folder, part)[0].head, "0" * 64))
    forged = msgspec.structs.replace(part, heads_sha256=digest(path.read_bytes()))
    dump_writer.write_index(folder, msgspec.structs.replace(index, parts=(forged,), head=dump_files.head_of((forged,))))
    assert [found.fault for found in faults(folder)] == ["has another head than in the table of heads"]
    assert index_of(folder).head != index_of(tmp_path).head, "whoever kept the head of the dump sees it"


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
