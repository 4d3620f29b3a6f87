"""The laws that the pictures of every game must obey.

They depend only on the observation, are plain SVG, and have data attributes for actions.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Final, TypeAlias
from xml.etree import ElementTree as ET

import msgspec

from service.games.drawing.page import document
from service.games.drawing.style import STYLE
from service.games.drawing.svg import ART
from service.games.drawing.words import SHARED, Words, picture_words
from service.games.kit.patterns import hint_fields
from service.games.protocol import Outcome
from service.games.visibility import Action, Viewer
from tests.length import LONG
from tests.service.games.matches import Position, Table, deciding, draws, key, positions, spread

LARGEST: Final = 80_000
"""Bytes of a picture before compression."""
HOSTILE: Final = "<script>alert('1')</script>]]>&\"\x00\x1b\ufffe\u202e"

_SVG: Final = "{http://www.w3.org/2000/svg}"
_SHAPE: Final = {"id", "class", "transform"}
_ALLOWED: Final[Mapping[str, set[str]]] = {
    "svg": {"class", "width", "height", "viewBox", "lang", "role"},
    "title": set(),
    "desc": set(),
    "style": set(),
    "defs": set(),
    "g": _SHAPE,
    "rect": {*_SHAPE, "x", "y", "width", "height", "rx"},
    "circle": {*_SHAPE, "cx", "cy", "r"},
    "ellipse": {*_SHAPE, "cx", "cy", "rx", "ry"},
    "path": {*_SHAPE, "d"},
    "text": {*_SHAPE, "x", "y"},
    "use": {*_SHAPE, "href", "x", "y"},
}
"""The allowed elements and attributes. All elements may also have `data-` attributes."""

DataAttributes: TypeAlias = Mapping[str, str]
"""The data attributes of an element and of the groups around it, without the prefix `data-`."""


def law_a_picture_depends_only_on_the_observation(table: Table) -> None:
    """The same observation gives the same bytes, also after it was stored as JSON and after other pictures were drawn.

    Two states that a viewer cannot distinguish therefore have the same picture for that viewer.
    """
    game = table.game
    decode = msgspec.json.Decoder(game.info.observation).decode
    viewers = _viewers(table)
    for number, position in enumerate(positions(table, 6 if LONG else 2)):
        seen = {viewer: msgspec.json.encode(game.observation(position.state, viewer)) for viewer in viewers}
        for language in game.texts if LONG else tuple(game.texts)[number % 2 :][:1]:
            before = {viewer: _drawn(table, position, viewer, language) for viewer in viewers}
            for viewer in viewers:
                twin = game.sample_state(decode(seen[viewer]), draws("twin"))
                for other in viewers:
                    _document(table, game.observation(twin, other), other, language, None)
                assert _drawn(table, position, viewer, language) == before[viewer], "a second drawing differs"
                read = _document(table, decode(seen[viewer]), viewer, language, _outcome(table, position))
                assert read == before[viewer], "the drawing of a parsed observation differs"
                assert twin is not position.state


def law_a_picture_is_plain_svg(table: Table) -> None:
    """Well-formed XML with few kinds of elements and attributes.

    Nothing runs or loads anything, whatever the words contain.
    """
    hostile: Words = dict.fromkeys({**SHARED["en"], **table.game.texts["en"]}, HOSTILE)
    for position in positions(table, 8 if LONG else 3):
        for viewer in _viewers(table)[:2]:
            plain = _drawn(table, position, viewer, "en")
            assert "<!" not in plain
            assert "<?" not in plain
            _assert_allowed(ET.fromstring(plain))
            seen = table.game.observation(position.state, viewer)
            root = ET.fromstring(document(table.game.picture(seen, viewer, hostile, _outcome(table, position))))
            _assert_allowed(root)
            title = root.find(f"{_SVG}title")
            assert title is not None
            assert title.text == re.sub("[\x00\x1b\ufffe]", "\ufffd", HOSTILE)


def _assert_allowed(root: ET.Element) -> None:
    ids = {element.get("id") for element in root.iter()}
    assert [child.tag for child in root][:4] == [f"{_SVG}{name}" for name in ("title", "desc", "style", "defs")]
    assert [element.text for element in root.iter(f"{_SVG}style")] == [STYLE]
    assert all((root.findtext(f"{_SVG}{name}") or "").strip() for name in ("title", "desc"))
    for element in root.iter():
        tag = element.tag.removeprefix(_SVG)
        assert tag in _ALLOWED, f"a picture has no {tag}"
        for name, value in element.attrib.items():
            assert name in _ALLOWED[tag] or re.fullmatch("data-[a-z_]+", name), f"a {tag} has no {name}"
            assert name != "href" or value[1:] in ids, f"{value} is not in the picture"


def law_names_in_a_picture_are_unique(table: Table) -> None:
    """No two elements have the same id or the same data attributes.

    An id has the same data attributes in every version.
    """
    values: dict[tuple[str, str], str] = {}
    known: dict[tuple[tuple[str, str], ...], str] = {}
    for position in positions(table, 12 if LONG else 4):
        for viewer in _viewers(table):
            root = ET.fromstring(_drawn(table, position, viewer, "en"))
            ids = [name for element in root.iter() if (name := element.get("id")) is not None]
            assert len(set(ids)) == len(ids), "an id twice"
            named = [*_named_in(root, {})]
            names = [tuple(sorted(attributes.items())) for _, _, attributes in named]
            assert len(set(names)) == len(names), "two elements have the same attributes"
            for id_, data, _ in named:
                if id_ is None:
                    continue
                assert not id_.startswith(ART), "the id has the prefix of reusable drawings"
                assert known.setdefault(tuple(sorted(data.items())), id_) == id_, f"{data} has another id"
                for name, value in data.items():
                    assert values.setdefault((id_, name), value) == value, f"{id_} changed its data attributes"


def law_a_picture_shows_the_values_of_legal_actions(table: Table) -> None:
    """For each value in a field of a legal action, some element has this value and agrees with the action in all its
    data attributes.

    Fields that legal lists omit need no element.
    """
    for position in positions(table, 24 if LONG else 4):
        for seat in deciding(table, position.state):
            if seat < 0:
                continue
            root = ET.fromstring(_drawn(table, position, seat, "en"))
            by_name: dict[tuple[str, str], list[DataAttributes]] = {}
            for _, _, data in _named_in(root, {}):
                for name, value in data.items():
                    by_name.setdefault((name, value), []).append(data)
            for entry in spread(tuple(table.game.legal_actions(position.state, seat)), 400):
                _assert_found(entry, by_name)


def _assert_found(entry: Action, by_name: Mapping[tuple[str, str], list[DataAttributes]]) -> None:
    fields = {name: tuple(_items(value)) for name, value in _named(entry).items()}
    for name, items in fields.items():
        for item in items:
            agreeing = [
                data
                for data in by_name.get((name, item), ())
                if all(value in fields[other] for other, value in data.items() if other in fields)
            ]
            assert agreeing, f"{entry} has {name} {item}, which no element shows"


def _named(entry: Action) -> Mapping[str, Any]:
    """The fields of a legal action, without its type and its hints."""
    outside = {
        encoded
        for name, encoded in zip(entry.__struct_fields__, entry.__struct_encode_fields__, strict=True)
        if name in hint_fields(type(entry))
    }
    fields: Mapping[str, Any] = msgspec.to_builtins(entry)
    return {name: value for name, value in fields.items() if name not in outside | {"type"}}


def _items(value: object) -> Iterator[str]:
    match value:
        case {"any_of": items}:
            yield from map(str, items)
        case dict() | list() | tuple():
            yield from map(str, value)
        case _:
            yield str(value)


def law_a_picture_is_small(table: Table) -> None:
    for position in positions(table, 8 if LONG else 2):
        for viewer in _viewers(table):
            assert len(_drawn(table, position, viewer, "en").encode()) <= LARGEST


def _viewers(table: Table) -> tuple[Viewer, ...]:
    """A spectator, the first seat and the last one."""
    return tuple(dict.fromkeys((None, 0, table.seats - 1)))


def _named_in(
    element: ET.Element, outer: DataAttributes
) -> Iterator[tuple[str | None, DataAttributes, DataAttributes]]:
    """The elements with data attributes of their own: the id, these attributes, and those that include the groups
    around it.
    """
    own = {name[5:]: value for name, value in element.attrib.items() if name.startswith("data-")}
    attributes = {**outer, **own}
    if own:
        yield element.get("id"), own, attributes
    for child in element:
        yield from _named_in(child, attributes)


def _drawn(table: Table, position: Position, viewer: Viewer, language: str) -> str:
    seen = table.game.observation(position.state, viewer)
    return _document(table, seen, viewer, language, _outcome(table, position))


def _document(table: Table, seen: Any, viewer: Viewer, language: str, outcome: Outcome | None) -> str:
    return document(table.game.picture(seen, viewer, _words(table, language), outcome))


@cache
def _words(table: Table, language: str) -> Words:
    return picture_words(table.game.texts, language)


def _outcome(table: Table, position: Position) -> Outcome | None:
    """The outcome, if the match is over."""
    if table.game.decisions(position.state):
        return None
    outcome: Outcome = table.game.score(position.state, draws(key(table), position.counts))
    return outcome


LAWS: Final[tuple[Callable[[Table], None], ...]] = (
    law_a_picture_depends_only_on_the_observation,
    law_a_picture_is_plain_svg,
    law_names_in_a_picture_are_unique,
    law_a_picture_shows_the_values_of_legal_actions,
    law_a_picture_is_small,
)
