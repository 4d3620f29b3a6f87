"""An arena whose players follow their matches in streams."""

import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final

import jsonschema_rs
import msgspec

from api.app import describe
from api.reference import openapi
from events.feed import Feed
from service.errors import Refused
from service.games.registry import GAMES
from service.subscriptions.frames import NDJSON, Form
from service.subscriptions.player_stream import PlayerSubscription
from service.subscriptions.situation import NOTHING, Include
from service.subscriptions.streams import Streams
from tests.service.arena import Arena
from tests.service.games.toy.game import TOY

BEAT: Final = 0.2
"""Seconds, where a test waits for one; else there is none."""

Told = dict[str, Any]


class Players(Arena):
    """An arena whose players have streams. What happens there wakes them, unless it is `deaf`."""

    def __init__(self) -> None:
        super().__init__()
        self.feed = Feed()
        self.alive = True
        self.deaf = False
        self.revoked = False
        self.log._wake = self.wake
        self.index._wake = self.wake
        self.streams = Streams(self.ports.history, self.feed, lambda: self.alive)

    def wake(self, key: str, number: int) -> None:
        if not self.deaf:
            self.feed.wake(key, number)

    def authorize(self) -> None:
        if self.revoked:
            raise Refused("token-invalid", "")

    def follow(
        self,
        player: str,
        form: Form = NDJSON,
        include: Include = NOTHING,
        after: int | None = None,
        gone: Callable[[], bool] = lambda: False,
    ) -> Iterator[bytes]:
        subscription = PlayerSubscription(self.ports, self.streams, player, form, include, after)
        return self.streams.run(subscription, self.authorize, gone)

    def told(
        self,
        player: str,
        include: Include = NOTHING,
        after: int | None = None,
        gone: Callable[[], bool] = lambda: False,
    ) -> Iterator[Told]:
        """The lines of a stream but heartbeats, each as the reference says."""
        line = {
            "oneOf": [{"$ref": f"#/components/schemas/{name}"} for name in ("NoticesHello", "Notice", "NoticesEnd")]
        }
        validator = jsonschema_rs.Draft202012Validator({**line, "components": components()})
        deadline = time.monotonic() + 60
        for piece in self.follow(player, NDJSON, include, after, gone):
            assert time.monotonic() < deadline
            for text in piece.split(b"\n"):
                if text:
                    told = msgspec.json.decode(text)
                    validator.validate(told)
                    yield told

    def told_at_once(
        self, player: str, include: Include = NOTHING, after: int | None = None
    ) -> tuple[Told, list[Told]]:
        """The hello of a stream, and what it sends before it waits for anything."""
        hello, *told = self.told(player, include, after, gone=lambda: True)
        return hello, told


@cache
def components() -> dict[str, object]:
    """Of a reference that knows the toy too."""
    found: dict[str, object] = openapi.document(describe(games={**GAMES, TOY.info.id: TOY}))["components"]
    return found


def brief(told: Told) -> tuple[str, str]:
    return told["type"], told.get("match", "")
