"""The picture of a match at one version, drawn from the observation of one viewer only."""

import hashlib
from pathlib import Path
from typing import Final

from service.games.drawing.changes import mark_changes
from service.games.drawing.page import Picture, document
from service.games.drawing.style import POLICY_SOURCE as POLICY_SOURCE
from service.games.drawing.waiting import waiting
from service.games.drawing.words import picture_words
from service.games.visibility import Viewer
from service.match.model import Match
from service.repository.match_history import History

_SUFFIXES: Final = frozenset({".py", ".json", ".css"})


def board(history: History, match: Match, viewer: Viewer, language: str, *, highlight: bool) -> str:
    """The table as an SVG document. `highlight` marks what the event of this version changed.

    Before the start, the picture shows which seats are taken.

    Raises:
        Corrupt: the version before cannot be folded.
    """
    picture = _picture(match, viewer, language)
    if highlight and match.state is not None:
        before = history.at(match.id, match.head.version - 1)
        if before.state is not None:
            picture = mark_changes(_picture(before, viewer, language), picture)
    return document(picture)


def _picture(match: Match, viewer: Viewer, language: str) -> Picture:
    words = picture_words(match.game.texts, language)
    if match.state is None:
        taken = [holder is not None for holder in match.seats]
        return waiting(match.game.info.id, taken, words, aborted=match.status == "aborted")
    return match.game.picture(match.game.observation(match.state, viewer), viewer, words, match.outcome)


def _revision() -> str:
    """A hash of the code and data that draw, so that a changed drawing of the same table has another revision."""
    package = Path(__file__).parents[1]
    hashed = hashlib.sha256()
    for path in sorted([Path(__file__), *(package / "games").rglob("*")]):
        if path.suffix in _SUFFIXES:
            hashed.update(f"{path.relative_to(package)} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return hashed.hexdigest()[:8]


REVISION: Final = _revision()
"""The revision of all pictures, 8 hex digits, computed at import."""
