"""Tracebacks without exception messages, because a message may name a hidden card.

They are used for everything that is logged about an exception.
"""

import os
import traceback


def trace(error: BaseException | None) -> str:
    """As Python prints it, but without messages: the traceback of the exception, after those of its causes."""
    parts: dict[int, str] = {}
    while error is not None and id(error) not in parts:
        parts[id(error)] = "".join(traceback.format_tb(error.__traceback__)) + _kind(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return "\nThen:\n".join(reversed(parts.values()))


def _kind(error: BaseException) -> str:
    """The exception's class; for an OSError also the system's message for its errno."""
    name = type(error).__qualname__
    number = error.errno if isinstance(error, OSError) else None
    return name if number is None else f"{name} ({os.strerror(number)})"
