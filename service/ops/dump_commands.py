"""What `moonstone verify` does with dumps, and `moonstone dataset`. Both run without a server."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import click

from service.audit import dataset as datasets
from service.audit import dump_check
from service.audit.dump_check import Checked
from service.audit.dump_files import DAMAGED, BadDump, bounded_lines, match_files, match_named, opened
from service.audit.verify import CHECKS
from service.games.protocol import AnyGame
from service.games.registry import GAMES
from service.match.characters import printable
from service.ops.arguments import LocalCommand
from service.ops.match_input import Packed, Source, source_of


def match_lines(source: Source, match_id: str | None) -> list[bytes]:
    """The lines of the match file that a user gave, or of one match of a dump.

    Raises:
        click.ClickException: the dump is damaged, or has no such match.
    """
    if isinstance(source, list):
        if match_id not in {None, match_named(source)}:
            raise click.UsageError(f"--match {printable(str(match_id))}: the file is of another match.")
        return source
    name = str(source) if isinstance(source, Path) else source.name
    with _faults_as_sentences(name):
        found = dump_check.find(source, match_id or "") if isinstance(source, Path) else _in_part(source, match_id)
    if found is None:
        raise click.ClickException(printable(f"{name} has no match {match_id}."))
    return found


def _in_part(source: Packed, match_id: str | None) -> list[bytes] | None:
    return next((lines for lines in _matches_of(source) if match_named(lines) == match_id), None)


def _matches_of(source: Source) -> Iterator[list[bytes]]:
    """The match files in what a user gave, each as its lines.

    Raises:
        click.ClickException: a file of a dump is damaged; the text names it.
    """
    if isinstance(source, list):
        yield source
    elif isinstance(source, Packed):
        yield from _unpacked(BytesIO(source.content), source.name)
    else:
        with _faults_as_sentences(str(source)):
            index = dump_check.index_of(source)
        for part in index.parts:
            yield from _unpacked(source / part.file, str(source / part.file))


def _unpacked(file: BinaryIO | Path, name: str) -> Iterator[list[bytes]]:
    with _faults_as_sentences(name), opened(file) as packed:
        yield from match_files(bounded_lines(packed, name))


@contextmanager
def _faults_as_sentences(name: str) -> Iterator[None]:
    try:
        yield
    except BadDump as error:
        raise click.ClickException(printable(f"{error}.")) from None
    except DAMAGED as error:
        raise click.ClickException(printable(f"{name} is compressed with zstd, but damaged: {error}.")) from None


def verify_dump(source: Packed | Path, games: Mapping[str, AnyGame]) -> str:
    """Check all matches of a dump or of a part; returns the result in words. Each fault is printed.

    Raises:
        click.ClickException: there are faults.
    """
    if isinstance(source, Packed):
        return _checked(dump_check.check_match(lines, games) for lines in _matches_of(source))
    with _faults_as_sentences(str(source)):
        index = dump_check.index_of(source)
        checked = _checked(dump_check.check_folder(source, index, games))
    return f"{checked} All files are as in the index. Head of the dump: {index.head or 'none'}."


def _checked(found: Iterable[Checked]) -> str:
    """Print each fault; returns a sentence about the matches if there is none."""
    matches = events = faults = old = 0
    for checked in found:
        matches, events = matches + (checked.match is not None), events + checked.events
        old += checked.is_old
        if checked.fault is not None:
            faults += 1
            text = f"match {checked.match}: {checked.fault}" if checked.match else checked.fault
            click.echo(printable(text), err=True)
    if faults:
        raise click.ClickException(f"faults: {faults}, in {matches} matches that could be read.")
    by_older = f" {old} were played by older rulesets, whose events cannot be decided again here." if old else ""
    return f"{matches} matches, {events} events: {', '.join(CHECKS)} hold.{by_older}"


@click.command(cls=LocalCommand)
@click.argument("target", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("sources", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
def dataset(target: Path, sources: tuple[Path, ...]) -> None:
    """Write the decisions of matches to TARGET, a Parquet file.

    SOURCES are match files, folders of dumps, or files of matches of a dump. Each match with a fault is reported and
    left out, and the exit code is then 1.
    """
    left_out: list[str] = []
    try:
        count = datasets.write(_rows(sources, left_out), target)
    except datasets.Missing:
        raise click.ClickException("The dataset needs DuckDB: pip install duckdb.") from None
    except OSError as error:  # of a full disk, it names no file
        name = printable(str(error.filename or target))
        raise click.ClickException(f"cannot read or write {name}: {error.strerror or error}.") from None
    except datasets.Failed as error:
        raise click.ClickException(printable(f"DuckDB cannot write the table: {error}")) from None
    for text in left_out:
        click.echo(printable(text), err=True)
    click.echo(f"{count} decisions in {printable(str(target))}, matches left out: {len(left_out)}.")
    if left_out:
        raise SystemExit(1)


def _rows(paths: Iterable[Path], left_out: list[str]) -> Iterator[Sequence[datasets.Row]]:
    found: set[str | None] = set()
    for path in paths:
        for lines in _matches_at(path):
            match = match_named(lines)
            if match in found:
                left_out.append(f"match {match} is left out: it is in the table already")
                continue
            try:
                yield datasets.rows(lines, GAMES)
                found.add(match)
            except datasets.Unusable as fault:
                left_out.append(f"match {match or '?'} is left out: {fault}")


def _matches_at(path: Path) -> Iterator[list[bytes]]:
    if path.is_dir():
        yield from _matches_of(path)
    else:
        try:
            with path.open("rb") as file:
                source = source_of(file)
        except click.ClickException as error:
            raise click.ClickException(f"{printable(str(path))}: {error.message}") from None
        yield from _matches_of(source)
