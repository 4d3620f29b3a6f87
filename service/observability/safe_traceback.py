"""Tracebacks without exception messages, because a message may name a hidden card.

They are used for everything that is logged about an exception, and for reports of stored events that cannot be folded.
"""

import os
import traceback


def location(error: BaseException) -> str:
    """One line with the exception's class, and the module, line and function that raised it."""
    steps = list(traceback.walk_tb(error.__traceback__))
    if not steps:
        return _kind(error)
    frame, line = steps[-1]
    return f"{_kind(error)} at {frame.f_globals.get('__name__', '?')}:{line} in {frame.f_code.co_name}"


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
