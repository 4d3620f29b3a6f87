"""The process of one bot: `python -P -m service.arena.bot_process FD PARENT GAME MODULE:FUNCTION`.

FD is a socket, and PARENT the id of the process that started this one.
It sends a line when the bot is imported, and then a line for each line that it gets. What the bot itself prints goes to
stdout and stderr as usual.
"""

import importlib
import os
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Union

import msgspec

from service.arena.hosted import Answer, Question
from service.games.protocol import AnyGame, Bot, Task
from service.games.registry import GAMES
from service.match.randomness import Draws

_PARENT_POLL_S: Final = 1.0


def main() -> None:
    descriptor, parent, game, name = sys.argv[1:]
    threading.Thread(target=_end_with, args=(int(parent),), daemon=True).start()
    with socket.socket(fileno=int(descriptor)) as connection, connection.makefile("rb") as questions:
        try:
            bot = load(name)
        except BaseException as error:  # noqa: BLE001  (importing a module may raise anything)
            connection.sendall(_line(Answer(error=described(error))))
            return
        connection.sendall(_line(Answer()))
        task = decoder(GAMES[game])
        for line in questions:
            connection.sendall(_line(_answer(bot, task, msgspec.json.decode(line, type=Question))))


def load(name: str) -> Bot[Any, Any]:
    """Import `module:function` from the current folder, or from what is installed.

    Raises:
        TypeError: it is no function.
    """
    sys.path.insert(0, "")
    module, _, function = name.partition(":")
    bot: Bot[Any, Any] = getattr(importlib.import_module(module), function)
    if not callable(bot):
        raise TypeError(f"{name} is not a function")
    return bot


def decoder(game: AnyGame) -> Callable[[msgspec.Raw], Task[Any, Any]]:
    """Decodes tasks of a game from their JSON form, with the types that built-in bots get."""
    action: Any = Union[game.info.actions]  # noqa: UP007  (built at run time)
    task: Any = Task[action, game.info.observation]  # type: ignore[name-defined]  # a type made at run time
    return msgspec.json.Decoder(task).decode


def _answer(bot: Bot[Any, Any], task: Callable[[msgspec.Raw], Task[Any, Any]], question: Question) -> Answer:
    key = bytes.fromhex(question.key)
    try:
        return Answer(action=msgspec.Raw(msgspec.json.encode(bot(task(question.task), Draws(lambda: key, {})))))
    except Exception as error:  # noqa: BLE001  (a bot may raise anything)
        traceback.print_exc()
        return Answer(error=described(error))


def described(error: BaseException) -> str:
    """The exception in one line, with the file and line that raised it: for the bot's author, who may see all of it."""
    steps = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(steps[-1].filename).name}:{steps[-1].lineno})" if steps else ""
    return f"{type(error).__name__}: {error}{where}".replace("\n", " ")


def _line(answer: Answer) -> bytes:
    return msgspec.json.encode(answer) + b"\n"


def _end_with(parent: int) -> None:
    """End this process when its parent has ended, even before this process began, and while the bot computes without end."""
    while os.getppid() == parent:
        time.sleep(_PARENT_POLL_S)
    os._exit(1)


if __name__ == "__main__":
    main()
