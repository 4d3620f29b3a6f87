"""Action patterns: one entry of a legal list can represent many actions, and some fields are not listed at all.

A field that may hold a free choice has the type `tuple[str, ...] | AnyOf`. A field declared as `Public[Annotated[T,
HINT]]` is a hint: the rules may ignore it, and legal lists omit it. A pattern is not an action, and `decide` refuses
it.
"""

from collections.abc import Iterable
from functools import cache
from typing import Final, TypeVar, get_type_hints

import msgspec

from service.games.protocol import Rng
from service.games.visibility import Action

A = TypeVar("A", bound=Action)


class Hint:
    """Marks a field that legal lists omit."""


HINT: Final = Hint()


class AnyOf(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A choice of `min` to `max` different items, in any order."""

    any_of: tuple[str, ...]
    min: int
    max: int

    def allows(self, chosen: object) -> bool:
        """Whether `chosen`, a tuple of items, is one of the choices that the pattern allows."""
        return (
            isinstance(chosen, tuple)
            and self.min <= len(chosen) <= self.max
            and len(set(chosen)) == len(chosen)
            and set(chosen) <= set(self.any_of)
        )

    def pick(self, label: str, rng: Rng) -> tuple[str, ...]:
        """Draw a choice of random size. The items have the order of the pattern."""
        size = rng.pick(label, range(self.min, self.max + 1))
        taken = rng.shuffle(label, self.any_of)[:size]
        return tuple(item for item in self.any_of if item in taken)


def sample_action(action: A, label: str, rng: Rng) -> A:
    """The action itself, with each pattern in it replaced by a random choice."""
    fields = ((name, getattr(action, name)) for name in action.__struct_fields__)
    return msgspec.structs.replace(
        action, **{name: value.pick(label, rng) for name, value in fields if isinstance(value, AnyOf)}
    )


@cache
def hint_fields(action: type[Action]) -> frozenset[str]:
    """The fields of an action that legal lists omit."""
    types = get_type_hints(action, include_extras=True)
    return frozenset(name for name in action.__struct_fields__ if HINT in getattr(types[name], "__metadata__", ()))


def is_listed(action: Action, legal: Iterable[Action]) -> bool:
    """Whether a legal list contains this action, directly or by a pattern. Hint fields are ignored."""
    fields = [name for name in action.__struct_fields__ if name not in hint_fields(type(action))]
    return any(
        type(entry) is type(action) and all(_field_fits(getattr(entry, name), getattr(action, name)) for name in fields)
        for entry in legal
    )


def _field_fits(entry: object, given: object) -> bool:
    return entry.allows(given) if isinstance(entry, AnyOf) else entry == given
