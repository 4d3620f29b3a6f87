"""The verdict of a check."""

from typing import Literal, TypeAlias

import msgspec

Outcome: TypeAlias = Literal["ok", "fault", "skipped"]


class Verdict(msgspec.Struct, frozen=True):
    """The result of a check. `check` is its stable name; `text` says what was found, and with a fault what would be right."""

    check: str
    outcome: Outcome
    text: str


def fine(check: str, text: str) -> Verdict:
    return Verdict(check, "ok", text)


def faulty(check: str, text: str) -> Verdict:
    return Verdict(check, "fault", text)
