"""Finds the elements that changed between two pictures of a match."""

from collections.abc import Iterator
from operator import is_not
from typing import Final, TypeAlias

from service.games.drawing.page import Picture
from service.games.drawing.svg import Data, Element

CHANGED: Final = "changed"
"""The CSS class of a changed element."""

_Form: TypeAlias = tuple[str, str, str, str, Data, tuple[object, ...]]


def mark_changes(before: Picture, after: Picture) -> Picture:
    """The later picture, with each element marked that is new, has another parent, or is drawn differently.

    Only elements with an id are compared. A new layout position inside the same parent is not a change, for example of a
    card in a hand. A change of a nested element with an id is not a change of its parent.
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
    """Everything that is drawn in an element, without its children that have ids."""
    return tuple(
        [
            child if isinstance(child, str) else (*child[:3], *child[5:], _content(child))
            for child in element.children
            if isinstance(child, str) or not child.id
        ]
    )


def _mark(element: Element, changed: set[str]) -> Element:
    """The element with its marks; the same object if nothing in it is marked."""
    marked = element
    if element.children:
        children = tuple([child if isinstance(child, str) else _mark(child, changed) for child in element.children])
        if any(map(is_not, children, element.children)):
            marked = element._replace(children=children)
    if element.id in changed:
        marked = marked._replace(css_class=f"{element.css_class} {CHANGED}".strip())
    return marked
