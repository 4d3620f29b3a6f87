"""A whole picture: its size, its description in words, its elements, and its SVG document."""

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from service.games.drawing.style import STYLE
from service.games.drawing.svg import ART, CLASS, Element, escaped, group, rect, write

_REFERENCE: Final = re.compile(f' href="#{ART}([^"]+)"')


class Picture(NamedTuple):
    """A drawing of a table.

    `width` and `height` are its natural size in pixels; `css_class` is the class of the background.

    `title` and `description` describe the picture in words. `art` has the drawings that elements may reference.
    """

    width: int
    height: int
    css_class: str
    language: str
    title: str
    description: str
    art: Mapping[str, Element]
    body: tuple[Element, ...]


def one_below_the_other(pictures: Sequence[Picture]) -> Picture:
    """One picture of several of the same table; the ids of the n-th begin with `view-<n>-`, from 0."""
    first = pictures[0]
    tops = [sum(above.height for above in pictures[:number]) for number in range(len(pictures))]
    return first._replace(
        width=max(picture.width for picture in pictures),
        height=tops[-1] + pictures[-1].height,
        description="\n".join(picture.description for picture in pictures),
        body=tuple(
            group(
                *[_renamed(element, f"view-{number}-") for element in picture.body],
                element_id=f"view-{number}",
                at=(0, top),
            )
            for number, (picture, top) in enumerate(zip(pictures, tops, strict=True))
        ),
    )


def _renamed(element: Element, prefix: str) -> Element:
    """The element with a prefix before each id in it. References to drawings stay, since all pictures share them."""
    children = tuple([child if isinstance(child, str) else _renamed(child, prefix) for child in element.children])
    return element._replace(id=element.id and prefix + element.id, children=children)


def document(picture: Picture) -> str:
    """The picture as a self-contained SVG document."""
    width, height = picture.width, picture.height
    body: list[str] = []
    for element in (rect(0, 0, width, height, f"ground {picture.css_class}"), *picture.body):
        write(element, body)
    markup = "".join(body)
    definitions = _definitions(picture.art, markup)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{CLASS}picture" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" lang="{escaped(picture.language)}" role="group">'
        f"<title>{escaped(picture.title)}</title><desc>{escaped(picture.description)}</desc>"
        f"<style>{STYLE}</style><defs>{definitions}</defs>{markup}</svg>\n"
    )


def _definitions(art: Mapping[str, Element], markup: str) -> str:
    """The definitions of all drawings that the markup references, directly or through other drawings."""
    found: dict[str, str] = {}
    missing = set(_REFERENCE.findall(markup))
    while missing:
        for name in sorted(missing):
            parts: list[str] = []
            write(art[name], parts)
            found[name] = "".join(parts)
        missing = {name for name in _REFERENCE.findall("".join([found[name] for name in missing])) if name not in found}
    return "".join(found.values())
