"""Whose turn comes next, the wrap-up of a round and the end (MOM-10, MOM-30, MOM-40)."""

from service.games.monkeys_on_the_moon.apply import Told
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


def go_on(told: Told) -> None:
    """Open the next decision when nothing of the last one is left to do, or end the match."""
    state = told.state
    order = seats_from(state.starting_seat, len(state.seats))
    to_come = order[order.index(state.active) + 1 :]
    if state.turn == "bid":
        _bid_turn(told, to_come)
        return
    for seat in seats_from(state.active, len(order)):
        if rivals_aboard(state, seat):
            told.tell(DecisionOpened(seat, "leave_behind"))  # MOM-51: before the next Civilization turn
            return
    if to_come:
        _civilization_turn(told, to_come[0])
    else:
        _bid_turn(told, order)


def _civilization_turn(told: Told, seat: Seat) -> None:
    told.tell(TurnOpened(seat, "civilization"), DecisionOpened(seat, "play_civilization"))


def _bid_turn(told: Told, to_come: tuple[Seat, ...]) -> None:
    for seat in to_come:
        told.tell(TurnOpened(seat, "bid"))
        if told.state.monkey_pool:
            told.tell(DecisionOpened(seat, "select_monkey"))
            return
        told.tell(BidTurnSkipped(seat))
    if told.state.seats[told.state.active].hand:
        _wrap_up(told)
    else:
        _end(told)


def _wrap_up(told: Told) -> None:
    """MOM-30."""
    state = told.state
    seats = len(state.seats)
    monkeys = state.monkey_deck[: seats + 1 - len(state.monkey_pool)]
    if monkeys:
        told.tell(MonkeysRevealed(monkeys))
    if state.civilization_deck:
        order = seats_from(state.starting_seat, seats)
        told.tell(*map(CivilizationDealt, order, state.civilization_deck))
    first = (state.starting_seat + 1) % seats
    told.tell(MoonstonePassed(seats_from(first, seats)), RoundOpened(state.round + 1))
    _civilization_turn(told, first)


def _end(told: Told) -> None:
    """MOM-40."""
    for seat in seats_from(told.state.starting_seat, len(told.state.seats)):
        launch_all(told, seat)
    told.tell(MatchEnded())
