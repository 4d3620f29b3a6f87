"""`moonstone play` and `moonstone verify`: whole matches and their files, without a server."""

from collections.abc import Sequence
from io import BufferedIOBase

import click
import msgspec

from service.audit import client_copy, converted
from service.audit.match_file import export, summary
from service.audit.verify import CHECKS, Fault
from service.audit.verify import verify as verify_file
from service.errors import Refused
from service.games.protocol import Outcome
from service.games.registry import GAMES
from service.match import texts
from service.match.characters import printable
from service.match.model import Match
from service.match.randomness import new_seed
from service.ops import match_input, simulate, view_command
from service.ops.arguments import LocalCommand, advice, options_of, seed_of, viewer_of, write_file
from service.ops.dump_commands import match_lines, verify_dump
from service.repository.ports import Ports


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
@click.option("--view", is_flag=True, help="Look at the match, as `moonstone view` does.")
def play(
    game: str, bots: str, options: tuple[str, ...], seed: str | None, file: str | None, *, as_json: bool, view: bool
) -> None:
    """Play a match of bots in this process."""
    if game not in GAMES:
        raise click.UsageError(f"There is no game {game}. There are: {', '.join(sorted(GAMES))}.")
    rules, server_seed = GAMES[game], seed_of(seed) or new_seed()
    key = " ".join([game, bots, *options, server_seed.hex()])  # matches that differ have different ids
    try:
        ports, match = simulate.play(rules, bots.split(","), options_of(options), server_seed, key=key)
    except Refused as refusal:
        if refusal.code == "match-suspended":
            raise click.ClickException(refusal.detail) from None
        what = advice(refusal, rules, bots.count(",") + 1)
        raise click.UsageError(f"{refusal.detail} {what}".strip()) from None
    lines = [*export(ports, match)] if file is not None or view else []
    if file is not None:
        write_file(file, *lines)
    click.echo(msgspec.json.encode(summary(match)).decode() if as_json else _outcome_text(ports, match))
    if view:
        view_command.show(view_command.read(lines))


@click.command(cls=LocalCommand)
@click.argument("names", nargs=-1, required=True, metavar="FILE...", type=click.Path(exists=True, allow_dash=True))
@click.option("--match", "match_id", metavar="ID", help="Check only this match of a dump.")
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
def verify(
    names: tuple[str, ...],
    match_id: str | None,
    heads: tuple[str, ...],
    feeds: tuple[BufferedIOBase, ...],
    seat: str | None,
) -> None:
    """Check match files: the chain, draws, effects, actions and outcome of each.

    FILE may also be a folder of match files, the folder of a dump, or one of its files of matches. All matches in it are
    checked, and in the folder of a dump also the index, the checksums and the tables of heads.

    A file that was rewritten as a whole can only be detected with data that you kept: pass it with --head and --feed.
    """
    if seat is not None and not feeds:
        raise click.UsageError("--seat names the viewer of a feed; --feed is missing.")
    wanted = [_head(head) for head in heads]
    known = [_feed(feed) for feed in feeds]
    files = [file for name in names for file in match_input.expanded(name)]
    if len(files) == 1:
        click.echo(_verified(files[0], match_id, wanted, known, seat))
        return
    if match_id is not None or wanted or known:
        raise click.UsageError("--match, --head and --feed are about one file; give only that one.")
    faults = 0
    for file in files:
        try:
            verdict = _verified(file, None, wanted, known, seat)
        except click.ClickException as found:
            fault = found.format_message()
        except OSError as error:
            fault = error.strerror or str(error)
        else:
            click.echo(
                f"{printable(file)}: {verdict}"
            )  # outside `try`: output that cannot be written is no fault of the file
            continue
        faults += 1
        click.echo(f"{printable(file)}: {fault}", err=True)
    if faults:
        raise click.ClickException(f"Files with a fault: {faults} of {len(files)}.")
    click.echo(f"All {len(files)} files hold.")


def _verified(
    name: str,
    match_id: str | None,
    heads: Sequence[client_copy.KeptHead],
    feeds: Sequence[client_copy.Feed],
    seat: str | None,
) -> str:
    """Check a file or a dump, and compare it with what the user kept; returns the result in words.

    Raises:
        click.ClickException: it has a fault, or is different.
    """
    source = match_input.opened(name)
    if match_id is None and not isinstance(source, list):
        if heads or feeds:
            raise click.UsageError("A dump has many matches: name the one of --head and --feed with --match.")
        return verify_dump(source, GAMES)
    lines = match_lines(source, match_id)
    try:
        verdict = verify_file(lines, GAMES)
        viewer = viewer_of(seat, verdict.match)
        client_copy.check_heads(lines, heads)
        for feed in feeds:
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
        text += f" Your copies agree: heads {len(heads)}, events {sum(len(feed.events) for feed in feeds)}."
    return text


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
    content = match_input.unpacked(name, match_input.read(file))
    if done := converted.by_its_start(content):
        raise click.UsageError(match_input.converted_text(f"{name}: it", done))
    try:
        return client_copy.read_feed(content)
    except ValueError as error:
        raise click.UsageError(f"{name}: {error}.") from None


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
