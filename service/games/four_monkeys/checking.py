"""The end of a round: repeated combos, the Smartest Monkey, the checks and the points (FOU-20 to FOU-23)."""

from collections import Counter

from service.games.four_monkeys.apply import Pending
from service.games.four_monkeys.components import CHOICE_MS, ComboId
from service.games.four_monkeys.dealing import open_round
from service.games.four_monkeys.effects import (
    CheckOpened,
    ComboChecked,
    Ending,
    MatchEnded,
    RepeatedSetAside,
    RoundEnded,
    SmartestNamed,
)
from service.games.four_monkeys.legal import lowest_unchecked
from service.games.four_monkeys.needs import is_correct
from service.games.four_monkeys.scoring import round_points, smartest
from service.games.four_monkeys.state import State, kind_of
from service.games.protocol import Rng
from service.games.visibility import Seat


def end_round(pending: Pending, ending: Ending, at: int, rng: Rng) -> None:
    """End the round, and score it up to the first choice that a seat has to make."""
    pending.emit(RoundEnded(pending.state.round, ending))
    for seat, held in enumerate(pending.state.seats):
        copies = Counter(kind_of(tile.combo) for tile in held.tiles)
        repeated = tuple([tile.combo for tile in held.tiles if copies[kind_of(tile.combo)] > 1])
        if repeated:
            pending.emit(RepeatedSetAside(seat, repeated))  # FOU-20
    pending.emit(SmartestNamed(smartest(pending.state)))
    continue_checks(pending, at, rng)


def check(pending: Pending, seat: Seat, combo: ComboId) -> None:
    """Show the cards under a combo. If it is wrong, find the Smartest Monkey again (step 2, FOU-22)."""
    tile = next(tile for tile in pending.state.seats[seat].tiles if tile.combo == combo)
    correct = is_correct(combo, tile.cards, pending.state.colours)
    pending.emit(ComboChecked(seat, combo, tile.cards, correct))
    if not correct:
        pending.emit(SmartestNamed(smartest(pending.state)))


def continue_checks(pending: Pending, at: int, rng: Rng) -> None:
    """Check combos in order, up to the next choice, the next round or the end of the match."""
    while (seat := _next_seat(pending.state)) is not None:
        lowest = lowest_unchecked(pending.state, seat)
        if len(lowest) > 1:
            combos = tuple([tile.combo for tile in lowest])
            pending.emit(CheckOpened(seat, combos, at, at + CHOICE_MS))
            return
        check(pending, seat, lowest[0].combo)
    state = pending.state
    pending.emit(*(round_points(state, seat) for seat in range(len(state.seats))))
    if state.round == state.rounds:
        pending.emit(MatchEnded())
    else:
        open_round(pending, state.round + 1, at, rng)


def _next_seat(state: State) -> Seat | None:
    """The Smartest Monkey to be checked next: the next higher seat, or the lowest (FOU-22)."""
    left = [seat for seat in state.smartest if lowest_unchecked(state, seat)]
    last = state.checks[-1].seat if state.checks else -1
    return min(left, key=lambda seat: (seat <= last, seat), default=None)
