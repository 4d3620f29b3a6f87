"""Faulty variants of the toy game. Each breaks one law and no other.

Faults of visibility are in `broken_sight`, faults of pictures in `broken_pictures`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import count
from typing import Annotated, Any, Final, TypeVar

from msgspec import Meta
from msgspec.structs import force_setattr
from msgspec.structs import replace as alter

from service.games.kit.patterns import HINT, AnyOf
from service.games.protocol import (
    CLOCK,
    AnyGame,
    Decision,
    IllegalAction,
    Move,
    Outcome,
    Ring,
    Rng,
    Task,
)
from service.games.visibility import Action, Private, Public, Seat
from tests.service.games import laws, laws_of_values
from tests.service.games.matches import Table
from tests.service.games.toy import state as toy
from tests.service.games.toy.game import TOY
from tests.service.games.toy.state import Commit, Keep, Options, State, Swap, ToyAction, ToyEffect
from tests.service.games.toy.tables import pieces
from tests.service.games.toy.view import Observation

T = TypeVar("T")
NO_CARD = "0-0"


@dataclass(frozen=True)
class Fault:
    """A table with a faulty toy game, and the only law that it breaks."""

    table: Table
    law: Callable[[Table], None]


def fault(name: str, law: Callable[[Table], None], **changes: Any) -> Fault:
    """The toy game with some of its functions or facts replaced."""
    game: AnyGame = replace(TOY, **changes)
    return Fault(Table(name, game, 3, pieces, {"tricks": 6}), law)


def waits_for_seats_that_have_acted(state: State) -> tuple[Decision[ToyAction], ...]:
    decisions = TOY.decisions(state)
    if state.step != "commit":
        return decisions
    every = range(state.seats)
    return (*(Decision[ToyAction](s, "commit", None, state.opens_at, state.deadline) for s in every), decisions[-1])


def lists_eagerly(state: State, seat: Seat) -> Iterator[ToyAction]:
    return iter(list(TOY.legal_actions(state, seat)))


def lists_twice(state: State, seat: Seat) -> Iterator[ToyAction]:
    for action in TOY.legal_actions(state, seat):
        yield action
        yield action


def lists_refused_actions(state: State, seat: Seat) -> Iterator[ToyAction]:
    yield from TOY.legal_actions(state, seat)
    if state.step == "commit" and seat != CLOCK and state.waiting[seat]:
        yield Keep()


def omits_the_last_action(state: State, seat: Seat) -> Iterator[ToyAction]:
    actions = list(TOY.legal_actions(state, seat))
    yield from actions[:-1] or actions


def accepts_unlisted_actions(state: State, move: Move[ToyAction], rng: Rng) -> tuple[ToyEffect, ...]:
    if isinstance(move.action, Keep) and state.step == "swap" and move.seat != CLOCK:
        return TOY.decide(state, move, rng) if state.waiting[move.seat] else ()
    return TOY.decide(state, move, rng)


def names_an_unknown_clause(state: State, move: Move[ToyAction], rng: Rng) -> tuple[ToyEffect, ...]:
    try:
        return TOY.decide(state, move, rng)
    except IllegalAction as refusal:
        raise IllegalAction(refusal.code, "TOY-99", **refusal.facts) from None


def accepts_late_actions(state: State, move: Move[ToyAction], rng: Rng) -> tuple[ToyEffect, ...]:
    is_late = move.seat != CLOCK and move.at >= state.deadline and state.step == "commit"
    return TOY.decide(state, alter(move, at=state.deadline - 1) if is_late else move, rng)


def lets_a_seat_ring(state: State, move: Move[ToyAction], rng: Rng) -> tuple[ToyEffect, ...]:
    return TOY.decide(state, alter(move, seat=CLOCK) if isinstance(move.action, Ring) else move, rng)


def has_an_illegal_default(state: State) -> tuple[Decision[ToyAction], ...]:
    return tuple(alter(one, on_timeout=Swap((NO_CARD,))) if one.step == "swap" else one for one in TOY.decisions(state))


def waits_without_a_default(state: State) -> tuple[Decision[ToyAction], ...]:
    return tuple(alter(one, on_timeout=None) for one in TOY.decisions(state))


def reopens_the_trick_for_ever(state: State, move: Move[ToyAction], rng: Rng) -> tuple[ToyEffect, ...]:
    effects = TOY.decide(state, move, rng)
    if isinstance(move.action, Ring) and all(state.waiting):
        return (toy.TrickOpened(state.trick, move.at, move.at + 1_000),)
    return effects


class CountingRng:
    """Draws by its own counter, regardless of the recorded draws."""

    numbers = count()

    def __init__(self, rng: Rng) -> None:
        self.shuffle = rng.shuffle

    def pick(self, label: str, items: Sequence[T]) -> T:
        del label
        return items[next(self.numbers) % len(items)]


def draws_from_a_counter(state: State, move: Move[ToyAction], rng: Rng) -> tuple[ToyEffect, ...]:
    return TOY.decide(state, move, CountingRng(rng))


def draws_before_it_refuses(state: State, move: Move[ToyAction], rng: Rng) -> tuple[ToyEffect, ...]:
    rng.pick("coin", ("heads", "tails"))
    return TOY.decide(state, move, rng)


def plays_a_card_it_does_not_hold(task: Task[ToyAction, Observation], rng: Rng) -> ToyAction | None:
    return Commit("13-1") if task.step == "commit" else TOY.bots["high"](task, rng)


def changes_the_old_state(state: State | None, effect: ToyEffect) -> State:
    after = TOY.apply(state, effect)
    if isinstance(effect, toy.HandKept) and state is not None:
        force_setattr(state, "deadline", after.deadline + 1)
    return after


class StepAsEnum(StrEnum):
    """An enum member that is lost when it is stored as JSON."""

    SWAP = "swap"


def depends_on_a_lost_type(state: State | None, effect: ToyEffect) -> State:
    after = TOY.apply(state, effect)
    if isinstance(effect, toy.SwapOpened):
        return alter(after, step=StepAsEnum.SWAP)
    if isinstance(effect, toy.TrickOpened) and state is not None and not isinstance(state.step, StepAsEnum):
        return alter(after, missed=tuple(missed + 1 for missed in after.missed))
    return after


class SwapOfOne(Action, frozen=True, tag="swap"):
    """A swap whose parser accepts fewer cards than a legal list offers."""

    cards: Private[Annotated[tuple[toy.Card, ...], Meta(max_length=1)] | AnyOf]
    from_bottom: Public[Annotated[bool, HINT]] = False


NARROW_ACTIONS: Final[tuple[Any, ...]] = (Commit, SwapOfOne, Keep)


def loses_cards(state: State | None, effect: ToyEffect) -> State:
    after = TOY.apply(state, effect)
    if isinstance(effect, toy.CardsSwapped):
        return alter(after, discards=after.discards[: -effect.count])
    return after


def samples_a_card_twice(seen: Observation, rng: Rng) -> State:
    sampled = TOY.sample_state(seen, rng)
    return alter(sampled, deck=(*sampled.deck[1:], sampled.deck[-1])) if sampled.deck else sampled


def ranks_without_skipping(state: State, rng: Rng) -> Outcome:
    outcome = TOY.score(state, rng)
    return alter(outcome, ranks=tuple(rank if rank < 3 else rank + 1 for rank in outcome.ranks))


def adds_up_wrongly(state: State, rng: Rng) -> Outcome:
    outcome = TOY.score(state, rng)
    return alter(outcome, scores=tuple(score + 1 for score in outcome.scores))


def has_no_winner(state: State, rng: Rng) -> Outcome:
    return alter(TOY.score(state, rng), winners=())


def lists_in_the_order_of_hashes(state: State, seat: Seat) -> Iterator[ToyAction]:
    yield from sorted(TOY.legal_actions(state, seat), key=lambda action: hash(repr(action)))


def ignores_unknown_options(seats: int, given: Mapping[str, object]) -> Options:
    return TOY.options(seats, {name: given[name] for name in given if name in Options.__struct_fields__})


WITHOUT_A_PLACEHOLDER: Final = {**TOY.texts, "de": {**TOY.texts["de"], "effect.trick_opened": "Der Stich beginnt."}}


_ACTS = laws.law_seats_with_decisions_have_legal_actions
_LISTS = laws.law_lists_are_lazy_ordered_and_distinct
_LEGAL = laws.law_listed_actions_are_accepted_and_others_refused
_CLAUSES = laws.law_refusals_have_a_code_and_a_clause
_WINDOWS = laws.law_actions_count_only_in_their_time_window
_ABSENT = laws.law_a_match_of_absent_players_ends
_CHANCE = laws.law_effects_depend_only_on_recorded_draws
_BOTS = laws.law_bots_choose_listed_actions
_PURE = laws_of_values.law_apply_is_pure
_PREFIX = laws_of_values.law_a_snapshot_and_the_later_effects_give_the_last_state
_CODEC = laws_of_values.law_values_survive_their_codec
_SENT = laws_of_values.law_listed_actions_can_be_sent
_PIECES = laws_of_values.law_pieces_are_conserved
_OUTCOME = laws_of_values.law_the_outcome_ranks_all_seats
_HASHES = laws_of_values.law_matches_do_not_depend_on_hash_seeds
_OPTIONS = laws_of_values.law_options_are_strict
_TEXTS = laws_of_values.law_texts_are_complete_in_every_language

FAULTS: Final[tuple[Fault, ...]] = (
    fault("waits for seats that have acted", _ACTS, decisions=waits_for_seats_that_have_acted),
    fault("lists eagerly", _LISTS, legal_actions=lists_eagerly),
    fault("lists twice", _LISTS, legal_actions=lists_twice),
    fault("lists refused actions", _LEGAL, legal_actions=lists_refused_actions),
    fault("omits the last action", _LEGAL, legal_actions=omits_the_last_action),
    fault("accepts unlisted actions", _LEGAL, decide=accepts_unlisted_actions),
    fault("names an unknown clause", _CLAUSES, decide=names_an_unknown_clause),
    fault("accepts late actions", _WINDOWS, decide=accepts_late_actions),
    fault("lets a seat ring", _WINDOWS, decide=lets_a_seat_ring),
    fault("has an illegal default", _ABSENT, decisions=has_an_illegal_default),
    fault("waits without a default", _ABSENT, decisions=waits_without_a_default),
    fault("reopens the trick for ever", _ABSENT, decide=reopens_the_trick_for_ever),
    fault("draws from a counter", _CHANCE, decide=draws_from_a_counter),
    fault("draws before it refuses", _CHANCE, decide=draws_before_it_refuses),
    fault("has a bot that plays a card it does not hold", _BOTS, bots={"cheat": plays_a_card_it_does_not_hold}),
    fault("changes the old state", _PURE, apply=changes_the_old_state),
    fault("depends on a lost type", _PREFIX, apply=depends_on_a_lost_type),
    fault("omits an effect from its types", _CODEC, info=replace(TOY.info, effects=TOY.info.effects[:-1])),
    fault("parses fewer actions than it lists", _SENT, info=replace(TOY.info, actions=NARROW_ACTIONS)),
    fault("loses cards", _PIECES, apply=loses_cards),
    fault("samples a card twice", _PIECES, sample_state=samples_a_card_twice),
    fault("ranks without skipping", _OUTCOME, score=ranks_without_skipping),
    fault("adds up wrongly", _OUTCOME, score=adds_up_wrongly),
    fault("has no winner", _OUTCOME, score=has_no_winner),
    fault("lists in the order of hashes", _HASHES, legal_actions=lists_in_the_order_of_hashes),
    fault("ignores unknown options", _OPTIONS, options=ignores_unknown_options),
    fault("lacks a placeholder in German", _TEXTS, texts=WITHOUT_A_PLACEHOLDER),
    fault("has no German", _TEXTS, texts={"en": TOY.texts["en"]}),
)
