"""An open decision of a match with its times in server time, and when it opened."""

from typing import Any, Final

import msgspec

from events.record import Version
from service.games.protocol import CLOCK, Decision

GRACE_MS: Final = 100
"""A deadline is enforced this long after it has passed, so that an action received in time is appended first."""


class Opening(msgspec.Struct, frozen=True, gc=False):
    """When a decision opened: the version, and the match time in milliseconds."""

    version: Version
    at: int


class OpenDecision(Decision[Any], frozen=True, kw_only=True):
    """A decision of the rules, with its id and times. All times are server time in milliseconds."""

    id: str
    opens_at: int
    plays_at: int | None
    """The earliest time at which the service may take the decision: for a bot, or for a seat whose player left."""
    scheduled_at: int | None
    """When the service plans to take it. A bot that missed its time waits for its pace again before it reacts to others."""
    called_at: int | None
    """When the service plans to call the hosted bot of the seat; None for any other seat."""
    slot: int | None
    """Where the plan began: `scheduled_at` or `called_at`, without the delay by events that came later. None if both are None."""
    by_clock: bool
    """Whether the deadline comes from the match clock, or from the limit of a hosted bot, and not from the game."""

    @property
    def enforced_at(self) -> int | None:
        """When its deadline is enforced. None if it has no deadline, or if the deadline of another decision ends it."""
        if self.deadline is None or (self.seat != CLOCK and self.on_timeout is None):
            return None
        return self.deadline + GRACE_MS

    def is_past(self, at: int) -> bool:
        """Whether the deadline has passed at `at`."""
        return self.deadline is not None and at >= self.deadline

    def is_played(self, at: int) -> bool:
        """Whether the service may take the decision at `at`."""
        return self.plays_at is not None and self.plays_at <= at
