"""`moonstone play` and `moonstone verify`: whole matches and their files, without a server."""

import gzip
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BufferedIOBase, BytesIO
from typing import Final

import click
import msgspec

from events.chain import FORMATS, NEWEST_FORMAT
from events.log import MAX_BYTES
from service.audit import client_copy, converted
from service.audit.match_file import export, summary
from service.audit.verify import CHECKS, Fault
from service.audit.verify import verify as verify_file
from service.errors import Refused
from service.games.protocol import Outcome
from service.games.registry import GAMES
from service.games.visibility import Viewer
from service.match import texts
from service.match.model import Match
from service.ops import simulate
from service.ops.arguments import LocalCommand, advice, options_of, printable, seed_of
from service.repository.ports import Ports

_GZIP: Final = b"\x1f\x8b"
"""The first two bytes of a gzip file (RFC 1952)."""
_MAX_BYTES: Final = 1 << 28
"""The largest size of a file, after decompression."""
_MIN_LINE_BYTES: Final = 100
"""A shorter line counts as this many bytes, which limits the number of lines. A line with an event is longer."""


_FORMAT_NAME: Final = FORMATS[NEWEST_FORMAT].partition("/")[0].encode()
_LINES_WITH_FORMAT: Final = 10
"""A converted match file names its format in one of this many lines, not always in the first."""


@click.command(cls=LocalCommand)
@click.argument("game")
@click.option("--bots", required=True, metavar="A[,B...]", help="One bot for each seat, in the seats' order.")
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    help="An option of the game; VALUE is JSON or plain text.",
)
@click.option("--seed", metavar="HEX", help="64 hex digits; the same seed gives the same match.")
@click.option("--export", "file", type=click.Path(readable=False), help="Where to write the match file.")
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
def play(game: str, bots: str, options: tuple[str, ...], seed: str | None, file: str | None, *, as_json: bool) -> None:
    """Play a match of bots in this process."""
    if game not in GAMES:
        raise click.UsageError(f"There is no game {game}. There are: {', '.join(sorted(GAMES))}.")
    rules = GAMES[game]
    try:
        ports, match = simulate.play(rules, bots.split(","), options_of(options), seed_of(seed))
    except Refused as refusal:
        if refusal.code == "match-suspended":
            raise click.ClickException(refusal.detail) from None
        what = advice(refusal, rules, bots.count(",") + 1)
        raise click.UsageError(f"{refusal.detail} {what}") from None
    if file is not None:
        _write(file, export(ports, match))
    click.echo(msgspec.json.encode(summary(match)).decode() if as_json else _outcome_text(ports, match))


@click.command(cls=LocalCommand)
@click.argument("file", type=click.File("rb"))
@click.option(
    "--head",
    "heads",
    multiple=True,
    metavar="VERSION:HASH",
    help="A hash that you kept: at least its first 16 digits, or an ETag.",
)
@click.option(
    "--feed",
    "feeds",
    multiple=True,
    type=click.File("rb"),
    help="A file of events that you kept, as the service sent them.",
)
@click.option("--seat", metavar="N", help="The viewer of the feed: a seat, or spectator.  [default: spectator]")
def verify(file: BufferedIOBase, heads: tuple[str, ...], feeds: tuple[BufferedIOBase, ...], seat: str | None) -> None:
    """Check a match file: its chain, draws, effects, actions and outcome.

    A file that was rewritten as a whole can only be detected with data that you kept: pass it with --head and --feed.
    """
    if seat is not None and not feeds:
        raise click.UsageError("--seat names the viewer of a feed; --feed is missing.")
    wanted = [_head(head) for head in heads]
    known = [_feed(feed) for feed in feeds]
    lines = _lines(file)
    try:
        verdict = verify_file(lines, GAMES)
        viewer = _viewer(seat, verdict.match)
        client_copy.check_heads(lines, wanted)
        for feed in known:
            client_copy.check_feed(lines, verdict.match, viewer, feed)
    except Fault as fault:
        raise click.ClickException(printable(f"version {fault.version}, {fault.check}: {fault.text}")) from None
    except client_copy.Differs as found:
        raise click.ClickException(printable(f"version {found.version}, {found.kept}: {found.text}")) from None
    match = verdict.match
    text = f"{match.id}, {match.game.info.title}, {match.head.version} events: {', '.join(verdict.checks)} hold."
    text += f" Head {match.head.version}:{match.head.hash[:16]}."
    if verdict.checks != CHECKS:
        text += f" It was played by ruleset {match.created.ruleset}, whose events cannot be decided again here."
    if heads or feeds:
        text += f" Your copies agree: heads {len(heads)}, events {sum(len(feed.events) for feed in known)}."
    click.echo(text)


def _head(given: str) -> client_copy.KeptHead:
    version, _, hash_ = given.removeprefix("W/").strip('"').replace("-", ":", 1).partition(":")
    try:
        return msgspec.convert({"version": int(version), "head": hash_}, client_copy.KeptHead)
    except ValueError:
        raise click.UsageError(
            f"--head {given}: give VERSION:HASH or an ETag, the hash in lower case, {client_copy.SHORTEST_HASH} to 64 digits of it."
        ) from None


def _feed(file: BufferedIOBase) -> client_copy.Feed:
    name = f"--feed {getattr(file, 'name', '')}"
    content = _read(file)
    if content.startswith(_GZIP):
        with _unpacked(name, content) as packed:
            content = _read(packed)
    if done := converted.by_its_start(content):
        raise click.UsageError(_converted(f"{name}: it", done))
    try:
        return client_copy.read_feed(content)
    except ValueError as error:
        raise click.UsageError(f"{name}: {error}.") from None


def _viewer(seat: str | None, match: Match) -> Viewer:
    if seat is None or seat == "spectator":
        return None
    seats = [str(number) for number in range(len(match.seats))]
    if seat not in seats:
        raise click.UsageError(f"--seat {seat}: the viewer is a seat from 0 to {seats[-1]}, or spectator.")
    return seats.index(seat)


def _write(file: str, lines: Iterable[bytes]) -> None:
    try:
        with click.open_file(file, "wb") as opened:
            opened.writelines(lines)
    except OSError as error:
        error.filename = file  # if the disk is full, the system's error does not name the file
        raise


def _lines(file: BufferedIOBase) -> list[bytes]:
    """The lines of a match file, which may be gzip-compressed, as the service sends it."""
    start = file.readline(MAX_BYTES + 2)
    if not start.startswith(_GZIP):
        lines = list(_bounded(file, start))
    else:
        with _unpacked("The file", start + _read(file)) as packed:
            lines = list(_bounded(packed, packed.readline(MAX_BYTES + 2)))
    if not any(_FORMAT_NAME in line for line in lines[:_LINES_WITH_FORMAT]):
        fault = "does not name the format of one in its first line" if lines else "is empty"
        raise click.ClickException(
            f"The file is not a match file: it {fault}. GET /v1/matches/ID/export gives the file of a match that is over, and "
            f"`moonstone play --export FILE` writes one."
        )
    if done := converted.by_its_lines(lines):
        raise click.ClickException(_converted("The file", done))
    return lines


@contextmanager
def _unpacked(name: str, content: bytes) -> Iterator[gzip.GzipFile]:
    try:
        with gzip.open(BytesIO(content)) as packed:
            yield packed
    except (OSError, EOFError, zlib.error) as error:
        raise click.ClickException(f"{name} is gzip, but damaged: {error}.") from None


def _converted(name: str, done: str) -> str:
    return (
        f"{name} was converted on its way: {done}. Fetch it again and keep it byte for byte, because the "
        f"hashes are computed from these bytes."
    )


def _bounded(file: BufferedIOBase | gzip.GzipFile, line: bytes) -> Iterator[bytes]:
    """All lines, of which `line` is the first. A file that is too large raises, so that endless input ends too."""
    if done := converted.by_its_start(line):
        raise click.ClickException(_converted("The file", done))
    size = number = 0
    while line:
        size, number = size + max(len(line), _MIN_LINE_BYTES), number + 1
        if len(line) > MAX_BYTES + 1:
            raise click.ClickException(f"Line {number} of the file is longer than the largest event.")
        if size > _MAX_BYTES:
            raise _too_long()
        yield line
        line = file.readline(MAX_BYTES + 2)


def _read(file: BufferedIOBase | gzip.GzipFile) -> bytes:
    content = file.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise _too_long()
    return content


def _too_long() -> click.ClickException:
    return click.ClickException("The file is larger than the largest match.")


def _outcome_text(ports: Ports, match: Match) -> str:
    """The text of the game's last event, then the outcome. The last event may say more than the scores, such as a rank."""
    outcome = match.outcome or Outcome((), (), (), ())
    (last,) = ports.history.events(match, None, match.head.version - 3, 1)  # followed by the scoring and the seed
    lines = [
        f"{match.game.info.title}. Seats: {len(match.seats)}. Events: {match.head.version}.",
        str(texts.with_text(match.game, texts.DEFAULT, last).text),
    ]
    for rank, seat in sorted((rank, seat) for seat, rank in enumerate(outcome.ranks)):
        holder = match.seats[seat]
        parts = ", ".join(f"{name} {points}" for name, points in outcome.breakdown[seat].items())
        lines.append(f"{rank}. seat {seat}, {holder and holder.player}: {outcome.scores[seat]} ({parts})")
    return "\n".join([*lines, f"Seed: {match.server_seed}"])
