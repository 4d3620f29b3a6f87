"""A picture as tests look at it: its things by id, what they hold, and all that it says."""

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
    """A picture that was written and read again."""

    root: ET.Element

    def element_id(self, name: str) -> ET.Element:
        """The element with an id."""
        return next(element for element in self.root.iter() if element.get("id") == name)

    def has(self, name: str) -> bool:
        return any(element.get("id") == name for element in self.root.iter())

    def shows(self, name: str) -> list[str]:
        """What a thing is made of, in order: the drawings that it uses, and the words in it but for its name."""
        return [*_shown(self.element_id(name))]

    def called(self, name: str) -> str:
        """What a thing is called."""
        return self.element_id(name).findtext(f"{_SVG}title") or ""

    def said(self, kind: str = "") -> list[str]:
        """All words that are drawn, or those of a class; without what is part of a drawing that is used several times."""
        return [words.text or "" for words in self._parts() if words.tag == f"{_SVG}text" and kind in _classes(words)]

    def count(self, kind: str) -> int:
        """How many elements of a class there are, without the parts of drawings that are used several times."""
        return sum(kind in _classes(part) for part in self._parts())

    def _parts(self) -> Iterator[ET.Element]:
        for part in self.root:
            if part.tag != f"{_SVG}defs":
                yield from part.iter()

    def description(self) -> str:
        return self.root.findtext(f"{_SVG}desc") or ""

    def things(self, beginning: str) -> list[str]:
        """The ids that begin so, in the order in which they are drawn."""
        return [name for element in self.root.iter() if (name := element.get("id", "")).startswith(beginning)]

    def kinds(self, name: str) -> set[str]:
        """The classes of a thing, and of what it is made of."""
        return {kind for element in self.element_id(name).iter() for kind in _classes(element)} - {""}


def _classes(element: ET.Element) -> set[str]:
    return {"", *(kind.removeprefix("ms-") for kind in element.get("class", "").split())}


def _shown(element: ET.Element) -> Iterator[str]:
    for part in element.iter():
        if part.tag == f"{_SVG}use":
            yield part.get("href", "").removeprefix("#art-")
        if part.tag == f"{_SVG}text":
            yield part.text or ""


def drawn(
    game: AnyGame, state: Any, viewer: Viewer = None, language: str = "en", outcome: Outcome | None = None
) -> Drawn:
    """What a viewer is drawn of a state."""
    return Drawn(ET.fromstring(document(_picture(game, state, viewer, language, outcome))))


def changed(game: AnyGame, before: Any, after: Any, viewer: Viewer = None) -> set[str]:
    """The ids of what is marked as changed from one state to another."""
    pictures = [_picture(game, state, viewer, "en", None) for state in (before, after)]
    root = ET.fromstring(document(mark_changes(*pictures)))
    return {element.get("id", "") for element in root.iter() if CHANGED in _classes(element)}


def _picture(game: AnyGame, state: Any, viewer: Viewer, language: str, outcome: Outcome | None) -> Picture:
    return game.picture(game.observation(state, viewer), viewer, picture_words(game.texts, language), outcome)
