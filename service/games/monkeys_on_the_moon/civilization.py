"""The Civilization turn: favor, Scorn and the stones (MOM-11 to MOM-17, MOM-51)."""

from service.games.monkeys_on_the_moon.actions import Appease, PlayCivilization
from service.games.monkeys_on_the_moon.apply import Told
from service.games.monkeys_on_the_moon.components import BOX, INDEX, Tribe
from service.games.monkeys_on_the_moon.effects import (
    CivilizationPlayed,
    CoinsPaid,
    CoinsTaken,
    DecisionOpened,
    ScornReturned,
    ScornTaken,
    StoneFinished,
    StoneMoved,
    TribeCardsSwapped,
)
from service.games.monkeys_on_the_moon.legal import appeasements
from service.games.monkeys_on_the_moon.state import advanced_tribe, allies, angered_tribe, holds_scorn
from service.games.visibility import Seat


def play(told: Told, seat: Seat, action: PlayCivilization) -> bool:
    """Adjust the favor and move the stone; False if the seat must appease the angered tribe's allies first."""
    tribe = action.tribe
    told.tell(CivilizationPlayed(seat, action.card, tribe))
    scorned = holds_scorn(told.state, seat, tribe)
    taken = min(1 if scorned else 2, told.state.supply[INDEX[tribe]])
    if taken:
        told.tell(CoinsTaken(seat, tribe, taken, "MOM-12"))
    if scorned:
        told.tell(ScornReturned(seat, tribe, "MOM-13"))
    angered = angered_tribe(told.state)
    if told.state.seats[seat].coins[INDEX[angered]]:
        told.tell(CoinsPaid(seat, angered, 1, "MOM-14"))
    elif not holds_scorn(told.state, seat, angered):
        _take_scorn(told, seat, angered, "MOM-15")
    elif appeasements(told.state, seat):
        told.tell(DecisionOpened(seat, "appease"))
        return False
    _move_stone(told)
    return True


def appease(told: Told, seat: Seat, action: Appease) -> bool:
    """Settle with an ally of the angered tribe, and move the stone at last (MOM-16)."""
    if action.way == "coin":
        told.tell(CoinsPaid(seat, action.tribe, 1, "MOM-16"))
    else:
        _take_scorn(told, seat, action.tribe, "MOM-16")
    _move_stone(told)
    return True


def _take_scorn(told: Told, seat: Seat, tribe: Tribe, clause: str) -> None:
    told.tell(ScornTaken(seat, tribe, told.state.scorn[INDEX[tribe]], clause))


def _move_stone(told: Told) -> None:
    """MOM-17, by the card on top of the discard pile."""
    state = told.state
    tribe = advanced_tribe(state)
    if tribe in state.finished:
        return
    before = state.spaces[INDEX[tribe]]
    after = min(before + BOX.civilization[state.civilization_discard[-1]].spaces, BOX.last_space)
    told.tell(StoneMoved(tribe, before, after))
    if after == BOX.last_space:
        told.tell(StoneFinished(tribe, len(state.finished) + 1))
    if state.options.treachery and not state.swapped and after >= BOX.white_dot:
        _swap(told, tribe)


def _swap(told: Told, tribe: Tribe) -> None:
    """MOM-51: the tribe's card and its clockwise ally's change places."""
    circle = told.state.circle
    _, ally = allies(circle, tribe)
    other = {tribe: ally, ally: tribe}
    told.tell(TribeCardsSwapped(tribe, ally, tuple(other.get(card, card) for card in circle)))
