"""A client that knows no rules: it keeps an observation by nothing but the effects that it is shown, as JSON."""

from collections.abc import Sequence
from typing import Any

import msgspec

from service.games.visibility import Effect, Viewer, redact

Json = dict[str, Any]


def as_json(value: object) -> Json:
    """A struct as a client reads it."""
    read: Json = msgspec.json.decode(msgspec.json.encode(value))
    return read


class Following:
    """`table` is the observation as JSON. A game's own follower has a method for each effect, `_` before its type."""

    def __init__(self, viewer: Viewer) -> None:
        self._viewer = viewer
        self.table: Json = {}

    def follow(self, effects: Sequence[Effect]) -> None:
        for effect in effects:
            self.take(as_json(redact(effect, self._viewer)))

    def take(self, shown: Json) -> None:
        """One effect as this viewer gets it."""
        fields = dict(shown)
        getattr(self, "_" + fields.pop("type"))(**fields)

    def _seat(self, seat: int) -> Json:
        held: Json = self.table["seats"][seat]
        return held
