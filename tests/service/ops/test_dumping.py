"""`moonstone dump`, and what `verify` and `dataset` make of a dump, at a terminal and on a real server."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec
import pytest
from click.testing import Result

from service.adapters.valkey import Valkey
from service.audit import dataset, dump_writer
from service.audit.dump_check import index_of
from service.audit.dump_files import read_heads
from service.audit.match_file import export
from service.automation.bot_turns import advance
from service.container import build
from service.match.model import Match
from service.match.new_match import NewMatch
from service.match.redaction import see_event
from service.ops import server_commands
from service.repository.ports import Ports
from service.settings import read
from service.usecases.match_lifecycle import create
from tests.command_line import run
from tests.length import LONG
from tests.serving import ROOT
from tests.waiting import until

MATCHES: Final = 6
SMALL_PARTS: Final = """
from service.audit import dump_writer
from service.ops import server_commands
dump_writer.MAX_MATCHES = 1
server_commands.lower_priority = bool
from service.ops.cli import main
main()
"""
"""The command with a part for each match, at the priority of the tests: beside them, a lower one may get no time."""


class Log:
    """A server with some matches of bots that are over."""

    def __init__(self, environ: dict[str, str], ports: Ports) -> None:
        self.environ = environ
        self.ports = ports
        self.matches = [self.play(str(number)) for number in range(MATCHES)]

    def play(self, key: str, *, private: bool = False) -> Match:
        wanted = NewMatch(game="ape_town", seats=2, bots=("random", "random"), private=private)
        match = create(self.ports, "pl_a", wanted, key).match
        while advance(self.ports, match.id):
            pass
        return self.ports.history.newest(match.id)[0]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory, valkey_queue_url: str) -> Iterator[Log]:
    folder = tmp_path_factory.mktemp("log")
    with Valkey.start(folder, durable=True) as server:
        environ = {
            "MOONSTONE_LOG_URL": server.url,
            "MOONSTONE_QUEUE_URL": valkey_queue_url,
            "MOONSTONE_DATA_DIR": str(folder / "data"),
        }
        service = build(read(environ), listen=False)
        yield Log(environ, service.ports)
        service.close()


@pytest.fixture(scope="module")
def dumped(log: Log, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dump")
    done = dump(log, folder)
    assert done.exit_code == 0, done.stderr
    return folder


def dump(log: Log, folder: Path) -> Result:
    """The result of the command in this process, with a part for each match."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dump_writer, "MAX_MATCHES", 1)
        patch.setattr(server_commands, "lower_priority", bool)
        for name, value in log.environ.items():
            patch.setenv(name, value)
        return run("dump", folder)


@pytest.mark.long
@pytest.mark.parametrize("parts", [0, 1, 3] if LONG else [1])
def test_a_dump_that_is_killed_is_continued(log: Log, tmp_path: Path, parts: int) -> None:
    folder = tmp_path / "dump"
    command = [sys.executable, "-c", SMALL_PARTS, "dump", str(folder)]
    with subprocess.Popen(command, env={**os.environ, **log.environ}, cwd=ROOT, stderr=subprocess.DEVNULL) as process:
        until(lambda: folder.exists() and len(list(folder.glob("*.heads.csv"))) >= parts, 60, "parts are written")
        process.kill()
    done = dump(log, folder)
    assert (done.exit_code, done.stdout.startswith("added ")) == (0, True), done.stderr
    rows = [row for part in index_of(folder).parts for row in read_heads(folder, part)]
    assert [(row.match, row.head) for row in rows] == [(match.id, match.head.hash) for match in log.matches]
    done_check = run("verify", folder)
    assert (done_check.exit_code, f"{MATCHES} matches, " in done_check.output) == (0, True), done_check.output


@pytest.mark.skipif(not hasattr(os, "SCHED_IDLE"), reason="needs Linux")
def test_it_runs_at_the_lowest_priority(log: Log, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "service.ops.cli", "dump", str(tmp_path / "dump")]
    with subprocess.Popen(command, env={**os.environ, **log.environ}, cwd=ROOT, stderr=subprocess.DEVNULL) as process:
        until((tmp_path / "dump").exists, 120, "the dump is begun")
        found = os.getpriority(os.PRIO_PROCESS, process.pid), os.sched_getscheduler(process.pid)
        process.kill()
    assert found == (19, os.SCHED_IDLE)


def test_a_full_disk_is_reported_in_one_sentence_and_the_dump_is_continued(log: Log, tmp_path: Path) -> None:
    folder = tmp_path / "dump"
    limited = f"import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n{SMALL_PARTS}"
    command = [sys.executable, "-c", limited, "dump", str(folder)]
    environ = {**os.environ, **log.environ}
    done = subprocess.run(command, capture_output=True, text=True, env=environ, cwd=ROOT, timeout=60, check=False)
    error = f"Error: cannot read or write {folder}: File too large; the next run continues the dump\n"
    assert (done.returncode, done.stdout, done.stderr.endswith(error)) == (1, "", True), done.stderr
    assert not list(folder.glob("*.part")), "a draft would keep the disk full"
    assert dump(log, folder).exit_code == 0
    assert run("verify", folder).exit_code == 0


def test_it_says_what_it_added_and_leaves_private_matches_out(log: Log, tmp_path: Path) -> None:
    private = log.play("private", private=True)
    first, again = dump(log, tmp_path), dump(log, tmp_path)
    head = index_of(tmp_path).head
    events = sum(match.head.version for match in log.matches)
    assert first.stdout == f"added {MATCHES} matches with {events} events to {tmp_path}, left out 0; head {head}\n"
    assert again.stdout == f"added 0 matches with 0 events to {tmp_path}, left out 0; head {head}\n"
    assert again.stderr == "", "without a terminal there is no bar"
    assert private.id not in "".join(path.read_text() for path in tmp_path.glob("*.csv"))


def test_a_folder_of_something_else_is_refused_in_one_sentence(log: Log, tmp_path: Path) -> None:
    (tmp_path / "diary.txt").touch()
    done = dump(log, tmp_path)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "has no index.json but other files (diary.txt); give a new or an empty folder\n" in done.stderr


def test_all_of_a_dump_a_part_of_it_and_one_match_of_it_are_verified(log: Log, dumped: Path) -> None:
    index = index_of(dumped)
    whole = run("verify", dumped)
    assert (whole.exit_code, whole.output.rstrip().endswith(f"Head of the dump: {index.head}.")) == (0, True)
    part = index.parts[0]
    one = run("verify", dumped / part.file)
    assert (one.exit_code, one.output.split(":")[0]) == (0, f"1 matches, {part.events} events")
    match = log.matches[0]
    line = f"{match.id}, Ape Town, {match.head.version} events: chain, draws, effects, actions, outcome hold."
    for source in (dumped, dumped / part.file):
        found = run("verify", source, "--match", match.id)
        assert (found.exit_code, found.output.startswith(line)) == (0, True), found.output
        assert run("verify", source, "--match", "a" * 26).output == f"Error: {source} has no match {'a' * 26}.\n"


def test_the_decompressed_file_of_several_matches_is_not_taken_for_one(log: Log, tmp_path: Path) -> None:
    file = tmp_path / "matches.ndjson"
    file.write_bytes(b"".join(line for match in log.matches[:2] for line in export(log.ports, match)))
    assert run("verify", file).output == (
        "Error: The file has several matches: give the compressed file of the dump (.ndjson.zst).\n"
    )


def test_copies_of_a_match_are_compared_with_the_match_in_the_dump(log: Log, dumped: Path, tmp_path: Path) -> None:
    match = log.matches[1]
    head = f"{match.head.version}:{match.head.hash[:16]}"
    feed = tmp_path / "feed.ndjson"
    (event, kept), *_ = log.ports.history.verified(match, 4, 1)
    feed.write_bytes(msgspec.json.encode(see_event(match, event, kept.hash, None)) + b"\n")
    done = run("verify", dumped, "--match", match.id, "--head", head, "--feed", feed)
    assert (done.exit_code, "heads 1, events 1" in done.output) == (0, True), done.output
    wrong = run("verify", dumped, "--match", match.id, "--head", f"{match.head.version}:{'0' * 16}")
    assert wrong.exit_code == 1
    for words in (("--head", head), ("--feed", feed)):
        asked = run("verify", dumped, *words)
        assert (asked.exit_code, "with --match" in asked.output) == (2, True)


def test_damage_is_reported_with_the_file_and_the_match(dumped: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    folder.mkdir()
    for path in dumped.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    first, second = index_of(folder).parts[:2]
    (folder / first.file).write_bytes(b"\x28\xb5\x2f\xfdnonsense")
    (folder / second.heads).unlink()
    done = run("verify", folder)
    assert done.exit_code == 1
    assert f"{folder / first.file} is damaged: its SHA-256 is not the one in index.json" in done.output
    assert f"{folder / second.heads} is missing" in done.output
    assert done.output.endswith("matches that could be read.\n")
    alone = run("verify", folder / first.file)
    assert (alone.exit_code, "is compressed with zstd, but damaged" in alone.output) == (1, True), alone.output
    table = run("dataset", tmp_path / "decisions.parquet", folder)
    assert (table.exit_code, f"{folder / first.file} is compressed with zstd, but damaged" in table.output) == (1, True)
    missing = run("verify", tmp_path)
    assert missing.output == f"Error: {tmp_path} has no match files, and no index.json of a dump.\n"


def test_a_dataset_is_made_of_dumps_and_of_match_files(dumped: Path, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="needs DuckDB, the extra `data`")
    file, table = tmp_path / "match.ndjson", tmp_path / "decisions.parquet"
    assert run("play", "four_monkeys", "--bots", "random,random", "--export", file).exit_code == 0
    done = run("dataset", table, dumped, file)
    assert (done.exit_code, ", matches left out: 0." in done.output) == (0, True), done.output
    games = dict(duckdb.sql(f"SELECT game, count(DISTINCT match) FROM '{table}' GROUP BY game").fetchall())
    assert games == {"ape_town": MATCHES, "four_monkeys": 1}
    twice = run("dataset", table, file, file)
    assert (twice.exit_code, "is left out: it is in the table already\n" in twice.output) == (1, True), twice.output
    assert duckdb.sql(f"SELECT count(*) - count(DISTINCT version) FROM '{table}'").fetchall() == [(0,)]
    (tmp_path / "empty.ndjson").touch()
    empty = run("dataset", table, file, tmp_path / "empty.ndjson")
    assert empty.output.startswith(f"Error: {tmp_path / 'empty.ndjson'}: The file is not a match file: it is empty.")
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join((*lines[:7], *lines[8:])))
    before = table.read_bytes()
    done = run("dataset", table, file, dumped / index_of(dumped).parts[0].file)
    assert (done.exit_code, "is left out: version 7: " in done.output) == (1, True), done.output
    assert duckdb.sql(f"SELECT count(DISTINCT match) FROM '{table}'").fetchall() == [(1,)]
    assert table.read_bytes() != before
    nowhere = run("dataset", tmp_path / "no" / "x.parquet", file)
    assert (nowhere.exit_code, nowhere.output.startswith("Error: cannot read or write ")) == (1, True), nowhere.output


def test_a_full_disk_is_reported_with_the_table_that_it_has_no_room_for(tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="needs DuckDB, the extra `data`")
    file, table = tmp_path / "match.ndjson", tmp_path / "decisions.parquet"
    assert run("play", "ape_town", "--bots", "random,random", "--export", file).exit_code == 0
    limited = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n"
    command = [
        sys.executable,
        "-c",
        f"{limited}from service.ops.cli import main\nmain()",
        "dataset",
        str(table),
        str(file),
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (1, f"Error: cannot read or write {table}: File too large.\n")
    assert list(tmp_path.iterdir()) == [file]


def test_a_table_that_duckdb_cannot_write_is_reported_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("duckdb", reason="needs DuckDB, the extra `data`")
    file, table = tmp_path / "match.ndjson", tmp_path / "decisions.parquet"
    assert run("play", "ape_town", "--bots", "random,random", "--export", file).exit_code == 0
    monkeypatch.setattr(dataset, "_CONFIG", {"memory_limit": "1MB"})
    done = run("dataset", table, file)
    assert (done.exit_code, done.output.startswith("Error: DuckDB cannot write the table: ")) == (1, True), done.output
    assert list(tmp_path.iterdir()) == [file]
