"""The interface of a game: pure functions over frozen values, and the few types that all games share.

A game has no clock, no randomness and no I/O. A move carries its time, `Rng` makes the draws, and effects report what
happened.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Protocol, TypeAlias, TypeVar

import msgspec

from service.games.drawing.page import Picture
from service.games.drawing.words import Words
from service.games.visibility import Action, Effect, Public, Seat, Viewer

CLOCK: Final[Seat] = -1
"""The pseudo-seat that plays the bell of a timed game."""

T = TypeVar("T")
S = TypeVar("S", bound=msgspec.Struct)
A = TypeVar("A", bound=Action)
E = TypeVar("E", bound=Effect)
O = TypeVar("O", bound=msgspec.Struct)  # noqa: E741  (options)
V = TypeVar("V", bound=msgspec.Struct)


class Rng(Protocol):
    """Labelled random draws. Each result is recorded in the event, so a replay draws nothing."""

    def shuffle(self, label: str, items: Sequence[T]) -> tuple[T, ...]: ...

    def pick(self, label: str, items: Sequence[T]) -> T: ...


class Ring(Action, frozen=True, tag="ring"):
    """The bell of a timed game, played by the pseudo-seat CLOCK when a deadline is reached."""

    label: Public[str]


class Move(msgspec.Struct, Generic[A], frozen=True):
    """An action, the seat that takes it, and its time: `at` is match time in milliseconds."""

    seat: Seat
    action: A | Ring
    at: int


class Decision(msgspec.Struct, Generic[A], frozen=True):
    """A decision that the match waits for from one seat.

    `step` names the step of the rules. `opens_at` and `deadline` are match time in milliseconds and are set where the
    rules themselves limit the time: an action is judged from `opens_at` on, and refused from `deadline` on.
    `on_timeout` is a legal action. It is None exactly where the rules limit the time; then the list also has a decision of
    the seat CLOCK, and its bell closes the others. A decision stays open until its seat moves, or until its step or its
    times change.
    """

    seat: Seat
    step: str
    on_timeout: A | None
    opens_at: int | None = None
    deadline: int | None = None
    deadline_shown: bool = True
    """False where the options hide the clock: views omit the deadline, and only the deadline queue uses it."""


class Outcome(msgspec.Struct, frozen=True):
    """The result of a match: for each seat a score, a rank and a breakdown of the score, and the seats that won.

    Rank 1 is the best. Tied seats share a rank, and the following ranks are skipped.
    """

    scores: tuple[int, ...]
    ranks: tuple[int, ...]
    winners: tuple[Seat, ...]
    breakdown: tuple[dict[str, int], ...]


class IllegalAction(Exception):
    """The rules refuse an action. `code` is stable and has a text in texts.json; `clause` is the id of the rule.

    `facts` fill in the text. They contain nothing that is hidden from the acting seat.
    """

    def __init__(self, code: str, clause: str, **facts: str | int) -> None:
        super().__init__(f"{code} ({clause})")
        self.code = code
        self.clause = clause
        self.facts = facts


class TooEarly(IllegalAction):
    """The rules refuse an action only because it came before `opens_at` (match time in ms).

    It may be legal from then on.
    """

    def __init__(self, code: str, clause: str, opens_at: int) -> None:
        super().__init__(code, clause)
        self.opens_at = opens_at


class BadOptions(ValueError):
    """Invalid match options. The message says what is wrong and what would be right; `path` locates the option."""

    def __init__(self, fault: str, *path: str) -> None:
        location = ".".join(step[:40] for step in path)
        super().__init__(f"{location} {fault}" if path else fault)
        self.path = path


class Task(msgspec.Struct, Generic[A, V], frozen=True):
    """Everything that a bot gets: its seat's observation and legal actions. A bot never gets a state.

    `step` names the step of the rules. `legal_actions` is never empty; its entries may have patterns, which a bot resolves.
    `match` is the id of the match, so that a bot that keeps something knows when another match begins.
    Public: bots in the arena get the same fields.
    """

    seat: Seat
    step: str
    observation: V
    legal_actions: tuple[A, ...]
    match: str = ""


Bot: TypeAlias = Callable[[Task[A, V], Rng], A | None]
"""Chooses an action. This is the public protocol of bots: built-in bots and those of `moonstone arena` are such functions.

The bot draws from its own `Rng`, so that a match can be repeated. If a bell limits the time, it may return None and is called
again after the next event. A bot of the arena may also return an action in its JSON form. See HOSTING-A-BOT.md.
"""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GameInfo(Generic[A, E, O, V]):
    """The description of a game: everything that is known without playing it."""

    id: str
    title: str
    ruleset: int
    seats: tuple[int, ...]
    options: type[O]
    actions: tuple[type[A], ...]
    effects: tuple[type[E], ...]
    observation: type[V]
    breakdown: tuple[str, ...]
    """Names of the parts of a score, in order. Some options or numbers of seats use only some of them."""
    simultaneous: bool
    """False if each event with effects closes every open decision and opens the next one."""
    keeps_time: bool = False
    """True if the rules set a deadline for every decision. The match clock then never applies to seats."""
    variants: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """The options of the game's named variants. A rated match has the options of one of them, or the default options."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Game(Generic[S, A, E, O, V]):
    """The rules of one game. The `game.py` of each game folder creates one; the registry lists them.

    Games are compared by identity, so a `Game` can be a cache key.
    """

    info: GameInfo[A, E, O, V]
    state: type[S]
    options: Callable[[int, Mapping[str, object]], O]
    """Parses the options of a match for this number of seats from their JSON form, and fills in defaults.

    Raises BadOptions for bad options, and for a number of seats that the game does not support.
    """
    setup: Callable[[int, O, int, Rng], tuple[E, ...]]
    """The effects that set up a match of this number of seats at this match time (ms)."""
    apply: Callable[[S | None, E], S]
    """One step of the fold.

    It accepts every effect, makes no decision and no draw, and leaves the old state valid. The first effect is applied
    to None.
    """
    decisions: Callable[[S], tuple[Decision[A], ...]]
    """The open decisions. An empty tuple means that the match is over and can be scored."""
    legal_actions: Callable[[S, Seat], Iterator[A]]
    """Yields the legal actions of a seat lazily, in a fixed order: all of them, and only them.

    Yields nothing for a seat that may not act.
    """
    decide: Callable[[S, Move[A], Rng], tuple[E, ...]]
    """Turns a move into effects. Only this function decides whether an action is legal; it raises IllegalAction."""
    observation: Callable[[S, Viewer], V]
    """What this viewer may know, built from an allow-list.

    It can be computed from the viewer's previous observation and the redacted effects. What an event showed stays in the
    observation at least until the next event. Times are match time in ms, as in
    effects.
    """
    picture: Callable[[V, Viewer, Words, Outcome | None], Picture]
    """Draws the table for one viewer, from that viewer's observation, the words of one language, and the outcome at the
    end. The picture depends on nothing else.

    Each thing that an action can name has `data-` attributes with the names and values of the action's fields: an item
    of a list, or a key of an object. Attributes of enclosing groups apply too. A page can therefore turn clicks into
    actions without knowing the rules. An element with an id keeps this id in every version.
    """
    sample_state: Callable[[V, Rng], S]
    """Samples a full state that is consistent with an observation, for bots that search."""
    points: Callable[[S, Viewer], tuple[int, ...]]
    """The score of each seat if the match ended now, as far as this viewer may know it.

    States that look the same to a viewer give it the same points. Whatever depends on a draw counts for no seat.
    """
    score: Callable[[S, Rng], Outcome]
    """The outcome of a match that is over."""
    bots: Mapping[str, Bot[A, V]]
    """The bots made for this game, by name. `random` plays every game and is defined in `service.games.bots`."""
    texts: Mapping[str, Mapping[str, str]]
    """Texts by language, then by key: `effect.<tag>`, `action.<tag>`, `step.<step>` (or the label of a bell),
    `refusal.<code>`.

    `{name}` is replaced with a field of the effect or action, or with a fact of the refusal. `picture.<name>` are words
    of the picture; numbers are filled into their placeholders. Every other key, `<kind>.<id>`, names a component. A key
    may be a prefix of longer ids: `combo.K07` also names K07-2, and `tribe.black` helps to name the card black-3-2.
    """
    components: Mapping[str, Any]
    """The component file, including the source of each value."""
    rules: str
    """The text of RULES.md, in which each clause has an id."""


AnyGame: TypeAlias = Game[Any, Any, Any, Any, Any]


def fold(game: Game[S, A, E, O, V], state: S | None, effects: Iterable[E]) -> S | None:
    """Apply effects to a state, one after another."""
    for effect in effects:
        state = game.apply(state, effect)
    return state
