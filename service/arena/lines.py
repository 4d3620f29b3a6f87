"""The lines that the arena and the process of a bot exchange: JSON, one object a line, over the bot's stdin and stdout.

This protocol is public, so that a bot can be written in any language: HOSTING-A-BOT.md describes it.
The arena sends `Start` first, and the bot answers `Ready`. Then the bot answers each `Question` with one `Answer`.
"""

import hashlib
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

PROTOCOL: Final = 1


class Start(msgspec.Struct, frozen=True):
    """The first line to a bot. `limit_ms` is the time that it has for each answer."""

    game: str
    limit_ms: int
    protocol: int = PROTOCOL


class Ready(msgspec.Struct, frozen=True, omit_defaults=True):
    """The first line from a bot: it is ready, or an error says why it cannot play.

    `version` is any text that changes with the bot. A bot that gives none is recognized by its files.
    """

    ready: bool = False
    version: str = ""
    error: str | None = None


class Question(msgspec.Struct, frozen=True):
    """A line to a bot: the task in its JSON form, and 64 random hex digits, which are the same in a repeated run."""

    task: msgspec.Raw
    random: str


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line from a bot: an action in its JSON form (null to wait), or an error."""

    action: msgspec.Raw = msgspec.Raw()
    error: str | None = None


def described(error: BaseException) -> str:
    """The exception in one line, with the file and line that raised it: for the bot's author, who may see all of it."""
    steps = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(steps[-1].filename).name}:{steps[-1].lineno})" if steps else ""
    return f"{type(error).__name__}: {error}{where}".replace("\n", " ")


def version_of(files: Iterable[Path]) -> str:
    """A hash of what files contain, whatever their names: two copies of a bot have the same version."""
    contents = {content for file in files if (content := file.read_bytes())}
    hashes = sorted(hashlib.sha256(content).hexdigest() for content in contents)
    return hashlib.sha256("".join(hashes).encode()).hexdigest()
