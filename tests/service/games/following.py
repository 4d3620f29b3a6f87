"""A client that knows no rules. It keeps an observation up to date from redacted effects in JSON."""

from collections.abc import Sequence
from typing import Any

import msgspec

from service.games.visibility import Effect, Viewer, redact

Json = dict[str, Any]


def as_json(value: object) -> Json:
    """A struct as a client parses it."""
    read: Json = msgspec.json.decode(msgspec.json.encode(value))
    return read


class Following:
    """`table` is the observation as JSON.

    Each game's follower has one method for each effect: `_` and the effect's type.
    """

    def __init__(self, viewer: Viewer) -> None:
        self._viewer = viewer
        self.table: Json = {}

    def follow(self, effects: Sequence[Effect]) -> None:
        for effect in effects:
            self.take(as_json(redact(effect, self._viewer)))

    def take(self, shown: Json) -> None:
        """Fold one effect, redacted for this viewer."""
        fields = dict(shown)
        getattr(self, "_" + fields.pop("type"))(**fields)

    def _seat(self, seat: int) -> Json:
        held: Json = self.table["seats"][seat]
        return held
