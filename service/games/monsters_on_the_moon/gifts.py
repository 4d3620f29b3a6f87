"""All seats give away a double-head card at once; then the cards are dealt (MON-2 to MON-4)."""

from service.games.monsters_on_the_moon.apply import Pending
from service.games.monsters_on_the_moon.components import DRAWN_AT_START, CardId, right_of
from service.games.monsters_on_the_moon.effects import CardDrawn
from service.games.monsters_on_the_moon.laying import start_card
from service.games.monsters_on_the_moon.layout import PILE_SLOTS
from service.games.monsters_on_the_moon.options import layout_of
from service.games.monsters_on_the_moon.start_effects import CardGiven, GiftChosen
from service.games.monsters_on_the_moon.turns import begin
from service.games.visibility import Seat


def give(pending: Pending, seat: Seat, card: CardId) -> None:
    """Lay the gift aside. Once all seats have done so, hand the gifts over, deal, and begin the first turn."""
    pending.emit(GiftChosen(seat, card))
    seats = len(pending.state.seats)
    gifts = [(giver, held.gift) for giver, held in enumerate(pending.state.seats) if held.gift is not None]
    if len(gifts) < seats:
        return
    pending.emit(*[CardGiven(giver, right_of(giver, seats), gift) for giver, gift in gifts])
    drawing = [seat for seat in range(seats) for _ in range(DRAWN_AT_START[seats])]
    pending.emit(*[CardDrawn(drawer, top, "MON-3") for drawer, top in zip(drawing, pending.state.pile, strict=False)])
    _lay_out(pending)
    begin(pending, pending.state.active)


def _lay_out(pending: Pending) -> None:
    """Lay out the start cards (MON-4)."""
    drawn = dict(zip(PILE_SLOTS, pending.state.pile, strict=False))
    for placed in layout_of(pending.state.options):
        card = drawn.get(placed.card)
        pending.emit(start_card(card or placed.card, placed.x, placed.y, placed.rotation, from_pile=card is not None))
