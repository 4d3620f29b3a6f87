"""Monkeys board, ships launch and new ones are chosen (MOM-24 to MOM-27, MOM-40, MOM-51)."""

from service.games.monkeys_on_the_moon.actions import ChooseShip, LeaveBehind
from service.games.monkeys_on_the_moon.apply import Told
from service.games.monkeys_on_the_moon.components import BOX, INDEX, SHIP_POOL, Clause
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


def board(told: Told, seat: Seat) -> bool:
    """Board the monkeys that wait, launching as the rules demand; False if the owner must choose a ship first."""
    while True:
        state = told.state
        held = state.seats[seat]
        if held.ship is None and state.ship_pool:
            told.tell(DecisionOpened(seat, "choose_ship"))
            return False
        if not state.boarding:
            return True
        monkey = state.boarding[0]
        if held.ship is None:
            told.tell(MonkeyKeptWaiting(seat, monkey))
        elif _has_rival_aboard(state, seat, monkey):
            _launch(told, seat, "under_deck", "MOM-27")
        else:
            told.tell(MonkeyBoarded(seat, monkey))
            if len(held.aboard) + 1 == BOX.ships[held.ship].capacity:
                _launch(told, seat, "score_pile", "MOM-24")


def choose_ship(told: Told, seat: Seat, action: ChooseShip) -> bool:
    """Take a ship of the pool and go on boarding, as `board` says."""
    told.tell(ShipChosen(seat, action.card))
    _refill(told)
    return board(told, seat)


def leave_behind(told: Told, seat: Seat, action: LeaveBehind) -> bool:
    """Launch without the monkeys of a tribe, which then board as `board` says (MOM-51)."""
    aboard = told.state.seats[seat].aboard
    left = tuple([monkey for monkey in aboard if BOX.monkeys[monkey].tribe == action.tribe])
    told.tell(MonkeysLeftBehind(seat, action.tribe, left))
    _launch(told, seat, "under_deck", "MOM-51")
    return board(told, seat)


def launch_all(told: Told, seat: Seat) -> None:
    """At the end: the ship launches unfilled, and monkeys without a ship go the same way (MOM-40)."""
    held = told.state.seats[seat]
    if not held.aboard:
        return
    if held.ship is None:
        told.tell(WaitingMonkeysLaunched(seat, held.aboard, "MOM-40"))
        return
    told.tell(ShipLaunched(seat, held.ship, held.aboard, "discard", 0, "MOM-40"))
    tribe = BOX.ships[held.ship].tribe
    if holds_scorn(told.state, seat, tribe):
        told.tell(ScornReturned(seat, tribe, "MOM-40"))


def _has_rival_aboard(state: State, seat: Seat, monkey: str) -> bool:
    unwelcome = rival(state.circle, BOX.monkeys[monkey].tribe)
    return any(BOX.monkeys[other].tribe == unwelcome for other in state.seats[seat].aboard)


def _launch(told: Told, seat: Seat, ship_goes: ShipGoes, clause: Clause) -> None:
    held = told.state.seats[seat]
    if held.ship is None:
        raise ValueError("no ship to launch")
    ship = BOX.ships[held.ship]
    points = ship.points if ship_goes == "score_pile" else 0
    told.tell(ShipLaunched(seat, held.ship, held.aboard, ship_goes, points, clause))
    if holds_scorn(told.state, seat, ship.tribe):
        told.tell(ScornReturned(seat, ship.tribe, "MOM-25"))
    elif told.state.supply[INDEX[ship.tribe]]:
        told.tell(CoinsTaken(seat, ship.tribe, 1, "MOM-25"))
    if not told.state.ship_pool:
        _refill(told)


def _refill(told: Told) -> None:
    state = told.state
    ships = (state.ship_deck + state.ships_under_deck)[: SHIP_POOL - len(state.ship_pool)]
    if ships:
        told.tell(ShipsRevealed(ships))
