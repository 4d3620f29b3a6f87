"""What a user may give to `moonstone verify`: no file is read further than the largest match."""

import gzip
from pathlib import Path

import pytest

from events.log import MAX_BYTES as MAX_EVENT_BYTES
from service.ops import match_input
from tests.command_line import run
from tests.service.audit.match_files import played


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A match file."""
    path = tmp_path / "match.ndjson"
    path.write_bytes(b"".join(line.rstrip(b"\n") + b"\n" for line in played("ape_town")))
    return path


LINE, LONG_LINE = b"x" * MAX_EVENT_BYTES + b"\n", bytes(MAX_EVENT_BYTES + 2)
MAX_FILE_BYTES = 1 << 20


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (LINE * (MAX_FILE_BYTES // len(LINE)), "is not a match file"),
        (LINE * (MAX_FILE_BYTES // len(LINE) + 1), "larger than the largest match"),
        (b"\n" * (MAX_FILE_BYTES // 100 + 1), "larger than the largest match"),
        (LINE + LONG_LINE, "Line 2 of the file is longer than the largest event"),
        (LONG_LINE, "Line 1 of the file is longer than the largest event"),
    ],
)
def test_a_file_larger_than_any_match_is_refused(
    file: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, message: str, *, packed: bool
) -> None:
    monkeypatch.setattr(match_input, "_MAX_BYTES", MAX_FILE_BYTES)
    file.write_bytes(gzip.compress(content) if packed else content)
    done = run("verify", file)
    assert (done.exit_code, message in done.output, done.output.count("\n")) == (1, True, 1)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("/dev/zero",), "Line 1 of the file is longer than the largest event"),
        (("FILE", "--feed", "/dev/zero"), "larger than the largest match"),
    ],
)
def test_an_endless_file_is_rejected(
    file: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], message: str
) -> None:
    monkeypatch.setattr(match_input, "_MAX_BYTES", MAX_FILE_BYTES)
    done = run("verify", *[file if word == "FILE" else word for word in words])
    assert (done.exit_code, message in done.output) == (1, True)
