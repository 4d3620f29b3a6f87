"""The Civilization turn: favor, Scorn and stones (MOM-11 to MOM-17, MOM-51)."""

from service.games.monkeys_on_the_moon.actions import Appease, PlayCivilization
from service.games.monkeys_on_the_moon.apply import Pending
from service.games.monkeys_on_the_moon.components import BOX, TRIBE_INDEX, Tribe
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


def play(pending: Pending, seat: Seat, action: PlayCivilization) -> bool:
    """Adjust the favor and move the stone. Returns False if the seat must first appease an ally of the angered tribe."""
    tribe = action.tribe
    pending.emit(CivilizationPlayed(seat, action.card, tribe))
    scorned = holds_scorn(pending.state, seat, tribe)
    taken = min(1 if scorned else 2, pending.state.supply[TRIBE_INDEX[tribe]])
    if taken:
        pending.emit(CoinsTaken(seat, tribe, taken, "MOM-12"))
    if scorned:
        pending.emit(ScornReturned(seat, tribe, "MOM-13"))
    angered = angered_tribe(pending.state)
    if pending.state.seats[seat].coins[TRIBE_INDEX[angered]]:
        pending.emit(CoinsPaid(seat, angered, 1, "MOM-14"))
    elif not holds_scorn(pending.state, seat, angered):
        _take_scorn(pending, seat, angered, "MOM-15")
    elif appeasements(pending.state, seat):
        pending.emit(DecisionOpened(seat, "appease"))
        return False
    _move_stone(pending)
    return True


def appease(pending: Pending, seat: Seat, action: Appease) -> bool:
    """Appease an ally of the angered tribe, then move the stone (MOM-16)."""
    if action.way == "coin":
        pending.emit(CoinsPaid(seat, action.tribe, 1, "MOM-16"))
    else:
        _take_scorn(pending, seat, action.tribe, "MOM-16")
    _move_stone(pending)
    return True


def _take_scorn(pending: Pending, seat: Seat, tribe: Tribe, clause: str) -> None:
    pending.emit(ScornTaken(seat, tribe, pending.state.scorn[TRIBE_INDEX[tribe]], clause))


def _move_stone(pending: Pending) -> None:
    """Move the stone by the card on top of the discard pile (MOM-17)."""
    state = pending.state
    tribe = advanced_tribe(state)
    if tribe in state.finished:
        return
    before = state.spaces[TRIBE_INDEX[tribe]]
    after = min(before + BOX.civilization[state.civilization_discard[-1]].spaces, BOX.last_space)
    pending.emit(StoneMoved(tribe, before, after))
    if after == BOX.last_space:
        pending.emit(StoneFinished(tribe, len(state.finished) + 1))
    if state.options.treachery and not state.swapped and after >= BOX.white_dot:
        _swap(pending, tribe)


def _swap(pending: Pending, tribe: Tribe) -> None:
    """Swap the places of the tribe and its clockwise ally in the circle (MOM-51)."""
    circle = pending.state.circle
    _, ally = allies(circle, tribe)
    other = {tribe: ally, ally: tribe}
    pending.emit(TribeCardsSwapped(tribe, ally, tuple(other.get(card, card) for card in circle)))
