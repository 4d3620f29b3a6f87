"""The match around the game: seats, status, clock and outcome, and what follows from them."""

import hashlib
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from events.chain import genesis
from events.record import Head as Head
from events.record import MatchId as MatchId
from events.record import Version as Version
from service.games.protocol import CLOCK, AnyGame, Decision, Outcome
from service.games.visibility import Seat as Seat
from service.games.visibility import Viewer as Viewer
from service.match.events import MatchCreated, SeatKind

Status: TypeAlias = Literal["open", "running", "suspended", "finished", "aborted"]
Expiry: TypeAlias = Literal["timer", "resigned", "seat_handed_over", "default_action"]
"""The types of event that a passed deadline may bring."""

GRACE_MS: Final = 100
"""A deadline is enforced this long after it passed, so that an action in time is not overtaken."""
HINT_MS: Final = 300
"""A job that is due at once was hinted at: this long the hint has to arrive, before a sweeper takes it for lost."""
LATE_MS: Final = 500
"""A bot that is asked later than this after its time was asked in time, and waits."""
BOT_PACE_MS: Final = 2_500
"""How long a bot takes on average where the game itself is timed and nothing else is said: people play against it."""


class Sitter(msgspec.Struct, frozen=True):
    """Who holds a seat; a seat that resigned is played by default actions. A bot that took it over tells from whom."""

    player: str
    kind: SeatKind
    client_seed: str | None = None
    resigned: bool = False
    former: str | None = None


class Opening(msgspec.Struct, frozen=True, gc=False):
    """When a decision opened: the version, and the match time."""

    version: Version
    at: int


class OpenDecision(Decision[Any], frozen=True, kw_only=True):
    """A decision of the rules as the match knows it: `opens_at` and `deadline` are server time in milliseconds."""

    id: str
    opens_at: int
    plays_at: int | None
    """When the service may take the decision by itself: a bot's, at its pace, or that of a seat whose player left."""
    asked_at: int | None
    """When it does: a bot that let its time go by takes as long again before it reacts to others."""
    by_clock: bool
    """Whether the deadline is the match clock's, not the game's own."""

    @property
    def enforced_at(self) -> int | None:
        """When its deadline brings a bell or the default action; None if it has none, or another decision's bell ends it."""
        if self.deadline is None or (self.seat != CLOCK and self.on_timeout is None):
            return None
        return self.deadline + GRACE_MS

    def is_past(self, at: int) -> bool:
        """Whether the seat's time is over at a server time in milliseconds."""
        return self.deadline is not None and at >= self.deadline

    def is_played(self, at: int) -> bool:
        """Whether the service may take the decision by itself at a server time in milliseconds."""
        return self.plays_at is not None and self.plays_at <= at


class Folding(msgspec.Struct):
    """All that follows from a match's events, while they are being folded: never shared, and left as a `Match`.

    `paused` is how far match time lies behind server time, in milliseconds. `opened` is when every decision of a
    sequential game opened; in a simultaneous one `since` says it for each that is `asked`. `banks` are what is left of each
    seat's time before the decision that is open, in milliseconds, where the clock is a bank.
    """

    id: MatchId
    game: AnyGame
    created: MatchCreated
    options: Any
    creator: str
    created_at: int
    head: Head
    at: int
    seats: tuple[Sitter | None, ...]
    status: Status = "open"
    state: Any = None
    drawn: Mapping[str, int] = {}
    opened: Opening = Opening(0, 0)
    asked: tuple[Decision[Any], ...] = ()
    since: tuple[Opening, ...] = ()
    started_at: int | None = None
    ended_at: int | None = None
    paused: int = 0
    banks: tuple[int, ...] = ()
    suspended_at: int | None = None
    outcome: Outcome | None = None
    server_seed: str | None = None


class Match(Folding, frozen=True, dict=True):  # type: ignore[misc]  # msgspec lets a frozen struct have these fields
    """A match at a version: what `Folding` says, frozen, and what follows from it."""

    @property
    def is_over(self) -> bool:
        """Whether nothing can be played any more; its seed may be yet to be revealed."""
        return self.status in {"finished", "aborted"}

    def decisions(self) -> tuple[OpenDecision, ...]:
        """What the match waits for, the game's own deadline or else the match clock's in server time."""
        return self._decisions

    @cached_property
    def _decisions(self) -> tuple[OpenDecision, ...]:
        """A request asks several times, and the answer follows from a frozen match."""
        if self.status != "running":
            return ()
        if self.game.info.simultaneous:
            return tuple(map(self._open, self.asked, self.since))
        return tuple(self._open(decision, self.opened) for decision in self.game.decisions(self.state))

    def _open(self, decision: Decision[Any], opening: Opening) -> OpenDecision:
        opens_at = opening.at if decision.opens_at is None else decision.opens_at
        deadline, shown = decision.deadline, decision.deadline_shown
        allowed = None if decision.seat == CLOCK or deadline is not None else self.allowed(decision.seat)
        if allowed is not None:
            deadline, shown = opens_at + allowed, True
        wait = self._wait(decision, opening)
        due = None if wait is None else max(opens_at, opening.at) + wait + self.paused
        return OpenDecision(
            id=f"{'clock' if decision.seat == CLOCK else decision.seat}:{opening.version}",
            seat=decision.seat,
            step=decision.step,
            on_timeout=decision.on_timeout,
            opens_at=opens_at + self.paused,
            deadline=None if deadline is None else deadline + self.paused,
            deadline_shown=shown,
            plays_at=None if due is None else max(self.at, due),
            asked_at=None if wait is None or due is None else self._asked_at(due, wait),
            by_clock=allowed is not None,
        )

    def _asked_at(self, due: int, wait: int) -> int:
        if wait and self.at > due + LATE_MS:
            due += -(-(self.at - LATE_MS - due) // wait) * wait
        return max(self.at, due)

    def observation(self, viewer: Viewer) -> msgspec.Raw | None:
        """What a viewer sees of the table, as JSON; None before the start. Made once for each: many ask, and ask again."""
        if self.state is None:
            return None
        made = self._observations
        if viewer not in made:
            made[viewer] = msgspec.Raw(msgspec.json.encode(self.game.observation(self.state, viewer)))
        return made[viewer]

    @property
    def origin(self) -> Head:
        """The head before the first event: version 0 and the hash of the match file's first line."""
        return genesis(self.id, self.created.game, self.created.ruleset)[1]

    def points(self, viewer: Viewer) -> tuple[int, ...] | None:
        """What each seat has scored, or would score if the match ended now, as a viewer may know it; None before the start."""
        if self.outcome is not None:
            return self.outcome.scores
        return None if self.state is None else self.game.points(self.state, viewer)

    @cached_property
    def _observations(self) -> dict[Viewer, msgspec.Raw]:
        return {}

    def allowed(self, seat: Seat) -> int | None:
        """How long the match clock gives a seat for the decision that opens now, in milliseconds; None without a clock."""
        clock = self.created.clock
        if clock is None:
            return None
        if clock.turn_seconds is not UNSET:
            return clock.turn_seconds * 1000
        return None if clock.bank_seconds is UNSET else self.banks[seat]

    def _wait(self, decision: Decision[Any], opening: Opening) -> int | None:
        """How long the service waits before it takes a decision by itself, in milliseconds; None where it does not."""
        sitter = None if decision.seat == CLOCK else self.seats[decision.seat]
        if sitter is None or (sitter.kind == "human" and not sitter.resigned):
            return None
        if sitter.resigned:
            return None if decision.on_timeout is None else 0
        pace: int | UnsetType = UNSET if self.created.clock is None else self.created.clock.bot_pace_ms
        if pace is UNSET:
            pace = 0 if decision.opens_at is None else BOT_PACE_MS
        jitter = hashlib.sha256(f"{self.id} {decision.seat} {opening.version}".encode()).digest()[0]
        return pace // 2 + pace * jitter // 255

    def seat_of(self, player: str) -> Seat | None:
        """The seat that a person holds; a seat once resigned is still theirs to look from."""
        for seat, sitter in enumerate(self.seats):
            if sitter is not None and sitter.kind == "human" and sitter.player == player:
                return seat
        return None

    def was_of(self, player: str) -> bool:
        """Whether a seat was taken from a person: who plays no more, but may follow what they were dealt into."""
        return any(sitter is not None and sitter.former == player for sitter in self.seats)

    @property
    def has_people(self) -> bool:
        """Whether a person holds a seat and has not left it."""
        return any(sitter is not None and sitter.kind == "human" and not sitter.resigned for sitter in self.seats)

    @property
    def is_abandoned(self) -> bool:
        """Whether all people of a match left their seats, or lost them to bots."""
        were_there = (one is not None and (one.resigned or one.former is not None) for one in self.seats)
        return not self.has_people and any(were_there)

    def is_of(self, player: str) -> bool:
        """Whether a match is among a player's own: made, played, or played until the seat was handed over."""
        return player == self.creator or self.was_of(player) or self.seat_of(player) is not None

    def job_at(self, after: int = -1) -> int | None:
        """When workers have something to do: a bot's decision, a seat whose player left, the scoring; None for nothing.

        Bots that were to play by the time `after` do not count.
        """
        if self.status != "running":
            return None
        decisions = self.decisions()
        if not decisions:
            return self.at
        return min(
            (one.asked_at for one in decisions if one.asked_at is not None and one.asked_at > after), default=None
        )

    def first_due(self) -> OpenDecision | None:
        """The decision whose deadline is enforced before all others; None if there is no deadline."""
        timed = (one for one in self.decisions() if one.enforced_at is not None)
        return min(timed, key=lambda one: (one.enforced_at or 0, one.seat, one.step), default=None)

    def expiry(self, decision: OpenDecision) -> Expiry:
        """The type of the event that a decision's passed deadline brings.

        The match's own clock may have a policy for people; bots and seats that were left take the default action.
        """
        if decision.seat == CLOCK:
            return "timer"
        sitter, clock = self.seats[decision.seat], self.created.clock
        is_persons = sitter is not None and sitter.kind == "human" and not sitter.resigned
        if clock is not None and decision.by_clock and is_persons:
            if clock.on_timeout == "resign":
                return "resigned"
            if clock.on_timeout == "bot":
                return "seat_handed_over"
        return "default_action"

    def is_owed_something(self, at: int) -> bool:
        """Whether the service itself has something to do in the match at a server time in milliseconds."""
        first = self.first_due()
        times = (self.job_at(), None if first is None else first.enforced_at)
        return any(time is not None and time <= at for time in times)

    def minds_outages(self, at: int, *, opens_anew: bool) -> bool:
        """Whether an outage before a server time in milliseconds could cost a seat anything.

        A turn that is not over yet minds none if the next event opens it anew. Banks and a game's own bells run on.
        """
        timed = [one for one in self.decisions() if one.deadline is not None]
        if not opens_anew or self.banks or self.game.info.simultaneous:
            return bool(timed)
        return any(one.is_past(at) or not one.by_clock for one in timed)

    def can_be_given_back(self, ms: int, at: int) -> int:
        """The milliseconds that the match gets back of outages that took `ms` until `at`.

        Never more than has passed since its newest event: until then the match went on, and match time never goes back.
        """
        return max(0, min(ms, at - self.at)) if self.status == "running" else 0

    def client_seeds(self) -> list[str | None]:
        return [sitter.client_seed if sitter else None for sitter in self.seats]
