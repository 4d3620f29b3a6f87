"""A bot that looks one action ahead and uses only its task. Values are in hundredths of a victory point."""

from typing import Final, TypeAlias

from service.games.monkeys_on_the_moon.actions import (
    AnyAction,
    Appease,
    Bid,
    ChooseShip,
    LeaveBehind,
    PlayCivilization,
    SelectMonkey,
)
from service.games.monkeys_on_the_moon.components import BOX, CardId, Tribe
from service.games.monkeys_on_the_moon.scoring import titles_of
from service.games.monkeys_on_the_moon.state import rival
from service.games.monkeys_on_the_moon.view import Observation
from service.games.protocol import Rng, Task
from service.games.visibility import Seat

MoonTask: TypeAlias = Task[AnyAction, Observation]

COIN: Final = 60
"""The value of a coin."""
SCORN: Final = 200
"""The value of not holding a Scorn card."""
STEP: Final = 4
"""The value of one step of a stone, for each Status Point by which the seat leads."""
STATUS_POINT: Final = 25
"""The value of a Status Point of the best rank. Each rank below is worth a sixth less."""


def greedy(task: MoonTask, _rng: Rng) -> AnyAction:
    """The action of the highest value, or the first of several."""
    table = task.observation
    return max(task.legal_actions, key=lambda action: _value(table, task.seat, action))


def _value(table: Observation, seat: Seat, action: AnyAction) -> int:
    match action:
        case PlayCivilization():
            return _value_of_advance(table, seat, action)
        case Appease():
            return -_value_of_coin(table, seat, action.tribe) if action.way == "coin" else -SCORN
        case SelectMonkey():
            return _value_of_monkey(table, seat, action.card)
        case Bid() if table.auction is not None:
            price = sum(_value_of_coin(table, seat, tribe) * count for tribe, count in action.coins.items())
            return _value_of_monkey(table, seat, table.auction.monkey) - price
        case ChooseShip():
            ship = BOX.ships[action.card]
            return 100 * ship.points // ship.capacity + (SCORN if table.tribes[ship.tribe].scorn_holder == seat else 0)
        case LeaveBehind():
            return -sum(BOX.monkeys[card].tribe == action.tribe for card in table.seats[seat].aboard)
        case _:
            return 0


def _ranking(table: Observation) -> list[Tribe]:
    """The tribes in their current ranking (MOM-41). Ties are in the order of the circle."""
    views = table.tribes
    return sorted(table.alliance_circle, key=lambda tribe: (views[tribe].rank or 7, -views[tribe].space))


def _status(table: Observation, tribe: Tribe) -> list[int]:
    """Each seat's Status Points of a tribe, launched or aboard."""
    return [
        sum(BOX.monkeys[card].status for card in held.launched + held.aboard if BOX.monkeys[card].tribe == tribe)
        for held in table.seats
    ]


def _lead(table: Observation, seat: Seat, tribe: Tribe, more: int = 0) -> int:
    """The title points of this seat for a tribe, minus the most of another seat.

    `more` is added to the seat's Status Points.
    """
    status = _status(table, tribe)
    status[seat] += more
    titles = titles_of(BOX.awards[_ranking(table).index(tribe)], status)
    return 100 * titles.pop(seat) - 100 * max(titles)


def _value_of_monkey(table: Observation, seat: Seat, card: CardId) -> int:
    monkey = BOX.monkeys[card]
    gain = _lead(table, seat, monkey.tribe, monkey.status) - _lead(table, seat, monkey.tribe)
    rank = _ranking(table).index(monkey.tribe)
    value = gain // 2 + STATUS_POINT * monkey.status * (6 - rank) // 6
    held = table.seats[seat]
    if held.ship is not None:
        rival_tribe = rival(table.alliance_circle, monkey.tribe)
        if any(BOX.monkeys[other].tribe == rival_tribe for other in held.aboard):
            value -= 50
        else:
            value += 100 * BOX.ships[held.ship].points // BOX.ships[held.ship].capacity
    return value + (SCORN if table.tribes[monkey.tribe].scorn_holder == seat else 0)


def _value_of_coin(table: Observation, seat: Seat, tribe: Tribe) -> int:
    """The value of one coin that the seat holds. The last coin of a tribe is worth more, because it also averts Scorn."""
    coins = table.seats[seat].coins or {}
    return COIN if coins.get(tribe, 0) > 1 else 2 * COIN


def _value_of_advance(table: Observation, seat: Seat, action: PlayCivilization) -> int:
    tribe = action.tribe
    view = table.tribes[tribe]
    scorned = view.scorn_holder == seat
    coins = table.seats[seat].coins or {}
    value = COIN * min(1 if scorned else 2, view.supply) + (SCORN if scorned else 0)
    if not coins.get(tribe, 0) and view.supply:
        value += COIN
    angered = rival(table.alliance_circle, tribe)
    if coins.get(angered, 0):
        value -= _value_of_coin(table, seat, angered)
    elif table.tribes[angered].scorn_holder == seat:
        value -= 2 * COIN
    else:
        value -= SCORN
    if view.rank is None:
        status = _status(table, tribe)
        mine = status.pop(seat)
        value += STEP * BOX.civilization[action.card].spaces * max(-9, min(9, mine - max(status)))
    return value
