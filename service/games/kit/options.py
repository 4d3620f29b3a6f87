"""Options from their JSON form: strict types, defaults filled in, unknown ones refused, and for so many seats at all."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

import msgspec

from service.games.kit.mismatch import mismatch
from service.games.protocol import BadOptions

O = TypeVar("O", bound=msgspec.Struct)  # noqa: E741  (options)


def parse(options: type[O], given: Mapping[str, object], seats: int, allowed: Sequence[int]) -> O:
    """An options struct (declared with `forbid_unknown_fields`) from what a client sent, for one of the allowed numbers of seats.

    Raises:
        BadOptions: an option is unknown, of the wrong type, or out of range; or the game is not for so many.
    """
    if seats not in allowed:
        raise BadOptions(f"the game is for {allowed[0]} to {allowed[-1]} players, not for {seats}")
    try:
        return msgspec.convert(given, options, strict=True)
    except msgspec.ValidationError as error:
        found = mismatch(options, error)
        raise BadOptions(found.fault, *found.path) from None
