"""Patterns: one entry of a legal list that stands for many (CONTRACT.md, "Action patterns"), and what the list leaves open.

A field that may hold a free choice is typed `tuple[str, ...] | AnyOf`; a field declared `Public[Annotated[T, HINT]]` is
a wish that the rules may pass over, and stands outside the list. A pattern is never an action: `decide` refuses it.
"""

from collections.abc import Iterable
from functools import cache
from typing import Final, TypeVar, get_type_hints

import msgspec

from service.games.protocol import Rng
from service.games.visibility import Action

A = TypeVar("A", bound=Action)


class Hint:
    """Marks a field that stands outside the legal list."""


HINT: Final = Hint()


class AnyOf(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Any `min` to `max` of these items, none twice, in any order."""

    any_of: tuple[str, ...]
    min: int
    max: int

    def allows(self, chosen: object) -> bool:
        """Whether this choice, a tuple of items, is one of those that the pattern stands for."""
        return (
            isinstance(chosen, tuple)
            and self.min <= len(chosen) <= self.max
            and len(set(chosen)) == len(chosen)
            and set(chosen) <= set(self.any_of)
        )

    def pick(self, label: str, rng: Rng) -> tuple[str, ...]:
        """One such choice by chance, in the pattern's order."""
        size = rng.pick(label, range(self.min, self.max + 1))
        taken = rng.shuffle(label, self.any_of)[:size]
        return tuple(item for item in self.any_of if item in taken)


def sample_action(action: A, label: str, rng: Rng) -> A:
    """The action that a listed one stands for: itself, or with each pattern's choice made by chance."""
    fields = ((name, getattr(action, name)) for name in action.__struct_fields__)
    return msgspec.structs.replace(
        action, **{name: value.pick(label, rng) for name, value in fields if isinstance(value, AnyOf)}
    )


@cache
def hint_fields(action: type[Action]) -> frozenset[str]:
    """The fields of an action that stand outside the legal list."""
    types = get_type_hints(action, include_extras=True)
    return frozenset(name for name in action.__struct_fields__ if HINT in getattr(types[name], "__metadata__", ()))


def is_listed(action: Action, legal: Iterable[Action]) -> bool:
    """Whether a legal list holds this action, itself or by a pattern, whatever its hints say."""
    fields = [name for name in action.__struct_fields__ if name not in hint_fields(type(action))]
    return any(
        type(entry) is type(action) and all(_field_fits(getattr(entry, name), getattr(action, name)) for name in fields)
        for entry in legal
    )


def _field_fits(entry: object, given: object) -> bool:
    return entry.allows(given) if isinstance(entry, AnyOf) else entry == given
