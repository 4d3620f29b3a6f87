"""Plain SVG as values: elements that can be compared, marked and written.

Drawings are built with the constructors below alone. So a picture holds no script, no `style` attribute and no reference
outside itself, and every string in it is escaped. Lengths are integers, in units of the picture.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final, NamedTuple, TypeAlias

Data: TypeAlias = Mapping[str, str | int]
"""What actions call a thing: by an action's field, the value or the item that it has there; `data-field="3-2"`."""
Point: TypeAlias = tuple[int, int]

ART: Final = "art-"
"""Prefix of the ids of drawings that are used several times; no id of a game's thing begins so."""
CLASS: Final = "ms-"
"""Prefix of all classes, so that they do not clash with those of a page that holds the picture inline."""
UNSCALED: Final = 1000

_NONE: Final[Data] = {}
_HERE: Final[Point] = (0, 0)
_SPECIAL: Final = re.compile("[&<>\"']")
_FORBIDDEN: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML document may hold (XML 1.0, 2.2)."""
_ENTITIES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})


class Element(NamedTuple):
    """`kind` is its class, `shape` its geometry as written. What has an `id` is the same thing in every version.

    `at` and `thousandths` (a scale of 1000 is the natural size) are layout: to move an element so is no change of it.
    """

    tag: str
    css_class: str = ""
    shape: str = ""
    children: tuple["Element | str", ...] = ()
    id: str = ""
    data: Data = _NONE
    at: Point = _HERE
    scale_permille: int = UNSCALED


Part: TypeAlias = Element | str


def group(
    *children: Element,
    css_class: str = "",
    element_id: str = "",
    data: Data = _NONE,
    at: Point = _HERE,
    scale_permille: int = UNSCALED,
    title: str = "",
) -> Element:
    """Elements that belong together; `thing` is its id, `called` its name for people, which browsers show as a tooltip."""
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
    """`d` as in SVG, of a drawing's own making."""
    return Element("path", css_class, f' d="{d}"', (), element_id, data)


def text(x: int, y: int, words: str | int, css_class: str, *, element_id: str = "") -> Element:
    """A line of words; its class says where it stands by (x, y)."""
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
    """One of the drawings that the picture defines once, its middle at (x, y)."""
    shape = f' href="#{ART}{art}"'
    if scale_permille != UNSCALED:
        return Element("use", css_class, shape, (), element_id, data, (x, y), scale_permille)
    return Element("use", css_class, f'{shape} x="{x}" y="{y}"' if (x, y) != _HERE else shape, (), element_id, data)


def art(name: str, *children: Element) -> Element:
    """A drawing to be used several times."""
    return group(*children, element_id=ART + name)


def points(corners: Iterable[Point]) -> str:
    """A closed path through these corners."""
    return "M" + "L".join([f"{x} {y}" for x, y in corners]) + "z"


def escaped(words: str) -> str:
    """Any string as text or as an attribute's value; a character that XML forbids becomes U+FFFD."""
    if _FORBIDDEN.search(words):
        words = _FORBIDDEN.sub("\ufffd", words)
    return words.translate(_ENTITIES) if _SPECIAL.search(words) else words


@cache
def classes(css_class: str) -> str:
    """An element's classes as written."""
    return escaped(" ".join([CLASS + name for name in css_class.split()]))


def write(part: Part, into: list[str]) -> None:
    """Append the markup of an element or of a string."""
    if isinstance(part, str):
        into.append(escaped(part))
        return
    tag, css_class, shape, children, id_, data, at, scale_permille = part
    into.append("<" + tag)
    if id_:
        into.append(f' id="{escaped(id_)}"')
    if css_class:
        into.append(f' class="{classes(css_class)}"')
    if shape:
        into.append(shape)
    if at != _HERE or scale_permille != UNSCALED:
        scale = "" if scale_permille == UNSCALED else f" scale({scale_permille / UNSCALED:g})"
        into.append(f' transform="translate({at[0]} {at[1]}){scale}"')
    for name, value in data.items():
        into.append(f' data-{name}="{escaped(str(value))}"')
    if not children:
        into.append("/>")
        return
    into.append(">")
    for child in children:
        write(child, into)
    into.append(f"</{tag}>")
