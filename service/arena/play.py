"""Plays one match by the bare rules.

Time is simulated: it passes only in games that keep time, and where a bot failed.
"""

import base64
import hashlib
import hmac
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter_ns
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeAlias

import msgspec

from service.games.protocol import CLOCK, AnyGame, Decision, IllegalAction, Move, Outcome, Ring, Task
from service.games.visibility import Seat
from service.match import texts
from service.match.events import SHORTEST_CLOCK
from service.match.model import BOT_PACE_MS, GRACE_MS
from service.match.randomness import Draws, match_key

TURN_MS: Final = 1000 * SHORTEST_CLOCK
"""Simulated time until a failed bot's decision is taken by default."""

FailureKind: TypeAlias = Literal["crash", "timeout", "nonsense"]


class Failed(Exception):
    """A bot gave no usable answer: it raised or ended (`crash`), took too long, or answered with no legal action."""

    def __init__(self, kind: FailureKind, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail


class Player(Protocol):
    """Answers for one seat, whatever process its bot runs in."""

    def begin(self) -> None:
        """Be ready for a match."""
        ...

    def answer(self, task: Task[Any, Any], key: Callable[[], bytes]) -> Any:
        """The bot's action for a task, or None to wait. `key` gives the key of the random numbers of this decision.

        Raises:
            Failed: the bot raised, ended, took too long, or its answer is no action of the game.
        """
        ...


class Moved(NamedTuple):
    """An action, a default action or the ring of a bell, at match time in milliseconds."""

    at: int
    seat: Seat
    action: Any
    by_default: bool = False


class Failure(msgspec.Struct, frozen=True):
    """The failure of a seat's bot. From then on the default actions were taken for its seat."""

    seat: Seat
    kind: FailureKind
    detail: str


class Played(NamedTuple):
    """`times` has the microseconds of each answer, for each seat."""

    outcome: Outcome
    moves: tuple[Moved, ...]
    failures: tuple[Failure, ...]
    times: tuple[tuple[int, ...], ...]


_Identity: TypeAlias = tuple[Seat, str, int | None, int | None]


class _Opening(NamedTuple):
    """When a decision opened, and when its bot answers it. Match time in milliseconds."""

    at: int
    plays_at: int


def id_of_match(seed: bytes, rotation: int) -> str:
    """The id of a deal's match. It says nothing about the seed, or about the other matches of the deal."""
    return base64.b32encode(hmac.digest(seed, b"match:%d" % rotation, "sha256")[:16]).decode().rstrip("=").lower()


def play(
    game: AnyGame,
    options: Mapping[str, object],
    seed: bytes,
    players: Sequence[Player],
    match_id: str = "",
    moved: Callable[[Moved], None] | None = None,
) -> Played:
    """Play a match, with a player for each seat. The same seed and answers give the same match.

    `moved` is called after each move, if it is given.
    In a game that keeps time, bots answer at the pace that they have on the service.
    """
    return _Table(game, options, seed, players, match_id, moved).play()


class _Table:
    def __init__(
        self,
        game: AnyGame,
        options: Mapping[str, object],
        seed: bytes,
        players: Sequence[Player],
        match_id: str,
        moved: Callable[[Moved], None] | None,
    ) -> None:
        self._game = game
        self._match_id = match_id
        self._options = game.options(len(players), options)
        self._seed = seed
        self._moved = moved
        self._players = players
        self._key = match_key(seed, [None] * len(players))
        self._drawn: dict[str, int] = {}
        self._state: Any = None
        self._at = 0
        self._openings: dict[_Identity, _Opening] = {}
        self._waiting: set[_Identity] = set()
        """Decisions whose bot chose to wait for the next move."""
        self._moves: list[Moved] = []
        self._failures: dict[Seat, Failure] = {}
        self._times: list[list[int]] = [[] for _ in players]

    def play(self) -> Played:
        game = self._game
        for player in self._players:
            player.begin()
        rng = self._rng()
        self._apply(game.setup(len(self._players), self._options, 0, rng), rng)
        while decisions := game.decisions(self._state):
            self._open(decisions)
            self._next(decisions)
        return Played(
            outcome=game.score(self._state, self._rng()),
            moves=tuple(self._moves),
            failures=tuple(self._failures.values()),
            times=tuple(map(tuple, self._times)),
        )

    def _rng(self) -> Draws:
        return Draws(lambda: self._key, self._drawn)

    def _apply(self, effects: Sequence[Any], rng: Draws) -> None:
        state, apply = self._state, self._game.apply
        for effect in effects:
            state = apply(state, effect)
        self._state = state
        for draw in rng.drawn:
            self._drawn[draw.label] = self._drawn.get(draw.label, 0) + 1

    def _open(self, decisions: Sequence[Decision[Any]]) -> None:
        """Note the decisions that have just opened."""
        known = self._openings
        self._openings = {}
        for decision in decisions:
            identity = _identity(decision)
            self._openings[identity] = known.get(identity) or _Opening(self._at, self._plays_at(decision))

    def _plays_at(self, decision: Decision[Any]) -> int:
        if decision.opens_at is None:
            return self._at
        text = f"{self._seed.hex()} {decision.seat} {len(self._moves)}"
        jitter = hashlib.sha256(text.encode()).digest()[0]
        return max(decision.opens_at, self._at) + BOT_PACE_MS // 2 + BOT_PACE_MS * jitter // 255

    def _next(self, decisions: Sequence[Decision[Any]]) -> None:
        """Ask the bot whose turn is next, or take the decision whose deadline is next, whichever is earlier."""
        turn, turn_at = None, 0
        timed, timed_at = None, 0
        for decision in decisions:
            identity = _identity(decision)
            opening = self._openings[identity]
            deadline = _deadline(decision, opening)
            if deadline is not None and (decision.seat == CLOCK or decision.on_timeout is not None):
                enforced_at = deadline + GRACE_MS
                if timed is None or (enforced_at, decision.seat, decision.step) < (timed_at, timed.seat, timed.step):
                    timed, timed_at = decision, enforced_at
            if decision.seat == CLOCK or decision.seat in self._failures or identity in self._waiting:
                continue
            plays_at = max(self._at, opening.plays_at)
            if deadline is not None and plays_at >= deadline:
                continue
            if turn is None or (plays_at, decision.seat) < (turn_at, turn.seat):
                turn, turn_at = decision, plays_at
        if turn is not None and (timed is None or turn_at < timed_at):
            self._ask(turn, turn_at)
        elif timed is None:
            raise RuntimeError("nothing ends the wait for a decision")
        else:
            self._at = max(self._at, timed_at)
            action = Ring(timed.step) if timed.seat == CLOCK else timed.on_timeout
            self._move(Moved(self._at, timed.seat, action, by_default=True))

    def _ask(self, decision: Decision[Any], at: int) -> None:
        game, seat = self._game, decision.seat
        legal = tuple(game.legal_actions(self._state, seat))
        task = Task(seat, decision.step, game.observation(self._state, seat), legal, self._match_id)
        asked = len(self._times[seat])
        self._at = at
        began = perf_counter_ns()
        try:
            action = self._players[seat].answer(
                task, lambda: hmac.digest(self._seed, b"bot:%d:%d" % (seat, asked), "sha256")
            )
            self._times[seat].append((perf_counter_ns() - began) // 1000)
            if action is None:
                self._wait(decision)
            else:
                self._move(Moved(at, seat, action))
        except Failed as failed:
            self._failures[seat] = Failure(seat, failed.kind, failed.detail)
        except IllegalAction as refusal:
            why = texts.refusal_texts(game, refusal)[texts.DEFAULT]
            self._failures[seat] = Failure(
                seat, "nonsense", f"illegal action: {why} ({refusal.code}, {refusal.clause})"
            )

    def _wait(self, decision: Decision[Any]) -> None:
        if decision.on_timeout is not None:
            raise Failed("nonsense", "it answered null (None), which means to wait, but here only an action goes on")
        self._waiting.add(_identity(decision))

    def _move(self, moved: Moved) -> None:
        rng = self._rng()
        effects = self._game.decide(self._state, Move(moved.seat, moved.action, moved.at), rng)
        self._apply(effects, rng)
        self._moves.append(moved)
        if self._moved is not None:
            self._moved(moved)
        self._waiting.clear()
        if self._game.info.simultaneous:
            self._openings = {key: opening for key, opening in self._openings.items() if key[0] != moved.seat}
        else:
            self._openings.clear()


def _identity(decision: Decision[Any]) -> _Identity:
    """A decision stays the same one until its seat moves, or until its step or its times change."""
    return decision.seat, decision.step, decision.opens_at, decision.deadline


def _deadline(decision: Decision[Any], opening: _Opening) -> int | None:
    """The deadline by the rules, or else by the clock of an arena's match."""
    if decision.deadline is not None or decision.seat == CLOCK:
        return decision.deadline
    return (opening.at if decision.opens_at is None else decision.opens_at) + TURN_MS
