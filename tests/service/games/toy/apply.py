"""The fold of the toy game."""

from typing import TypeVar, assert_never

from msgspec.structs import replace

from service.games.visibility import Seat
from tests.service.games.toy import state as toy
from tests.service.games.toy.state import Card, State, ToyEffect

T = TypeVar("T")


def with_item(items: tuple[T, ...], seat: Seat, item: T) -> tuple[T, ...]:
    return (*items[:seat], item, *items[seat + 1 :])


def without(cards: tuple[Card, ...], removed: tuple[Card, ...]) -> tuple[Card, ...]:
    return tuple(card for card in cards if card not in removed)


def apply(state: State | None, effect: ToyEffect) -> State:
    if isinstance(effect, toy.TableLaid):
        n = effect.seats
        return State(
            options=effect.options,
            trick=0,
            step="swap",
            opens_at=0,
            deadline=0,
            lucky=(0,) * n,
            deck=effect.deck,
            discards=(),
            table=(None,) * n,
            hands=((),) * n,
            commits=(None,) * n,
            waiting=(False,) * n,
            swapped=(0,) * n,
            points=(0,) * n,
            missed=(0,) * n,
        )
    assert state is not None, "the first effect lays the table"
    match effect:
        case toy.LuckDealt(seat, value):
            return replace(state, lucky=with_item(state.lucky, seat, value))
        case toy.CardsDrawn(seat, cards, _, _):
            hands = with_item(state.hands, seat, state.hands[seat] + cards)
            return replace(state, hands=hands, deck=without(state.deck, cards))
        case toy.DeckReshuffled(order, _):
            return replace(state, deck=state.deck + order, discards=())
        case toy.TrickOpened(trick, opens_at, deadline):
            waiting = (True,) * state.seats
            return replace(state, trick=trick, step="commit", opens_at=opens_at, deadline=deadline, waiting=waiting)
        case toy.CardCommitted(seat, card):
            return replace(
                state,
                hands=with_item(state.hands, seat, without(state.hands[seat], (card,))),
                commits=with_item(state.commits, seat, card),
                waiting=with_item(state.waiting, seat, False),
            )
        case toy.CardForfeited(seat, card):
            return replace(
                state,
                hands=with_item(state.hands, seat, without(state.hands[seat], (card,))),
                discards=(*state.discards, card),
                waiting=with_item(state.waiting, seat, False),
                missed=with_item(state.missed, seat, state.missed[seat] + 1),
            )
        case toy.TrickRevealed(cards):
            removed = tuple(card for card in state.table if card is not None)
            return replace(state, table=cards, commits=(None,) * state.seats, discards=state.discards + removed)
        case toy.PointsScored(seat, points, _):
            return replace(state, points=with_item(state.points, seat, state.points[seat] + points))
        case toy.SwapOpened():
            return replace(state, step="swap", waiting=(True,) * state.seats, swapped=(0,) * state.seats)
        case toy.CardsSwapped(seat, cards, count):
            return replace(
                state,
                hands=with_item(state.hands, seat, without(state.hands[seat], cards)),
                discards=state.discards + cards,
                waiting=with_item(state.waiting, seat, False),
                swapped=with_item(state.swapped, seat, count),
            )
        case toy.HandKept(seat):
            return replace(state, waiting=with_item(state.waiting, seat, False))
        case toy.GameEnded():
            return replace(state, step="over")
    assert_never(effect)
