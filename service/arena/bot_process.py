"""The process of a bot that is a Python function: `python -P -m service.arena.bot_process PARENT MODULE:FUNCTION`.

PARENT is the id of the process that started this one. The process runs in the folder that the bot is imported from, and
exchanges the lines of `service.arena.lines`. What the bot itself prints goes to stderr.
"""

from service.adapters.uncollected import uncollected

with uncollected():
    import importlib
    import os
    import signal
    import sys
    import sysconfig
    import traceback
    from collections.abc import Callable, Iterable
    from pathlib import Path
    from types import ModuleType
    from typing import Any, Union

    import msgspec

    from service.arena.lines import Answer, Question, Ready, Start, described, version_of
    from service.arena.parent import end_with_parent
    from service.games.protocol import AnyGame, Bot, Task
    from service.games.registry import GAMES
    from service.match.randomness import Draws


class NoFunction(Exception):
    """The name of a bot leads to no function; the message says what is missing."""


def main() -> None:
    parent, name = sys.argv[1:]
    end_with_parent(int(parent), lambda: os.killpg(0, signal.SIGKILL))  # and what the bot has started
    with os.fdopen(os.dup(0), "rb") as lines, os.fdopen(os.dup(1), "wb", buffering=0) as answers:
        with open(os.devnull, "rb") as nothing:  # noqa: PTH123  (its descriptor takes the place of stdin)
            os.dup2(nothing.fileno(), 0)
        os.dup2(2, 1)
        start = msgspec.json.decode(lines.readline(), type=Start)
        before = set(sys.modules)
        try:
            bot = load(name)
        except NoFunction as error:
            answers.write(_line(Ready(error=str(error))))
            return
        except BaseException as error:  # noqa: BLE001  (importing a module may raise anything)
            answers.write(_line(Ready(error=described(error))))
            return
        module = sys.modules[name.partition(":")[0]]
        imported = {sys.modules[other] for other in set(sys.modules) - before if other in sys.modules}
        answers.write(_line(Ready(ready=True, version=version_of(files(module, imported)))))
        task = decoder(GAMES[start.game])
        for line in lines:
            answers.write(_line(_answer(bot, task, msgspec.json.decode(line, type=Question))))


def load(name: str) -> Bot[Any, Any]:
    """Import `module:function` from the current folder, or from what is installed.

    Raises:
        NoFunction: there is no such module, or no such function in it.
    """
    sys.path.insert(0, str(Path.cwd()))
    module, _, function = name.partition(":")
    try:
        imported = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise  # the bot's own import
        raise NoFunction(f"{error} in {Path.cwd()}") from None
    bot: Bot[Any, Any] | None = getattr(imported, function, None)
    if not callable(bot):
        raise NoFunction(f"{function} is not a function of {module}")
    return bot


def files(bot: ModuleType, imported: Iterable[ModuleType]) -> set[Path]:
    """The file of a bot's module, and those that it imported from the current folder, without installed packages."""
    installed = {Path(sysconfig.get_path(kind)) for kind in ("purelib", "platlib", "stdlib", "platstdlib")}
    beside = {
        file
        for module in imported
        if (file := Path(getattr(module, "__file__", None) or "/")).is_relative_to(Path.cwd())
        and not any(file.is_relative_to(folder) for folder in installed)
    }
    return {file for file in {Path(str(bot.__file__)), *beside} if file.is_file()}


def decoder(game: AnyGame) -> Callable[[msgspec.Raw], Task[Any, Any]]:
    """Decodes tasks of a game from their JSON form, with the types that built-in bots get."""
    action: Any = Union[game.info.actions]  # noqa: UP007  (built at run time)
    task: Any = Task[action, game.info.observation]  # type: ignore[name-defined]  # a type made at run time
    return msgspec.json.Decoder(task).decode


def _answer(bot: Bot[Any, Any], task: Callable[[msgspec.Raw], Task[Any, Any]], question: Question) -> Answer:
    key = bytes.fromhex(question.random)
    try:
        action = bot(task(question.task), Draws(lambda: key, {}))
        encoded = msgspec.json.encode(action)
        if encoded == b"null" and action is not None:  # what JSON makes of NaN must not mean to wait
            return Answer(error=f"{action!r} is no action")
        return Answer(action=msgspec.Raw(encoded))
    except Exception as error:  # noqa: BLE001  (a bot may raise anything)
        traceback.print_exc()
        return Answer(error=described(error))


def _line(line: Ready | Answer) -> bytes:
    return msgspec.json.encode(line) + b"\n"


if __name__ == "__main__":
    main()
