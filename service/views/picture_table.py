"""Pictures of one match in little space: equal elements are stored once, so a picture adds only what is new in it.

A table replaces thousands of SVG documents in a page that contains a whole match. `api/web/saved-source.js` writes the documents
again from its JSON form.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import msgspec

from service.games.drawing.page import Picture
from service.games.drawing.style import STYLE
from service.games.drawing.svg import Element, Part, escaped, opening

Node: TypeAlias = str | tuple[str | int, ...]
"""A part of a picture: escaped text or a whole element without children; or the start tag of an element without its `>`,
and the indices of its children in the list of nodes.
"""


class TabledPicture(msgspec.Struct, frozen=True, array_like=True):
    """A picture whose elements are in the table: `body` has their indices. Title and description are escaped."""

    width: int
    height: int
    css_class: str
    title: str
    description: str
    body: tuple[int, ...]


class Table(msgspec.Struct, frozen=True):
    """`art` has the indices of all reusable drawings of the match, and `pictures` those of its pictures by name, in order.

    `style` is the style sheet, which is the same for all pictures.
    """

    style: str
    nodes: Sequence[Node]
    art: Sequence[int]
    pictures: Mapping[str, Sequence[TabledPicture]]


class TableWriter:
    """Collects pictures of one match."""

    def __init__(self) -> None:
        self._indices: dict[Node, int] = {}
        self._art: dict[str, int] = {}
        self._pictures: dict[str, list[TabledPicture]] = {}

    def add(self, name: str, picture: Picture) -> None:
        """Add a picture after the others of this name."""
        for key, drawing in picture.art.items():
            if key not in self._art:
                self._art[key] = self._index(drawing)
        tabled = TabledPicture(
            picture.width,
            picture.height,
            picture.css_class,
            escaped(picture.title),
            escaped(picture.description),
            tuple([self._index(element) for element in picture.body]),
        )
        self._pictures.setdefault(name, []).append(tabled)

    def table(self) -> Table:
        return Table(STYLE, tuple(self._indices), tuple(self._art.values()), self._pictures)

    def _index(self, part: Part) -> int:
        node = _leaf(part) if isinstance(part, str) or not part.children else self._branch(part)
        return self._indices.setdefault(node, len(self._indices))

    def _branch(self, element: Element) -> Node:
        return (opening(element), *[self._index(child) for child in element.children])


def _leaf(part: Part) -> str:
    return escaped(part) if isinstance(part, str) else f"{opening(part)}/>"
