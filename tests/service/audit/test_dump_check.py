"""Damage to a dump is found, and so is each match that may not be in one."""

import os
import shutil
import subprocess
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import msgspec
import pytest

from events.record import digest
from service.audit import dump_files, dump_writer
from service.audit.dump_check import check_folder, find, index_of
from service.audit.dump_files import BadDump, match_named, read_heads
from service.audit.match_file import export
from tests.service.arena import Arena
from tests.service.audit.dumps import STORE, faults, over, write
from tests.service.games.toy.game import TOY


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dump_writer, "MAX_MATCHES", 2)


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


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir], ids=["pipe", "folder"])
def test_a_file_of_a_dump_that_is_not_a_regular_file_is_reported_and_not_waited_for(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    arena = Arena()
    over(arena)
    write(arena, tmp_path)
    index = index_of(tmp_path)
    (part,) = index.parts
    match = read_heads(tmp_path, part)[0].match
    reads: list[tuple[str, Callable[[], object]]] = [
        (part.file, lambda: dump_files.opened(tmp_path / part.file)),
        (part.file, lambda: find(tmp_path, match)),
        (part.heads, lambda: find(tmp_path, match)),
        ("index.json", lambda: index_of(tmp_path)),
    ]
    for name, read in reads:
        path = tmp_path / name
        content = path.read_bytes()
        path.unlink()
        make(path)
        with pytest.raises(BadDump, match=f"{name} is not a regular file"):
            read()
        found = [checked.fault for checked in check_folder(tmp_path, index, {"toy": TOY})]
        assert name == "index.json" or found == [f"{path} is not a regular file"]
        shutil.rmtree(path) if path.is_dir() else path.unlink()
        path.write_bytes(content)
    assert faults(tmp_path) == []


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path: Path) -> None:
    arena = Arena()
    over(arena)
    write(arena, tmp_path)
    (part,) = index_of(tmp_path).parts
    for name in ("index.json", part.heads):
        os.truncate(tmp_path / name, dump_files.MAX_MATCH_BYTES + 1)
    with pytest.raises(BadDump, match=r"index\.json is too large"):
        index_of(tmp_path)
    with pytest.raises(BadDump, match=r"heads\.csv is too large"):
        read_heads(tmp_path, part)


def test_many_short_lines_are_too_large_for_a_match(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dump_files, "MAX_MATCH_BYTES", 1000)
    few, many = BytesIO(b"\n" * 10), BytesIO(b"\n" * 11)
    assert len(list(dump_files.bounded_lines(few))) == 10
    with pytest.raises(BadDump, match=r"x\.zst has a line or a match that is too large"):
        list(dump_files.bounded_lines(many, "x.zst"))
