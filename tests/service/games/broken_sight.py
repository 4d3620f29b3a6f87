"""The toy game with faulty visibility: viewers get information that is hidden from them."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from msgspec.structs import replace as alter

from service.games.protocol import CLOCK, Decision, IllegalAction, Move, Rng
from service.games.visibility import Public, Seat, Secret, Viewer
from tests.service.games import laws_of_sight
from tests.service.games.broken import Fault, fault
from tests.service.games.toy import state as toy
from tests.service.games.toy.game import TOY
from tests.service.games.toy.state import State, ToyAction, ToyEffect, value
from tests.service.games.toy.view import Observation


class LeakingCommitted(toy.CardCommitted, frozen=True, tag="card_committed"):
    high: Public[bool]


class UnredactedEnd(toy.GameEnded, frozen=True, tag="game_ended"):
    """Redaction shows its secret field, which happens to contain no information."""

    secret: Secret[str] = "over"


UnredactedEnd.hidden = {}


class NextCardObservation(Observation, frozen=True, tag_field="game", tag="toy"):
    """Shows the card that the next player will draw."""

    next_card: str | None


class FullObservation(Observation, frozen=True, tag_field="game", tag="toy"):
    """Shows everything to everyone."""

    everything: State


def leaks_high_cards(state: State, move: Move[ToyAction], rng: Rng) -> tuple[ToyEffect, ...]:
    return tuple(
        LeakingCommitted(effect.seat, effect.card, high=value(effect.card) > 7)
        if isinstance(effect, toy.CardCommitted)
        else effect
        for effect in TOY.decide(state, move, rng)
    )


def ends_unredacted(state: State, move: Move[ToyAction], rng: Rng) -> tuple[ToyEffect, ...]:
    effects = TOY.decide(state, move, rng)
    return tuple(UnredactedEnd() if isinstance(effect, toy.GameEnded) else effect for effect in effects)


def with_effect(of: type[ToyEffect], by: type[ToyEffect]) -> Any:
    return replace(TOY.info, effects=tuple(by if kind is of else kind for kind in TOY.info.effects))


def leaks_in_refusals(state: State, move: Move[ToyAction], rng: Rng) -> tuple[ToyEffect, ...]:
    try:
        return TOY.decide(state, move, rng)
    except IllegalAction as refusal:
        if refusal.code == "card-not-held":
            raise IllegalAction(
                refusal.code, refusal.clause, **refusal.facts, holder=_holder(state, refusal.facts["card"])
            ) from None
        raise


def _holder(state: State, card: object) -> str:
    return ", ".join(str(seat) for seat, hand in enumerate(state.hands) if card in hand)


def leaks_by_order(state: State, seat: Seat) -> Iterator[ToyAction]:
    actions = list(TOY.legal_actions(state, seat))
    yield from reversed(actions) if value(state.deck[0]) > 7 else actions


def leaks_by_step(state: State) -> tuple[Decision[ToyAction], ...]:
    odd = value(state.deck[0]) % 2
    return tuple(alter(one, step="commit") if odd and one.seat != CLOCK else one for one in TOY.decisions(state))


def shows_the_next_card(state: State, viewer: Viewer) -> NextCardObservation:
    seen = TOY.observation(state, viewer)
    fields = {name: getattr(seen, name) for name in seen.__struct_fields__}
    return NextCardObservation(**fields, next_card=state.deck[0] if state.deck else None)


def knows_the_next_card(seen: NextCardObservation, rng: Rng) -> State:
    """Samples a state that is consistent with the leak: the next card is swapped to the top of the deck."""
    sampled = TOY.sample_state(seen, rng)
    top, known = (sampled.deck[0] if sampled.deck else None), seen.next_card
    if top is None or known is None:
        return sampled

    def swapped(card: Any) -> Any:
        return known if card == top else top if card == known else card

    return alter(
        sampled,
        deck=tuple(map(swapped, sampled.deck)),
        discards=tuple(map(swapped, sampled.discards)),
        hands=tuple(tuple(map(swapped, hand)) for hand in sampled.hands),
        commits=tuple(map(swapped, sampled.commits)),
    )


class LuckyObservation(Observation, frozen=True, tag_field="game", tag="toy"):
    """Shows the lucky value of every seat, which never changes during a match."""

    all_lucky: tuple[int, ...]


def shows_all_luck(state: State, viewer: Viewer) -> LuckyObservation:
    seen = TOY.observation(state, viewer)
    return LuckyObservation(**{name: getattr(seen, name) for name in seen.__struct_fields__}, all_lucky=state.lucky)


def knows_all_luck(seen: LuckyObservation, rng: Rng) -> State:
    return alter(TOY.sample_state(seen, rng), lucky=seen.all_lucky)


def shows_everything(state: State, viewer: Viewer) -> FullObservation:
    seen = TOY.observation(state, viewer)
    return FullObservation(**{name: getattr(seen, name) for name in seen.__struct_fields__}, everything=state)


def returns_the_leaked_state(seen: FullObservation, rng: Rng) -> State:
    del rng
    return seen.everything


def samples_another_own_card(seen: Observation, rng: Rng) -> State:
    sampled = TOY.sample_state(seen, rng)
    if seen.committed is None or seen.viewer is None:
        return sampled
    top = sampled.deck[0]
    commits = tuple(top if card == seen.committed else card for card in sampled.commits)
    return alter(sampled, deck=(seen.committed, *sampled.deck[1:]), commits=commits)


_TWINS = laws_of_sight.law_sampled_states_look_the_same
_HIDDEN = laws_of_sight.law_hidden_data_does_not_leak
_FIELDS = laws_of_sight.law_only_its_audience_sees_a_field


def points_leak_luck(state: State, _viewer: Viewer) -> tuple[int, ...]:
    return tuple(points + lucky for points, lucky in zip(state.points, state.lucky, strict=True))


FAULTS: Final[tuple[Fault, ...]] = (
    fault("samples another own card", _TWINS, sample_state=samples_another_own_card),
    fault(
        "leaks high cards",
        _HIDDEN,
        decide=leaks_high_cards,
        info=with_effect(toy.CardCommitted, LeakingCommitted),
    ),
    fault("leaks in refusals", _HIDDEN, decide=leaks_in_refusals),
    fault("points leak luck", _HIDDEN, points=points_leak_luck),
    fault("leaks by step", _HIDDEN, decisions=leaks_by_step),
    fault("leaks by order", _HIDDEN, legal_actions=leaks_by_order),
    fault(
        "shows the next card",
        _HIDDEN,
        observation=shows_the_next_card,
        sample_state=knows_the_next_card,
        info=replace(TOY.info, observation=NextCardObservation),
    ),
    fault(
        "shows everything",
        _HIDDEN,
        observation=shows_everything,
        sample_state=returns_the_leaked_state,
        info=replace(TOY.info, observation=FullObservation),
    ),
    fault(
        "shows all luck",
        _HIDDEN,
        observation=shows_all_luck,
        sample_state=knows_all_luck,
        info=replace(TOY.info, observation=LuckyObservation),
    ),
    fault("ends unredacted", _FIELDS, decide=ends_unredacted, info=with_effect(toy.GameEnded, UnredactedEnd)),
)
