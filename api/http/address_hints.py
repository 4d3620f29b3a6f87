"""What may be wrong with an address at which there is nothing, by its form alone: it tells nothing of what there is."""

import re
from typing import Final

_UNFILLED: Final = re.compile(
    r"undefined|null|none|nan|\[object object\]|\$?\{.*\}|<.*>|:[a-z_]+|\$[a-z_]+|%[a-z_]*", re.IGNORECASE
)
"""What programs put into an address in the place of a variable that they did not fill in."""
_LONGEST_QUOTE: Final = 40
"""Characters."""


def hint(path: str) -> str | None:
    """A sentence on a path (decoded) that leads nowhere; None if nothing is odd about it."""
    _, *parts = path.split("/")
    if "" in parts[:-1]:
        return "Two slashes follow each other: an id is empty, or one slash is too many."
    if len(parts) > 1 and parts[-1] == "":
        return "Leave out the slash at the end."
    for part in parts:
        if _UNFILLED.fullmatch(part):
            return f"{part[:_LONGEST_QUOTE]} stands in the place of an id: a variable of the client was not filled in."
    if path != path.lower():
        return "Addresses and ids have small letters only."
    return None
