"""Commands that report a wrong argument, or a problem with a file that an argument names, in one sentence."""

import re
from collections.abc import Mapping
from typing import Any, Final

import click
import msgspec

from service.errors import Refused
from service.games.protocol import AnyGame
from service.games.visibility import Viewer
from service.match.characters import printable
from service.match.model import Match
from service.settings import is_text

_SEED: Final = re.compile(r"[0-9a-f]{64}")


class Command(click.Command):
    """Rejects arguments that are not UTF-8, except paths of files."""

    def invoke(self, ctx: click.Context) -> object:
        for parameter in self.get_params(ctx):
            given = ctx.params.get(parameter.name or "")
            words = given if isinstance(given, tuple) else (given,)
            if not isinstance(parameter.type, click.Path) and any(isinstance(w, str) and not is_text(w) for w in words):
                raise click.BadParameter("This is not text in UTF-8.", ctx, parameter)
        return super().invoke(ctx)


class LocalCommand(Command):
    """A command that only reads and writes files; reports an OSError with the file's name."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # the reader of the output has ended, which is no error
            raise
        except OSError as error:
            name = f"{printable(str(error.filename))}: " if error.filename is not None else ""
            raise click.ClickException(f"{name}{error.strerror or error}") from error


def options_of(given: tuple[str, ...]) -> Mapping[str, Any]:
    """The options of a game from NAME=VALUE; a value is JSON or else text."""
    found: dict[str, Any] = {}
    for option in given:
        name, equals, value = option.partition("=")
        if not equals or name in found:
            raise click.UsageError(f"--option {option}: give each option once, as NAME=VALUE.")
        try:
            found[name] = msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError):
            found[name] = value
    return found


def seed_of(seed: str | None) -> bytes | None:
    if seed is None:
        return None
    if not _SEED.fullmatch(seed):
        raise click.UsageError("--seed: a seed is 64 hex digits, in lower case.")
    return bytes.fromhex(seed)


def advice(refusal: Refused, rules: AnyGame, seats: int) -> str:
    """A sentence with the values that would be valid; empty if the refusal itself names them."""
    if refusal.code == "bot-not-found":
        return ""
    if refusal.facts.get("parameter") == "seats":
        return "--bots names one bot for each seat."
    defaults = msgspec.to_builtins(rules.options(seats, {}))
    options = ", ".join(f"{name}={msgspec.json.encode(value).decode()}" for name, value in defaults.items())
    return f"The options with their defaults: {options}." if options else "It has no options."


def viewer_of(seat: str | None, match: Match) -> Viewer:
    """The viewer that `--seat` names: a seat of the match, or a spectator."""
    if seat is None or seat == "spectator":
        return None
    seats = [str(number) for number in range(len(match.seats))]
    if seat not in seats:
        raise click.UsageError(f"--seat {seat}: the viewer is a seat from 0 to {seats[-1]}, or spectator.")
    return seats.index(seat)


def write_file(file: str, *parts: bytes) -> None:
    """Write a file that an option names; `-` is the standard output."""
    try:
        with click.open_file(file, "wb") as opened:
            opened.writelines(parts)
    except OSError as error:
        error.filename = file  # if the disk is full, the system's error does not name the file
        raise
