"""The rules of the toy game: setup, decisions, and the effects of actions and the timer."""

from collections.abc import Iterator

from service.games.kit.patterns import AnyOf
from service.games.kit.pending import PendingEffects
from service.games.protocol import CLOCK, Decision, IllegalAction, Move, Ring, Rng, TooEarly
from service.games.visibility import Seat
from tests.service.games.toy import state as toy
from tests.service.games.toy.apply import apply
from tests.service.games.toy.state import CARDS, Commit, Keep, Options, State, Swap, ToyAction, ToyEffect, value

TIMER = "trick"


def setup(seats: int, options: Options, at: int, rng: Rng) -> tuple[ToyEffect, ...]:
    table = toy.TableLaid(seats, options, rng.shuffle("deck", CARDS))
    pending = PendingEffects(apply, apply(None, table))
    luck = rng.shuffle("luck", toy.VALUES)
    for seat in range(seats):
        pending.emit(toy.LuckDealt(seat, luck[seat]))
        _draw(pending, seat, options.hand, rng, from_bottom=False)
    _open_trick(pending, at)
    return (table, *pending.effects)


def decisions(state: State) -> tuple[Decision[ToyAction], ...]:
    waiting = [seat for seat in range(state.seats) if state.waiting[seat]]
    if state.step == "swap":
        return tuple(Decision[ToyAction](seat, "swap", Keep()) for seat in waiting)
    if state.step == "commit":
        times = (state.opens_at, state.deadline, state.options.timer_visible)
        seats = [Decision[ToyAction](seat, "commit", None, *times) for seat in waiting]
        return (*seats, Decision(CLOCK, TIMER, None, *times))
    return ()


def legal_actions(state: State, seat: Seat) -> Iterator[ToyAction]:
    if seat == CLOCK or state.step == "over" or not state.waiting[seat]:
        return
    hand = state.hands[seat]
    if state.step == "commit":
        yield from (Commit(card) for card in hand)
    else:
        yield Keep()
        yield Swap(AnyOf(hand, 1, len(hand)))


def decide(state: State, move: Move[ToyAction], rng: Rng) -> tuple[ToyEffect, ...]:
    pending: PendingEffects[State, ToyEffect] = PendingEffects(apply, state)
    match move.action:
        case Ring(label):
            if move.seat != CLOCK or state.step != "commit" or label != TIMER or move.at < state.deadline:
                raise IllegalAction("no-such-bell", "TOY-11")
            for seat in range(state.seats):
                if state.waiting[seat]:
                    pending.emit(toy.CardForfeited(seat, rng.pick(f"forfeit:{seat}", state.hands[seat])))
            _end_trick(pending, rng)
        case Commit(card):
            _check_awaited(state, move.seat, "commit", "TOY-10")
            if move.at < state.opens_at:
                raise TooEarly("too-early", "TOY-10", state.opens_at)
            if move.at >= state.deadline:
                raise IllegalAction("too-late", "TOY-11")
            if card not in state.hands[move.seat]:
                raise IllegalAction("card-not-held", "TOY-10", card=card)
            pending.emit(toy.CardCommitted(move.seat, card))
            if not any(pending.state.waiting):
                _end_trick(pending, rng)
        case Swap(cards, from_bottom):
            _check_awaited(state, move.seat, "swap", "TOY-20")
            if isinstance(cards, AnyOf) or not cards or len(set(cards)) < len(cards):
                raise IllegalAction("choose-one-or-more", "TOY-20", least=1)
            for card in cards:
                if card not in state.hands[move.seat]:
                    raise IllegalAction("card-not-held", "TOY-20", card=card)
            pending.emit(toy.CardsSwapped(move.seat, cards, len(cards)))
            _draw(pending, move.seat, len(cards), rng, from_bottom=from_bottom)
            _end_swap(pending, move.at)
        case Keep():
            _check_awaited(state, move.seat, "swap", "TOY-20")
            pending.emit(toy.HandKept(move.seat))
            _end_swap(pending, move.at)
    return tuple(pending.effects)


def _check_awaited(state: State, seat: Seat, step: str, clause: str) -> None:
    if seat == CLOCK or state.step != step or not state.waiting[seat]:
        raise IllegalAction("not-asked", clause)


def _draw(pending: PendingEffects[State, ToyEffect], seat: Seat, count: int, rng: Rng, *, from_bottom: bool) -> None:
    if len(pending.state.deck) < count:  # TOY-2
        discards = pending.state.discards
        pending.emit(toy.DeckReshuffled(rng.shuffle("deck", discards), len(discards)))
    deck = pending.state.deck
    pending.emit(toy.CardsDrawn(seat, deck[-count:] if from_bottom else deck[:count], count, from_bottom))


def _open_trick(pending: PendingEffects[State, ToyEffect], at: int) -> None:
    opens_at = at + pending.state.options.countdown_ms
    pending.emit(toy.TrickOpened(pending.state.trick + 1, opens_at, opens_at + pending.state.options.trick_ms))


def _end_swap(pending: PendingEffects[State, ToyEffect], at: int) -> None:
    if not any(pending.state.waiting):
        _open_trick(pending, at)


def _end_trick(pending: PendingEffects[State, ToyEffect], rng: Rng) -> None:
    pending.emit(toy.TrickRevealed(pending.state.commits))  # TOY-12
    shown = [(value(card), seat) for seat, card in enumerate(pending.state.table) if card is not None]
    best = max(shown, default=(0, 0))
    if [points for points, _ in shown].count(best[0]) == 1:
        pending.emit(toy.PointsScored(best[1], len(shown), "TOY-13"))
    if pending.state.trick == pending.state.options.tricks:
        pending.emit(toy.GameEnded())
        return
    for seat in range(pending.state.seats):
        _draw(pending, seat, 1, rng, from_bottom=False)  # TOY-14
    pending.emit(toy.SwapOpened())
