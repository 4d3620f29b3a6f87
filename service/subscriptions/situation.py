"""The members that `include` adds to frames: open decisions, the time that each seat has left, and legal actions."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from events.chain import Verified
from events.record import Version
from service.games.visibility import Viewer
from service.match import redaction
from service.match.model import Match
from service.match.redaction import SeenEvent
from service.match.texts import action_texts, decisions_with_text, with_text
from service.repository.match_history import History


class Include(msgspec.Struct, frozen=True):
    """What the parameter `include` requests. `language` is the language of the texts; None: no texts."""

    decisions: bool = False
    legal_actions: bool = False
    language: str | None = None


NOTHING: Final = Include()


def situation(match: Match, viewer: Viewer, include: Include, *, is_newest: bool) -> dict[str, Any]:
    """The fields of a `Situation` after the last event of `match`. `is_newest`: the match has no later event."""
    found: dict[str, Any] = {}
    language = include.language
    if include.decisions:
        decisions = redaction.see_decisions(match, viewer)
        found["decisions"] = decisions_with_text(match.game, language, decisions) if language else decisions
        found["banks"] = match.banks
    if include.legal_actions and is_newest and match.status == "running":
        legal = redaction.legal_actions(match, viewer)
        found["legal_actions"] = legal
        if language:
            found["action_texts"] = action_texts(match.game, language, legal)
    return found


class FrameReader:
    """Reads events of a match for viewers. It caches the states of the last read, for other viewers of its events."""

    def __init__(self, matches: History) -> None:
        self._history = matches
        self._stepped: tuple[Sequence[Verified], Sequence[Match]] = ((), ())

    def after(
        self, match: Match, viewer: Viewer, version: Version, limit: int, include: Include = NOTHING
    ) -> tuple[SeenEvent, ...]:
        """Up to `limit` events after a version as a viewer sees them, with the members that `include` adds.

        Raises:
            Corrupt: the chain is broken.
        """
        events = self._history.verified(match, version, limit)
        shown = [redaction.see_event(match, event, head.hash, viewer) for event, head in events]
        if include.language is not None:
            shown = [with_text(match.game, include.language, event) for event in shown]
        if include.decisions:
            shown = [
                replace(event, **situation(after, viewer, include, is_newest=after.head == match.head))
                for event, after in zip(shown, self._after_each(match, events), strict=True)
            ]
        elif include.legal_actions and events and events[-1].head == match.head:
            shown[-1] = replace(shown[-1], **situation(match, viewer, include, is_newest=True))
        return tuple(shown)

    def _after_each(self, match: Match, events: Sequence[Verified]) -> Sequence[Match]:
        """The match right after each of these consecutive events."""
        known, matches = self._stepped
        if known != events:
            matches = self._history.matches_after(match, events)
            self._stepped = events, matches
        return matches
