"""The commands that use servers. Each calls the function that does the work; options override environment variables."""

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from events.record import MatchId
from service.match.characters import printable
from service.observability.logfmt import log_to_stderr
from service.ops import connection, maintenance, rating_commands
from service.ops import serve as running
from service.ops.arguments import Command
from service.ops.dumping import lower_priority, write_dump
from service.settings import FILES, PREFIX, VARIABLES, BadSetting, Variable, is_text, read, servers

T = TypeVar("T")
Function = TypeVar("Function", bound=Callable[..., None])

_VARIABLES: Final = {variable.setting: variable for variable in VARIABLES}


def _options_for(*settings: str) -> Callable[[Function], Function]:
    """A decorator that adds options for some settings to a command."""

    def decorate(command: Function) -> Function:
        for setting in reversed(settings):
            variable = _VARIABLES[setting]
            flag = f"--{setting.replace('_', '-')}"
            text = f"{variable.meaning}  [{variable.name}, default: {variable.default}]"
            kind = click.Path(readable=False) if setting in FILES else None
            command = click.option(flag, help=text, type=kind, callback=_check(variable))(command)
        return command

    return decorate


def _check(variable: Variable) -> Callable[[click.Context, click.Parameter, str | None], str | None]:
    """A callback that refuses a value which the setting does not accept. The error then names the option."""

    def check(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
        if value and is_text(value):  # an empty value is none; `Command` reports what is no text
            try:
                variable.parse(value)
            except ValueError as error:
                raise click.BadParameter(f"must be {error}.") from None
        return value

    return check


def _environ(given: dict[str, Any]) -> dict[str, str]:
    options = {PREFIX + setting.upper(): value for setting, value in given.items() if value is not None}
    return {**os.environ, **options}


@click.command(cls=Command)
@_options_for("host", "port", "data_dir", "workers")
def serve(**given: str | None) -> None:
    """Run the whole service on this machine."""
    log_to_stderr()
    _with_clear_errors(lambda: running.serve(_environ(given), _print))


@click.command(cls=Command)
@_options_for("data_dir", "workers")
def workers(**given: str | None) -> None:
    """Run only the workers."""
    log_to_stderr()
    _with_clear_errors(lambda: running.run_workers(_environ(given)))


@click.command(cls=Command)
@_options_for("host", "port", "data_dir")
def api(**given: str | None) -> None:
    """Run only the API."""
    environ = _environ(given)
    _with_clear_errors(lambda: servers(read(environ)))
    os.execve(sys.executable, [sys.executable, "-P", "-m", "api"], environ)  # noqa: S606  (our own interpreter and module)


@click.command(cls=Command)
@click.argument("target", type=click.Path(path_type=Path))
@_options_for("data_dir")
def backup(target: Path, **given: str | None) -> None:
    """Write a backup to TARGET, a new file or a folder. The service may be running. A backup contains every secret.

    The accounts that were erased are added to a list beside it, which `moonstone restore` reads.
    """
    _with_clear_errors(lambda: maintenance.backup(_environ(given), target, _print))


@click.command(cls=Command)
@click.argument("source", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--erased",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="List of accounts that were erased after the backup, as `moonstone erased` writes it; they are erased again, as are "
    "those of the list beside SOURCE.",
)
@_options_for("data_dir")
def restore(source: Path, erased: Path | None, **given: str | None) -> None:
    """Restore the backup SOURCE into an empty data folder, or the empty server of MOONSTONE_LOG_URL, and check it."""
    whole = _with_clear_errors(lambda: maintenance.restore(_environ(given), source, _print, erased))
    sys.exit(0 if whole else 1)


@click.command(cls=Command, name="erased")
@_options_for("data_dir")
def list_erased(**given: str | None) -> None:
    """Print the ids of the accounts that were erased, for `moonstone restore --erased`."""
    _with_clear_errors(lambda: maintenance.list_erased(_environ(given), _print))


@click.command(cls=Command)
@_options_for("data_dir")
def check(**given: str | None) -> None:
    """Check the chain of every match, fold it, and audit the finished ones."""
    sys.exit(0 if _with_clear_errors(lambda: maintenance.check(_environ(given), _print)) else 1)


@click.group()
def ratings() -> None:
    """Rebuild the leaderboards, or check the ratings."""


@ratings.command(cls=Command)
@_options_for("data_dir")
def rebuild(**given: str | None) -> None:
    """Rebuild the leaderboards from the rating streams. The service may be running."""
    sys.exit(0 if _with_clear_errors(lambda: rating_commands.rebuild(_environ(given), _print)) else 1)


@ratings.command("check", cls=Command)
@_options_for("data_dir")
def check_of_ratings(**given: str | None) -> None:
    """Recompute every entry of the rating streams from the matches, and compare the leaderboards with the entries."""
    sys.exit(0 if _with_clear_errors(lambda: rating_commands.check(_environ(given), _print)) else 1)


@click.command(cls=Command)
@click.argument("match")
@_options_for("data_dir")
def resume(match: str, **given: str | None) -> None:
    """Resume the suspended MATCH."""
    _with_clear_errors(lambda: maintenance.resume(_environ(given), match, _print))


@click.command(cls=Command)
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@_options_for("data_dir")
def dump(folder: Path, **given: str | None) -> None:
    """Add all public matches that ended since the last run to the dump in FOLDER. The service may be running.

    A run that was stopped or killed is continued. Exit 1 names each match that could not be read.
    """
    lower_priority()
    whole = _with_clear_errors(lambda: write_dump(_environ(given), folder, _print, _progress_bar))
    sys.exit(0 if whole else 1)


def _progress_bar(matches: Sequence[MatchId]) -> AbstractContextManager[Iterable[MatchId]]:
    if not sys.stderr.isatty():  # in a log, a bar would be a line that says nothing
        return nullcontext(matches)
    return click.progressbar(matches, label="matches", file=sys.stderr, show_pos=True)


def _print(text: str) -> None:
    click.echo(printable(text))


def _with_clear_errors(run: Callable[[], T]) -> T:
    """Print an error that an operator can fix as one sentence."""
    try:
        return run()
    except (BadSetting, running.CannotServe, connection.CannotOperate) as error:
        raise click.ClickException(str(error)) from error


COMMANDS: Final[Mapping[str, click.Command]] = {
    command.name or "": command
    for command in (serve, workers, api, backup, restore, list_erased, check, ratings, resume, dump)
}
