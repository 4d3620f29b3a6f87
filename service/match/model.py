"""The match around the game: seats, status, clock and outcome, and what can be computed from them."""

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
from service.match.events import MatchCreated
from service.match.open_decision import GRACE_MS as GRACE_MS
from service.match.open_decision import OpenDecision as OpenDecision
from service.match.open_decision import Opening as Opening
from service.match.seat_holder import LastMove as LastMove
from service.match.seat_holder import SeatHolder as SeatHolder

Status: TypeAlias = Literal["open", "running", "suspended", "finished", "aborted"]
Expiry: TypeAlias = Literal["timer", "resigned", "seat_handed_over", "default_action"]
"""The event types that may follow from a passed deadline."""

LATE_MS: Final = 500
"""Lateness above which a bot's turn is rescheduled: its missed turn counts as a turn without an action."""
OPEN_MS: Final = 24 * 3_600_000
"""How long a match of format 1 may wait for players. Later formats say it in their first event."""
ABSENCE_MS: Final = 14 * 24 * 3_600_000
"""A person who does not move for this long in a match without a clock loses the seat to a bot if another seat asks."""
BOT_PACE_MS: Final = 2_500
"""Average time of a bot in a timed game if the clock has no `bot_pace_ms`, so that people can play against it."""


class Folding(msgspec.Struct):
    """The mutable state of a match while its events are folded. It is not shared; the result is a `Match`.

    `paused` is server time minus match time, in milliseconds. `opened` is when all decisions of a sequential game
    opened. In a simultaneous game `open_decisions` are the open decisions, and `since` is when each of them opened.
    `banks` is the time that each seat had left before its open decision, in milliseconds; it is empty if the clock has
    no bank. `abort_asked` are the seats that ask to abort the match. `last_moves` has the last event of each hosted bot's seat.
    """

    id: MatchId
    game: AnyGame
    created: MatchCreated
    options: Any
    creator: str
    created_at: int
    head: Head
    at: int
    seats: tuple[SeatHolder | None, ...]
    status: Status = "open"
    state: Any = None
    drawn: Mapping[str, int] = {}
    opened: Opening = Opening(0, 0)
    open_decisions: tuple[Decision[Any], ...] = ()
    since: tuple[Opening, ...] = ()
    started_at: int | None = None
    ended_at: int | None = None
    paused: int = 0
    banks: tuple[int, ...] = ()
    suspended_at: int | None = None
    outcome: Outcome | None = None
    server_seed: str | None = None
    abort_asked: tuple[Seat, ...] = ()
    last_moves: Mapping[Seat, LastMove] = {}


class Match(Folding, frozen=True, dict=True):  # type: ignore[misc]  # msgspec lets a frozen struct have these fields
    """A match at a version: the fields of `Folding`, frozen, and what can be computed from them."""

    @property
    def is_over(self) -> bool:
        """Whether no action is possible any more. The seed may not be revealed yet."""
        return self.status in {"finished", "aborted"}

    @property
    def is_to_be_rated(self) -> bool:
        """Whether the match gets an entry in the rating stream of its game: it is rated, and was scored."""
        return self.created.rated is True and self.status == "finished"

    @property
    def expires_at(self) -> int | None:
        """Server time in milliseconds after which the match is aborted if it has not started; None once it has."""
        if self.status != "open":
            return None
        open_ms = self.created.open_ms
        return self.created_at + (OPEN_MS if open_ms is UNSET else open_ms)

    def decisions(self) -> tuple[OpenDecision, ...]:
        """The open decisions. A deadline is the game's own, or else that of the match clock, in server time."""
        return self._decisions

    @cached_property
    def _decisions(self) -> tuple[OpenDecision, ...]:
        """Cached, since one request reads them several times."""
        if self.status != "running":
            return ()
        if self.game.info.simultaneous:
            return tuple(map(self._open, self.open_decisions, self.since))
        return tuple(self._open(decision, self.opened) for decision in self.game.decisions(self.state))

    def _open(self, decision: Decision[Any], opening: Opening) -> OpenDecision:
        opens_at = opening.at if decision.opens_at is None else decision.opens_at
        deadline, shown = decision.deadline, decision.deadline_shown
        allowed = None if decision.seat == CLOCK or deadline is not None else self.allowed(decision.seat)
        if allowed is not None:
            deadline, shown = opens_at + allowed, True
        holder = None if decision.seat == CLOCK else self.seats[decision.seat]
        wait = None if holder is None else self._wait(holder, decision, opening)
        due = None if wait is None else max(opens_at, opening.at) + wait + self.paused
        slot = None if wait is None or due is None else self._slot(due, wait)
        planned_at = None if slot is None else max(self.at, slot)
        is_hosted = holder is not None and holder.is_hosted
        return OpenDecision(
            id=f"{'clock' if decision.seat == CLOCK else decision.seat}:{opening.version}",
            seat=decision.seat,
            step=decision.step,
            on_timeout=decision.on_timeout,
            opens_at=opens_at + self.paused,
            deadline=None if deadline is None else deadline + self.paused,
            deadline_shown=shown,
            plays_at=None if due is None or is_hosted else max(self.at, due),
            scheduled_at=None if is_hosted else planned_at,
            called_at=planned_at if is_hosted else None,
            slot=slot,
            by_clock=allowed is not None,
        )

    def _slot(self, due: int, wait: int) -> int:
        if wait and self.at > due + LATE_MS:
            due += -(-(self.at - LATE_MS - due) // wait) * wait
        return due

    def observation(self, viewer: Viewer) -> msgspec.Raw | None:
        """What a viewer sees of the table, as JSON; None before the start. Cached for each viewer."""
        if self.state is None:
            return None
        cached = self._observations
        if viewer not in cached:
            cached[viewer] = msgspec.Raw(msgspec.json.encode(self.game.observation(self.state, viewer)))
        return cached[viewer]

    @property
    def origin(self) -> Head:
        """The head before the first event: version 0 and the hash of the match file's first line."""
        return genesis(self.id, self.created.game, self.created.ruleset, self.created.format_number)[1]

    def points(self, viewer: Viewer) -> tuple[int, ...] | None:
        """The points of each seat if the match ended now, as far as a viewer may know them; None before the start."""
        if self.outcome is not None:
            return self.outcome.scores
        return None if self.state is None else self.game.points(self.state, viewer)

    @cached_property
    def _observations(self) -> dict[Viewer, msgspec.Raw]:
        return {}

    def allowed(self, seat: Seat) -> int | None:
        """Milliseconds that a seat has for the decision that opens now: by the match clock, or by the limit of a hosted bot."""
        clock, holder = self.created.clock, self.seats[seat]
        if clock is not None and clock.turn_seconds is not UNSET:
            return clock.turn_seconds * 1000
        if clock is not None and clock.bank_seconds is not UNSET:
            return self.banks[seat]
        return None if holder is None else holder.limit_ms

    def _wait(self, holder: SeatHolder, decision: Decision[Any], opening: Opening) -> int | None:
        """How many milliseconds the service waits before it takes a decision, or calls a hosted bot; None if it does neither.

        A hosted bot is called without a wait, except in a timed game.
        """
        if holder.is_present:
            return None
        if holder.resigned:
            return None if decision.on_timeout is None else 0
        if holder.is_hosted and decision.opens_at is None:
            return 0
        pace: int | UnsetType = UNSET if self.created.clock is None else self.created.clock.bot_pace_ms
        if pace is UNSET:
            pace = 0 if decision.opens_at is None else BOT_PACE_MS
        jitter = hashlib.sha256(f"{self.id} {decision.seat} {opening.version}".encode()).digest()[0]
        return pace // 2 + pace * jitter // 255

    def seat_of(self, player: str) -> Seat | None:
        """The seat of a person or hosted bot. One that resigned still has the seat, and its view of the match."""
        for seat, holder in enumerate(self.seats):
            if holder is not None and holder.kind != "bot" and holder.player == player:
                return seat
        return None

    def was_of(self, player: str) -> bool:
        """Whether a bot took over a seat of this person or hosted bot, which may still watch the match."""
        return self.lost_seat_of(player) is not None

    @property
    def players(self) -> set[str]:
        """The people and hosted bots that have seats, also those that left after the start."""
        return {holder.player for holder in self.seats if holder is not None and holder.kind != "bot"}

    @cached_property
    def has_players(self) -> bool:
        """Whether a person or hosted bot holds a seat and has not left it."""
        return any(holder is not None and (holder.is_present or holder.is_hosted) for holder in self.seats)

    def lost_seat_of(self, player: str) -> Seat | None:
        """The seat that a bot took over from a person or hosted bot; None if there is none."""
        return next((seat for seat, one in enumerate(self.seats) if one is not None and one.former == player), None)

    def is_agreed(self, *, asking: Seat | None = None, leaving: Seat | None = None) -> bool:
        """Whether all people of the match ask to abort it, once `asking` does too, or `leaving` has left."""
        people = {seat for seat, holder in enumerate(self.seats) if holder is not None and holder.is_present}
        staying = people - {leaving}
        return bool(staying) and staying <= {*self.abort_asked, asking}

    @property
    def is_abandoned(self) -> bool:
        """Whether all people and hosted bots of a match left their seats, or lost them to bots."""
        if self.has_players:
            return False
        return any(one is not None and (one.resigned or one.former is not None) for one in self.seats)

    def is_of(self, player: str) -> bool:
        """Whether the player created the match, has a seat in it, or had one that was handed over."""
        return player == self.creator or self.was_of(player) or self.seat_of(player) is not None

    def job_at(self, after: int = -1) -> int | None:
        """When the next job of the workers is due: a bot's decision, that of a seat whose player left, or the scoring.

        None if there is no job. Decisions that were due by the time `after` do not count.
        """
        if self.status != "running":
            return None
        decisions = self.decisions()
        if not decisions:
            return self.at
        times = [one.scheduled_at for one in decisions if one.scheduled_at is not None and one.scheduled_at > after]
        return min(times) if times else None

    def call_at(self, after: int = -1) -> int | None:
        """When a hosted bot is called next, later than `after`; None if no hosted bot has a decision open."""
        times = [one.called_at for one in self.decisions() if one.called_at is not None and one.called_at > after]
        return min(times) if times else None

    def first_due(self) -> OpenDecision | None:
        """The decision whose deadline is enforced first; None if there is no deadline."""
        timed = [one for one in self.decisions() if one.enforced_at is not None]
        return min(timed, key=lambda one: (one.enforced_at or 0, one.seat, one.step)) if timed else None

    def expiry(self, decision: OpenDecision) -> Expiry:
        """The type of the event that follows when a decision's deadline passes.

        `on_timeout` of the match clock applies to people, and `bot_fallback` of the match to hosted bots. Other bots and
        seats whose player left take the default action.
        """
        if decision.seat == CLOCK:
            return "timer"
        holder, clock = self.seats[decision.seat], self.created.clock
        wanted: object = None
        if holder is not None and holder.is_hosted:
            wanted = self.created.bot_fallback
        elif clock is not None and decision.by_clock and holder is not None and holder.is_present:
            wanted = clock.on_timeout
        if wanted == "resign":
            return "resigned"
        return "seat_handed_over" if wanted == "bot" else "default_action"

    def has_due_work(self, at: int) -> bool:
        """Whether a job or a deadline of the match is due at a server time in milliseconds."""
        first = self.first_due()
        times = (self.job_at(), None if first is None else first.enforced_at)
        return any(time is not None and time <= at for time in times)

    def is_affected_by_outages(self, at: int, *, reopens_decisions: bool) -> bool:
        """Whether an outage before a server time in milliseconds could cost a seat any time.

        `reopens_decisions`: the next event opens the decisions of a sequential game anew. Then an outage does not
        matter for a turn whose deadline has not passed. It always matters for banks and for a game's own timers.
        """
        timed = [one for one in self.decisions() if one.deadline is not None]
        if not reopens_decisions or self.banks or self.game.info.simultaneous:
            return bool(timed)
        return any(one.is_past(at) or not one.by_clock for one in timed)

    def compensation_ms(self, ms: int, at: int) -> int:
        """The milliseconds by which deadlines move after outages of `ms` milliseconds until `at`.

        It is at most the time since the newest event, because match time never goes back.
        """
        return max(0, min(ms, at - self.at)) if self.status == "running" else 0

    def client_seeds(self) -> list[str | None]:
        return [holder.client_seed if holder else None for holder in self.seats]
