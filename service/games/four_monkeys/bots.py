"""A bot that uses only its task, and chooses one action at a time."""

from collections.abc import Sequence
from typing import Final, TypeAlias, TypeVar

from service.games.four_monkeys.actions import AnyAction, Burn, Check, Grab, HandBanana, Reveal, Stop, UseReplenish
from service.games.four_monkeys.components import BOX, DIFFERENT, Colour
from service.games.four_monkeys.needs import is_correct, shortest
from service.games.four_monkeys.state import kind_of
from service.games.four_monkeys.view import Observation, SeatView, TileView
from service.games.protocol import Rng, Task
from service.games.visibility import Seat

A = TypeVar("A", bound=AnyAction)
MonkeyTask: TypeAlias = Task[AnyAction, Observation]

BLUFFS: Final = (True, False, False, False, False, False)
"""While more cards could still help, the bot bluffs with probability 1/6: it draws one of these values."""
FULL_HAND: Final = 11
"""With this many cards in hand, the bot draws no more."""


def greedy(task: MonkeyTask, rng: Rng) -> AnyAction | None:
    """Prefers, in this order: a true stop, the best combo that the hand fulfils, more cards, a bluff.

    It takes no action that only costs points.
    """
    table, seat = task.observation, task.seat
    held = table.seats[seat]
    area = next(one for one in table.areas if seat in one.seats)
    colours = [other.colour for other in table.seats]
    owned = {kind_of(tile.combo) for tile in held.tiles}
    if checks := _all(task, Check):
        return _best_check(checks, held, colours)
    if len(owned) >= DIFFERENT:
        return Stop()
    if bananas := _all(task, HandBanana):
        return max(bananas, key=lambda action: _shown(table, action.to))
    grabs = sorted(_all(task, Grab), key=lambda grab: -BOX.combos[grab.combo].green)
    new = [grab for grab in grabs if kind_of(grab.combo) not in owned]
    needs_combo = any(kind_of(stack.top) not in owned for stack in area.stacks)
    may_draw = needs_combo and held.hand_count < FULL_HAND and any(table.seats[other].deck for other in area.seats)
    return (
        _correct_grab(new, held, colours)
        or next(iter(_all(task, Reveal)), None)
        or (_bluff(new, held) if rng.pick("bluff", BLUFFS) else None)
        or (_more_cards(task) if may_draw else None)
        or _bluff(new, held)
    )


def _all(task: MonkeyTask, kind: type[A]) -> list[A]:
    return [action for action in task.legal_actions if isinstance(action, kind)]


def _best_check(checks: Sequence[Check], held: SeatView, colours: Sequence[Colour]) -> Check:
    """Prefers a wrong combo: after it the seat may no longer be the Smartest Monkey, which leaves its other combos unchecked."""
    under = {tile.combo: tile.cards or () for tile in held.tiles}
    return min(checks, key=lambda action: is_correct(action.combo, under[action.combo], colours))


def _shown(table: Observation, seat: Seat) -> int:
    """The part of a seat's score that all players can see."""
    held = table.seats[seat]
    return sum(held.points) + sum(map(_value, held.tiles))


def _value(tile: TileView) -> int:
    combo = BOX.combos[tile.combo]
    return combo.orange if tile.burned else combo.green


def _correct_grab(grabs: Sequence[Grab], held: SeatView, colours: Sequence[Colour]) -> Grab | None:
    """A grab of the first of these combos that the hand fulfils. It spends golden buttons only if necessary."""
    hand = sorted(held.hand or (), key=lambda card: -BOX.cards[card].golden)
    for grab in grabs:
        if cards := shortest(grab.combo, hand, colours):
            return Grab(grab.stack, grab.combo, cards)
    return None


def _bluff(grabs: Sequence[Grab], held: SeatView) -> Grab | None:
    """A grab of the first of these combos with a single card."""
    if not grabs:
        return None
    plain = min(held.hand or (), key=lambda card: BOX.cards[card].golden)
    return Grab(grabs[0].stack, grabs[0].combo, (plain,))


def _more_cards(task: MonkeyTask) -> UseReplenish | Burn | None:
    """An action that costs a point and draws three cards."""
    if UseReplenish("extra") in task.legal_actions:
        return UseReplenish("extra")
    return next(iter(_all(task, Burn)), None)
