"""Parses the options of a match from JSON: strict types, defaults filled in, unknown options and wrong numbers of seats
refused.
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar

import msgspec

from service.games.kit.mismatch import mismatch
from service.games.protocol import BadOptions

O = TypeVar("O", bound=msgspec.Struct)  # noqa: E741  (options)


def parse(options: type[O], given: Mapping[str, object], seats: int, allowed: Sequence[int]) -> O:
    """Convert a client's options to an options struct, which must be declared with `forbid_unknown_fields`.

    Raises:
      BadOptions: an option is unknown, has the wrong type, or is out of range; or `seats` is not in `allowed`.
    """
    if seats not in allowed:
        raise BadOptions(f"the game is for {allowed[0]} to {allowed[-1]} players, not for {seats}")
    try:
        return msgspec.convert(given, options, strict=True)
    except msgspec.ValidationError as error:
        found = mismatch(options, error)
        raise BadOptions(found.fault, *found.path) from None
