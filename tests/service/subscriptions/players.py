"""An arena whose players follow their matches in streams."""

import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final

import jsonschema_rs
import msgspec

from api.app import RESOURCES
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

SLOW_HEARTBEAT_S: Final = 0.2
"""The heartbeat in tests that wait for one; other tests have none."""

Frame = dict[str, Any]


class Players(Arena):
    """An arena whose players have streams. Events wake the streams, unless `drops_wakes` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.feed = Feed()
        self.alive = True
        self.drops_wakes = False
        self.revoked = False
        self.log._wake = self.wake
        self.index._wake = self.wake
        self.streams = Streams(self.ports.history, self.ports.limits, self.feed, lambda: self.alive)

    def wake(self, key: str, number: int) -> None:
        if not self.drops_wakes:
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
        hung_up: Callable[[], bool] = lambda: False,
    ) -> Iterator[bytes]:
        subscription = PlayerSubscription(self.ports, self.streams, player, form, include, after)
        return self.streams.run(subscription, self.authorize, hung_up)

    def sent(
        self,
        player: str,
        include: Include = NOTHING,
        after: int | None = None,
        hung_up: Callable[[], bool] = lambda: False,
    ) -> Iterator[Frame]:
        """The frames of an NDJSON stream, without heartbeats. Each is validated against the API reference."""
        deadline = time.monotonic() + 60
        for piece in self.follow(player, NDJSON, include, after, hung_up):
            assert time.monotonic() < deadline
            for text in piece.split(b"\n"):
                if text:
                    sent = msgspec.json.decode(text)
                    frames().validate(sent)
                    yield sent

    def sent_at_once(
        self, player: str, include: Include = NOTHING, after: int | None = None
    ) -> tuple[Frame, list[Frame]]:
        """The hello of a stream, and the frames that it sends before it waits."""
        hello, *sent = self.sent(player, include, after, hung_up=lambda: True)
        return hello, sent


@cache
def frames() -> jsonschema_rs.Draft202012Validator:
    """Validates frames against an API reference that includes the toy game."""
    components = openapi.document(RESOURCES, {**GAMES, TOY.info.id: TOY})["components"]
    names = ("NoticesHello", "Notice", "SeekEndedNotice", "NoticesEnd")
    one = {"oneOf": [{"$ref": f"#/components/schemas/{name}"} for name in names]}
    return jsonschema_rs.Draft202012Validator({**one, "components": components})


def type_and_match(sent: Frame) -> tuple[str, str]:
    return sent["type"], sent.get("match", "")
