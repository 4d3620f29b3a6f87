"""Turns an action into effects, or refuses it. Only `setup` and `score` make draws."""

from service.games.kit.pending import PendingEffects
from service.games.monkeys_on_the_moon import auction, civilization, turns, voyage
from service.games.monkeys_on_the_moon.actions import (
    AnyAction,
    Appease,
    Bid,
    ChooseShip,
    LeaveBehind,
    Pass,
    PlayCivilization,
    SelectMonkey,
)
from service.games.monkeys_on_the_moon.apply import Pending, apply
from service.games.monkeys_on_the_moon.effects import AnyEffect
from service.games.monkeys_on_the_moon.legal import (
    check_appease,
    check_bid,
    check_leave,
    check_pass,
    check_play,
    check_seat,
    check_select,
    check_ship,
)
from service.games.monkeys_on_the_moon.state import State
from service.games.protocol import IllegalAction, Move, Rng


def decide(state: State, move: Move[AnyAction], _rng: Rng) -> tuple[AnyEffect, ...]:
    """The effects of a move, up to the next decision.

    Raises:
      IllegalAction: the rules refuse the action.
    """
    seat, action = move.seat, move.action
    check_seat(state, seat)
    pending: Pending = PendingEffects(apply, state)
    match action:
        case PlayCivilization():
            check_play(state, seat, action)
            is_complete = civilization.play(pending, seat, action)
        case Appease():
            check_appease(state, seat, action)
            is_complete = civilization.appease(pending, seat, action)
        case SelectMonkey():
            check_select(state, action)
            is_complete = auction.select(pending, seat, action)
        case Bid():
            is_complete = auction.bid(pending, seat, action, check_bid(state, seat, action))
        case Pass():
            check_pass(state)
            is_complete = auction.pass_bid(pending, seat)
        case ChooseShip():
            check_ship(state, action)
            is_complete = voyage.choose_ship(pending, seat, action)
        case LeaveBehind():
            check_leave(state, seat, action)
            is_complete = voyage.leave_behind(pending, seat, action)
        case _:
            raise IllegalAction("no-bell", "MOM-10")
    if is_complete:
        turns.open_next_decision(pending)
    return tuple(pending.effects)
