"""The entries of a contest: how `--bots` names a bot, and the process that answers for it.

`greedy`               a built-in bot, which plays in the process of a job because it is code of the service
`module:function`      a function in Python, imported from the current folder, in a process of its own
`DIR/module:function`  the same, imported from the folder DIR: its process runs in this folder
`node bot/arena.mjs`   a command, in any language; a name with a space or a slash is one
`https://HOST/bot`     the address of a bot that is called for each decision; `http://` on this machine
"""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from service.arena.lines import version_of
from service.games.protocol import AnyGame
from service.repository.outgoing import url_fault

_URL: Final = re.compile("https?://", re.IGNORECASE)
_FUNCTION: Final = re.compile(r"(?:(?P<folder>.*)/)?(?P<module>[^/:\s]+):(?P<function>[^\W\d]\w*)")


class Function(NamedTuple):
    """A function of a module. `folder` is None for the current one."""

    folder: str | None
    module: str
    function: str


class Command(NamedTuple):
    """A program and its arguments."""

    words: tuple[str, ...]


class Address(NamedTuple):
    """The URL of a bot that is called."""

    url: str


Hosted: TypeAlias = Function | Command
"""What plays in a process of its own."""


class BadEntry(ValueError):
    """The name of an entry is not usable; the message says why."""


def entry_of(name: str) -> Hosted | Address | None:
    """What a name says; None for the name of a built-in bot.

    Raises:
        BadEntry: it is a URL that may not be called, or a command whose quotes do not fit or whose program is not there.
    """
    if is_url(name):
        if fault := url_fault(name, loopback=True):
            raise BadEntry(
                f"{shown_url(name)}: the URL {fault}. A bot on this machine may have http://127.0.0.1:8000/."
            )
        return Address(name)
    if match := _FUNCTION.fullmatch(name):
        folder = match["folder"]
        if folder is not None and not Path(folder or "/").is_dir():
            raise BadEntry(f"{name}: there is no folder {folder}.")
        return Function(None if folder is None else folder or "/", match["module"], match["function"])
    if not re.search(r"[\s/]", name):
        return None
    try:
        words = tuple(shlex.split(name))
    except ValueError as error:
        raise BadEntry(f"{name}: the quotes of this command do not fit: {error}.") from None
    if not words or shutil.which(words[0]) is None:
        raise BadEntry(f"{name}: there is no program {words[0] if words else ''!r} that can be started.")
    return Command(words)


def is_url(name: str) -> bool:
    """Whether a name is meant as the URL of a bot that is called."""
    return _URL.match(name) is not None


def shown_url(url: str) -> str:
    """A URL as it may be shown and stored: without its query, a fragment or a user name, because they may hold a key."""
    url = re.sub(r"(?<=//)[^/?#]*@", "…@", url, count=1)
    return re.sub(r"[?#].+", "?…", url, count=1, flags=re.DOTALL)


def shown_names(names: Sequence[str]) -> Mapping[str, str]:
    """What is shown and stored of each name: of a URL the part that holds no key. Different names stay different."""
    shown: dict[str, str] = {}
    for name in dict.fromkeys(names):
        kept = shown_url(name) if is_url(name) else name
        numbered = (kept if number == 1 else f"{kept}{number}" for number in count(1))
        shown[name] = next(one for one in numbered if one not in shown.values())
    return shown


def process_words(hosted: Hosted) -> Sequence[str]:
    """The command that starts the process of an entry. Both kinds end after this process has ended."""
    parent = str(os.getpid())
    if isinstance(hosted, Command):
        return (sys.executable, "-P", "-m", "service.arena.parent", parent, *hosted.words)
    name = f"{hosted.module}:{hosted.function}"
    return (sys.executable, "-P", "-m", "service.arena.bot_process", parent, name)


def version_of_command(command: Command) -> str:
    """The version of the files that a command names, and of all files beside them with the same ending."""
    named = [Path(word) for word in command.words if Path(word).is_file()]
    beside = (other for file in named if file.suffix for other in file.parent.glob(f"*{file.suffix}"))
    return version_of(file for file in {*named, *beside} if file.is_file())


def version_of_game(game: AnyGame) -> str:
    """The version of a game's rules and built-in bots."""
    folder = Path(str(sys.modules[game.state.__module__].__file__)).parent
    return version_of(folder.glob("*.py"))


def same_bots(names: Sequence[str], versions: Sequence[str]) -> Sequence[tuple[str, str]]:
    """The pairs of different names that are the same bot: the same function of the same files, or the same command.

    Two commands are the same if they are alike except for the folders of their files, and these have the same contents.
    """
    found: list[tuple[str, str]] = []
    first: dict[tuple[str, ...], str] = {}
    for name, version in zip(names, versions, strict=True):
        known = None if is_url(name) else entry_of(name)
        if known is None or isinstance(known, Address):
            continue
        words = (known.function,) if isinstance(known, Function) else known.words
        contents = tuple(version_of([Path(word)]) if Path(word).is_file() else word for word in words)
        if (other := first.setdefault((version, *contents), name)) != name:
            found.append((other, name))
    return found
