"""What a game is: pure functions over frozen values, and the few types that all games share.

No clock, no chance, no I/O: time comes in with a move, chance through `Rng`, and what happened goes out as effects.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeAlias, TypeVar

import msgspec

from service.games.drawing.page import Picture
from service.games.drawing.words import Words
from service.games.visibility import Action, Effect, Public, Seat, Viewer

CLOCK: Final[Seat] = -1
"""The seat that rings the bell of a timed game."""

T = TypeVar("T")
S = TypeVar("S", bound=msgspec.Struct)
A = TypeVar("A", bound=Action)
E = TypeVar("E", bound=Effect)
O = TypeVar("O", bound=msgspec.Struct)  # noqa: E741  (options)
V = TypeVar("V", bound=msgspec.Struct)


class Rng(Protocol):
    """Labelled draws. Each result is recorded in the event, so that a replay never draws."""

    def shuffle(self, label: str, items: Sequence[T]) -> tuple[T, ...]: ...

    def pick(self, label: str, items: Sequence[T]) -> T: ...


class Ring(Action, frozen=True, tag="ring"):
    """The bell of a timed game, played by the seat CLOCK."""

    label: Public[str]


class Move(msgspec.Struct, Generic[A], frozen=True):
    """An action with who asked and when: `at` is match time in milliseconds."""

    seat: Seat
    action: A | Ring
    at: int


class Decision(msgspec.Struct, Generic[A], frozen=True):
    """Something the match waits for from a seat.

    `step` names the rule's step; `opens_at` and `deadline` are match time in milliseconds, where the game itself is
    timed: an action is judged from `opens_at` on and refused at `deadline`. `on_timeout` is a legal action, or None
    exactly where the game times the wait itself: then the list also has a decision of the seat CLOCK, whose bell ends it.
    A decision lasts until its seat moves, or until its step or its times change.
    """

    seat: Seat
    step: str
    on_timeout: A | None
    opens_at: int | None = None
    deadline: int | None = None
    deadline_shown: bool = True
    """False where the options hide the clock: no view shows the deadline, the due set keeps it."""


class Outcome(msgspec.Struct, frozen=True):
    """The end: a score, a rank (1 is best, shared ranks skip) and a breakdown for each seat, and the seats that won."""

    scores: tuple[int, ...]
    ranks: tuple[int, ...]
    winners: tuple[Seat, ...]
    breakdown: tuple[dict[str, int], ...]


class IllegalAction(Exception):
    """The rules refuse an action. `code` is stable and has a text in texts.json; `clause` is the rule.

    `facts` fill the text; they hold nothing that the acting seat may not know.
    """

    def __init__(self, code: str, clause: str, **facts: str | int) -> None:
        super().__init__(f"{code} ({clause})")
        self.code = code
        self.clause = clause
        self.facts = facts


class TooEarly(IllegalAction):
    """The rules refuse an action only because it came before `opens_at`, in match time: then the same may be legal."""

    def __init__(self, code: str, clause: str, opens_at: int) -> None:
        super().__init__(code, clause)
        self.opens_at = opens_at


class BadOptions(ValueError):
    """The options of a match make no sense; the message says which and what would, `path` where in them it is."""

    def __init__(self, fault: str, *path: str) -> None:
        place = ".".join(step[:40] for step in path)
        super().__init__(f"{place} {fault}" if path else fault)
        self.path = path


class Task(msgspec.Struct, Generic[A, V], frozen=True):
    """All that a bot gets: what a person in its seat would see, and what it may do. Never a state."""

    seat: Seat
    step: str
    observation: V
    legal_actions: tuple[A, ...]


Bot: TypeAlias = Callable[[Task[A, V], Rng], A | None]
"""Chooses an action from a task; its chance is its own. Where a bell ends the wait it may choose none, and is asked again
when something has happened."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GameInfo(Generic[A, E, O, V]):
    """What can be said of a game without playing it."""

    id: str
    title: str
    ruleset: int
    seats: tuple[int, ...]
    options: type[O]
    actions: tuple[type[A], ...]
    effects: tuple[type[E], ...]
    observation: type[V]
    breakdown: tuple[str, ...]
    """Names of the parts of a score, in order; with some options or seats only some of them occur."""
    simultaneous: bool
    """False where each event with effects closes every decision and opens the next."""
    keeps_time: bool = False
    """True where all its decisions have deadlines of the rules, so that a match clock for seats would never count."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Game(Generic[S, A, E, O, V]):
    """The rules of one game. Every game folder's `game.py` makes one; the registry lists them.

    A game equals only itself, so that what is made for it once can be kept by it.
    """

    info: GameInfo[A, E, O, V]
    state: type[S]
    options: Callable[[int, Mapping[str, object]], O]
    """Options for that many seats from their JSON form, defaults filled in.

    Raises BadOptions, also for a number of seats that the game is not for.
    """
    setup: Callable[[int, O, int, Rng], tuple[E, ...]]
    """The effects that set the table for that many seats at that match time."""
    apply: Callable[[S | None, E], S]
    """The fold's step: total, never decides, draws nothing; the old state stays valid. The first effect comes on None."""
    decisions: Callable[[S], tuple[Decision[A], ...]]
    """Who may act; nothing means that the game is over and can be scored."""
    legal_actions: Callable[[S, Seat], Iterator[A]]
    """Lazy, in a fixed order, complete and sound; nothing for a seat that may not act."""
    decide: Callable[[S, Move[A], Rng], tuple[E, ...]]
    """The only judge; raises IllegalAction."""
    observation: Callable[[S, Viewer], V]
    """What this viewer may know, built by allow-list: it follows from what the viewer saw before and the redacted effects.

    What an event showed stays in it at least until the next event. Times in it are match time, as in effects.
    """
    picture: Callable[[V, Viewer, Words, Outcome | None], Picture]
    """The table as a viewer sees it, from an observation of that viewer, in the words of one language; at the end with the
    outcome. It follows from these alone.

    What an action names carries `data-` attributes with the names and values of the action's fields (an item of a list, a
    name of an object); those of the groups around it are its own too. So a page knows what to click without the rules. What
    has an id keeps it from version to version.
    """
    sample_state: Callable[[V, Rng], S]
    """A full state consistent with an observation, for bots that search."""
    points: Callable[[S, Viewer], tuple[int, ...]]
    """What each seat would score if the match ended now, as far as this viewer may know it: the same for states that look
    the same to the viewer. What only a draw would decide counts for nobody."""
    score: Callable[[S, Rng], Outcome]
    """The outcome of a game that is over."""
    bots: Mapping[str, Bot[A, V]]
    """Bots that know this game, by name; `random` plays them all and stands elsewhere."""
    texts: Mapping[str, Mapping[str, str]]
    """Texts by language, then key: `effect.<tag>`, `action.<tag>`, `step.<step>` (a bell's label too), `refusal.<code>`.

    `{name}` stands for a field of the effect or action, or for a fact of the refusal. `picture.<name>` are words of the
    picture, with places for its numbers. Any other key, `<kind>.<id>`, names a
    thing: `combo.K07` names K07-2 too, `tribe.black` helps to name the card black-3-2.
    """
    components: Mapping[str, Any]
    """The component file, provenance included."""
    rules: str
    """RULES.md, each clause by its id."""


AnyGame: TypeAlias = Game[Any, Any, Any, Any, Any]


def fold(game: Game[S, A, E, O, V], state: S | None, effects: Iterable[E]) -> S | None:
    """The state after some effects."""
    for effect in effects:
        state = game.apply(state, effect)
    return state
