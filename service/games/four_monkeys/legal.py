"""Checks actions, and lists the legal ones."""

from collections.abc import Iterator
from functools import lru_cache

from service.games.four_monkeys.actions import (
    AnyAction,
    Burn,
    Check,
    Grab,
    HandBanana,
    Reveal,
    Stop,
    UseReplenish,
)
from service.games.four_monkeys.components import DIFFERENT, CardId, ComboId
from service.games.four_monkeys.effects import Stacks
from service.games.four_monkeys.state import (
    Checking,
    State,
    Tile,
    area_of,
    different,
    kind_of,
    skins,
    visible_value,
)
from service.games.kit.patterns import AnyOf
from service.games.protocol import CLOCK, Decision, IllegalAction, Ring, TooEarly
from service.games.visibility import Seat

FALSE_STOPS = 2
"""False stops that a seat may call in one round, including its repetitions (FOU-15)."""


def decisions(state: State) -> tuple[Decision[AnyAction], ...]:
    """During a round, a decision of each seat that can act, and the bell.

    During the scoring, the decision of the seat that chooses, and the bell.
    """
    shown = state.options.timer_visible
    if state.checking is not None:
        choice = state.checking
        seats = (choice.seat, CLOCK)
        return tuple([Decision(seat, "check", None, choice.opens_at, choice.deadline, shown) for seat in seats])
    if state.phase == "over":
        return ()
    able_seats = tuple([seat for seat in range(len(state.seats)) if _can_act(state, seat)])
    return _play_decisions(able_seats, state.starts_at, state.deadline, shown)


def _can_act(state: State, seat: Seat) -> bool:
    """Whether a seat has a legal action.

    This runs for every event of a match, so the cheap conditions that are almost always true come first.
    """
    held = state.seats[seat]
    return (
        not held.replenish_used
        or state.stops_in_round[seat] < FALSE_STOPS
        or (held.tiles != () and not held.tiles[-1].burned)
        or next(legal_actions(state, seat), None) is not None
    )


@lru_cache(maxsize=4096)
def _play_decisions(
    able_seats: tuple[Seat, ...], starts_at: int, deadline: int, shown: bool
) -> tuple[Decision[AnyAction], ...]:
    """Cached, because these decisions stay the same during a round, while the round has hundreds of events."""
    seats = (*((seat, "play") for seat in able_seats), (CLOCK, "round"))
    return tuple(Decision(seat, step, None, starts_at, deadline, shown) for seat, step in seats)


def legal_actions(state: State, seat: Seat) -> Iterator[AnyAction]:
    """All legal actions: grabs by stack, burns starting with the tile owned longest, then the rest in the order of the
    clauses.
    """
    if state.checking is not None:
        if seat == state.checking.seat:
            yield from [Check(tile.combo) for tile in lowest_unchecked(state, seat)]
        return
    if state.phase == "over" or not 0 <= seat < len(state.seats):
        return
    held = state.seats[seat]
    area = area_of(state, seat)
    stacks = state.stacks[area]
    if held.hand:
        some = AnyOf(held.hand, 1, len(held.hand))
        yield from [Grab(number, stack[0], some) for number, stack in enumerate(stacks) if stack]
    yield from [Burn(tile.combo) for tile in held.tiles if not tile.burned]
    if not held.replenish_used:
        yield UseReplenish("redraw")
        yield UseReplenish("extra")
    if missing_combo(state, seat, stacks) is None:
        yield from [Reveal(number) for number, stack in enumerate(stacks) if len(stack) > 1]
    if held.just_grabbed and skins(held):
        yield from [HandBanana(to) for to in state.areas[area] if to != seat]
    if stop_allowed(state, seat):
        yield Stop()


def missing_combo(state: State, seat: Seat, stacks: Stacks) -> ComboId | None:
    """A face-up combo of the stacks that the seat does not own; None if it owns them all (FOU-14)."""
    owned = {kind_of(tile.combo) for tile in state.seats[seat].tiles}
    return next((stack[0] for stack in stacks if stack and kind_of(stack[0]) not in owned), None)


def stop_allowed(state: State, seat: Seat) -> bool:
    """A true stop is always allowed. A third false stop in a round is not (FOU-15)."""
    return state.stops_in_round[seat] < FALSE_STOPS or different(state.seats[seat]) >= DIFFERENT


def lowest_unchecked(state: State, seat: Seat) -> tuple[Tile, ...]:
    """A seat's unchecked tiles of the lowest visible value, the one owned longest first (FOU-22)."""
    unchecked = [tile for tile in state.seats[seat].tiles if not tile.checked]
    lowest = min([visible_value(tile) for tile in unchecked], default=0)
    return tuple([tile for tile in unchecked if visible_value(tile) == lowest])


def check_seat(state: State, seat: Seat) -> None:
    """Raise IllegalAction if the seat does not exist or the match is over."""
    if not 0 <= seat < len(state.seats):
        raise IllegalAction("not-a-seat", "FOU-10")
    if state.phase == "over":
        raise IllegalAction("game-over", "FOU-24")


def check_time(state: State, at: int) -> None:
    """Raise IllegalAction unless the round is running (FOU-4, FOU-16).

    An action that came before the round was dealt was meant for the previous round.
    """
    if at < state.starts_at - state.options.countdown_seconds * 1000:
        raise IllegalAction("round-over", "FOU-16")
    if state.phase == "play" and at < state.starts_at:
        raise TooEarly("too-early", "FOU-4", state.starts_at)
    if state.phase != "play" or at >= state.deadline:
        raise IllegalAction("round-over", "FOU-16")


def check_bell(state: State, seat: Seat, at: int, action: Ring) -> None:
    """Raise IllegalAction unless this bell is due (FOU-16, FOU-22)."""
    due = [one for one in decisions(state) if one.seat == CLOCK and one.step == action.label]
    if seat != CLOCK or not any(one.deadline is not None and one.deadline <= at for one in due):
        raise IllegalAction("no-such-bell", "FOU-16")


def check_grab(state: State, seat: Seat, action: Grab) -> tuple[CardId, ...]:
    """The cards of a legal grab, in the order of the hand."""
    _check_seen(state, seat, action)
    hand = state.seats[seat].hand
    cards = action.cards
    if isinstance(cards, AnyOf):
        raise IllegalAction("cards-not-chosen", "FOU-10", least=1, most=len(hand))
    if not cards:
        raise IllegalAction("no-cards", "FOU-10", least=1)
    for index, card in enumerate(cards):
        if card not in hand:
            raise IllegalAction("card-not-in-hand", "FOU-10", card=card)
        if card in cards[:index]:
            raise IllegalAction("card-named-twice", "FOU-10", card=card)
    return tuple([card for card in hand if card in cards])


def _check_seen(state: State, seat: Seat, action: Grab) -> None:
    """Raise IllegalAction if the combo that the player saw is no longer on this stack.

    The facts of the refusal say where the combo is now, if that is public.
    """
    area = area_of(state, seat)
    stack = _stack(state, seat, action.stack)
    if stack and stack[0] == action.combo:
        return
    for number, other in enumerate(state.stacks[area]):
        if other and other[0] == action.combo:
            raise IllegalAction("tile-elsewhere", "FOU-10", combo=action.combo, stack=number)
    for holder in state.areas[area]:
        if any(tile.combo == action.combo for tile in state.seats[holder].tiles):
            if stack:
                raise IllegalAction(
                    "tile-gone", "FOU-10", combo=action.combo, holder=holder, stack=action.stack, now=stack[0]
                )
            raise IllegalAction("stack-gone", "FOU-10", combo=action.combo, holder=holder, stack=action.stack)
    raise IllegalAction("tile-not-seen", "FOU-10", combo=action.combo)


def _stack(state: State, seat: Seat, number: int) -> tuple[ComboId, ...]:
    """A stack of the seat's area. An empty tuple means that the stack is gone."""
    stacks = state.stacks[area_of(state, seat)]
    if not 0 <= number < len(stacks):
        raise IllegalAction("no-such-stack", "FOU-3", stack=number)
    return stacks[number]


def check_burn(state: State, seat: Seat, action: Burn) -> None:
    if _own_tile(state, seat, action.combo, "FOU-12").burned:
        raise IllegalAction("already-burned", "FOU-12", combo=action.combo)


def _own_tile(state: State, seat: Seat, combo: ComboId, clause: str) -> Tile:
    for tile in state.seats[seat].tiles:
        if tile.combo == combo:
            return tile
    raise IllegalAction("not-your-tile", clause, combo=combo)


def check_replenish(state: State, seat: Seat) -> None:
    if state.seats[seat].replenish_used:
        raise IllegalAction("replenish-used", "FOU-13")


def check_reveal(state: State, seat: Seat, action: Reveal) -> None:
    size = len(_stack(state, seat, action.stack))
    lacking = missing_combo(state, seat, state.stacks[area_of(state, seat)])
    if lacking is not None:
        raise IllegalAction("combo-missing", "FOU-14", combo=lacking)
    if size < 2:
        raise IllegalAction("stack-too-small", "FOU-14", stack=action.stack, size=size)


def check_stop(state: State, seat: Seat) -> None:
    if not stop_allowed(state, seat):
        raise IllegalAction("stops-used-up", "FOU-15", different=different(state.seats[seat]))


def check_banana(state: State, seat: Seat, action: HandBanana) -> None:
    held = state.seats[seat]
    if not state.options.banana_skins:
        raise IllegalAction("skins-not-played", "FOU-30")
    if not held.just_grabbed:
        raise IllegalAction("not-after-a-grab", "FOU-30")
    if not skins(held):
        raise IllegalAction("no-skin", "FOU-30")
    if action.to == seat or action.to not in state.areas[area_of(state, seat)]:
        raise IllegalAction("not-in-your-area", "FOU-30", to=action.to)


def check_choice(state: State, seat: Seat, at: int, action: Check) -> None:
    choice = _running_check(state)
    if choice.seat != seat:
        raise IllegalAction("not-your-check", "FOU-22", awaited=choice.seat)
    if at < choice.opens_at:
        raise TooEarly("too-early", "FOU-22", choice.opens_at)
    if at >= choice.deadline:
        raise IllegalAction("check-over", "FOU-22")
    _own_tile(state, seat, action.combo, "FOU-22")
    if all(tile.combo != action.combo for tile in lowest_unchecked(state, seat)):
        raise IllegalAction("not-the-lowest", "FOU-22", combo=action.combo)


def _running_check(state: State) -> Checking:
    if state.checking is None:
        raise IllegalAction("nothing-to-check", "FOU-22")
    return state.checking
