"""`moonstone verify` at a terminal: faults of files, and comparison with kept copies."""

import gzip
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from events.record import canonical, decode, digest
from service.audit.match_file import export
from service.audit.verify import verify
from service.games.protocol import AnyGame
from service.match.redaction import see_event
from service.ops import local_commands, simulate
from tests.command_line import run
from tests.service.audit.match_files import File
from tests.service.games.toy.game import TOY

SEED = bytes(range(32)).hex()


@pytest.fixture(autouse=True)
def games(monkeypatch: pytest.MonkeyPatch) -> dict[str, AnyGame]:
    """The games of these tests: only the toy game."""
    hosted: dict[str, AnyGame] = {"toy": TOY}
    monkeypatch.setattr(local_commands, "GAMES", hosted)
    return hosted


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "match.ndjson"
    write(path, SEED)
    return path


def write(path: Path, seed: str) -> None:
    """Write the file of a match that has the same name with any seed."""
    path.write_bytes(b"".join(export(*simulate.play(TOY, ["high", "random"], {}, bytes.fromhex(seed)))))


def test_a_valid_file_gives_one_line(file: Path) -> None:
    done = run("verify", file)
    assert done.exit_code == 0
    message = r"\w+, Toy, 20 events: chain, draws, effects, actions, outcome hold\. Head 20:[0-9a-f]{16}\.\n"
    assert re.fullmatch(message, done.output)
    assert done.output.count("\n") == 1


def test_several_files_and_a_folder_of_them_are_checked_one_by_one(file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "contest.json").write_text("{}")
    lines = file.read_bytes()
    for name, content in (("b.ndjson", lines), ("a.ndjson", lines), ("c.ndjson.gz", gzip.compress(lines))):
        (folder / name).write_bytes(content)
    for words in ((folder,), (folder / "a.ndjson", folder / "b.ndjson", folder / "c.ndjson.gz")):
        done = run("verify", *words)
        assert done.exit_code == 0, done.output
        *checked, last = done.output.splitlines()
        assert [line.split(": ")[0] for line in checked] == [
            f"{folder}/{name}" for name in ("a.ndjson", "b.ndjson", "c.ndjson.gz")
        ]
        assert last == "All 3 files hold."
    (folder / "b.ndjson").write_bytes(lines[:-9])
    (folder / "a.ndjson").write_bytes(b"notes\n")
    done = run("verify", folder, file)
    assert done.exit_code == 1
    assert done.stderr.splitlines()[0].startswith(f"{folder}/a.ndjson: The file is not a match file")
    assert done.stderr.splitlines()[1].startswith(f"{folder}/b.ndjson: version 20, ")
    assert done.stderr.splitlines()[-1] == "Error: Files with a fault: 2 of 4."
    assert done.stdout.count("hold.") == 2
    only_one = run("verify", file, file, "--head", "7:" + "0" * 64)
    assert (only_one.exit_code, "are about one file" in only_one.output) == (2, True)


def test_a_folder_without_match_files_is_reported(tmp_path: Path) -> None:
    done = run("verify", tmp_path)
    assert (done.exit_code, done.output.count("\n")) == (1, 1)


def test_a_compressed_file_need_not_be_unpacked(file: Path) -> None:
    plain, packed = file.read_bytes(), gzip.compress(file.read_bytes())
    message = run("verify", file).output
    file.write_bytes(packed)
    assert run("verify", file).output == message
    for damaged in (packed[:-20], packed[:40] + plain[:40]):
        file.write_bytes(damaged)
        done = run("verify", file)
        assert (done.exit_code, done.output.count("\n")) == (1, 1)
        assert "gzip, but damaged" in done.output


@pytest.mark.parametrize("name", ["/dev/full", "/proc/none", "/", "none/match.ndjson", "FILE/match.ndjson"])
def test_a_file_that_cannot_be_written_is_reported(file: Path, name: str) -> None:
    path = name.replace("FILE", str(file))
    done = run("play", "toy", "--bots", "high,high", "--export", path)
    assert (done.exit_code, done.output.startswith(f"Error: {path}: "), done.output.count("\n")) == (1, True, 1)


def test_control_characters_of_a_file_are_replaced_in_the_output(file: Path) -> None:
    forged = File(tuple(file.read_bytes().splitlines()))
    forged.events[3]["by"] = "\x1b[2Jplayer:\x85\u2028\u202ebots"
    file.write_bytes(b"\n".join(forged.sealed()))
    done = run("verify", file)
    assert done.exit_code == 1
    assert done.output.count("\n") == 1
    assert done.output.rstrip("\n").isprintable()
    assert "\ufffd[2Jplayer:\ufffd\ufffd\ufffdbots" in done.output


def test_the_first_fault_is_reported_with_its_version(file: Path) -> None:
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join((*lines[:7], *lines[8:])))
    done = run("verify", file)
    assert done.exit_code == 1
    assert "version 7, chain: " in done.output
    assert done.output.count("\n") == 1


def test_a_file_of_an_older_ruleset_is_reported(file: Path, games: dict[str, AnyGame]) -> None:
    games["toy"] = replace(TOY, info=replace(TOY.info, ruleset=2))
    done = run("verify", file)
    assert done.exit_code == 0
    assert "chain, effects hold." in done.output
    assert "It was played by ruleset 1, whose events cannot be decided again here." in done.output


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    done = run("verify", tmp_path / "nothing")
    assert done.exit_code == 2


def test_a_match_is_played_written_and_checked_by_two_processes(tmp_path: Path) -> None:
    file = tmp_path / "match.ndjson"
    command = [sys.executable, "-c", "from service.ops.cli import main; main()"]
    game = ["play", "monkeys_on_the_moon", "--bots", "random,random", "--json", "--export", str(file)]
    played = subprocess.run([*command, *game], capture_output=True, text=True, check=False)
    assert (played.returncode, played.stderr) == (0, "")
    message = json.loads(played.stdout)
    assert message["versions"] == len(file.read_bytes().splitlines()) - 1
    checked = subprocess.run([*command, "verify", str(file)], capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")
    assert f"{message['versions']} events" in checked.stdout


def test_output_that_cannot_be_written_is_no_fault_of_the_files(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from service.ops.cli import main; main()"]
    one = tmp_path / "0.ndjson"
    game = ["play", "ape_town", "--bots", "random,random", "--export", str(one)]
    subprocess.run([*command, *game], capture_output=True, check=True)
    (tmp_path / "1.ndjson").write_bytes(one.read_bytes())
    reader, output = os.pipe()
    os.close(reader)
    checked = subprocess.run([*command, "verify", str(tmp_path)], stdout=output, stderr=subprocess.PIPE, check=False)
    os.close(output)
    assert b"Broken pipe" not in checked.stderr
    assert b"fault" not in checked.stderr
    if Path("/dev/full").exists():
        with Path("/dev/full").open("wb") as full:
            checked = subprocess.run(
                [*command, "verify", str(tmp_path)], stdout=full, stderr=subprocess.PIPE, check=False
            )
        assert (checked.returncode, checked.stderr) == (1, b"Error: No space left on device\n")


# --- verify against a client's copies ---------------------------------------------------------------------------------


@pytest.fixture
def feed(file: Path, tmp_path: Path) -> Path:
    """The events of the file's match as seat 1 received them."""
    lines = file.read_bytes().splitlines()
    match = verify(lines, {"toy": TOY}).match
    path = tmp_path / "feed.ndjson"
    shown = [canonical(see_event(match, decode(line), digest(line), 1)) for line in lines[1:]]
    path.write_bytes(b"".join(event + b"\n" for event in shown))
    return path


def head(file: Path, version: int) -> str:
    return f"{version}:{digest(file.read_bytes().splitlines()[version])}"


def test_copies_that_agree_are_reported_in_the_same_line(file: Path, feed: Path) -> None:
    etag = '"' + head(file, 20)[:19].replace(":", "-") + '"'
    heads = [part for known in (head(file, 7), head(file, 20)[:19], etag, f"W/{etag}") for part in ("--head", known)]
    done = run("verify", file, *heads, "--feed", feed, "--seat", "1")
    assert done.exit_code == 0, done.output
    assert done.output.endswith(" Your copies agree: heads 4, events 20.\n")
    assert done.output.count("\n") == 1


def test_a_file_rewritten_as_a_whole_passes_without_copies_and_fails_with_them(file: Path, feed: Path) -> None:
    known_head = head(file, 7)
    known_file = file.read_bytes()
    write(file, "00" * 32)
    assert file.read_bytes().splitlines()[0] == known_file.splitlines()[0], "another match of the same name"
    assert run("verify", file).exit_code == 0
    by_head, by_feed = run("verify", file, "--head", known_head), run("verify", file, "--feed", feed, "--seat", "1")
    assert (by_head.exit_code, by_feed.exit_code) == (1, 1)
    assert by_head.output.startswith(f"Error: version 7, head: its hash is {head(file, 7)[2:]}, not {known_head[2:]}")
    assert by_feed.output.startswith(f"Error: version 1, feed: its hash is {head(file, 1)[2:]}, not ")
    assert by_head.output.count("\n") == by_feed.output.count("\n") == 1


@pytest.mark.parametrize("seat", [(), ("--seat", "spectator"), ("--seat", "0")])
def test_a_feed_is_a_spectators_unless_its_seat_is_named(file: Path, feed: Path, seat: tuple[str, ...]) -> None:
    done = run("verify", file, "--feed", feed, *seat)
    assert done.exit_code == 1
    whose = "seat 0" if "0" in seat else "a spectator"
    assert f"version 4, feed: {whose} sees other values (data); is this the feed of another seat?" in done.output


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (("--head", "7"), "--head 7: give VERSION:HASH"),
        (("--head", "7:"), "16 to 64 digits"),
        (("--head", "7:" + "0" * 15), "16 to 64 digits"),
        (("--head", "7:" + "A" * 64), "in lower case"),
        (("--head", "-7:" + "0" * 64), "give VERSION:HASH"),
        (("--head", "x:" + "0" * 64), "give VERSION:HASH"),
        (("--seat", "1"), "--feed is missing"),
        (("--seat", "2", "--feed", "FEED"), "the viewer is a seat from 0 to 1, or spectator"),
        (("--seat", "one", "--feed", "FEED"), "the viewer is a seat from 0 to 1, or spectator"),
        (("--seat", "²", "--feed", "FEED"), "the viewer is a seat from 0 to 1, or spectator"),
        (("--seat", "9" * 5000, "--feed", "FEED"), "the viewer is a seat from 0 to 1, or spectator"),
        (("--feed", "FILE"), "it contains something that is not an event"),
        (("--feed", "nothing"), "No such file"),
    ],
)
def test_copies_that_cannot_be_compared_are_reported(
    file: Path, feed: Path, words: tuple[str, ...], advice: str
) -> None:
    names = {"FEED": feed, "FILE": file}
    done = run("verify", file, *[names.get(word, word) for word in words])
    assert done.exit_code == 2
    assert advice in " ".join(done.output.split())
