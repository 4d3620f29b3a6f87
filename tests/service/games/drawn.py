"""Parses pictures so that tests can look at their elements and texts."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree as ET

from service.games.drawing.changes import CHANGED, mark_changes
from service.games.drawing.page import Picture, document
from service.games.drawing.words import picture_words
from service.games.protocol import AnyGame, Outcome
from service.games.visibility import Viewer

_SVG = "{http://www.w3.org/2000/svg}"


@dataclass(frozen=True)
class Drawn:
    """A picture that was written as SVG and parsed again."""

    root: ET.Element

    def element(self, name: str) -> ET.Element:
        """The element with this id."""
        return next(element for element in self.root.iter() if element.get("id") == name)

    def has(self, name: str) -> bool:
        return any(element.get("id") == name for element in self.root.iter())

    def shows(self, name: str) -> list[str]:
        """The drawings and texts in an element, in order, without its title."""
        return [*_content(self.element(name))]

    def title(self, name: str) -> str:
        """The title of an element."""
        return self.element(name).findtext(f"{_SVG}title") or ""

    def texts(self, kind: str = "") -> list[str]:
        """All texts, or those of a class. Texts of reusable drawings do not count."""
        return [words.text or "" for words in self._parts() if words.tag == f"{_SVG}text" and kind in _classes(words)]

    def count(self, kind: str) -> int:
        """The number of elements of a class. Elements of reusable drawings do not count."""
        return sum(kind in _classes(part) for part in self._parts())

    def _parts(self) -> Iterator[ET.Element]:
        for part in self.root:
            if part.tag != f"{_SVG}defs":
                yield from part.iter()

    def description(self) -> str:
        return self.root.findtext(f"{_SVG}desc") or ""

    def ids(self, prefix: str) -> list[str]:
        """The ids that start with this prefix, in document order."""
        return [name for element in self.root.iter() if (name := element.get("id", "")).startswith(prefix)]

    def classes(self, name: str) -> set[str]:
        """The classes of an element and of its descendants."""
        return {kind for element in self.element(name).iter() for kind in _classes(element)} - {""}


def _classes(element: ET.Element) -> set[str]:
    return {"", *(kind.removeprefix("ms-") for kind in element.get("class", "").split())}


def _content(element: ET.Element) -> Iterator[str]:
    for part in element.iter():
        if part.tag == f"{_SVG}use":
            yield part.get("href", "").removeprefix("#art-")
        if part.tag == f"{_SVG}text":
            yield part.text or ""


def drawn(
    game: AnyGame, state: Any, viewer: Viewer = None, language: str = "en", outcome: Outcome | None = None
) -> Drawn:
    """The picture of a state for a viewer."""
    return Drawn(ET.fromstring(document(_picture(game, state, viewer, language, outcome))))


def changed(game: AnyGame, before: Any, after: Any, viewer: Viewer = None) -> set[str]:
    """The ids of the elements that are marked as changed between two states."""
    pictures = [_picture(game, state, viewer, "en", None) for state in (before, after)]
    root = ET.fromstring(document(mark_changes(*pictures)))
    return {element.get("id", "") for element in root.iter() if CHANGED in _classes(element)}


def _picture(game: AnyGame, state: Any, viewer: Viewer, language: str, outcome: Outcome | None) -> Picture:
    return game.picture(game.observation(state, viewer), viewer, picture_words(game.texts, language), outcome)
