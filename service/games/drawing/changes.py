"""What differs between two pictures of a match: the things that look otherwise, or are part of something else."""

from collections.abc import Iterator
from typing import Final, TypeAlias

from service.games.drawing.page import Picture
from service.games.drawing.svg import Data, Element

CHANGED: Final = "changed"
"""The class of a thing that differs from the picture before."""

_Form: TypeAlias = tuple[str, str, str, str, Data, tuple[object, ...]]


def mark_changes(before: Picture, after: Picture) -> Picture:
    """The later picture with each thing marked that is new, moved to another one, or drawn otherwise.

    A thing is what has an id. Where it is laid out in the same thing, as a card in a hand, is no change of it; nor is
    what happens to the things in it.
    """
    known = dict(_named_elements(before.body))
    changed = {name for name, form in _named_elements(after.body) if known.get(name) != form}
    return after._replace(body=tuple([_mark(element, changed) for element in after.body]))


def _named_elements(body: tuple[Element, ...]) -> Iterator[tuple[str, _Form]]:
    for element in body:
        yield from _elements_with_ids(element, "")


def _elements_with_ids(element: Element, parent: str) -> Iterator[tuple[str, _Form]]:
    if element.id:
        yield element.id, (parent, element.tag, element.css_class, element.shape, element.data, _content(element))
        parent = element.id
    for child in element.children:
        if isinstance(child, Element):
            yield from _elements_with_ids(child, parent)


def _content(element: Element) -> tuple[object, ...]:
    """All that is drawn in an element, but for the things in it."""
    return tuple(
        [
            child if isinstance(child, str) else (*child[:3], *child[5:], _content(child))
            for child in element.children
            if isinstance(child, str) or not child.id
        ]
    )


def _mark(element: Element, changed: set[str]) -> Element:
    children = tuple([child if isinstance(child, str) else _mark(child, changed) for child in element.children])
    if element.id not in changed:
        return element._replace(children=children)
    return element._replace(children=children, css_class=f"{element.css_class} {CHANGED}".strip())
