"""The picture of a match at one version, as one viewer may see it: from what that viewer may know, and nothing else."""

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
    """The table as an SVG document; with `highlight` what the event of its version changed is marked.

    Before the start it shows which seats are taken.

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
        taken = [sitter is not None for sitter in match.seats]
        return waiting(match.game.info.id, taken, words, aborted=match.status == "aborted")
    return match.game.picture(match.game.observation(match.state, viewer), viewer, words, match.outcome)


def _revision() -> str:
    """Names the code and the data that draw: another drawing of the same table has another revision."""
    games = Path(__file__).parent / "games"
    told = hashlib.sha256()
    for path in sorted([Path(__file__), *games.rglob("*")]):
        if path.suffix in _SUFFIXES:
            told.update(f"{path.relative_to(games.parent)} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return told.hexdigest()[:8]


REVISION: Final = _revision()
"""Of all pictures, made as the code is loaded; 8 hex digits."""
