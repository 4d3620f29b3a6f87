"""Turns an action or a bell into effects, or refuses it."""

from service.games.four_monkeys.actions import (
    AnyAction,
    Burn,
    Check,
    Grab,
    HandBanana,
    Reveal,
    UseReplenish,
)
from service.games.four_monkeys.apply import Pending, apply
from service.games.four_monkeys.checking import check, continue_checks, end_round
from service.games.four_monkeys.components import BONUS, BOX, DIFFERENT, HAND, CardId
from service.games.four_monkeys.dealing import draw, open_round
from service.games.four_monkeys.effects import (
    AnyEffect,
    BananaHanded,
    FalseStopCharged,
    HandDiscarded,
    ReplenishUsed,
    Skin,
    StopCalled,
    TileBurned,
    TileGrabbed,
    TileRevealed,
)
from service.games.four_monkeys.legal import (
    check_banana,
    check_bell,
    check_burn,
    check_choice,
    check_grab,
    check_replenish,
    check_reveal,
    check_seat,
    check_stop,
    check_time,
    lowest_unchecked,
)
from service.games.four_monkeys.state import State, area_of, different
from service.games.kit.pending import PendingEffects
from service.games.protocol import Move, Ring, Rng
from service.games.visibility import Seat


def decide(state: State, move: Move[AnyAction], rng: Rng) -> tuple[AnyEffect, ...]:
    """The effects of a move, up to the next decision.

    Raises:
      IllegalAction: the rules refuse the action.
    """
    seat, action, at = move.seat, move.action, move.at
    pending: Pending = PendingEffects(apply, state)
    if isinstance(action, Ring):
        check_bell(state, seat, at, action)
        _ring(pending, at, rng)
        return tuple(pending.effects)
    check_seat(state, seat)
    if isinstance(action, Check):
        check_choice(state, seat, at, action)
        check(pending, seat, action.combo)
        continue_checks(pending, at, rng)
        return tuple(pending.effects)
    check_time(state, at)
    match action:
        case Grab():
            _grab(pending, seat, action, check_grab(state, seat, action))
        case Burn():
            check_burn(state, seat, action)
            pending.emit(TileBurned(seat, action.combo))
            draw(pending, seat, BONUS, action.draw_from)
        case UseReplenish():
            check_replenish(state, seat)
            _replenish(pending, seat, action)
        case Reveal():
            check_reveal(state, seat, action)
            combo, uncovered, *_ = state.stacks[area_of(state, seat)][action.stack]
            pending.emit(TileRevealed(seat, action.stack, combo, uncovered))
        case HandBanana():
            check_banana(state, seat, action)
            skin: Skin = "received" if state.seats[seat].received_skins else "own"
            pending.emit(BananaHanded(seat, action.to, skin))
        case _:
            check_stop(state, seat)
            _stop(pending, seat, at, rng)
    return tuple(pending.effects)


def _ring(pending: Pending, at: int, rng: Rng) -> None:
    """End the round, or check the combo owned longest for a seat that did not choose in time (FOU-16, FOU-22)."""
    choice = pending.state.checking
    if choice is None:
        end_round(pending, "deadline", at, rng)
        return
    check(pending, choice.seat, lowest_unchecked(pending.state, choice.seat)[0].combo)
    continue_checks(pending, at, rng)


def _grab(pending: Pending, seat: Seat, action: Grab, cards: tuple[CardId, ...]) -> None:
    """FOU-10."""
    combo, *rest = pending.state.stacks[area_of(pending.state, seat)][action.stack]
    pending.emit(TileGrabbed(seat, action.stack, combo, len(cards), cards, rest[0] if rest else None))
    draw(pending, seat, HAND - len(pending.state.seats[seat].hand), action.draw_from)


def _replenish(pending: Pending, seat: Seat, action: UseReplenish) -> None:
    """FOU-13."""
    pending.emit(ReplenishUsed(seat, action.mode))
    if action.mode == "redraw":
        pending.emit(HandDiscarded(seat, len(pending.state.seats[seat].hand)))
        draw(pending, seat, HAND, action.draw_from)
    else:
        draw(pending, seat, BONUS, action.draw_from)


def _stop(pending: Pending, seat: Seat, at: int, rng: Rng) -> None:
    """FOU-15."""
    has = different(pending.state.seats[seat])
    pending.emit(StopCalled(seat, has))
    if has >= DIFFERENT:
        end_round(pending, "stop", at, rng)
    else:
        pending.emit(FalseStopCharged(seat, BOX.false_stop))
        open_round(pending, pending.state.round, at, rng)
