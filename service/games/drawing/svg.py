"""SVG elements as plain values that can be compared, marked and written.

Pictures are built only with the functions below. A picture therefore contains no script, no `style` attribute and no
external reference, and every string in it is escaped. Lengths are integers in units of the picture.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final, NamedTuple, TypeAlias

Data: TypeAlias = Mapping[str, str | int]
"""Maps a field of an action to the value that this element stands for.

It is written as a `data-` attribute: `data-field="3-2"`.
"""
Point: TypeAlias = tuple[int, int]

ART: Final = "art-"
"""Prefix of the ids of reusable drawings. No id of a game component starts with it."""
CLASS: Final = "ms-"
"""Prefix of all CSS classes. It avoids clashes with the classes of a page that contains the picture inline."""
UNSCALED: Final = 1000
"""The natural size of a drawing, in permille."""

_NONE: Final[Data] = {}
_ORIGIN: Final[Point] = (0, 0)
_SPECIAL: Final = re.compile("[&<>\"']")
_FORBIDDEN: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that an XML document must not contain (XML 1.0, section 2.2 lists all others)."""
_ENTITIES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})


class Element(NamedTuple):
    """`shape` is the geometry, written as attributes.

    An element with an `id` stands for the same thing in every version.

    `at` and `scale_permille` (1000 is the natural size) are layout; `mark_changes` ignores them.
    """

    tag: str
    css_class: str = ""
    shape: str = ""
    children: tuple["Element | str", ...] = ()
    id: str = ""
    data: Data = _NONE
    at: Point = _ORIGIN
    scale_permille: int = UNSCALED


Part: TypeAlias = Element | str


def group(
    *children: Element,
    css_class: str = "",
    element_id: str = "",
    data: Data = _NONE,
    at: Point = _ORIGIN,
    scale_permille: int = UNSCALED,
    title: str = "",
) -> Element:
    """A group of elements. Browsers show `title` as a tooltip."""
    named = (Element("title", children=(title,)), *children) if title else children
    return Element("g", css_class, "", named, element_id, data, at, scale_permille)


def rect(x: int, y: int, width: int, height: int, css_class: str, *, corner: int = 0) -> Element:
    rounded = f' rx="{corner}"' if corner else ""
    shape = f' x="{x}" y="{y}" width="{width}" height="{height}"{rounded}'
    return Element("rect", css_class, shape)


def circle(x: int, y: int, r: int, css_class: str) -> Element:
    return Element("circle", css_class, f' cx="{x}" cy="{y}" r="{r}"')


def ellipse(x: int, y: int, rx: int, ry: int, css_class: str) -> Element:
    return Element("ellipse", css_class, f' cx="{x}" cy="{y}" rx="{rx}" ry="{ry}"')


def path(d: str, css_class: str, *, element_id: str = "", data: Data = _NONE) -> Element:
    """`d` is SVG path data. It must come from code, because it is not escaped."""
    return Element("path", css_class, f' d="{d}"', (), element_id, data)


def text(x: int, y: int, words: str | int, css_class: str, *, element_id: str = "") -> Element:
    """A line of text. Its class determines how it is aligned at (x, y)."""
    return Element("text", css_class, f' x="{x}" y="{y}"', (str(words),), element_id)


def use(
    art: str,
    x: int = 0,
    y: int = 0,
    css_class: str = "",
    *,
    scale_permille: int = UNSCALED,
    element_id: str = "",
    data: Data = _NONE,
) -> Element:
    """A reference to a reusable drawing, centred at (x, y)."""
    shape = f' href="#{ART}{art}"'
    if scale_permille != UNSCALED:
        return Element("use", css_class, shape, (), element_id, data, (x, y), scale_permille)
    return Element("use", css_class, f'{shape} x="{x}" y="{y}"' if (x, y) != _ORIGIN else shape, (), element_id, data)


def art(name: str, *children: Element) -> Element:
    """A reusable drawing."""
    return group(*children, element_id=ART + name)


def points(corners: Iterable[Point]) -> str:
    """The path data of a polygon with these corners."""
    return "M" + "L".join([f"{x} {y}" for x, y in corners]) + "z"


def escaped(words: str) -> str:
    """Escape a string for use as text or as an attribute value. A character that XML forbids becomes U+FFFD."""
    if _FORBIDDEN.search(words):
        words = _FORBIDDEN.sub("\ufffd", words)
    return words.translate(_ENTITIES) if _SPECIAL.search(words) else words


@cache
def classes(css_class: str) -> str:
    """The value of an element's `class` attribute."""
    return escaped(" ".join([CLASS + name for name in css_class.split()]))


def opening(element: Element) -> str:
    """The start tag of an element, without the `>` or `/>` at its end. An id is its first attribute."""
    tag, css_class, shape, _, id_, data, at, scale_permille = element
    start = f'<{tag} id="{escaped(id_)}"' if id_ else "<" + tag
    if css_class:
        start += f' class="{classes(css_class)}"'
    if shape:
        start += shape
    if at != _ORIGIN or scale_permille != UNSCALED:
        scale = "" if scale_permille == UNSCALED else f" scale({scale_permille / UNSCALED:g})"
        start += f' transform="translate({at[0]} {at[1]}){scale}"'
    for name, value in data.items():
        start += f' data-{name}="{escaped(str(value))}"'
    return start


def write(part: Part, into: list[str]) -> None:
    """Append the markup of an element or of a string to `into`."""
    if isinstance(part, str):
        into.append(escaped(part))
        return
    into.append(opening(part))
    if not part.children:
        into.append("/>")
        return
    into.append(">")
    for child in part.children:
        write(child, into)
    into.append(f"</{part.tag}>")
