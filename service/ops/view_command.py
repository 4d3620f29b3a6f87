"""`moonstone view`: a match file as one HTML page, as a picture, or in words."""

import sys
import webbrowser
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from service.audit.verify import Fault
from service.errors import location
from service.games.drawing.page import document
from service.games.registry import GAMES
from service.match import texts
from service.match.characters import printable
from service.ops import match_address, match_input, view_page, viewed_match
from service.ops.arguments import LocalCommand, viewer_of, write_file
from service.ops.dump_commands import match_lines
from service.ops.viewed_match import View, Viewed
from service.views import pictures


@click.command(cls=LocalCommand)
@click.argument("source", metavar="FILE|URL", type=click.Path(allow_dash=True))
@click.option("--match", "match_id", metavar="ID", help="Which match of a dump.")
@click.option(
    "--out", type=click.Path(dir_okay=False), help="Where to write the page.  [default: the match's id, with .html]"
)
@click.option("--no-open", is_flag=True, help="Write the page, but do not open it in the browser.")
@click.option("--svg", type=click.Path(dir_okay=False), help="Write a picture of one version instead of a page.")
@click.option("--text", is_flag=True, help="Print the match in words instead of writing a page.")
@click.option("--ply", type=click.IntRange(min=1), metavar="N", help="The version of --svg.  [default: the last one]")
@click.option(
    "--seat", metavar="N", help="Whose view --svg and --text show: a seat, or spectator.  [default: spectator]"
)
@click.option(
    "--language",
    type=click.Choice(texts.LANGUAGES),
    default=texts.DEFAULT,
    show_default=True,
    help="For --svg and --text.",
)
def view(
    source: str,
    match_id: str | None,
    out: str | None,
    svg: str | None,
    ply: int | None,
    seat: str | None,
    language: str,
    *,
    no_open: bool,
    text: bool,
) -> None:
    """Look at a match: write one HTML page with all its pictures and texts, and open it in the browser.

    The page needs no network and no server. FILE is a match file, or a dump with --match; - is the standard input. URL is
    the address of a match of a service, or of a match file. Of a private match, fetch the file with your token and give FILE.

    The match is verified first. If it has a fault, only what comes before it is shown, and the exit code is 1.
    """
    if svg is not None and text:
        raise click.UsageError("Give either --svg or --text.")
    if ply is not None and svg is None:
        raise click.UsageError("--ply is the version of a picture: --svg is missing.")
    if seat is not None and svg is None and not text:
        raise click.UsageError("--seat is for --svg and --text: a page has the views of all seats.")
    viewed = read(_lines(source, match_id))
    with _forged_values_as_sentences(viewed):
        if svg is not None:
            write_file(svg, _picture(viewed, ply, seat, language))
        elif text:
            for moment in viewed.moments(viewer_of(seat, viewed.match), language):
                click.echo(f"{moment.version:>4}  {printable(moment.text)}")
        else:
            show(viewed, out, opens=not no_open)
    if viewed.fault is not None:
        raise click.ClickException(f"{_sentence(viewed.fault)} Only what comes before is shown.")


def read(lines: Sequence[bytes]) -> Viewed:
    """The match of a file.

    Raises:
        click.ClickException: no version of it is without fault.
    """
    try:
        return viewed_match.read(lines, GAMES)
    except Fault as fault:
        raise click.ClickException(f"There is nothing to show: {_sentence(fault)}") from None


def show(viewed: Viewed, out: str | None = None, *, opens: bool = True) -> None:
    """Write the page of a match, and open it in the browser."""
    path = Path(out or f"{viewed.match.id}.html")
    wanted = viewed_match.views(viewed)
    page = view_page.page(viewed_match.replay(viewed, _with_progress(wanted)))
    write_file(str(path), page)
    languages = len(texts.LANGUAGES)
    count = f"{len(viewed.steps)} versions in {len(wanted) // languages} views and {languages} languages"
    is_stdout = str(path) == "-"
    click.echo(f"{printable(str(path))}: {count}, {len(page) / 1e6:.2f} MB.", err=is_stdout)
    if opens and not is_stdout and not webbrowser.open(path.resolve().as_uri()):
        click.echo("There is no browser that could be opened.", err=True)


def _with_progress(views: Sequence[View]) -> Iterable[View]:
    """The views, with a progress bar on a terminal. Only then rich is imported, which takes as long as all else."""
    if sys.stderr is None or not sys.stderr.isatty():  # None if the process was started without one
        return views
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import track  # noqa: PLC0415

    return track(views, "Drawing", console=Console(stderr=True), transient=True)


def _lines(source: str, match_id: str | None) -> list[bytes]:
    is_address = match_address.is_address(source)
    found = match_input.source_of(match_address.fetch(source)) if is_address else match_input.opened(source)
    if match_id is None and not isinstance(found, list):
        raise click.UsageError("A dump has many matches: name one of them with --match.")
    return match_lines(found, match_id)


@contextmanager
def _forged_values_as_sentences(viewed: Viewed) -> Iterator[None]:
    """Before a fault of the chain there may be forged values, of which no picture and no text can be made."""
    try:
        yield
    except (click.ClickException, OSError):
        raise
    except Exception as error:
        if viewed.fault is None:
            raise
        text = f"{_sentence(viewed.fault)} What comes before cannot be shown either: {location(error)}."
        raise click.ClickException(text) from None


def _picture(viewed: Viewed, ply: int | None, seat: str | None, language: str) -> bytes:
    last = len(viewed.steps)
    if ply is not None and ply > last:
        raise click.UsageError(f"--ply {ply}: the versions that can be shown are 1 to {last}.")
    match = viewed.steps[(ply or last) - 1].match
    return document(pictures.draw(match, viewer_of(seat, match), language)).encode()


def _sentence(fault: Fault) -> str:
    return printable(f"Version {fault.version} fails the check of {fault.check}: {fault.text.rstrip('.')}.")
