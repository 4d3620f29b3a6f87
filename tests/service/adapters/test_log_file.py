"""Only an incomplete end that a power failure leaves is cut off the newest file of a log; other damage is refused."""

import os
import shutil
from itertools import accumulate
from pathlib import Path

import pytest

from service.adapters.log_file import Damaged, repair
from tests.length import LONG

MANIFEST = "appendonly.aof.manifest"
NEWEST = "appendonly.aof.2.incr.aof"


def command(*parts: bytes) -> bytes:
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)


UNITS = (
    command(b"SELECT", b"0"),
    command(b"SET", b"store", b"\0\r\n*\0"),
    command(b"multi") + command(b"XADD", b"m", b"1-0", b"e", b'{"at":1}') + command(b"HSET", b"c", b"k", b"1 x") + command(b"EXEC"),
    command(b"SET", b"empty", b""),
    command(b"MULTI") + command(b"XADD", b"m", b"2-0", b"e", b'{"at":12345678}') + command(b"exec"),
    command(b"HSET", b"beat", b"at", b"1700000000000"),
)  # fmt: skip
WHOLE = b"".join(UNITS)
ENDS = (0, *accumulate(map(len, UNITS)))
"""The offsets at which commands or transactions end."""


@pytest.fixture(autouse=True)
def no_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip fsync: thousands of files are cut here, and none has to survive a crash."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / MANIFEST).write_text(
        "file appendonly.aof.2.base.rdb seq 2 type b\n"
        "file appendonly.aof.0.incr.aof seq 0 type h\n"
        "file appendonly.aof.1.incr.aof seq 1 type i\n"
        f"file {NEWEST} seq 2 type i\n"
    )
    (tmp_path / "appendonly.aof.1.incr.aof").write_bytes(WHOLE)
    (tmp_path / NEWEST).write_bytes(WHOLE)
    return tmp_path


def repaired(folder: Path, content: bytes) -> bytes | None:
    """The content of the newest file after the repair; None if it is refused, and then no file was changed."""
    for copy in folder.glob("*.before-*"):
        copy.unlink()
    newest = folder / NEWEST
    newest.write_bytes(content)
    try:
        done = repair(folder)
    except Damaged:
        assert newest.read_bytes() == content
        assert len(list(folder.iterdir())) == 3
        return None
    originals = [path.read_bytes() for path in folder.glob(f"{NEWEST}.before-*")]
    assert originals == ([] if done is None else [content])
    assert (done is None) == (newest.read_bytes() == content)
    return newest.read_bytes()


@pytest.mark.long
@pytest.mark.parametrize("zeros", [0, 1, 3, 65536])
def test_an_incomplete_command_and_zeros_are_cut_off_wherever_the_file_ends(folder: Path, zeros: int) -> None:
    """In the short form at every fourth byte, others for each number of zeros, and around the end of each command."""
    sizes = [
        size
        for size in range(len(WHOLE) + 1)
        if LONG or size % 4 == zeros % 4 or any(abs(size - end) <= 1 for end in ENDS)
    ]
    for size in sizes:
        complete = max(end for end in ENDS if end <= size)
        assert repaired(folder, WHOLE[:size] + bytes(zeros)) == WHOLE[:complete], size


def test_the_repair_is_reported_in_a_sentence(folder: Path) -> None:
    (folder / NEWEST).write_bytes(WHOLE + bytes(3))
    done = repair(folder)
    (copy,) = folder.glob("*.before-*")
    assert done == (
        f"{folder / NEWEST} ended in 3 bytes that are no complete command, as after a power failure. They were cut off, "
        f"because nothing in them was acknowledged; the original file is kept beside it as {copy.name}"
    )
    assert repair(folder) is None


@pytest.mark.long
@pytest.mark.parametrize("value", [0x00, 0x0D, 0x2A, 0x39, 0x58])
@pytest.mark.parametrize("tail", [b"", bytes(5), command(b"SET", b"a", b"1")[:-4]])
def test_no_changed_byte_makes_the_repair_cut_a_complete_command_after_it(
    folder: Path, value: int, tail: bytes
) -> None:
    refused = 0
    indexes = range(ENDS[-2]) if LONG else range(value % 3, ENDS[-2], 3)
    for index in indexes:
        content = WHOLE[:index] + bytes([value]) + WHOLE[index + 1 :] + tail
        found = repaired(folder, content)
        refused += found is None
        assert found is None or found == content[: len(WHOLE)], index
    assert refused > len(indexes) / 4


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (NEWEST, WHOLE + b"garbage", f"{NEWEST} is damaged after byte {len(WHOLE)} of {len(WHOLE) + 7}"),
        (NEWEST, WHOLE + bytes(9) + UNITS[1], f"{NEWEST} is damaged after byte {len(WHOLE)} of"),
        (NEWEST, WHOLE + b"*0\r\n" + UNITS[1], f"{NEWEST} is damaged after byte {len(WHOLE)} of"),
        ("appendonly.aof.1.incr.aof", WHOLE + bytes(3), f"1.incr.aof is damaged after byte {len(WHOLE)} of"),
        ("appendonly.aof.1.incr.aof", WHOLE[:-3], f"1.incr.aof is damaged after byte {ENDS[-2]} of"),
        (NEWEST, None, f"{NEWEST} is missing"),
        (MANIFEST, bytes(64), f"{MANIFEST} is damaged"),
        (MANIFEST, b"\xff\n", f"{MANIFEST} is damaged"),
    ],
)
def test_any_other_damage_is_refused_with_its_location_and_advice(
    folder: Path, name: str, content: bytes | None, message: str
) -> None:
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(
        Damaged, match=f"{message}.*nothing was changed. Restore the newest backup .*`moonstone restore`$"
    ):
        repair(folder)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_a_folder_without_files_needs_nothing(tmp_path: Path) -> None:
    assert repair(tmp_path / "none") is None


def test_a_file_that_cannot_be_copied_first_is_not_cut(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: Path, target: Path) -> None:
        target.write_bytes(b"half")
        raise OSError(28, os.strerror(28))

    (folder / NEWEST).write_bytes(WHOLE + bytes(3))
    monkeypatch.setattr(shutil, "copy2", full)
    with pytest.raises(OSError, match="No space left"):
        repair(folder)
    assert (folder / NEWEST).read_bytes() == WHOLE + bytes(3)
    assert len(list(folder.iterdir())) == 3
