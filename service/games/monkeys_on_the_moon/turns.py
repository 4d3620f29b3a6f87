"""The order of turns, the wrap-up of a round, and the end of the match (MOM-10, MOM-30, MOM-40)."""

from service.games.monkeys_on_the_moon.apply import Pending
from service.games.monkeys_on_the_moon.effects import (
    BidTurnSkipped,
    CivilizationDealt,
    DecisionOpened,
    MatchEnded,
    MonkeysRevealed,
    MoonstonePassed,
    RoundOpened,
    TurnOpened,
)
from service.games.monkeys_on_the_moon.state import rivals_aboard, seats_from
from service.games.monkeys_on_the_moon.voyage import launch_all
from service.games.visibility import Seat


def open_next_decision(pending: Pending) -> None:
    """Open the next decision after one is complete, or end the match."""
    state = pending.state
    order = seats_from(state.starting_seat, len(state.seats))
    to_come = order[order.index(state.active) + 1 :]
    if state.turn == "bid":
        _bid_turn(pending, to_come)
        return
    for seat in seats_from(state.active, len(order)):
        if rivals_aboard(state, seat):
            pending.emit(DecisionOpened(seat, "leave_behind"))  # MOM-51: before the next Civilization turn
            return
    if to_come:
        _civilization_turn(pending, to_come[0])
    else:
        _bid_turn(pending, order)


def _civilization_turn(pending: Pending, seat: Seat) -> None:
    pending.emit(TurnOpened(seat, "civilization"), DecisionOpened(seat, "play_civilization"))


def _bid_turn(pending: Pending, to_come: tuple[Seat, ...]) -> None:
    for seat in to_come:
        pending.emit(TurnOpened(seat, "bid"))
        if pending.state.monkey_pool:
            pending.emit(DecisionOpened(seat, "select_monkey"))
            return
        pending.emit(BidTurnSkipped(seat))
    if pending.state.seats[pending.state.active].hand:
        _wrap_up(pending)
    else:
        _end(pending)


def _wrap_up(pending: Pending) -> None:
    """MOM-30."""
    state = pending.state
    seats = len(state.seats)
    monkeys = state.monkey_deck[: seats + 1 - len(state.monkey_pool)]
    if monkeys:
        pending.emit(MonkeysRevealed(monkeys))
    if state.civilization_deck:
        order = seats_from(state.starting_seat, seats)
        pending.emit(*map(CivilizationDealt, order, state.civilization_deck))
    first = (state.starting_seat + 1) % seats
    pending.emit(MoonstonePassed(seats_from(first, seats)), RoundOpened(state.round + 1))
    _civilization_turn(pending, first)


def _end(pending: Pending) -> None:
    """MOM-40."""
    for seat in seats_from(pending.state.starting_seat, len(pending.state.seats)):
        launch_all(pending, seat)
    pending.emit(MatchEnded())
