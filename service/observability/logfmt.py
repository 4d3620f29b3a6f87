"""Log lines of every process: logfmt on stderr, one record a line, so that any collector can read them.

Nothing secret is put into a record. What a library might put there all the same, a token or the password in a URL, is
left out of the line, and so is the text of every exception.
"""

import json
import logging
import os
import re
import sys
import threading
import time
from collections.abc import Mapping
from functools import lru_cache
from types import TracebackType
from typing import Final, TextIO

from service.observability.safe_traceback import trace

_PLAIN: Final = re.compile(r"[\w./:<>{}+*@,;()\[\]-]+", re.ASCII)
_SECRETS: Final = (
    ("moon_", re.compile(r"moon_[0-9A-Za-z]{8,}"), "moon_***"),
    ("tick_", re.compile(r"tick_[0-9A-Za-z]{8,}"), "tick_***"),
    ("://", re.compile(r"(\w://)[^/@\s\"]*@"), r"\1***@"),
)
"""How a secret looks and what is left of it; no text without the words before needs to be searched for it."""

_log = logging.getLogger("moonstone")


class Logfmt(logging.Formatter):
    """`at=… level=… logger=… pid=… message=…`, then what the record has as `fields`, then its traceback as `error`."""

    def format(self, record: logging.LogRecord) -> str:
        at = f"at={_second(int(record.created))}.{int(record.msecs):03d}Z"
        told = [at, _source(record.levelname, record.name, record.process), f"message={_written(record.getMessage())}"]
        told += [f"{name}={_written(str(value))}" for name, value in getattr(record, "fields", {}).items()]
        if record.exc_info:
            told.append(f"error={_written(trace(record.exc_info[1]))}")
        return masked(" ".join(told))


@lru_cache(maxsize=1)
def _second(since_epoch: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(since_epoch))


@lru_cache(maxsize=64)
def _source(level: str, logger: str, process: int | None) -> str:
    return f"level={level.lower()} logger={_written(logger)} pid={process}"


def _written(value: str) -> str:
    return value if _PLAIN.fullmatch(value) else json.dumps(value)


def masked(text: str) -> str:
    """A text without what looks like a token or a ticket, or like the password in a URL."""
    for sign, secret, left in _SECRETS:
        if sign in text:
            text = secret.sub(left, text)
    return text


_BLANK: Final = logging.makeLogRecord({}).__dict__


class Line(logging.LogRecord):
    """A record of what a line tells and of no more: to find out the rest costs as much as to write it."""

    def __init__(self, logger: str, level: int, message: str, fields: Mapping[str, object]) -> None:
        now = time.time()  # noqa: TID251  # as all other records have it
        self.__dict__.update(
            _BLANK,
            name=logger,
            levelno=level,
            levelname=logging.getLevelName(level),
            msg=message,
            created=now,
            msecs=now % 1 * 1000,
            process=os.getpid(),
            fields=fields,
        )


class Lines(logging.StreamHandler[TextIO]):
    """Writes records to stderr, which Python flushes at the end of each line by itself."""

    def flush(self) -> None:
        pass


def log_to_stderr() -> None:
    """Let this process write its records, and all that Python itself would print of a fault, in this form."""
    # What no line tells is not found out for each record either, as the logging HOWTO has it.
    logging._srcfile = None  # noqa: SLF001
    logging.logThreads = logging.logMultiprocessing = False
    handler = Lines()
    handler.setFormatter(Logfmt())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    logging.captureWarnings(capture=True)
    # RQ tells several lines about every job; what goes wrong is told by the worker itself.
    logging.getLogger("rq").setLevel(logging.WARNING)
    sys.excepthook = _uncaught
    threading.excepthook = _uncaught_in_thread
    sys.unraisablehook = _unraisable


def _uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        _log.warning("interrupted")
    else:
        _log.critical("the process ends by a fault", exc_info=(kind, error, trace))


def _uncaught_in_thread(fault: threading.ExceptHookArgs) -> None:
    if fault.exc_value is not None:
        name = fault.thread.name if fault.thread else "?"
        _log.critical(
            "thread %s ends by a fault", name, exc_info=(fault.exc_type, fault.exc_value, fault.exc_traceback)
        )


def _unraisable(fault: "sys.UnraisableHookArgs") -> None:
    if fault.exc_value is not None:
        kind = type(fault.exc_value)
        _log.error("a fault that nobody could be told of", exc_info=(kind, fault.exc_value, fault.exc_traceback))
