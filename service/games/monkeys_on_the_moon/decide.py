"""The judge: an action becomes effects, or is refused. No draw is made after the start."""

from service.games.kit.telling import Telling
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
from service.games.monkeys_on_the_moon.apply import Told, apply
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
    """What follows from a move, up to the next decision.

    Raises:
        IllegalAction: the rules refuse it.
    """
    seat, action = move.seat, move.action
    check_seat(state, seat)
    told: Told = Telling(apply, state)
    match action:
        case PlayCivilization():
            check_play(state, seat, action)
            settled = civilization.play(told, seat, action)
        case Appease():
            check_appease(state, seat, action)
            settled = civilization.appease(told, seat, action)
        case SelectMonkey():
            check_select(state, action)
            settled = auction.select(told, seat, action)
        case Bid():
            settled = auction.bid(told, seat, action, check_bid(state, seat, action))
        case Pass():
            check_pass(state)
            settled = auction.drop_out(told, seat)
        case ChooseShip():
            check_ship(state, action)
            settled = voyage.choose_ship(told, seat, action)
        case LeaveBehind():
            check_leave(state, seat, action)
            settled = voyage.leave_behind(told, seat, action)
        case _:
            raise IllegalAction("no-bell", "MOM-10")
    if settled:
        turns.go_on(told)
    return tuple(told.effects)
