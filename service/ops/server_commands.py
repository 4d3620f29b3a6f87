"""The commands on servers. Each calls what does the work; its options set what the environment may set too."""

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from service.observability.logfmt import log_to_stderr
from service.ops import maintenance
from service.ops import serve as running
from service.ops.arguments import Command, printable
from service.settings import FILES, PREFIX, VARIABLES, BadSetting, read, servers

T = TypeVar("T")
Function = TypeVar("Function", bound=Callable[..., None])

_VARIABLES: Final = {variable.setting: variable for variable in VARIABLES}


def _takes(*settings: str) -> Callable[[Function], Function]:
    """Options for some settings."""

    def decorate(command: Function) -> Function:
        for setting in reversed(settings):
            variable = _VARIABLES[setting]
            flag = f"--{setting.replace('_', '-')}"
            told = f"{variable.meaning}  [{variable.name}, else {variable.default}]"
            kind = click.Path(readable=False) if setting in FILES else None
            command = click.option(flag, help=told, type=kind)(command)
        return command

    return decorate


def _environ(given: dict[str, Any]) -> dict[str, str]:
    options = {PREFIX + setting.upper(): value for setting, value in given.items() if value is not None}
    return {**os.environ, **options}


@click.command(cls=Command)
@_takes("host", "port", "data_dir", "workers")
def serve(**given: str | None) -> None:
    """Run everything on this machine."""
    log_to_stderr()
    _report(lambda: running.serve(_environ(given), _tell))


@click.command(cls=Command)
@_takes("data_dir", "workers")
def workers(**given: str | None) -> None:
    """Run the workers alone."""
    log_to_stderr()
    _report(lambda: running.run_workers(_environ(given)))


@click.command(cls=Command)
@_takes("host", "port", "data_dir")
def api(**given: str | None) -> None:
    """Run the API alone."""
    environ = _environ(given)
    _report(lambda: servers(read(environ)))
    os.execve(sys.executable, [sys.executable, "-P", "-m", "api"], environ)  # noqa: S606  (our own interpreter and module)


@click.command(cls=Command)
@click.argument("target", type=click.Path(path_type=Path))
@_takes("data_dir")
def backup(target: Path, **given: str | None) -> None:
    """Write a backup to TARGET, a new file or a folder, while the service runs or not. It holds every secret."""
    _report(lambda: maintenance.backup(_environ(given), target, _tell))


@click.command(cls=Command)
@click.argument("source", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@_takes("data_dir")
def restore(source: Path, **given: str | None) -> None:
    """Fill an empty data folder, or the empty server of MOONSTONE_LOG_URL, from the backup SOURCE, and check it."""
    sys.exit(0 if _report(lambda: maintenance.restore(_environ(given), source, _tell)) else 1)


@click.command(cls=Command)
@_takes("data_dir")
def check(**given: str | None) -> None:
    """Fold every match, check its chain, and audit those that are over."""
    sys.exit(0 if _report(lambda: maintenance.check(_environ(given), _tell)) else 1)


@click.command(cls=Command)
@click.argument("match")
@_takes("data_dir")
def resume(match: str, **given: str | None) -> None:
    """Let the suspended MATCH go on."""
    _report(lambda: maintenance.resume(_environ(given), match, _tell))


def _tell(text: str) -> None:
    click.echo(printable(text))


def _report(run: Callable[[], T]) -> T:
    """Tell in one sentence what an operator can mend."""
    try:
        return run()
    except (BadSetting, running.CannotServe, maintenance.CannotOperate) as error:
        raise click.ClickException(str(error)) from error


COMMANDS: Final[Mapping[str, click.Command]] = {
    command.name or "": command for command in (serve, workers, api, backup, restore, check, resume)
}
