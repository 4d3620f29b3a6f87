"""The judge: an action or a bell becomes effects, or is refused."""

from service.games.four_monkeys.actions import (
    AnyAction,
    Burn,
    Check,
    Grab,
    HandBanana,
    Reveal,
    UseReplenish,
)
from service.games.four_monkeys.apply import Told, apply
from service.games.four_monkeys.checking import check, end_round, go_on
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
from service.games.kit.telling import Telling
from service.games.protocol import Move, Ring, Rng
from service.games.visibility import Seat


def decide(state: State, move: Move[AnyAction], rng: Rng) -> tuple[AnyEffect, ...]:
    """What follows from a move, up to what the table waits for next.

    Raises:
        IllegalAction: the rules refuse it.
    """
    seat, action, at = move.seat, move.action, move.at
    told: Told = Telling(apply, state)
    if isinstance(action, Ring):
        check_bell(state, seat, at, action)
        _ring(told, at, rng)
        return tuple(told.effects)
    check_seat(state, seat)
    if isinstance(action, Check):
        check_choice(state, seat, at, action)
        check(told, seat, action.combo)
        go_on(told, at, rng)
        return tuple(told.effects)
    check_time(state, at)
    match action:
        case Grab():
            _grab(told, seat, action, check_grab(state, seat, action))
        case Burn():
            check_burn(state, seat, action)
            told.tell(TileBurned(seat, action.combo))
            draw(told, seat, BONUS, action.draw_from)
        case UseReplenish():
            check_replenish(state, seat)
            _replenish(told, seat, action)
        case Reveal():
            check_reveal(state, seat, action)
            combo, uncovered, *_ = state.stacks[area_of(state, seat)][action.stack]
            told.tell(TileRevealed(seat, action.stack, combo, uncovered))
        case HandBanana():
            check_banana(state, seat, action)
            skin: Skin = "received" if state.seats[seat].received_skins else "own"
            told.tell(BananaHanded(seat, action.to, skin))
        case _:
            check_stop(state, seat)
            _stop(told, seat, at, rng)
    return tuple(told.effects)


def _ring(told: Told, at: int, rng: Rng) -> None:
    """End the round, or check the combo owned longest for a seat that did not choose (FOU-16, FOU-22)."""
    asked = told.state.checking
    if asked is None:
        end_round(told, "deadline", at, rng)
        return
    check(told, asked.seat, lowest_unchecked(told.state, asked.seat)[0].combo)
    go_on(told, at, rng)


def _grab(told: Told, seat: Seat, action: Grab, cards: tuple[CardId, ...]) -> None:
    """FOU-10."""
    combo, *rest = told.state.stacks[area_of(told.state, seat)][action.stack]
    told.tell(TileGrabbed(seat, action.stack, combo, len(cards), cards, rest[0] if rest else None))
    draw(told, seat, HAND - len(told.state.seats[seat].hand), action.draw_from)


def _replenish(told: Told, seat: Seat, action: UseReplenish) -> None:
    """FOU-13."""
    told.tell(ReplenishUsed(seat, action.mode))
    if action.mode == "redraw":
        told.tell(HandDiscarded(seat, len(told.state.seats[seat].hand)))
        draw(told, seat, HAND, action.draw_from)
    else:
        draw(told, seat, BONUS, action.draw_from)


def _stop(told: Told, seat: Seat, at: int, rng: Rng) -> None:
    """FOU-15."""
    has = different(told.state.seats[seat])
    told.tell(StopCalled(seat, has))
    if has >= DIFFERENT:
        end_round(told, "stop", at, rng)
    else:
        told.tell(FalseStopCharged(seat, BOX.false_stop))
        open_round(told, told.state.round, at, rng)
