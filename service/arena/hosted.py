"""A bot in a process of its own: code of somebody else, in Python or in any other language.

The process gets tasks as JSON over its stdin, and answers over its stdout. It never sees a state or a seed.
"""

import os
import select
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, Any, Final, TypeVar, Union, cast

import msgspec

from service.arena import entries
from service.arena.deals import UNREADABLE
from service.arena.lines import Answer, Question, Ready, Start
from service.arena.play import Failed
from service.games.protocol import AnyGame, Task
from service.match.characters import printable

START_TIMEOUT_S: Final = 60.0
"""How long the process may take until it is ready. Large libraries take seconds to import."""
MAX_ANSWER_BYTES: Final = 1 << 20
MAX_DETAIL: Final = 200
"""The most characters of a failure's description."""
MAX_SHOWN_BYTES: Final = 100
"""How much of an answer that cannot be read is shown."""
_END_TIMEOUT_S: Final = 0.2
"""How long a process may take to end by itself after its stdin is closed."""

_Line = TypeVar("_Line", Ready, Answer)


class CannotStart(Exception):
    """A bot cannot be loaded; the message says why."""


class Changed(Exception):
    """A bot has another version than at the begin of the run; the message says so."""


class Hosted:
    """A bot in a process of its own. If the process ended, or had to be ended, the next match begins with another one.

    version: the one that it must have; it may have any if this is None.
    """

    def __init__(self, game: AnyGame, name: str, limit_s: float, log: str | None, version: str | None = None) -> None:
        self._start_line = Start(game.info.id, round(1000 * limit_s))
        self._name = name
        self._limit_s = limit_s
        self._log = log
        self.version = version
        self._process: _Process | None = None
        action: Any = Union[game.info.actions]  # noqa: UP007  (built at run time)
        self._action: Callable[[msgspec.Raw], Any] = msgspec.json.Decoder(action | None).decode

    def begin(self) -> None:
        """Be ready for a match, before time is measured.

        Raises:
            Changed: the bot's files changed during the run.
        """
        if self._process is None:
            with suppress(CannotStart):  # then it has no answer, which is counted
                self.start()

    def start(self) -> None:
        """Start the process, and wait until it is ready. Then `version` is known.

        Raises:
            CannotStart: it could not.
            Changed: the bot has another version than it must have.
        """
        try:
            entry = entries.entry_of(self._name)
            if entry is None or isinstance(entry, entries.Address):
                raise CannotStart(f"{self._name} is neither a function nor a command.")
            process = _Process(entry, self._log)
        except entries.BadEntry as error:
            raise CannotStart(str(error)) from None
        except OSError as error:
            raise CannotStart(f"{self._name} gets no process: {error.strerror}.") from None
        with ExitStack() as on_failure:
            on_failure.callback(process.end)
            version = self._version(entry, self._ready(process))
            if self.version not in {None, version}:
                raise Changed(
                    f"{self._name} has changed since the run began. Start a new run to measure the new version."
                )
            on_failure.pop_all()
        self.version = version
        self._process = process

    def _ready(self, process: "_Process") -> Ready:
        until = time.monotonic() + START_TIMEOUT_S
        cannot = f"{self._name} cannot be used"
        try:
            process.ask(self._start_line, until)
            ready = process.answer(Ready, until)
        except TimeoutError:
            raise CannotStart(f"{self._name} was not ready within {START_TIMEOUT_S:g} s.") from None
        except UNREADABLE as error:
            raise CannotStart(
                f'{cannot}: its first line must be {{"ready": true}}, and nothing else may be on stdout: {one_line(error)}.'
            ) from None
        except OSError:
            where = "--bot-log FILE keeps what it prints" if self._log is None else "see the file of --bot-log"
            raise CannotStart(
                f"{cannot}: its process ended with status {process.end()} before it was ready; {where}."
            ) from None
        if ready.error is not None:
            raise CannotStart(f"{cannot}: {one_line(ready.error)}.")
        if not ready.ready:
            raise CannotStart(f'{cannot}: its first line must be {{"ready": true}}.')
        return ready

    def _version(self, entry: entries.Hosted, ready: Ready) -> str:
        if ready.version or isinstance(entry, entries.Function):
            return printable(ready.version[:MAX_DETAIL])
        return entries.version_of_command(entry)

    def answer(self, task: Task[Any, Any], key: Callable[[], bytes]) -> Any:
        """As `service.arena.play.Player`."""
        process = self._process
        if process is None:
            raise Failed("crash", "its process cannot be started again")
        question = Question(msgspec.Raw(msgspec.json.encode(task)), key().hex())
        until = time.monotonic() + self._limit_s
        try:
            process.ask(question, until)
            answer = process.answer(Answer, until)
        except UNREADABLE as error:
            self.close()
            raise Failed("nonsense", one_line(error)) from None
        except TimeoutError:
            self.close()
            raise Failed("timeout", f"no answer within {1000 * self._limit_s:g} ms") from None
        except OSError:
            self._process = None
            raise Failed("crash", f"its process ended with status {process.end()}") from None
        if answer.error is not None:
            raise Failed("crash", one_line(answer.error))
        if not bytes(answer.action):
            raise Failed("nonsense", "its answer has no action")
        try:
            return self._action(answer.action)
        except UNREADABLE as error:
            detail = (
                f"no action of this game: {error}: {bytes(answer.action)[:MAX_SHOWN_BYTES].decode(errors='replace')}"
            )
            raise Failed("nonsense", one_line(detail)) from None

    def close(self) -> None:
        """End the process, if there is one."""
        if self._process is not None:
            self._process.end()
            self._process = None


class _Process:
    """A process that has been started, and our ends of its stdin and stdout. Times are monotonic, in seconds."""

    def __init__(self, entry: entries.Hosted, log: str | None) -> None:
        with Path(log or os.devnull).open("ab") as output:
            self._process = subprocess.Popen(  # noqa: S603  (the user's own program)
                entries.process_words(entry),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                bufsize=0,
                cwd=entry.folder if isinstance(entry, entries.Function) else None,
                env={**os.environ, "PYTHONHASHSEED": "0", "PYTHONUNBUFFERED": "1"},
                start_new_session=True,
            )
        self._stdin, self._stdout = cast(IO[bytes], self._process.stdin), cast(IO[bytes], self._process.stdout)
        os.set_blocking(self._stdin.fileno(), False)
        self._received = b""

    def ask(self, question: Start | Question, until: float) -> None:
        """Send a line.

        Raises:
            TimeoutError: the process did not read it in time.
            OSError: the process has ended.
            UNREADABLE: there is a line from the process that nobody asked for.
        """
        unasked = bool(self._received) or (select.select([self._stdout], [], [], 0)[0] and self._receive())
        if unasked and not isinstance(question, Start):  # a program may be ready before it reads the first line
            raise msgspec.DecodeError("it wrote more than one line for an answer")
        line = msgspec.json.encode(question) + b"\n"
        while line:
            if not select.select([], [self._stdin], [], _left(until))[1]:
                raise TimeoutError
            line = line[os.write(self._stdin.fileno(), line) :]

    def answer(self, kind: type[_Line], until: float) -> _Line:
        """The next line.

        Raises:
            TimeoutError: it did not come in time.
            OSError: the process has ended.
            UNREADABLE: it is no line of this protocol.
        """
        while not self._received.endswith(b"\n"):
            if not select.select([self._stdout], [], [], _left(until))[0]:
                raise TimeoutError
            if not self._receive():
                raise ConnectionResetError
            if len(self._received) > MAX_ANSWER_BYTES:
                raise msgspec.DecodeError(f"an answer has at most {MAX_ANSWER_BYTES} bytes")
        line, self._received = self._received, b""
        try:
            return msgspec.json.decode(line, type=kind)
        except UNREADABLE as error:
            start = line[:MAX_SHOWN_BYTES].decode(errors="replace")
            raise msgspec.DecodeError(f"{error}, in the line on its stdout that begins: {start}") from None

    def _receive(self) -> bool:
        """Read what has arrived; False if the process has closed its stdout."""
        part = os.read(self._stdout.fileno(), 1 << 16)
        self._received += part
        return bool(part)

    def end(self) -> int:
        """End the process and those that it started; returns its exit status, which is negative for a signal."""
        self._stdin.close()
        self._stdout.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_TIMEOUT_S)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        return self._process.wait()


def one_line(found: object) -> str:
    """What a bot said, or what is wrong with it, in one line for a terminal: a stack trace has many lines."""
    return printable(" ".join(str(found).split())[:MAX_DETAIL])


def _left(until: float) -> float:
    """The seconds until a time; 0 if it has passed."""
    return max(until - time.monotonic(), 0.0)
