"""Reads and validates component files. Every value must have the right type and a source."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Final, Literal, TypeAlias, TypeVar

import msgspec

MAX_ID_LENGTH: Final = 40
Id: TypeAlias = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_ID_LENGTH)]
"""The id by which an action names a component. `require_ids` checks the ids of each component file against this limit.
"""


class BadComponents(ValueError):
    """The component file contains data with which the rules cannot be played. The message says what is wrong."""


class Provenance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The source of a value, and the confidence (percent) that it equals the printed one."""

    of: str
    status: Literal["rulebook", "found", "derived", "proposed"]
    source: str
    confidence: Annotated[int, msgspec.Meta(ge=0, le=100)]


class BoxFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The common part of all component files. Subclasses add the values of a game as fields."""

    provenance: dict[str, tuple[Provenance, ...]]


F = TypeVar("F", bound=BoxFile)


def read(raw: Mapping[str, object], kind: type[F]) -> F:
    """Parse a component file in which each value has a source.

    Raises:
      BadComponents: a value is missing, has the wrong type, is unknown, or has no provenance.
    """
    try:
        file = msgspec.convert(raw, kind, strict=True, str_keys=True)
    except msgspec.ValidationError as error:
        raise BadComponents(str(error)) from None
    values = set(kind.__struct_fields__) - {"provenance"}
    require(set(file.provenance) == values, "provenance must have an entry for each value, and for nothing else")
    require(all(file.provenance.values()), "a value has an empty provenance")
    return file


def require(holds: bool, fault: str) -> None:
    """Check a condition of a component file.

    Raises:
      BadComponents: the condition does not hold; the message is `fault`.
    """
    if not holds:
        raise BadComponents(fault)


def require_ids(ids: Iterable[str]) -> None:
    """Check that actions can name each of these ids.

    Raises:
      BadComponents: an id is empty or too long; the message has the start of it.
    """
    for one in ids:
        require(
            1 <= len(one) <= MAX_ID_LENGTH,
            f"the id {one[:MAX_ID_LENGTH]!r} does not have 1 to {MAX_ID_LENGTH} characters",
        )
