"""Hints for a 404. They depend only on the form of the path, so they do not reveal which resources exist."""

import re
from typing import Final

_UNFILLED: Final = re.compile(
    r"undefined|null|none|nan|\[object object\]|\$?\{.*\}|<.*>|:[a-z_]+|\$[a-z_]+|%[a-z_]*", re.IGNORECASE
)
"""Placeholders that programs leave in a path if they did not fill a variable in."""
_LONGEST_QUOTE: Final = 40
"""Maximum number of characters that a hint quotes."""


def hint(path: str) -> str | None:
    """What may be wrong with a decoded path that has no resource; None if its form is valid."""
    _, *parts = path.split("/")
    if "" in parts[:-1]:
        return "Two slashes follow each other: an id is empty, or one slash is too many."
    if len(parts) > 1 and parts[-1] == "":
        return "Leave out the slash at the end."
    for part in parts:
        if _UNFILLED.fullmatch(part):
            return f"{part[:_LONGEST_QUOTE]} is not an id: the client did not fill a variable in."
    if path != path.lower():
        return "Addresses and ids have lower-case letters only."
    return None
