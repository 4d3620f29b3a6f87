"""Another tuple with one item changed: states are frozen."""

from typing import TypeVar

T = TypeVar("T")


def with_item(items: tuple[T, ...], index: int, item: T) -> tuple[T, ...]:
    """The items with another one at an index.

    Raises:
        IndexError: there is no such place.
    """
    changed = list(items)
    changed[index] = item
    return tuple(changed)
