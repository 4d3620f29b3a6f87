"""What the service says no to.

Refused                     a command or a question that cannot be answered; its code is stable and public
└── (service.games) IllegalAction and BadOptions become Refused at the use case that called the rules
NotDue                      the service's own command has nothing to do any more; no client sees it
Corrupt                     a stored match breaks its own chain or cannot be folded; that match stops, others go on
"""

from collections.abc import Mapping


class Refused(Exception):
    """A refusal with a stable code (each has a problem page), a sentence for people, and public facts.

    The sentence may be given by language; `detail` is then the English one. The fact `parameter` names the part of what was
    asked that is at fault, or the steps that lead to it. As text it is its code alone: the sentence is for the one who asked,
    and for no log.
    """

    def __init__(self, code: str, detail: str | Mapping[str, str], **facts: object) -> None:
        self.details: Mapping[str, str] = {} if isinstance(detail, str) else detail
        self.detail = detail if isinstance(detail, str) else detail["en"]
        super().__init__(code)
        self.code = code
        self.facts: Mapping[str, object] = facts


def no_match() -> Refused:
    """What a stranger is told of a private match, and everyone of none: the same words, so that nobody can tell."""
    return Refused(
        "match-not-found",
        "There is no such match, or it is a private one: its join_code gives a seat, and only its players look on.",
    )


class NotDue(Exception):
    """The service asked for something that a match does not owe at this time: a stale due entry, or a forged event."""


class Corrupt(Exception):
    """A stored event that is not what its chain or its types say, with the version where it was found.

    `fault` holds nothing of the event's data.
    """

    def __init__(self, version: int, fault: str) -> None:
        super().__init__(f"version {version}: {fault}")
        self.version = version
        self.fault = fault
