"""The picture of a match at one version, drawn from the observation of one viewer only."""

import hashlib
from pathlib import Path
from typing import Final

from service.games.drawing.changes import mark_changes
from service.games.drawing.page import Picture, document, one_below_the_other
from service.games.drawing.style import POLICY_SOURCE as POLICY_SOURCE
from service.games.drawing.waiting import waiting
from service.games.drawing.words import picture_words
from service.games.visibility import Seat, Viewer
from service.match.model import Match
from service.match.redaction import require_over
from service.repository.code_hash import GAMES, code_hash
from service.repository.match_history import History


def board(history: History, match: Match, seen_by: Viewer | tuple[Seat, ...], language: str, *, highlight: bool) -> str:
    """The table as an SVG document. `highlight` marks what the event of this version changed.

    `seen_by` is one viewer, or seats for which it is drawn once each, one below the other. Before the start, the picture
    shows which seats are taken.

    Raises:
        Corrupt: the version before cannot be folded.
    """
    before = _before(history, match, highlight=highlight)
    if isinstance(seen_by, tuple):
        return document(one_below_the_other([_picture(before, match, seat, language) for seat in seen_by]))
    return document(_picture(before, match, seen_by, language))


def every_seat(history: History, match: Match) -> tuple[Seat, ...]:
    """All seats, as viewers of a match that is over now.

    Raises:
        Refused: `not-your-seat`: the match is not over.
    """
    require_over(history.newest(match.id)[0])
    return tuple(range(len(match.seats)))


def _before(history: History, match: Match, *, highlight: bool) -> Match | None:
    """The match one version earlier, if changes are to be marked and there was a table."""
    if not highlight or match.state is None:
        return None
    before = history.at(match.id, match.head.version - 1)
    return None if before.state is None else before


def _picture(before: Match | None, match: Match, viewer: Viewer, language: str) -> Picture:
    """One viewer's picture, with what changed since `before` marked."""
    drawn = draw(match, viewer, language)
    return drawn if before is None else mark_changes(draw(before, viewer, language), drawn)


def draw(match: Match, viewer: Viewer, language: str) -> Picture:
    """The table of a match for one viewer; before the start, which seats are taken."""
    words = picture_words(match.game.texts, language)
    if match.state is None:
        taken = [holder is not None for holder in match.seats]
        return waiting(match.game.info.id, taken, words, aborted=match.status == "aborted")
    return match.game.picture(match.game.observation(match.state, viewer), viewer, words, match.outcome)


def _revision() -> str:
    """A hash of the code and data that draw, so that a changed drawing of the same table has another revision."""
    return hashlib.sha256(Path(__file__).read_bytes() + code_hash(GAMES)).hexdigest()[:8]


REVISION: Final = _revision()
"""The revision of all pictures, 8 hex digits, computed at import."""
