"""A component file read and checked: every value of its kind, each with where it comes from."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Final, Literal, TypeAlias, TypeVar

import msgspec

MAX_ID_LENGTH: Final = 40
Id: TypeAlias = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_ID_LENGTH)]
"""The name by which an action refers to a thing of the box. Each box is held to it by `require_ids`."""


class BadComponents(ValueError):
    """The component file holds something that the rules cannot play with; the message says what."""


class Provenance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a value comes from, and how sure it is (percent) that the printed one is the same."""

    of: str
    status: Literal["rulebook", "found", "derived", "proposed"]
    source: str
    confidence: Annotated[int, msgspec.Meta(ge=0, le=100)]


class BoxFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a component file holds; a game's own values are the other fields."""

    provenance: dict[str, tuple[Provenance, ...]]


F = TypeVar("F", bound=BoxFile)


def read(raw: Mapping[str, object], kind: type[F]) -> F:
    """A component file in which each value says where it comes from.

    Raises:
        BadComponents: a value is missing, of the wrong kind, not known, or without provenance.
    """
    try:
        file = msgspec.convert(raw, kind, strict=True, str_keys=True)
    except msgspec.ValidationError as error:
        raise BadComponents(str(error)) from None
    values = set(kind.__struct_fields__) - {"provenance"}
    require(set(file.provenance) == values, "each value needs its provenance, and nothing else does")
    require(all(file.provenance.values()), "a value has an empty provenance")
    return file


def require(holds: bool, fault: str) -> None:
    """Refuse a box in which something does not hold.

    Raises:
        BadComponents: with this fault.
    """
    if not holds:
        raise BadComponents(fault)


def require_ids(ids: Iterable[str]) -> None:
    """Refuse a box with an id that no action could name.

    Raises:
        BadComponents: with the start of the id.
    """
    for one in ids:
        require(
            1 <= len(one) <= MAX_ID_LENGTH,
            f"the id {one[:MAX_ID_LENGTH]!r} does not have 1 to {MAX_ID_LENGTH} characters",
        )
