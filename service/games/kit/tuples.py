"""Replaces one item of a tuple, because states are immutable."""

from typing import TypeVar

T = TypeVar("T")


def with_item(items: tuple[T, ...], index: int, item: T) -> tuple[T, ...]:
    """A copy of the tuple with another item at `index`.

    Raises:
      IndexError: the tuple has no such index.
    """
    changed = list(items)
    changed[index] = item
    return tuple(changed)
