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
    kind: str = ""
    shape: str = ""
    children: tuple["Element | str", ...] = ()
    id: str = ""
    data: Data = _NONE
    at: Point = _HERE
    thousandths: int = UNSCALED


Part: TypeAlias = Element | str


def group(
    *children: Element,
    kind: str = "",
    thing: str = "",
    data: Data = _NONE,
    at: Point = _HERE,
    thousandths: int = UNSCALED,
    called: str = "",
) -> Element:
    """Elements that belong together; `thing` is its id, `called` its name for people, which browsers show as a tooltip."""
    named = (Element("title", children=(called,)), *children) if called else children
    return Element("g", kind, "", named, thing, data, at, thousandths)


def rect(x: int, y: int, width: int, height: int, kind: str, *, corner: int = 0) -> Element:
    rounded = f' rx="{corner}"' if corner else ""
    shape = f' x="{x}" y="{y}" width="{width}" height="{height}"{rounded}'
    return Element("rect", kind, shape)


def circle(x: int, y: int, r: int, kind: str) -> Element:
    return Element("circle", kind, f' cx="{x}" cy="{y}" r="{r}"')


def ellipse(x: int, y: int, rx: int, ry: int, kind: str) -> Element:
    return Element("ellipse", kind, f' cx="{x}" cy="{y}" rx="{rx}" ry="{ry}"')


def path(d: str, kind: str, *, thing: str = "", data: Data = _NONE) -> Element:
    """`d` as in SVG, of a drawing's own making."""
    return Element("path", kind, f' d="{d}"', (), thing, data)


def text(x: int, y: int, words: str | int, kind: str, *, thing: str = "") -> Element:
    """A line of words; its class says where it stands by (x, y)."""
    return Element("text", kind, f' x="{x}" y="{y}"', (str(words),), thing)


def use(
    art: str,
    x: int = 0,
    y: int = 0,
    kind: str = "",
    *,
    thousandths: int = UNSCALED,
    thing: str = "",
    data: Data = _NONE,
) -> Element:
    """One of the drawings that the picture defines once, its middle at (x, y)."""
    shape = f' href="#{ART}{art}"'
    if thousandths != UNSCALED:
        return Element("use", kind, shape, (), thing, data, (x, y), thousandths)
    return Element("use", kind, f'{shape} x="{x}" y="{y}"' if (x, y) != _HERE else shape, (), thing, data)


def art(name: str, *children: Element) -> Element:
    """A drawing to be used several times."""
    return group(*children, thing=ART + name)


def points(corners: Iterable[Point]) -> str:
    """A closed path through these corners."""
    return "M" + "L".join([f"{x} {y}" for x, y in corners]) + "z"


def escaped(words: str) -> str:
    """Any string as text or as an attribute's value; a character that XML forbids becomes U+FFFD."""
    if _FORBIDDEN.search(words):
        words = _FORBIDDEN.sub("\ufffd", words)
    return words.translate(_ENTITIES) if _SPECIAL.search(words) else words


@cache
def classes(kind: str) -> str:
    """An element's classes as written."""
    return escaped(" ".join([CLASS + name for name in kind.split()]))


def write(part: Part, into: list[str]) -> None:
    """Append the markup of an element or of a string."""
    if isinstance(part, str):
        into.append(escaped(part))
        return
    tag, kind, shape, children, id_, data, at, thousandths = part
    into.append("<" + tag)
    if id_:
        into.append(f' id="{escaped(id_)}"')
    if kind:
        into.append(f' class="{classes(kind)}"')
    if shape:
        into.append(shape)
    if at != _HERE or thousandths != UNSCALED:
        scale = "" if thousandths == UNSCALED else f" scale({thousandths / UNSCALED:g})"
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
