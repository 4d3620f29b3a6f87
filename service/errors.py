"""The exceptions of the service.

Refused                     a rejected command or query; its code is stable and public
└── (service.games)         IllegalAction and BadOptions of the rules are converted to Refused by their caller
NotDue                      a command of the service itself is not due (any longer); clients never see it
Corrupt                     a stored match breaks its hash chain or cannot be folded; only this match stops
"""

import traceback
from collections.abc import Mapping


class Refused(Exception):
    """A rejection with a stable code (each has a problem page), a sentence for people, and public facts.

    The sentence may be given by language; `detail` is then the English one. The fact `parameter` names the part of the
    request that is at fault, or the path to it. `str()` gives only the code: the sentence is for the caller and must not
    be logged.
    """

    def __init__(self, code: str, detail: str | Mapping[str, str], **facts: object) -> None:
        self.details: Mapping[str, str] = {} if isinstance(detail, str) else detail
        self.detail = detail if isinstance(detail, str) else detail["en"]
        super().__init__(code)
        self.code = code
        self.facts: Mapping[str, object] = facts


def no_match() -> Refused:
    """Missing and inaccessible matches give the same 404, so that nobody can find out whether a private match exists."""
    return Refused(
        "match-not-found",
        "No match has this id, or it is private: only its players can see it, and taking a seat needs its join_code.",
    )


class NotDue(Exception):
    """A command of the service that is not due in the match at this time: from an outdated due entry, or a forged event."""


class Corrupt(Exception):
    """A stored event that breaks its chain or does not fit its type, with its version.

    `fault` contains none of the event's data.
    """

    def __init__(self, version: int, fault: str) -> None:
        super().__init__(f"version {version}: {fault}")
        self.version = version
        self.fault = fault


def location(error: BaseException) -> str:
    """One line with the exception's class, and the module, line and function that raised it.

    It contains no message, because that may name a hidden card.
    """
    kind = type(error).__qualname__
    steps = list(traceback.walk_tb(error.__traceback__))
    if not steps:
        return kind
    frame, line = steps[-1]
    return f"{kind} at {frame.f_globals.get('__name__', '?')}:{line} in {frame.f_code.co_name}"
