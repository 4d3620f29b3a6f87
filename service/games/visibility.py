"""Visibility of fields. Every field of an action or effect declares its audience, and one function redacts all games.

A field is `Public[T]`, `Private[T]` (visible to the seat in the field `seat`, or to the acting seat of an action),
`Secret[T]` (visible to no seat), or `Annotated[T, private_to("giver", "receiver")]`. A class that has a field without
an audience fails at import.
"""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final, TypeAlias, TypeVar, get_type_hints

import msgspec

T = TypeVar("T")

Seat: TypeAlias = int
Viewer: TypeAlias = Seat | None
"""A seat, or None for a spectator."""


@dataclass(frozen=True, slots=True)
class Audience:
    """`fields` are the names of the fields that contain the seats in the audience.

    None means everyone, and () means nobody.
    """

    fields: tuple[str, ...] | None


def private_to(*fields: str) -> Audience:
    return Audience(fields)


Public = Annotated[T, Audience(None)]
Private = Annotated[T, private_to("seat")]
Secret = Annotated[T, Audience(())]


def _audiences(cls: type, *, known: frozenset[str]) -> dict[str, Audience]:
    """The hidden fields of a class with their audiences.

    Raises:
      TypeError: a field has no audience, or its audience names a field that does not exist.
    """
    hidden: dict[str, Audience] = {}
    hints = get_type_hints(cls, include_extras=True)
    names = {name for name, hint in hints.items() if "ClassVar" not in repr(hint) and not name.startswith("__")}
    for name in sorted(names):
        found = [extra for extra in getattr(hints[name], "__metadata__", ()) if isinstance(extra, Audience)]
        if len(found) != 1:
            raise TypeError(f"{cls.__name__}.{name} has no audience")
        for field in found[0].fields or ():
            if field not in names | known:
                raise TypeError(f"{cls.__name__}.{name} is private to {field}, which is not a field")
        if found[0].fields is not None:
            hidden[name] = found[0]
    return hidden


class Effect(msgspec.Struct, frozen=True, gc=False, tag_field="type", forbid_unknown_fields=True):
    """A fact that an action caused. Subclasses are frozen, are named in the past tense, and set an explicit `tag`."""

    hidden: ClassVar[dict[str, Audience]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.hidden = _audiences(cls, known=frozenset())


class Action(msgspec.Struct, frozen=True, gc=False, tag_field="type", forbid_unknown_fields=True):
    """A request of a seat. Subclasses are frozen, are named in the imperative, and set an explicit `tag`."""

    hidden: ClassVar[dict[str, Audience]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.hidden = _audiences(cls, known=frozenset({"seat"}))


Redacted: TypeAlias = Effect | Action | dict[str, Any]
"""The value itself if nothing in it is hidden from the viewer; otherwise an object without the hidden fields."""

ABSENT: Final = object()


def redact(value: Effect | Action, viewer: Viewer, actor: Viewer = None) -> Redacted:
    """What a viewer may see of an effect, or of an action of the seat `actor`."""
    if not value.hidden:
        return value
    unseen = [
        name
        for name, audience in value.hidden.items()
        if viewer is None
        or not any(
            viewer == (actor if field == "seat" and isinstance(value, Action) else getattr(value, field))
            for field in audience.fields or ()
        )
    ]
    if not unseen:
        return value
    shown: dict[str, Any] = {"type": value.__struct_config__.tag}
    names = zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True)
    absent = {*unseen, *_omitted_defaults(value)}
    shown.update((encoded, getattr(value, name)) for name, encoded in names if name not in absent)
    return shown


def _omitted_defaults(value: Effect | Action) -> list[str]:
    """The fields that the encoder omits because they have their default, if the class declares `omit_defaults`."""
    if not value.__struct_config__.omit_defaults:
        return []
    defaults = value.__struct_defaults__
    names = value.__struct_fields__[len(value.__struct_fields__) - len(defaults) :]
    return [name for name, default in zip(names, defaults, strict=True) if getattr(value, name) == default]
