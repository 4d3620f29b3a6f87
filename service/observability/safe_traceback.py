"""Where something failed, never with what: the text of an exception may name a card that nobody may know of.

What is logged of an exception, and what is told of a stored event that cannot be folded, is written here.
"""

import os
import traceback


def place(error: BaseException) -> str:
    """In one line: the exception's class, and the module, line and function that raised it."""
    steps = list(traceback.walk_tb(error.__traceback__))
    if not steps:
        return _kind(error)
    frame, line = steps[-1]
    return f"{_kind(error)} at {frame.f_globals.get('__name__', '?')}:{line} in {frame.f_code.co_name}"


def trace(error: BaseException | None) -> str:
    """As Python tells it, without messages: every step to the exception, after those to the one that led to it."""
    told: dict[int, str] = {}
    while error is not None and id(error) not in told:
        told[id(error)] = "".join(traceback.format_tb(error.__traceback__)) + _kind(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return "\nThen:\n".join(reversed(told.values()))


def _kind(error: BaseException) -> str:
    """The class; of a fault of the operating system also which, in the system's words."""
    name = type(error).__qualname__
    number = error.errno if isinstance(error, OSError) else None
    return name if number is None else f"{name} ({os.strerror(number)})"
