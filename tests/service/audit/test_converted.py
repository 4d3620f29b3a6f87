"""`moonstone verify` reports a file that was converted by a program as converted, and not as forged."""

import bz2
import gzip
import json
import lzma
import zipfile
from collections.abc import Callable
from functools import cache
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from events.record import canonical, decode, digest
from service.audit.dump_files import zstd
from service.audit.verify import verify
from service.match.redaction import see_event
from service.ops import local_commands
from tests.command_line import run
from tests.service.games.toy.game import TOY


@pytest.fixture(autouse=True)
def games(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_commands, "GAMES", {"toy": TOY})


@cache
def played() -> bytes:
    """The file of a match, which is played once."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "match.ndjson"
        assert run("play", "toy", "--bots", "high,random", "--seed", "5a" * 32, "--export", path).exit_code == 0
        return path.read_bytes()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "match.ndjson"
    path.write_bytes(played())
    return path


def zipped(content: bytes) -> bytes:
    archive = BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("match.ndjson", content)
    return archive.getvalue()


def indented(content: bytes) -> bytes:
    return b"".join(json.dumps(json.loads(line), indent=2).encode() + b"\n" for line in content.splitlines())


def rewritten(content: bytes) -> bytes:
    return b"".join(json.dumps(json.loads(line)).encode() + b"\n" for line in content.splitlines())


def on_line_7(change: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    def changed(content: bytes) -> bytes:
        lines = content.splitlines(keepends=True)
        return b"".join((*lines[:6], change(lines[6]), *lines[7:]))

    return changed


CONVERSIONS: list[tuple[str, Callable[[bytes], bytes]]] = [
    ("its lines end in CRLF", lambda content: content.replace(b"\n", b"\r\n")),
    ("its lines end in CR", lambda content: content.replace(b"\n", b"\r")),
    ("line 7 ends in CRLF", on_line_7(lambda line: line.replace(b"\n", b"\r\n"))),
    ("line 7 holds a carriage return", on_line_7(lambda line: line.replace(b",", b",\r", 1))),
    ("it begins with a byte order mark", lambda content: content.decode().encode("utf-8-sig")),
    ("it is in UTF-16", lambda content: content.decode().encode("utf-16")),
    ("it is in UTF-16", lambda content: b"\xfe\xff" + content.decode().encode("utf-16-be")),
    ("it is in UTF-16", lambda content: content.decode().encode("utf-16-le")),
    ("it is in UTF-16", lambda content: content.decode().encode("utf-16-be")),
    ("it is in UTF-32", lambda content: content.decode().encode("utf-32")),
    ("it is compressed, with xz", lzma.compress),
    ("it is compressed, with bzip2", bz2.compress),
    ("it is compressed twice, with gzip", lambda content: gzip.compress(gzip.compress(content))),
    ("it is in a zip archive", zipped),
    ("it has an empty line at its end", lambda content: content + b"\n"),
    ("it has an empty line at its end", lambda content: content + b" \n\n"),
    ("line 2 is empty", lambda content: content.replace(b"\n", b"\n\n")),
    ("line 1 is empty", lambda content: b"\n" + content),
    ("line 1 has spaces around it", lambda content: content.replace(b"\n", b" \n")),
    ("line 7 is not in UTF-8", on_line_7(lambda line: line.replace(b'"by":"', b'"by":"\xe9'))),
    ("its JSON was spread over several lines", indented),
    ("its JSON was written anew", rewritten),
]


@pytest.mark.parametrize(("conversion", "convert"), CONVERSIONS)
@pytest.mark.parametrize("compressed", [False, True], ids=["plain", "gzip"])
def test_a_converted_file_is_reported_with_its_conversion(
    file: Path, conversion: str, convert: Callable[[bytes], bytes], compressed: bool
) -> None:
    content = convert(file.read_bytes())
    file.write_bytes(gzip.compress(content) if compressed and "gzip" not in conversion else content)
    done = run("verify", file)
    advice = "Fetch it again and keep it byte for byte, because the hashes are computed from these bytes."
    assert (done.exit_code, done.output) == (1, f"Error: The file was converted on its way: {conversion}. {advice}\n")


def test_a_file_in_zstd_is_read_as_a_part_of_a_dump_but_not_within_gzip(file: Path) -> None:
    packed = zstd.compress(file.read_bytes())
    file.write_bytes(packed)
    assert run("verify", file).output.startswith("1 matches, ")
    file.write_bytes(gzip.compress(packed))
    assert "The file was converted on its way: it is compressed, with zstd." in run("verify", file).output


def test_an_unchanged_file_is_not_reported_as_converted(file: Path) -> None:
    content = file.read_bytes()
    for sent in (content, content.removesuffix(b"\n"), gzip.compress(content)):
        file.write_bytes(sent)
        assert run("verify", file).exit_code == 0


NO_MATCH_FILE = (
    "not a match file: it does not name the format of one in its first line. GET /v1/matches/ID/export gives"
)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a match file: it is empty."),
        (b"<!DOCTYPE html>\n", NO_MATCH_FILE),
        (b'<svg xmlns="http://www.w3.org/2000/svg">\n  <g/>\n</svg>\n', NO_MATCH_FILE),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", NO_MATCH_FILE),
        (b"[1]\n", NO_MATCH_FILE),
        (b'{\n  "name": "x"\n}\n', NO_MATCH_FILE),
        (b'{"match":"m"}\n', NO_MATCH_FILE),
        (b'{"format":"moonstone-match/1"}\n', "version 0, chain: the first line is not that of a match file"),
    ],
)
def test_other_files_are_not_reported_as_converted(file: Path, content: bytes, message: str) -> None:
    file.write_bytes(content)
    done = run("verify", file)
    assert (done.exit_code, message in done.output, "converted" in done.output) == (1, True, False)


@pytest.fixture
def feed(file: Path) -> bytes:
    """The events of the match as a spectator received them."""
    lines = file.read_bytes().splitlines()
    match = verify(lines, {"toy": TOY}).match
    return b"".join(canonical(see_event(match, decode(line), digest(line), None)) + b"\n" for line in lines[1:])


@pytest.mark.parametrize(
    ("conversion", "convert"), [case for case in CONVERSIONS if case[0].startswith("it is in UTF")]
)
def test_a_converted_feed_is_reported(
    file: Path, feed: bytes, conversion: str, convert: Callable[[bytes], bytes]
) -> None:
    copy = file.with_name("feed.ndjson")
    copy.write_bytes(convert(feed))
    done = run("verify", file, "--feed", copy)
    assert done.exit_code == 2
    assert f"--feed {copy}: it was converted on its way: {conversion}. Fetch it again" in " ".join(done.output.split())


def test_a_feed_may_be_compressed_and_have_other_line_ends(file: Path, feed: bytes) -> None:
    copy = file.with_name("feed.ndjson")
    for content in (gzip.compress(feed), feed.replace(b"\n", b"\r\n"), feed + b"\n"):
        copy.write_bytes(content)
        done = run("verify", file, "--feed", copy)
        assert (done.exit_code, "events 20" in done.output) == (0, True), done.output
    copy.write_bytes(gzip.compress(feed)[:-9])
    done = run("verify", file, "--feed", copy)
    assert (done.exit_code, f"--feed {copy} is gzip, but damaged" in done.output) == (1, True)
