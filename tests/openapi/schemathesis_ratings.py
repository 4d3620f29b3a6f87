"""What schemathesis needs to know about ratings: the world has one rated match, so the entries of its game end with the first."""

from collections.abc import Mapping
from itertools import cycle
from typing import Any, Final

import httpx

OPERATIONS: Final = frozenset({"list_rating_entries"})
OTHER_REFUSALS: Final[Mapping[str, frozenset[tuple[str, str]]]] = {}

_after: Final = cycle(({}, {"after": 1}))


def make_successful(case: Any, _operation: str, _http: httpx.Client) -> None:
    """Ask for the entries from the start, or for those after the only one."""
    case.path_parameters["game"] = "ape_town"
    case.query = dict(next(_after))
