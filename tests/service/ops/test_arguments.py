"""Arguments that are not UTF-8, for every command."""

from pathlib import Path
from typing import Final

import click
import pytest
from click.testing import CliRunner

from service.ops import server_commands
from service.ops.arena_command import arena
from service.ops.cli import main
from service.ops.new_bot import bot
from service.ops.server_commands import COMMANDS

NOT_UTF_8 = "\udcff"

ALL: Final = {**main.commands, **COMMANDS, "arena": arena, **{f"bot {name}": one for name, one in bot.commands.items()}}


def arguments_of(command: click.Command, wrong: str, file: Path) -> list[str]:
    """Valid arguments of a command, except bytes that are not UTF-8 for one parameter."""
    words: list[str] = []
    for parameter in command.params:
        if parameter.name != wrong and not parameter.required:
            continue
        value = NOT_UTF_8 if parameter.name == wrong else str(file)
        words += [value] if isinstance(parameter, click.Argument) else [parameter.opts[0], value]
    return words


TEXTS = [
    (name, parameter.name or "")
    for name, command in ALL.items()
    for parameter in command.params
    if isinstance(parameter.type, click.types.StringParamType)
]


@pytest.mark.parametrize(("name", "wrong"), TEXTS)
def test_arguments_that_are_not_utf_8_are_reported(tmp_path: Path, name: str, wrong: str) -> None:
    file = tmp_path / "file"
    file.touch()
    done = CliRunner().invoke(main, [*name.split(), *arguments_of(ALL[name], wrong, file)])
    assert done.exit_code == 2, done.exception
    assert done.output.endswith("This is not text in UTF-8.\n")


def test_every_command_has_a_parameter_in_these_cases() -> None:
    assert {name for name, _ in TEXTS} == set(ALL) - {
        "backup",
        "restore",
        "check",
        "bot",
        "bot new",
        "bot task",
        "dump",
        "dataset",
        "erased",
        "ratings",
    }  # these have no parameters, or only files, numbers and choices


def test_a_file_may_have_any_name(tmp_path: Path) -> None:
    file = tmp_path / NOT_UTF_8
    played = CliRunner().invoke(main, ["play", "ape_town", "--bots", "random,random", "--export", str(file)])
    assert played.exit_code == 0, played.exception
    assert CliRunner().invoke(main, ["verify", str(file)]).exit_code == 0
    done = CliRunner().invoke(main, ["check", "--data-dir", str(file)])
    assert (done.exit_code, "there is no log in" in done.output) == (1, True)


def test_messages_about_a_file_can_be_printed() -> None:
    @click.command
    def print_a_file_name() -> None:
        server_commands._print(f"backed up to {NOT_UTF_8}\n")

    assert CliRunner().invoke(print_a_file_name).output == "backed up to \ufffd\ufffd\n"


def test_a_file_that_cannot_be_read_is_reported() -> None:
    done = CliRunner().invoke(main, ["verify", "/proc/self/mem"])
    assert (done.exit_code, done.output) == (1, "Error: Input/output error\n")
