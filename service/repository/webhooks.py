"""The port for webhooks: where a player's notices are sent, and what became of each of them.

News of matches become deliveries, one for each notice and webhook. How far that has happened is stored for each player and match,
in the same write as the deliveries, so that none is lost and none is made twice.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal, Protocol, TypeAlias, get_args

import msgspec

from events.record import MatchId, Version
from service.repository.news import Item
from service.repository.outgoing import Failure
from service.repository.signing import SigningKey

Notified: TypeAlias = Literal["started", "your_turn", "seat_lost", "finished", "seat_freed", "rematch", "seek_ended"]
"""The types of the notices that a webhook may send."""
NOTIFIED: Final[tuple[Notified, ...]] = get_args(Notified)

WebhookStatus: TypeAlias = Literal["active", "ended", "suspended"]
"""`ended`: the receiver answered 410. `suspended`: all attempts failed for `SUSPENDED_AFTER_MS`. Neither gets deliveries."""
SUSPENDED_AFTER_MS: Final = 5 * 24 * 3_600_000

DeliveryStatus: TypeAlias = Literal["pending", "delivered", "failed", "outdated", "dropped"]
"""`failed`: no attempt succeeded within a day. `outdated`: the decision was taken, or the offer ended, before an attempt.
`dropped`: the webhook was ended or suspended."""

NEWS: Final = "news"
"""The source of deliveries that are about no match: the player's `News`. Its position is a time in server milliseconds."""
MAX_DELIVERIES: Final = 1_000
"""Maximum number of deliveries of a player that are kept; the oldest are removed."""
KEEP_MS: Final = 7 * 24 * 3_600_000
"""How long a delivery is kept, in milliseconds."""


class MatchNotice(msgspec.Struct, frozen=True, tag="notice"):
    """The notice of a kind about a match at a version."""

    match: MatchId
    version: Version
    kind: Literal["started", "your_turn", "seat_lost", "finished", "seat_freed", "rematch"]


class SampleNotice(msgspec.Struct, frozen=True, tag="test"):
    """A notice that the player asked for as a test. It is about no match."""


Subject: TypeAlias = MatchNotice | Item | SampleNotice


class Webhook(msgspec.Struct, frozen=True):
    """A subscription. Times are in server milliseconds.

    `since`: what happened before is not sent; it is when the webhook was created, or made active again.
    `failing_since`: the first failed attempt after the last one that succeeded. `reason` says why it is not active: the status or
    the failure of the last attempt.
    """

    id: str
    player: str
    url: str
    events: tuple[Notified, ...]
    created_at: int
    since: int
    key: SigningKey
    status: WebhookStatus = "active"
    reason: str | None = None
    failing_since: int | None = None


class Attempt(msgspec.Struct, frozen=True):
    """The last attempt of a delivery: when, the status of the answer or why there was none, and how long it took."""

    at: int
    ms: int
    status: int | None = None
    failure: Failure | None = None

    @property
    def succeeded(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


class Delivery(msgspec.Struct, frozen=True):
    """A notice for a webhook. Times are in server milliseconds.

    `since` is when it was made, or sent again by the player; `attempts` counts from then on, and they end a day later. `next_at` is None unless it is pending.
    """

    webhook: str
    notice: str
    subject: Subject
    created_at: int
    since: int
    status: DeliveryStatus = "pending"
    attempts: int = 0
    last: Attempt | None = None
    next_at: int | None = None

    @property
    def is_pending(self) -> bool:
        return self.status == "pending"


AddedWebhook: TypeAlias = Literal["added", "known", "removed", "full"]
"""`known`: there is one with this id. `removed`: there was one within the last day."""


class Webhooks(Protocol):
    """Webhooks and deliveries of players. Each method is atomic."""

    def of(self, players: Sequence[str]) -> Mapping[str, Sequence[Webhook]]:
        """The webhooks of each of these players that has any, oldest first."""
        ...

    def add(self, webhook: Webhook, limit: int) -> AddedWebhook:
        """Add a webhook, unless the player has `limit` of them, and make the player's news due."""
        ...

    def change(
        self, player: str, webhook: str, changed: Callable[[Webhook], Webhook], at: int | None = None
    ) -> Webhook | None:
        """Replace a webhook by what `changed` makes of it, and return that; None if the player has no such webhook.

        No concurrent change is lost: `changed` is called again if the webhook was replaced meanwhile. With `at`, the player's news
        are due then.
        """
        ...

    def remove(self, player: str, webhook: str) -> bool:
        """Remove a webhook and its deliveries. Returns whether it was there."""
        ...

    def erase(self, player: str) -> None:
        """Remove everything that is stored for a player."""
        ...

    def watch(self, matches: Sequence[MatchId], at: int) -> None:
        """Make the news of matches due at a time, unless they are due already or wait for the next event."""
        ...

    def postpone(self, match: MatchId, at: int) -> None:
        """Change the time at which the news of a match are due, if they are."""
        ...

    def watch_player(self, player: str, at: int | None, claimed: int | None = None) -> None:
        """Replace the time at which news of a player are due next; None if the player has no webhooks.

        Pending deliveries get their due times again, in case a restore has lost them.
        `claimed`: only if the due time is still this one, that is, if nothing was posted since it was claimed.
        """
        ...

    def position(self, player: str, source: str) -> int:
        """How far the news of a source became deliveries of a player: a version, or a time for `NEWS`; 0 if none did."""
        ...

    def record(
        self, player: str, source: str, position: int, new: Sequence[Delivery], at: int, *, is_last: bool = False
    ) -> None:
        """Add deliveries that are not known, and move the position of their source, a match or `NEWS`, in one write.

        Deliveries of webhooks that are gone are not added. Those that are too old at the time `at`, or too many, are removed.
        `is_last`: the source has no further news; its position is removed.
        """
        ...

    def take(self, player: str, now: int, lease: int, limit: int) -> Sequence[Delivery]:
        """Take at most `limit` deliveries that are due at `now`. Each is due again `lease` milliseconds later."""
        ...

    def hold(self, player: str, at: int, taken: Sequence[Delivery] = ()) -> None:
        """Make the deliveries of a player due at a time, unless one is settled or made before; those `taken` are due again then."""
        ...

    def settle(self, player: str, before: Delivery, after: Delivery) -> bool:
        """Store what became of a delivery, and when it is due next. Returns whether it was stored.

        Nothing is stored if it was removed, or if another attempt was stored or asked for meanwhile: its `since` and `attempts`
        are then not those of `before`.
        """
        ...

    def deliveries(self, player: str) -> Sequence[Delivery]:
        """All deliveries of a player that are kept, newest first."""
        ...

    def subscribers(self) -> Sequence[str]:
        """All players with webhooks, in any order; for a check, and after a restore."""
        ...
