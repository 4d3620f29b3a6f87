"""Monkeys board, ships launch, and seats choose new ships (MOM-24 to MOM-27, MOM-40, MOM-51)."""

from service.games.monkeys_on_the_moon.actions import ChooseShip, LeaveBehind
from service.games.monkeys_on_the_moon.apply import Pending
from service.games.monkeys_on_the_moon.components import BOX, SHIP_POOL, TRIBE_INDEX, Clause
from service.games.monkeys_on_the_moon.effects import (
    CoinsTaken,
    DecisionOpened,
    MonkeyBoarded,
    MonkeyKeptWaiting,
    MonkeysLeftBehind,
    ScornReturned,
    ShipChosen,
    ShipGoes,
    ShipLaunched,
    ShipsRevealed,
    WaitingMonkeysLaunched,
)
from service.games.monkeys_on_the_moon.state import State, holds_scorn, rival
from service.games.visibility import Seat


def board(pending: Pending, seat: Seat) -> bool:
    """Board the waiting monkeys, and launch ships as the rules require.

    Returns False if the owner must choose a ship first.
    """
    while True:
        state = pending.state
        held = state.seats[seat]
        if held.ship is None and state.ship_pool:
            pending.emit(DecisionOpened(seat, "choose_ship"))
            return False
        if not state.boarding:
            return True
        monkey = state.boarding[0]
        if held.ship is None:
            pending.emit(MonkeyKeptWaiting(seat, monkey))
        elif _has_rival_aboard(state, seat, monkey):
            _launch(pending, seat, "under_deck", "MOM-27")
        else:
            pending.emit(MonkeyBoarded(seat, monkey))
            if len(held.aboard) + 1 == BOX.ships[held.ship].capacity:
                _launch(pending, seat, "score_pile", "MOM-24")


def choose_ship(pending: Pending, seat: Seat, action: ChooseShip) -> bool:
    """Take a ship of the pool and continue boarding. Returns the result of `board`."""
    pending.emit(ShipChosen(seat, action.card))
    _refill(pending)
    return board(pending, seat)


def leave_behind(pending: Pending, seat: Seat, action: LeaveBehind) -> bool:
    """Launch without the monkeys of a tribe, which then board the next ship (MOM-51). Returns the result of `board`."""
    aboard = pending.state.seats[seat].aboard
    left = tuple([monkey for monkey in aboard if BOX.monkeys[monkey].tribe == action.tribe])
    pending.emit(MonkeysLeftBehind(seat, action.tribe, left))
    _launch(pending, seat, "under_deck", "MOM-51")
    return board(pending, seat)


def launch_all(pending: Pending, seat: Seat) -> None:
    """Launch a ship that is not full at the end of the match. Monkeys without a ship are launched too (MOM-40)."""
    held = pending.state.seats[seat]
    if not held.aboard:
        return
    if held.ship is None:
        pending.emit(WaitingMonkeysLaunched(seat, held.aboard, "MOM-40"))
        return
    pending.emit(ShipLaunched(seat, held.ship, held.aboard, "discard", 0, "MOM-40"))
    tribe = BOX.ships[held.ship].tribe
    if holds_scorn(pending.state, seat, tribe):
        pending.emit(ScornReturned(seat, tribe, "MOM-40"))


def _has_rival_aboard(state: State, seat: Seat, monkey: str) -> bool:
    rival_tribe = rival(state.circle, BOX.monkeys[monkey].tribe)
    return any(BOX.monkeys[other].tribe == rival_tribe for other in state.seats[seat].aboard)


def _launch(pending: Pending, seat: Seat, ship_goes: ShipGoes, clause: Clause) -> None:
    held = pending.state.seats[seat]
    if held.ship is None:
        raise ValueError("no ship to launch")
    ship = BOX.ships[held.ship]
    points = ship.points if ship_goes == "score_pile" else 0
    pending.emit(ShipLaunched(seat, held.ship, held.aboard, ship_goes, points, clause))
    if holds_scorn(pending.state, seat, ship.tribe):
        pending.emit(ScornReturned(seat, ship.tribe, "MOM-25"))
    elif pending.state.supply[TRIBE_INDEX[ship.tribe]]:
        pending.emit(CoinsTaken(seat, ship.tribe, 1, "MOM-25"))
    if not pending.state.ship_pool:
        _refill(pending)


def _refill(pending: Pending) -> None:
    state = pending.state
    ships = (state.ship_deck + state.ships_under_deck)[: SHIP_POOL - len(state.ship_pool)]
    if ships:
        pending.emit(ShipsRevealed(ships))
