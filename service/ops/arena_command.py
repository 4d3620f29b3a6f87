"""`moonstone arena`: plays many matches of bots, and measures whether one is stronger than another."""

import os
import shlex
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Final

import click
import msgspec
from msgspec.structs import replace
from rich.console import Console
from rich.live import Live

from service.arena import export as export_folder
from service.arena.bots import versions
from service.arena.deals import CalledAt, Contest, Deal, JobOrder
from service.arena.entries import BadEntry, entry_of, is_url, same_bots, shown_names, shown_url
from service.arena.hosted import CannotStart
from service.arena.jobs import JobFailed, deals
from service.arena.journal import Journal, NotContinued, contest_of
from service.arena.plot import plot
from service.arena.sprt import Sprt
from service.arena.standings import End, Standings
from service.arena.table import WIDTH, table
from service.errors import Refused
from service.games.registry import GAMES
from service.match.characters import printable
from service.match.events import LONGEST_LIMIT_MS
from service.match.new_match import NewMatch, checked_options
from service.match.randomness import new_seed
from service.ops.arguments import LocalCommand, advice, options_of, seed_of
from service.ops.signing_secret import read_secret

REFRESH_S: Final = 0.25


@click.command(cls=LocalCommand)
@click.argument("game")
@click.option(
    "--bots",
    required=True,
    metavar="A,B[,...]",
    help="One bot for each seat: a built-in name, [DIR/]module:function, a command in quotes, or the URL of a bot to call.",
)
@click.option("--matches", type=click.IntRange(1), metavar="N", help="How many matches, rounded up to whole deals.")
@click.option("--sprt", metavar="ELO0,ELO1", help="Stop as soon as one of two Elo differences is accepted (two bots).")
@click.option("--jobs", type=click.IntRange(1, 256), default=1, show_default=True, help="Processes that play at once.")
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="An option of the game, as for `play`.")
@click.option("--seed", metavar="HEX", help="64 hex digits; the same seed gives the same result.")
@click.option(
    "--limit-ms", type=click.IntRange(1, 3_600_000), default=1000, show_default=True, help="Time for one decision."
)
@click.option("--export", type=click.Path(file_okay=False), metavar="DIR", help="Where to write every match file.")
@click.option("--resume", type=click.Path(dir_okay=False), metavar="FILE", help="Keep the deals here, and continue.")
@click.option("--json", "json_file", type=click.Path(dir_okay=False), metavar="FILE", help="Where to write the result.")
@click.option(
    "--plot", "plot_file", type=click.Path(dir_okay=False), metavar="FILE.svg", help="Where to draw the scores."
)
@click.option(
    "--secret-file",
    "secret_files",
    multiple=True,
    metavar="[URL=]FILE",
    help="The file with the secret that signs calls (whsec_…), which the bot has too; with URL=, only those of that bot. May be "
    "repeated.  [default: secret]",
)
@click.option("--bot-log", type=click.Path(dir_okay=False), metavar="FILE", help="Where bots print to.")
def arena(
    game: str,
    bots: str,
    matches: int | None,
    sprt: str | None,
    jobs: int,
    options: tuple[str, ...],
    seed: str | None,
    limit_ms: int,
    export: str | None,
    resume: str | None,
    json_file: str | None,
    plot_file: str | None,
    bot_log: str | None,
    secret_files: tuple[str, ...],
) -> None:
    """Measure whether one bot is stronger than another.

    Every deal is played once in each rotation of the seats. Intervals count deals, because the matches of one deal are
    alike. A bot that crashes, takes too long or answers with no legal action loses the rest of its seat's match to
    default actions.
    """
    test = _sprt(sprt)
    if matches is None and test is None:
        raise click.UsageError("Say how long to play: --matches N, or --sprt ELO0,ELO1.")
    _check_files(resume, json_file, plot_file, bot_log)
    contest, urls = _contest(game, bots, options, seed, limit_ms, resume)
    if test is not None and len(contest.contestants) != 2:
        raise click.UsageError("--sprt compares two bots.")
    limit = None if matches is None else -(-matches // len(contest.bots))
    called = _called(urls, secret_files, limit_ms)
    contest = _with_versions(contest, bot_log, called)
    if export is not None:
        try:
            export_folder.begin(Path(export), contest)
        except export_folder.NotThisFolder as error:
            raise click.UsageError(printable(f"--export: {error}")) from None
    for file in (json_file, plot_file, bot_log):
        if file is not None:
            Path(file).open("ab").close()  # now, and not only after an hour of play
    export_path, log_path = (None if path is None else os.fsencode(Path(path).absolute()) for path in (export, bot_log))
    order = JobOrder(contest, export_path, log_path, called)
    standings = Standings(contest, test)
    end: End = "interrupt"
    with ExitStack() as stack:
        try:
            journal = None if resume is None else stack.enter_context(Journal(Path(resume), contest))
            played = deals(order, jobs, limit, {} if journal is None else journal.known)
            end = _run(stack.enter_context(closing(played)), standings, journal, limit)
        except NotContinued as error:
            raise click.UsageError(printable(f"--resume: {error}")) from None
        except JobFailed as error:
            raise click.ClickException(printable(f"{error}")) from None
        except KeyboardInterrupt:
            pass
    click.echo(f"Seed: {contest.seed}")
    if json_file is not None:
        _write(json_file, msgspec.json.format(result_json(standings, jobs, end)) + b"\n")
    if plot_file is not None:
        _write(plot_file, plot(standings).encode())
    if end == "interrupt":
        advice = "Stopped. Next time, --resume FILE keeps the deals, so that a stopped run can be continued."
        click.echo(advice if resume is None else f"Stopped; continue with --resume {shlex.quote(printable(resume))}")
        sys.exit(130)


def _run(played: Iterable[Deal], standings: Standings, journal: Journal | None, limit: int | None) -> End:
    """Add up the deals, and show the table while it changes, until the limit, a verdict or an interrupt.

    Raises:
        KeyboardInterrupt: the user stopped the run.
    """
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH)
    began = shown = time.monotonic()
    end: End = "interrupt"
    with Live(console=console, auto_refresh=False, transient=True) as live:
        try:
            for deal in played:
                standings.add(deal)
                if journal is not None:
                    journal.add(deal)
                now = time.monotonic()
                if console.is_terminal and now - shown >= REFRESH_S:
                    live.update(table(standings, now - began, limit), refresh=True)
                    shown = now
                if (test := standings.sprt()) is not None and test.verdict is not None:
                    end = "verdict"
                    break
            else:
                end = "matches"
        finally:
            live.update("", refresh=True)
            live.stop()
            if standings.deals:
                console.print(table(standings, time.monotonic() - began, limit, end), soft_wrap=True)
    return end


def result_json(standings: Standings, jobs: int, end: End) -> bytes:
    """The result as JSON. Only the times and `jobs` differ between two runs with the same seed, of bots that keep nothing."""
    contest = standings.contest
    return msgspec.json.encode(
        {
            "contest": contest,
            "jobs": jobs,
            "end": end,
            "deals": standings.deals,
            "matches": standings.matches,
            "bots": standings.rows(),
            "sprt": standings.sprt(end),
            "curves": standings.curves(),
        }
    )


def _write(file: str, content: bytes) -> None:
    try:
        Path(file).write_bytes(content)
    except OSError as error:
        error.filename = file  # if the disk is full, the system's error does not name the file
        raise


def _check_files(resume: str | None, json_file: str | None, plot_file: str | None, bot_log: str | None) -> None:
    given = (resume, json_file, plot_file, bot_log)
    files = [Path(file).resolve() for file in given if file is not None]
    if len(set(files)) < len(files):
        raise click.UsageError("--resume, --json, --plot and --bot-log: give a file of its own to each.")
    if plot_file is not None and Path(plot_file).suffix.lower() not in {"", ".svg"}:
        raise click.UsageError("--plot draws SVG: give a name that ends in .svg.")


def _contest(
    game: str, bots: str, options: tuple[str, ...], seed: str | None, limit_ms: int, resume: str | None
) -> tuple[Contest, Mapping[str, str]]:
    """The contest, and the URLs of the bots that are called by their names in it."""
    if game not in GAMES:
        raise click.UsageError(f"There is no game {game}. There are: {', '.join(sorted(GAMES))}.")
    names = tuple(name.strip() for name in bots.split(","))
    if not bots.isprintable():
        raise click.UsageError("--bots: a name has only characters that can be printed.")
    try:
        built_in = tuple(name for name in names if entry_of(name) is None)
    except BadEntry as error:
        raise click.UsageError(f"--bots: {error}") from None
    wanted = NewMatch(game=game, seats=len(names), options=options_of(options), bots=built_in)
    try:
        known = checked_options(GAMES[game], wanted)
    except Refused as refusal:
        own = "Name a bot of your own as module:function or DIR/module:function, as a command in quotes, or by its URL."
        what = own if refusal.code == "bot-not-found" else advice(refusal, GAMES[game], len(names))
        raise click.UsageError(f"{refusal.detail} {what}") from None
    if len(set(names)) < 2:
        raise click.UsageError("--bots: name at least two different bots.")
    given = None if seed is None else seed_of(seed)
    if given is None and resume is not None:
        try:
            begun = contest_of(Path(resume))
        except NotContinued as error:
            raise click.UsageError(printable(f"--resume: {error}")) from None
        given = None if begun is None else bytes.fromhex(begun.seed)
    shown = shown_names(names)
    contest = Contest(
        game, tuple(shown[name] for name in names), msgspec.to_builtins(known), (given or new_seed()).hex(), limit_ms
    )
    return contest, {shown[name]: name for name in names if is_url(name)}


def _called(urls: Mapping[str, str], secret_files: Sequence[str], limit_ms: int) -> Mapping[str, CalledAt]:
    """Where the bots with URLs are called, and with which secret, by their names in the contest."""
    if urls and limit_ms > LONGEST_LIMIT_MS:
        raise click.UsageError(
            f"--limit-ms: a bot that is called has at most {LONGEST_LIMIT_MS} ms, as on the service."
        )
    commons: list[str] = []
    own: dict[str, str] = {}
    for given in secret_files:
        url = next((one for one in sorted(urls.values(), key=len, reverse=True) if given.startswith(f"{one}=")), None)
        if url is not None:
            own[url] = given.removeprefix(f"{url}=")
        elif is_url(given):
            raise click.UsageError(
                f"--secret-file: {shown_url(given)} begins with the URL of no bot. Write URL=FILE, with a URL as in --bots."
            )
        else:
            commons.append(given)
    if len(commons) > 1:
        raise click.UsageError(
            "--secret-file: give one FILE for all bots, and URL=FILE for each that has another secret."
        )
    common = commons[0] if commons else "secret"
    return {name: CalledAt(url, read_secret(Path(own.get(url, common)))) for name, url in urls.items()}


def _with_versions(contest: Contest, bot_log: str | None, called: Mapping[str, CalledAt]) -> Contest:
    """The contest with the version of each bot. Warns of two names that are the same bot."""
    log = None if bot_log is None else str(Path(bot_log).absolute())
    try:
        found = versions(GAMES[contest.game], contest.bots, contest.limit_ms / 1000, log, called)
    except CannotStart as error:
        raise click.ClickException(printable(f"{error}")) from None
    for one, other in same_bots(contest.bots, found):
        click.echo(
            f"Warning: {one} and {other} are the same files. To compare an old with a new version, put the old one into "
            "a folder of its own, and name it DIR/module:function.",
            err=True,
        )
    return replace(contest, versions=found)


def _sprt(given: str | None) -> Sprt | None:
    if given is None:
        return None
    try:
        elo0, elo1 = map(float, given.split(","))
    except ValueError:
        elo0 = elo1 = 0.0
    if not -2000 <= elo0 < elo1 <= 2000:
        raise click.UsageError(
            "--sprt: give two Elo differences from -2000 to 2000, the smaller one first, such as 0,20."
        )
    return Sprt(elo0, elo1)
