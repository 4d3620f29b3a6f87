"""Views for replays: one line for each version of a match, and the effects between two versions."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from events.record import Event, Version
from service.games.visibility import Viewer
from service.match.model import Match
from service.match.redaction import see_event
from service.match.texts import effect_texts, with_text
from service.repository.match_history import History


class Moment(msgspec.Struct, frozen=True):
    """One event as one viewer may see it: a line of a replay, and a point of a score curve.

    `points` is what each seat would score if the match ended after this event; null before the start. `clauses` are the
    clauses of the rules that its effects name, each once, including those that gave points.
    """

    version: Version
    at: int
    by: str
    type: str
    text: str
    points: tuple[int, ...] | None
    clauses: tuple[str, ...]


class SeenEffect(msgspec.Struct, frozen=True):
    """One effect of the event `version` as one viewer may see it, and its text."""

    version: Version
    effect: Any
    text: str


def moments(
    history: History, match: Match, viewer: Viewer, language: str, after: Version, limit: int
) -> Iterator[Moment]:
    """A line for each of up to `limit` versions after a version.

    Raises:
        Corrupt: the match cannot be folded.
    """
    events = history.verified(match, after, limit)
    for (event, _), then in zip(events, history.matches_after(match, events), strict=True):
        yield moment(then, event, viewer, language)


def moment(then: Match, event: Event, viewer: Viewer, language: str) -> Moment:
    """The line of an event; `then` is the match right after it."""
    seen = with_text(then.game, language, see_event(then, event, then.head.hash, viewer))
    return Moment(
        version=seen.version,
        at=seen.at,
        by=seen.by,
        type=seen.type,
        text=str(seen.text),
        points=then.points(viewer),
        clauses=tuple(dict.fromkeys(effect["clause"] for effect in _effects(seen.data) if "clause" in effect)),
    )


def changes(
    history: History, match: Match, viewer: Viewer, language: str, first: Version, last: Version
) -> Sequence[SeenEffect]:
    """The effects of the events after version `first` up to and including version `last`, in order."""
    found = []
    for seen in history.events(match, viewer, first, last - first):
        effects = _effects(seen.data)
        texts = effect_texts(match.game, language, effects)
        found += [SeenEffect(seen.version, effect, text) for effect, text in zip(effects, texts, strict=True)]
    return found


def _effects(data: msgspec.Raw) -> Sequence[Mapping[str, Any]]:
    effects: Sequence[Mapping[str, Any]] = msgspec.json.decode(data).get("effects", ())
    return effects
